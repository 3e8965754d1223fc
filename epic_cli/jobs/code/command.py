"""The options of ``epic code``."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.code.spec import CodeSpec
from epic_cli.shell.console import open_sink
from epic_cli.shell.declared import STRATEGY, OutputFile, declare_shared, make_command
from epic_cli.shell.errors import raise_wrong_usage

EXAMPLES = """\b
Examples:
  epic code buffer+delay=1.8i+curve=hermite --lang csharp -o Smoothing.cs
  epic code chase+how=spring --lang python --main -o port.py
"""

#: In the order in which people ask for them; a test holds them against the writers.
LANGUAGES = ("csharp", "cpp", "typescript", "rust", "gdscript", "lua", "python")


@make_command(EXAMPLES)
def code(
    strategy: StrategySpec = declare_shared(
        click.argument("strategy", type=STRATEGY, metavar="NAME[+key=value]...")
    ),
    lang: str = declare_shared(
        click.option("--lang", type=click.Choice(LANGUAGES), required=True, help="The language.")
    ),
    output: str | None = declare_shared(
        click.option("-o", "--output", type=OutputFile(),
                     help="Write to this file.  [default: stdout]")
    ),
    rotations: bool = declare_shared(
        click.option("--rotations", is_flag=True, help="Draw rotations, too.")
    ),
    vectors: str = declare_shared(
        click.option("--vectors", type=click.Choice(["own", "engine"]), default="own",
                     help="own: the file defines its vectors. engine: it also takes and gives"
                     " those of Unity (csharp), Unreal (cpp) or Roblox (lua).", show_default=True)
    ),
    main: bool = declare_shared(
        click.option("--main", is_flag=True,
                     help="Add a main program that reads packets and prints rows, for"
                     " 'epic check --against'.")
    ),
) -> None:  # fmt: skip
    """Run ``epic code``."""
    from epic_cli.jobs.code.run import NoCode, NoEngine, NoRotations, run

    file = Path(output).name if output and output != "-" else ""
    words = ["epic", "code", strategy.label, "--lang", lang]
    words += ["--rotations"] if rotations else []
    words += ["--vectors", vectors] if vectors == "engine" else []
    words += ["--main"] if main else []
    spec = CodeSpec(strategy, lang, main, rotations, vectors == "engine", file)
    with (
        raise_wrong_usage(kind=(NoCode, NoRotations), about=("strategy",)),
        raise_wrong_usage(kind=NoEngine, about=("vectors",)),
    ):
        text = run(spec, shlex.join(words))
    with open_sink(output) as sink:
        sink.write(text.encode())
