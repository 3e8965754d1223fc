"""A link in two directions: what a word changes."""

from __future__ import annotations

import pytest

from epic_cli.network.link_spec import TwoWays, find_preset, parse_word


def changed(*words: str) -> TwoWays:
    """A perfect link with these words, one after the other."""
    ways = TwoWays()
    for word in words:
        ways = ways.changed(*parse_word(word))
    return ways


def test_a_word_of_both_goes_before_those_of_one_direction() -> None:
    ways = changed("latency=10ms", "up.latency=20ms", "up.loss=1%")
    assert (ways.of("up").latency, ways.of("down").latency) == (0.02, 0.01)
    ways = changed("latency=10ms", "up.latency=20ms", "up.loss=1%", "latency=30ms")
    assert (ways.of("up").latency, ways.of("down").latency) == (0.03, 0.03)
    assert (ways.of("up").loss, ways.of("down").loss) == (0.01, 0)


def test_a_preset_is_that_of_its_direction() -> None:
    preset = find_preset("web-2g")
    ways = changed("up.loss=1%", "preset=web-2g")
    assert (ways.of("up"), ways.of("down")) == (preset.up, preset.down)
    ways = changed("down.preset=web-2g", "down.loss=2%")
    assert ways.of("up").latency == 0
    assert (ways.of("down").rate, ways.of("down").loss) == (preset.down.rate, 0.02)


def test_words_that_contradict_each_other_change_nothing() -> None:
    with pytest.raises(ValueError, match="loss_correlation is for random loss"):
        changed("up.loss_correlation=0.3", "up.gemodel=1%,30%")
    with pytest.raises(ValueError, match="did you mean 'jitter'"):
        parse_word("down.jiter=3ms")
