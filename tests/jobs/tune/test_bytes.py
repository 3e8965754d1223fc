"""``epic tune --bytes``: how to send, evaluated on data not used for tuning."""

from __future__ import annotations

import functools
import itertools
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.recordings import few_of
from support.running import EPIC, environment, epic

from epic_cli import tune_bytes
from epic_cli.engine.replay.playback import SCREEN_TIMING
from epic_cli.engine.replay.strategy_spec import read_specs
from epic_cli.jobs.tune.bytes_front import (
    BytesFronts,
    BytesSpec,
    Limit,
    SentAs,
    divide_networks,
    find_bytes,
)
from epic_cli.jobs.tune.bytes_report import draw_picture, report
from epic_cli.metrics.evaluation import CompareSpec, compare, iterate_simulated_runs
from epic_cli.network.link_spec import LinkSpec
from epic_cli.network.movement_spec import MovementSpec
from epic_cli.network.sender import SenderSpec
from epic_cli.network.simulation import SimulationSpec
from epic_cli.show.documents import write_jsonl

LINK = "latency=40ms,jitter=5ms"


def asked(
    strategies: str,
    limit: str = "",
    send: str = "",
    movement: str = "strafe,duration=3",
    threads: int = 1,
) -> BytesSpec:
    simulation = SimulationSpec(
        MovementSpec.parse(movement), SenderSpec.parse(send), LinkSpec.parse(LINK)
    )
    return BytesSpec(
        tuple(read_specs(strategies.split(","))),
        simulation.open(),
        range(4),
        CompareSpec((), SCREEN_TIMING, threads=threads),
        limit=Limit.parse(limit) if limit else None,
    )


@functools.lru_cache
def found(*words: Any, **more: Any) -> BytesFronts:
    return find_bytes(asked(*words, **more))


# what is given stays: threshold and packing are left
FEW = "20hz,quantize=0.01,velocity=none"


def test_under_a_limit_nothing_between_the_rates_and_thresholds_is_better() -> None:
    limit = 420.0
    (one,) = found("lerp", f"{limit:.0f}B/s", "quantize=0.01,velocity=none,pack=full").found
    assert one.chosen.pack == "full"
    spec = asked("lerp", send="quantize=0.01,velocity=none,pack=full")
    part = divide_networks(spec)[0]
    chosen = part.evaluate(SentAs(one.strategy, one.chosen)).values
    assert chosen["bytes"] <= limit
    others = itertools.product((8, 10, 6, 13), (0.3, 0.4, 0.1, 0.6))
    for rate, threshold in few_of(others, 2):
        send = replace(spec.given, send_rate=rate, threshold=threshold, at_least=1)
        other = part.evaluate(SentAs(one.strategy, send)).values
        if other["bytes"] <= limit:
            assert other["score"] <= chosen["score"] + 0.4, send.write()


def test_what_is_evaluated_is_what_compare_says_of_that_sender() -> None:
    result = found("dead-reckoning", "300B/s", FEW)
    (one,) = result.found
    assert one.chosen.against == read_specs(["dead-reckoning"])[0] or not one.chosen.selective
    simulation = SimulationSpec(
        MovementSpec.parse("strafe,duration=3"), one.chosen, LinkSpec.parse(LINK)
    )
    spec = CompareSpec(
        read_specs(["dead-reckoning"]), SCREEN_TIMING, total=2, runs_are="networks", intervals=False
    )
    again = compare(
        iterate_simulated_runs(simulation.open(), [1, 3]),
        CompareSpec(spec.participants, SCREEN_TIMING, total=2, runs_are="networks"),
    ).results[0]
    for name in ("score", "error", "bytes", "lag"):
        assert again.value(name) == pytest.approx(one.result(one.chosen).value(name), rel=1e-9)


def test_a_figure_that_must_be_reached_takes_the_fewest_bytes() -> None:
    (loose,) = found("dead-reckoning", "error=0.6", FEW).found
    (tight,) = found("dead-reckoning", "error=0.25", FEW).found
    assert loose.kept
    assert tight.kept
    assert loose.result(loose.chosen).value("bytes") < tight.result(tight.chosen).value("bytes")
    assert tight.result(tight.chosen).value("error") < 0.3
    errors = [loose.result(send).value("error") for send in loose.shown]
    assert errors == sorted(errors, reverse=True)
    assert len(errors) > 2
    (never,) = found("dead-reckoning", "error=0.00001", FEW).found
    assert not never.kept


def test_predictors_and_buffers_at_equal_bytes_are_compared_in_pairs() -> None:
    both = found("dead-reckoning,snapshot+interpolation_time=0.1", "300B/s", FEW)
    assert both.comparison is not None
    sent = [result.value("bytes") for result in both.comparison.results]
    assert max(sent) < 340  # on what it was not tuned on
    text = report(both)
    assert text.verdict[0] == "With at most 300 bytes a second:"
    records = list(text.data.records())
    assert {record["strategy"] for record in records} == {
        "dead-reckoning", "snapshot+interpolation_time=0.1",
    }  # fmt: skip
    assert sum(record["chosen"] for record in records) == 2
    assert draw_picture(both).count("<circle") == len(records)


def test_an_interruption_gives_the_best_so_far() -> None:
    def interrupt(done: int, _: int) -> None:
        if done == 8:  # 6 thresholds have been tried, and some of their encodings
            raise KeyboardInterrupt

    result = find_bytes(asked("lerp,dead-reckoning", "", FEW), interrupt)
    (one,) = result.found
    assert result.interrupted
    assert result.comparison is None
    assert (one.strategy.label, one.tried) == ("lerp", 6)
    assert not found("lerp", "", FEW, threads=1).interrupted


def test_the_same_by_workers_in_python_and_from_a_journal(tmp_path: Path) -> None:
    words = ("tune", "--bytes", "-s", "lerp", "--movement", "strafe,duration=3", "--seeds", "2",
             "--send", f"{FEW},threshold=0.2", "-f", "jsonl")  # fmt: skip
    journal, page = tmp_path / "journal", tmp_path / "page.html"
    first = epic(*words, "--journal", journal)
    again = epic(*words, "--journal", journal, "--html", page)
    assert first.returncode == again.returncode == 0
    elsewhere = subprocess.run(
        [*EPIC, *words, "--workers", "2"], check=False, capture_output=True, env=environment()
    )
    assert first.stdout == again.stdout == elsewhere.stdout
    send = f"{FEW},threshold=0.2"
    called = tune_bytes("lerp", "strafe,duration=3", send=send, seeds=2, journal=journal)
    assert write_jsonl(report(called)).encode() == first.stdout
    known = re.search(rb"0 new trials in .*, (\d+) known", again.stderr)
    assert known
    assert int(known[1]) > 2
    other = epic(*words, "--movement", "strafe,duration=4", "--journal", journal)
    assert b"0 new" not in other.stderr
    for shown in ("lerp, chosen", "lerp, as given", "senders, to be copied"):
        assert shown in page.read_text()


def test_as_it_was_recorded_is_tried_too() -> None:
    """The recording has two states a second, fewer than any rate that is tried."""
    send = "threshold=50,quantize=0.01,velocity=none"
    (one,) = found("lerp", "", send, "truth=sample_inputs/airliner.csv").found
    assert one.given.send_rate == one.front[0].send.send_rate == "recorded"


@pytest.mark.parametrize("text", ["", "5", "-3kB/s", "bananas=3", "error=x", "0B/s"])
def test_what_is_no_limit_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="5kB/s"):
        Limit.parse(text)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--limit", "5kB/s", "-s", "lerp", "--movement", "strafe"), b"needs --bytes"),
        (("--bytes", "-s", "lerp", "sample_inputs/jitter.txt"), b"--movement"),
        (("--bytes", "--movement", "strafe"), b"needs -s NAME"),
        (("--bytes", "-s", "lerp", "--movement", "strafe", "--seeds", "1"), b"two seeds"),
        (("--bytes", "-s", "lerp", "--movement", "strafe", "--trials", "9"), b"--bytes"),
    ],
)
def test_what_does_not_go_together_is_said(words: tuple[str, ...], said: bytes) -> None:
    result = epic("tune", *words)
    assert result.returncode == 2
    assert said in result.stderr
