"""A session without a terminal, for tests of its logic."""

from __future__ import annotations

import io

from epic_cli.engine.replay.playback import ReplaySpec
from epic_cli.session.commands import COMMANDS
from epic_cli.session.dialogue import Dialogue, Preferences
from epic_cli.session.interpreter import Interpreter
from epic_cli.session.journal import Journal
from epic_cli.session.screen import Screen
from epic_cli.session.session import Session


class TypedSession(Interpreter):
    """An interpreter whose output is kept."""

    def __init__(
        self,
        view: ReplaySpec | None = None,
        journal: Journal | None = None,
        size: tuple[int, int] = (100, 30),
        preferences: Preferences | None = None,
    ) -> None:
        self.output = io.BytesIO()
        screen = Screen(self.output, self.output, lambda: size)
        super().__init__(Dialogue(Session(view), screen, journal, preferences), lambda: COMMANDS)
        self.session = self.dialogue.session

    @property
    def lines(self) -> list[bytes]:
        """The lines of the packets so far."""
        return b"".join(self.session.packets.texts()).splitlines(keepends=True)

    def type(self, *lines: str) -> str:
        """Runs lines one by one, as if typed; what was written."""
        self.output.seek(0)
        self.output.truncate()
        for line in lines:
            self.run(line.encode())
        return self.output.getvalue().decode()
