"""Expected reports in files: a better sentence takes one ``--update-goldens``."""

from collections.abc import Callable

import pytest
from support.words import words_in


@pytest.fixture
def words(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with the file of that name; ``--update-goldens`` writes the file."""
    return words_in(request.path.parent / "words", request.config)
