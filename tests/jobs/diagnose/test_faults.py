"""Every fault put into a clean recording is found; in clean recordings nothing is.

The whole table, over more seeds and strengths, is made by ``tests/endurance/diagnosis.py``.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest
from support.faulty_traffic import (
    FAULTS,
    LINKS,
    MOVEMENTS,
    Case,
    Columns,
    clean,
    faulty,
    make_table_traffic,
    wait_until,
)
from support.movements import block
from support.recordings import EXHAUSTIVE, few_of, few_rows, seeds

from epic_cli import Packet
from epic_cli.engine.replay.strategy_spec import read_specs
from epic_cli.jobs.diagnose import drawn
from epic_cli.jobs.diagnose.detectors import DRAWN, STRATEGY, load_registry
from epic_cli.jobs.diagnose.run import diagnose
from epic_cli.metrics.arrays import (
    ARRIVAL,
    POSITION,
    SEQUENCE,
    TIME,
    VELOCITY,
    make_packet_table,
)
from epic_cli.metrics.drawn_path import DrawnPath
from epic_cli.metrics.evaluation import iterate_simulated_runs
from epic_cli.metrics.traffic import make_traffic
from epic_cli.network.link import LinkConditions
from epic_cli.network.link_spec import LinkSpec
from epic_cli.network.movement_spec import MovementSpec
from epic_cli.network.paths import PATHS
from epic_cli.network.sender import SenderSpec
from epic_cli.network.simulation import SimulationSpec


def causes(rows: Columns) -> list[str]:
    return [finding.cause for finding in diagnose(make_table_traffic({"": rows})).findings]


#: Detectors that report what is small; velocities are wrong in several ways.
SMALL, EITHER = ("coarse-stamps", "uneven-ticks"), ("velocity",)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_and_nothing_is_told_beside_it(fault: str) -> None:
    cause = FAULTS[fault].cause
    cases = list(zip(MOVEMENTS, (3, 15, 27), strict=True))
    if not EXHAUSTIVE:
        del cases[len(fault) % 3]  # each fault has two of the movements
    for name, (movement, seed) in zip(itertools.cycle(("", "tank7")), cases, strict=False):
        told = diagnose(make_table_traffic({name: faulty(fault, movement, seed)})).findings
        assert [finding.cause for finding in told] == [cause], (movement, seed)
        (found,) = told
        assert set(found.entities) <= {name} - {""}
        if cause == "two-senders":
            assert found.values["who"] == (name or "the one entity")
        passed = (found.statistic > found.threshold) != (cause in SMALL)
        assert passed or cause in EITHER, found
        assert 0 < found.share <= 1


@pytest.mark.parametrize("rate", [20, 30, 60])
def test_states_at_rest_share_coarse_stamps_like_others(rate: int) -> None:
    rows = clean("circle", LINKS["lan"], rate, 1, 60.0)  # it rests for 2 of 6 seconds
    moves = rows[TIME] % 6 < 4
    angle = np.cumsum(np.where(moves, 1.0 / rate, 0.0))
    rows[POSITION] = 5 * np.cos(angle), 0 * angle, 5 * np.sin(angle)
    rows[VELOCITY] = moves * [-5 * np.sin(angle), 0 * angle, 5 * np.cos(angle)]
    rows[TIME] = np.floor(rows[TIME] * 10 + 1e-9) / 10
    (found,) = diagnose(make_table_traffic({"": rows})).findings
    assert found.cause == "stamps"


def test_states_that_share_a_stamp_without_numbers_are_no_copies() -> None:
    rows = clean("circle", LINKS["lan"], 60, 1, 20.0)
    rows[SEQUENCE] = np.nan
    rows[TIME] = np.floor(rows[TIME] * 50) / 50
    copies = np.concatenate(
        (rows, rows[:, ::10] + np.eye(len(rows))[ARRIVAL][:, None] / 100), axis=1
    )
    assert "duplicates" not in causes(rows)
    assert "duplicates" in causes(copies)


@pytest.mark.parametrize(("jitter", "told"), [(0.002, []), (0.04, ["reordering"])])
def test_jitter_that_mixes_packets_up_is_told(jitter: float, told: list[str]) -> None:
    link = LinkConditions(latency=0.05, jitter=jitter, distribution="gamma")
    assert causes(clean("circle", link, 60, 1, 40.0)) == told


@pytest.mark.parametrize("seed", range(3))
def test_stamps_of_arrivals_are_mended_by_numbers(seed: int) -> None:
    """The numbers are those of a steady tick, which the movement follows; arrivals are unknown."""
    rows = clean("circle", LINKS["lte"], 20, seed, 60.0)
    rows[TIME], rows[ARRIVAL] = rows[ARRIVAL], np.nan
    (found,) = diagnose(make_table_traffic({"": rows})).findings
    assert found.cause == "stamps"
    assert found.remedy is not None
    assert (found.remedy.command, found.remedy.untried) == ("--read time=seq,unit=ticks@20", True)


def test_every_detector_has_a_fault_that_it_finds() -> None:
    of_recordings = {
        detector.name
        for detector in load_registry().detectors
        if not {STRATEGY, DRAWN} & {*detector.needs}
    }
    # that ids are exchanged needs two entities: test_field.py
    assert {fault.cause for fault in FAULTS.values()} | {"identity"} == of_recordings


def test_in_clean_recordings_nothing_is_found() -> None:
    links, alarms = list(LINKS), {}
    rates = few_of((20, 128, 5, 60, 10, 30), 3)
    cases = itertools.product(enumerate(sorted(PATHS)), enumerate(rates))
    for (number, path), (place, rate) in cases:
        link = links[(number + place) % len(links)]
        found = causes(clean(path, LINKS[link], rate, 7 * number + place, 20.0))
        mixed = LINKS[link].jitter * rate > 0.5  # the jitter is longer than the time between two
        if found != ["reordering"] * (mixed and bool(found)):
            alarms[path, link, rate] = found
    assert alarms == {}


def test_a_fault_is_found_without_what_its_detector_does_not_need() -> None:
    rows = faulty("head of line", "circle", 5)
    rows[4:7] = np.nan
    rows[8] = np.nan
    found = diagnose(make_table_traffic({"": rows}))
    assert [finding.cause for finding in found.findings] == ["head-of-line"]
    lacking = {detector.name: lack for detector, lack in found.unable}
    assert lacking["loss"] == ("sequence numbers",)
    assert lacking["stamps"] == ("velocities",)


def test_what_follows_from_a_cause_is_told_below_it() -> None:
    (found,) = diagnose(make_table_traffic({"": faulty("stamps at sending", "circle", 1)})).findings
    assert found.cause == "stamps"
    assert [consequence.cause for consequence in found.consequences] == ["send-rate"]


@pytest.mark.parametrize("fault", ["teleport", "clock step", "head of line", "longer route"])
def test_the_moment_of_a_fault_is_told(fault: str) -> None:
    before = clean("circle", LINKS["lan"], 20, 1, 40.0)
    rows = before.copy()
    made = FAULTS[fault].make(_case(rows))
    rows = rows if made is None else made
    (found,) = diagnose(make_table_traffic({"": rows})).findings
    changed = rows[0][(rows != before).any(axis=0)]
    assert found.first is not None
    assert found.first == pytest.approx(changed[0], abs=0.35)


@pytest.mark.parametrize("kind", ["true", "rounded", "fixed"])
def test_only_ways_that_do_not_follow_the_stamps_are_blamed_on_a_clock(kind: str) -> None:
    """Test rates on a clock of 60 Hz, whose ticks the sender keeps, rounds to or moves by."""
    wrong = {}
    for rate in (14, 18, 26, 34, 39, 42, 50, 57):
        rows = clean("circle", LINKS["lan"], rate, rate, 60.0)
        if kind == "rounded":
            rows[TIME] = np.floor(rows[TIME] * 60) / 60
        else:
            delays, path = rows[ARRIVAL] - rows[TIME], rows[:7].copy()
            rows[TIME] = np.floor(rows[TIME] * 60) / 60
            rows[ARRIVAL] = rows[TIME] + delays
            if kind == "true":
                for axis in range(1, 7):
                    rows[axis] = np.interp(rows[TIME], path[TIME], path[axis])
        rows[SEQUENCE] = np.nan  # without numbers
        found = {one.cause for one in diagnose(make_table_traffic({"": rows})).findings}
        beats = 60 / rate % 1 and min(60 / rate % 1, -60 / rate % 1) > 0.05
        expected = {"true": "", "rounded": "coarse-stamps", "fixed": "uneven-ticks"}[kind]
        other = {"coarse-stamps", "uneven-ticks", "threshold"} - {expected}
        if found & other or (beats and expected and expected not in found):
            wrong[rate] = found
    assert wrong == {}


#: Faults of some moments, or of some packets.
EVENTS = (
    *("holes", "stalled sender", "loss in bursts", "reordering", "head of line", "late sender"),
    *("batches", "stalled frames", "teleport", "velocity scaled", "frozen positions", "copies"),
    *("sent on change", "broken chains"),
)


@pytest.mark.parametrize("fault", EVENTS)
def test_a_fault_of_the_first_half_is_half_as_strong_in_the_whole(fault: str) -> None:
    whole = clean("strafe", LINKS["lan"], 20, 3, 80.0)
    half, rest = whole[:, whole[0] < 40.0], whole[:, whole[0] >= 40.0]
    rows = half.copy()
    made = FAULTS[fault].make(_case(rows))
    rows = rows if made is None else made
    rest[SEQUENCE] += rows[SEQUENCE, -1] - half[SEQUENCE, -1]
    strengths = []
    for recording in (rows, np.concatenate([rows, rest], axis=1)):
        told = diagnose(make_table_traffic({"": recording})).findings
        strengths += [found.share for found in told if found.cause == FAULTS[fault].cause]
    first, both = strengths
    assert 0 < first <= 1
    assert 0.4 < both / first < 0.65


def _case(rows: Columns) -> Case:
    return Case(rows, 0.05, np.random.default_rng(1), 1.0)


@pytest.mark.parametrize("jitter", [0.005, 0.02, 0.03])
@pytest.mark.parametrize("movement", MOVEMENTS)
def test_states_stamped_on_arrival_have_wrong_stamps_and_right_velocities(
    movement: str, jitter: float
) -> None:
    """The packets have no numbers, and those that overtake others are sorted by these stamps."""
    for seed, rate in enumerate((20, 30)):
        rows = clean(movement, LINKS["perfect"], rate, seed, 30.0)
        random = np.random.default_rng(seed)
        rows[0] += 0.1 + np.maximum(random.normal(0, jitter, rows.shape[1]), -0.1)
        rows[7:9] = np.nan
        told = diagnose(make_table_traffic({"": rows[:, rows[0].argsort()]})).findings
        assert {found.cause for found in told} in ({"stamps"}, {"stamps", "send-rate"})
        (found,) = (found for found in told if found.cause == "stamps")
        spread, most = float(found.values["spread"]), float(found.values["worst"])
        assert spread == pytest.approx(jitter * 2**0.5, rel=0.35)
        assert spread <= most


@pytest.mark.parametrize("seed", seeds(6, 3))
def test_a_server_whose_ticks_stand_still_falls_behind_for_good(seed: int) -> None:
    """Two of the stalls follow each other at once; delays jitter by as much as a period."""
    random = np.random.default_rng(seed)
    rate = random.choice([10, 20, 30])
    rows = clean("circle", LINKS["lan"], rate, 2, 140.0)
    begins = np.append(np.arange(8.0, 110, 18), 40 + random.uniform(20, 28) / rate)
    late = random.uniform(0.3, 0.8, len(begins))
    rows[7] += random.uniform(0, 0.02, rows.shape[1])
    for begin, wait in zip(begins, late, strict=True):
        rows[7, rows[0] > begin] += wait
    (found,) = diagnose(make_table_traffic({"": rows})).findings
    assert found.cause == "server-stall"
    assert len(begins) - 2 <= float(found.values["times"]) <= len(begins)
    assert float(found.values["longest"]) > max(late)  # the two may be one


@pytest.mark.parametrize("seed", seeds(3, 1))
def test_a_queue_that_fills_for_minutes_and_drains_at_once_is_no_other_route(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = clean("strafe", LINKS["lan"], random.choice([10, 30, 60]), seed, 200.0)
    height, full = random.uniform(0.15, 0.5), random.uniform(90, 160)
    rows[7] += np.interp(rows[0], [0, full, full + 1.5], [0, height, 0])
    (found,) = diagnose(make_table_traffic({"": rows})).findings
    assert found.cause == "queue"


def test_another_route_for_less_than_a_second_is_no_queue() -> None:
    rows = clean("strafe", LINKS["lan"], 20, 4, 60.0)
    rows[7] += np.where((rows[0] > 25) & (rows[0] < 25.9), 0.04, 0.0)
    found = diagnose(make_table_traffic({"": rows[:, rows[7].argsort()]})).findings
    assert "queue" not in {one.cause for one in found}


@pytest.mark.parametrize("shorter", [0.03, 0.05, 0.12])
def test_packets_on_a_shorter_route_overtake_and_no_clock_was_set(shorter: float) -> None:
    rows = clean("strafe", LINKS["lan"], 60, 3, 60.0)
    rows[7] += np.where(rows[0] > 25, 0.0, shorter)
    rows = rows[:, rows[7].argsort()]
    assert [found.cause for found in diagnose(make_table_traffic({"": rows})).findings] == [
        "route-change"
    ]


@pytest.mark.parametrize("longer", [0.97, 1.005, 1.03, 1.15])
def test_ticks_that_are_not_as_long_as_said_are_a_clock_that_no_queue_makes(longer: float) -> None:
    rows = clean("strafe", LINKS["wifi"], 30, 7, 50.0)
    rows[ARRIVAL] += (longer - 1) * rows[TIME]
    (found,) = diagnose(make_table_traffic({"": rows})).findings
    assert found.cause == "clock-drift"
    assert float(found.values["drift"]) == pytest.approx(abs(longer - 1) * 1e6, rel=0.05)
    rate = float(str(found.values["rate"]).partition(" %")[0].rpartition(" ")[2])
    assert rate == pytest.approx(100 / longer, abs=0.3)


def test_ticks_that_are_a_little_too_short_show_through_jitter() -> None:
    rows = clean("strafe", LINKS["lan"], 128, 7, 98.0)
    rows[ARRIVAL] += np.random.default_rng(7).gamma(1.5, 0.013, rows.shape[1]) - 0.0022 * rows[TIME]
    found = diagnose(make_table_traffic({"": rows})).findings
    assert found[0].cause == "clock-drift"
    assert "queue" not in {one.cause for one in found}


@pytest.mark.parametrize("curved", [False, True])
def test_noise_along_a_straight_line_makes_no_sender_irregular(curved: bool) -> None:
    random = np.random.default_rng(5)
    rows = clean("circle", LINKS["perfect"], 1, 1, 90.0)
    if not curved:
        rows[POSITION], rows[VELOCITY] = 0.0, np.array([[15.0], [0.0], [0.0]])
        rows[1] = 15 * rows[TIME]
    rows[ARRIVAL] = rows[TIME] + 0.05 + random.uniform(0, 0.01, rows.shape[1])
    rows[1 : 3 if curved else 2] += random.uniform(-3, 3, (2 if curved else 1, rows.shape[1]))
    told = diagnose(make_table_traffic({"": rows})).findings
    assert "send-rate" not in {one.cause for one in told}
    for one in told:
        assert one.cause != "stamps" or ("straight line" in str(one.values["what"])) is not curved


@pytest.mark.parametrize("numbered", [True, False])
def test_a_datagram_for_each_entity_is_one_message_of_that_tick(numbered: bool) -> None:
    rows = clean("circle", LINKS["lan"], 20, 1, 20.0)
    tables = {}
    for place, name in enumerate("abc"):
        own = rows.copy()
        own[7] += 0.0002 * place
        own[8] = 3 * own[8] + place if numbered else np.nan
        tables[name] = own
    one, three = make_table_traffic({"": rows}), make_table_traffic(tables)
    assert one.messages is not None
    assert three.messages is not None
    assert np.array_equal(one.messages.arrivals, three.messages.arrivals)
    assert diagnose(three).findings == ()


@pytest.mark.parametrize(
    ("send", "movement", "size", "against"),
    [
        ("60hz,threshold=0.3", "figure-eight", 0.3, "the last state that was sent"),
        ("30hz,threshold=0.5,at_least=1s", "figure-eight", 0.5, "the last state that was sent"),
        ("60hz,threshold=0.3,at_least=0.5s", "jump", 0.3, "the last state that was sent"),
        ("60hz,threshold=0.3,at_least=0.1s", "strafe", 0.3, "the last state that was sent"),
        ("60hz,threshold=0.05", "strafe", 0.05, "the last state that was sent"),
        ("60hz,threshold=0.02,against=dis", "strafe", 0.02, "its extrapolation"),
        ("60hz,threshold=0.2,against=dis", "figure-eight", 0.2, "its extrapolation"),
    ],
)
def test_the_size_of_a_threshold_is_told(
    send: str, movement: str, size: float, against: str
) -> None:
    found = of_sender(movement, send, LinkConditions(latency=0.04, jitter=0.008, loss=0.01))
    threshold = found["threshold"]
    assert threshold["size"] == pytest.approx(size, rel=0.03)
    assert threshold["against"] == against


def arrived(movement: str, send: str, link: LinkConditions, seed: int = 2) -> dict[str, Columns]:
    """Return the packets that arrive in a minute, by entity, with this sender and link."""
    moving = MovementSpec.parse(f"{movement},duration=60")
    spec = SimulationSpec(moving, SenderSpec.parse(send), LinkSpec.from_description(link))
    (run,) = iterate_simulated_runs(spec.open(), [seed])
    return {name: make_packet_table(block) for name, block in run.packets.items()}


def of_sender(
    movement: str, send: str, link: LinkConditions, seed: int = 2
) -> dict[str, Mapping[str, Any]]:
    """Return the causes found in the packets that arrive, each with its values."""
    found = diagnose(make_table_traffic(arrived(movement, send, link, seed))).findings
    return {finding.cause: finding.values for finding in found}


@few_rows(2)
@pytest.mark.parametrize(
    ("movement", "rate", "loss"),
    [("strafe", 10, 0.04), ("circle", 20, 0.02), ("figure-eight", 30, 0.1), ("zigzag", 60, 0.05)],
)
def test_chains_that_losses_break_are_told_with_their_length_and_their_cure(
    movement: str, rate: int, loss: float
) -> None:
    link = LinkConditions(latency=0.05, jitter=0.005, loss=loss)
    found = of_sender(movement, f"{rate}hz,pack=chain", link)
    assert list(found) == ["delta-chain"]
    chain = found["delta-chain"]
    assert (chain["length"], chain["every"]) == (f"{rate} packets", pytest.approx(1, abs=1e-3))
    assert chain["own"] == pytest.approx(loss, rel=0.4)
    (rows,) = arrived(movement, f"{rate}hz,pack=chain", link).values()
    numbers = np.sort(rows[SEQUENCE])
    assert chain["wrong"] == pytest.approx(1 - len(numbers) / (numbers[-1] + 1), abs=0.02)
    for cured in ("pack=delta", "pack=chain,redundancy=2"):
        assert "delta-chain" not in of_sender(movement, f"{rate}hz,{cured}", link)


@few_rows(2)
@pytest.mark.parametrize(
    ("movement", "send"),
    [
        ("circle", "20hz,quantize=0.1"),
        ("strafe", "60hz,quantize=0.05"),
        ("figure-eight", "30hz,bits=8"),
    ],
)
def test_what_rounding_costs_is_what_it_cost_and_its_cure_cures(movement: str, send: str) -> None:
    link = LinkConditions(latency=0.05, jitter=0.005)
    found = of_sender(movement, send, link)
    assert list(found) == ["quantization"]
    (rounded,) = arrived(movement, send, link).values()
    (exact,) = arrived(movement, send.split(",", maxsplit=1)[0], link).values()
    # the third axis stands still: what it is off by is no rounding that shows
    off = (rounded - exact)[1:3]
    assert found["quantization"]["rms"] == pytest.approx(np.sqrt(np.mean(off**2)), rel=0.05)
    steps = np.sqrt(np.mean(np.square(np.diff(off)).sum(axis=0)))
    usual = found["quantization"]["usual"]
    assert found["quantization"]["off"] == pytest.approx(steps / usual, rel=0.15)
    finer = f"{send.split(',', maxsplit=1)[0]},quantize={found['quantization']['finer']}"
    assert of_sender(movement, finer, link) == {}


def test_a_thousand_losses_are_no_chain() -> None:
    link = LinkConditions(latency=0.05, jitter=0.005, loss=0.05)
    assert "delta-chain" not in causes(clean("circle", link, 60, 1, 600.0))


@pytest.mark.parametrize("fault", ["stalled frames", "head of line"])
def test_frames_tell_whether_they_held_packets_up(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # which strategy drew the frames does not matter
    monkeypatch.setattr(drawn, "match", partial(drawn.match, candidates=read_specs(["lerp"])))
    rows = clean("circle", LINKS["lan"], 20, 2, 20.0)
    FAULTS[fault].make(_case(rows))
    rows[ARRIVAL] = np.ceil(rows[ARRIVAL] * 60) / 60
    times = np.arange(rows[ARRIVAL, 0], rows[ARRIVAL, -1], 1 / 60)
    if fault == "stalled frames":  # there is none but where packets are read
        read = rows[ARRIVAL, np.minimum(np.searchsorted(rows[ARRIVAL], times), rows.shape[1] - 1)]
        times = times[read - times < 0.1]
    places = np.stack([np.interp(times - 0.2, rows[TIME], axis) for axis in rows[1:4]], axis=1)
    frames = {"": DrawnPath(times, places, 1e-6)}
    traffic = make_traffic({"": block(
        Packet((x, y, z), (vx, vy, vz), time, arrival, sequence=int(number))
        for time, x, y, z, vx, vy, vz, arrival, number in rows[: SEQUENCE + 1].T.tolist()
    )})  # fmt: skip
    (alone,) = diagnose(traffic).findings
    (found,) = (one for one in diagnose(traffic, frames).findings if one.cause in BURSTS)
    assert alone.cause == "frame-stall"
    assert "--drawn" in str(alone.values["unless"])
    assert found.cause == ("frame-stall" if fault == "stalled frames" else "head-of-line")
    if fault == "stalled frames":
        assert not found.values["unless"]
    else:
        assert "frames went on" in str(found.values["cure"])


BURSTS = ("frame-stall", "head-of-line", "late-sender")


@pytest.mark.parametrize("apart", [0.0003, 0.0011, 0.004])
def test_packets_that_leave_a_queue_at_its_pace_have_waited_on_the_way(apart: float) -> None:
    rows = clean("strafe", LINKS["lan"], 15, 4, 60.0)
    random = np.random.default_rng(4)
    rows[ARRIVAL] = rows[TIME] + 0.04 + random.uniform(0, 0.004, rows.shape[1])
    for begin in random.choice(np.arange(20, rows.shape[1] - 20), 20, replace=False):
        wait_until(rows, int(begin), rows[ARRIVAL, begin] + random.uniform(0.25, 0.4))
    pace = np.asarray(apart * random.uniform(0.8, 1.2, rows.shape[1]))
    for place in range(1, rows.shape[1]):
        rows[ARRIVAL, place] = max(rows[ARRIVAL, place], rows[ARRIVAL, place - 1] + pace[place])
    assert causes(rows) == ["head-of-line"]
