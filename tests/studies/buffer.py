"""The length of a buffer, in packets, that x % loss asks for.

    python -m studies.buffer --data FOLDER [--out FOLDER] [--packets 20000]

The delay that a snapshot buffer needs, in send intervals behind the state that the fastest packet
brings, for at most 0.1, 1 and 5 % of the rows not to be interpolated: as a closed form, as what
``epic`` draws over a simulated link, over recorded networks; and which engines' defaults are
enough. Run in ``tests/``. Writes ``buffer.csv``, ``buffer_engines.csv``, ``buffer_traces.csv`` and
``buffer.svg``.

The closed form. Time is in send intervals, D is the delay. A row is drawn at a state's time x, D
before now; the next stamp is x + u, u uniform in (0, 1]. The packet of stamp x + u + j had
D - u - j to arrive in, which it does with the probability (1 - p) F(D - u - j); the row is not
interpolated if none did. Losses in bursts are a Markov chain (Gilbert) along j.

Method. 45 networks: 0 to 10 % of the packets lost, independently or in bursts of 3 (Gilbert),
jitter of 0 to 1 send interval (gamma, shape 2). To check the closed form, ``snapshot`` draws
20,000 packets of each network at 10 to 128 Hz, 16 rows to a send interval; ``test_buffer.py``
simulates packets in NumPy alone. With delays shorter than an interval, stalls are shorter than a
row and do not show. Four links are recorded ones. Engines' defaults are tried on 36 networks of
20, 30 and 60 Hz with jitter of 0 to 30 ms.

Comparison. From one interval of delay on, what ``epic`` draws misses 0.97 of the computed share
in the median, 0.76 to 1.12 in eight of ten cells.

Limits. Other burst lengths; delays that depend on each other (a queue); a buffer that may skip or
slow down, as Mirror's and lightyear's do, which is why their defaults do better than a fixed
delay of that length.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from epic_cli import replay_array
from epic_cli.network.link import GilbertElliott, Link, LinkConditions
from epic_cli.network.movement import PathMovement
from epic_cli.network.paths import make_circle
from epic_cli.network.simulation import simulate
from epic_cli.network.trace import TraceLink, read_trace
from studies.drawing import Axis, Level, Line, Panel, chart

Floats = NDArray[np.float64]

LOSSES = (0.0, 0.01, 0.02, 0.05, 0.1)
#: The mean length of a burst of losses; 1: independent.
BURSTS = (1, 3)
#: The delays' standard deviation in send intervals; they are gamma distributed, shape 2.
JITTERS = (0.0, 0.1, 0.25, 0.5, 1.0)
SHARES = (0.001, 0.01, 0.05)
RATES = (10, 20, 30, 60, 128)

#: Buffers of engines as they come, with what `epic` calls them.
ENGINES = ("mirror", "unity-ngo", "source", "james-frowen", "snapshot", "geckos", "quake3",
           "panda3d", "lightyear", "ddnet", "tick-interpolation")  # fmt: skip

#: The networks of the data folder that have delays.
TRACES = (
    ("flent_irtt_loaded_network.csv", "BE1", "a saturated uplink"),
    ("comma2k19_gnss_arrival_network.csv", None, "a sensor feed"),
    ("voip_udp_mobile_network.csv", "dir0", "UDP over mobile internet, one way"),
    ("voip_udp_mobile_network.csv", "dir1", "UDP over mobile internet, the other"),
)

#: Time between two rows, in send intervals: no whole part of one, so that all phases come alike.
TICK = (math.sqrt(5) - 1) / 20


class Cell(NamedTuple):
    """A network in send intervals: the share lost, the mean burst, the jitter."""

    loss: float
    burst: int
    jitter: float


def arrived(times: Floats, jitter: float) -> Floats:
    """Return the probability that a packet, if not lost, arrives this long after the fastest."""
    if not jitter:
        return (times >= 0).astype(float)
    scaled = np.maximum(times, 0) * math.sqrt(2) / jitter
    return np.asarray(1 - np.exp(-scaled) * (1 + scaled))


def missing(delay: float, cell: Cell, phases: int = 2000) -> float:
    """Return the share of rows without a later state, by the closed form."""
    u = (np.arange(phases) + 0.5) / phases
    loss, burst = cell.loss, cell.burst
    # in a burst, out of it; what is lost is in one
    inside, outside = np.full(phases, loss), np.full(phases, 1 - loss)
    leave = 1 / burst if burst > 1 else 1 - loss
    enter = leave * loss / (1 - loss) if burst > 1 else loss
    for j in range(math.ceil(max(delay, 0))):
        outside = outside * (1 - arrived(delay - u - j, cell.jitter))
        inside, outside = (
            inside * (1 - leave) + outside * enter,
            inside * leave + outside * (1 - enter),
        )
    return float((inside + outside).mean())


def needed(share: float, missed: Callable[[float], float], high: float = 64.0) -> float:
    """Return the least delay (to 0.001) that leaves at most this share of rows without data."""
    low = 0.0
    if missed(high) > share:
        return math.nan
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (low, middle) if missed(middle) <= share else (middle, high)
    return high


def link_of(cell: Cell, interval: float, seed: int) -> tuple[Link, float]:
    """Return a link of these conditions, and its least delay (s)."""
    jitter = cell.jitter * interval
    latency = 0.02 + math.sqrt(2) * jitter  # of shape 2, the mean is so far above the least
    loss: float | GilbertElliott = cell.loss
    if cell.burst > 1:
        loss = GilbertElliott(cell.loss / (1 - cell.loss) / cell.burst, 1 / cell.burst)
    conditions = LinkConditions(latency=latency, jitter=jitter, distribution="gamma", loss=loss)
    return Link(conditions, seed=seed), 0.02


def packets_over(channel: Link | TraceLink, rate: float, count: int) -> list[Any]:
    """Return the packets that arrive of an entity on a circle."""
    movement = PathMovement(make_circle(speed=5, size=3, seed=0))
    return list(simulate(movement, send_rate=rate, duration=count / rate, channel=channel))


def drawn(packets: list[Any], strategy: str, tick: float | str, **settings: Any) -> tuple[int, int]:
    """Return how many rows are not interpolated, and how many there are, after the start."""
    rows = replay_array(packets, strategy, tick=tick, clock="exact", pacing="arrival", **settings)
    begun = rows["time"][0] + 2.0 + settings.get("interpolation_time", 0.0)
    status = rows["status"][rows["time"] > begun]
    status = status[rows["time"][-len(status) :] < packets[-1].arrival]
    missed = status != "interpolated"
    # the row that reaches the newest state is no longer between two
    missed[:-1] |= status[1:] == "held"
    return int(missed.sum()), len(status)


def buffered(packets: list[Any], rate: float, delay: float, least: float) -> tuple[int, int]:
    """Return the same counts for ``snapshot``, this many intervals behind the fastest packet."""
    ring = {"interpolation_time": delay / rate + least, "step": 0.5 / rate}
    return drawn(packets, "snapshot", round(TICK / rate, 6), **ring)


def cells() -> Iterator[Cell]:
    """Return every network once: without losses there are no bursts."""
    for loss, burst, jitter in itertools.product(LOSSES, BURSTS, JITTERS):
        if loss or burst == 1:
            yield Cell(loss, burst, jitter)


def table(count: int) -> Iterator[dict[str, Any]]:
    """Return the closed form's delay and the rows drawn with it, cell by cell."""
    for number, cell in enumerate(cells()):
        rate = RATES[number % len(RATES)]
        channel, least = link_of(cell, 1 / rate, seed=number)
        packets = packets_over(channel, rate, count)
        for share in SHARES:
            delay = needed(share, partial(missing, cell=cell))
            missed, rows = buffered(packets, rate, delay, least)
            yield {
                "loss": cell.loss, "mean burst": cell.burst, "jitter": cell.jitter,
                "at most": share, "delay": round(delay, 3), "rate": rate, "rows": rows,
                "not interpolated": f"{missed / rows:.5f}",
            }  # fmt: skip


def engines(count: int) -> Iterator[dict[str, Any]]:
    """Yield each default with its share of rows not interpolated, at 60 frames a second."""
    for loss, burst in ((0.0, 1), (0.02, 1), (0.05, 1), (0.05, 3)):
        for jitter_ms, rate in itertools.product((0, 10, 30), (20, 30, 60)):
            cell = Cell(loss, burst, jitter_ms / 1000 * rate)
            channel, _ = link_of(cell, 1 / rate, seed=5)
            packets = packets_over(channel, rate, count)
            for engine in ENGINES:
                missed, rows = drawn(packets, engine, "1/60")
                yield {
                    "loss": loss, "mean burst": burst, "jitter ms": jitter_ms, "rate": rate,
                    "strategy": engine, "not interpolated": f"{missed / rows:.4f}",
                }  # fmt: skip


def traces(folder: Path, count: int) -> Iterator[dict[str, Any]]:
    """Return the delay that recorded networks need."""
    for name, flow, what in TRACES:
        if not (folder / name).exists():
            print(f"{name} is missing in {folder}")
            continue
        with (folder / name).open("rb") as file:
            trace = read_trace(file, flow=flow)
        for rate in (10, 20, 30, 60):
            packets = packets_over(TraceLink(trace), rate, count)
            least = min(packet.arrival - packet.time for packet in packets)

            def missed(
                delay: float, packets: list[Any] = packets, rate: int = rate, at: float = least
            ) -> float:
                found, rows = buffered(packets, rate, delay, at)
                return found / rows

            for share in SHARES:
                delay = needed(share, missed, 4.0 * rate)
                yield {
                    "network": what, "rate": rate, "at most": share, "packets": len(packets),
                    "delay": f"{delay:.2f}", "ms": f"{delay / rate * 1000:.0f}",
                }  # fmt: skip


def picture() -> str:
    """Draw the chart: the delay for at most 1 % of the rows not interpolated."""
    panels, losses = [], [k / 400 for k in range(41)]
    for burst in BURSTS:
        lines = []
        for number, jitter in enumerate(JITTERS):
            cells = [Cell(loss, burst if loss else 1, jitter) for loss in losses]
            up = [needed(0.01, partial(missing, cell=cell)) for cell in cells]
            across = [100 * loss for loss in losses]
            lines.append(Line(f"jitter {jitter:g}", across, up, number))
        words = "independent losses" if burst == 1 else f"bursts of {burst} on average"
        levels = [Level("2 packets", 2), Level("3 packets", 3)]
        panels.append(Panel(words, lines, levels))
    return chart(
        "Buffer for at most 1 % of the rows not interpolated",
        panels,
        Axis("packets lost, %", (0, 2, 4, 6, 8, 10)),
        Axis("delay, send intervals behind the fastest packet", tuple(range(11))),
        "Jitter: standard deviation of the delay (gamma, shape 2), in send intervals.",
    )


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write rows as CSV."""
    if not rows:
        return
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(path.name, len(rows), "rows")


def main() -> None:
    """Make the tables and the picture."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="recorded networks")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    parser.add_argument("--packets", type=int, default=20_000, help="sent in each cell")
    options = parser.parse_args()
    rows = list(table(options.packets))
    write(options.out / "buffer.csv", rows)
    (options.out / "buffer.svg").write_text(picture())
    write(options.out / "buffer_engines.csv", list(engines(min(options.packets, 6000))))
    write(options.out / "buffer_traces.csv", list(traces(options.data, min(options.packets, 6000))))


if __name__ == "__main__":
    main()
