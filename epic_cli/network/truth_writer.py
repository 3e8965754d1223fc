"""True states as CSV, which ``truth_file`` reads back as recorded movement."""

from __future__ import annotations

from epic_cli.formats.writing import Fault, Unwritable, check_name, csv_field, number
from epic_cli.network.sender import DECIMALS
from epic_cli.network.state import Snapshot, State


class TruthWriter:
    """Writes where entities truly were, rounded to 1e-6.

    ``teleport`` is 1 in an entity's first row after a teleport.
    """

    header = b"entity,time,x,y,z,vx,vy,vz,teleport\n"

    def __init__(self) -> None:
        self._teleports: dict[str, int] = {}

    def rows(self, snapshot: Snapshot) -> bytes:
        """The lines of all entities at one time; raises ``Unwritable`` for a name."""
        return "".join(self._row(snapshot.time, *one) for one in snapshot.states).encode()

    def _row(self, time: float, entity: str, state: State) -> str:
        check_name(entity)
        if entity != entity.strip():
            raise Unwritable(Fault.OUTER_BLANK, "entity", entity)
        values = (time, *state.position, *state.velocity)
        # adding 0 makes -0 a 0
        numbers = ",".join(number(round(value, DECIMALS) + 0.0) for value in values)
        teleport = self._teleports.get(entity, state.teleports) != state.teleports
        self._teleports[entity] = state.teleports
        return f"{csv_field(entity)},{numbers},{teleport:d}\n"
