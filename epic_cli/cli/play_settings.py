"""What the options of ``epic play`` ask for: a match's settings, its script, its network."""

from __future__ import annotations

import dataclasses
import io
import math
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, BinaryIO

from epic_cli.cli.options.play import LINK_OPTIONS
from epic_cli.network import RefusedLine, TraceLink, read_trace
from epic_cli.network.link import Channel
from epic_cli.play.bots import BOTS
from epic_cli.play.changes import changed
from epic_cli.play.script import Script, parse_script
from epic_cli.play.settings import LinkConditions, MatchSettings, Seat
from epic_cli.play.world import Rules
from epic_cli.terminal.color import use_color
from epic_cli.terminal.errors import CannotAccess, StoppedAtLine, WrongUsage

#: Where players begin: at opposite ends, then between them.
SPAWNS = (
    (5.0, 12.0), (19.0, 12.0), (5.0, 4.0), (19.0, 20.0),
    (5.0, 20.0), (19.0, 4.0), (9.0, 12.0), (15.0, 12.0),
)  # fmt: skip

#: Bytes; a recorded network is held in memory.
LONGEST_TRACE = 256 << 20


def make_settings(options: dict[str, Any]) -> MatchSettings:
    """The settings without the script; raises ``WrongUsage``."""
    numerator, denominator = options["step"]
    step = round(1_000_000 * numerator / denominator)
    if not 5_000 <= step <= 100_000:
        raise WrongUsage("--step is out of range: it is 5 ms to 100 ms")
    conditions = {name: options[name] for name in LINK_OPTIONS if name != "gemodel"}
    conditions["loss"] = options["gemodel"] or options["loss"]
    return MatchSettings(
        seats=_seats(options),
        rules=Rules(step=step),
        link=LinkConditions(**conditions, in_order=options["in_order"]),
        trace=_trace(options) if options["trace"] else None,
        send_rate=options["send_rate"],
        local=options["local"],
        smoothing=options["smoothing"],
        remote_strategy=options["strategy"],
        remote_settings=tuple(options["assignments"]),
        rewind=options["rewind"],
        history=options["history"],
        seed=options["seed"],
    )


def _seats(options: dict[str, Any]) -> tuple[Seat, ...]:
    names = "ABCDEFGH"[: options["players"]]
    bots = dict.fromkeys(names, "runner") | {"A": "hunter"}
    for text in options["bots"]:
        name, _, kind = text.partition("=")
        if name not in bots or kind not in BOTS:
            raise WrongUsage(f"--bot {text!r}: write {'|'.join(names)}={'|'.join(BOTS)}")
        bots[name] = kind
    clocks = dict.fromkeys(names, (0.0, 1.0))
    for text in options["clocks"]:
        name, _, numbers = text.partition("=")
        clocks[name] = _clock(text, numbers) if name in clocks else _clock(text, "")
    return tuple(
        Seat(name, SPAWNS[number], bots[name], *clocks[name]) for number, name in enumerate(names)
    )


def _clock(text: str, numbers: str) -> tuple[float, float]:
    try:
        ahead, rate = map(float, (numbers if "," in numbers else f"{numbers},1").split(","))
    except ValueError:
        ahead = rate = math.nan
    if not (abs(ahead) <= 1e6 and 0.01 <= rate <= 100):
        raise WrongUsage(
            f"--clock {text!r}: write NAME=AHEAD or NAME=AHEAD,RATE; seconds, and 0.01 to 100"
        )
    return ahead, rate


def begin_with(settings: MatchSettings, script: Script, given: set[str]) -> MatchSettings:
    """What the script says of the beginning, apart from what was given on the command line."""
    own = {"strategy": "remote", "assignments": "remote."}
    asked = tuple(own.get(name, name) for name in given)
    assigned = settings.remote_settings
    for change in script.beginning:
        if not change.name.startswith(asked):
            try:
                settings = changed(settings, change)
            except ValueError as error:
                raise WrongUsage(f"the script: {error}") from error
    script.beginning.clear()
    if "assignments" in given:  # another strategy has none of its own settings yet
        settings = dataclasses.replace(settings, remote_settings=assigned)
    _check_strategy(settings)
    return settings


def _check_strategy(settings: MatchSettings) -> None:
    """Wrong settings show before any row: raises ``SettingError``."""
    from epic_cli.engine.strategies import create

    create(settings.remote_strategy, settings.strategy_settings())


def script_of(path: str | None, names: list[str]) -> Script:
    """The script, or an empty one where there is no path."""
    if not path:
        return Script({}, [], [])
    script: Script = _read(path, lambda stream: parse_script(stream, names))
    return script


def _trace(options: dict[str, Any]) -> Callable[[str], Channel]:
    data = _read(options["trace"], _read_all)

    def read(direction: Any, stream: BinaryIO) -> Any:
        return read_trace(stream, flow=options["trace_flow"], direction=direction)

    up, down = (_read(options["trace"], partial(read, way), data) for way in ("up", "down"))
    rest = (options["trace_by"], options["trace_end"], options["in_order"])
    return lambda purpose: TraceLink(up if purpose.startswith("up") else down, *rest)


def _read_all(stream: BinaryIO) -> bytes:
    data = stream.read(LONGEST_TRACE + 1)
    if len(data) > LONGEST_TRACE:
        raise ValueError(f"it is longer than {LONGEST_TRACE >> 20} MiB")
    return data


def _read(path: str, read: Callable[[BinaryIO], Any], data: bytes | None = None) -> Any:
    """Reads a file; a line of it that is refused is told of, and ends the command."""
    name = "<stdin>" if path == "-" else path
    try:
        if data is not None:
            return read(io.BytesIO(data))
        if path == "-":
            if sys.stdin is None:
                raise CannotAccess("read", name, OSError("it is closed"))
            return read(sys.stdin.buffer)
        with open(path, "rb") as stream:  # noqa: PTH123
            return read(stream)
    except RefusedLine as refused:
        from epic_cli.terminal.report import report_problem

        report_problem(refused.problem, name, use_color("auto", sys.stderr))
        raise StoppedAtLine from refused
    except ValueError as error:
        raise WrongUsage(f"{name}: {error}") from error
    except OSError as error:
        raise CannotAccess("read", name, error) from error
