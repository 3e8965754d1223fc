"""Recordings that a command reads: files, or standard input."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.text.widths import printable, some
from epic_cli.recordings import Unreadable
from epic_cli.recordings.read_spec import INFERRED
from epic_cli.recordings.reading import BINARY, read
from epic_cli.shell.errors import CannotAccess, StoppedAtLine, WrongUsage, say
from epic_cli.shell.messages import Messages, Reporter
from epic_cli.shell.progress import Progress

if TYPE_CHECKING:
    from epic_cli.network import RecordedMovement
    from epic_cli.recordings.read_spec import ReadSpec

Read = TypeVar("Read")

#: A recording that is held in memory has at most this many packets (some 160 bytes each).
MOST_PACKETS = 2_000_000

#: Of a recording of more entities, this many are evaluated: those with most packets.
MOST_ENTITIES = 1000

#: Room is made for this many times what the first block says that there will be.
ROOM = 1.1


def source_name(file: str) -> str:
    """What messages call it; what stands in for standard input may have a name of its own."""
    return getattr(sys.stdin, "recording_name", "<stdin>") if file == "-" else file


@contextlib.contextmanager
def open_source(file: str) -> Iterator[int]:
    """A descriptor to read; ``-`` is standard input. Raises ``CannotAccess``."""
    if file == "-":
        if sys.stdin is None:
            raise CannotAccess("read", source_name(file), OSError("it is closed"))
        _check_apart_from_stdout(sys.stdin.fileno(), file)
        yield sys.stdin.fileno()
        return
    try:
        descriptor = os.open(file, os.O_RDONLY | BINARY)
    except OSError as error:
        raise CannotAccess("read", file, error) from error
    try:
        _check_apart_from_stdout(descriptor, file)
        yield descriptor
    finally:
        os.close(descriptor)


def _check_apart_from_stdout(descriptor: int, file: str) -> None:
    """Refuses to read what is written: ``epic replay a.txt >> a.txt`` would have no end."""
    try:
        same = sys.stdout is not None and os.path.sameopenfile(descriptor, 1)
    except OSError:  # there is none
        return
    if same and stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise WrongUsage(f"standard output would overwrite {source_name(file)}, which is read")


def is_kept(file: str) -> bool:
    """Whether all of it is there: a file, also as standard input, and no pipe."""
    try:
        mode = os.fstat(sys.stdin.fileno()) if file == "-" else os.stat(file)  # noqa: PTH116
    except (OSError, ValueError, AttributeError):
        return False
    return stat.S_ISREG(mode.st_mode)


def blocks(
    file: str,
    spec: ReadSpec = INFERRED,
    reporter: Reporter | None = None,
    progress: Callable[[int], object] | None = None,
    rebase_time: bool = True,
) -> Iterator[PacketBlock]:
    """The blocks of a recording; what is to be said of it goes to ``reporter``, or to stderr.

    ``progress`` is given how many bytes of a file have been read, after each block.
    ``rebase_time``: Unix times begin at the first packet under this program's own names, too.

    Raises ``CannotAccess``, and ``WrongUsage`` where it cannot be read in this way.
    """
    name = source_name(file)
    reporter = reporter or Reporter(name)
    reporter.requested(spec)
    with open_source(file) as descriptor:
        try:
            spec = spec._replace(rebase_time=rebase_time)
            for block in read(descriptor, spec, reporter.inferred, watch=reporter.watch):
                reporter.observe(block)
                yield block
                if progress is not None:
                    progress(_place(descriptor))
            reporter.end_of_recording()
        except OSError as error:
            raise CannotAccess("read", name, error) from error
        except Unreadable as error:
            raise WrongUsage(f"{name}: {error}") from error


def _place(descriptor: int) -> int:
    """How far it is read; 0 where no one knows."""
    try:
        return os.lseek(descriptor, 0, os.SEEK_CUR)
    except OSError:
        return 0


def load(
    file: str,
    spec: ReadSpec,
    reporter: Reporter,
    entity: str | None = None,
    most: int = sys.maxsize,
) -> dict[str, PacketBlock]:
    """The packets of a whole recording by entity; its refused lines go to ``reporter``.

    Only those of one ``entity``, or of the ``most`` entities with most packets, which is said.

    Raises ``CannotAccess``, or ``WrongUsage`` for a recording that is too long to hold.
    """
    from epic_cli.engine.replay import most_seen, separate

    entities: dict[str, PacketBlock] = {}
    count = 0
    # pathlib is slow to load
    size = os.path.getsize(file) if os.path.isfile(file) else 0  # noqa: PTH113, PTH202
    places = [0]
    rest = PacketBlock()
    with Progress("reading", in_bytes=True, silent=True) as progress:

        def read_so_far(done: int) -> None:
            places.append(done)
            progress(done, size)

        for block in blocks(file, spec, reporter, read_so_far):
            if len(places) == 1:
                rest = PacketBlock(block.entities)
            elif size and len(places) == 2 and places[1]:
                # growing bit by bit would copy everything several times
                more = ROOM * min(size / places[1], MOST_PACKETS / max(count, 1))
                for entity_name in (*entities.values(), rest):
                    entity_name.reserve(int(more * len(entity_name)))
            reporter.refuse(block.refusals)
            if entity is not None:
                block.keep_entity(entity)
            count += separate(block, entities, most, rest)
            if count > MOST_PACKETS:
                raise WrongUsage(
                    f"{source_name(file)}: more than {MOST_PACKETS:,} packets, which is more"
                    " than is held in memory; give a part of the recording"
                )
    if entity is not None and entity not in entities:
        names = map(rest.entities.name, range(len(rest.entities)))
        there = some(sorted(filter(None, names))) or "no named ones"
        raise WrongUsage(f"{reporter.name}: there is no entity {entity!r}; there are: {there}")
    if len(rest):
        seen = f"the {most:,} with most packets of {len(rest.entities):,} entities"
        reporter.say(f"epic: {printable(reporter.name)}: {seen}; --entity NAME judges another\n")
        entities = most_seen(entities, rest, most)
    return entities


def read_file(path: str, read: Callable[[BinaryIO], Read]) -> Read:
    """What ``read`` makes of a file; ``-`` is standard input.

    Raises ``StoppedAtLine`` for a line that is refused, after showing it; ``WrongUsage`` where
    ``read`` raises ``ValueError``; ``CannotAccess``.
    """
    from epic_cli.recordings.tables import TableRefusal  # packet text starts without it

    name = source_name(path)
    try:
        with open_source(path) as descriptor, open(descriptor, "rb", closefd=False) as stream:
            return read(stream)
    except TableRefusal as refused:
        from epic_cli.recordings.wording import FrontEnd  # only when something is wrong
        from epic_cli.shell.console import use_color
        from epic_cli.shell.refused_lines import in_three_lines

        problem = refused.worded(FrontEnd.COMMAND_LINE)
        say(in_three_lines(problem, name, use_color("auto", sys.stderr)))
        raise StoppedAtLine from refused
    except ValueError as error:
        raise WrongUsage(f"{name}: {error}") from error
    except OSError as error:
        raise CannotAccess("read", name, error) from error


def load_movement(file: str, messages: Messages, spec: ReadSpec, **how: Any) -> RecordedMovement:
    """Recorded movement to be sent; ``how`` goes to ``read_movement``. Raises as ``read_file``."""
    from epic_cli.network import read_movement

    with Reporter(source_name(file), messages) as reporter:
        reporter.requested(spec)
        return read_file(
            file,
            lambda stream: read_movement(
                stream,
                spec=spec._replace(rebase_time=True),
                on_read=reporter.inferred,
                look=reporter.observe,
                **how,
            ),
        )
