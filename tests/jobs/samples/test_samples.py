"""Samples: every listed sample exists, and copying overwrites nothing."""

from pathlib import Path

import pytest
from support.places import SAMPLES
from support.running import epic

from epic_cli.jobs.samples import run


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_list_has_all_of_them() -> None:
    known = {name.partition("/")[0] for name in run.list_samples()}
    assert known == {
        path.name
        for path in SAMPLES.iterdir()
        if not path.name.startswith(("README", "LICENSE", "__"))
    }
    said = epic("samples").stdout.decode()
    assert all(line.split()[0] in said for line in run.list_samples())


def test_copies_are_whole_and_never_written_over(tmp_path: Path) -> None:
    missing = epic("replay", "sample_inputs/turn.txt", cwd=tmp_path)
    assert missing.returncode == 3
    assert b"'epic samples --all' copies the samples" in missing.stderr

    assert epic("samples", "turn.txt", "engines/", cwd=tmp_path).stdout.startswith(
        b"sample_inputs: "
    )
    there = files(tmp_path / "sample_inputs")
    assert {name.partition("/")[0] for name in there} == {"turn.txt", "engines"}
    assert epic("samples", "--all", cwd=tmp_path).returncode == 0
    assert files(tmp_path / "sample_inputs") == files(SAMPLES)
    assert b" 0 new files" in epic("samples", "--all", cwd=tmp_path).stdout

    (tmp_path / "sample_inputs" / "hop.jsonl").write_text("mine")
    (tmp_path / "sample_inputs" / "turn.txt").unlink()
    refused = epic("samples", "--all", cwd=tmp_path)
    assert refused.returncode == 3
    assert b"sample_inputs/hop.jsonl: another file is there" in refused.stderr
    assert (tmp_path / "sample_inputs" / "hop.jsonl").read_text() == "mine"
    assert not (tmp_path / "sample_inputs" / "turn.txt").exists()


@pytest.mark.parametrize(
    "name", ["turn.tx", "..", "/etc/passwd", "", "engines/../../pyproject.toml"]
)
def test_an_unknown_sample_is_refused(name: str, tmp_path: Path) -> None:
    done = epic("samples", name, cwd=tmp_path)
    assert done.returncode == 2
    assert f"there is no sample {name!r}".encode() in done.stderr
    assert not any(tmp_path.iterdir())
