"""Frames whose unit of length, axes or origin are not those of the packets."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.metrics.arrays import ARRIVAL, POSITION, TIME, make_packet_table
from epic_cli.metrics.digits import format_number
from epic_cli.metrics.drawn_path import FEWEST_FRAMES, DrawnPath

if TYPE_CHECKING:
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.metrics.arrays import Floats

#: Ratio of the frames' extent to that of the packets, or its inverse, from which on their units of
#: length differ, if the ratios along the axes agree within ``ALIKE``.
ANOTHER_UNIT, ALIKE = 2.0, 1.3

#: Usual ratios of two units of length, to which a measured one is rounded within ``NEARLY``: powers
#: of ten and of two (pixels of a tile), inches and feet of a meter.
UNIT_RATIOS = (*(10.0**n for n in range(1, 7)), *(2.0**n for n in range(2, 11)), 39.3701, 3.28084)
NEARLY = 1.04

#: The same for one that was measured at rest, and seconds from which on a packet's place rests;
#: places at rest are apart by this share of the packets' extent, at least.
RESTED, RESTS, SPREAD = 1.002, 0.6, 0.2

#: Lags (s) at which frames may follow the packets, and most frames that are compared.
LAGS, MOST_FRAMES = np.arange(0.0, 4.01, 0.1), 600

#: Other axes or another origin leave this share of what is off in the packets' own, and this share
#: of the extent.
LEFT, CLOSE = 0.1, 0.15

#: Seconds before which a packet counts as arrived at a frame of the same time.
AT_ONCE = 5e-7

#: Offsets below this share of the extent are those of lag and smoothing.
SMALL = 0.02


def find_unit_ratio(
    paths: Mapping[str, DrawnPath], packets: Mapping[str, PacketBlock]
) -> float | None:
    """Return the frames' unit of length in the packets' if these differ, or None.

    ``paths`` and ``packets`` are by entity. What is drawn spreads about as far as the packets that
    came meanwhile, however it is smoothed.
    """
    found: list[float] = []
    for name, path in paths.items():
        table = make_packet_table(packets[name])
        came = _find_arrivals(table)
        there = table[POSITION][:, (came >= path.times[0]) & (came <= path.times[-1])]
        if there.shape[1] < FEWEST_FRAMES:
            continue
        sent = np.ptp(np.quantile(there, (0.05, 0.95), axis=1), axis=0)
        drawn = np.ptp(np.quantile(path.positions, (0.05, 0.95), axis=0), axis=0)
        moves = (sent > 0.1 * sent.max()) & (drawn > 0)
        found += (drawn[moves] / sent[moves]).tolist()
    ratio = float(np.median(found)) if found else 1.0
    alike = all(1 / ALIKE < one / ratio < ALIKE for one in found)
    if not alike or 1 / ANOTHER_UNIT < ratio < ANOTHER_UNIT:
        return None
    rested = (_find_ratio_at_rest(path, make_packet_table(packets[n])) for n, path in paths.items())
    exact = [one for one in rested if 1 / NEARLY < abs(one) / ratio < NEARLY]
    if exact:
        ratio = abs(float(np.median(exact)))
    usual = min(UNIT_RATIOS, key=lambda one: abs(math.log(max(ratio, 1 / ratio) / one)))
    usual = usual if ratio > 1 else 1 / usual
    nearly = RESTED if exact else NEARLY
    digits = 4 if exact else 3
    return usual if 1 / nearly < ratio / usual < nearly else float(f"{ratio:.{digits}g}")


def _find_ratio_at_rest(path: DrawnPath, table: Floats) -> float:
    """Return the ratio of the places of frames and packets at rest; 0 if these are too few."""
    came = _find_arrivals(table)
    order = np.argsort(came, kind="stable")
    came, sent = came[order], table[POSITION][:, order].T
    newest, before = (
        np.maximum(np.searchsorted(came, path.times - ago, side="right") - 1, 0)
        for ago in (0.0, RESTS)
    )
    still = np.append(False, (np.diff(path.positions, axis=0) == 0).all(axis=1))
    still &= (sent[newest] == sent[before]).all(axis=1) & (before > 0)
    shown, drawn = sent[newest[still]], path.positions[still]
    if len(shown) < FEWEST_FRAMES:
        return 0.0
    extents = np.ptp(shown, axis=0)
    axis = int(extents.argmax())
    if extents[axis] < SPREAD * np.ptp(sent, axis=0)[axis]:
        return 0.0
    return float(np.polyfit(shown[:, axis], drawn[:, axis], 1)[0])


def _find_arrivals(table: Floats) -> Floats:
    """Return the arrivals (s) of a table of packets, or their stamps where these are not known."""
    return np.asarray(np.where(np.isfinite(table[ARRIVAL]), table[ARRIVAL], table[TIME]))


class OtherCoordinates(NamedTuple):
    """Axes and origin of frames that are not those of the packets.

    ``axes`` has the packets' axis, 0 to 2, for each of the frames', ``signs`` are 1 or -1, and
    ``offset`` (length) is what is added.
    """

    axes: tuple[int, ...]
    signs: tuple[float, ...]
    offset: tuple[float, ...]

    @property
    def words(self) -> str:
        """The frames' coordinates in those of the packets, as ``x is y, y is -x``."""
        parts = []
        for axis, sign, name, added in zip(self.axes, self.signs, "xyz", self.offset, strict=True):
            own = f"{'-' if sign < 0 else ''}{'xyz'[axis]}"
            plus = f" {'-' if added < 0 else '+'} {format_number(abs(added))}" if added else ""
            if own != name or plus:
                parts.append(f"{name} is {own}{plus}")
        return ", ".join(parts)

    def place(self, paths: Mapping[str, DrawnPath]) -> dict[str, DrawnPath]:
        """Return the frames, by entity, in the packets' coordinates."""
        return {name: path._replace(positions=self._place(path)) for name, path in paths.items()}

    def _place(self, path: DrawnPath) -> Floats:
        placed = np.empty_like(path.positions)
        moved = (path.positions - np.array(self.offset)) * np.array(self.signs)
        placed[:, list(self.axes)] = moved
        return placed


def find_other_coordinates(
    paths: Mapping[str, DrawnPath], packets: Mapping[str, PacketBlock]
) -> OtherCoordinates | None:
    """Return the frames' coordinates if they are not the packets', whatever the lag; or None.

    Of the entity with most frames, by entity as in ``find_unit_ratio``.
    """
    name = max(paths, key=lambda one: len(paths[one].times))
    path, table = paths[name], make_packet_table(packets[name])
    came = _find_arrivals(table)
    order = np.argsort(came, kind="stable")
    came, sent = came[order], table[POSITION][:, order]
    inside = (path.times > came[0] + LAGS[-1]) & (path.times < came[-1])
    part = np.flatnonzero(inside)[:: max(int(inside.sum()) // MOST_FRAMES, 1)]
    if len(part) < FEWEST_FRAMES:
        return None
    drawn = path.positions[part].T
    lagged = np.array(
        [[np.interp(path.times[part] - lag, came, axis) for axis in sent] for lag in LAGS]
    )
    extent = float(np.ptp(drawn, axis=1).max())
    own = float(np.sqrt(np.square(drawn - lagged).sum(axis=1).mean(axis=1)).min())
    if own < CLOSE * extent:
        return None
    off, found = min(_iterate_coordinates(drawn, lagged), key=lambda each: each[0])
    if not off < min(LEFT * own, CLOSE * extent):
        return None
    newest = np.maximum(np.searchsorted(came, path.times + AT_ONCE, side="right") - 1, 0)
    shown = sent[list(found.axes)][:, newest] * np.array(found.signs)[:, None]
    apart = path.positions.T - shown
    return found._replace(
        offset=tuple(
            _settle_offset(each, about, path.resolution, SMALL * extent) if about else 0.0
            for each, about in zip(apart, found.offset, strict=True)
        )
    )


def _settle_offset(apart: Floats, about: float, resolution: float, near: float) -> float:
    """Return the offset at which most frames show the newest state, as those at rest do.

    ``apart`` are their differences (length), of which only those ``near`` the one found count.
    """
    close = apart[np.abs(apart - about) <= near]
    if not len(close):
        return about
    width = 2 * max(resolution, 1e-9 * near)
    places, counts = np.unique(np.round(close / width), return_counts=True)
    usual = float(places[counts.argmax()]) * width
    return float(np.median(close[np.abs(close - usual) <= width]))


def _iterate_coordinates(drawn: Floats, lagged: Floats) -> Iterator[tuple[float, OtherCoordinates]]:
    """Yield all axes and signs with the best origin, and how far (length, RMS) frames are off."""
    extents = np.ptp(drawn, axis=1)
    still = extents == 0
    for axes in itertools.permutations(range(3)):
        for signs in itertools.product((1.0, -1.0), repeat=3):
            if any(sign < 0 and flat for sign, flat in zip(signs, still, strict=True)):
                continue  # what does not move has no sign
            apart = drawn - np.array(signs)[:, None] * lagged[:, axes]
            # mirrored or exchanged axes mostly share the origin: it is kept if it fits
            for offset in (np.zeros((len(lagged), 3)), np.median(apart, axis=2)):
                rest = np.sqrt(np.square(apart - offset[:, :, None]).sum(axis=1).mean(axis=1))
                best = int(rest.argmin())
                usual = axes == (0, 1, 2) and min(signs) > 0
                penalty = 1.0 if usual or not offset[best].any() else 1.05
                shown = np.where(np.abs(offset[best]) < SMALL * extents.max(), 0.0, offset[best])
                added = tuple(float(f"{one:.3g}") for one in shown)
                yield float(rest[best]) * penalty, OtherCoordinates(axes, signs, added)
