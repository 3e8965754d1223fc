"""Open recordings from anywhere: files, folders, standard input, Python objects.

A front end passes a path, ``-`` or an object's ``rows.make_source``, a ``ReadSpec``, and a
``ReadingLog`` that reports what is learned of the recording. A recording that cannot be
opened or read raises one of ``UNUSABLE``, with the recording's name.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, BinaryIO, Protocol, Self, TypeVar

from epic_cli.engine.packets import Entities, PacketBlock
from epic_cli.engine.text.widths import some
from epic_cli.recordings import Unreadable, files
from epic_cli.recordings.files import CannotAccess, Overwrites, raise_cannot_access
from epic_cli.recordings.read_spec import INFERRED, ReadSpec
from epic_cli.recordings.reading import BINARY, list_folder, read
from epic_cli.recordings.watch import RecordingMonitor

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from epic_cli.engine.refusals import Refusal
    from epic_cli.recordings import PieceReader
    from epic_cli.recordings.findings import RecordingFinding

    #: Takes how much is done, of how much in all; 0: unknown.
    Progress = Callable[[int, int], object]

    #: Makes the log of a recording of this name.
    Logs = Callable[[str], "ReadingLog"]

    class RowSink(Protocol):
        """A sink of rows."""

        def write(self, rows: bytes | memoryview, /) -> object:
            """Write rows."""

        def flush(self) -> object:
            """Flush what has been written."""


Read = TypeVar("Read")

#: A recording that is held in memory has at most this many packets: an hour of 64 players has
#: 5,000,000. A packet takes some 160 bytes, in a diagnosis 300.
MOST_PACKETS = 8_000_000

#: Of a recording of more entities, this many are evaluated: those with most packets.
MOST_ENTITIES = 1000

#: Room is made for this many times what the first block says that there will be.
ROOM = 1.1

#: This many packets that are given one by one are taken at once.
AT_ONCE = 4096

#: What keeps a recording from being used.
UNUSABLE = (CannotAccess, Unreadable)


class ReadingLog:
    """A log of what is learned of one recording as it is read; this class reports nothing.

    ``layout`` is the inferred layout, if any; ``watch`` has the findings; ``refused`` is True once
    lines were refused. Front ends override the methods that do nothing here.
    """

    def __init__(self, name: str, watch: RecordingMonitor | None = None) -> None:
        self.name = name
        self.watch = watch or RecordingMonitor(name=name)
        self.layout: ReadSpec | None = None
        self.packets = 0
        self.refused = False
        self.write: Callable[[str], object] = lambda _text: None  # where messages go

    @property
    def findings(self) -> tuple[RecordingFinding, ...]:
        """The findings so far."""
        return tuple(self.watch.findings)

    def note_requested(self, spec: ReadSpec) -> None:
        """Note the layout that the user asks for."""
        self.watch.note_requested(spec)

    def report_inferred(self, spec: ReadSpec) -> None:
        """Note the layout that was inferred."""
        self.layout = spec
        self.watch.note_inferred(spec)

    def observe(self, block: PacketBlock) -> None:
        """Note the next packets, and report new findings."""
        self.packets += len(block)
        if self.watch.observe(block):
            self._report_findings()

    def end_of_recording(self) -> None:
        """Note the end of the recording, and report the findings on all of it."""
        if self.watch.end():
            self._report_findings()

    def _report_findings(self) -> None:
        from epic_cli.recordings.checks import take_new_findings

        for finding in take_new_findings(self.watch):
            self.report_finding(finding)

    def refuse(self, refusals: Sequence[Refusal]) -> None:
        """Report the next refused lines."""
        self.refused |= bool(refusals)

    def report_unplaced(self, refusals: Sequence[Refusal]) -> bool:
        """Report packets without a position on the clock; return True if this log reports them."""
        del refusals
        return False

    def report_finding(self, finding: RecordingFinding) -> None:
        """Report a finding."""

    def report_estimated(self) -> None:
        """Report that missing velocities are estimated."""

    def report_left_out(self, kept: int, entities: int) -> None:
        """Report that only the ``kept`` entities with the most packets are judged."""
        from epic_cli.recordings.findings import RecordingFinding

        facts = {"name": self.name, "kept": kept, "entities": entities}
        read = (self.watch.given or INFERRED)._replace(max_entities=entities).write()
        self._report_fresh(RecordingFinding("E108", facts, read=read))

    def report_unit_ratio(self, ratio: float, beside: ReadSpec) -> None:
        """Report that the frames, read by ``beside``, have a length unit of ``ratio`` packets'."""
        from epic_cli.recordings.findings import RecordingFinding

        read = beside.add_entries({"scale": f"{(beside.scale or 1.0) / ratio:.6g}"})
        self._report_fresh(RecordingFinding("E213", {"ratio": ratio}, read=read))

    def report_other_coordinates(self, words: str) -> None:
        """Report that the frames' coordinates are not those of the packets."""
        from epic_cli.recordings.findings import RecordingFinding

        self._report_fresh(RecordingFinding("E214", {"how": words}))

    def report_frame_clock(self, apart: str, way: str, command: str) -> None:
        """Report that the frames' clock is ``apart`` (s) behind, or ahead of, the arrivals'.

        ``command`` is the option that moves the frames.
        """
        from epic_cli.recordings.findings import RecordingFinding

        facts = {"apart": apart, "way": way, "command": command}
        self._report_fresh(RecordingFinding("E216", facts))

    def _report_fresh(self, finding: RecordingFinding) -> None:
        for fresh in self.watch.take_fresh([finding]):
            self.report_finding(fresh)

    def put_in_order(self, late: int, repeated: int) -> None:
        """Note how many states of a movement were late, and how many had another's time."""
        from epic_cli.recordings.findings import RecordingFinding

        if late or repeated:
            facts = {"late": late, "repeated": repeated}
            self.watch.noted.append(RecordingFinding("E110", facts))

    def report_trace(self, words: str) -> None:
        """Report that the recording is read as a network trace, without positions."""

    def report_lost_extras(self, words: str) -> None:
        """Report that some of the packets' extra values are not carried over."""

    def report_capture(self, words: str) -> None:
        """Report the description of a capture."""

    def report_undrawn(self, entities: Sequence[str]) -> None:
        """Report the entities of which the game drew nothing."""

    def report_unjudged(self, entity: str, why: str) -> None:
        """Report why an entity cannot be judged."""

    def show_progress(self) -> AbstractContextManager[Progress]:
        """Return a context manager whose callback takes the bytes read and the size of the file."""
        return contextlib.nullcontext(lambda _done, _total: None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.end_of_recording()


class RecordingSource:
    """A source of a recording called ``name``.

    ``path`` is a file's path or ``-`` for standard input. Without a path, ``content`` gives its
    bytes, in the format ``form`` if that is known; or ``packets`` yields blocks of up to the given
    number of packets, and ``log`` may know them already. ``kept`` is True if the source is
    complete, and no pipe. ``close`` closes the opened source.
    """

    def __init__(
        self,
        name: str,
        *,
        path: str | None = None,
        content: IO[bytes] | PieceReader | None = None,
        form: str = "",
        packets: Callable[[int], Iterator[PacketBlock]] | None = None,
        kept: bool = False,
        log: ReadingLog | None = None,
        close: Callable[[], object] = lambda: None,
    ) -> None:
        self.name = name
        self.path = path
        self.form = form
        self.kept = kept
        self.log = log
        self.packets = packets
        self.close = close
        self._content = content

    def open(self) -> AbstractContextManager[int | IO[bytes] | PieceReader]:
        """Open the source of the bytes; raises ``CannotAccess`` and ``Overwrites``."""
        if self.path is not None:
            return open_source(self.path)
        assert self._content is not None
        return contextlib.nullcontext(self._content)


def find_source(path: str) -> RecordingSource:
    """Return the source of a file; ``-`` is standard input."""
    return RecordingSource(name_source(path), path=path, kept=is_kept(path))


def name_source(file: str | RecordingSource) -> str:
    """Return the name that messages give a source: its path, or ``<stdin>``.

    A replaced ``sys.stdin`` may have a ``recording_name``, which is then the name.
    """
    if not isinstance(file, str):
        return file.name
    return getattr(sys.stdin, "recording_name", "<stdin>") if file == "-" else file


def list_recordings(given: Sequence[str], truth: str | None = None) -> list[str]:
    """Return the files of a command's recordings, standard input if none is given.

    The files of a folder are in the order of their names. The file of the ``truth`` is left out.
    Raises ``CannotAccess``, ``Overwrites``.
    """
    found: list[str] = []
    for name in given or ("-",):
        with raise_cannot_access("read", name):
            inside = [name] if name == "-" else list_folder(name)
        found += [word for word in inside if word == name or word != truth]
    files.register_inputs(*found)
    return found


@contextlib.contextmanager
def open_source(file: str) -> Iterator[int]:
    """Open a file's descriptor for reading; ``-`` is standard input.

    Raises ``CannotAccess``, and ``Overwrites`` for the file that standard output writes: a copy of
    it into itself would have no end.
    """
    if file == "-":
        if sys.stdin is None:
            raise CannotAccess("read", name_source(file), OSError("it is closed"))
        _check_apart_from_stdout(sys.stdin.fileno(), file)
        yield sys.stdin.fileno()
        return
    files.register_inputs(
        file
    )  # however its name came here: as an option, in a description, in a script
    try:
        descriptor = os.open(file, os.O_RDONLY | BINARY)
    except OSError as error:
        raise CannotAccess("read", file, error) from error
    except ValueError as error:
        what = OSError("the name of a file has no NUL character")
        raise CannotAccess("read", repr(file), what) from error
    try:
        _check_apart_from_stdout(descriptor, file)
        yield descriptor
    finally:
        os.close(descriptor)


def _check_apart_from_stdout(descriptor: int, file: str) -> None:
    try:
        same = sys.stdout is not None and os.path.sameopenfile(descriptor, 1)
    except OSError:  # there is none
        return
    if same and stat.S_ISREG(os.fstat(descriptor).st_mode):
        name = name_source(file)
        raise Overwrites(f"standard output would overwrite {name}, which is read: use another file")


def is_kept(file: str) -> bool:
    """Return True if a file is complete: a regular file, also as standard input, and no pipe."""
    try:
        mode = os.fstat(sys.stdin.fileno()) if file == "-" else os.stat(file)  # noqa: PTH116
    except (OSError, ValueError, AttributeError):
        return False
    return stat.S_ISREG(mode.st_mode)


def read_blocks(
    given: str | RecordingSource,
    spec: ReadSpec = INFERRED,
    log: ReadingLog | None = None,
    progress: Callable[[int], object] | None = None,
    rebase_time: bool = True,
    at_once: int = AT_ONCE,
    entities: Entities | None = None,
    keep_extras: bool = False,
) -> Iterator[PacketBlock]:
    """Yield the blocks of a recording, with their refused lines.

    Everything else goes to the ``log``. ``progress`` is called after each block with the bytes of
    the file that have been read. ``rebase_time``: Unix times begin at the first packet under this
    program's own names, too. Packets that come singly are grouped ``at_once`` at a time.
    ``entities`` are the entities of earlier blocks to which the recording belongs. ``keep_extras``:
    the blocks keep the packets' extra values for ``extras_at``.

    Raises ``CannotAccess``, ``Unreadable`` and ``Overwrites``.
    """
    source = find_source(given) if isinstance(given, str) else given
    log = log or ReadingLog(source.name)
    if source.packets is not None:
        for block in source.packets(at_once):
            if source.log is None:
                log.observe(block)
            yield block
        if source.log is None:
            log.end_of_recording()
        return
    log.note_requested(spec)
    spec = spec._replace(
        rebase_time=rebase_time, keep_extras=keep_extras, format=source.form or spec.format
    )
    with source.open() as stream:
        try:
            for block in read(stream, spec, log.report_inferred, entities, log.watch):
                log.observe(block)
                yield block
                if progress is not None:
                    progress(_count_bytes_read(stream))
            log.end_of_recording()
        except OSError as error:
            raise CannotAccess("read", source.name, error) from error
        except Unreadable as error:
            raise Unreadable(f"{source.name}: {error}") from error


def check_entities(name: str, wanted: Iterable[str], entities: Entities) -> None:
    """Raise ``Unreadable`` if a recording has no packet of a wanted entity."""
    known = entities.list_names()
    for entity in wanted:
        if entity not in known:
            there = some(map(repr, known)) or "none"
            raise Unreadable(f"{name}: no packet of entity {entity!r}; there are {there}")


def _count_bytes_read(stream: object) -> int:
    """Return how many bytes have been read; 0 if that is not known."""
    try:
        return os.lseek(stream, 0, os.SEEK_CUR) if isinstance(stream, int) else 0
    except OSError:
        return 0


def load(
    given: str | RecordingSource,
    spec: ReadSpec,
    log: ReadingLog,
    entity: str | None = None,
    most: int = sys.maxsize,
    most_packets: int = MOST_PACKETS,
) -> Mapping[str, PacketBlock]:
    """Return the packets of a whole recording by entity; the ``log`` takes its refused lines.

    With ``entity`` only that entity's packets are returned, otherwise those of the ``most``
    entities with most packets, or of as many as the ``spec`` says. Those of a long recording with
    several entities wait in a temporary file.

    Raises ``CannotAccess``, and ``Unreadable``, also for a recording of more than ``most_packets``.
    """
    from epic_cli.engine.packets import ConnectionTimes
    from epic_cli.engine.replay import most_seen, separate
    from epic_cli.recordings.spooled import HELD_PACKETS, SpooledPackets

    source = find_source(given) if isinstance(given, str) else given
    most = spec.max_entities or most
    entities: dict[str, PacketBlock] = {}
    connection = ConnectionTimes()
    count = 0
    path = source.path or ""
    # pathlib is slow to load
    size = os.path.getsize(path) if os.path.isfile(path) else 0  # noqa: PTH113, PTH202
    places = [0]
    rest = PacketBlock()
    spooled, in_memory = SpooledPackets(), 0
    with log.show_progress() as progress:

        def read_so_far(done: int) -> None:
            places.append(done)
            progress(done, size)

        for block in read_blocks(source, spec, log, read_so_far):
            if len(places) == 1:
                rest = PacketBlock(block.entities)
            elif size and len(places) == 2 and places[1]:
                # growing bit by bit would copy everything several times
                more = ROOM * min(size / places[1], most_packets / max(count, 1))
                for one in (*entities.values(), rest):
                    held = HELD_PACKETS // len(entities) if len(entities) > 1 else sys.maxsize
                    one.reserve(min(int(more * len(one)), held))
                    if one.connection is not None:
                        one.connection.reserve(int(more * len(one.connection)))
            log.refuse(block.refusals)
            if entity is not None:
                connection.note(block)
                block.keep_entity(entity)
            taken = separate(block, entities, most, rest)
            count, in_memory = count + taken, in_memory + taken
            if count > most_packets:
                raise Unreadable(
                    f"{source.name}: more than {most_packets:,} packets, which is more"
                    " than is held in memory; give a part of the recording"
                )
            if in_memory > HELD_PACKETS and len(entities) > 1 and not len(rest):
                spooled.take(entities)
                in_memory = 0
    if len(spooled):
        spooled.take(entities)
        entities = {}
    packets: Mapping[str, PacketBlock] = spooled or entities
    if entity is not None and entity not in packets:
        there = some(sorted(filter(None, rest.entities.list_names()))) or "no named ones"
        raise Unreadable(f"{log.name}: there is no entity {entity!r}; there are: {there}")
    if entity is not None and len(rest.entities) > 1:
        entities[entity].connection = connection
    if len(rest):
        log.report_left_out(most, len(rest.entities))
        packets = most_seen(dict(packets), rest, most)
    return packets


def read_file(path: str, read: Callable[[BinaryIO], Read]) -> Read:
    """Open a file, ``-`` for standard input, and return the result of ``read``.

    Raises ``CannotAccess``, ``Unreadable`` if ``read`` raises ``ValueError``, and its
    ``TableRefusal`` with the file's ``name``.
    """
    from epic_cli.recordings.tables import TableRefusal  # packet text starts without it

    name = name_source(path)
    try:
        with open_source(path) as descriptor, open(descriptor, "rb", closefd=False) as stream:
            return read(stream)
    except TableRefusal as refused:
        refused.name, refused.args = name, (f"{name}: {refused}",)
        raise
    except Overwrites:
        raise
    except ValueError as error:
        raise Unreadable(f"{name}: {error}") from error
    except OSError as error:
        raise CannotAccess("read", name, error) from error
