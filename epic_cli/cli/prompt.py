"""``epic`` on a terminal: the demo's banner, prompt and loop."""

from __future__ import annotations

import sys

from epic_cli.cli.output import open_sink
from epic_cli.cli.report import report
from epic_cli.engine.rows import RowWriter
from epic_cli.engine.scan import TextScanner
from epic_cli.playback import SampleStream

BANNER = "Input successively reveived data packets. Type 'q' to quit.\n"  # the demo's spelling
PROMPT = "pos/vel/time> "
ERROR = "error: input format x,y,z / x,y,z / t\n"

# fgets(line, 1024, stdin) reads so many bytes of a line at once
LONGEST_PIECE = 1023


def converse(stream: SampleStream, writer: RowWriter) -> None:
    """Reads packets from the terminal and answers each with its rows, as the demo does."""
    scanner = TextScanner()
    sys.stderr.write(BANNER)
    with open_sink(None) as sink:
        sink.write(writer.header())
        while not scanner.ended:
            sys.stderr.write(PROMPT)
            sys.stderr.flush()
            piece = sys.stdin.buffer.readline(LONGEST_PIECE)
            block = scanner.scan(piece, final=not piece.endswith(b"\n"))
            sys.stderr.write(ERROR * len(block.problems))
            block.problems.clear()
            for samples in stream.feed(block):
                sink.write(writer.rows(samples, block.entities))
            sink.flush()
            report(block.problems, "<stdin>", color=False)  # a time that the clock never reaches
            if not piece:
                return
