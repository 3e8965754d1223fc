"""What views say is kept in files: a better sentence is one ``--update-goldens``."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support.pages import BROWSERS

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


@pytest.fixture(scope="session")
def browser() -> str:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser to open the page in: none of {', '.join(BROWSERS)}")
    return found
