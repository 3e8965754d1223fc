"""A line in which a name is typed, with what it may become."""

from __future__ import annotations

from collections.abc import Sequence


class NameLine:
    """Takes keys until ``is_open`` is False; ``chosen`` is then the name, None: no other one."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._typed = ""
        self.is_open = True
        self.chosen: str | None = None

    def press(self, key: str) -> None:
        """A character, or ``enter``, ``escape``, ``tab`` or ``backspace``."""
        found = self._meant()
        if key == "escape":
            self.is_open = False
        elif key == "enter":
            self.is_open = False
            self.chosen = found[0] if found and self._typed else None
        elif key == "backspace":
            self._typed = self._typed[:-1]
        elif key == "tab":
            self._typed = found[0] if found else self._typed
        elif len(key) == 1 and key.isprintable():
            self._typed += key

    def _meant(self) -> list[str]:
        """What begins like this, then what has it in it."""
        begun = [one for one in self._names if one.startswith(self._typed)]
        return begun + [one for one in self._names if self._typed in one and one not in begun]

    @property
    def text(self) -> str:
        """What is shown."""
        return f"strategy: {self._typed}_  {' '.join(self._meant()) or 'there is none like it'}"
