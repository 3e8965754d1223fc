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
