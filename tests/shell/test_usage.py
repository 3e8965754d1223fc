"""Usage errors that click itself reports: its wording, which may change, with our exit status."""

import json

import pytest
from support.running import PACKET, epic


@pytest.mark.parametrize(
    ("option", "value"),
    [("--format", "xml"), ("--pacing", "slow"), ("--latency", "1e9"), ("--colr", "always")],
)
def test_the_option_is_named_and_nothing_is_drawn(option: str, value: str) -> None:
    done = epic("replay", option, value, stdin=PACKET)
    assert (done.returncode, done.stdout) == (2, b"")
    assert option in done.stderr.decode()


@pytest.mark.parametrize(
    "command",
    [("compare", "-s", "epic,mirror", "--latency", "0.1"), ("diagnose",), ("replay",),
     ("strategies",), ("strategies", "epic")],
)  # fmt: skip
def test_json_is_json_lines(command: tuple[str, ...]) -> None:
    rows = "".join(f"{n / 10},0,0 / 1,0,0 / {n / 10}\n" for n in range(60)).encode()
    file = () if command[0] == "strategies" else ("-",)
    done = epic(*command, "-f", "json", *file, stdin=rows)
    assert done.returncode == 0, done.stderr
    assert done.stdout == epic(*command, "-f", "jsonl", *file, stdin=rows).stdout
    for line in done.stdout.splitlines():
        record = json.loads(line)
        assert isinstance(record.get("rows", 1), int)


def test_quiet_says_nothing_of_figures() -> None:
    rows = "".join(f"{n / 10},0,0 / 1,0,0 / {n / 10}\n" for n in range(60)).encode()
    for form in ("csv", "jsonl"):
        options = ("compare", "-f", form, "-s", "epic,mirror", "--latency", "0.1", "-")
        assert epic(*options, stdin=rows).stderr
        assert epic(*options, "-q", stdin=rows).stderr == b""


@pytest.mark.parametrize("form", ["csv", "jsonl", "markdown"])
def test_strategies_are_a_table_for_programs(form: str) -> None:
    found = epic("strategies", "-f", form).stdout.decode()
    assert "dead-reckoning" in found
    assert "calc_ahead" in epic("strategies", "epic", "-f", form).stdout.decode()
