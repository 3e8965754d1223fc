"""The share of one core that the game takes: without a screen, and for thirty pictures a second.

    python tests/benchmarks/bench_play.py

Prints ratios: seconds of a match for one second of a core, and the share of a core that the
pictures take in several sizes of terminal.
"""

from __future__ import annotations

import time

from epic_cli.network.link_spec import TwoWays
from epic_cli.play import LinkConditions, Match, MatchSpec, PlayerConfig
from epic_cli.play.screen import UNICODE, Game

LINK = LinkConditions(latency=0.1, jitter=0.02, loss=0.02)
SECONDS = 30


def players(count: int) -> tuple[PlayerConfig, ...]:
    """Return one hunter, and other players who run around."""
    spots = [(3.0 + 3 * (n % 7), 12.0 if n < 7 else 20.0) for n in range(count)]
    return tuple(
        PlayerConfig("ABCDEFGH"[n], spot, "hunter" if n == 0 else "runner")
        for n, spot in enumerate(spots)
    )


def main() -> None:
    """Print the table."""
    for count in (2, 4, 8):
        match = Match(MatchSpec(players=players(count), link=TwoWays.from_conditions(LINK)))
        started = time.process_time()
        match.run_until(SECONDS)
        took = time.process_time() - started
        print(
            f"{count} players without a screen: {SECONDS / took:.0f} times as fast as it is played"
        )
    for size in ((80, 24), (120, 40), (240, 70)):
        game = Game(MatchSpec(players=players(2), link=TwoWays.from_conditions(LINK)), "A", UNICODE)
        started = time.process_time()
        for frame in range(SECONDS * 30):
            game.advance(frame / 30)
            game.render_lines(*size)
        took = time.process_time() - started
        print(
            f"{size[0]}x{size[1]}: match and pictures take {100 * took / SECONDS:.1f} % of a core"
        )


if __name__ == "__main__":
    main()
