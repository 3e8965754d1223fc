r"""Golden transcripts: commands of ``epic`` and their output, in one file of plain text.

    What the case is about, in a sentence.

    === packets.txt
    1,2,3 / 4,5,6 / 0.1
    hello
    $ epic replay < packets.txt
    pos: -0.45,-0.75,-1.05  vel: 9.000,15.000,21.000  time: 0.050
    --- stderr
    <stdin>:2:1: x is not a number
    --- status 1

``=== NAME`` is a file that the commands below it find in their folder. ``$ COMMAND`` is run there
without a shell (``< NAME`` gives it a file on standard input, ``NAME=VALUE`` before ``epic`` sets a
variable; ``$PWD`` is the folder), and what follows is its standard output, then ``--- stderr`` if
it says anything there, then ``--- status N`` if that is not 0.

Text stands as it is. A block that is anything else (control characters but tabs, bytes that are not
UTF-8, no newline at its end, a line that would be taken for one of the marks above) is marked
``(escaped)``: there a backslash begins Python's ``\r``, ``\t``, ``\\`` or ``\xNN``, and one at the
end of the block stands for the newline that is missing. A command line is always so escaped.

Click words what it finds wrong with a command line. Of that, only our own sentence is kept, as
``--- usage error``.
"""

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from subprocess import CompletedProcess

from support.running import environment

_MARK = re.compile(r"^(=== |\$ |--- )", re.MULTILINE)
_ESCAPED = " (escaped)"
_CLICKS_OWN = re.compile(rb"\AUsage: .*\nTry .*\n\nError: (?:Invalid value for '[^:]*': )?")


@dataclass(frozen=True)
class File:
    """A file that the following commands read."""

    name: str
    content: bytes

    def __str__(self) -> str:
        return _block(f"=== {self.name}", self.content)


@dataclass(frozen=True)
class Command:
    """A command line and its output; ``usage_error`` is our part of click's message on stderr."""

    line: str
    stdout: bytes = b""
    stderr: bytes = b""
    usage_error: bytes = b""
    status: int = 0

    def __str__(self) -> str:
        plain = _is_plain(self.stdout)
        parts = ["$ " + "".join(map(_escape, self.line)) + "\n"]
        if self.stdout:
            parts.append(self.stdout.decode() if plain else _block("--- stdout", self.stdout))
        if self.stderr:
            parts.append(_block("--- stderr", self.stderr))
        if self.usage_error:
            parts.append(_block("--- usage error", self.usage_error))
        if self.status:
            parts.append(f"--- status {self.status}\n")
        return "".join(parts)

    def run(self, epic: Callable[..., CompletedProcess[bytes]], folder: Path) -> "Command":
        """Return the command line with its output in this folder."""
        words = shlex.split(self.line)
        at = words.index("epic")
        here = str(folder)
        variables = dict(word.replace("$PWD", here).split("=", 1) for word in words[:at])
        args, stdin = words[at + 1 :], b""
        if args[-2:-1] == ["<"]:
            stdin = (folder / args[-1]).read_bytes()
            args = args[:-2]
        done = epic(*args, stdin=stdin, cwd=folder, env=environment(**variables))
        stderr = done.stderr.replace(here.encode(), b"$PWD")
        ours = _CLICKS_OWN.sub(b"", stderr, count=1)
        return Command(
            self.line,
            stdout=done.stdout,
            stderr=stderr if ours == stderr else b"",
            usage_error=b"" if ours == stderr else ours,
            status=done.returncode,
        )


@dataclass(frozen=True)
class Transcript:
    """A case of a transcript: its subject, its files, its commands in order."""

    about: str
    steps: tuple[File | Command, ...]

    def __str__(self) -> str:
        return self.about + "".join(map(str, self.steps))


def read(text: str) -> Transcript:
    """Parse a transcript from the text of its file."""
    starts = [found.start() for found in _MARK.finditer(text)]
    about = text[: starts[0]]
    steps: list[File | Command] = []
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        head, _, body = text[start:end].partition("\n")
        mark, what = head.split(" ", 1)
        content = _unescaped(body) if what.endswith(_ESCAPED) else body.encode()
        what = what.removesuffix(_ESCAPED)
        if mark == "===":
            steps.append(File(what, content))
        elif mark == "$":
            steps.append(Command(_unescaped(what).decode(), stdout=content))
        else:
            command = steps.pop()
            assert isinstance(command, Command), f"{head}: before any command"
            steps.append(_answered(command, what, content))
    return Transcript(about, tuple(steps))


def _answered(command: Command, what: str, content: bytes) -> Command:
    if what.startswith("status "):
        return replace(command, status=int(what.removeprefix("status ")))
    if what == "stdout":
        return replace(command, stdout=content)
    if what == "stderr":
        return replace(command, stderr=content)
    assert what == "usage error", f"--- {what}: no such mark"
    return replace(command, usage_error=content)


def _is_plain(content: bytes) -> bool:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return False
    whole = not text or text.endswith("\n")
    return whole and not _MARK.search(text) and re.sub("[\t\n]", "", text).isprintable()


def _block(head: str, content: bytes) -> str:
    if _is_plain(content):
        return f"{head}\n{content.decode()}"
    text = content.decode(errors="surrogateescape")
    shown = "".join(map(_escape, text))
    shown = _MARK.sub(lambda found: f"\\x{ord(found[0][0]):02x}{found[0][1:]}", shown)
    if not shown.endswith("\n"):
        shown += "\\\n"
    return f"{head}{_ESCAPED}\n{shown}"


def _escape(character: str) -> str:
    if character == "\\":
        return "\\\\"
    if character == "\n" or character.isprintable():
        return character
    if character in "\r\t":
        return {"\r": "\\r", "\t": "\\t"}[character]
    return "".join(f"\\x{byte:02x}" for byte in character.encode(errors="surrogateescape"))


_NAMED = {b"r": b"\r", b"t": b"\t", b"\\": b"\\", b"\n": b""}


def _unescaped(shown: str) -> bytes:
    return re.sub(
        rb"\\(?:x([0-9a-f]{2})|([rt\\\n]))",
        lambda found: bytes.fromhex(found[1].decode()) if found[1] else _NAMED[found[2]],
        shown.encode(),
    )
