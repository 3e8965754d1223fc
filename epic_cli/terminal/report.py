"""Reports refused lines: file, line, column, the line, a caret and what was expected."""

from __future__ import annotations

from collections.abc import Iterable

from epic_cli.engine.refusals import Refusal
from epic_cli.terminal.errors import printable, say
from epic_cli.wording import FrontEnd, Problem, in_words

#: How much of a long line is shown around the wrong character.
_BEFORE, _AFTER = 40, 36

#: How much is said about it.
_LONGEST = 400


def report(refusals: Iterable[Refusal], name: str, color: bool) -> None:
    """Writes the refused lines of the recording ``name`` to stderr."""
    words = (in_words(refusal, FrontEnd.COMMAND_LINE) for refusal in refusals)
    say("".join(in_three_lines(problem, name, color) for problem in words))


def report_problem(problem: Problem, name: str, color: bool) -> None:
    """Writes a refused line of the file ``name``, which is in words already, to stderr."""
    say(in_three_lines(problem, name, color))


def in_three_lines(problem: Problem, name: str, color: bool = False) -> str:
    """The place and what is wrong; the line; a caret and what was expected."""
    bold, red, end = ("\x1b[1m", "\x1b[31m", "\x1b[0m") if color else ("", "", "")
    line = problem.text.rstrip(b"\r\n")
    caret = min(problem.caret, len(line))
    before, after = printable(line[:caret]), printable(line[caret:])
    if len(before) > _BEFORE:
        before = "..." + before[3 - _BEFORE :]
    if len(after) > _AFTER:
        after = after[: _AFTER - 3] + "..."
    place = f"{printable(name.encode('utf-8', 'surrogateescape'))}:{problem.line}:{problem.column}"
    return (
        f"{bold}{place}:{end} {red}{_shown(problem.what)}{end}\n"
        f"  {before}{after}\n"
        f"  {' ' * _width(before)}{bold}^{end} expected {_shown(problem.expected)}\n"
    )


def _shown(words: str) -> str:
    """Words that may hold names out of the file: they cannot steer a terminal, nor fill it."""
    text = printable(words.encode("utf-8", "backslashreplace"))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    import unicodedata  # only for lines that need it

    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)
