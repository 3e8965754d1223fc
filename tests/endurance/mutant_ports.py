"""Every small fault that a port of a strategy could have: does ``epic check --builtin`` see it?

Each number in the code of a strategy is made 10 % larger, each condition inverted, each ``<`` made
``<=``, each limit left out, each setting changed by 10 %. A fault is caught if it changes a row of
a built-in stream in any way that the strategy can be set. What survives and is not listed in
``equivalent.toml`` is printed, as ``missed`` where a pool of random streams shows it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from endurance.mutant_build import ROOT, Switch, build, copy_tree, read_equivalents
from endurance.mutation import Mutant

# ---------------------------------------------------------------- drawing


def rows(name: str, text: bytes) -> bytes:
    """Return the rows of a strategy for packet text, all digits."""
    from epic_cli.engine.replay.strategy_spec import read_specs
    from epic_cli.jobs.check.drawing import draw
    from epic_cli.jobs.check.spec import CaseRecording, DrawSpec

    spec = tuple(read_specs([name]))
    return draw(DrawSpec((CaseRecording("stream", None, text),), spec)).rows


def guarded(name: str, text: bytes, seconds: int = 20) -> bytes | None:
    """Return the rows drawn in a child process; None if the child crashed or hung."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(seconds)
        try:
            os.close(reading)
            with os.fdopen(writing, "wb") as out:
                out.write(rows(name, text))
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        drawn = answer.read()
    _, status = os.waitpid(child, 0)
    return drawn if status == 0 else None


def builtin(name: str, first: int | None = None) -> list[bytes]:
    """Return the built-in streams for a strategy, as packet text; or the first of them."""
    from epic_cli.engine.replay.strategy_spec import read_specs
    from epic_cli.jobs.check.case_file import make_builtin_cases
    from epic_cli.jobs.check.spec import DrawSpec

    cases = make_builtin_cases(DrawSpec((), tuple(read_specs([name]))))
    return [case.drawing.recordings[0].content for case in cases[:first]]


def pool(seed: int, count: int) -> list[bytes]:
    """Return random streams: rates, jitter, losses, bursts, steps, equal stamps, jumps."""
    return [random_stream(random.Random(seed * 1000 + k)) for k in range(count)]


def random_stream(dice: random.Random) -> bytes:
    """Return a random stream: packets by arrival, a few seconds."""
    rate = dice.choice([5, 10, 20, 23.7, 30, 60, 64, 128])
    count = int(min(max(30, rate * dice.choice([2, 4, 12])), 600))
    jitter = dice.choice([0, 0.005, 0.02, 0.06])
    latency = dice.choice([0, 0.04, 0.1, 0.25])
    loss = dice.choice([0, 0, 0.05, 0.3])
    offset = dice.choice([0, 0, 0, 12.3, -3.2])
    speed = dice.choice([0.03, 1, 10, 200])
    step_at, step = dice.randrange(count), dice.choice([0, 0, 0.08, 0.6, -0.03])
    drift = dice.choice([1, 1, 1.01, 0.99])
    packets = []
    x = y = 0.0
    vx, vy = speed, 0.0
    lost_until, time = -1, 0.0
    for k in range(count):
        time += 1 / rate if dice.random() > 0.02 else dice.choice([0, 0.3, 1.2, 3.0])
        if dice.random() < 0.08:
            vx, vy = (dice.uniform(-speed, speed) for _ in range(2))
        if dice.random() < 0.02:
            vx = vy = 0.0
        x, y = x + vx / rate, y + vy / rate
        if dice.random() < 0.01:
            x += dice.choice([2, 20, 300])
        if k <= lost_until:
            continue
        if dice.random() < loss:
            lost_until = k + dice.choice([0, 1, 4, 12])
        late = latency + jitter * dice.random() + (step if k >= step_at else 0)
        if dice.random() < 0.03:
            late += dice.choice([0.1, 0.4])
        packets.append((time * drift + offset + max(late, 0), k, time, x, y, vx, vy))
    packets.sort()
    if dice.random() < 0.2:  # all at once
        hold = packets[len(packets) // 2][0]
        packets = [
            (max(row[0], hold) if row[0] < hold + 0.5 and row[0] > hold - 3 else row[0], *row[1:])
            for row in packets
        ]
        packets.sort()
    first = min(packet[0] for packet in packets)
    return "".join(
        f"{x:.6g},{y:.6g},0 / {vx:.6g},{vy:.6g},0 / {time:.6f} arrival={at - min(first, 0):.6f}\n"
        for at, _, time, x, y, vx, vy in packets
    ).encode()


# ---------------------------------------------------------------- the run


def variants(name: str) -> Iterator[str]:
    """Return a strategy with each value of its choices and switches."""
    from epic_cli.engine.parameters import Choice
    from epic_cli.engine.strategies import get_declaration

    yield name
    for setting in get_declaration(name).settings:
        if isinstance(setting, Choice):
            for word in setting.choices:
                if word != setting.default:
                    yield f"{name}+{setting.name}={word}"


def changed_settings(name: str) -> Iterator[str]:
    """Yield a strategy with each number changed by 10 %."""
    from epic_cli.engine.parameters import Number
    from epic_cli.engine.strategies import get_declaration

    for setting in get_declaration(name).settings:
        if (
            isinstance(setting, Number)
            and isinstance(setting.default, (int, float))
            and setting.default
        ):
            value = int(setting.default * 1.1) + 1 if setting.whole else setting.default * 1.1
            yield f"{name}+{setting.name}={value:.9g}"


class Study:
    """The mutants of a strategy: how many are caught, which are missed, which change no stream.

    A fault is caught if any way of the strategy shows it, by any stream.
    """

    def __init__(self, name: str, mutants: list[Mutant], switch: Switch, random: list[bytes]):
        self.name = name
        self.caught: set[str] = set()
        self.missed: set[str] = set()  # the random streams show them
        self.alike: set[str] = set()  # nothing does
        self._mutants = mutants
        self._switch = switch
        self._random = random

    def run(self, first: int | None) -> None:
        """Try all mutants, against all built-in streams or the first ones."""
        settings = list(changed_settings(self.name))
        for spec in variants(self.name):
            self._switch.activate(0)
            cases = builtin(spec, first)
            self._switch.take_reached()
            ours = {text: rows(spec, text) for text in cases}
            known = {text: rows(spec, text) for text in self._random}
            reached = self._switch.take_reached()
            faults = [(str(self._mutants[k - 1]), k, spec) for k in reached]
            ways = spec.removeprefix(self.name)
            faults += [(setting, 0, setting + ways) for setting in settings]
            for title, number, other in faults:
                if title in self.caught:
                    continue
                self._switch.activate(number)
                if differs(other, cases, ours):
                    self.caught.add(title)
                elif differs(other, [*self._random], known):
                    self.missed.add(title)
                else:
                    self.alike.add(title)
        self._switch.activate(0)
        self.missed -= self.caught
        self.alike -= self.caught | self.missed


def differs(spec: str, texts: list[bytes], known: dict[bytes, bytes]) -> bool:
    """Return whether any stream is drawn differently; such a stream moves to the front."""
    for text in texts:
        if guarded(spec, text) != known[text]:
            texts.remove(text)
            texts.insert(0, text)  # what shows one fault shows the next
            return True
    return False


def run(options: argparse.Namespace) -> bool:
    """Print how many faults of each strategy are caught; return whether any is not."""
    folder = options.built or Path(tempfile.mkdtemp())
    listing = folder / "mutants.json"
    if not listing.exists():
        copy_tree(folder)
        listing.write_text(json.dumps(build(folder, ["strategies"])))
    mutants = [Mutant(*load) for load in json.loads(listing.read_text())]
    shutil.copytree(
        ROOT / "epic_cli/jobs/check", folder / "epic_cli/jobs/check", dirs_exist_ok=True
    )
    switch = Switch(folder / "page")
    sys.path.insert(0, str(folder))
    from epic_cli.engine.strategies import list_remote_names

    random_streams = pool(options.seed, options.pool)
    reasons = read_equivalents()
    caught = faults = 0
    for name in options.strategies or list_remote_names():
        study = Study(name, mutants, switch, random_streams)
        study.run(options.first)
        survived = study.missed | study.alike
        known = {word for word in study.alike if any(rule.search(word) for _, rule in reasons)}
        total = len(study.caught) + len(survived - known)
        caught, faults = caught + len(study.caught), faults + total
        print(
            f"{name:18} {len(study.caught):4} of {total:4} caught, {len(known)} are no faults",
            flush=True,
        )
        if options.show:
            for word in sorted(survived - known):
                print(f"    {'missed' if word in study.missed else 'alike '} {word}", flush=True)
    print(f"{caught} of {faults} caught")
    return caught < faults
