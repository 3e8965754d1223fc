# buffer: a delay buffer of parts: stamps, clock, delay, curve, catch-up, low-pass
#
# A buffer of states: the entity is drawn in the past, between two states that were received.
#
# drawn time = now - offset of the clocks - delay
# drawn      = before + (after - before) * (drawn time - before.time) / (after.time - before.time)
#
# Clocks: time (s) is read from the sender's clock, arrival and now (s) from the receiver's.
# Source: the delay buffers that games write themselves; formulas in the description
# Made by: epic code buffer+stamps=arrival+delay=0.1 --lang python --rotations --main
# epic check --builtin -s buffer+stamps=arrival+delay=0.1 --atol 1e-9 --against \
# 'python3 python_port.py'
#
# 0BSD: use it as you like, without any warranty.

import math
import os
import sys
from typing import NamedTuple

DELAY = 0.1  # s, how far in the past to draw
KEEP = 1024  # the largest number of states kept


class Vec3(NamedTuple):
    x: float
    y: float
    z: float

    def __add__(self, o):
        return Vec3(self.x + o.x, self.y + o.y, self.z + o.z)

    def __mul__(self, s):
        return Vec3(self.x * s, self.y * s, self.z * s)


class Quat(NamedTuple):
    x: float
    y: float
    z: float
    w: float


class State(NamedTuple):
    time: float  # s
    position: Vec3
    rotation: Quat


class Smoothing:
    """An entity, drawn from a buffer of its states."""

    def __init__(self) -> None:
        self.position = Vec3(0.0, 0.0, 0.0)  # what is drawn
        self.drawn = False  # something has been drawn
        self.states = []  # in order of time
        self.begun = False  # a packet was taken
        self.newest = 0.0  # the newest timestamp
        self.stamp = 0.0  # when its state was true
        self.rotation = Quat(0.0, 0.0, 0.0, 1.0)  # what is drawn
        self.reset()

    def reset(self) -> None:
        """Forget the past."""
        self.states.clear()
        self.begun = False
        self.drawn = False

    def receive(self, time: float, arrival: float, position: Vec3, rotation: Quat) -> bool:
        """Take a packet (finite numbers, times in s); return false if it is late, and dropped."""
        if self.begun and time <= self.newest:
            return False
        self.stamp = arrival
        self.states.append(State(self.stamp, position, rotation))
        if len(self.states) > KEEP:
            self.states.pop(0)
        self.newest = time
        self.begun = True
        return True

    def teleport(self, time: float, arrival: float, position: Vec3, rotation: Quat) -> None:
        """Take a packet of an entity that was moved on purpose."""
        if not self.begun or time >= self.newest:
            self.reset()
            self.receive(time, arrival, position, rotation)
            self.show(position, rotation)
            self.position = position
            self.rotation = rotation

    def show(self, position: Vec3, rotation: Quat) -> None:
        """Draw a position."""
        self.position = position
        self.rotation = rotation
        self.drawn = True

    def draw(self, now: float) -> bool:
        """Move position to where it is drawn at now.

Return false before the first packet."""
        if not self.begun:
            return False
        self.place(now - DELAY)
        return self.drawn

    def place(self, time: float) -> None:
        """Draw the buffer's state at a time."""
        last = len(self.states) - 1
        i = last
        while i >= 0 and self.states[i].time > time:
            i -= 1
        if i < 0:
            self.show(self.states[0].position, self.states[0].rotation)
        elif i < last:
            self.interpolate(i, time)
        else:
            self.ahead()

    def interpolate(self, i: int, time: float) -> None:
        """Draw between a state and the next."""
        a = self.states[i]
        b = self.states[i + 1]
        u = (time - a.time) / (b.time - a.time)
        drawn = a.position * (1.0 - u) + b.position * u
        self.show(drawn, self.slerp(a.rotation, b.rotation, u))

    def ahead(self) -> None:
        """Draw the state this long after the newest one."""
        newest = self.states[len(self.states) - 1]
        self.show(newest.position, newest.rotation)

    def slerp(self, a: Quat, b: Quat, u: float) -> Quat:
        """Turn from one rotation to another, the shorter way at a constant rate (Shoemake 1985)."""
        cosine = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w
        angle = math.acos(min(abs(cosine), 1.0))
        p = 1.0 - u
        q = u
        if angle > 1.0e-06:
            p = math.sin((1.0 - u) * angle) / math.sin(angle)
            q = math.sin(u * angle) / math.sin(angle)
        if cosine < 0.0:
            q = -q
        return Quat(a.x * p + b.x * q, a.y * p + b.y * q, a.z * p + b.z * q, a.w * p + b.w * q)

def main() -> None:
    """Packet text in, rows out, by arrival times or frames."""
    num, den = map(int, os.environ.get("EPIC_TICK", "1/20").split("/"))
    by_frame = os.environ.get("EPIC_PACING") == "frame"
    packets = []
    for line in filter(str.strip, sys.stdin):
        *vectors, rest = line.split("/", 2)
        position, velocity = (Vec3(*map(float, text.split(","))) for text in vectors)
        time, *words = rest.split()
        more = dict(word.split("=", 1) for word in words if "=" in word)
        packets.append((float(more.get("arrival", time)), float(time), position, velocity, more))
    packets.sort(key=lambda packet: packet[0])
    print("time", "entity", "x", "y", "z", "qx", "qy", "qz", "qw", sep="\t")
    players, taken = {}, 0
    k = math.floor(packets[0][0] * den / num) - 1 if packets else 0
    while packets and k * num / den <= packets[-1][0] + 0.15:
        now = k * num / den
        while taken < len(packets) and packets[taken][0] <= now:
            arrival, time, position, velocity, more = packets[taken]
            arrival = now if by_frame else arrival
            rotation = Quat(*map(float, more.get("rotation", "0,0,0,1").split(",")))
            player = players.setdefault(more.get("entity", ""), Smoothing())
            if more.get("teleport") == "1":
                player.teleport(time, arrival, position, rotation)
            else:
                player.receive(time, arrival, position, rotation)
            taken += 1
        for name, player in players.items():
            if player.draw(now):
                print(now, name, *player.position, *player.rotation, sep="\t")
        k += 1


if __name__ == "__main__":
    main()
