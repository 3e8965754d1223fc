"""Every command explains itself, with examples that work."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import click
import pytest
from support.places import ROOT
from support.recordings import EXHAUSTIVE, few_of
from support.running import epic, shell

import epic_cli
from epic_cli.engine.parameters import Number
from epic_cli.shell.command_line import load
from epic_cli.shell.commands import COMMANDS, GROUPS
from epic_cli.shell.declared import _shorten_help

PAGES = [[], *([name] for name in COMMANDS)]
pages = pytest.mark.parametrize("page", PAGES, ids=["epic", *COMMANDS])


def examples(page: Sequence[str]) -> list[str]:
    """Return the examples of a page of help."""
    short = (["strategies"], ["samples"], ["code"], ["explain"])
    whole = "--help-all" if page and page not in short else "--help"
    text = re.split(r"(?:Examples.*|Start here):\n", read_help(*page, whole))[1]
    lines = text.partition("\n\n")[0].splitlines()
    return [line.strip().split("  ")[0] for line in lines]  # behind it: what the command does


@cache
def read_help(*words: str) -> str:
    """Return what a command says of itself."""
    return epic(*words).stdout.decode()


@pages
def test_both_names_of_help(page: list[str]) -> None:
    short = epic(*page, "-h")
    assert (short.returncode, short.stderr) == (0, b"")
    assert short.stdout.decode() == read_help(*page, "--help")


@pages
def test_help_fits_a_terminal(page: list[str]) -> None:
    lines = read_help(*page, "--help").splitlines()
    assert [line for line in lines if len(line) > 80] == []
    assert len(lines) <= (24 if page else 45)


@pages
def test_examples_are_of_this_command(page: list[str]) -> None:
    given = examples(page)
    assert len(given) >= 2
    name = "epic" if page == ["session"] else " ".join(["epic", *page])
    assert all(name in line for line in given)


def needs_terminal(line: str) -> bool:
    """Return whether an example opens a session or runs for ever."""
    return line in examples(["session"]) or line.startswith("tail -f")


@cache
def read_guides() -> str:
    """Return the guides, whose examples ``tests/test_readme.py`` runs."""
    return "".join(path.read_text() for path in ROOT.rglob("epic_cli/**/README.md"))


@pages
def test_examples_work(page: list[str], tmp_path: Path) -> None:
    assert epic("samples", "--all", cwd=tmp_path).returncode == 0
    for line in few_of(examples(page), 3):
        if not needs_terminal(line) and f"$ {line}\n" not in read_guides():
            finite = re.sub("epic (lab|listen|proxy)", r"epic \1 --duration 0", line)
            finite = finite.replace("--times endless", "--times 1")
            finite = finite.replace("epic send", "epic send --speed 20")
            finite = re.sub("--seeds [0-9]+", "--seeds 2", finite)
            finite = finite.replace("--duration 60", "--duration 5")
            # the guide has whole searches
            if re.search(" -s| --design", line) and "--bytes" not in line:
                finite = finite.replace("epic tune", "epic tune --trials 2")
            if "--builtin" in line and not EXHAUSTIVE:  # which the guide has, too
                continue
            done = shell(f"set -o pipefail; {finite}" if "|" in line else finite, cwd=tmp_path)
            assert done.returncode == 0, (line, done.stderr)


def test_help_after_other_options() -> None:
    assert epic("--strict", "-h").stdout == epic("replay", "-h").stdout
    done = epic("replay", "turn.txt", "-s", "epic+no=1", "-h")
    assert done.stdout == epic("replay", "-h").stdout


def test_group_lists_every_command_with_its_sentence() -> None:
    text = " ".join(epic("--help").stdout.decode().split())
    for name, entry in COMMANDS.items():
        assert f" {name} {entry.summary} " in text


def test_the_table_has_every_command_and_each_is_in_a_group() -> None:
    package = Path(*epic_cli.__path__)
    folders = {path.parent for path in package.glob("**/command.py")}
    commands = {".".join(folder.relative_to(package).parts) for folder in folders}
    assert commands == {entry.folder for entry in COMMANDS.values()}
    assert {entry.group for entry in COMMANDS.values()} == set(GROUPS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_a_sentence(name: str) -> None:
    for option in load(name).params:
        if isinstance(option, click.Option) and not option.hidden:
            assert option.help, option.name
            assert option.help.strip().endswith((".", "]")), option.name


#: Options that are declared together, the first of them and another: the long help has them in one
#: section, wherever it has both.
TOGETHER = {"--tick": "--pacing", "--quiet": "--all-errors", "--read": "--truth",
            "--workers": "--journal", "--link": "--jitter", "--weights": "--warm-up",
            "--svg": "--html"}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_all_options_are_in_one_of_two_helps(name: str) -> None:
    """The short one fits a screen, the long one has every option once, in groups."""
    command = load(name)
    context = click.Context(command, info_name=name)
    shown = {
        param.opts[-1]
        for param in command.get_params(context)
        if isinstance(param, click.Option) and not param.hidden
    }
    short = read_help(name, "--help")
    whole = read_help(name, "--help-all") if "--help-all" in shown else short

    def options(text: str) -> list[str]:
        return re.findall(r"(?m)^  (?:-\w, )?(--[\w-]+)", text)

    flags = {flag: param.opts[-1] for param in command.params for flag in param.opts}
    flags |= {"--help": "--help", "--help-all": "--help-all"}
    assert {flags[option] for option in options(whole)} == shown
    if short != whole:
        _, _, short_lines = short.partition("Options:\n")
        assert all(line.startswith("  -") for line in short_lines.splitlines())  # one line each
        assert set(options(short)) < set(options(whole))
        assert "--help-all" in options(short)
        sections = [{*options(part)} for part in re.split(r"(?m)^\w.*:$", whole)]
        assert len(sections) > 2
        for one, other in TOGETHER.items():
            assert any({one, other} <= each for each in sections) or not {one, other} <= shown
        assert len(max(whole.splitlines(), key=len)) <= 80


#: What stands for a value, by the unit of a number.
UNITS = {"s": "SECONDS", "Hz": "HERTZ", "bit/s": "BITS", "": "SHARE", "length units": "UNITS"}


@pytest.mark.parametrize("name", COMMANDS)
def test_each_number_says_its_kind_its_default_and_its_range(name: str) -> None:
    text = read_help(name, "--help-all") or read_help(name, "--help")
    for option in load(name).params:
        parameter = getattr(option, "parameter", None)
        if not isinstance(parameter, Number) or getattr(option, "hidden", False):
            continue
        entry = re.search(
            rf"(?ms)^  (?:-\w, )?{option.opts[-1]} ([A-Z]\S*)(.*?)(?=^  -|^\S|\Z)", text
        )
        assert entry, option.opts
        kind, words = entry[1], " ".join(entry[2].split())
        usual = "INTEGER" if parameter.whole else UNITS.get(parameter.unit, "NUMBER")
        assert kind == (option.metavar or usual), option.opts
        extra = re.search(r"\[([^\]]*)\]$", words)
        told = dict(one.split(": ") for one in extra[1].split("; ") if ": " in one) if extra else {}
        default = option.default if isinstance(option.default, int | float | str) else None
        if default is None:
            assert "default" not in told, option.opts
        else:
            read = parameter.read(told["default"])
            assert read == (parameter.read(default) if isinstance(default, str) else default)
        if "-inf" not in parameter.range:
            assert extra
            assert extra[1].endswith(" ".join(parameter.range.split())), option.opts


def test_choices_stand_in_the_short_help_where_they_just_fit() -> None:
    option = click.Option(["--way"], type=click.Choice(["near", "far"]), help="Go one way. Slowly.")
    listed = "Go one way: near, far."
    assert _shorten_help(option, len(listed)) == listed
    assert _shorten_help(option, len(listed) - 1) == "Go one way."


def test_version_names_the_engine() -> None:
    done = epic("--version")
    assert re.fullmatch(
        rb"epic \d+\.\d+\.\d+\S* \(Python 3\.\d+\.\d+; engine built with .*-ffp-contract=off.*\)\n",
        done.stdout,
    )
