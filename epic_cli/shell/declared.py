"""Commands, options and arguments made from declarations, for click.

``@make_option(PARAMETER)`` makes ``--name`` of a parameter (``engine/parameters.py``) with its
type, range, default, completion and help; ``make_options(TABLE)`` makes one for each. Options stand
as fields of values and as defaults of a command's parameters, and reach the command as one value
each. ``EPIC_`` variables and the configuration are read in the same way. Help has two lengths:
``--help`` has what most people need on one screen, ``--help-all`` all, in groups.

Example:
    GAIN = Number("gain", 0.5, "How fast to follow.", "", 0, 1)

    @make_option(GAIN)                           # --gain SHARE  ...  [default: 0.5; 0 to 1]
    @make_option(GAIN, "--speed", default=None)  # the same range under another name, not required
    @click.argument("gain", type=ParameterType(GAIN))

    @dataclass(frozen=True)
    class Output:
        color: bool = declare_flag("Write in color.")  # --color
        path: str | None = declare_value("Where to.", "-o", "--output")  # under its name
        seed: int = declare_shared(seed)  # an option of several commands

    @make_command(EXAMPLES)
    def name(output: Output = declare_shared(Output)) -> None: ...

"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial, wraps
from inspect import cleandoc, signature
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from epic_cli.engine import description
from epic_cli.engine.parameters import (
    Choice,
    Custom,
    Number,
    Parameter,
    Switch,
    Table,
    find,
    find_nearest,
    parse_span,
)
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.replay.strategy_spec import read_spec as parse_spec
from epic_cli.engine.trust import check_output
from epic_cli.recordings.files import KEY as RUN_FILES
from epic_cli.recordings.files import Files, raise_cannot_access
from epic_cli.recordings.read_spec import READ, ReadSpec
from epic_cli.shell.commands import COMMANDS
from epic_cli.shell.errors import WrongUsage
from epic_cli.shell.profiles import iterate_profile_names, read_spec

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    _ClickType = click.ParamType[Any]  # generic only for the type checker
    _ClickChoice = click.Choice[str]
else:
    _ClickType = click.ParamType
    _ClickChoice = click.Choice


def list_completions(
    words: Iterable[tuple[str, str | None]], begun: str, before: str = ""
) -> list[CompletionItem]:
    """Return the words that begin with ``begun`` as completions, each preceded by ``before``."""
    from click.shell_completion import CompletionItem  # only completion waits for it

    return [
        CompletionItem(f"{before}{word}", help=help_text)
        for word, help_text in words
        if word.startswith(begun)
    ]


class FormatChoice(_ClickChoice):
    """A click type of formats, by name or alias."""

    @property
    def listed(self) -> list[str]:
        """The names shown in a short help, with the alias ``json`` if it is no format itself."""
        free = "json" not in self.choices
        return [f"{name} or json" if name == "jsonl" and free else name for name in self.choices]

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the format of a value; ``json`` is JSON lines unless it is a format itself."""
        from epic_cli.show.formats import ALIASES  # a plain replay needs none

        other = ALIASES.get(str(value), value)
        known = value not in self.choices and other in self.choices
        return str(super().convert(other if known else value, param, ctx))


class Parsed(_ClickType):
    """A click type whose ``parse`` makes a value of a text, called ``kind`` in help.

    ``parse`` raises ``ValueError``. ``complete`` proposes values for a beginning. ``reads`` and
    ``writes`` give the files in a value: no output of a run is one of its inputs, nor another
    output. ``runs`` gives the code and the programs that a text names, which a configuration may
    name only if it is trusted.
    """

    def __init__(
        self,
        name: str,
        parse: Callable[[str], object],
        kind: type | tuple[type, ...] = (),
        complete: Callable[[str], list[CompletionItem]] = lambda _: [],
        *,
        reads: Callable[[Any], Iterable[str]] = lambda _: (),
        writes: Callable[[Any], Iterable[str]] = lambda _: (),
        runs: Callable[[str], Iterable[str]] = lambda _: (),
    ) -> None:
        self.name = name
        self.kind = kind
        self.reads = reads
        self.runs = runs
        self._parse = parse
        self._complete = complete
        self.writes = writes

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse a text, or the value that a configuration has in its place."""
        if not isinstance(value, self.kind):
            try:
                value = self._parse(str(value))
            except ValueError as error:
                self.fail(str(error), param, ctx)
        register(ctx, param, self.reads(value), self.writes(value))
        return value

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the completions of a begun value."""
        del ctx, param
        return self._complete(incomplete)


def register(
    ctx: click.Context | None,
    param: click.Parameter | None,
    reads: Iterable[str],
    writes: Iterable[str] = (),
) -> None:
    """Register the files in an option's value as inputs and outputs, if the value is for a run.

    Raise ``Overwrites``, and ``CannotAccess`` for an output that an untrusted file may not ask for.
    """
    run: Files | None = ctx.meta.get(RUN_FILES) if ctx is not None else None
    if run is None or param is None:
        return
    for path in reads:
        run.register_input(path)
    for path in writes:
        run.register_output(path, max(param.opts, key=len))
        with raise_cannot_access("write to", path):
            check_output(path)


def _parse_read(text: str) -> ReadSpec:
    context = click.get_current_context(silent=True)
    if text == "list" and context is not None and not context.resilient_parsing:
        formatter = context.make_formatter()
        formatter.write_dl(
            [
                (f"{parameter.name}={parameter.range}", parameter.help)
                for parameter in READ
                if parameter.help
            ]
        )
        click.echo(formatter.getvalue(), nl=False)
        context.exit()
    return read_spec(text)


def _propose_read(begun: str) -> list[CompletionItem]:
    before, key, name = begun.rpartition("profile=")
    if key and "," not in name:
        return list_completions(iterate_profile_names(), name, before + key)
    names = [*find("format", READ, "read").complete(), *iterate_profile_names()]
    return list_completions(description.complete(begun, READ, names), "")


#: How a recording is read, also by a profile's name; ``list`` shows what can be said.
READ_TYPE = Parsed("read", _parse_read, tuple, _propose_read)


def choose(text: str, known: Sequence[str], what: str) -> str:
    """Return a known name; raises ``ValueError`` with the nearest known name, or all of them."""
    if text not in known:
        near = find_nearest(text, list(known))
        hint = f"did you mean {near!r}?" if near else f"choose from {', '.join(known)}"
        raise ValueError(f"no {what}; {hint}")
    return text


class InputFile(click.Path):
    """A click type of files that are read; ``-`` is standard input."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Register the file as an input of the run."""
        path = str(super().convert(value, param, ctx))
        register(ctx, param, [path])
        return path


class OutputFile(click.Path):
    """A click type of files that are written; ``-`` is standard output."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Register the file as an output of the run."""
        path = str(super().convert(value, param, ctx))
        register(ctx, param, [], [path])
        return path


def complete_behind_commas(propose: Callable[[str], list[CompletionItem]], begun: str) -> Any:
    """Return the completions of the part after the last comma, with the text before it."""
    before, comma, last = begun.rpartition(",")
    found = propose(last)
    for item in found:
        item.value = f"{before}{comma}{item.value}"
    return found


def propose_variants(begun: str) -> list[CompletionItem]:
    """Return the names of strategies or, after a plus sign, the settings of a strategy."""
    variant, plus, assignment = begun.rpartition("+")
    if plus:
        return propose_assignments(variant.partition("+")[0], assignment, f"{variant}+")
    return propose_strategies(begun)


def list_code_files(*strategies: str) -> list[str]:
    """Return the files of strategies of the form ``./file.py:Class``, with settings or without."""
    paths = (strategy.partition("+")[0].rpartition(":")[0] for strategy in strategies)
    return [path for path in paths if path]


def propose_files(begun: str) -> list[CompletionItem]:
    """Return a completion that lets the shell complete names of files that begin with this text."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(begun, type="file")]


def propose_strategies(begun: str) -> list[CompletionItem]:
    """Return the names of strategies, each with its summary, or files: ``./file.py:Class``."""
    from epic_cli.engine.strategies import get_declaration, list_names, list_system_names

    if begun.startswith((".", "/", "~")):
        return propose_files(begun)
    declared = map(get_declaration, (*list_names(), *list_system_names()))
    return list_completions(((each.name, each.summary) for each in declared), begun)


def _parse_name(text: str) -> str:
    from epic_cli.engine.strategies import find_class

    find_class(text)
    return text


def _parse_strategy(text: str) -> StrategySpec:
    spec = parse_spec(text)
    return StrategySpec(spec.name, spec.settings)


def _parse_list(text: str) -> tuple[str, ...]:
    """Split a list of strategies; the names are looked up later, with their settings."""
    found = tuple(name.strip() for name in text.split(",") if name.strip())
    if not found:
        raise ValueError("no name is given")
    return found


#: The name of a strategy.
STRATEGY_NAME = Parsed(
    "name", _parse_name, (), propose_strategies, reads=list_code_files, runs=list_code_files
)

#: A strategy with settings, ``NAME+key=value+key=value``, as a ``StrategySpec``.
STRATEGY = Parsed(
    "name+key=value", _parse_strategy, StrategySpec, propose_variants,
    reads=lambda spec: list_code_files(spec.name), runs=list_code_files,
)  # fmt: skip

#: Strategies (or variants, ``NAME+key=value``) with commas between them.
STRATEGIES = Parsed(
    "name,...", _parse_list, tuple, partial(complete_behind_commas, propose_variants),
    reads=lambda names: list_code_files(*names),
    runs=lambda text: list_code_files(*text.split(",")),
)  # fmt: skip


def propose_assignments(strategy: str, begun: str, before: str) -> list[CompletionItem]:
    """Return the completions of ``key=value`` for a strategy: settings, then a setting's words.

    ``before`` is put in front of each.
    """
    from epic_cli.engine.failures import StrategyFailed
    from epic_cli.engine.strategies import UnknownStrategy, get_declaration

    try:
        settings = get_declaration(strategy).settings
    except (UnknownStrategy, StrategyFailed):
        return []
    key, equals, _ = begun.partition("=")
    if not equals:
        words = ((f"{setting.name}=", f"{setting.help} ({setting.range})") for setting in settings)
        return list_completions(words, begun, before)
    choices = (choice for setting in settings if setting.name == key for choice in setting.choices)
    return list_completions(((f"{key}={choice}", None) for choice in choices), begun, before)


Function = Callable[..., Any]
Decorator = Callable[[Function], Function]


class OptionGroup:
    """A decorator that adds ``options`` to a command, called with ``name=make(**their_values)``.

    The help lists the options where the group stands, in this order. ``make``, usually a dataclass,
    takes each value under the name of its option; the dataclass's fields may declare the options
    (``declare_value``, ``declare_flag``, ``declare_shared``). A group may contain other groups.
    """

    def __init__(self, name: str, make: Callable[..., object], *options: Decorator) -> None:
        self.name = name
        self._make = make
        fields = dataclasses.fields(make) if isinstance(make, type) and not options else ()
        self._options = options or tuple(field.metadata[_OPTION](field.name) for field in fields)

    def __call__(self, command: Function) -> Function:
        """Return the command with the options of this group."""
        keys: list[str] = []

        @wraps(command)
        def gather(*args: Any, **values: Any) -> Any:
            own = {key: values.pop(key) for key in keys if key}
            return command(*args, **{self.name: self._make(**own)}, **values)

        decorated: Function = gather
        others = len(getattr(decorated, "__click_params__", ()))
        for option in reversed(self._options):
            decorated = option(decorated)
            keys.append(_find_option_key(option, decorated))
        for parameter in getattr(decorated, "__click_params__", ())[others:]:
            parameter.group = getattr(parameter, "group", self.name)
        return decorated

    @property
    def parameters(self) -> list[click.Parameter]:
        """The parameters of a command with this group."""

        def command() -> None:
            """Do nothing: only the parameters of this command are used."""

        return list(self(command).__click_params__)  # type: ignore[attr-defined]


#: The key under which a field has what makes its option from its name.
_OPTION = "option"


def declare_value(help_text: str, *flags: str, **attributes: Any) -> Any:
    """Declare a field with an option of its name, or of these ``flags``.

    ``attributes`` are click's.
    """

    def make(name: str) -> Decorator:
        names = flags or (f"--{name.replace('_', '-')}",)
        return click.option(*names, name, help=help_text, **attributes)

    return dataclasses.field(metadata={_OPTION: make})


def declare_flag(help_text: str, *flags: str) -> Any:
    """Declare a field with an option that has no value."""
    return declare_value(help_text, *flags, is_flag=True)


def declare_shared(option: Decorator | type) -> Any:
    """Declare a field with an option, argument or group that is defined elsewhere.

    A class whose fields are options is a group of the field's name.
    """

    def make(name: str) -> Decorator:
        return OptionGroup(name, option) if isinstance(option, type) else option

    return dataclasses.field(metadata={_OPTION: make})


def add_options(command: Function) -> Function:
    """Add the options declared by the defaults of a command's parameters, in their order."""
    for parameter in reversed([*signature(command).parameters.values()]):
        if isinstance(parameter.default, dataclasses.Field):
            command = parameter.default.metadata[_OPTION](parameter.name)(command)
    return command


def list_given_options() -> set[str]:
    """Return the names of the running command's options that stand on the command line.

    Options from variables and the configuration are left out: they apply to other runs, too, and
    need not fit this one.
    """
    context = click.get_current_context()
    return {
        name
        for name in (param.name for param in context.command.params)
        if name and context.get_parameter_source(name) == ParameterSource.COMMANDLINE
    }


def is_default(name: str) -> bool:
    """Return True if nothing gives the running command's option a value."""
    source = click.get_current_context().get_parameter_source(name)
    return source == ParameterSource.DEFAULT


def refuse(names: Iterable[str], why: str) -> None:
    """Raise ``WrongUsage`` for the first of these options that the command line has."""
    context = click.get_current_context()
    flags = {param.name: param.opts[-1] for param in context.command.params}
    for name in names:
        if context.get_parameter_source(name) == ParameterSource.COMMANDLINE:
            raise WrongUsage(f"{flags[name]} {why}", flags[name].lstrip("-"))


def _find_option_key(option: Decorator, command: Function) -> str:
    """Return the parameter name that takes the command's newest option; empty if none does."""
    if isinstance(option, OptionGroup):
        return option.name
    parameters: list[click.Parameter] = command.__click_params__  # type: ignore[attr-defined]
    return parameters[-1].name or "" if parameters[-1].expose_value else ""


#: Words for a number in an option's usage, by its unit.
_METAVARS = {"s": "seconds", "Hz": "hertz", "bit/s": "bits", "": "share", "length units": "units"}


class ParameterType(Parsed):
    """The click type of a parameter."""

    def __init__(self, parameter: Parameter) -> None:
        def propose(begun: str) -> list[CompletionItem]:
            return list_completions(parameter.complete(), begun)

        super().__init__(_get_type_name(parameter), parameter.read, parameter.kind, propose)
        self.parameter = parameter

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Convert a text; for a switch also true and false of the configuration."""
        is_state = isinstance(value, bool) and isinstance(self.parameter, Switch)
        return super().convert(self.parameter.write(value) if is_state else value, param, ctx)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        """Return the words of a choice, as click shows them."""
        del ctx
        if isinstance(self.parameter, Choice):
            words = "|".join(self.parameter.choices)
            return f"{{{words}}}" if param.param_type_name == "argument" else f"[{words}]"
        return None


def make_seconds_type(low: float, high: float) -> ParameterType:
    """Return the type of a time from ``low`` to ``high`` (s); the option has its own help text."""
    return ParameterType(Number("time", None, "", "s", low, high))


#: ``start:end`` in seconds.
SPAN = Parsed("start:end", parse_span, tuple)


def _get_type_name(parameter: Parameter) -> str:
    if isinstance(parameter, Custom):
        return parameter.form
    if isinstance(parameter, Number):
        if parameter.whole:
            return "integer"
        return _METAVARS.get(parameter.unit, "number")
    return "word"


class ParameterOption(click.Option):
    """A click option whose help shows the range of its parameter."""

    def __init__(self, flags: list[str], parameter: Parameter, **more: Any) -> None:
        super().__init__(flags, **more)
        self.parameter = parameter

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Return click's extra help, with a number's range."""
        extra = super().get_help_extra(ctx)
        if "default" in extra and isinstance(self.default, self.parameter.kind):
            extra["default"] = self.parameter.show(self.default)
        if isinstance(self.parameter, Number) and "-inf" not in self.parameter.range:
            extra["range"] = self.parameter.range
        return extra


def make_option(parameter: Parameter, *flags: str, **changes: Any) -> Decorator:
    """Make the option of a parameter.

    ``flags`` and ``changes`` (``help``, ``default``, ``metavar``, ``multiple``) are passed to
    ``click.option`` and override the parameter. A default is written as on the command line, or is
    a value of the parameter's type; the help shows it.
    """
    more: dict[str, Any] = {"help": parameter.help, "show_default": True, **changes}
    if isinstance(parameter, Switch) and not more.get("multiple"):
        if not flags:
            name = parameter.name.replace("_", "-")
            flags = (f"--{name}/--no-{name}",) if parameter.default else (f"--{name}",)
        more.setdefault("default", parameter.default)
        more["show_default"] = bool(more["default"]) and "/" in flags[0]
        return _make_decorator(parameter, flags, is_flag=True, **more)
    if "default" not in more and parameter.default is not None and not more.get("multiple"):
        is_value = isinstance(parameter.default, parameter.kind)  # which need not be read
        more["default"] = parameter.default if is_value else parameter.show(parameter.default)
    more.setdefault("type", ParameterType(parameter))
    return _make_decorator(parameter, flags, **more)


def _make_decorator(parameter: Parameter, flags: tuple[str, ...], **more: Any) -> Decorator:
    names = flags or (f"--{parameter.name.replace('_', '-')}",)
    return click.option(*names, cls=ParameterOption, parameter=parameter, **more)


def make_options(
    table: Table, leave_out: tuple[str, ...] = (), **changes: dict[str, Any]
) -> tuple[Decorator, ...]:
    """Make the options of a table, in its order; ``changes`` are by the name of the parameter."""
    return tuple(
        make_option(row, **changes.get(row.name, {})) for row in table if row.name not in leave_out
    )


#: The key under which a context knows that all is asked for.
_ALL = "epic_cli.help_all"

#: Titles of option groups that are not named after their topic.
_TITLES = {
    "given": "How the recording is read",
    "chosen": "Strategy",
    "timing": "Rows",
    "trace": "Recorded network",
    "jobs": "Many recordings",
    "saving": "Profiles",
    "video": "Moving pictures",
    "watched": "Figures",
    "weighing": "Score",
    "scoring": "Score",
    "reached": "Options",
    "recorded": "Options",
    **dict.fromkeys(("", "options", "own", "spec", "doing", "outputs", "written"), "Options"),
}


#: The number of examples in the short help, which fits a terminal of 24 lines.
_FEW = 3

#: The heading of examples with files that a wheel brings along.
_WITH_SAMPLES = "Examples, with the files of 'epic samples --all'"


def write_examples(formatter: click.HelpFormatter, examples: Sequence[str]) -> None:
    """Write a section of commands to type, one a line, however wide the terminal is."""
    has_samples = any("sample_inputs/" in line for line in examples)
    with formatter.section(_WITH_SAMPLES if has_samples else "Examples"):
        for line in examples:
            formatter.write(f"  {line}\n")


class Command(click.Command):
    """A command whose help begins with the keys to press and with examples.

    ``--help`` shows the ``first`` options (flags without dashes), each in one line; none: all.
    ``--help-all`` shows all options in groups, then the ``reference``. ``keys`` are what to press
    while the command runs, each with its meaning.
    """

    def __init__(
        self,
        *args: Any,
        first: str = "",
        reference: str = "",
        keys: Sequence[tuple[str, str]] = (),
        **more: Any,
    ) -> None:
        super().__init__(*args, **more)
        self.reference = reference
        self.keys = keys
        self.first = [f"--{flag}" if len(flag) > 1 else f"-{flag}" for flag in first.split()]

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters, with ``--help-all`` where ``--help`` leaves some out."""
        params = super().get_params(ctx)
        if self.first:
            show_all = click.Option(
                ["--help-all"], is_flag=True, expose_value=False, is_eager=True,
                callback=_show_all_options, help="Show all options, in groups.",
            )  # fmt: skip
            params.insert(len(self.params), show_all)
        return params

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the usage, the description, keys, examples, options and the reference."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        if self.keys:
            with formatter.section("Keys"):
                formatter.write_dl(self.keys)
        self.format_epilog(ctx, formatter)
        self.format_options(ctx, formatter)
        if self.reference and self._is_help_all(ctx):
            formatter.write_paragraph()
            formatter.write_text(self.reference)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the description, or its first paragraph in the short help."""
        whole, parts = self.help, (self.help or "").split("\n\n")
        self.help = whole if self._is_help_all(ctx) else parts[0]
        super().format_help_text(ctx, formatter)
        self.help = whole

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the main options in the short help, or all options in their groups."""
        found = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        if not self._is_help_all(ctx):
            self._format_main_options(found, ctx, formatter)
            return
        groups: dict[str, list[tuple[str, str]]] = {}
        for option in found:
            group = getattr(option, "group", "")
            if (record := option.get_help_record(ctx)) is not None:
                groups.setdefault(_TITLES.get(group, group.capitalize()), []).append(record)
        for title, records in groups.items():
            with formatter.section(title):
                formatter.write_dl(records)

    def _format_main_options(
        self, found: Sequence[click.Option], ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the main options, each with the first sentence of its help."""
        by_flag = {flag: option for option in found for flag in option.opts}
        chosen = [by_flag[flag] for flag in (*self.first, "--help-all", "--help")]
        flags = [_shorten_flags(option, ctx) for option in chosen]
        room = formatter.width - max(map(len, flags)) - 4
        with formatter.section("Options"):
            formatter.write_dl(
                [
                    (flag, _shorten_help(option, room))
                    for flag, option in zip(flags, chosen, strict=True)
                ],
                col_max=40,
            )

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, or a few in the short help."""
        _, _, text = (self.epilog or "").partition("Examples:\n")
        examples = [line.strip() for line in text.splitlines()]
        if examples:
            write_examples(formatter, examples if self._is_help_all(ctx) else examples[:_FEW])

    def _is_help_all(self, ctx: click.Context) -> bool:
        return not self.first or bool(ctx.meta.get(_ALL))


def _shorten_flags(option: click.Option, ctx: click.Context) -> str:
    """Return an option's flags with one word for its value: ``-f, --format FORMAT``."""
    flags, _ = option.get_help_record(ctx) or ("", "")
    if "|" in flags:  # a choice, whose words stand in the sentence
        return f"{flags.rpartition(' ')[0]} {option.opts[-1].lstrip('-').upper()}"
    return re.sub(r"( [A-Z]+)[ ,+=\[].*", r"\1", flags)


def _shorten_help(option: click.Option, room: int) -> str:
    """Return the first sentence of an option's help, with its choices if they fit the ``room``."""
    sentence = re.split(r"(?<=\.)\s", option.help or "")[0]
    choices = ", ".join(getattr(option.type, "listed", getattr(option.type, "choices", ())))
    listed = f"{sentence[:-1]}: {choices}."
    return listed if choices and len(listed) <= room else sentence


def _show_all_options(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        ctx.meta[_ALL] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


def make_command(
    epilog: str, first: str = "", reference: str = "", keys: Sequence[tuple[str, str]] = ()
) -> Callable[[Any], Command]:
    """Make a command of a function with options (``add_options``).

    The other arguments are a ``Command``'s. The help begins with the sentence of the table of
    commands, and goes on with what follows the first one of the function's docstring.
    """

    def decorate(function: Function) -> Command:
        _, _, more = cleandoc(function.__doc__ or "").partition(".")
        text = f"{COMMANDS[function.__name__].summary}{more}"
        make = click.command(
            cls=Command, help=text, epilog=epilog, first=first, reference=reference, keys=keys
        )
        return make(add_options(function))

    return decorate
