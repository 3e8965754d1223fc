"""A session without a terminal, for tests of its logic."""

from __future__ import annotations

import io

from epic_cli.jobs.replay.spec import ReplaySpec
from epic_cli.session.command import load_commands
from epic_cli.session.controller import SessionController
from epic_cli.session.journal import SessionJournal
from epic_cli.session.state import Session
from epic_cli.session.terminal import Screen


class TypedSession(SessionController):
    """A session whose output is stored."""

    def __init__(
        self,
        view: ReplaySpec | None = None,
        journal: SessionJournal | None = None,
        size: tuple[int, int] = (100, 30),
    ) -> None:
        self.output = io.BytesIO()
        screen = Screen(self.output, self.output, lambda: size)
        super().__init__(Session(view), screen, load_commands, journal)

    @property
    def lines(self) -> list[bytes]:
        """The lines of the packets so far."""
        return self.session.lines

    def type(self, *lines: str) -> str:
        """Run lines one by one, as if typed; return the output."""
        self.output.seek(0)
        self.output.truncate()
        for line in lines:
            self.run(line.encode())
        return self.output.getvalue().decode()
