"""What ``epic listen`` writes: rows to whoever reads them, losses and the summary to stderr."""

from __future__ import annotations

from collections.abc import Sequence

from epic_cli.engine.packets import Entities, SampleBlock
from epic_cli.engine.text import RowWriter
from epic_cli.formats.wording import FrontEnd, in_words
from epic_cli.live.consumer import Consumer
from epic_cli.live.counts import Counts
from epic_cli.live.listener import Listener
from epic_cli.live.receiving import ReceivingSocket
from epic_cli.live.recording import Recording
from epic_cli.ui.io.console import ColorChoice, screen_columns, use_color
from epic_cli.ui.io.dropping_writer import DroppingWriter
from epic_cli.ui.io.errors import say
from epic_cli.ui.io.output import Sink
from epic_cli.ui.io.refused_lines import report_problem
from epic_cli.views.listening import losses, summary


class RowOutput(Consumer):
    """Writes what is drawn, each tick at once, to a file or a pipe."""

    def __init__(self, row_format: str, color: ColorChoice, sink: Sink) -> None:
        width = screen_columns(sink) if sink.isatty() else None
        self._writer = RowWriter(row_format, use_color(color, sink), width)
        sink.write(self._writer.header())
        sink.flush()
        self._sink = DroppingWriter(sink)

    def close(self) -> None:
        """Waits while the rows are being read; raises what writing them has raised."""
        self._sink.end()

    def take_samples(self, samples: SampleBlock, entities: Entities) -> None:
        """Writes rows."""
        self._sink.write(self._writer.rows(samples, entities), len(samples))

    @property
    def left_out(self) -> str:
        """How many rows nobody has read in time: a line, or nothing."""
        count = self._sink.left_out
        return f"{count:,} rows left out, since the output is not read\n" if count else ""


class Progress(Consumer):
    """Writes to stderr what is lost while listening, and in the end what came in."""

    def __init__(
        self, quiet: bool, color: bool, receiving: ReceivingSocket, rows: RowOutput | None
    ) -> None:
        self._quiet = quiet
        self._color = color
        self._receiving = receiving
        self._rows = rows
        self._last = ""
        self._shown = False

    def say(self, text: str) -> None:
        """Says what may be left out."""
        if not self._quiet:
            say(text)

    def take_counts(self, counts: Counts) -> None:
        """The losses, when they have grown, and what is wrong with the first refused line."""
        if counts.example is not None and not self._shown and not self._quiet:
            self._shown = True
            problem = in_words(counts.example, FrontEnd.COMMAND_LINE)
            report_problem(problem, "<datagram>", self._color)
        words = losses(counts, self._receiving.dropped, self._receiving.queue) + self._left_out
        if words != self._last:
            self._last = words
            self.say(words)

    def end(self, listener: Listener, recordings: Sequence[Recording]) -> None:
        """Waits for the rows, and says what has come in, and what was recorded."""
        try:
            if self._rows is not None:
                self._rows.close()
        finally:
            drops = self._receiving.dropped, self._receiving.queue
            words = summary(listener.counts, len(listener.entities), *drops) + self._left_out
            for one in recordings:
                words += f"{one.file.recorded:,} {one.unit} recorded in {one.file}\n"
            self.say(words)

    @property
    def _left_out(self) -> str:
        return "" if self._rows is None else self._rows.left_out
