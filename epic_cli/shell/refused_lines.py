"""Report refused lines: the first in full, with a caret and what was expected; then a count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from epic_cli.engine.refusals import Reason, Refusal
from epic_cli.engine.text.widths import width, wrap
from epic_cli.recordings.wording import FrontEnd, Problem, word_refusal
from epic_cli.shell.errors import Style, escape_controls, quote_text, write_message

if TYPE_CHECKING:
    from epic_cli.recordings.tables import TableRefusal

#: Characters of a long line shown before and after the wrong one, on 80 columns.
_BEFORE, _AFTER = 40, 36

_INDENT = "  "

#: Most characters of the reason.
_LONGEST = 1000

#: Name of the remaining reasons.
_OTHERS = "other reasons"

#: Refused lines per packet from which a file is no recording.
_HARDLY = 10


#: Refused lines of a recording that are shown in full.
SHOWN = 5

#: This many reasons are counted apart, and this many of them are shown: memory and screens are
#: finite.
_COUNTED, _LISTED = 200, 8


@dataclass
class RefusedLines:
    """The refused lines of one recording: the first few go to ``write``, as they come.

    The others are counted by their reasons; ``everything``: each line is written.
    """

    name: str
    front_end: FrontEnd
    write: Callable[[str], None]
    color: bool = False
    columns: int | None = None
    everything: bool = False
    _total: int = field(default=0, init=False)
    _kinds: Counter[str] = field(default_factory=Counter, init=False)
    _first: list[Refusal] = field(default_factory=list, init=False)
    _said: set[tuple[str, str]] = field(default_factory=set, init=False)

    def add(self, refusals: Sequence[Refusal]) -> None:
        """Count refused lines, and write the first few of a recording."""
        room = None if self.everything else max(SHOWN - self._total, 0)
        problems = [word_refusal(refusal, self.front_end) for refusal in refusals]
        self._first += refusals[: SHOWN - len(self._first)]
        self._total += len(problems)
        for problem in problems:
            known = problem.what in self._kinds or len(self._kinds) < _COUNTED
            self._kinds[problem.what if known else _OTHERS] += 1
        fresh = [
            problem
            for refusal, problem in zip(refusals, problems, strict=True)
            if refusal.reason is not Reason.COLUMN_UNCLEAR or self._is_new(problem)
        ]
        shown = fresh[:room]
        if shown:
            look = self.name, self.color, self.columns
            self.write("".join(write_three_lines(problem, *look) for problem in shown))

    def _is_new(self, problem: Problem) -> bool:
        """Return True the first time that a problem of all lines is given."""
        words = problem.what, problem.expected
        new = words not in self._said
        self._said.add(words)
        return new

    def summarize_refused(self, packets: int) -> str:
        """Return the message at the end of a recording of ``packets`` packets; empty for none.

        They say how many refused lines have not been shown, and what the recording looks like if
        hardly any line of it was accepted.
        """
        program = "" if self.front_end is FrontEnd.SESSION else "epic: "
        name = program + quote_text(self.name)
        words = ""
        if self._total > SHOWN and not self.everything:
            words = f"{name}: {self._total:,} lines refused, {SHOWN} of them shown;"
            words += f" --all-errors shows all\n{self._count_refusal_reasons()}"
        if packets * _HARDLY < self._total:
            from epic_cli.recordings.appearance import guess_appearance

            appearance = guess_appearance(self._first)
            if appearance is not None:
                words += f"{name}: this looks like {appearance.value}\n"
        return words

    def _count_refusal_reasons(self) -> str:
        listed = self._kinds.most_common(_LISTED)
        rest = self._total - sum(count for _, count in listed)
        if rest:
            listed.append((_OTHERS, rest))
        digits = max(len(f"{count:,}") for _, count in listed)
        return "".join(
            f"{_INDENT}{count:>{digits},}  {_escape_words(what)}\n" for what, count in listed
        )


def describe_refusal(refused: TableRefusal, color: bool = False) -> str:
    """Return the message on a refused line, in three lines: the place, the line, the reason."""
    return write_three_lines(refused.write_words(FrontEnd.COMMAND_LINE), refused.name, color)


def report_left_out() -> None:
    """Report on stderr the strategies of other packages that cannot be used, and why."""
    from epic_cli.engine.strategies import list_unusable

    for plugin in list_unusable():
        write_message(f"epic: {quote_text(str(plugin))}\n")


def write_three_lines(
    problem: Problem, name: str, color: bool = False, columns: int | None = None
) -> str:
    """Write a problem in three lines: the place and the mistake; the line.

    A caret and what was expected. The text is for ``shown``. On a screen of this many ``columns``
    the caret stays under its character.
    """
    bold, red, end = (Style.BOLD, Style.RED, Style.END) if color else ("", "", "")
    line = problem.text.rstrip(b"\r\n")
    caret = min(problem.caret, len(line))
    share = min((columns or 80) / 80, 1)
    before = _shorten_text(escape_controls(line[:caret])[::-1], int(share * _BEFORE))[::-1]
    after = _shorten_text(escape_controls(line[caret:]), int(share * _AFTER))
    place = f"{quote_text(name)}:{problem.line}:{problem.column}"
    under = _INDENT + " " * width(before)
    first, *others = map(_escape_words, problem.expected.split("\n"))
    expected = f"expected {first}"
    below = "".join(f"{_INDENT}{_INDENT}{other}\n" for other in others)
    if columns and len(under) + 2 + len(expected) > columns:
        expected = "\n" + "\n".join(wrap(_INDENT + expected, columns, _INDENT))
    else:
        expected = f" {expected}"
    return (
        f"{bold}{place}:{end} {red}{_escape_words(problem.what)}{end}\n"
        f"{_INDENT}{before}{after}\n"
        f"{under}{bold}^{end}{expected}\n{below}"
    )


def _escape_words(words: str) -> str:
    """Return words quoted from a file, with control characters escaped, cut to a length."""
    text = escape_controls(words.encode("utf-8", "backslashreplace"))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _shorten_text(text: str, columns: int) -> str:
    """Return the beginning of a text, with dots if there is more."""
    if len(text) <= columns and width(text) <= columns:
        return text
    end = columns - 3
    while width(text[:end]) > columns - 3:
        end -= 1
    return text[:end] + "..."
