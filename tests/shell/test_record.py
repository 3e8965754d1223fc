"""``epic play --record``: the script replays the match, whatever the options, or is refused."""

from __future__ import annotations

import tempfile
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.places import ROOT
from support.running import epic

from epic_cli.main import main
from epic_cli.network.link import GilbertElliott, LinkConditions
from epic_cli.network.link_spec import LINK_WORDS, TwoWays
from epic_cli.play import MatchSpec
from epic_cli.play.bots import BOTS
from epic_cli.play.client import LOCAL_MODES, SMOOTHING_CURVES
from epic_cli.play.clock import CLOCK_SYNCS
from epic_cli.play.command import OutputOptions, play
from epic_cli.play.match import Match, Recorder, Unrecordable
from epic_cli.play.server import COMPENSATIONS
from epic_cli.play.spec import MATCH_KEYS, PlayerConfig, describe

TRACE = ROOT / "tests" / "network" / "trace.csv"


milliseconds = st.integers(0, 150).map(lambda time: f"{time}ms")
percent = st.integers(0, 20).map(lambda share: f"{share}%")
players = st.sampled_from("AB")

SCRIPT = """\
set remote_strategy=lerp remote.lerp_time=0.07
0.1 B up
0.3 set latency=90ms jitter=5ms gemodel=10%,50%
0.5 B right shoot aim=A
0.6 set local=predicted send=11hz,bits=9,threshold=0.1 rewind=off smoothing=0.1
0.7 B stop
0.8 set remote_strategy=dead-reckoning remote.correction=snap in_order=on
"""

#: Entries of --match and --link, each with values; those of one tuple exclude each other.
MATCH: dict[tuple[str, ...], st.SearchStrategy[str]] = {
    ("local",): st.sampled_from(LOCAL_MODES),
    ("smoothing",): milliseconds,
    ("smoothing_curve",): st.sampled_from(SMOOTHING_CURVES),
    ("smooth_above",): st.floats(0, 1).map(repr),
    ("snap_above",): st.floats(0, 9).map(repr),
    ("clock_sync",): st.sampled_from(sorted(CLOCK_SYNCS)),
    ("lag_compensation",): st.sampled_from(sorted(COMPENSATIONS)),
    ("rewind",): st.just("off"),
    ("speed",): st.sampled_from(["0", "0.1", "3"]),
    ("history",): milliseconds,
    ("step",): st.sampled_from(["1/60", "20ms", "50ms"]),
    ("players",): st.integers(2, 4).map(str),
    ("bot.A",): st.sampled_from(sorted(BOTS)),
    ("clock.B",): st.tuples(st.floats(-2, 2), st.floats(0.3, 4)).map(
        lambda clock: '"{!r},{!r}"'.format(*clock)
    ),
}
LINK: dict[tuple[str, ...], st.SearchStrategy[str]] = {
    ("distribution",): st.sampled_from(["gamma", "pareto"]),
    ("correlation",): percent,
    ("loss", "gemodel", "loss_correlation"): st.sampled_from(
        ["7%", ["10%", 'gemodel="10%,30%,90%,1%"'][1], "15%,loss_correlation=40%"]
    ),
    ("duplicate",): percent,
    ("corrupt",): percent,
    ("reorder", "reorder_gap", "reorder_correlation"): st.sampled_from(
        ["9%", "30%,reorder_gap=3,reorder_correlation=20%"]
    ),
    ("rate", "queue", "packet_size"): st.sampled_from(
        ["100kbit", "30kbit,packet_size=300,queue=3packets", "1mbit,queue=20ms"]
    ),
    ("preset",): st.sampled_from(["lte", "web-2g"]),
    ("up.correlation",): percent.map(lambda share: f"{share},up.rate=64kbit"),
    ("down.loss",): percent.map(lambda share: f"{share},down.latency=10ms"),
    ("at",): st.sampled_from(
        [
            '"0.3 loss=30% preset=wifi",at="0.3 queue=40ms"',
            '"0.4 gemodel=10% rate=90kbit",at="600ms rate=unlimited"',
        ]
    ),
    ("in_order",): st.just("on"),
}


def described(table: dict[tuple[str, ...], st.SearchStrategy[str]]) -> st.SearchStrategy[str]:
    """Return a description of some of the entries."""

    def entry(names: tuple[str, ...]) -> st.SearchStrategy[str]:
        return table[names].map(
            lambda value: value if value.startswith("gemodel") else f"{names[0]}={value}"
        )

    chosen = st.lists(st.sampled_from(sorted(table)), unique=True, max_size=4)
    return chosen.flatmap(lambda names: st.tuples(*map(entry, names))).map(",".join)


#: Options by their names, each with values; those of one tuple exclude each other.
VALUES: dict[tuple[str, ...], st.SearchStrategy[list[str]]] = {
    ("match",): described(MATCH).map(lambda text: ["--match", text]),
    ("link",): described(LINK).map(lambda text: ["--link", text]),
    ("strategy", "script"): st.sampled_from(  # the script has another strategy
        [
            ["given.script"],
            ["-s", "lerp+lerp_time=0.08"],
            ["-s", "snapshot+interpolation_time=70ms"],
            ["-s", "dead-reckoning"],
        ]
    ),
    ("send",): st.sampled_from(
        ["11hz", "30hz,threshold=0.3,against=judged", "60hz,bits=9,pack=delta", "pack=chain"]
    ).map(lambda text: ["--send", text]),
    ("duration",): st.floats(0.5, 1.5).map(lambda v: ["--duration", repr(v)]),
    ("seed",): st.integers(0, 2**64 - 1).map(lambda v: ["--seed", str(v)]),
    ("latency",): milliseconds.map(lambda v: ["--latency", v]),
    ("jitter",): milliseconds.map(lambda v: ["--jitter", v]),
    ("loss",): percent.map(lambda v: ["--loss", v]),
}
#: What decides what is told of a match, and not how it goes.
TOLD = {field.name for field in fields(OutputOptions)} | {"quiet"}
#: What no script can hold.
REFUSED = {"trust"}


def test_every_option_is_tried() -> None:
    tried = {name for names in VALUES for name in names} | TOLD | REFUSED
    assert {param.name for param in play.params} == tried
    keys = {parameter.name for parameter in MATCH_KEYS} | {"bot.A", "clock.B"}
    assert {name for names in MATCH for name in names} == keys
    words = {parameter.name for parameter in LINK_WORDS} - {"latency", "jitter"} | {"at"}
    assert {name for names in LINK for name in names if "." not in name} == words


chosen = st.lists(st.sampled_from(sorted(VALUES)), unique=True, max_size=8).flatmap(
    lambda names: st.tuples(*(VALUES[name] for name in names))
)


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(chosen)
def test_a_recorded_match_is_replayed_to_the_same_report(options: tuple[list[str], ...]) -> None:
    with tempfile.TemporaryDirectory() as name:
        here = Path(name)
        (here / "given.script").write_text(SCRIPT)
        words = [word for option in options for word in option]
        words = [word.replace("given.script", str(here / "given.script")) for word in words]
        if "--duration" not in words:
            words += ["--duration", "1"]
        report = ["play", "-q", "-f", "csv"]
        first, again = here / "first", here / "again"
        kept, kept_again = here / "kept.script", here / "again.script"
        assert main([*report, *words, "-o", str(first), "--record", str(kept)]) == 0
        replayed = [str(kept), "-o", str(again), "--record", str(kept_again)]
        assert main([*report, *replayed]) == 0
        assert again.read_bytes() == first.read_bytes()
        one, two = (script.read_text().split("\n")[1:] for script in (kept, kept_again))
        assert one == two


def test_a_recorded_network_cannot_be_held(tmp_path: Path) -> None:
    kept = tmp_path / "kept.script"
    done = epic("play", "-q", "--duration", "1", "--link", f"trace={TRACE}", "--record", kept)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"epic: --record: a script cannot hold the trace of a match\n"
    assert not kept.exists()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"remote_settings": (("start", "a b"),)}, "a script cannot hold this match"),
        ({"remote_settings": (("start", "a#b"),)}, "a script cannot hold"),
        ({"remote_strategy": "module.of.mine:Class#1"}, "a script cannot hold this match"),
        ({"trace": lambda _: None}, "cannot hold the trace of a match"),
        ({"players": (PlayerConfig("Z", (1.0, 1.0)),)}, "cannot hold"),
    ],
    ids=["blank", "number sign", "name", "trace", "player"],
)
def test_what_a_script_cannot_hold_is_refused(wrong: dict[str, object], said: str) -> None:
    match = Match(MatchSpec())
    match.settings = replace(match.settings, **wrong)  # type: ignore[arg-type]
    with pytest.raises(Unrecordable, match=said):
        Recorder(match)


def test_each_field_of_the_settings_is_described() -> None:
    """A forgotten setting would be refused above; this test shows that none is forgotten."""
    described = {change.name for change in describe(MatchSpec())}
    described |= {"link", "rules", "remote_settings", "trace"}
    assert {field.name for field in fields(MatchSpec)} <= described
    assert {field.name for field in fields(LinkConditions)} - {
        "later"
    } <= described  # by the script
    bursts = LinkConditions(loss=GilbertElliott(0.1, 0.5))
    assert "gemodel=0.1,0.5,1.0,0.0" in map(
        str, describe(MatchSpec(link=TwoWays.from_conditions(bursts)))
    )


def test_who_is_given_goes_before_who_a_script_begins_with(tmp_path: Path) -> None:
    script = tmp_path / "one.script"
    script.write_text("set players=3 step=20ms duration=0.5\n0 C left\n")
    rows = epic("play", "-q", script, "-f", "csv").stdout.decode().splitlines()
    assert {row.split(",")[2] for row in rows[1:]} == {"A", "B", "C"}
    assert float(rows[-1].split(",")[0]) == pytest.approx(0.5, abs=0.021)
    fewer = epic("play", "-q", script, "--match", "players=2")
    assert fewer.returncode == 1
    assert b"no player 'C'" in fewer.stderr
    longer = epic("play", "-q", script, "--duration", "0.2", "--player", "A")
    assert float(longer.stdout.split(b"\n")[-2].split()[0]) <= 0.2


def test_wrong_usage_is_told_before_files_are_read() -> None:
    done = epic("play", "--view", "X", "--link", "trace=not-there")
    assert done.stderr == b"epic: --view 'X': choose from A, B, server\n"
