"""The match that the options of ``epic play`` ask for: its settings, its script, its network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import itemgetter

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.network import Channel
from epic_cli.network.conditions import LINK
from epic_cli.network.words import LINK_WORDS, with_words
from epic_cli.play.client.correction import SmoothingCurve
from epic_cli.play.client.prediction import LocalMode
from epic_cli.play.match.changes import STEPS, Change, changed
from epic_cli.play.match.script import Script, parse_script
from epic_cli.play.match.settings import MatchSettings, PlayerConfig, default_players
from epic_cli.play.world.rules import Rules
from epic_cli.play.world.times import to_seconds, to_us
from epic_cli.ui.io.errors import WrongUsage
from epic_cli.ui.io.input import read_file
from epic_cli.ui.options.link_values import TwoWayLink
from epic_cli.ui.options.trace import TraceOptions, read_both_ways


@dataclass(frozen=True)
class TechniqueOptions:
    """Which techniques hide the latency, how often the server sends, and the simulation's step."""

    local: LocalMode
    smoothing: float
    smoothing_curve: SmoothingCurve
    smooth_above: float
    snap_above: float
    chosen: StrategySpec
    clock_sync: str
    rewind: bool
    lag_compensation: str
    history: float
    send_rate: float
    step: tuple[int, int]  # of a second: numerator, denominator

    def rules(self) -> Rules:
        """The rules with this step, to the nearest microsecond."""
        numerator, denominator = self.step
        step = round(1_000_000 * numerator / denominator) / 1_000_000
        if not STEPS[0] <= step <= STEPS[1]:
            raise WrongUsage("--step must be 5 ms to 100 ms")
        return Rules(step=step)


@dataclass(frozen=True)
class PlayerOptions:
    """How many play; ``bots`` and ``clocks`` are what follows ``--bot`` and ``--clock``."""

    players: int
    bots: tuple[tuple[str, str], ...]
    clocks: tuple[tuple[str, tuple[float, float]], ...]

    def configs(self) -> tuple[PlayerConfig, ...]:
        """The players; the last option for each of them counts."""
        configs = {player.name: player for player in default_players(self.players)}
        for option, given in (("bot", self.bots), ("clock", self.clocks)):
            for name, _ in given:
                if name not in configs:
                    raise WrongUsage(f"--{option} {name}=...: only {', '.join(configs)} play")
        for name, bot in self.bots:
            configs[name] = replace(configs[name], bot=bot)
        for name, (offset, rate) in self.clocks:
            configs[name] = replace(configs[name], offset=offset, rate=rate)
        return tuple(configs.values())


def make_settings(
    techniques: TechniqueOptions,
    players: PlayerOptions,
    link: TwoWayLink,
    seed: int,
) -> MatchSettings:
    """The settings without the script and the files; raises ``WrongUsage``."""
    return MatchSettings(
        rules=techniques.rules(),
        players=players.configs(),
        link=replace(link.both, later=()),
        up=link.up,
        down=link.down,
        send_rate=techniques.send_rate,
        local=techniques.local,
        smoothing=techniques.smoothing,
        smoothing_curve=techniques.smoothing_curve,
        smooth_above=techniques.smooth_above,
        snap_above=techniques.snap_above,
        remote_strategy=techniques.chosen.name,
        remote_settings=tuple(techniques.chosen.settings.items()),
        clock_sync=techniques.clock_sync,
        rewind=techniques.rewind,
        lag_compensation=techniques.lag_compensation,
        history=techniques.history,
        seed=seed,
    )


def read_script(path: str | None, settings: MatchSettings, given: set[str]) -> Script:
    """The script, or an empty one where there is no path; ``given`` goes before what it says."""
    if not path:
        return Script()
    names = [player.name for player in settings.players]
    return read_file(path, lambda stream: parse_script(stream, names, "players" not in given))


#: The options that set several things, or one under another name; a point ends a family of names.
_SETS = {
    "strategy": {"remote_strategy", "remote."},
    "assignments": {"remote."},
    "clocks": {"clock."},
    "loss": {"loss", "gemodel"},
    "gemodel": {"loss", "gemodel"},
    "up": {"up."},
    "down": {"down."},
    "preset": {*(one.name for one in LINK_WORDS), "up.", "down."},
}


def begin_with(settings: MatchSettings, script: Script, given: set[str]) -> MatchSettings:
    """Applies how the script begins, apart from what was given on the command line."""
    asked = set().union(*(_SETS.get(name, {name}) for name in given))
    assigned, link, up, down = settings.remote_settings, settings.link, settings.up, settings.down
    for change in script.beginning:
        if not {change.name, change.family} & asked:
            try:
                settings = changed(settings, change)
            except ValueError as error:
                raise WrongUsage(f"the script: {error}") from error
    if "assignments" in given:  # another strategy has none of its own settings yet
        settings = replace(settings, remote_settings=assigned)
    own = {one.field: getattr(link, one.field) for one in LINK if one.name in given}
    settings = replace(settings, link=replace(settings.link, **own))  # a preset may have set it
    if "up" in given:
        settings = replace(settings, up=up)
    if "down" in given:
        settings = replace(settings, down=down)
    _check_strategy(settings)
    return settings


def _check_strategy(settings: MatchSettings) -> None:
    """Wrong settings show before any row: raises ``SettingError``."""
    from epic_cli.engine.strategies import create

    create(settings.remote_strategy, settings.strategy_settings())


def with_changes(script: Script, link: TwoWayLink, settings: MatchSettings) -> Script:
    """The script, in which the link changes as it was told to, too.

    Raises ``WrongUsage`` where the match does not allow one of its changes.
    """
    changes = [
        *script.changes,
        *((to_seconds(to_us(time)), Change(name, value)) for time, name, value in link.changes),
    ]
    changes.sort(key=itemgetter(0))
    for time, change in changes:
        try:
            settings = changed(settings, change)
        except ValueError as error:
            raise WrongUsage(f"at {time:g} s: {error}") from error
    return script._replace(changes=changes)


def over_network(settings: MatchSettings, options: TraceOptions, link: TwoWayLink) -> MatchSettings:
    """The match over the recorded network, if one is given; its file is read here."""
    if not options.trace:
        return settings
    return replace(settings, trace=_make_channels(options, link, settings.seed))


def _make_channels(options: TraceOptions, link: TwoWayLink, seed: int) -> Callable[[str], Channel]:
    """Makes the links of a recorded network, whose purposes begin with their direction."""
    traces = read_both_ways(options)
    added = {"up": with_words(link.both, link.up), "down": with_words(link.both, link.down)}

    def make(purpose: str) -> Channel:
        direction = purpose.partition("/")[0]
        return options.link(traces[direction], added[direction], seed, purpose)

    return make
