"""Every table of parameters: written values are read back unchanged, and each has an option."""

from __future__ import annotations

import importlib
import math
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from support.words import words_in

import epic_cli
from epic_cli.engine.description import Described, split
from epic_cli.engine.parameters import (
    Choice,
    Custom,
    Number,
    Parameter,
    SettingError,
    Switch,
    Table,
)
from epic_cli.engine.replay.strategy_spec import read_spec
from epic_cli.network.link import LINK, GilbertElliott, QueueLimit
from epic_cli.network.link_spec import TRACE
from epic_cli.network.paths import PATH
from epic_cli.network.sender import SENDER, SenderSpec
from epic_cli.network.truth_file import MOVEMENT
from epic_cli.play.spec import MATCH
from epic_cli.shell.declared import ParameterType, make_option, make_options

TABLES: dict[str, Table] = {
    "link": LINK,
    "match": MATCH,
    "path": PATH,
    "sender": SENDER,
    "movement": MOVEMENT,
    "trace": tuple(sample for sample in TRACE if not isinstance(sample, Custom)),
}
PARAMETERS = [(name, row) for name, table in TABLES.items() for row in table]
every_parameter = pytest.mark.parametrize(
    "parameter",
    [one for _, one in PARAMETERS],
    ids=[f"{name}-{one.name}" for name, one in PARAMETERS],
)

_SHARES = st.floats(0, 1)
CUSTOM = {
    "gemodel": st.builds(GilbertElliott, _SHARES, _SHARES, _SHARES, _SHARES),
    "queue": st.one_of(
        st.builds(QueueLimit, st.floats(0, 60), st.none()),
        st.builds(QueueLimit, st.none(), st.integers(0, 1_000_000)),
    ),
    "step": st.integers(5_000, 100_000).map(lambda time_us: time_us / 1e6),
    "against": st.sampled_from(["judged", read_spec("dis"), read_spec("epic+display_behind=0.1")]),
    "send": st.sampled_from(
        [
            SenderSpec(15.0),
            SenderSpec.parse("60hz,threshold=0.05,against=epic+display_behind=0.1,bits=9"),
        ]
    ),
    "remote_strategy": st.sampled_from(["snapshot", "lerp"]),
}


def values(parameter: Parameter) -> st.SearchStrategy[Any]:
    """Return values that a parameter takes."""
    if isinstance(parameter, Switch):
        return st.booleans()
    if isinstance(parameter, Choice):
        return st.sampled_from(parameter.choices)
    if isinstance(parameter, Custom):
        return CUSTOM[parameter.name]
    assert isinstance(parameter, Number)
    high = None if math.isinf(parameter.high) else parameter.high
    numbers: st.SearchStrategy[Any]
    if parameter.whole:
        numbers = st.integers(int(parameter.low), None if high is None else int(high))
    else:
        numbers = st.floats(parameter.low, high, allow_nan=False, allow_infinity=False)
    words = st.sampled_from([*parameter.words.values()]) if parameter.words else st.nothing()
    return st.one_of(numbers, words)


@every_parameter
@given(data=st.data())
def test_what_is_written_reads_back(parameter: Parameter, data: st.DataObject) -> None:
    value = data.draw(values(parameter))
    read = parameter.read(parameter.write(value))
    assert read == value
    assert type(read) is type(value) or not isinstance(value, bool)
    parameter.verify(value)


@every_parameter
def test_the_default_is_in_range_and_shown_as_it_is_read(parameter: Parameter) -> None:
    if parameter.default is not None:
        assert parameter.accept(parameter.default) == parameter.default
        assert parameter.read(parameter.show(parameter.default)) == parameter.default


@every_parameter
def test_there_is_an_option_with_its_help(parameter: Parameter) -> None:
    @click.command()
    @make_option(parameter)
    def command(**given: object) -> None:
        click.echo(repr(given))

    told = " ".join(CliRunner().invoke(command, ["--help"]).output.split())
    assert f"--{parameter.name.replace('_', '-')}" in told
    assert parameter.help.split()[0] in told
    if isinstance(parameter, Number):
        assert " ".join(parameter.range.split()[-3:]) in told
    if isinstance(parameter, Custom):
        assert f" {parameter.form.upper()} " in told
    unset = CliRunner().invoke(command, [])
    assert unset.output == f"{ {parameter.name: parameter.default}!r}\n"


COUNT = Number("count", 3, "How many.", "", 1, 9, whole=True)
RATE = Number("rate", math.inf, "How fast.", "bit/s", 1, words={"unlimited": math.inf})
KIND = Choice("kind", "good", "Which.", ("good", "better"))
OPEN = Switch("open", True, "Whether.")


class Small(Described):
    TABLE, KEY, OWNER = (COUNT, RATE, KIND, OPEN), "count", "a thing"


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("count=4", "count", 4),
        ("rate=1mbit", "rate", 1e6),
        ("rate=unlimited", "rate", math.inf),
        ("rate=inf", "rate", math.inf),
        ("kind=better", "kind", "better"),
        ("open=off", "open", False),
    ],
)
def test_an_assignment(text: str, name: str, value: object) -> None:
    assert Small.read(split(text)) == {name: value}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cuont=4", "a thing has no parameter 'cuont'; did you mean 'count'?"),
        ("count=4.5", "count=4.5 is not allowed: it must be a whole number from 1 to 9"),
        ("count=50%", "count=50% is not allowed: it must be a whole number from 1 to 9"),
        ("rate=0", "rate=0 is not allowed: it must be unlimited or 1 bit/s or more"),
        ("rate=unlimitd", "did you mean 'unlimited'?"),
        ("rate=fast", "write 500kbit or 1mbit"),
        ("kind=god", "kind=god is not allowed: it must be good or better; did you mean 'good'?"),
        ("open=\x1b", r"open='\x1b' is not allowed: it must be on or off"),
    ],
)
def test_a_refusal_says_what_is_allowed(text: str, message: str) -> None:
    with pytest.raises(SettingError) as refused:
        Small.read(split(text))
    assert message in str(refused.value)


def test_a_shell_is_proposed_words() -> None:
    context, parameter = click.Context(click.Command("x")), click.Option(["--x"])
    proposed = ParameterType(RATE).shell_complete(context, parameter, "u")
    assert [item.value for item in proposed] == ["unlimited"]


def test_options_that_differ_from_the_table() -> None:
    @click.command()
    @click.pass_context
    def command(context: click.Context, /, **given: object) -> None:
        del context
        click.echo(repr(given))

    for choice in (
        *make_options(Small.TABLE, leave_out=("open",), count={"default": "5"}),
        make_option(OPEN),
    ):
        choice(command)
    assert eval(CliRunner().invoke(command, ["--no-open", "--rate", "9"]).output) == {
        "count": 5,
        "rate": 9.0,
        "kind": "good",
        "open": False,
    }
    refused = CliRunner().invoke(command, ["--count", "10"])
    assert "Invalid value for '--count': 10 is not allowed: it must be" in refused.output


def iterate_values() -> Iterator[object]:
    """Yield what stands in a module or a class of the package."""
    for found in pkgutil.walk_packages(epic_cli.__path__, "epic_cli."):
        if not found.name.endswith("__main__"):
            module = importlib.import_module(found.name)
            for value in vars(module).values():
                yield value
                if isinstance(value, type) and value.__module__ == found.name:
                    yield from vars(value).values()


def iterate_parameters(value: object) -> Iterator[Parameter]:
    if isinstance(value, Parameter):
        yield value
    elif isinstance(value, tuple):  # not what has been loaded meanwhile, which dictionaries hold
        for one in value:
            yield from iterate_parameters(one)


def test_defaults_and_ranges_are_those_that_were_meant(pytestconfig: pytest.Config) -> None:
    """All of them in a file: nothing else says that a limit of 10 s should not be 11 s."""
    lines = {
        f"{one.name} {one.default!r}: {one.range}\n"
        for value in iterate_values()
        for one in iterate_parameters(value)
    }
    words_in(Path(__file__).parent, pytestconfig)("parameters", "".join(sorted(lines)))


def test_a_value_has_the_defaults_of_its_table() -> None:
    asked = 0
    for described in {one for one in iterate_values() if isinstance(one, type)}:
        table = getattr(described, "TABLE", None)
        defaults = getattr(described, "_field_defaults", vars(described))  # of a named tuple
        for parameter in table if isinstance(table, tuple) else ():
            if parameter.field in defaults:
                assert repr(defaults[parameter.field]) == repr(parameter.default), (
                    described,
                    parameter.name,
                )
                asked += 1
    assert asked > 20
