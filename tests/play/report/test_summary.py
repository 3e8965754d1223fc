"""Each line of a summary, measured again in rows, events, and traffic."""

import math
from itertools import pairwise
from statistics import mean
from typing import Any

import pytest
from support.play_rows import Played
from support.recordings import EXHAUSTIVE

from epic_cli.network.encoding import HEADERS
from epic_cli.play import Match
from epic_cli.play.report import PlayRowWriter, summarize_player
from epic_cli.play.statistics import SummaryLine
from epic_cli.play.wire import decode_state
from epic_cli.play.world import convert_to_seconds, measure_distance

#: A hunter among others; the seed and the length of the match are those of a test.
MATCHES = {
    "bumps": "set bot.B=chaser jitter=0.02 loss=0.05",
    "no rewind": "set rewind=off players=3",
    "a dumb terminal": "set local=dumb-terminal send=10hz",
    "a held player": "set local=lerped smoothing=0.15 loss=0.1",
    "a clock": "set clock.A=0,1.02 clock_sync=lightyear bot.B=patrol",
    "waits": "set clock.A=-0.3,1.02 clock_sync=ggpo",
}


class Measured(Played):
    """A match of bots, with facts that its own lists do not record."""

    def __init__(self, text: str, seconds: float, seed: int) -> None:
        self.moves: list[tuple[int, int, tuple[float, float]]] = []
        self.clocks: list[tuple[float, float]] = []  # wrong by how much, and its speed
        self.received: list[bytes] = []
        super().__init__(f"set duration={seconds}\n{text}\n", seed=seed)
        figures = self.statistics.list_lines(self.match.participants[0])
        self.figures = {figure.name: figure.value for figure in figures}

    def prepare(self, match: Match) -> None:
        client, judged = match.participants[0].client, match.server.on_move
        receive, on_frame = client.receive, match.on_frame

        def on_move(player: int, stamp_us: int, body: Any) -> None:
            self.moves.append((player, stamp_us, body.position))
            judged(player, stamp_us, body)

        def arrive(data: bytes, machine_us: int) -> None:
            self.received.append(data)
            receive(data, machine_us)

        def frame(participant: Any) -> None:
            on_frame(participant)
            if participant.client is client:
                server_us = client.timekeeper.estimate_server_us(client.now_us)
                if server_us is not None:
                    wrong = abs(convert_to_seconds(server_us) - match.now)
                    self.clocks.append((wrong, client.timekeeper.clock.speed))

        match.server.on_move, match.on_frame = on_move, frame
        client.receive = arrive  # type: ignore[method-assign]


@pytest.fixture(params=MATCHES)
def what(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize(("seconds", "seed"), [(8, 0), *([(16, 5)] if EXHAUSTIVE else [])])
def test_each_line_is_what_the_match_was(what: str, seconds: float, seed: int) -> None:
    match = Measured(MATCHES[what], seconds, seed)
    found = dict(match.figures)

    def take(name: str) -> float:
        return found.pop(name)

    for other in match.match.names[1:]:
        errors = match.errors(other)
        assert take(f"{other} drawn error") == pytest.approx(mean(errors))
        assert take(f"{other} largest error") == pytest.approx(max(errors))
        assert take(f"{other} drawn lag") == pytest.approx(match.late(other, 1), abs=0.02)

    corrections = [float(e.details["size"]) for e in match.happened("correction", "A")]
    assert take("corrections") == len(corrections)
    assert take("mean correction") == pytest.approx(
        mean(corrections) if corrections else math.nan, nan_ok=True
    )
    assert take("largest correction") == max(corrections, default=0)
    mispredictions = take("mispredictions")
    if what == "a held player":  # what the lerp makes of each move, the server never has
        assert mispredictions > 0.5 * found["states"]
    else:
        assert (mispredictions > 0) == bool(corrections) == (what == "bumps")

    drawn = {round(frame.time * 1e6): (frame.x, frame.y) for frame in match.frames("A")}
    if what not in ("a clock", "waits"):  # whose stamps are not the match's
        made = [(drawn[at], place) for player, at, place in match.moves if not player]
        assert take("own error") == pytest.approx(mean(measure_distance(*each) for each in made))
    delays = [0.0]
    if what == "a dumb terminal":
        heard = [(state.arrival or 0.0, state.time) for state in match.own if state.arrival]
        delays = [
            frame.time - max(stamp for arrival, stamp in heard if arrival <= frame.time)
            for frame in match.frames("A", heard[0][0])
        ]
    assert take("input delay") == pytest.approx(mean(delays))

    newest = [decode_state(data).snapshot for data in match.received]
    assert take("states") == sum(
        number > max(newest[:index], default=-1) for index, number in enumerate(newest)
    )
    assert take("rtt estimate") == pytest.approx(0.1, abs=0.02)
    assert take("rtt of the link") == pytest.approx(0.1, abs=0.005)
    rate, loss = match.match.settings.send_rate, match.match.settings.link.down.loss
    sent = int(seconds * rate) + 1
    assert take("packets down lost") == pytest.approx(loss, abs=0.05)
    assert take("packets up lost") == pytest.approx(loss, abs=0.05)
    assert take("updates") == pytest.approx(rate, abs=0.2)
    assert take("undecodable") == 0
    messages = [8 * len(decode_state(data).message) for data in match.received]
    states = take("update bits") * (len(match.match.names) - 1)
    assert 0 < mean(messages) - states < 90  # a message's own header
    size = mean(len(data) + HEADERS for data in match.received)
    assert take("bytes") == pytest.approx(size * sent / seconds, rel=0.02)

    if "clock_sync" in MATCHES[what]:
        wrong, speeds = zip(*match.clocks, strict=True)
        assert take("clock error") == pytest.approx(mean(wrong), abs=1e-6)
        assert take("largest clock error") == pytest.approx(max(wrong), abs=1e-6)
        assert (take("slowest clock"), take("fastest clock")) == (min(speeds), max(speeds))
        assert take("clock set") == len(match.happened("clock set", "A"))
        assert take("frames waited") == sum(
            int(event.details["frames"]) for event in match.happened("clock held", "A")
        )
        first = match.happened("clock set", "A")[0].time
        assert take("clock known after") == pytest.approx(first, abs=0.04)

    effects = match.happened("predicted effect", "A")
    assert take("effects predicted") == len(effects)
    assert take("effects refused") == len(match.happened("effect refused", "A"))
    on_screen = {e.details["stamp"]: bool(e.details["hit"]) for e in effects if "hit" in e.details}
    shots = [event.details for event in match.happened("shot", "A")]
    hits = [shot for shot in shots if shot["hit"]]
    assert take("shots judged") == len(shots) > 0
    assert take("hits") == len(hits)
    assert take("hit rate") == pytest.approx(len(hits) / len(shots))
    assert take("hits on own screen") == sum(on_screen[shot["stamp"]] for shot in shots)
    assert take("of these hits") == sum(on_screen[hit["stamp"]] for hit in hits)
    for name, world in (("with rewind", "rewound"), ("without", "present")):
        assert take(f"would hit {name}") == mean(bool(shot[world]) for shot in shots)
    assert take("beyond the history") == sum("beyond" in str(s["view"]) for s in shots)
    moved = [float(shot["moved"]) for shot in shots if shot["rewound"]]
    assert take("target moved since") == pytest.approx(mean(moved))
    assert take("target moved at most") == max(moved)
    behind = take("hit behind cover")
    assert behind == sum(bool(hit["behind_cover"]) for hit in hits)
    assert what != "no rewind" or behind == 0
    assert set(found) <= {"own error"}


def test_nobody_is_hit_behind_cover_without_rewind() -> None:
    up_and_behind = "set latency=0.1 rewind={}\n0 A up right\n0 B up\n0.3 A stop\n1 A shoot aim=B\n"
    for rewind in ("on", "off"):
        match = Measured(up_and_behind.format(rewind), 2, 0)
        [shot] = match.happened("shot", "A")
        assert (shot.details["rewound"], shot.details["present"]) == (True, False)
        assert shot.details["hit"] is shot.details["behind_cover"] is (rewind == "on")
        assert match.figures["hit behind cover"] == (rewind == "on")


def test_losses_are_those_of_the_whole_match() -> None:
    match = Measured("set loss=0\n1 set loss=1\n2 set loss=0", 4, 0)
    assert match.figures["packets up lost"] == pytest.approx(0.25, abs=0.02)
    assert match.figures["packets down lost"] == pytest.approx(0.25, abs=0.02)


def test_the_round_trip_of_the_link_is_that_of_its_present_settings() -> None:
    match = Measured("set latency=0.05\n2 set latency=0.15", 5, 0)
    assert match.figures["rtt of the link"] == pytest.approx(0.3, abs=0.005)
    silent = Measured("set latency=0.05\n2 set up.loss=1", 5, 0)
    assert math.isnan(silent.figures["rtt of the link"])


def test_people_and_tables_read_the_same_values() -> None:
    figures = [SummaryLine("A", "a time", 0.0123, "s"), SummaryLine("A", "a share", 0.25, "share"),
               SummaryLine("A", "a count", 3, ""),
               SummaryLine("A", "a way", math.nan, "units")]  # fmt: skip
    table = PlayRowWriter("table", SummaryLine._fields)
    lines = [table.write_line(figure).decode().split()[1:] for figure in figures]
    assert [line.split() for line in summarize_player(figures, 0).splitlines()[1:]] == lines
    assert all(a != b for a, b in pairwise(lines))
