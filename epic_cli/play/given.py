"""What ``epic play`` plays: options, script and recorded network as one ``MatchSpec``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from operator import itemgetter
from typing import Any

from epic_cli.engine.places import named_in_data
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.network import Channel
from epic_cli.network.link import LINK
from epic_cli.network.link_spec import LINK_WORDS, with_words
from epic_cli.play.match.changes import Change, changed
from epic_cli.play.match.script import Script, parse_script
from epic_cli.play.match.spec import MatchSpec, PlayerConfig, default_players
from epic_cli.play.world.rules import Rules
from epic_cli.play.world.times import to_seconds, to_us
from epic_cli.shell.errors import WrongUsage, wrong_usage
from epic_cli.shell.options.link import TwoWayLink
from epic_cli.shell.options.trace import TraceOptions, read_both_ways
from epic_cli.shell.sources import read_file


def make_spec(
    techniques: Mapping[str, Any], players: tuple[PlayerConfig, ...], link: TwoWayLink, seed: int
) -> MatchSpec:
    """The match without the script and the files."""
    fields = dict(techniques)
    chosen: StrategySpec = fields.pop("chosen")
    return MatchSpec(
        rules=Rules(step=fields.pop("step")),
        players=players,
        link=replace(link.both, later=()),
        up=link.up,
        down=link.down,
        remote_strategy=chosen.name,
        remote_settings=tuple(chosen.settings.items()),
        seed=seed,
        **fields,
    )


def make_players(
    players: int,
    bots: tuple[tuple[str, str], ...],
    clocks: tuple[tuple[str, tuple[float, float]], ...],
) -> tuple[PlayerConfig, ...]:
    """The players; the last ``--bot`` and ``--clock`` for each of them count."""
    configs = {player.name: player for player in default_players(players)}
    given: dict[str, tuple[tuple[str, Any], ...]] = {"bot": bots, "clock": clocks}
    for option, pairs in given.items():
        for name, value in pairs:
            if name not in configs:
                raise WrongUsage(f"--{option} {name}=...: only {', '.join(configs)} play", option)
            new = {"bot": value} if option == "bot" else {"offset": value[0], "rate": value[1]}
            configs[name] = replace(configs[name], **new)
    return tuple(configs.values())


def read_script(path: str | None, trust: bool, spec: MatchSpec, given: set[str]) -> Script:
    """The script, or an empty one where there is no path; ``given`` goes before what it says."""
    if not path:
        return Script()
    names = [player.name for player in spec.players]
    with named_in_data(trust):
        return read_file(path, lambda stream: parse_script(stream, names, "players" not in given))


#: The options that set several things, or one under another name; a point ends a family of names.
_SETS = {
    "strategy": {"remote_strategy", "remote."},
    "clocks": {"clock."},
    "loss": {"loss", "gemodel"},
    "gemodel": {"loss", "gemodel"},
    "up": {"up."},
    "down": {"down."},
    "preset": {*(one.name for one in LINK_WORDS), "up.", "down."},
}


def begin_with(spec: MatchSpec, script: Script, given: set[str]) -> MatchSpec:
    """Applies how the script begins, apart from what was given on the command line."""
    kept = set().union(*(_SETS.get(name, {name}) for name in given))
    before = spec
    for change in script.beginning:
        if not {change.name, change.family} & kept:
            with wrong_usage("the script: "):
                spec = changed(spec, change)
    # another strategy has none of its own settings yet, and a preset may have set the link
    again: dict[str, Any] = {
        field: getattr(before, field)
        for option, field in (("strategy", "remote_settings"), ("up", "up"), ("down", "down"))
        if option in given
    }
    own = {one.field: getattr(before.link, one.field) for one in LINK if one.name in given}
    spec = replace(spec, link=replace(spec.link, **own), **again)
    StrategySpec(spec.remote_strategy, spec.strategy_settings()).make()  # wrong ones show now
    return spec


def with_changes(script: Script, link: TwoWayLink, spec: MatchSpec) -> Script:
    """The script, in which the link changes as ``--at`` says, too.

    Raises ``WrongUsage`` where the match does not allow one of its changes.
    """
    changes = [
        *script.changes,
        *((to_seconds(to_us(time)), Change(name, value)) for time, name, value in link.changes),
    ]
    changes.sort(key=itemgetter(0))
    for time, change in changes:
        with wrong_usage(f"at {time:g} s: "):
            spec = changed(spec, change)
    return script._replace(changes=changes)


def over_network(spec: MatchSpec, options: TraceOptions, link: TwoWayLink) -> MatchSpec:
    """The match over the recorded network, if one is given; its file is read here."""
    if not options.trace:
        return spec
    return replace(spec, trace=_make_channels(options, link, spec.seed))


def _make_channels(options: TraceOptions, link: TwoWayLink, seed: int) -> Callable[[str], Channel]:
    """Makes the links of a recorded network, whose purposes begin with their direction."""
    traces = read_both_ways(options)
    added = {"up": with_words(link.both, link.up), "down": with_words(link.both, link.down)}

    def make(purpose: str) -> Channel:
        direction = purpose.partition("/")[0]
        return options.link(traces[direction], added[direction], seed, purpose)

    return make
