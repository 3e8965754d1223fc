"""What reports say is kept in files: a better sentence is one ``--update-goldens``."""

from collections.abc import Callable

import pytest
from support.words import words_in


@pytest.fixture
def words(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compares a text with the file of that name; ``--update-goldens`` writes it."""
    return words_in(request.path.parent / "words", request.config)
