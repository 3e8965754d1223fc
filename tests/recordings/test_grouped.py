"""Files that may be grouped by entity are recognized; all others are drawn as they are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from epic_cli.recordings.reading import is_possibly_grouped


def table(*entities: str, rows: int = 30) -> str:
    lines = ["entity,time,x,y,z,teleport"]
    lines += [f"{name},{k / 10},{k},0,1,0" for name in entities for k in range(rows)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", ["tank", "0", "1", "a b"])
@pytest.mark.parametrize("rows", [3, 30, 5000])
def test_one_entity_is_not_grouped(tmp_path: Path, name: str, rows: int) -> None:
    (tmp_path / "a.csv").write_text(table(name, rows=rows))
    words = name.split()  # a name with blanks is not looked for
    assert is_possibly_grouped(str(tmp_path / "a.csv"), name) == (len(words) > 1)


@pytest.mark.parametrize("names", [("tank", "car"), ("0", "1"), ("1", "0", "2"), ("7", "8")])
@pytest.mark.parametrize("rows", [3, 30, 5000])
def test_one_after_the_other_is(tmp_path: Path, names: tuple[str, ...], rows: int) -> None:
    (tmp_path / "a.csv").write_text(table(*names, rows=rows))
    assert is_possibly_grouped(str(tmp_path / "a.csv"), names[0])


def test_other_formats(tmp_path: Path) -> None:
    text = "".join(f"{k},0,0 / 1,0,0 / {k} entity=one\n" for k in range(100))
    (tmp_path / "a.txt").write_text(text)
    assert not is_possibly_grouped(str(tmp_path / "a.txt"), "one")
    (tmp_path / "a.txt").write_text(text + text.replace("=one", "=two"))
    assert is_possibly_grouped(str(tmp_path / "a.txt"), "one")
    lines = "".join(f'{{"id": "one", "time": {k}, "x": {k}}}\n' for k in range(100))
    (tmp_path / "a.jsonl").write_text(lines)
    assert not is_possibly_grouped(str(tmp_path / "a.jsonl"), "one")
