"""A browser for the tests of pages."""

import shutil

import pytest
from support.pages import BROWSERS


@pytest.fixture(scope="session")
def browser() -> str:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser to open the page in: none of {', '.join(BROWSERS)}")
    return found
