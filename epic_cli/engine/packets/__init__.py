"""The answer of a folder without the compiled engine: Python prefers the compiled ``__init__``."""

from pathlib import Path

raise ImportError(
    f"{Path(__file__).parents[3]} has no compiled engine: install it in place with"
    " 'pip install -e .' there, or start Python in another folder to use an installed epic",
    name=__name__,
)
