"""Tests of the settings of plain Python strategies, read from constructor or declaration."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Literal, Optional

import pytest

from epic_cli import Number, SettingError, Switch
from epic_cli.engine.strategies import make


class Axis(IntEnum):
    X = 1
    UP_AND_DOWN = 2


class Methods:
    reset = update = read = lambda *_: None

    def __init__(self, **given: Any) -> None:
        self.given = given


class Annotated(Methods):
    def __init__(
        self,
        gain: float = 1,
        count: int = 3,
        mirrored: bool = False,
        name: str = "a",
        axis: Axis = Axis.X,
        kind: Literal["fast", "slow"] = "fast",
        limit: float | None = None,
        most: Optional[int] = None,  # noqa: UP045
        anything: Any = 0.5,
    ) -> None:
        super().__init__(**{k: v for k, v in locals().items() if k not in ("self", "__class__")})


class Untyped(Methods):
    def __init__(self, a=0.5, b=2, c=True, d="x", e=None, f=(1, 2), *, g=Axis.X):  # type: ignore[no-untyped-def]
        super().__init__(a=a, b=b, c=c, d=d, e=e, f=f, g=g)


class Needing(Methods):
    def __init__(self, gain: float, other) -> None:  # type: ignore[no-untyped-def]
        super().__init__(gain=gain, other=other)


class Declaring(Methods):
    settings = (Number("gain", 0.5, "a share", "", 0, 1), Switch("mirrored", "off", "or not"))

    def __init__(self, gain: float, mirrored: bool) -> None:
        super().__init__(gain=gain, mirrored=mirrored)


def given(found_at: type, /, **settings: object) -> dict[str, Any]:
    made: Any = make(found_at, settings, "mine:Own")
    found: dict[str, Any] = made.given
    return found


@pytest.mark.parametrize(
    ("kind", "name", "written", "value"),
    [
        (Annotated, "gain", "0.2", 0.2),
        (Annotated, "gain", 2, 2.0),
        (Annotated, "count", "7", 7),
        (Annotated, "mirrored", "on", True),
        (Annotated, "mirrored", True, True),
        (Annotated, "name", "0.2", "0.2"),
        (Annotated, "axis", "up-and-down", Axis.UP_AND_DOWN),
        (Annotated, "kind", "slow", "slow"),
        (Annotated, "limit", "2", 2.0),
        (Annotated, "limit", "none", None),
        (Annotated, "most", "2", 2),
        (Annotated, "anything", "0.25", 0.25),
        (Untyped, "a", "0.2", 0.2),
        (Untyped, "b", "5", 5),
        (Untyped, "b", "0.2", 0.2),
        (Untyped, "c", "off", False),
        (Untyped, "d", "0.2", "0.2"),
        (Untyped, "e", "0.2", 0.2),
        (Untyped, "e", "some", "some"),
        (Untyped, "e", "none", None),
        (Untyped, "g", "up-and-down", Axis.UP_AND_DOWN),
        (Methods, "whatever", "0.2", 0.2),
        (Methods, "whatever", "some", "some"),
        (Declaring, "gain", "0.2", 0.2),
        (Declaring, "mirrored", "on", True),
    ],
)
def test_a_setting_arrives_as_the_constructor_wants_it(
    kind: type, name: str, written: object, value: object
) -> None:
    found = given(kind, **{name: written})[name]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("kind", "name", "written", "words"),
    [
        (Annotated, "gain", "fast", "it must be a number"),
        (Annotated, "gain", "nan", "it must be a number"),
        (Annotated, "count", "0.5", "it must be a whole number"),
        (Annotated, "count", "inf", "it must be a whole number"),
        (Annotated, "mirrored", "0.5", "it must be on or off"),
        (Annotated, "axis", "z", "it must be x or up-and-down"),
        (Annotated, "kind", "0.5", "it must be fast or slow"),
        (Annotated, "limit", "fast", "it must be none or a number"),
        (Annotated, "gian", "1", "mine:Own has no setting 'gian'; did you mean 'gain'?"),
        (Untyped, "f", "1", "mine:Own has no setting 'f'"),
        (Untyped, "a", "fast", "it must be a number"),
        (Declaring, "gain", "2", "it must be 0 to 1"),
    ],
)
def test_a_wrong_value_is_refused_with_what_it_is(
    kind: type, name: str, written: str, words: str
) -> None:
    with pytest.raises(SettingError) as refused:
        given(kind, **{name: written})
    assert words in str(refused.value)


def test_a_class_keeps_its_own_defaults() -> None:
    assert given(Untyped) == {"a": 0.5, "b": 2, "c": True, "d": "x", "e": None, "f": (1, 2), "g": 1}
    assert given(Annotated)["gain"] == 1
    assert given(Declaring) == {"gain": 0.5, "mirrored": False}


def test_what_has_no_default_must_be_given() -> None:
    assert given(Needing, gain="1", other="2") == {"gain": 1.0, "other": 2}
    with pytest.raises(
        ValueError, match="'mine:Own' cannot be created: missing a required argument"
    ):
        given(Needing, gain="1")
