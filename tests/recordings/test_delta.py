"""Snapshots that contain only the changes."""

from __future__ import annotations

import io
import json
import random

import pytest
from support.running import epic

from epic_cli import Packet, read_packets

FIELDS = ("x", "y", "z", "vx", "vy", "vz")


def states(seed: int) -> list[dict[str, object]]:
    """Yield whole states of some entities, with few changes at a time."""
    chance = random.Random(seed)
    now = {name: {field: chance.randrange(99) for field in FIELDS} for name in "abc"}
    found: list[dict[str, object]] = []
    for tick in range(60):
        for name, state in now.items():
            if tick and chance.random() < 0.4:
                continue
            state.update({f: chance.randrange(99) for f in FIELDS if chance.random() < 0.3})
            found.append({"time": tick / 20, "entity": name, **state})
    return found


def changed(whole: list[dict[str, object]]) -> list[dict[str, object]]:
    """Return the state without the members that equal the entity's previous state."""
    last: dict[object, dict[str, object]] = {}
    found = []
    for state in whole:
        before = last.get(state["entity"], {})
        kept = ("time", "entity")
        found.append({f: v for f, v in state.items() if f in kept or before.get(f) != v})
        last[state["entity"]] = state
    return found


def packets(text: str, read: str = "") -> list[Packet]:
    return list(read_packets(io.BytesIO(text.encode()), read=read))


def lines(rows: list[dict[str, object]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize("seed", range(2))
def test_what_is_left_out_is_as_before(seed: int) -> None:
    whole = states(seed)
    expected = packets(lines(whole))
    assert packets(lines(changed(whole)), "partial=on") == expected
    header = ("time", "entity", *FIELDS)
    rows = [",".join(str(row.get(name, "")) for name in header) for row in changed(whole)]
    assert packets("\n".join([",".join(header), *rows, ""]), "partial=on") == expected


@pytest.mark.parametrize("seed", range(2))
def test_entities_of_one_snapshot(seed: int) -> None:
    def snapshots(rows: list[dict[str, object]]) -> str:
        found: dict[object, dict[str, object]] = {}
        for row in rows:
            own = {f: v for f, v in row.items() if f not in ("time", "entity")}
            found.setdefault(row["time"], {})[str(row["entity"])] = own
        return lines([{"time": time, "players": entries} for time, entries in found.items()])

    whole = states(seed)
    assert packets(snapshots(changed(whole)), "partial=on") == packets(snapshots(whole))


@pytest.mark.parametrize("seed", range(1))
def test_a_recording_that_looks_like_it_is_found(seed: int) -> None:
    whole = states(seed)
    text = lines(changed(whole)).encode()
    done = epic("replay", "-f", "csv", stdin=text)
    assert b"E107" in done.stderr
    assert b"--read partial=on" in done.stderr
    for recording, options in ((text, ["--read", "partial=on"]), (lines(whole).encode(), [])):
        assert b"E107" not in epic("replay", "-f", "csv", *options, stdin=recording).stderr
    broken = lines([*whole, {"time": 9.0, "entity": "a", "x": 1}]).encode()
    assert b"E107" not in epic("replay", "-f", "csv", stdin=broken).stderr
