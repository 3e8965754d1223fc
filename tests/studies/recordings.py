"""Recorded movement: the files that the studies need, their presence, and unbroken runs.

``recordings.sha256`` lists the files and their digests (``sha256sum -c`` in the data folder).
Sources: Rocket League, nickbabcock/boxcars (assets/replays/good); QuakeWorld, mvdparser; Melee,
py-slippi; a car, commaai/comma2k19; an airliner, PyPI traffic 2.13. They are not part of the
repository. Meters and seconds.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LIST = Path(__file__).with_name("recordings.sha256")

#: So many times the usual interval is a gap, so many times the usual speed a teleport.
GAP, JUMP = 3.0, 10.0


class Run(NamedTuple):
    """Updates without a teleport, a gap or a repeated state between them.

    Shapes (n,), (n, 3), (n, 3), (n, 4), (n, 3); None: no rotation.
    """

    time: Floats
    position: Floats
    velocity: Floats
    rotation: Floats | None = None
    spin: Floats | None = None

    def part(self, which: Any) -> Run:
        """Return some of the states."""
        kept = [None if values is None else values[which] for values in self]
        return Run(self.time[which], self.position[which], self.velocity[which], *kept[3:])


class Track(NamedTuple):
    """One entity: its kind, its recording, its runs."""

    thing: str
    recording: str
    runs: list[Run]

    @property
    def interval(self) -> float:
        """The usual time between two updates (s)."""
        return float(np.median(np.concatenate([np.diff(run.time) for run in self.runs])))


def complaints(folder: Path) -> list[str]:
    """Return a sentence for each file of a data folder that is missing or different."""
    found = []
    for digest, name in map(str.split, LIST.read_text().splitlines()):
        if not (folder / name).exists():
            found.append(f"{name} is missing in {folder}")
        elif hashlib.sha256((folder / name).read_bytes()).hexdigest() != digest:
            found.append(f"{name} is not the file that the figures were made with")
    return found


def tracks(folder: Path) -> Iterator[Track]:
    """Yield all entities: of Rocket League one match after the other, then the others."""
    for path in sorted((folder / "rocketleague").glob("rl-*.parquet")):
        yield from _match(path)
    for thing, name in (
        ("Melee", "slippi_melee_60hz"),
        ("QuakeWorld", "quakeworld_duel"),
        ("road car", "comma2k19_car"),
        ("airliner", "adsb_flight"),
    ):
        with (folder / f"{name}.csv").open() as file:
            rows = list(csv.DictReader(file))
        for entity in sorted({row["entity"] for row in rows}):
            own = [list(row.values())[1:] for row in rows if row["entity"] == entity]
            values = np.array(own, float)
            run = Run(values[:, 0], values[:, 1:4], values[:, 4:])
            yield Track(thing, name, _runs(run, np.zeros(len(own), bool)))


def _match(path: Path) -> Iterator[Track]:
    from pyarrow import parquet

    table = parquet.read_table(path)
    columns = {name: np.array(table[name].to_pylist()) for name in table.column_names}

    def numbers(names: str, unit: float = 1.0) -> Floats:
        return unit * np.stack([columns[name].astype(float) for name in names.split()], -1)

    every = Run(columns["time"].astype(float), numbers("x y z", 0.01), numbers("vx vy vz", 0.01),
                numbers("qx qy qz qw"), numbers("wx wy wz"))  # fmt: skip
    for name in sorted(set(columns["entity"].tolist())):
        own = columns["entity"] == name
        run, cut = every.part(own), columns["teleport"][own].astype(bool)
        asleep = ~run.velocity.any(1)
        repeated = np.append(False, (np.diff(run.position, axis=0) == 0).all(1))
        number = np.cumsum(cut | asleep)[~asleep & ~repeated]
        kept = run.part(~asleep & ~repeated)
        yield Track(name.partition("-")[0], path.stem, _runs(kept, np.diff(number, prepend=0) > 0))


def _runs(run: Run, cut: NDArray[np.bool_]) -> list[Run]:
    """Cut before marked updates, at gaps and at unmarked teleports."""
    steps = np.diff(run.time)
    usual = np.sqrt(np.mean(np.sum(run.velocity**2, axis=1)))
    jump = np.linalg.norm(np.diff(run.position, axis=0), axis=1) > JUMP * usual * steps
    ends = np.flatnonzero(cut[1:] | jump | (steps > GAP * np.median(steps))) + 1
    bounds = pairwise([0, *ends.tolist(), len(run.time)])
    return [run.part(slice(start, end)) for start, end in bounds if end - start > 4]
