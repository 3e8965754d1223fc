"""The description of a movement: ``zigzag,speed=5,duration=4``, or ``truth=FILE``.

An entry without a key is the name of a computed path. ``truth`` is a recording whose movement is
sent again; ``velocity``, ``max_gap`` and ``max_speed`` say how to read it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import get_ident
from typing import TYPE_CHECKING, Any, Self

from epic_cli.engine import description
from epic_cli.engine.parameters import Custom, FileName, Number, Parameter, SettingError
from epic_cli.network.movement import PathMovement, RecordedMovement
from epic_cli.network.paths import PATH, RANDOM_PATHS, TURNING, make_spread_path
from epic_cli.network.truth_file import MOVEMENT, Velocities, read_movement
from epic_cli.recordings.opening import ReadingLog, name_source, read_file
from epic_cli.recordings.read_spec import INFERRED, ReadSpec

if TYPE_CHECKING:
    from epic_cli.recordings.opening import Logs

#: Default duration of a path, in seconds.
USUAL_DURATION = 10.0

DURATION = Number("duration", None, "Duration in seconds, or endless.  [default: 10; with truth all"
                  " of it]", "s", 0, 1e9, words={"endless": math.inf},
                  tune=(2, 120), scale="log")  # fmt: skip

#: The keys of ``--movement``: those of a path, and those of a recording.
MOVEMENT_KEYS: tuple[Parameter, ...] = (
    *PATH,
    TURNING,
    Number("entities", 1, "Number of entities on the path, each with its own name, place and"
           " phase.", "", 1, 10_000, whole=True),
    FileName("truth", "Recorded movement instead of a path: a recording of positions and, where"
             " known, velocities, entities, teleports."),
    *MOVEMENT,
    Custom("entity", None, "Name of the entity on the path, or the only recorded one to send.",
           "name",
           str),
    DURATION,
)  # fmt: skip

#: Keys without effect beside ``truth``, and without it.
_OF_PATHS = (*(point.name for point in PATH), TURNING.name, "entities")
_OF_TRUTHS = tuple(choice.name for choice in MOVEMENT)


def load_movement(
    path: str, spec: ReadSpec = INFERRED, log: Logs = ReadingLog, **how: Any
) -> RecordedMovement:
    """Read a recorded movement from a file (``read_movement``); raise as ``read_file``."""
    with log(name_source(path)) as reading:
        reading.note_requested(spec)
        movement = read_file(
            path,
            lambda stream: read_movement(
                stream,
                spec=spec._replace(rebase_time=True),
                on_read=reading.report_inferred,
                look=reading.observe,
                **how,
            ),
        )
        reading.put_in_order(movement.late, movement.repeated)
        return movement


@dataclass(frozen=True)
class MovementSpec(description.Described):
    """A movement: entities on a computed path, or recorded in the file ``truth`` (``-`` for stdin).

    ``speed`` is in length units a second, ``size`` in length units, ``duration`` and ``max_gap`` in
    seconds. A ``duration`` of None is 10 s of a path, or all of a recording.
    """

    TABLE, KEY, OWNER = MOVEMENT_KEYS, "path", "a movement"

    path: str = "circle"
    speed: float = 5.0
    size: float = 5.0
    turning: str = "none"
    entities: int = 1
    truth: str | None = None
    velocity: Velocities = "auto"
    max_gap: float = 3.0
    max_speed: float | None = None
    entity: str | None = None
    duration: float | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a movement's description; raise ``SettingError``."""
        given = {entry.key for entry in description.split(text)}
        for name in (*_OF_PATHS, *_OF_TRUTHS):
            if name in given and (name in _OF_PATHS) == ("truth" in given):
                of_path = name in _OF_PATHS
                raise SettingError(
                    f"{name} does not go with truth=FILE" if of_path else f"{name} needs truth=FILE"
                )
        return super().parse(text)

    def list_entries(self) -> list[tuple[str, str]]:
        """Return the entries of the description; a path comes first, by its name."""
        entries = [(name, value) for name, value in super().list_entries() if name != "path"]
        return entries if self.truth is not None else [("", self.path), *entries]

    @property
    def seconds(self) -> float:
        """The duration to send, s; infinite: all of a recording, or endlessly."""
        if self.duration is None:
            return math.inf if self.truth else USUAL_DURATION
        return self.duration

    def make_movement(
        self, seed: int = 0, load: Callable[..., RecordedMovement] = load_movement
    ) -> PathMovement | RecordedMovement:
        """Create the movement; equal specs share one path in each thread.

        ``load`` reads the file as ``read_movement`` does, with its keywords. Raises what ``load``
        raises.
        """
        if self.truth is not None:
            how = {"velocities": self.velocity, "max_gap": self.max_gap}
            return load(self.truth, entity=self.entity, max_speed=self.max_speed, **how)
        has_chance = self.path in RANDOM_PATHS or self.turning not in ("none", "heading")
        # a path remembers where it was asked for last
        return _make_paths(replace(self, duration=None), seed if has_chance else 0, get_ident())


@lru_cache(maxsize=512)
def _make_paths(spec: MovementSpec, seed: int, thread: int) -> PathMovement:
    del thread
    side = math.isqrt(spec.entities - 1) + 1
    name = spec.entity or ""
    names = [f"{name}{n + 1}" for n in range(spec.entities)] if spec.entities > 1 else [name]
    how = spec.path, spec.speed, spec.size, seed, spec.turning
    paths = [make_spread_path(n, side, *how) for n in range(spec.entities)]
    return PathMovement(paths[0], names[0], *zip(names[1:], paths[1:], strict=True))
