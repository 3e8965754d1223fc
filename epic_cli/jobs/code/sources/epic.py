"""The interpolator of Jon Watte's EPIC demo, mindcontrol.org, 2006.

When a packet arrives, a new line begins at the last drawn position and heads for the packet's
position extrapolated by CALC_AHEAD, at a speed that gets it there in DISPLAY_BEHIND seconds:

    slope    = (position + velocity * CALC_AHEAD - drawn) / DISPLAY_BEHIND
    drawn(t) = start + slope * (t - timestamp)
"""

from collections.abc import Mapping
from typing import Any

from epic_cli.jobs.code.sources.words import Vec3

LICENSE = """
Copyright (c) 2006 Jon Watte

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files (the "Software"), to deal in the Software without restriction,
including without limitation the rights to use, copy, modify, merge, publish, distribute,
sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or
substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM,
DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT
OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""
SINGLE = True
TURNS: dict[str, tuple[str, ...]] = {}

CALC_AHEAD: float
DISPLAY_BEHIND: float
SLOP_TIME: float
START: str
LARGEST: float  # number that single precision holds


def constants(settings: Mapping[str, Any]) -> dict[str, object]:
    """Return the constants that are no settings."""
    return {"LARGEST": 3.4028234663852886e38}


def needs_one_clock(settings: Mapping[str, Any]) -> bool:
    """Return True if ``now`` and ``time`` have to be on one clock: no offset is estimated."""
    del settings
    return True


class Smoothing:
    """An entity, drawn on a line from the drawn position to the predicted one."""

    position: Vec3  # what is drawn
    started: bool
    start: Vec3  # of the line, at the packet's timestamp
    slope: Vec3
    newest: float  # the newest timestamp

    def reset(self) -> None:
        """Forget the past."""
        self.begin(-1.0, Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
        self.started = False

    def begin(self, time: float, position: Vec3, velocity: Vec3) -> None:
        """Begin a line from this state."""
        self.start = position
        self.slope = velocity
        self.newest = time
        self.position = position
        self.started = True

    def receive(self, time: float, arrival: float, position: Vec3, velocity: Vec3) -> bool:
        """Take a packet (finite numbers, times in s); return false if it is late, and dropped."""
        if time < self.newest:
            return False
        if START == "packet" and not self.started:
            self.begin(time, position, velocity)
            return True
        if DISPLAY_BEHIND < 0.0001:
            self.start = position
            self.slope = velocity
        else:
            self.start = self.position
            self.slope = (position + velocity * CALC_AHEAD - self.start) * (1.0 / DISPLAY_BEHIND)
            # what a number cannot hold, far from its timestamps, is left out
            if not self.finite(self.slope):
                self.start = position
                self.slope = Vec3(0.0, 0.0, 0.0)
        self.newest = time
        self.started = True
        return True

    def finite(self, value: Vec3) -> bool:
        """Return true if single precision holds a vector."""
        return abs(value.x) <= LARGEST and abs(value.y) <= LARGEST and abs(value.z) <= LARGEST

    def teleport(self, time: float, arrival: float, position: Vec3, velocity: Vec3) -> None:
        """Take a packet of an entity that was moved on purpose."""
        if time >= self.newest:
            self.begin(time, position, velocity)

    def draw(self, now: float) -> bool:
        """Move ``position`` to where it is drawn at ``now``.

        Return false before the first packet.
        """
        if now < self.newest + SLOP_TIME:
            drawn: Vec3 = self.start + self.slope * (now - self.newest)
            if self.finite(drawn):
                self.position = drawn
            return True
        # without packets for so long, it stands where it is
        return self.started
