from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from support import movements

from epic_cli.engine.replay.playback import SCREEN_TIMING
from epic_cli.engine.replay.strategy_spec import read_specs
from epic_cli.metrics.certainty import Unit
from epic_cli.metrics.comparison import Comparison, find_best_games
from epic_cli.metrics.evaluation import CompareSpec, Progress, Run, compare, iterate_simulated_runs
from epic_cli.metrics.metric import GAMES, Weights, make_weights
from epic_cli.metrics.notes import AllAlike, NothingJudged
from epic_cli.network.link_spec import LinkSpec
from epic_cli.network.movement_spec import MovementSpec
from epic_cli.network.simulation import SimulationSpec

TAKING_PART = read_specs(["dumb-terminal", "snapshot", "dis"])
NOTHING = Run("nothing", {"": movements.block(movements.packets(movements.circle, 0.0))})
NETWORKS = SimulationSpec(
    MovementSpec.parse("strafe,duration=4"), link=LinkSpec.parse("latency=80ms,jitter=20ms")
).open()


def run(seeds: int, threads: int = 1, progress: Progress | None = None, **more: Any) -> Comparison:
    spec = CompareSpec(TAKING_PART, SCREEN_TIMING, total=seeds, threads=threads, **more)
    return compare(iterate_simulated_runs(NETWORKS, range(seeds)), spec, progress)


def test_many_runs_are_one_result_the_same_from_any_number_of_threads() -> None:
    told: list[tuple[int, int]] = []
    alone = run(8, progress=lambda done, total: told.append((done, total)))
    assert alone == run(8, threads=2) == run(8, threads=9)
    assert told == [(count, 8) for count in range(1, 9)]
    assert alone.certainty is not None
    assert (alone.certainty.unit, alone.certainty.units) == (Unit.RUN, 8)
    assert alone.recordings == tuple(f"seed {seed}" for seed in range(8))
    parts = [result for result in alone.by_recording if result.label == "snapshot"]
    pooled = next(result for result in alone.results if result.label == "snapshot")
    assert pooled.value("rows") == alone.rows == sum(part.value("rows") for part in parts)
    squares = sum(part.value("error") ** 2 * part.value("rows") for part in parts)
    assert pooled.value("error") == pytest.approx(math.sqrt(squares / alone.rows))
    worst = alone.advice.worst
    assert worst is not None
    assert worst.value("score") == min(
        result.value("score") for result in alone.by_recording if result.label == worst.label
    )


def test_networks_without_chance_are_one_and_prove_nothing_by_their_number() -> None:
    movement = MovementSpec.parse("circle,duration=4")
    still = SimulationSpec(movement, link=LinkSpec.parse("latency=80ms")).open()

    def over(seeds: int) -> Comparison:
        runs = iterate_simulated_runs(still, range(seeds))
        spec = CompareSpec(TAKING_PART, SCREEN_TIMING, total=seeds, threads=1, runs_are="networks")
        return compare(runs, spec)

    eight, one = over(8), over(1)
    assert eight.results == one.results
    assert eight.certainty == one.certainty
    assert eight.notes == (*one.notes, AllAlike(8))
    assert eight.advice.worst is None


def test_a_run_that_cannot_be_judged_is_skipped_and_told() -> None:
    def runs() -> Iterator[Run]:
        yield NOTHING
        yield from iterate_simulated_runs(NETWORKS, range(2))

    found = compare(runs(), CompareSpec(TAKING_PART, SCREEN_TIMING, total=3))
    assert [pair.recording for pair in found.skipped] == ["nothing"]
    assert found.recordings == ("seed 0", "seed 1")


@pytest.mark.parametrize("total", [1, 2])
def test_nothing_to_judge_at_all_is_an_error(total: int) -> None:
    with pytest.raises(NothingJudged):
        compare([NOTHING] * total, CompareSpec(TAKING_PART, SCREEN_TIMING, total=total))


def test_an_interruption_stops_all_runs() -> None:
    def interrupt(done: int, total: int) -> None:
        del done, total
        raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        run(4, threads=2, progress=interrupt)
    assert threading.active_count() == before


def test_the_advice_names_who_leads_in_other_games() -> None:
    found = run(6)
    best = {
        name: label for label, names in find_best_games(found.results).items() for name in names
    }
    assert set(best) == {game.name for game in GAMES}
    for game, label in best.items():
        again = run(6, weights=next(pair.weights for pair in GAMES if pair.name == game))
        assert again.advice.best is not None
        assert again.advice.best.label == label
    told = dict(found.advice.other_games)
    assert found.advice.best is not None
    leader = found.advice.best.label
    assert told == {game: label for game, label in best.items() if label != leader}


def test_weights_start_from_those_of_a_game() -> None:
    shooter = next(game for game in GAMES if game.name == "shooter")
    assert make_weights({"latency": 9}, shooter.weights) == shooter.weights._replace(latency=9)
    # a rewind takes lag away: what is left of the error matters, for a fighting game the lag does
    assert shooter.weights.accuracy + shooter.weights.across > 4 * shooter.weights.latency
    fighting = next(game for game in GAMES if game.name == "fighting")
    assert fighting.weights.latency == max(fighting.weights)
    with pytest.raises(ValueError, match="did you mean 'accuracy'"):
        make_weights({"acuracy": 1})
    with pytest.raises(ValueError, match="recovery alone makes no score"):
        make_weights({"recovery": 1}, Weights(0, 0, 0, 0, 0, 0))
