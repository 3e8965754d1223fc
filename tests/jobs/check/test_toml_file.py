"""Mistakes in case files: each says where it is, and what was meant."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.places import SAMPLES

from epic_cli.jobs.check.case_file import read_case
from epic_cli.jobs.check.spec import BrokenCase

RECORDING = f"recording = '{SAMPLES}/turn.txt'\n"

#: What stands in a file, behind a line that names the recording; where the mistake is, and words.
MISTAKES = [
    ("strateg = 'epic'", "2:1", "no key 'strateg'; did you mean 'strategy'?"),
    ("  latencie = 1", "2:3", "did you mean 'latency'?"),
    ("strategy = 'mirrow'", "2:1", "did you mean 'mirror'?"),
    ("strategy = 3", "2:1", "unknown strategy '3'"),
    ("tick = 1\nstrategy = 'epic+calc=1'", "3:1", "epic has no setting 'calc'"),
    ("strategy = 'epic+calc_ahead=-1'", "2:1", "it must be 0 to 60 s"),
    ("tick = 0", "2:1", "out of range"),
    ("tick = [1]", "2:1", "takes one value"),
    ("latency = '8 parsecs'", "2:1", "parsecs"),
    ("latency = 1\npacing = 'demo'", "2:1", "which pacing demo ignores"),
    ("strict = 1", "2:1", "is true or false"),
    ("read = 'tim=a'", "2:1", "did you mean"),
    ("format = 'table'", "2:1", "table rows are cut to a screen"),
    ("format = 'xml'", "2:1", "xml"),
    ("strategy = []", "2:1", "a list of these"),
    ("strategy = ['epic', 'lerb']", "2:1", "did you mean 'lerp'?"),
    ("strategy = ['epic', 'epic']", "2:1", "given twice"),
    ("strategy = ['epic']\nformat = 'epic'", "2:1", "do not name their strategy"),
    ("expected = 3", "2:1", "is a path"),
    ("tolerance = 3", "2:1", "is a table: write [tolerance]"),
    ("[tolerance]\natol = -1", "3:1", "a number from 0 on"),
    ("[tolerance]\natoll = 1", "3:1", "no key 'atoll' in [tolerance]; did you mean 'atol'?"),
    ("[tolerance]\nx = { rtool = 1 }", "3:7", "did you mean 'rtol'?"),
    ("[tolerance]\natol = nan", "3:1", "a number from 0 on"),
    ("[expect]\nerrror = '<1'", "3:1", "no key 'errror' in [expect]; did you mean 'error'?"),
    ("[expect]\nerror = '1'", "3:1", "compares with nothing"),
    ("[expect]\nlag = '<120'", "3:1", "did you mean 120ms?"),
    ("[expect.lerp]\nlag = '<1'", "2:1", "no key 'lerp'"),
    ("[expect]\nwarm-up = -1", "3:1", "is not allowed"),
    ("[expect]\ntruth = 1", "3:1", "is a path"),
    ("file-column = 'x'", "2:1", "cannot be 'x'"),
    ("color = 'always'", "2:1", "no key 'color'"),
    ("a = = 1", "2:5", "this is not TOML"),
    ("a = 'open", "2:10", "this is not TOML"),
    ("tick = 1\ntick = 1", "3:9", "this is not TOML"),
]


@pytest.mark.parametrize(("text", "place", "words"), MISTAKES, ids=[row[0] for row in MISTAKES])
def test_a_mistake_has_its_place(text: str, place: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "case.toml"
    path.write_text(RECORDING + text)
    with pytest.raises(BrokenCase) as raised:
        read_case(str(path))
    assert str(raised.value).startswith(f"{path}:{place}: ")
    assert words in str(raised.value)
    assert not raised.value.gone


def test_files_that_are_no_case(tmp_path: Path) -> None:
    path = tmp_path / "case.toml"
    for content, words in (
        (b"", "names no recording"),
        (b"recording = []", ":1:1: is a path, or a list of paths"),
        (b'recording = "a\\u0000b"', ":1:1: is a path, or a list of paths, without NUL"),
        (b"recording = 'a'\n\xff", ":2:1: this is not UTF-8"),
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
