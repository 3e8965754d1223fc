"""The error that stands in for the compiled engine where it is not built.

Python prefers a compiled ``__init__`` to this file.
"""

from pathlib import Path

raise ImportError(
    f"{Path(__file__).parents[3]} has no compiled engine: install it in place with"
    " 'pip install -e .' there, or start Python in another folder to use an installed epic",
    name=__name__,
)
