"""Tests that errors arrive unchanged in another process."""

from __future__ import annotations

import inspect
import pickle
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import epic_cli
from epic_cli import Packet
from epic_cli.engine.failures import StrategyFailed
from epic_cli.engine.refusals import Reason, Refusal
from epic_cli.metrics.notes import ExclusionReason, NotJudged
from epic_cli.recordings.datagrams.counts import Refused
from epic_cli.recordings.findings import RecordingFinding
from epic_cli.recordings.wording import FrontEnd, word_refusal
from epic_cli.recordings.writing import Fault, Unwritable

REFUSAL = Refusal(3, 1, b"x", 0, Reason.FIELD_MISSING, "time")

#: What errors are made from, by how the type is written.
VALUES: dict[str, Any] = {
    "Any": "thing",
    "BaseException | None": ValueError("of a strategy"),
    "Exception": ValueError("of a worker"),
    "Fault": Fault.NO_VELOCITY,
    "OSError": FileNotFoundError(2, "No such file", "x.csv"),
    "Packet": Packet((1, 2, 3), None, 4.0),
    "Problem": word_refusal(REFUSAL, FrontEnd.PYTHON),
    "Reason": Reason.COLUMN_UNCLEAR,
    "RecordingFinding": RecordingFinding("E301"),
    "Refusal": REFUSAL,
    "Refusal | None": REFUSAL,
    "Refused": next(iter(Refused)),
    "Sequence[str]": ("lerp", "epic"),
    "Unwritable": Unwritable(Fault.NO_VELOCITY, "vx", None),
    "bool": True,
    "float": 0.25,
    "float | None": None,
    "int": 7,
    "object": b"thing",
    "str": "here",
    "tuple[NotJudged, ...]": (NotJudged("car", next(iter(ExclusionReason))),),
    "": 7,
}


def kinds(base: type[BaseException] = BaseException) -> Iterator[type[BaseException]]:
    for kind in base.__subclasses__():
        if kind.__module__.startswith("epic_cli."):
            yield kind
        yield from kinds(kind)


def made(kind: type[BaseException]) -> BaseException:
    """Create an exception of this kind with arguments for its constructor."""
    if not hasattr(vars(kind).get("__init__", kind.__init__), "__code__"):  # Python's own
        return kind("what is wrong")
    facts, named = [], {}
    for name, parameter in inspect.signature(kind).parameters.items():
        kind_of = parameter.annotation
        written = kind_of if isinstance(kind_of, str) else kind_of.__name__
        value = VALUES["" if kind_of is parameter.empty else written]
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.VAR_POSITIONAL):
            facts.append(value)
        else:
            named[name] = value
    return kind(*facts, **named)


def test_an_error_reaches_another_process_as_it_is() -> None:
    for module in pkgutil.walk_packages(epic_cli.__path__, "epic_cli."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    every = set(kinds())
    assert len(every) > 50
    for kind in every:
        error = made(kind)
        error.add_note("of --speed")
        there = pickle.loads(pickle.dumps(error))
        assert (type(there), str(there), there.args) == (kind, str(error), error.args)
        assert repr(vars(there)) == repr(vars(error))


class Unsendable(Exception):
    """An exception that cannot be pickled, as strategies may raise."""

    def __init__(self, speed: float, limit: float) -> None:
        super().__init__(f"{speed} is above {limit}")


def test_a_strategys_own_error_that_cannot_be_sent_stays_behind() -> None:
    failure = StrategyFailed("mine:Strategy", "update", "4 is above 3", Unsendable(4, 3))
    there = pickle.loads(pickle.dumps(failure))
    assert (str(there), there.error) == (str(failure), None)
