"""A running game in the lab: frames for pages, access, and malformed messages."""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.datagrams import receiver, wait_until
from support.live_pages import Game, Guest, game, proxied
from support.recordings import EXHAUSTIVE
from support.running import epic


@pytest.fixture(scope="module")
def playing() -> Iterator[Game]:
    with game(address="0,max_entities=20000") as made:
        made.send({"entity": "first", "x": 1, "y": 2, "z": 3})
        yield made


def moving(playing: Game, guest: Guest, name: str) -> int:
    """Return the number of an entity that keeps moving while frames are taken."""
    while name not in guest.names.values():
        playing.circle(name)
        guest.take()
    return next(number for number, one in guest.names.items() if one == name)


def test_a_frame_has_only_what_has_changed() -> None:
    with game() as playing, playing.guest() as guest:
        playing.send({"entity": "first", "x": 1, "y": 2, "z": 3})
        number = moving(playing, guest, "mover")
        still = next(one for one, name in guest.names.items() if name == "first")

        def alone(_: object) -> bool:  # the other has nothing more to show
            playing.circle("mover")
            return {still, number} <= set(guest.states) and guest.changed == [number]

        for _ in range(20):
            guest.until(alone)
        assert guest.states[still]["position"].tolist() == [1, 2, 3]
        for _ in range(20):
            playing.circle("mover", steps=3)
            guest.take()
            assert set(guest.changed) <= {number}
        x, y, z = guest.states[number]["position"]
        assert math.hypot(x, y) == pytest.approx(5, abs=0.5)
        assert z == 0


def test_who_is_followed_is_drawn_by_each_strategy_and_measured(playing: Game) -> None:
    with playing.guest() as guest:
        number = moving(playing, guest, "followed")
        guest.say(strategies=["snapshot", "mirror+send_interval=0.05"])
        guest.say(follow=number)
        errors: dict[str, list[float]] = {"snapshot": [], "mirror+send_interval=0.05": []}
        rows = dict.fromkeys(errors, 0)
        delays = 0
        for _ in range(20_000):
            playing.circle("followed", "other")
            message = guest.take()
            for member in message.get("members", ()):
                errors[member["label"]] += guest.array(member["error"], "<f8").tolist()
                times = guest.array(member["time"], "<f8")
                rows[member["label"]] += len(times)
                assert len(guest.array(member["position"], "<f8")) == 3 * len(times)
                assert set(guest.array(member["status"], "u1").tolist()) <= {1, 2, 3}
            if "received" in message:
                delays += len(guest.array(message["received"]["delay"], "<f8"))
            lags = message.get("members") and all(entry["lags"] for entry in message["members"])
            if lags and all(errors.values()) and min(rows.values()) > 100 and delays > 50:
                break
        else:
            raise AssertionError((rows, delays, errors))
        assert all(max(error) > 0 and np.median(error) < 10 for error in errors.values()), errors
        assert guest.words["members"][0]["figures"][0].startswith("error ")


def test_another_leader_draws_everyone(playing: Game) -> None:
    with playing.guest() as guest:
        moving(playing, guest, "led")
        guest.say(strategies=["dumb-terminal"])
        guest.until(lambda message: message.get("team") == ["dumb-terminal"])
        guest.say(strategies=[])
        guest.until(lambda message: message.get("team", [""])[0] == "snapshot")


def test_joining_teleports_and_delays_are_told(playing: Game) -> None:
    with playing.guest() as guest:
        moving(playing, guest, "jumper")
        playing.send({"entity": "jumper", "x": 500, "y": 0, "z": 0, "teleport": 1})
        guest.until(lambda _: "jumper teleported" in guest.events)
        assert any("joined" in event for event in guest.events)
        assert any("packets/s" in word for word in guest.words["traffic"])
        guest.until(lambda _: any(word is not None for word in guest.words["delays"]))


NONSENSE: tuple[dict[str, Any], ...] = (
    {"follow": "x"}, {"follow": -1}, {"follow": 1e300}, {"follow": [0]}, {"follow": True},
    {"follow": 10**30}, {"strategies": 7}, {"strategies": ["nothing"]},
    {"strategies": ["/tmp/evil.py:Strategy"]}, {"strategies": ["epic"] * 99},
    {"strategies": [["epic"]]}, {"strategies": ["mirror+send_interval=x"]},
    {"strategies": ["a,b"]}, {"way": "up"}, {"way": ["up"]}, {"way": {}}, {"link": "quit"},
    {"link": "set loss=1"}, {"got": 10**30}, {"got": -5}, {"got": None}, {"got": "1"},
)  # fmt: skip


def test_nonsense_changes_nothing_and_of_many_messages_the_last_counts(playing: Game) -> None:
    with playing.guest() as guest:
        number = moving(playing, guest, "witness")
        for message in NONSENSE:
            guest.say(**message)
            playing.circle("witness")
            assert guest.until(lambda message: "team" in message)["team"][0] == "snapshot", message
            assert guest.words["followed"] is None, message
        for _ in range(2_000):
            guest.say(follow=number)
        guest.say(follow=None)
        playing.circle("witness")
        guest.until(lambda message: message.get("followed", 0) is None)


def test_thousands_of_entities(playing: Game) -> None:
    names = [f"e{n}" for n in range(10_000 if EXHAUSTIVE else 2_000)]
    with playing.guest() as guest:
        for first in range(0, len(names), 250):
            while missing := {*names[first : first + 250]} - {*guest.names.values()}:
                playing.send(*({"entity": each, "x": 1, "y": 2} for each in sorted(missing)))
                guest.take()  # a busy machine drops datagrams
        guest.until(lambda _: {guest.names[each] for each in guest.states} >= {*names})


def lines(file: Path) -> int:
    return file.read_bytes().count(b"\n")


def test_who_never_reads_costs_the_recording_nothing(tmp_path: Path) -> None:
    file, names = tmp_path / "game.csv", [f"e{n}" for n in range(100)]
    with game("--record", str(file)) as playing, playing.guest() as guest:
        moving(playing, guest, names[0])
        guest.say(follow=0)
        begun = time.monotonic()
        with playing.guest() as sleeper:  # which takes no frame
            sleeper.say(follow=0)
            stopped = threading.Event()

            def read() -> None:
                while not stopped.is_set():
                    guest.take()

            reader = threading.Thread(target=read)
            reader.start()
            for sent in range(len(names), 12_000, len(names)):
                playing.circle(*names, pause=0.01)
                wait_until(lambda: lines(file) > sent - 1000)  # noqa: B023, or they are dropped
            frames = guest.frames / (time.monotonic() - begun)
            stopped.set()
            playing.circle(names[0])
            reader.join()
            assert 0 < sleeper.waiting(10) < 10 < guest.frames
        status, _, said = playing.lab.end()
    assert status == 130
    counts = re.search(rb"([\d,]+) packets in [\d,]+ datagrams", said)
    assert counts
    received = int(counts[1].replace(b",", b""))
    assert received >= sent
    assert lines(file) - 1 == received
    assert b"dropped" not in said.lower()
    assert 0 < frames < 40


def test_a_proxys_link_is_set_as_by_its_control() -> None:
    with receiver() as server, proxied("--control", "0", "0", server.port) as playing:
        with playing.guest() as guest:
            guest.say(link="set down.latency=80ms loss=5%")
            state = guest.until(lambda _: guest.words.get("link", {}).get("down", {}).get("loss"))
            state = guest.until(lambda _: guest.words["link"]["down"]["latency"] == "0.08")["link"]
            assert (state["up"]["latency"], state["up"]["loss"]) == ("0.0", state["down"]["loss"])
            guest.say(link="blackout up")
            guest.until(lambda _: guest.words["link"]["up"]["dark"] == "on")
            guest.say(link="reset")
            guest.until(lambda _: guest.words["link"]["up"]["dark"] == "")
            for wrong in ("quit", "stats", "set loss=700%", "set <script>=1", ""):
                guest.say(link=wrong)
                guest.until(lambda _: guest.words["said"].startswith("error"))
            guest.say(link="set latency=60ms")
            guest.say(way="up")
            guest.until(lambda _: guest.words["way"] == "up")
            number = moving(playing, guest, "player")
            guest.say(follow=number)
            sent = late = 0
            for _ in range(20_000):
                playing.circle("player")
                message = guest.take()
                if "sent" in message:
                    sent += len(guest.array(message["sent"]["time"], "<f8"))
                    delays = guest.array(message["received"]["delay"], "<f8")
                    late += int((delays > 0.05).sum())
                if sent > 30 and late > 30:
                    break
            assert sent > 30
            assert late > 30
        assert server.one()
        status, _, _ = playing.lab.end()
        assert status == 130


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--record", "x.csv"], "needs --listen"),
        (["--layout", "time:f32 x:f32 y:f32 z:f32"], "needs --listen"),
        (["--listen", "9870", "--experiment", "movement=circle"], "does not go with --listen"),
        (["--listen", "9870", "--record", "rotate=1min"], "names no file"),
        (["--listen", "9870", "-s", "nothing"], "nothing"),
        (["--listen", "9870", "-s", ",".join(f"epic+calc_ahead=0.{n}" for n in range(1, 9))],
         "at most 6"),
    ],
)  # fmt: skip
def test_options_that_do_not_fit(args: list[str], words: str) -> None:
    done = epic("lab", "--no-open", *args)
    assert done.returncode == 2
    assert words in done.stderr.decode()
