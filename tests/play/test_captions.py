"""The captions of scenarios, measured in rows and events: as they are, and twice as long.

Each is one or the other in turn, with EPIC_TESTS=exhaustive both.
"""

import re
from collections.abc import Callable
from functools import cache
from itertools import groupby, pairwise
from statistics import mean

import pytest
from support.play_rows import Played, lengthened, stretched
from support.recordings import EXHAUSTIVE

from epic_cli.play import Match, MatchSpec
from epic_cli.play.script import SCENARIOS, fill_placeholders
from epic_cli.play.world import SPEED, STUN_US, measure_distance

#: What happens once; in others each phase is done twice over.
ONCE = ("figure-8.1", "figure-8.2", "figure-8.5", "move-replay", "optimism", "optimism-unwarranted",
        "question-7", "question-8", "question-9", "rubber-band")  # fmt: skip


@cache
def played(name: str, twice: bool) -> Played:
    if twice:
        match = Played((lengthened if name in ONCE else stretched)(name), seed=7)
    else:
        match = Played(SCENARIOS[name].read_text())
    check_placeholders(match)
    return match


def check_placeholders(match: Played) -> None:
    """Check that each placeholder has a value."""
    said = [str(event.details["text"]) for event in match.happened("say")]
    for text, (_, caption) in zip(said, match.match.script.captions, strict=True):
        pattern = re.sub(r"\\\{.*?\\\}", "(.+?)", re.escape(caption))
        found = re.fullmatch(pattern, text)
        assert found
        assert "-" not in found.groups()


@pytest.fixture(params=[False, True] if EXHAUSTIVE else [None])
def play(request: pytest.FixtureRequest) -> Callable[[str], Played]:
    def take(name: str) -> Played:
        in_turn = bool(list(SCENARIOS).index(name) % 2)
        return played(name, in_turn if request.param is None else request.param)

    return take


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


def test_calc_ahead(play: Callable[[str], Played]) -> None:
    match = play("calc-ahead")
    ahead, without, again, _ = match.phases
    assert match.overshoot("B", ahead[0] + 1, ahead[1]) > 0.3
    assert match.overshoot("B", without[0] + 0.3, without[1]) < 0.1
    assert match.numbers("Now without") == [pytest.approx(match.late("B", *ahead), abs=0.03)]
    assert match.late("B", *ahead) < 0.03
    assert match.numbers("Without it")[0] == pytest.approx(match.late("B", *without), abs=0.03)
    assert match.late("B", *without) > 0.1
    [slop] = match.numbers("He runs on")
    assert slop == 0.5
    newest = match.packets[-1]
    last = newest.time
    assert again[1] - 0.1 < last < again[1] + 0.001
    if newest.velocity and any(newest.velocity):  # in the longer match a wall has stopped him
        assert min(match.steps("B", last + 0.15, last + slop - 0.02)) > 0
    assert max(match.steps("B", last + slop + 0.02, match.end)) == 0


def test_figure_8_1(play: Callable[[str], Played]) -> None:
    match = play("figure-8.1")
    assert match.numbers("Packet round trip")[0] == 0.1
    seen = next(frame.time for frame in match.frames("A") if frame.y > 12)
    [key] = match.numbers("She sees it")
    assert key == pytest.approx(seen - 0.5, abs=0.02)
    assert 0.1 <= key < 0.1 + 2 / 60
    assert seen <= match.say("She sees it").time <= seen + 1 / 60
    assert 0.05 <= match.late("A", 0.5, 1.4) <= 0.05 + 2 / 60
    assert match.off_the_way("A") < 1e-6


def test_figure_8_2(play: Callable[[str], Played]) -> None:
    match = play("figure-8.2")
    frames, rate = match.numbers("packets a second. A runs")
    pictures = [frame.y for frame in match.frames("A", 0.3, 1.3)]
    assert len(pictures) == pytest.approx(frames, abs=1.5)
    assert len(set(pictures)) == pytest.approx(rate, abs=1.5)
    runs = [len(list(group)) for _, group in groupby(pictures)]
    assert set(runs[1:-1]) == {4}


def test_figure_8_3(play: Callable[[str], Played]) -> None:
    match = play("figure-8.3")
    first, second = match.phases
    late, half, period = match.numbers("B was")
    assert half == 0.05
    assert period == pytest.approx(0.0667)
    assert late == pytest.approx(half + period, abs=0.004)
    assert match.late("B", first[0] + 1, first[1]) == pytest.approx(late, abs=0.004)
    assert match.stops("B", first[0] + 0.5, first[1]) < 0.02
    assert match.stops("B", second[0] + 0.5, second[1]) > 0.2
    assert match.numbers("less than PP") == [0.03]


def test_figure_8_4(play: Callable[[str], Played]) -> None:
    match = play("figure-8.4")
    echo, link = match.numbers("by echo, ")
    assert link == pytest.approx(3 * 0.1, abs=0.01)
    assert echo == pytest.approx(link, abs=0.03)


def test_figure_8_5(play: Callable[[str], Played]) -> None:
    match = play("figure-8.5")
    turned = match.say("B has turned").time
    assert max(match.errors("B", 0.35, turned - 0.03)) < 0.01
    assert match.errors("B", turned, turned + 0.035)[-1] > 0.03
    jumps = [a - b for a, b in pairwise(match.errors("B", turned, 1.5))]
    assert sum(jump > 0.1 for jump in jumps) >= 3
    assert sum(jump > 0.01 for jump in jumps[:8]) >= 1  # the first before its caption
    apart, most = match.numbers("Right again")
    assert apart == pytest.approx(max(match.errors("B", 1.45, 1.6)), abs=0.01)
    assert most == pytest.approx(max(match.errors("B", 0, 1.5)), abs=0.01)


def test_fixed_step(play: Callable[[str], Played]) -> None:
    match = play("fixed-step")
    first, second = match.phases
    for words, phase in (("has time for", first), ("further ahead", second)):
        said, at = match.numbers(words)[0], match.say(words).time
        assert said == len(match.frames("A", at - 1 + 1e-6, at))
        assert phase[0] < at <= phase[1]
    steps, frames = match.numbers("has time for")
    assert frames == 30
    assert steps == pytest.approx(1 / 0.033, abs=1)
    steps, most = match.numbers("further ahead")
    assert steps == pytest.approx(1.08 / 0.033, abs=1)
    begin, end = second
    assert most == pytest.approx(max(match.errors("A", begin, end)), abs=0.01)
    third = (end - begin) / 3
    assert max(match.errors("A", begin, begin + third)) + 1 < most
    walked = sum(
        abs(b.true_y - a.true_y) for a, b in pairwise(match.frames("A", begin, end))
    )  # fmt: skip
    assert walked <= SPEED * (end - begin)


def test_late_frame(play: Callable[[str], Played]) -> None:
    match = play("late-frame")
    first, second = match.phases
    [late] = match.numbers("B was")
    assert late == pytest.approx(match.late("B", 0, match.say("B was").time), abs=0.03)
    steps = match.steps("B", 0.6, 1.1)
    assert max(steps) > 1.3 * min(steps)
    assert match.stops("B", first[0] + 0.5, first[1]) < 0.1
    assert match.off_the_way("B", second[0] + 0.2, second[1]) < 1e-6
    assert match.stops("B", second[0] + 0.2, second[1]) == pytest.approx(2 / 3, abs=0.1)
    assert match.numbers("Now the lerp time") == [0.03]


def test_move_replay(play: Callable[[str], Played]) -> None:
    match = play("move-replay")
    bump = match.happened("bump")[0].time
    corrections = match.happened("correction", "A")
    assert bump <= match.say("has run into her").time < corrections[0].time
    assert corrections[0].time >= bump + 0.1
    assert corrections[0].time <= match.say("The first state").time
    assert max(match.steps("A", bump, match.say("The first state").time)) > 2 * SPEED * 0.033
    assert match.numbers("and in step again") == [len(corrections)]
    assert max(match.errors("A", 2.9)) == 0


def test_optimism_unwarranted(play: Callable[[str], Played]) -> None:
    match = play("optimism-unwarranted")
    [shot] = match.happened("shot")
    [flash] = match.happened("predicted effect", "A")
    [refused] = match.happened("refused")
    [heard] = match.happened("effect refused")
    assert shot.player == "B"
    assert STUN_US == 500_000
    latency = match.numbers("B is going to hit A")[0]
    assert heard.details["reason"] == "stunned"
    assert match.happened("effect confirmed", "B")[0].time >= shot.time + latency
    for event, words in ((shot, "is stunned now"), (flash, "A shoots:"),
                         (refused, "refuses to fire"), (heard, "The refusal")):  # fmt: skip
        assert event.time <= match.say(words).time < event.time + 0.03
    assert match.say("is stunned now").time < flash.time


def test_optimism(play: Callable[[str], Played]) -> None:
    match = play("optimism")
    [thrown], confirmed = match.happened("thrown"), match.happened("effect confirmed")
    assert thrown.time <= match.say("spawns the ball").time < confirmed[0].time
    assert confirmed[0].time <= match.say("The ball has arrived").time
    waited = [float(each.details["waited"]) for each in confirmed]
    assert all(0.2 <= each < 0.25 for each in waited)
    assert not match.happened("effect refused")


def test_a_thrown_ball_flies_where_the_server_has_it() -> None:
    match = Match(MatchSpec(), Played(SCENARIOS["optimism"].read_text()).match.script)
    seen = 0
    for frame in range(80, 150):
        match.run_until(frame / 100)
        client = match.participants[0].client
        drawn, flying = client.list_drawn_projectiles(), match.server.weapons.projectiles
        if drawn:
            seen += 1
            [one], [true] = drawn, flying
            assert measure_distance((one.x, one.y), (true.x, true.y)) < 0.05 * 20
    assert seen > 60


def test_phase_locked_loop(play: Callable[[str], Played]) -> None:
    match = play("phase-locked-loop")
    first, second = match.phases
    assert match.numbers("B was")[0] == pytest.approx(match.late("B", 1, first[1]), abs=0.04)
    assert match.late("B", 1, first[1]) > 0.4
    late, buffer = match.numbers("late: the buffer")
    assert buffer == 0.2
    assert late == pytest.approx(0.2 + 0.05, abs=0.03)
    assert match.late("B", *second) == pytest.approx(late, abs=0.01)
    assert max(match.steps("B", *first)) > 1.9 * max(match.steps("B", second[0] + 0.5, second[1]))


#: The loop for half a minute.
HALF_A_MINUTE = (
    "set clock.A=-0.3,{rate} remote_strategy=snapshot remote.interpolation_time=0.2 duration=35\n"
    "set remote.server_step=0.05 remote.clock=pll {link}\n0 A stop\n"
    + "".join(f"{1.4 * turn:g} B {('left', 'right')[turn % 2]}\n" for turn in range(25))
)


@pytest.mark.parametrize("rate", [0.999, 1.001])
def test_the_loop_keeps_its_lag_in_jitter(rate: float) -> None:
    match = Played(HALF_A_MINUTE.format(rate=rate, link="jitter=0.02"))
    for begin in (5, 15, 25):
        assert match.late("B", begin, begin + 10) == pytest.approx(0.25, abs=0.035)


def test_a_lost_packet_is_missing_from_the_count_of_the_loop() -> None:
    match = Played(HALF_A_MINUTE.format(rate=1.001, link="loss=0.05"))
    assert match.late("B", 20, 35) < 0.15


def test_question_1(play: Callable[[str], Played]) -> None:
    match = play("question-1")
    first, second = match.phases
    assert match.happened("bump")[0].time < first[1]
    assert match.numbers("Late, but") == [0]
    assert max(match.off_the_way(player, *first) for player in "AB") < 0.2  # a step
    corrections = [e for e in match.happened("correction", "A") if e.time > second[0]]
    assert len(corrections) == len(match.happened("correction", "A")) > 0
    assert match.numbers("No delay any more") == [len(corrections)]
    assert match.overshoot("A", *second) > 0.3


def test_question_2(play: Callable[[str], Played]) -> None:
    match = play("question-2")
    first, second = match.phases
    late, period = match.numbers("Now with interpolation")
    assert match.numbers("what its main drawback") == [8]
    assert late == pytest.approx(match.late("B", 1, first[1]), abs=0.02)
    assert match.stops("B", 0.5, first[1]) > 0.8
    assert match.off_the_way("B", 0.5, first[1]) < 1e-6
    assert match.stops("B", second[0] + 0.3, second[1]) < 0.02
    [drawback] = match.numbers("Drawback")
    assert drawback == pytest.approx(0.05 + period, abs=0.01)
    assert drawback == pytest.approx(match.late("B", second[0] + 0.5, second[1]), abs=0.01)


def test_question_3(play: Callable[[str], Played]) -> None:
    match = play("question-3")
    half, late = match.numbers("At least")
    assert half == 0.15
    assert half <= late < half + 2 / 60
    assert late == pytest.approx(match.late("B", 1), abs=0.01)
    assert match.off_the_way("B", 0.3) < 1e-6


def test_question_4(play: Callable[[str], Played]) -> None:
    match = play("question-4")
    first, second = match.phases
    [late] = match.numbers("Conservative: B")
    assert late == pytest.approx(match.late("B", 0, match.say("Conservative: B").time), abs=0.03)
    assert match.overshoot("B", *first) < 1e-6
    assert match.overshoot("B", *second) > 0.3
    assert match.late("B", *second) < 0.1 < 0.15 < match.late("B", *first)


def test_question_5(play: Callable[[str], Played]) -> None:
    match = play("question-5")
    straight = match.say("He runs straight on").time
    assert match.numbers("He runs straight on")[0] == 0
    assert max(match.errors("B", straight, straight + 0.5)) < 0.01
    assert max(match.errors("B", 1.2, 1.7)) > 0.3
    wrong = [error > 0.1 for error in match.errors("B", 3.5, 6)]
    assert mean(wrong) > 0.5


def test_question_6(play: Callable[[str], Played]) -> None:
    match = play("question-6")
    means, jumps, corners = [], [], []
    for words, (begin, end) in zip(
        ("Second: i", "Third:", "Snap:"), match.phases, strict=True
    ):  # fmt: skip
        means.append(mean(match.errors("B", begin, end)))
        assert match.numbers(words)[0] == pytest.approx(means[-1], abs=0.01)
        jumps.append(max(match.steps("B", begin + 0.4, end)))
        frames = match.frames("B", begin + 0.4, end)
        ways = [(b.x - a.x, b.y - a.y) for a, b in pairwise(frames)]
        corners.append(max(measure_distance(a, b) for a, b in pairwise(ways)))
    snap, blend, second = range(3)
    assert means[snap] < 0.5 * min(means[blend], means[second])
    assert jumps[snap] > 3 * max(jumps[blend], jumps[second])
    assert means[second] < 0.95 * means[blend]
    assert corners[second] < 0.9 * corners[blend] < 0.9 * corners[snap]


def test_question_7(play: Callable[[str], Played]) -> None:
    match = play("question-7")
    seen = next(frame.time for frame in match.frames("A") if frame.y > 12)
    [key, *_] = match.numbers("simulates it at once")
    assert 0.3 <= key < 0.4
    assert 0.3 <= seen - 0.5 < 0.4
    down = next(b.time for a, b in pairwise(match.frames("A", 2.4)) if b.y < a.y)
    assert 2.5 <= down <= 2.5 + 2 * 0.033
    assert all(0.15 <= each / SPEED < 0.22 for each in match.errors("A", 2.8, 3.1))
    [correction] = match.happened("correction", "A")
    assert (
        correction.time > match.happened("bump")[0].time > match.say("no client can foresee").time
    )
    count, size = match.numbers("Only the unexpected")
    assert count == 1
    assert size == pytest.approx(float(correction.details["size"]), abs=0.01)


def test_question_8(play: Callable[[str], Played]) -> None:
    match = play("question-8")
    first, second = match.happened("shot")
    [apart] = match.numbers("A hits, on her screen")
    assert apart == pytest.approx(match.errors("B", 0.9, 1.0)[-1], abs=0.01)
    [moved] = match.numbers("The server rewinds")
    assert moved == pytest.approx(float(first.details["moved"]), abs=0.01)
    assert first.time <= match.say("The server rewinds").time < first.time + 0.02
    effects = match.happened("predicted effect", "A")
    assert all(effect.details["hit"] for effect in effects)
    assert (first.details["hit"], first.details["behind_cover"]) == (True, True)
    assert (second.details["hit"], second.details["rewound"]) == (False, True)
    assert second.time <= match.say("she has missed").time


def test_question_9(play: Callable[[str], Played]) -> None:
    match = play("question-9")
    [shot] = match.happened("shot")
    assert (shot.details["hit"], shot.details["present"], shot.details["view"]) == (
        True, False, "exact",
    )  # fmt: skip
    assert match.happened("thrown")
    assert match.happened("throw ended")
    assert not match.happened("throw hit")


def test_rubber_band(play: Callable[[str], Played]) -> None:
    match = play("rubber-band")
    lerp_time = match.numbers("Rubber banding")[0]
    arrivals = [packet for packet in match.own if (packet.arrival or 9) < 1]
    known = arrivals[-1].position[1]
    band = SPEED * lerp_time
    held = match.frames("A", 1.5, 1.8)
    assert all(frame.y - known == pytest.approx(band, abs=0.02) for frame in held)
    assert max(match.steps("A", 1.5, 1.8)) < 0.01 * SPEED * 0.033 * 5
    back = match.frames("A", 2.5, 2.6)
    assert all(frame.y == pytest.approx(known, abs=0.02) for frame in back)
    below = match.frames("A", 3.6, 4)
    assert all(frame.y - known == pytest.approx(-band, abs=0.02) for frame in below)
    frames = match.frames("A", 4.1, 4.8)
    assert frames[-1].y < known - band - 2
    assert max(match.errors("A", 5.9, 6)) < 0.01


def test_without_a_lerp_time_a_held_player_is_where_the_server_says_but_for_a_step() -> None:
    script = SCENARIOS["rubber-band"].read_text().replace("smoothing=0.15", "smoothing=0")
    held = Played(script).frames("A", 1, 1.75)
    known = held[0].y - SPEED * 0.033
    assert all(frame.y - known == pytest.approx(SPEED * 0.033, abs=0.001) for frame in held)
    assert all(f.y == pytest.approx(known) for f in Played(script).frames("A", 2, 2.5))


def test_jitter_gives_small_rubber_bands_all_the_time() -> None:
    text = "set latency=0.1 local=lerped smoothing=0.15 duration=6 {}\n0 B stop\n" + "".join(
        f"{turn:g} A {('up', 'down')[turn % 2]}\n" for turn in range(6)
    )
    uneven = []
    for link in ("", "jitter=0.08 loss=0.1"):
        match = Played(text.format(link))
        steps = [step for turn in range(6) for step in match.steps("A", turn + 0.5, turn + 0.99)]
        uneven.append(mean(abs(b - a) for a, b in pairwise(steps)))
    assert uneven[1] > 1.3 * uneven[0]


def test_send_by_error(play: Callable[[str], Played]) -> None:
    match = play("send-by-error")
    often, judged, small = match.phases
    latency = 0.05

    def received(begin: float, end: float) -> float:
        arrived = [p for p in match.packets if begin + latency < (p.arrival or 0) <= end + latency]
        return len(arrived) / (end - begin)

    [rate] = match.numbers("Dead reckoning at")
    assert received(*often) == pytest.approx(rate, abs=1)
    updates, bits, _ = match.numbers("It sent")
    assert updates == pytest.approx(received(*judged), abs=0.8)
    updates, fewer, off, most = match.numbers("finds where that pays")
    assert updates == pytest.approx(received(*small), abs=0.8)
    assert updates < 6
    assert fewer < 0.8 * bits
    assert off == pytest.approx(mean(match.errors("B", *small)), abs=0.01)
    assert most == pytest.approx(max(match.errors("B", *small)), abs=0.01)
    assert most > 0.5
