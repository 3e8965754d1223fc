"""What views say is kept in files: a better sentence is one ``--update-goldens``."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support.pages import BROWSERS
from support.words import words_in


@pytest.fixture
def words(pytestconfig: pytest.Config) -> Callable[[str, str], None]:
    """Compares a text with the file of that name; ``--update-goldens`` writes it."""
    return words_in(Path(__file__).parent / "words", pytestconfig)


@pytest.fixture(scope="session")
def browser() -> str:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser to open the page in: none of {', '.join(BROWSERS)}")
    return found
