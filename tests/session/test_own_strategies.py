"""Tests of custom strategies in a session, which goes on whatever the strategy does."""

from pathlib import Path

import pytest
from support.typed_session import TypedSession

SOURCE = '''\
from epic_cli import Sample

class Half:
    """Draws a share of the newest position."""
    def __init__(self, gain=0.5, **others): self.gain = gain
    def reset(self): self.packet = None
    def update(self, packet, now):
        self.packet = packet
        return True
    def read(self, at):
        position = tuple(x * self.gain for x in self.packet.position)
        return Sample(at, position, self.packet.velocity, "held")

class Late(Half):
    def read(self, at):
        if at > 0.1: raise LookupError("late")
        return super().read(at)
'''

PACKETS = ("0,0,0 / 10,0,0 / 0", "1,0,0 / 10,0,0 / 0.1", "2,0,0 / 10,0,0 / 0.2")


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TypedSession:
    (tmp_path / "mine.py").write_text(SOURCE)
    (tmp_path / "boom.py").write_text("1 / 0\n")
    monkeypatch.chdir(tmp_path)
    return TypedSession()


def test_its_settings_can_be_set_and_shown(typed: TypedSession) -> None:
    typed.type(*PACKETS, ":strategy ./mine.py:Half")
    assert typed.session.view.strategy.name == "./mine.py:Half"
    changed = typed.type(":strategy ./mine.py:Half+gain=0.25").splitlines()[-1]
    assert changed.startswith("strategy ./mine.py:Half -> ./mine.py:Half+gain=0.25: ")
    assert changed.endswith("the last is 0.50,0.00,0.00, was 1.00,0.00,0.00")
    assert "gain" in typed.type(":strategies ./mine.py:Half")
    assert "a number" in typed.type(":strategy ./mine.py:Half+gain=much")
    typed.type(":strategy ./mine.py:Half+anything=1")
    assert typed.session.view.strategy.settings == {"anything": 1.0}


def test_one_that_cannot_be_loaded_changes_nothing(typed: TypedSession) -> None:
    reason = "strategy ./boom.py failed while loading: ZeroDivisionError: division by zero"
    assert reason in typed.type(":strategy ./boom.py:Any")
    assert typed.session.view.strategy.name == "epic"
    wrong = typed.check(":strategy ./boom.py:Any")
    assert wrong is not None
    assert reason in wrong.message


def test_a_file_that_was_changed_is_loaded_anew(typed: TypedSession, tmp_path: Path) -> None:
    typed.type(*PACKETS, ":strategy ./mine.py:Half")
    (tmp_path / "mine.py").write_text(SOURCE.replace("gain=0.5", "gain=0.75"))
    typed.type(":strategy ./mine.py:Half")
    assert typed.session.view.strategy.values == {"gain": 0.75}
    assert typed.type(":rows 1").splitlines()[-1].split()[1] == "1.50"
