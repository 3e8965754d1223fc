"""Wordings of reports in files, so that a better sentence takes one ``--update-goldens``."""

from collections.abc import Callable
from pathlib import Path

import pytest


def words_in(folder: Path, config: pytest.Config) -> Callable[[str, str], None]:
    """Compare a text with the file of that name; ``--update-goldens`` writes the file."""

    def same(name: str, text: str) -> None:
        file = folder / f"{name}.txt"
        if config.getoption("--update-goldens"):
            file.write_text(text)
        assert text == file.read_text()

    return same
