"""Settings that several strategies have in common."""

from __future__ import annotations

from epic_cli.engine.declaration import Setting

#: Originals that know no such distance are told of a teleport, or travel across it.
SNAP_DISTANCE = Setting(
    "snap_distance", 0.0, "a longer way is jumped; 0: none is", "length units", 0, 1e12
)

#: Engines agree on the time when a connection begins; a recording does not say.
LATENCY = Setting(
    "latency", "auto", "arrival less stamp; auto estimates it", "s", -1e12, 1e12, ("auto",)
)
