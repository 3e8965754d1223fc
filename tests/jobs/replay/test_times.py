"""A time is written alike in options, settings, commands, variables and the configuration."""

import pytest
from support.running import PACKET, epic
from support.typed_session import TypedSession


@pytest.mark.parametrize(("plain", "words"), [("0.1", "100ms"), ("0.1", "100000us")])
def test_a_time_is_written_alike_everywhere(plain: str, words: str) -> None:
    packets = PACKET + b"2,2,3 / 4,5,6 / 0.4\n"
    options = ("-s", f"epic+calc_ahead={plain}", "--latency", plain, "--tick", plain)
    others = ("-s", f"epic+calc_ahead={words}", "--latency", words, "--tick", words)
    assert (
        epic("replay", *others, stdin=packets).stdout
        == epic("replay", *options, stdin=packets).stdout
    )
    first, second = TypedSession(), TypedSession()
    for command in (":latency {}", ":tick {}", ":strategy epic+calc_ahead={}"):
        first.type(command.format(plain))
        second.type(command.format(words))
    assert first.session.view.strategy.settings == {"calc_ahead": 0.1}
    assert first.session.view == second.session.view
