"""How well causes are found: every fault over seeds, movements and strengths; clean recordings.

Prints the two tables of the guide (three minutes on two cores); ``--seeds 1 --curve 1 --clean 1``
is a short run.

python -m endurance.diagnosis [--seeds SEEDS] [--curve SEEDS] [--clean SEEDS] [FAULT ...]
"""

from __future__ import annotations

import argparse
import itertools
from collections import Counter
from multiprocessing import Pool

import numpy as np
from support.faulty_traffic import (
    FAULTS,
    LINKS,
    MOVEMENTS,
    Case,
    Columns,
    clean,
    faulty,
    traffic_of_tables,
)
from support.faulty_turning import KINDS, turning

from epic_cli.jobs.diagnose.run import diagnose
from epic_cli.network.paths import PATHS

STRENGTHS = (0.25, 0.5, 1.0, 2.0)
RATES = (5, 10, 20, 30, 60, 128)


def causes(rows: Columns) -> list[str]:
    """The causes that are found, worst first."""
    return [finding.cause for finding in diagnose(traffic_of_tables({"": rows})).findings]


def of_fault(case: tuple[str, str, int, float]) -> list[str]:
    """The causes in a recording with a fault: its name, the movement, the seed, the strength."""
    return causes(faulty(*case))


def of_clean(case: tuple[str, str, int, int]) -> list[str]:
    """The causes in a clean one of 30 s: its path, the network, packets a second, the seed."""
    path, link, rate, seed = case
    return causes(clean(path, LINKS[link], rate, seed, 30.0))


def of_turning(case: tuple[str, str, int, int]) -> list[str]:
    """The same of one that turns so, on any path."""
    kind, link, rate, seed = case
    path = sorted(PATHS)[(seed + rate) % len(PATHS)]
    rows = clean(path, LINKS[link], rate, seed, 30.0)
    return causes(turning(kind, Case(rows, 1 / rate, np.random.default_rng(seed), 1.0)))


def main(seeds: int, curve: int, clean_seeds: int, faults: list[str]) -> None:
    """Prints the table of faults, then the alarms in clean recordings of each movement."""
    with Pool() as pool:
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
    given = parser.parse_args()
    main(given.seeds, given.curve, given.clean, given.faults)
