"""The kinds of names that ``epic explain`` knows, and an explanation as a value."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class NameKind(Enum):
    """A kind of names; the value says where users meet them."""

    FINDING = "finding of inspect"
    CAUSE = "cause of diagnose"
    DRAWBACK = "cause of diagnose --drawn"
    METRIC = "metric of compare"
    STRATEGY = "strategy"
    SETTING = "setting of strategies"
    OPTION = "option with keys"
    KEY = "key of an option"
    GAME = "kind of game"
    WORD = "word of a table"


class ExplainSpec(NamedTuple):
    """The ``name`` to explain, in any case; None: an overview of all kinds."""

    name: str | None = None


class NameEntry(NamedTuple):
    """The explanation of a name: a title, a text, and further ``terms``, each with a description.

    Lines of the text are paragraphs, or lines of a formula.
    """

    kind: NameKind
    name: str
    title: str
    text: str = ""
    terms: tuple[tuple[str, str], ...] = ()
