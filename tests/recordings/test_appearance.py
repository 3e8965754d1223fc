"""What a recording looks like that is none."""

import pytest
from support.places import SAMPLES
from support.running import PACKET, ROWS, epic

TURN = (SAMPLES / "turn.txt").read_bytes()

STRANGE = {
    "binary data": bytes(range(1, 9)) * 40 + b"\n",
    "XML or HTML": b"<trace>\n <p x='1'/>\n <p x='2'/>\n</trace>\n",
}


@pytest.mark.parametrize("what", STRANGE)
def test_what_is_no_recording_is_told_by_its_kind(what: str) -> None:
    done = epic("replay", stdin=STRANGE[what])
    assert done.returncode == 1
    assert f"this looks like {what}".encode() in done.stderr


def test_a_command_among_packets_names_the_session() -> None:
    done = epic(stdin=b":help\n" + PACKET)
    assert done.stdout == ROWS
    assert b"<stdin>:1:1: this is a command of a session\n" in done.stderr
    assert b"^ expected a packet; epic session < FILE takes both" in done.stderr


def test_a_log_is_told_where_another_format_is_given() -> None:
    log = b"[12:00:00.050] INFO recv pos=(4.99, 0.00, 0.25) seq=1\n" * 4
    for given in ("text", "jsonl"):
        done = epic("replay", "--read", given, stdin=log)
        assert b"a log with numbers in sentences: --read pattern=REGEX" in done.stderr


def test_parquet_is_told_where_another_format_is_given() -> None:
    done = epic("replay", "--read", "text", stdin=b"PAR1\x15\x04\x15\x10")
    assert b"this looks like a Parquet file" in done.stderr


def test_rows_are_no_packets() -> None:
    rows = epic("replay", stdin=TURN).stdout
    assert b"the rows that epic replay writes" in epic("replay", stdin=rows).stderr


@pytest.mark.parametrize(
    ("given", "text", "fits"),
    [
        ("text", b"t,x,y\n1,2,3\n2,3,4\n3,4,5\n", "csv"),
        ("text", b'{"time":1,"x":2}\n', "jsonl"),
        ("csv", TURN, "text"),
        ("jsonl", b'[\n {\n  "t": 1,\n  "x": 2\n }\n]\n', "json"),
        ("jsonl", TURN, "text"),
    ],
)
def test_another_format_is_named_where_the_wrong_one_is_given(
    given: str, text: bytes, fits: str
) -> None:
    assert f"--read {fits}".encode() in epic("--read", given, stdin=text).stderr


def test_a_recording_with_good_packets_looks_like_one() -> None:
    assert b"looks like" not in epic("replay", SAMPLES / "broken.txt").stderr
