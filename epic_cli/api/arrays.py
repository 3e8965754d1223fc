"""Replays that return one structured NumPy array."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from epic_cli.api.reading import open_packets
from epic_cli.api.replaying import TICK, draw, make_stream
from epic_cli.engine.contract import SmoothingStrategy
from epic_cli.engine.strategies import DEFAULT
from epic_cli.recordings.opening import AT_ONCE
from epic_cli.recordings.rows import PacketSource

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy as np
    from numpy.typing import NDArray

    from epic_cli.engine.parameters import Value
    from epic_cli.engine.replay.playback import ClockName, PacingName


def replay_array(
    packets: PacketSource,
    strategy: str | SmoothingStrategy | Callable[[], SmoothingStrategy] = DEFAULT,
    *,
    tick: str | float | Fraction = TICK,
    clock: ClockName | None = None,
    pacing: PacingName | None = None,
    latency: float | None = None,
    **settings: Value,
) -> NDArray[np.void]:
    """Draw the whole replay as a structured array with a row for each sample.

    Arguments and errors are those of ``replay``. The fields are those of the CSV format: ``time``
    (seconds), ``x``, ``y``, ``z`` (the recording's own length unit), ``vx``, ``vy``, ``vz`` (that
    unit per second), all ``float64``, NaN where nothing is drawn; where there are rotations,
    ``qx``, ``qy``, ``qz``, ``qw``, ``wx``, ``wy`` and ``wz`` (rad/s); ``status`` and ``entity`` as
    text, the latter as wide as the longest name. A row takes 104 bytes (160 with a rotation) and 4
    for each character of that name; ``pandas.DataFrame(array)`` and ``polars.DataFrame(array)``
    accept the array.
    """
    from epic_cli.api.records import collect_records

    stream = make_stream(strategy, settings, tick, clock, pacing, latency)
    return collect_records(draw(open_packets(packets), stream, AT_ONCE, strategy))
