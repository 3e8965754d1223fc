"""What is said on stderr of one recording: how it is read, what is odd, which lines are refused."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from epic_cli.ui.io.errors import printable, say

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from epic_cli.engine.packets import PacketBlock
    from epic_cli.engine.refusals import Refusal
    from epic_cli.formats.hints import Hint
    from epic_cli.formats.layout import Layout
    from epic_cli.ui.io.profiles import Saving
    from epic_cli.ui.io.refused_lines import RefusedLines

# The words are loaded when there is something to say: packet text must start fast.

#: Packets that are looked at: after the first few a live recording has its hints, and no later
#: packets are looked at than these, which takes less than a millisecond.
_SOON, _MOST = 64, 2048

#: Fewer say nothing: then the hints are not even loaded.
_LEAST = 12


class Hints:
    """What looks wrong with the first packets of a recording, each of it once."""

    def __init__(self) -> None:
        self._sample: PacketBlock | None = None
        self._looked = 0
        self._texts: list[bytes] = []
        self._shown: set[tuple[object, ...]] = set()
        self._settled: Layout | None = None

    def settled(self, layout: Layout | None) -> None:
        """What somebody has said of the recording's times is not doubted."""
        self._settled = layout

    def look(self, block: PacketBlock) -> bool:
        """Takes the next packets; whether it is time to ask for what is ``new``."""
        before = 0 if self._sample is None else len(self._sample)
        if before >= _MOST:
            return False
        if self._sample is None:
            self._sample = block.part(0, _MOST)
        else:
            self._sample.extend(block)
        if block.find_field is None and b"=" in block.text:
            self._texts.append(block.text)
        count = len(self._sample)
        return before < _SOON <= count or count >= _MOST

    def end(self) -> bool:
        """Whether there may be something ``new`` now that no more packets come."""
        count = 0 if self._sample is None else len(self._sample)
        return bool(self._texts) or (count != self._looked and count >= _LEAST)

    def new(self) -> list[Hint]:
        """What has not been shown before."""
        from epic_cli.formats.hints import hints, word_hints

        found = [hint for text in self._texts for hint in word_hints(text)]
        self._texts.clear()
        if self._sample is not None and len(self._sample) >= _LEAST:
            self._looked = len(self._sample)
            found += hints(self._sample)
        settled = self._settled.settles if self._settled is not None else ()
        fresh = {
            hint.key: hint
            for hint in found
            if hint.key not in self._shown and hint.option not in settled
        }
        self._shown.update(fresh)
        return list(fresh.values())


class Messages:
    """How much is said: if ``quiet``, what ends a run; with ``all_errors``, each refused line."""

    def __init__(self, quiet: bool = False, all_errors: bool = False) -> None:
        self.quiet: Final = quiet
        self.all_errors: Final = all_errors


class Reporter:
    """Says it while its block runs, and the count of refused lines however that ends.

    It is said on stderr, or given to ``write``.
    """

    def __init__(
        self,
        name: str,
        remarks: Messages = Messages(),  # noqa: B008
        color: bool = False,
        write: Callable[[str], object] = say,
    ) -> None:
        self.name = name
        self._remarks = remarks
        self._color = color
        self._write = write
        self._lines: RefusedLines | None = None
        self._hints: Hints | None = None if remarks.quiet else Hints()
        self._inferred: Layout | None = None
        self._saved = False
        self.packets = 0

    @property
    def refused(self) -> bool:
        """Whether lines of the recording were refused."""
        return self._lines is not None

    def say(self, text: str) -> None:
        """Says what may be left out."""
        if not self._remarks.quiet:
            self._write(text)

    def given(self, layout: Layout | None) -> None:
        """How the recording is to be read, as far as somebody has said it."""
        if self._hints is not None:
            self._hints.settled(layout)

    def layout(self, layout: Layout) -> None:
        """How a recording is read whose layout was inferred."""
        self._inferred = layout
        self.say(layout_words(self.name, layout))

    def save(self, saving: Saving | None, given: Layout | None) -> None:
        """Saves how the recording is read, inferred or ``given``, as a profile."""
        if saving is not None and self.packets and not self._saved:
            self._saved = True
            self.say(saving.save(self._inferred or given))

    def look(self, block: PacketBlock) -> None:
        """The packets of the recording, as they come."""
        self.packets += len(block)
        if self._hints is not None and self._hints.look(block):
            self._say_hints(self._hints)

    def _say_hints(self, hints: Hints) -> None:
        found = hints.new()
        if not found:
            return
        from epic_cli.formats.wording import FrontEnd

        for hint in found:
            self.say(f"epic: {_shown(self.name)}: {hint.words(FrontEnd.COMMAND_LINE)}\n")

    def estimated(self) -> None:
        """Velocities are used that the recording has not."""
        self.say(velocities_estimated_words(self.name))

    def refuse(self, refusals: Sequence[Refusal]) -> None:
        """Lines that are refused, as they come."""
        if not refusals:
            return
        if self._lines is None:
            self._lines = self._refused_lines()
        self._lines.add(refusals)

    def stop(self, refusal: Refusal) -> None:
        """The refused line that ends the run."""
        self._remarks = Messages()
        self.refuse([refusal])
        self._lines = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        if self._hints is not None and self._hints.end():
            self._say_hints(self._hints)
        if self._lines is not None:
            self.say(self._lines.summary(self.packets))

    def _refused_lines(self) -> RefusedLines:
        from epic_cli.formats.wording import FrontEnd
        from epic_cli.ui.io.console import screen_columns
        from epic_cli.ui.io.refused_lines import RefusedLines

        columns = screen_columns(sys.stderr) if sys.stderr and sys.stderr.isatty() else None
        return RefusedLines(
            self.name,
            FrontEnd.COMMAND_LINE,
            self.say,
            color=self._color,
            columns=columns,
            everything=self._remarks.all_errors,
        )


def layout_words(name: str, layout: Layout) -> str:
    """How the recording ``name`` is read, in the words of the options: a line for stderr."""
    return f"epic: {_shown(name)}: read with {_shown(layout.options())}\n"


def velocities_estimated_words(name: str) -> str:
    """That a strategy uses velocities which the recording ``name`` has not: a line for stderr."""
    return (
        f"epic: {_shown(name)}: packets without a velocity get one from the position before"
        " theirs\n"
    )


def _shown(text: str) -> str:
    return printable(text.encode("utf-8", "surrogateescape"))
