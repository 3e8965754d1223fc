"""The power of the diagnosis: each fault over seeds, movements and strengths, and false alarms.

Prints the three tables of the guide (four minutes on two cores); ``--seeds 1 --curve 1 --clean 1
--sessions 1`` is a short run.

python -m endurance.diagnosis [--seeds SEEDS] [--curve SEEDS] [--clean SEEDS] [--sessions SEEDS]
    [FAULT ...]
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
from collections import Counter
from multiprocessing.pool import Pool
from typing import NamedTuple

import numpy as np
from support.faulty_traffic import (
    FAULTS,
    LINKS,
    MOVEMENTS,
    Case,
    Columns,
    clean,
    faulty,
    make_table_traffic,
)
from support.faulty_turning import KINDS, turning
from support.sessions import FOUND_AS, NETWORKS, SENDERS, session

from epic_cli.jobs.diagnose.run import diagnose
from epic_cli.network.paths import PATHS

STRENGTHS = (0.25, 0.5, 1.0, 2.0)
RATES = (5, 10, 20, 30, 60, 128)


def causes(rows: Columns) -> list[str]:
    """Return the causes that are found, the worst first."""
    return [finding.cause for finding in diagnose(make_table_traffic({"": rows})).findings]


def of_fault(case: tuple[str, str, int, float]) -> list[str]:
    """Return the causes found in a recording with a fault, by its name, movement, seed and
    strength.
    """
    return causes(faulty(*case))


def of_clean(case: tuple[str, str, int, int]) -> list[str]:
    """Return the causes found in 30 s without a fault: path, network, packets a second, seed."""
    path, link, rate, seed = case
    return causes(clean(path, LINKS[link], rate, seed, 30.0))


def of_turning(case: tuple[str, str, int, int]) -> list[str]:
    """Return the causes found in 30 s without a fault of an entity with this kind of rotation."""
    kind, link, rate, seed = case
    path = sorted(PATHS)[(seed + rate) % len(PATHS)]
    rows = clean(path, LINKS[link], rate, seed, 30.0)
    return causes(turning(kind, Case(rows, 1 / rate, np.random.default_rng(seed), 1.0)))


class Told(NamedTuple):
    """The result for a session: its cause is named first or not, and the false causes."""

    first: bool
    false: list[str]


def of_session(case: tuple[str, str, int]) -> Told:
    """Diagnose a session, given its sender, its network, the seed."""
    one = session(*case)
    found = [each.cause for each in diagnose(make_table_traffic(one.tables)).findings]
    right = {*one.causes, FOUND_AS[case[1]]} - {""}
    first = found[0] in right if found else not right
    return Told(first, [cause for cause in found if cause not in right])


def print_sessions(pool: Pool, seeds: int) -> None:
    """Print a row for each sender: over healthy lines, and over lines with a fault."""
    quiet = [network for network in NETWORKS if not FOUND_AS[network]]
    others = [network for network in NETWORKS if FOUND_AS[network]]
    print("\n| sender | told as | first | over a faulty network | false causes |")
    print("| --- | --- | ---: | ---: | --- |")
    for sender, how in SENDERS.items():
        told = [
            pool.map(of_session, itertools.product([sender], networks, range(2000, 2000 + seeds)))
            for networks in (quiet, others)
        ]
        firsts = (f"{sum(one.first for one in some)} of {len(some)}" for some in told)
        false = Counter(cause for some in told for one in some for cause in one.false)
        words = ", ".join(f"{cause} {count}" for cause, count in false.items()) or "none"
        cells = sender, " or ".join(how.causes) or "nothing", *firsts, words
        print(f"| {' | '.join(cells)} |", flush=True)


def main(seeds: int, curve: int, clean_seeds: int, sessions: int, faults: list[str]) -> None:
    """Print the tables of faults, of alarms in clean recordings, and of sessions."""
    with multiprocessing.Pool() as pool:
        print_sessions(pool, sessions)
        print()
        print("| fault | cause | quarter | half | usual | twice | also found |")
        print("| --- | --- | ---: | ---: | ---: | ---: | --- |")
        for fault in faults or FAULTS:
            cause = FAULTS[fault].cause
            found, others = [], Counter[str]()
            for strength in STRENGTHS:
                many = seeds if strength == 1 else curve
                cases = [
                    (fault, *pair, strength) for pair in itertools.product(MOVEMENTS, range(many))
                ]
                tables = pool.map(of_fault, cases)
                found.append(sum(cause in table for table in tables) / len(tables))
                if strength == 1:
                    others.update(other for table in tables for other in table if other != cause)
            shares = " | ".join(f"{share:.0%}" for share in found)
            also = ", ".join(f"{other} {count}" for other, count in others.items()) or "nothing"
            print(f"| {fault} | {cause} | {shares} | {also} |", flush=True)
        print("\n| clean | recordings | with an alarm | of a link, packets a second, seed |")
        print("| --- | ---: | ---: | --- |")
        for path in (*sorted(PATHS), *KINDS):
            every = itertools.product([path], LINKS, RATES, range(1000, 1000 + clean_seeds))
            there = list(every)
            found_in = pool.map(of_turning if path in KINDS else of_clean, there)
            alarms = {case: told for case, told in zip(there, found_in, strict=True) if told}
            which = [" ".join(map(str, (*case[1:], *told))) for case, told in alarms.items()]
            cells = path, len(there), len(alarms), ", ".join(which) or "none"
            print(f"| {' | '.join(map(str, cells))} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--curve", type=int, default=5, help="seeds of the other strengths")
    parser.add_argument("--clean", type=int, default=6, help="seeds of each clean case")
    parser.add_argument("faults", nargs="*", metavar="FAULT", help="only these; none: all")
    parser.add_argument("--sessions", type=int, default=10, help="seeds of each sender and network")
    given = parser.parse_args()
    main(given.seeds, given.curve, given.clean, given.sessions, given.faults)
