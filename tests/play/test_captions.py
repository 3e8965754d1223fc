"""The captions of scenarios, measured in rows and events: as they are, and twice as long.

Each is one or the other in turn, with EPIC_TESTS=exhaustive both.
"""

import re
from collections.abc import Callable
from statistics import mean

import pytest
from support.play_rows import Played, lengthened, stretched
from support.recordings import EXHAUSTIVE, few_of

from epic_cli.play.script import SCENARIOS, fill_placeholders

#: What happens once; in others each phase is done twice over.
ONCE = ("figure-8.1", "figure-8.2", "figure-8.5", "move-replay", "optimism", "optimism-unwarranted",
        "question-7", "question-8", "question-9", "rubber-band")  # fmt: skip

#: What a placeholder tells of a player between two times, and how near to it (s, units).
MEASURES: dict[str, tuple[Callable[[Played, str, float, float], float], float]] = {
    "late": (Played.late, 0.04),
    "off": (lambda *of: mean(Played.errors(*of)), 0.02),
    "most": (lambda *of: max(Played.errors(*of)), 0.02),
    "apart": (lambda *of: Played.errors(*of)[-1], 0.02),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_number_in_a_caption_is_measured_or_one_that_the_script_sets(name: str) -> None:
    lines = SCENARIOS[name].read_text().splitlines()
    captions = [line.split(" ", 2)[2] for line in lines if line.split()[1] == "say"]
    others = " ".join(line for line in lines if line.split()[1] != "say" and line[0] != "#")
    known = {float(number) for number in re.findall(r"\d+(?:\.\d+)?", others)}
    for caption in captions:
        text = (
            fill_placeholders(caption, lambda *_: "")
            .replace("1/2 RTT", "")
            .replace("question-6", "")
        )
        assert {float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)} <= known


def play(name: str, twice: bool) -> Played:
    if not twice:
        return Played(SCENARIOS[name].read_text())
    return Played((lengthened if name in ONCE else stretched)(name), seed=7)


@pytest.mark.parametrize("other", [False, True] if EXHAUSTIVE else [False])
@pytest.mark.parametrize("name", few_of([*SCENARIOS][::2] + [*SCENARIOS][1::2], 8))
def test_what_a_placeholder_says_of_a_player_was_so_since_the_last_switch(
    name: str, other: bool
) -> None:
    match = play(name, bool(list(SCENARIOS).index(name) % 2) is not other)
    said = match.happened("say")
    for event, (_, caption) in zip(said, match.match.script.captions, strict=True):
        pattern = re.sub(r"\\\{.*?\\\}", "(.+?)", re.escape(caption))
        found = re.fullmatch(pattern, str(event.details["text"]))
        assert found
        assert "-" not in found.groups()
        begin = max(start for start, _ in match.phases if start < event.time or not start)
        for placeholder, value in zip(
            re.findall(r"\{(.*?)\}", caption), found.groups(), strict=True
        ):
            what, _, player = placeholder.partition(".")
            if what in MEASURES:
                measure, near = MEASURES[what]
                number = float(value.split()[0]) / (1000 if value.endswith(" ms") else 1)
                expected = measure(match, player, begin, event.time)
                assert number == pytest.approx(expected, abs=near), (caption, value)


#: The loop for 25 s.
STEERED = (
    "set clock.A=-0.3,{rate} remote_strategy=snapshot remote.interpolation_time=0.2 duration=25\n"
    "set remote.server_step=0.05 remote.clock=pll {link}\n0 A stop\n"
    + "".join(f"{1.4 * turn:g} B {('left', 'right')[turn % 2]}\n" for turn in range(18))
)


def test_the_loop_keeps_its_lag_in_jitter() -> None:
    match = Played(STEERED.format(rate=0.999, link="jitter=0.02"))
    for begin in (5, 15):
        assert match.late("B", begin, begin + 10) == pytest.approx(0.25, abs=0.035)


def test_a_lost_packet_is_missing_from_the_count_of_the_loop() -> None:
    match = Played(STEERED.format(rate=1.001, link="loss=0.05"))
    assert match.late("B", 15, 25) < 0.15
