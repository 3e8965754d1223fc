"""The rule that limits what an untrusted file may make the program do.

What comes from a file (a script, an ``--init`` file, a case, a configuration, an address of the
lab) may not load code, start a program, or write outside of the file's own folder, unless
``--trust`` stands on the real command line:

    with apply_file_rule("cases/turn/case.toml", trust=False):
        check_program("./port")          # raises NotTrusted
        check_output("/etc/hosts")       # raises PermissionError

Blocks nest: a script that checks a case is bound by the rule for both files, so no ``--trust``
within a file widens what the file itself may ask for.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: How a user trusts a file.
BY_OPTION = "--trust, or trust = true in your own configuration file"

#: The name of the option, which no environment variable gives: folders bring variables, too.
OPTION = "trust"


class NotTrusted(ValueError):
    """An error: a file asks for code or for a program, and the user has not trusted the file."""


#: The untrusted files on whose behalf the current block runs, outermost first: the folder of each,
#: and how the user would trust it.
_asking: ContextVar[tuple[tuple[str, str], ...]] = ContextVar("asking", default=())

#: Code that the user named in person, which a file may name too.
_named: set[str] = set()


@contextmanager
def apply_file_rule(path: str, trust: bool, remedy: str = BY_OPTION) -> Iterator[None]:
    """Apply the rule for the file at ``path`` (``-``: stdin) to everything done in the block.

    With ``trust`` the file adds no restriction; those of surrounding blocks stay. ``remedy`` says
    how the user trusts such a file. The folder of standard input is the current one.
    """
    here = os.path.dirname(path) if path != "-" else ""  # noqa: PTH120 - pathlib is slow to load
    folder = os.path.realpath(here or ".")
    before = _asking.get()
    token = _asking.set(before if trust else (*before, (folder, remedy)))
    try:
        yield
    finally:
        _asking.reset(token)


def check_code(path: str) -> None:
    """Raise ``NotTrusted`` where an untrusted file names code that the user has not named.

    ``path`` is a module's name or the real path of its file.
    """
    asking = _asking.get()
    if not asking:
        _named.add(path)
    elif path not in _named:
        _, remedy = asking[-1]
        raise NotTrusted(f"a data file names code to run, which needs {remedy}")


def check_program(name: str) -> None:
    """Raise ``NotTrusted`` where an untrusted file asks for ``name``, which runs code."""
    if asking := _asking.get():
        _, remedy = asking[-1]
        raise NotTrusted(
            f"a data file asks for {name}, which can run any code: that needs {remedy}"
        )


def check_output(path: str) -> None:
    """Raise ``PermissionError`` where an untrusted file asks to write outside of its folder.

    Links are followed. ``os.devnull``, pipes and terminals hold nothing that could be lost.
    """
    asking = _asking.get()
    if not asking or path == "-" or _is_device_or_stream(path):
        return
    target = os.path.realpath(path)
    for folder, remedy in asking:
        if not target.startswith(os.path.join(folder, "")):  # noqa: PTH118
            reason = (
                f"it is outside of {folder}, the folder of the file that asks for it, which"
                f" needs {remedy}"
            )
            raise PermissionError(errno.EPERM, reason, path)


#: Devices of ``/dev`` that hold nothing, and the names of the standard streams there.
_STREAMS = ("null", "full", "tty", "stdin", "stdout", "stderr")


def _is_device_or_stream(path: str) -> bool:
    """Return True for a device that holds nothing and a standard stream that is no file."""
    if path == os.devnull:
        return True
    folder, name = os.path.split(path)
    if not ((folder == "/dev" and name in _STREAMS) or (folder == "/dev/fd" and name.isdigit())):
        return False
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116
    except OSError:
        return False
