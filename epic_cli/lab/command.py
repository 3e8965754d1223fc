"""``epic lab``: experiments in the browser, or a running game."""

from __future__ import annotations

import asyncio
import contextlib
import math
import sys
from collections.abc import Sequence
from dataclasses import replace

import click

from epic_cli.engine.parameters import SettingError
from epic_cli.engine.replay.playback import SCREEN_TIMING, Ratio
from epic_cli.engine.replay.strategy_spec import StrategySpec, write_spec
from epic_cli.engine.strategies import list_remote_names
from epic_cli.lab.spec import DEFAULT_STRATEGIES, LabInputs
from epic_cli.live.browser.session import MOST_STRATEGIES
from epic_cli.live.command_line import (
    ENDPOINT,
    Page,
    RecordingFile,
    check_lab_library,
    get_exit_status,
    make_endless_option,
    open_listener,
    open_recordings,
    record_option,
)
from epic_cli.live.listener import Endpoint, ListenSpec
from epic_cli.recordings.addresses import Address
from epic_cli.recordings.datagrams.ingest import IngestSpec
from epic_cli.recordings.files import raise_cannot_access
from epic_cli.shell.console import use_color
from epic_cli.shell.declared import (
    InputFile,
    OptionGroup,
    declare_shared,
    declare_value,
    list_given_options,
    make_command,
    refuse,
)
from epic_cli.shell.errors import WrongUsage
from epic_cli.shell.options.common import quiet_option, tick_option
from epic_cli.shell.options.datagrams import ingest_options
from epic_cli.shell.options.runs import (
    Participants,
    TimedFile,
    make_drawn_option,
    make_strategies_option,
)
from epic_cli.work.event_loop import run_until_stopped

EXAMPLES = """\b
Examples:
  epic lab
  epic lab sample_inputs/jitter.txt
  epic lab sample_inputs/jitter.txt -s buffer+delay=1.8i,snapshot
  epic lab -s epic,sample_inputs/half_way.py:HalfWay
  epic lab --no-open --port 8080
  epic lab --experiment 'movement=circle&link=latency=80ms&s=epic&s=mirror'
  epic lab --listen --record lab.csv
  epic lab --listen 9871 --layout 'time:u32*0.001 x:f32 y:f32 z:f32 id:u16'
"""

#: The default strategies for a running game; the first one draws all of it.
_USUAL = ("snapshot", "epic", "dead-reckoning")

_USUAL_ADDRESS = str(Address())

#: Options that experiments have, too.
_ALWAYS = {"recording", "experiment", "endpoint", "port", "opens", "duration", "help"}
_ALWAYS |= {"strategies", "drawn"}

_team_options = OptionGroup(
    "participants",
    Participants,
    make_strategies_option(
        "Strategies to begin with, separated by commas. Up to six; NAME+key=value has"
        " settings, ./file.py:NAME is your own. Of a running game, the first one draws all."
        f"  [default: {','.join(DEFAULT_STRATEGIES)}; of a running game {','.join(_USUAL)}]"
    ),
)

_drawn_option = make_drawn_option(
    "What the game really drew of RECORDING. It is shown beside the strategies."
)


@make_command(EXAMPLES, "experiment listen s layout record port open duration")
def lab(
    recording: str | None = declare_shared(
        click.argument("recording", required=False, type=InputFile())
    ),
    experiment: str = declare_value(
        "Begin with the experiment of this lab address. Or of what follows its question mark.",
        default="",
        metavar="ADDRESS",
    ),
    port: int = declare_value(
        "Port of the page, on 127.0.0.1 only.  [default: a free port]",
        type=click.IntRange(0, 65535),
        default=0,
    ),
    opens: bool = declare_value("Open the page in the browser.", "--open/--no-open", default=True),
    duration: float = declare_shared(make_endless_option("How long to serve the page.")),
    endpoint: Endpoint | None = declare_value(
        "Show a running game that sends to this address. It is that of epic listen."
        f"  [without an address: {_USUAL_ADDRESS}]",
        "--listen",
        type=ENDPOINT,
        is_flag=False,
        flag_value=_USUAL_ADDRESS,
    ),
    participants: Participants = declare_shared(_team_options),
    drawn: TimedFile = declare_shared(_drawn_option),
    tick: Ratio = declare_shared(tick_option),
    ingest: IngestSpec = declare_shared(ingest_options),
    record: tuple[RecordingFile, ...] = declare_shared(record_option),
    quiet: bool = declare_shared(quiet_option),
) -> int:
    """Run ``epic lab``.

    The page is served to this machine alone, works offline and ends with Ctrl-C. It opens on a bad
    network, or on RECORDING as it arrived, beside what the game drew of it (--drawn). The movement
    of RECORDING, computed paths and movements drawn with the mouse can be sent over other networks.
    The address of the page holds the experiment, and "copy the command" gives the line of "epic
    compare" that gives the same metrics. A strategy of your own takes part if -s names it here: no
    address and no page can name code.

    With --listen the page shows a running game: all entities on a map, and each strategy's drawing,
    error and lag of the clicked one. "epic proxy --show lab" does the same between a game and its
    server, with the network as sliders.

    Over SSH: forward the port (ssh -L 8080:127.0.0.1:8080) and open the printed address.

    Exit status: 0 the time is over, 2 wrong usage, 3 a file or port is not accessible, 4 a custom
    strategy failed, 130 interrupted.
    """
    page = Page(port, opens)
    if endpoint is None:
        names = [param.name for param in click.get_current_context().command.params if param.name]
        refuse([name for name in names if name not in _ALWAYS], "needs --listen")
        if drawn.file and not recording:
            raise WrongUsage("--drawn needs the RECORDING that the game drew", "drawn")
        given = LabInputs(recording or "", drawn=drawn.write())
        return _serve_experiments(given, experiment, participants, page, duration)
    refuse(("recording", "experiment", "drawn"), "does not go with --listen")
    team = _choose_strategies(participants, _USUAL)
    with check_lab_library():
        from epic_cli.live.browser.game import Live
    from epic_cli.live.browser.game import GameView
    from epic_cli.live.command_line import ListenProgress
    from epic_cli.live.model import RunningGame

    tick = tick if "tick" in list_given_options() else SCREEN_TIMING.tick
    with contextlib.ExitStack() as stack:
        spec = ListenSpec(endpoint, ingest, None, tick, duration)
        listener = stack.enter_context(open_listener(spec))
        receiving, where = listener.receiving, str(listener.address)
        recordings = open_recordings(record, listener, stack)
        progress = ListenProgress(quiet, use_color("auto", sys.stderr), receiving, None, recordings)
        listener.consumers.append(progress)
        first = replace(spec, strategy=team[0])
        of = where, receiving, recordings, listener.find_settled, False
        view = GameView(*RunningGame.make_with_later_drawing(listener, first, *of))
        progress.say(f"epic: listening on {where}\n")
        try:
            with raise_cannot_access("listen on", where, "record in"):
                stopped = run_until_stopped(Live({"": view}, team).show(page, listener.run()))
        finally:
            progress.end(listener)
    return get_exit_status(stopped)


def _choose_strategies(participants: Participants, usual: Sequence[str]) -> list[StrategySpec]:
    if not participants.strategies:
        participants = replace(participants, strategies=(tuple(usual),))
    team = participants.list_specs()
    if len(team) > MOST_STRATEGIES:
        raise WrongUsage(f"-s: at most {MOST_STRATEGIES} strategies can take part")
    return team


def _serve_experiments(
    given: LabInputs, experiment: str, participants: Participants, page: Page, duration: float
) -> int:
    with check_lab_library():
        from epic_cli.lab.serving import make_server
        from epic_cli.live.browser.server import serve
    from epic_cli.lab.run import ExperimentRunner, InvalidExperiment
    from epic_cli.lab.spec import OPENING, RECORDING, LabSpec, read_query

    recording = given.recording
    if recording == "-":
        raise WrongUsage("the lab reads the recording many times: give a file, not standard input")
    team = _choose_strategies(participants, DEFAULT_STRATEGIES)
    own = tuple(sorted({each.name for each in team} - {*list_remote_names()}))
    given = given._replace(own=own)
    first = experiment or (f"movement={RECORDING}" if recording else "")
    try:
        spec = read_query(first, given.own)
        if participants != Participants(()):
            spec = replace(spec, strategies=tuple(write_spec(*strategy[:2]) for strategy in team))
        query = spec.query() if spec != OPENING else ""
        if recording:
            with raise_cannot_access("read", recording), open(recording, "rb"):  # noqa: PTH123
                pass
            with contextlib.closing(ExperimentRunner(given)) as runner:
                runner.draw_picture(runner.read(LabSpec(moves=RECORDING)))
    except (SettingError, InvalidExperiment) as error:
        raise WrongUsage(str(error)) from error

    async def make_job() -> None:
        served = serve(make_server(given, page.port, query), page.announce_page)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(served, None if duration == math.inf else duration)

    with raise_cannot_access("listen on", f"127.0.0.1:{page.port}"):
        stopped = run_until_stopped(make_job())
    return get_exit_status(stopped)
