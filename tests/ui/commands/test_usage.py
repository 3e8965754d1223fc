"""Options that click itself refuses: in its words, which may change, with our exit status."""

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
