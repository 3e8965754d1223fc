"""A replay as the command line does it: the rows of recordings to stdout or to a file.

Without click, so that it can start before the command line's parser is there.
"""

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from epic_cli.engine.failures import StrategyFailed
from epic_cli.engine.packets import Entities, PacketBlock
from epic_cli.engine.replay.arrival_order import by_arrival
from epic_cli.engine.replay.playback import SampleStream, Timing, needs_estimates
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.strategies import declaration
from epic_cli.engine.text import COLUMNS, RowWriter
from epic_cli.engine.text.widths import some
from epic_cli.recordings.opening import blocks, is_kept, source_name
from epic_cli.recordings.read_spec import INFERRED, ReadSpec
from epic_cli.shell.console import ColorChoice, Sink, open_sink, screen_columns, use_color
from epic_cli.shell.errors import ExitStatus, StoppedAtLine, WrongUsage, quoted, say
from epic_cli.shell.messages import Messages, Reporter

if TYPE_CHECKING:
    from epic_cli.engine.contract import SmoothingStrategy
    from epic_cli.shell.profiles import Saving

# No dataclasses, here and wherever a replay needs a class: they start slowly. So do tuples with
# names whose annotations are text, since each of these is compiled.


class ReplayOptions:
    """What is replayed, how, and where the rows go; no ``files``: standard input."""

    def __init__(
        self,
        files: tuple[str, ...],
        chosen: StrategySpec = StrategySpec(),  # noqa: B008 - no one changes it; so below
        timing: Timing = Timing(),  # noqa: B008
        row_format: str = "epic",
        output: str | None = None,
        entity: str | None = None,
        read: ReadSpec = INFERRED,
        saving: "Saving | None" = None,
        strict: bool = False,
        messages: Messages = Messages(),  # noqa: B008
        color: ColorChoice = "auto",
        file_column: str | None = None,
    ) -> None:
        self.files: Final = files
        self.chosen: Final = chosen
        self.timing: Final = timing
        self.row_format: Final = row_format
        self.output: Final = output
        self.entity: Final = entity
        self.read: Final = read
        self.saving: Final = saving
        self.strict: Final = strict
        self.messages: Final = messages
        self.color: Final[ColorChoice] = color
        self.file_column: Final = file_column

    def named_file_column(self, row_format: str) -> str | None:
        """The name of the column that names the file of a row; raises ``WrongUsage``.

        None: there is no such column; by default there is one with several files.
        """
        name = self.file_column
        if name is None and len(self.files) > 1 and row_format != "epic":
            return "file"
        if name is None or name == "no":
            return None
        if row_format == "epic":
            raise WrongUsage(
                "--file-column is for formats with columns: choose another --format",
                "file-column",
                "format",
            )
        if not name or name in COLUMNS:
            raise WrongUsage(
                f"--file-column cannot be {name!r}: rows have {', '.join(COLUMNS)}", "file-column"
            )
        return name


def run(options: ReplayOptions) -> ExitStatus:
    """Writes the rows of all files; raises what the program turns into a message and a status."""
    make_strategy = options.chosen.maker()  # wrong settings show before any row
    if options.timing.latency is not None and options.timing.pacing == "demo":
        raise WrongUsage(
            "--latency sets arrival times, which --pacing demo ignores", "latency", "pacing"
        )
    file_column = options.named_file_column(options.row_format)
    refused = False
    with contextlib.ExitStack() as ending:
        files = options.files or ("-",)
        progress = _progress(options.output, files, ending)
        sink = ending.enter_context(open_sink(options.output))
        width = screen_columns(sink) if sink.isatty() else None
        color = use_color(options.color, sink)
        names = tuple(map(source_name, files))

        def begin(turns: bool) -> RowWriter:
            """What writes the rows, below their header."""
            writer = RowWriter(
                options.row_format, color, width, file_column=file_column, files=names, turns=turns
            )
            sink.write(writer.header())
            if writer.left_out and width and not options.messages.quiet:
                from epic_cli.recordings.wording import left_out_words  # most screens have room

                how = "a wider window or another --format"
                say(left_out_words(writer.left_out, width, how) + "\n")
            return writer

        rows = _Rows(begin, sink)
        error_color = use_color(options.color, sys.stderr)
        for file, on_read in zip(files, progress, strict=True):
            recording = _Recording(file, options, error_color, on_read)
            rows.file = recording.name
            try:
                with recording.reporter:
                    recording.replay(make_strategy, rows)
            except StrategyFailed as failure:
                if failure.packet_line:
                    failure.place = f"{recording.name}:{failure.packet_line}"
                raise
            refused |= recording.reporter.refused
        rows.writer()  # a header, where no packet has come
    return ExitStatus.LINES_REFUSED if refused else ExitStatus.DONE


class _Rows:
    """Where rows go; the first packets decide which columns they have."""

    def __init__(self, begin: Callable[[bool], RowWriter], sink: Sink) -> None:
        self.sink = sink
        self.file = ""
        self._begin = begin
        self._writer: RowWriter | None = None
        self._named = ""

    def writer(self, block: PacketBlock | None = None) -> RowWriter:
        """What writes the rows of this block, below its header."""
        if self._writer is None:
            self._writer = self._begin(block is not None and block.turns())
        if self._named != self.file:
            self._named = self.file
            self._writer.begin_file(self.file)
        return self._writer


def _progress(
    output: str | None, files: Sequence[str], ending: contextlib.ExitStack
) -> Sequence[Callable[[int], None] | None]:
    """A progress callback for each file, where a bar would not get between rows.

    The bar goes when ``ending`` does.
    """
    if output in (None, "-"):
        return [None] * len(files)
    from epic_cli.shell.progress import Progress, report_each

    return report_each(ending.enter_context(Progress("replaying", in_bytes=True)), files)


class _Recording:
    """A recording to be replayed, and what to do about the lines of it that are refused."""

    def __init__(
        self, file: str, options: ReplayOptions, color: bool, progress: Callable[[int], None] | None
    ) -> None:
        self._file = file
        self._progress = progress
        self.name = source_name(file)
        self._options = options
        self.reporter = Reporter(self.name, options.messages, color)
        self._estimated = False
        self._entities = Entities()

    def replay(self, make_strategy: "Callable[[], SmoothingStrategy]", rows: _Rows) -> None:
        """Writes the recording's rows."""
        options = self._options
        several = options.entity is None and options.row_format != "epic"
        stream = SampleStream(
            make_strategy,
            options.timing,
            options.strict,
            by_time=several and is_kept(self._file) and self._may_be_grouped,
        )
        try:
            self._replay(stream, make_strategy, rows)
        except KeyboardInterrupt:
            if stream.waits and options.output in (None, "-"):  # a file goes, as ever
                count = len(self._entities)
                self._release(stream, rows)
                self.reporter.say(
                    f"epic: {quoted(self.name)}: interrupted: these are the rows, by time, of the"
                    f" {count:,} entities read so far, the last one hardly whole\n"
                )
            raise
        except Exception:
            self._release(stream, rows)
            raise
        finally:
            stream.close()

    def _release(self, stream: SampleStream, rows: _Rows) -> None:
        for samples in stream.release():
            rows.sink.write(rows.writer().view(samples, self._entities))
        rows.sink.flush()

    def _may_be_grouped(self, name: str) -> bool:
        from epic_cli.recordings.reading import may_be_grouped  # needed with entities only

        return may_be_grouped(sys.stdin.fileno() if self._file == "-" else self._file, name)

    def _replay(
        self, stream: SampleStream, make_strategy: "Callable[[], SmoothingStrategy]", rows: _Rows
    ) -> None:
        options, sink = self._options, rows.sink
        second: tuple[int, str] | None = None
        for block in self._blocks():
            self.reporter.save(options.saving, options.read)
            self._say_estimated(block, make_strategy)
            if options.entity is not None:
                block.keep_entity(options.entity)
            elif options.row_format == "epic":
                second = block.cut_at_second_entity()
                if second is not None:
                    block.refusals = [each for each in block.refusals if each.line < second[0]]
            self._entities = block.entities
            for samples in stream.feed(block):
                sink.write(rows.writer(block).view(samples, block.entities))
            if stream.waits:
                rows.writer(block)  # its columns are those of the first packets all the same
            sink.flush()
            if block.refusals:
                if options.strict:
                    self.reporter.stop(block.refusals[0])
                    raise StoppedAtLine
                self.reporter.refuse(block.refusals)
            if second is not None:
                line, entity = second
                raise WrongUsage(
                    f"{self.name}:{line}: a second entity, {entity!r}, for which the epic format"
                    " has no column; choose one with --entity, or another --format",
                    "entity",
                    "format",
                )
        self._check_entity(block)
        for samples in stream.finish():
            sink.write(rows.writer().view(samples, block.entities))
        sink.flush()

    def _blocks(self) -> Iterator[PacketBlock]:
        """What is drawn of the file."""
        options = self._options
        found = blocks(self._file, options.read, self.reporter, self._progress)
        if options.timing.pacing != "demo" and is_kept(self._file):
            found = by_arrival(found, options.strict)
        if not declaration(options.chosen.name).own_player:
            return found
        from epic_cli.engine.replay.corrections import as_drawn  # few recordings are such logs

        return as_drawn(options.chosen.name, found)

    def _check_entity(self, block: PacketBlock) -> None:
        wanted = self._options.entity
        names = [block.entities.name(number) for number in range(len(block.entities))]
        if wanted is not None and wanted not in names:
            there = some(map(repr, names)) or "none"
            raise WrongUsage(f"{self.name}: no packet of entity {wanted!r}; there are {there}")

    def _say_estimated(
        self, block: PacketBlock, make_strategy: "Callable[[], SmoothingStrategy]"
    ) -> None:
        if not self._estimated and block.lacks_velocity():
            self._estimated = True
            if needs_estimates(make_strategy()):
                self.reporter.estimated()
