"""The demo's work as a plain Python loop, in double precision: ``python plain_loop.py FILE``."""

import sys

TICK, LEAD, AHEAD, BEHIND, SLOP = 0.05, 0.15, 0.2, 0.2, 0.5


def main() -> None:
    """Read packets from the file, and write rows to stdout."""
    start: tuple[float, ...] = (0.0, 0.0, 0.0)
    slope, shown = start, start
    time = now = 0.0
    write = sys.stdout.write
    with open(sys.argv[1]) as lines:  # noqa: PTH123 - as plain as can be
        for line in lines:
            at, moves, stamp = line.split("/")
            sent = float(stamp)
            if sent >= time:
                position = [float(part) for part in at.split(",")]
                velocity = [float(part) for part in moves.split(",")]
                start, time = shown, sent
                slope = tuple(
                    (p + v * AHEAD - s) / BEHIND
                    for p, v, s in zip(position, velocity, start, strict=True)
                )
            while now < sent + LEAD:
                now += TICK
                if now < time + SLOP:
                    shown = tuple(s + d * (now - time) for s, d in zip(start, slope, strict=True))
                write(
                    "pos: %.2f,%.2f,%.2f  vel: %.3f,%.3f,%.3f  time: %.3f\n"  # noqa: UP031
                    % (*shown, *slope, now)
                )


if __name__ == "__main__":
    main()
