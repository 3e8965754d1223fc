"""A parser in a process of its own, where it may fail in any way.

That is this module, with a format, a folder, and perhaps ``names``: it writes the states in the
folder's ``recording`` as CSV, or what is wrong as a sentence on standard error, and removes both.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from epic_cli.recordings import Unreadable, list_formats
from epic_cli.recordings.writing import write_csv_field

if TYPE_CHECKING:
    from epic_cli.recordings import ByteSource
    from epic_cli.recordings.entries.games import GameRecording

#: Seconds of processor time and bytes of memory: the longest match of 192 took 2 and 0.8 GB.
SECONDS, MEMORY = 60, 4 << 30
_BOUNDS = "it is damaged, or takes more than a minute or 4 GiB of memory"

#: Bytes read at once, lines written at once, characters of what a parser says.
_BLOCK, _LINES, _SAID = 1 << 18, 4096, 200

_COPY = "recording"


def parse_apart(game: GameRecording, source: ByteSource, names: bool) -> Iterator[bytes]:
    """Yield the states of a recording as CSV; raise ``Unreadable``."""
    from subprocess import DEVNULL, PIPE
    from tempfile import TemporaryDirectory

    from epic_cli.recordings import children

    with TemporaryDirectory(prefix="epic-") as folder:
        left = game.most << 20
        with open(os.path.join(folder, _COPY), "wb") as file:  # noqa: PTH118, PTH123
            while data := source.read_more():
                left -= len(data)
                if left < 0:
                    raise Unreadable(f"{game.title} of more than {game.most} MiB")
                file.write(data)
        words = ["-m", __name__, game.name, folder, *["names"] * names]
        with children.start_python(*words, stdin=DEVNULL, stdout=PIPE, stderr=PIPE) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            try:
                while some := process.stdout.read1(_BLOCK):  # type: ignore[attr-defined]
                    yield some
                said = process.stderr.read().decode("utf-8", "replace")
                if process.wait():
                    raise Unreadable(said or f"{game.title} on which its parser fails: {_BOUNDS}")
            finally:
                process.kill()


def name_entity(taken: set[str], number: str, player: str) -> str:
    """Return a name that is not taken yet: the player's, or the number, with apostrophes."""
    name = _escape_message(player) or number
    while name in taken:
        name += "'"
    taken.add(name)
    return name


def write_line(entity: str, *numbers: float | str) -> str:
    """Return a state as a line of CSV."""
    return f"{write_csv_field(entity)},{','.join(map(str, numbers))}\n"


def _escape_message(text: str) -> str:
    """Return another program's message on one line."""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())


def _run_parser(name: str, folder: str, *names: str) -> int:
    """Write the states of a recording, remove its copy, and return the exit status."""
    import gc
    from contextlib import suppress
    from importlib import import_module

    complaints, path = os.dup(2), os.path.join(folder, _COPY)  # noqa: PTH118
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # where panics are printed
    gc.disable()  # a parser makes millions of objects, and no circles
    title = getattr(list_formats()[name], "title", name)
    try:
        if sys.platform != "win32":
            import resource

            for kind, most in (("AS", MEMORY), ("CPU", SECONDS), ("CORE", 0)):
                with suppress(AttributeError, ValueError, OSError):  # lower already, or not here
                    resource.setrlimit(getattr(resource, f"RLIMIT_{kind}"), (most, most))
        game = import_module(f"{__package__}.{name}")
        lines = game.iterate_rows(path, bool(names))
        some = list(islice(lines, 1))
        if not some:
            raise Unreadable(f"{title} in which nothing moves")
        sys.stdout.write(f"{game.COLUMNS}\n")
        while some:
            sys.stdout.write("".join(some))
            some = list(islice(lines, _LINES))
        sys.stdout.flush()
    except BaseException as error:  # a panic of Rust is no Exception
        said = _escape_message(str(error)) or type(error).__name__
        if not isinstance(error, Unreadable):
            said = f"{title} that cannot be read: {said}"
        os.write(complaints, said[:_SAID].encode("utf-8", "replace"))
        return 1
    finally:
        with suppress(OSError):
            os.remove(path)  # noqa: PTH107
            os.rmdir(folder)  # noqa: PTH106
    return 0


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]
    os._exit(_run_parser(*sys.argv[1:]))  # at once: freeing the objects one by one takes seconds
