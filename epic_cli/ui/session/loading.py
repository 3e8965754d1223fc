"""A recording into a session: its packets as if they were typed, and what is said of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from epic_cli.engine.velocities import VelocityFiller
from epic_cli.formats.conversion import Changes, Conversion
from epic_cli.formats.recordings import read
from epic_cli.formats.text import TextWriter
from epic_cli.formats.wording import FrontEnd
from epic_cli.ui.io.hint_words import hint_words
from epic_cli.ui.io.progress import Progress
from epic_cli.ui.io.sample import Hints
from epic_cli.views.numbers import counted

if TYPE_CHECKING:
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.formats.layout import Layout
    from epic_cli.ui.session.dialogue import Dialogue


class Loading:
    """The loading of one file; ``given``: how it is laid out, as far as that was said."""

    def __init__(
        self, dialogue: Dialogue, file: str, given: Layout | None, all_errors: bool
    ) -> None:
        self._dialogue = dialogue
        self._file = file
        self._given = given
        self._before = len(dialogue.session.packets), dialogue.session.refused
        self._lines = dialogue.screen.refused_lines(file, all_errors)
        self._filler = VelocityFiller()
        self._filled = 0
        self._conversion = Conversion(Changes())
        self._writer = TextWriter()
        self._told: list[Layout] = []
        self._hints = Hints()
        self._hints.settled(given)

    def run(self) -> None:
        """Takes the packets; raises ``Unreadable``, ``OSError``, and ``Unwritable``."""
        dialogue = self._dialogue
        quiet, dialogue.quiet = dialogue.quiet, True  # rows are drawn once, at the end
        entities = dialogue.session.entities
        try:
            with (
                Path(self._file).open("rb", buffering=0) as stream,
                Progress("loading", in_bytes=True) as progress,
            ):
                size = os.fstat(stream.fileno()).st_size
                for block in read(
                    stream.fileno(), "auto", self._given, self._told.append, True, entities
                ):
                    self._take(block)
                    if size:  # a pipe has neither a size nor a place
                        progress(stream.tell(), size)
        finally:
            dialogue.quiet = quiet
            dialogue.screen.say(self._lines.summary(self._taken))

    @property
    def _taken(self) -> int:
        return len(self._dialogue.session.packets) - self._before[0]

    def _take(self, block: PacketBlock) -> None:
        dialogue = self._dialogue
        self._hints.look(block)
        if block.find_field is None:
            dialogue.take(block, self._file, self._lines)
            return
        self._lines.add(block.refusals)
        dialogue.session.refused += len(block.refusals)
        self._filled += self._filler.fill(block)
        # as it is saved, and read again from the journal
        text = b"".join(self._conversion.rows(block, self._writer))
        dialogue.add(text, self._file, self._taken + 1, self._lines)

    def say(self) -> None:
        """How it was read, what looks wrong, and how many packets there were."""
        session, say, file = self._dialogue.session, self._dialogue.screen.say, self._file
        for one in self._told:
            say(f"{file}: read with {one.options()}")
        for hint in self._hints.new():
            say(f"{file}: {hint_words(hint, FrontEnd.SESSION)}")
        if self._filled:
            say(f"{file}: velocities from the positions for {counted(self._filled, 'packet')}")
        before, refused = self._before
        note = f"{file}: {counted(self._taken, 'packet')} taken"
        if before:
            note += f", after the {before:,} of before (:reset first begins anew)"
        if session.refused > refused:
            note += f", {counted(session.refused - refused, 'line')} refused"
        say(note)
