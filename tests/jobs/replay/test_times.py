"""A time is written alike in options, settings, commands, variables and the configuration."""

from pathlib import Path

import pytest
from support.running import PACKET, environment, epic
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


def test_variables_and_the_configuration_take_units(tmp_path: Path) -> None:
    expected = epic("replay", "--latency", "0.1", "--tick", "0.04", stdin=PACKET).stdout
    given = environment(EPIC_LATENCY="100ms", EPIC_TICK="40ms")
    assert epic("replay", stdin=PACKET, env=given).stdout == expected
    (tmp_path / "epic").mkdir()
    (tmp_path / "epic" / "config.toml").write_text('latency = "100ms"\ntick = "40ms"\n')
    configured = environment(XDG_CONFIG_HOME=str(tmp_path))
    assert epic("replay", stdin=PACKET, env=configured).stdout == expected
