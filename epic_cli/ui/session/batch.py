"""A script of packets and commands without a terminal: rows to stdout, remarks to stderr."""

from __future__ import annotations

from epic_cli.ui.session.dialogue import Dialogue
from epic_cli.ui.session.interpreter import Interpreter
from epic_cli.ui.session.loop import Opening, load_commands
from epic_cli.ui.session.screen import Screen
from epic_cli.ui.session.session import Session


class _CountingScreen(Screen):
    """Counts what was not done."""

    complaints = 0

    def complain(self, text: str) -> None:
        """Writes it, too."""
        self.complaints += 1
        super().complain(text)


def run_script(opening: Opening, script: bytes, name: str) -> bool:
    """Runs it as if it was typed, without a journal; whether all of it could be done."""
    screen = _CountingScreen.standard(opening.color)
    screen.choose_format(opening.row_format or "epic")
    dialogue = Dialogue(Session(opening.view), screen, None, opening.preferences)
    Interpreter(dialogue, load_commands).run(script, name)
    return not (dialogue.session.refused or screen.complaints)
