"""A session without a terminal, for tests of its logic."""

from __future__ import annotations

import io

from epic_cli.repl.interpreter import Interpreter, Switches
from epic_cli.repl.journal import Journal
from epic_cli.repl.screen import Screen
from epic_cli.repl.session import Session, View


class Desk(Interpreter):
    """An interpreter whose output is kept."""

    def __init__(
        self,
        view: View | None = None,
        journal: Journal | None = None,
        size: tuple[int, int] = (100, 30),
        switches: Switches | None = None,
    ) -> None:
        self.output = io.BytesIO()
        screen = Screen(self.output, self.output, lambda: size)
        super().__init__(Session(view), screen, journal, switches)

    def do(self, *lines: str) -> str:
        """Runs lines one by one, as if typed; what was written."""
        self.output.seek(0)
        self.output.truncate()
        for line in lines:
            self.run(line.encode())
        return self.output.getvalue().decode()
