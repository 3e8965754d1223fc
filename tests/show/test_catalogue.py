"""The catalogue on a terminal of 80 columns."""

from io import StringIO

import pytest
from rich.console import Console

from epic_cli import Declaration, strategies
from epic_cli.jobs.strategies.report import explain_strategy


@pytest.mark.parametrize("declared", strategies(), ids=lambda declared: declared.name)
def test_an_explanation_breaks_no_word(declared: Declaration) -> None:
    out = StringIO()
    Console(file=out, width=80).print(explain_strategy(declared.name, 80))
    words = set(out.getvalue().split())
    for setting in declared.settings:
        assert set(setting.help.split()) <= words
        assert setting.name in words


@pytest.mark.parametrize("room", [40, 79])
def test_an_explanation_fits_the_screen(room: int) -> None:
    for declared in strategies():
        out = StringIO()
        Console(file=out, width=999).print(explain_strategy(declared.name, room))
        wide = [line for line in out.getvalue().splitlines() if len(line) > room]
        assert all(len(line.split()) < 3 for line in wide), declared.name
