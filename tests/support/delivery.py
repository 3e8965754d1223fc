"""Run the common input streams through a strategy, as their conformance files were made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from epic_cli import Packet, Sample
from support.conformance import load


def streams() -> dict[str, Any]:
    """Return the common input streams by name."""
    return {stream["name"]: stream for stream in load("streams")["streams"]}


def packets(stream: dict[str, Any]) -> list[Packet]:
    """Return the packets of a common stream in order of arrival, in seconds."""
    ordered = sorted(stream["packets"], key=lambda packet: (packet["recv_ms"], packet["seq"]))
    return [
        Packet(
            (packet["x"], packet["y"], 0.0),
            (packet["vx"], packet["vy"], 0.0),
            packet["t_ms"] / 1000,
            packet["recv_ms"] / 1000,
        )
        for packet in ordered
    ]


def ticks(stream: dict[str, Any]) -> list[float]:
    """Return the ticks of a common stream, in seconds."""
    return [
        ms / 1000
        for ms in range(stream["first_tick_ms"], stream["last_tick_ms"] + 1, stream["tick_ms"])
    ]


def drawn(strategy: Any, arriving: list[Packet], at: list[float]) -> Iterator[Sample]:
    """Return what the strategy draws at these times, with every packet taken before its tick."""
    waiting = iter(arriving)
    packet = next(waiting, None)
    for time in at:
        while packet is not None and packet.arrival is not None and packet.arrival <= time + 1e-9:
            strategy.update(packet, packet.arrival)
            packet = next(waiting, None)
        yield strategy.read(time)


def beside(
    strategy: Any, stream: dict[str, Any], rows: list[dict[str, Any]], stretch: float = 1.0
) -> Iterator[tuple[dict[str, Any], Sample]]:
    """Yield each row of a conformance file with the strategy's sample at that row.

    ``stretch`` is the length of the original's frames, in ticks.
    """
    times = ticks(stream)
    assert [round(row["tick_ms"]) for row in rows] == [round(time * 1000) for time in times]
    times = [times[0] + (time - times[0]) * stretch for time in times]
    return zip(rows, drawn(strategy, packets(stream), times), strict=True)


class Original:
    """The original's rows; where it drew nothing, the row before stays on the screen."""

    def __init__(self, tolerance: float = 1e-9, velocity_tolerance: float | None = None) -> None:
        self.tolerances = (tolerance,) * 2 + (velocity_tolerance or tolerance,) * 2
        self.last: Sample | None = None

    def check(self, expected: dict[str, Any] | None, sample: Sample) -> None:
        """Compare a sample with its row, if anything was drawn."""
        if expected is not None:
            assert sample.status != "none", expected
            found = (*sample.position[:2], *sample.velocity[:2])
            wanted = tuple(expected[key] for key in ("x", "y", "vx", "vy"))
            for ours, theirs, most in zip(found, wanted, self.tolerances, strict=True):
                assert abs(ours - theirs) <= most, (expected, sample)
            self.last = sample
        elif self.last is None:
            assert sample.status == "none"
        else:
            assert sample.status == "held"
            assert sample.position == self.last.position


def check_rows(
    strategy: Any,
    stream: dict[str, Any],
    rows: list[dict[str, Any]],
    tolerance: float = 1e-9,
    velocity_tolerance: float | None = None,
) -> None:
    """Compare the drawn samples with each row of a conformance file."""
    original = Original(tolerance, velocity_tolerance)
    for row, sample in beside(strategy, stream, rows):
        original.check(row["out"], sample)
