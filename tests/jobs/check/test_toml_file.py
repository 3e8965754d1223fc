"""Mistakes in case files: each says where it is, and what was meant."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epic_cli.jobs.check.case_file import read_case
from epic_cli.jobs.check.spec import BrokenCase


def test_files_that_are_no_case(tmp_path: Path) -> None:
    path = tmp_path / "case.toml"
    for content, words in (
        (b"a = = 1", ":1:5: this is not TOML"),
        (b"a = 'open", ":1:10: this is not TOML"),
        (b"tick = 1\ntick = 1", ":2:9: this is not TOML"),
        (b"#" * 1_000_001, "more than 1,000,000 bytes"),
        (b"a = " + b"[" * 3000, "nested"),
    ):
        path.write_bytes(content)
        with pytest.raises(BrokenCase, match=words if words.islower() else None) as raised:
            read_case(str(path))
        assert words in str(raised.value)
    with pytest.raises(BrokenCase, match="cannot be read: No such file") as raised:
        read_case(str(tmp_path / "none" / "case.toml"))
    assert raised.value.gone


KEYS = st.sampled_from(
    [
        "recording",
        "strategy",
        "tick",
        "latency",
        "expected",
        "tolerance",
        "expect",
        "format",
        "read",
        "scale",
        "strict",
        "entity",
        "file-column",
        "other",
        "x",
    ]
)
VALUES = st.recursive(
    st.sampled_from(["1", "-1", "0.5", "nan", "true", "'epic'", "'all'", "''", "'\\u0007'", "x"])
    | st.sampled_from(["1979-05-27", "[]", "{}", "'x=1'", "1e400", '"""', "'mirror+a=1'"]),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda parts: f"[{', '.join(parts)}]")
        | st.tuples(KEYS, inner).map(lambda pair: f"{{ {pair[0]} = {pair[1]} }}")
    ),
    max_leaves=4,
)
LINES = st.tuples(KEYS, VALUES).map(" = ".join) | KEYS.map(lambda key: f"[{key}]") | st.text()


@given(st.lists(LINES, max_size=6))
def test_any_text_is_a_case_or_a_mistake_with_words(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    path = tmp_path_factory.getbasetemp() / "case.toml"
    path.write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))
    found: list[BrokenCase] = []
    try:
        read_case(str(path))
    except BrokenCase as error:
        found.append(error)
    assert all(str(error).startswith(f"{path}: ") or error.what for error in found)
    assert all(error.place.startswith(str(path)) for error in found)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
@pytest.mark.parametrize("key", ["recording", "expected"])
def test_a_pipe_is_not_waited_for(tmp_path: Path, key: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    named = {"recording": "a.txt", "expected": "rows.csv", key: "pipe"}
    lines = "".join(f"{name} = {path!r}\n" for name, path in named.items())
    (tmp_path / "case.toml").write_text(f"{lines}strategy = 'epic'\n")
    with pytest.raises(BrokenCase, match="pipe is neither a file nor a folder"):
        read_case(str(tmp_path / "case.toml"))
