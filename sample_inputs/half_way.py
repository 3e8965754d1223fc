"""A strategy in plain Python: ``epic replay --strategy half_way.py:HalfWay``."""

from epic_cli import Number, Sample


class HalfWay:
    """Each row goes a share of the way to the newest position."""

    settings = (Number("gain", 0.5, "the share of the way", "", 0, 1),)

    def __init__(self, gain):
        self.gain = gain

    def reset(self):
        self.packet = self.shown = None

    def update(self, packet, now):
        if self.packet is not None and packet.time < self.packet.time:
            return False  # discarded: it comes too late
        self.packet = packet
        return True

    def read(self, at):  # called with times that never go back
        if self.packet is None:
            return Sample(at, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), "none")
        start = self.shown or self.packet.position
        ways = zip(start, self.packet.position, strict=True)
        self.shown = tuple(a + self.gain * (b - a) for a, b in ways)
        return Sample(at, self.shown, self.packet.velocity, "interpolated")
