"""Slippi's recordings of Super Smash Bros. Melee: a state of each fighter in each frame.

https://github.com/project-slippi/slippi-wiki/blob/master/SPEC.md
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from epic_cli.recordings import Unreadable
from epic_cli.recordings.entries.games.apart import name_entity, write_line

#: Columns of what is written: the stage is the plane of x and z, z up, in meters.
COLUMNS = "entity,time,x,y,z,vx,vy,vz,teleport"

#: Frames a second; the number of the first; units in a meter, by which fighters are man-sized.
RATE, FIRST, UNITS = 60, -123, 10

#: Where events begin, those of their sizes and of a fighter's state, and the first version that
#: has one at the end of each frame.
_EVENTS, _SIZES, _POST, _CLOSED = 15, 0x35, 0x38, (3, 0, 0)

#: What a fighter does who is back: comes down on a platform.
_REBIRTH = 12


def iterate_rows(path: str, names: bool) -> Iterator[str]:
    """Yield a line for each fighter and frame, as the frame was after the last rollback."""
    import peppi_py

    try:
        game = peppi_py.read_slippi(path)
    except OSError as error:
        if "fill whole buffer" not in str(error):
            raise
        raise Unreadable("a Slippi replay of Melee that ends too early, in its events") from None
    frames = game.frames.id.to_pylist()
    there = _find_presence(Path(path).read_bytes()) if game.start.slippi.version < _CLOSED else {}
    taken: set[str] = set()
    fighters = []
    for player, port in zip(game.start.players, game.frames.ports, strict=True):
        known = (player.netplay.name if player.netplay else "") or player.name_tag or ""
        name = name_entity(taken, f"player-{player.port + 1}", known if names else "")
        for follower, (part, one) in enumerate((("", port.leader), ("-nana", port.follower))):
            if one is not None:  # Ice Climbers are two
                present = there.get((player.port, follower), set(frames))
                fighters.append(
                    (name + part, _read_states(one.post, [n in present for n in frames]))
                )
    before: dict[str, int | None] = {}
    for frame, place in sorted({frame: place for place, frame in enumerate(frames)}.items()):
        for name, states in fighters:
            x, z, does, *speeds = (state[place] for state in states)
            was = before.get(name, does)
            before[name] = does
            if does is None:
                continue  # it is out of the game
            velocity: tuple[Any, ...] = ("", "", "")
            if speeds:
                ground, air, up, pushed, pushed_up, airborne = speeds
                own = air if airborne else ground
                velocity = ((own + pushed) * RATE / UNITS, 0, (up + pushed_up) * RATE / UNITS)
            back = int(was is None or (does == _REBIRTH != was))
            yield write_line(name, (frame - FIRST) / RATE, x / UNITS, 0, z / UNITS, *velocity, back)


def _read_states(post: Any, there: list[bool]) -> list[list[Any]]:
    """Return the states of a fighter by frame; velocities exist since version 3.5."""
    found = [post.position.x, post.position.y, post.state]
    if (own := post.velocities) is not None:
        found += [own.self_x_ground, own.self_x_air, own.self_y]
        found += [own.knockback_x, own.knockback_y, post.airborne]
    columns = [item.to_pylist() for item in found]
    if all(there):
        return columns
    return [
        [next(column, None) if is_there else None for is_there in there]
        for column in map(iter, columns)
    ]


def _find_presence(data: bytes) -> dict[tuple[int, int], set[int]]:
    """Return the frames in which each fighter exists, by port and whether it is the follower.

    Before version 3 the parser moves what comes after a gap into it.
    """
    found: dict[tuple[int, int], set[int]] = {}
    events = data[_EVENTS:]
    sizes = {_SIZES: events[1], **dict(struct.iter_unpack(">BH", events[2 : 1 + events[1]]))}
    at = 0
    while at < len(events) and events[at] in sizes:
        if events[at] == _POST:
            frame, *fighter = struct.unpack_from(">iBB", events, at + 1)
            found.setdefault((fighter[0], fighter[1]), set()).add(frame)
        at += 1 + sizes[events[at]]
    return found
