"""Reports refused lines: file, line, column, the line, a caret and what was expected."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from epic_cli.engine.refusals import Refusal
from epic_cli.engine.text.widths import width, wrap
from epic_cli.terminal.console import screen_columns
from epic_cli.terminal.errors import printable, say
from epic_cli.wording import FrontEnd, Problem, in_words

#: How much of a long line is shown before and after the wrong character, on 80 columns.
_BEFORE, _AFTER = 40, 36

_INDENT = "  "

#: How much is said about it.
_LONGEST = 400


def report(refusals: Iterable[Refusal], name: str, color: bool) -> None:
    """Writes the refused lines of the recording ``name`` to stderr."""
    words = (in_words(refusal, FrontEnd.COMMAND_LINE) for refusal in refusals)
    columns = screen_columns(sys.stderr) if sys.stderr and sys.stderr.isatty() else None
    say("".join(in_three_lines(problem, name, color, columns) for problem in words))


def report_problem(problem: Problem, name: str, color: bool) -> None:
    """Writes a refused line of the file ``name``, which is in words already, to stderr."""
    say(in_three_lines(problem, name, color))


def report_left_out() -> None:
    """Says on stderr which strategies of other packages cannot be used, and why."""
    from epic_cli.engine.strategies import left_out

    for one in left_out():
        say(f"epic: {printable(str(one).encode('utf-8', 'surrogateescape'))}\n")


def in_three_lines(
    problem: Problem, name: str, color: bool = False, columns: int | None = None
) -> str:
    """The place and what is wrong; the line; a caret and what was expected.

    On a screen of so many ``columns`` the caret stays under its character.
    """
    bold, red, end = ("\x1b[1m", "\x1b[31m", "\x1b[0m") if color else ("", "", "")
    line = problem.text.rstrip(b"\r\n")
    caret = min(problem.caret, len(line))
    share = min((columns or 80) / 80, 1)
    before = _shorten(printable(line[:caret])[::-1], int(share * _BEFORE))[::-1]
    after = _shorten(printable(line[caret:]), int(share * _AFTER))
    place = f"{printable(name.encode('utf-8', 'surrogateescape'))}:{problem.line}:{problem.column}"
    under = _INDENT + " " * width(before)
    expected = f"expected {_shown(problem.expected)}"
    if columns and len(under) + 2 + len(expected) > columns:
        expected = "\n" + "\n".join(wrap(_INDENT + expected, columns, _INDENT))
    else:
        expected = f" {expected}"
    return (
        f"{bold}{place}:{end} {red}{_shown(problem.what)}{end}\n"
        f"{_INDENT}{before}{after}\n"
        f"{under}{bold}^{end}{expected}\n"
    )


def _shown(words: str) -> str:
    """Words that may hold names out of the file: they cannot steer a terminal, nor fill it."""
    text = printable(words.encode("utf-8", "backslashreplace"))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _shorten(text: str, columns: int) -> str:
    """The beginning of a text, and dots where there is more."""
    if len(text) <= columns and width(text) <= columns:
        return text
    end = columns - 3
    while width(text[:end]) > columns - 3:
        end -= 1
    return text[:end] + "..."
