"""Recognize paths that move only when packets come, or in ticks, or that play a queue of states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.mechanism import arrivals, measured_intervals
from epic_cli.jobs.diagnose.mechanism.begun_ticks import (
    iterate_frame_timers,
    iterate_packet_ticks,
)
from epic_cli.jobs.diagnose.mechanism.chase_variants import BY_SHARES, MOVING
from epic_cli.jobs.diagnose.mechanism.chases import TAKES_LATE, read_chases
from epic_cli.jobs.diagnose.mechanism.compositions import INSERTS_LATE, add_settings
from epic_cli.jobs.diagnose.mechanism.counted_ticks import iterate_counted_ticks
from epic_cli.jobs.diagnose.mechanism.cubics import iterate_cubics
from epic_cli.jobs.diagnose.mechanism.drifts import iterate_drifting_chases
from epic_cli.jobs.diagnose.mechanism.followers import (
    iterate_followed_lines,
    iterate_followed_paths,
)
from epic_cli.jobs.diagnose.mechanism.grown_shares import (
    iterate_chases_of_means,
    iterate_grown_shares,
)
from epic_cli.jobs.diagnose.mechanism.hidden_ticks import look_at_hidden_ticks
from epic_cli.jobs.diagnose.mechanism.jitter_buffers import iterate_held_chases
from epic_cli.jobs.diagnose.mechanism.leads import read_leads
from epic_cli.jobs.diagnose.mechanism.marks import find_dead_zone
from epic_cli.jobs.diagnose.mechanism.overlaps import iterate_overlapping_ways
from epic_cli.jobs.diagnose.mechanism.paces import iterate_paced_chases
from epic_cli.jobs.diagnose.mechanism.queues import look_at_queues
from epic_cli.jobs.diagnose.mechanism.readings import PossibleReading, compute_robust_rms
from epic_cli.jobs.diagnose.mechanism.shown_states import iterate_shown_states
from epic_cli.jobs.diagnose.mechanism.soft_clocks import iterate_soft_clocks
from epic_cli.jobs.diagnose.mechanism.state import WAYS
from epic_cli.jobs.diagnose.mechanism.tick_frames import make_tick_frames
from epic_cli.jobs.diagnose.mechanism.ticks import find_ticks
from epic_cli.jobs.diagnose.mechanism.velocities import find_velocity_factor, read_moved_goals

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.jobs.diagnose.mechanism.state import SearchState
    from epic_cli.jobs.diagnose.mechanism.ticks import Ticks

#: Readings over measured times, in ticks, and by velocities of the game's own, that are drawn.
MEASURED, TICKED, MOVED = 4, 6, 4

#: Chases that may land near their goal: how many of them are looked at, and their largest errors
#: at a first look (usual steps).
LIKELY, NEARBY = 3, 0.3


def look_at_kinds(search: SearchState) -> None:
    """Look at the kinds of strategies that the frames of a search show."""
    frames, results = search.frames, search.results
    clocked = arrivals.read_packet_clock(frames, search.clocks.every)
    if clocked is not None:
        search.look_at([clocked])
    if not results.is_exact:
        search.look_at(list(iterate_shown_states(frames, search.clocks.every, search.exact)))
    look_at_counted_ticks(search)
    measured = []
    for takes_late, view in frames.iterate_views():
        late = TAKES_LATE if takes_late else {}
        for how in arrivals.iterate_packet_steps(view):
            search.look_at([StrategySpec("chase", {**how, "every": "packet", **late})])
        if not results.is_exact:
            _look_at_each(search, iterate_drifting_chases(view), late)
            paced = list(iterate_paced_chases(view, search.exact))
            snaps = [add_settings(spec, {"snap": snap}) for snap in search.variants.snaps
                     for spec in paced]  # fmt: skip
            _look_at_each(search, [*paced, *snaps], late)
            _look_at_each(search, iterate_grown_shares(view), late)
            _look_at_each(search, iterate_chases_of_means(view), late)
            _look_at_each(search, iterate_held_chases(view), late)
        order = INSERTS_LATE if late else {}
        for follow, seen in ({}, view), *iterate_followed_lines(view):
            for read in arrivals.iterate_timed_buffers, arrivals.iterate_two_state_buffers:
                buffers = read(seen, search.variants.grid)
                search.look_at([add_settings(spec, {**order, **follow}) for spec in buffers])
        measured += [
            PossibleReading(
                float(compute_robust_rms(off[view.settled])),
                StrategySpec("chase", {**settings, **late}),
            )
            for settings, off in measured_intervals.iterate_measured_chases(view)
        ]
        if not results.is_exact:
            moved = [*read_moved_goals(view)[:MOVED], *read_leads(view)[:MOVED]]
            search.look_at([add_settings(reading.strategy, late) for reading in moved])
    measured.sort(key=lambda reading: reading.off)
    search.look_at_readings(measured, MEASURED, search.exact)
    if not results.is_exact:  # few frames may tell that it goes on beyond its goal
        whole = [one.strategy for one in measured if one.strategy.settings["how"] in WAYS]
        search.look_at([
            add_settings(spec, {"overshoot": "on"}) for spec in whole[:MEASURED]
            if spec.settings["how"] == "linear" and "overshoot" not in spec.settings
        ])  # fmt: skip
    if not results.is_exact:
        search.look_at(list(iterate_cubics(frames)))
        _look_at_multiplied_velocities(search, frames, {})
    look_at_tick_kinds(search)
    for follow, view in (({}, frames), *iterate_followed_paths(frames, search.exact)):
        if not results.is_exact:
            soft = iterate_soft_clocks(view, search.clocks.every)
            search.look_at([add_settings(spec, follow) for spec in soft])
    look_at_queues(search)


def _look_at_multiplied_velocities(
    search: SearchState, frames: Frames, settings: Mapping[str, Any]
) -> None:
    """Look at chases with these settings by velocities times a factor, if the frames tell one."""
    factor = find_velocity_factor(frames)
    if factor == 1:
        return
    view = frames._replace(velocities=factor * frames.velocities, taken=None)
    moved = [one for one in read_chases(view) if one.strategy.settings.keys() & {*MOVING}]
    for reading in moved[:MOVED]:
        search.look_at([add_settings(reading.strategy, {"velocity_factor": factor, **settings})])


def look_at_tick_kinds(search: SearchState) -> None:
    """Look at chases in ticks that the frames show, that begin again, or that are hidden."""
    frames, results = search.frames, search.results
    for takes_late, view in frames.iterate_views():
        if not results.is_exact:
            late = TAKES_LATE if takes_late else {}
            _look_at_each(search, iterate_packet_ticks(view), late)
            if not results.is_exact:
                search.look_at([add_settings(one, late) for one in iterate_overlapping_ways(view)])
    ticks = find_ticks(frames, search.exact)
    if ticks is not None:
        _look_at_ticks(search, ticks)
    if not results.is_exact:
        search.look_at(list(iterate_frame_timers(frames)))
    if ticks is None and not results.is_exact:
        look_at_hidden_ticks(search)


def look_at_zones(search: SearchState, readings: Sequence[PossibleReading]) -> None:
    """Look at chases that jump where the newest state is far, or stand where it is near."""
    zones: list[dict[str, Any]] = [{"snap": snap} for snap in search.variants.snaps[-1:]]
    if search.variants.dead_zone:
        near = {"dead_zone": search.variants.dead_zone}
        zones += [near, *({**zone, **near} for zone in zones)]
    nearest: dict[Any, StrategySpec] = {}  # of each kind: with many jumps none is near
    for one in readings if zones else ():
        nearest.setdefault(one.strategy.settings["how"], one.strategy)
    for zone in zones:
        search.look_at([add_settings(spec, zone) for spec in nearest.values()])
    likely = [one for one in readings if one.strategy.settings["how"] in BY_SHARES]
    likely = [one for one in likely[:LIKELY] if one.off < NEARBY * search.frames.unit]
    if likely and not search.results.is_exact:
        for zone in search.variants.near_zones:
            search.look_at([add_settings(one.strategy, zone) for one in likely])


def look_at_counted_ticks(search: SearchState) -> None:
    """Look at chases in ticks of which each frame holds a number."""
    for takes_late, view in search.frames.iterate_views():
        if not search.results.is_exact:
            late = TAKES_LATE if takes_late else {}
            _look_at_each(search, iterate_counted_ticks(view), late)


def _look_at_each(
    search: SearchState, specs: Iterable[StrategySpec], settings: Mapping[str, Any]
) -> None:
    """Look at strategies with more settings, at those behind an exact one, too."""
    for spec in specs:
        search.look_at([add_settings(spec, settings)])


def _look_at_ticks(search: SearchState, ticks: Ticks) -> None:
    """Look at chases in ticks that the frames show."""
    results = search.results
    ticked = make_tick_frames(search.frames, ticks)
    readings = read_chases(ticked)
    for reading in readings[: TICKED if search.frames.taken is None else 2 * TICKED]:
        settings = {**reading.strategy.settings, **ticks.settings}
        search.look_at([StrategySpec("chase", settings)])
    for takes_late, view in ticked.iterate_views():
        if not results.is_exact:
            own = {**ticks.settings, **(TAKES_LATE if takes_late else {})}
            _look_at_each(search, iterate_drifting_chases(view), own)
            _look_at_each(search, iterate_paced_chases(view, search.exact), own)
            _look_at_each(search, iterate_grown_shares(view), own)
    if not results.is_exact and (zone := find_dead_zone(ticked)):
        nearest = [one.candidate for one in results.ranked[:LIKELY]]
        search.look_at([
            add_settings(spec, {"dead_zone": zone}) for spec in nearest if "every" in spec.settings
        ])  # fmt: skip
    if not results.is_exact:
        _look_at_multiplied_velocities(search, ticked, ticks.settings)
    if not ticks.smooth and not results.is_exact:
        phase = ticks.phase + ticks.every  # which is the same, and not below 0
        near = np.arange(phase - 0.002, phase + 0.002, 0.0004).tolist()
        for one in results.ranked[:2]:
            results.add(search.comparison.search(one, "phase", near, 4))
