"""What views say is kept in files: a better sentence is one ``--update-goldens``."""

from collections.abc import Callable
from pathlib import Path

import pytest

_FOLDER = Path(__file__).parent / "words"


@pytest.fixture
def words(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compares a text with the file of that name; ``--update-goldens`` writes it."""

    def same(name: str, text: str) -> None:
        file = _FOLDER / f"{name}.txt"
        if request.config.getoption("--update-goldens"):
            file.write_text(text)
        assert text == file.read_text()

    return same
