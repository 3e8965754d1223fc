"""``epic replay``: packets to rows."""

from __future__ import annotations

import click

from epic_cli.ui.io.replaying import ReplayOptions, run
from epic_cli.ui.options.replay import replay_options

EXAMPLES = """\b
Examples:
  epic replay sample_inputs/turn.txt
  epic replay --set calc_ahead=0.1 sample_inputs/turn.txt
  epic replay --format csv --output rows.csv sample_inputs/jitter.txt
  tail -f packets.txt | epic replay --format table
"""


@click.command(epilog=EXAMPLES)
@replay_options
def replay(options: ReplayOptions) -> int:
    """Turn packets into what a player would see, one row per tick.

    Packets are lines "x,y,z / vx,vy,vz / t [key=value ...]", a table, JSON or Parquet,
    from the FILEs, or from standard input without any or for "-". Several files are replayed in
    order, each with a fresh strategy, and all formats except epic then name the file of each row.
    A line that begins with q ends packet text.

    Exit status: 0 all packets accepted, 1 some lines were refused, 2 wrong usage, 3 a file
    cannot be read or written, 4 a custom strategy failed, 130 interrupted.
    """
    return run(options)
