r"""Draws between the last two arrivals, a fixed time ago.

epic check --builtin -s gambetta+update_rate=10 --feed jsonl --atol 1e-9 \
    --against 'python python_port.py'
"""

import json
import math
import os
import sys

settings = dict(part.split("=") for part in os.environ["EPIC_SETTINGS"].split())
delay = 1 / float(settings["update_rate"])  # seconds behind


def slerp(a, b, u):
    """Between two quaternions, at a constant rate."""
    cosine = sum(m * n for m, n in zip(a, b, strict=True))
    if cosine < 0:  # the same rotation, the shorter way
        b, cosine = [-each for each in b], -cosine
    angle = math.acos(min(cosine, 1))
    if angle < 1e-6:
        return list(b)
    p, q = (math.sin(each * angle) / math.sin(angle) for each in (1 - u, u))
    return [p * m + q * n for m, n in zip(a, b, strict=True)]


states, newest, shown = [], -math.inf, None
packets = sorted(map(json.loads, sys.stdin), key=lambda one: one["arrival"])
num, den = map(int, os.environ["EPIC_TICK"].split("/"))
end = packets[-1]["arrival"] + 0.15 if packets else -1
k = taken = 0
while (now := k * num / den) <= end:
    while taken < len(packets) and packets[taken]["arrival"] <= now:
        p = packets[taken]
        taken += 1
        turn = [p[word] for word in ("qx", "qy", "qz", "qw") if word in p]
        state = [p["x"], p["y"], p["z"]], turn
        if p.get("teleport"):
            states, newest, shown = [], -math.inf, state
        if p["time"] > newest:
            newest = p["time"]
            states.append((p["arrival"], *state))
    at = now - delay
    while len(states) > 1 and states[1][0] <= at:
        states.pop(0)
    if len(states) > 1 and states[0][0] <= at:
        (t0, a, q), (t1, b, r) = states[:2]
        u = (at - t0) / (t1 - t0)
        shown = [m + (n - m) * u for m, n in zip(a, b, strict=True)], slerp(q, r, u) if q else []
    if shown:
        names = "time", "x", "y", "z", "qx", "qy", "qz", "qw"
        print(json.dumps(dict(zip(names, [now, *shown[0], *shown[1]], strict=False))))
    k += 1
