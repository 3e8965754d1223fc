"""A whole session, compared with its golden transcript.

    pytest tests/session/test_transcript.py --update-goldens

updates it; read the difference before committing.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.terminals import Terminal

GOLDEN = Path(__file__).parent / "golden" / "session.txt"

LINES = (
    "0,0,0 / 10,0,0 / 0",
    "1,0,0 / 10,0,0 / 0.1",
    ":strategy epic+calc_ahead=0.1",
    ":strategy",
    "2,0,0 / 0,10,0 / 0.2",
    ":undo",
    ":tick 25hz",
    ":rows 2",
    "2,0,0 / 0,10,0 / 0.2 entity=tank",
    ":undo",
    ":reset",
    ":strategy epic",
    ":tick 50ms",
    ":format epic",
    "1,2,3 / 4,5,6 / 0.15",
    ":save packets.txt",
    ":replay -f csv -o rows.csv",
    ":load packets.txt",
)


def test_a_whole_session(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    with Terminal(tmp_path, columns=100, lines=60) as terminal:
        terminal.prompt()
        for line in LINES:
            terminal.type(line)
        terminal.send("\x1b[200~3,3,3 / 0,0,0 / 0.3\r3,x\r3,3,3 / 0,0,0 / 0.4\r\x1b[201~")
        terminal.wait_for("4 taken, 1 refused")
        terminal.prompt()
        terminal.send("q\r")
        assert terminal.status() == 0
        shown = "\n".join(terminal.shown()) + "\n"
    shown = re.sub(r"^epic \d\S*:", "epic VERSION:", shown)
    if request.config.getoption("--update-goldens"):
        GOLDEN.write_text(shown)
    assert shown == GOLDEN.read_text()
