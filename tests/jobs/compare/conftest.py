from collections.abc import Callable
from pathlib import Path

import pytest
from support.words import words_in


@pytest.fixture
def words(pytestconfig: pytest.Config) -> Callable[[str, str], None]:
    return words_in(Path(__file__).parent / "words", pytestconfig)
