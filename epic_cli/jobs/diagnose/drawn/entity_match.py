"""The match of one of several entities."""

from __future__ import annotations

from typing import NamedTuple


class EntityMatch(NamedTuple):
    """The match of a further entity with the strategy found for the first one.

    Times in seconds: ``lag`` behind the packets' stamps, ``shift`` behind the strategy, time
    ``constant`` of a low-pass on top of it (0: none). ``residual`` is the error (RMS, length),
    ``off`` the same as a share of its usual step; ``found``: the strategy draws this entity, too.
    """

    entity: str
    residual: float
    lag: float
    shift: float
    constant: float
    off: float
    found: bool
