"""How well causes are found: every fault over seeds, movements and strengths; clean recordings.

python tests/endurance/diagnosis.py [SEEDS]
"""

from __future__ import annotations

import argparse
import itertools
from collections import Counter

from support.faulty_traffic import FAULTS, LINKS, MOVEMENTS, Columns, clean, faulty

from epic_cli.analysis.diagnosis.diagnose import diagnose
from epic_cli.analysis.diagnosis.traffic import traffic_of_tables
from epic_cli.network import PATHS

STRENGTHS = (0.5, 1.0, 2.0)
RATES = (5, 10, 20, 30, 60, 128)


def causes(rows: Columns) -> list[str]:
    """The causes that are found, worst first."""
    return [one.cause for one in diagnose(traffic_of_tables({"": rows})).findings]


def main(seeds: int) -> None:
    """Prints the table of faults, then the alarms in clean recordings."""
    print("| fault | cause | half | usual | twice | also told |")
    print("| --- | --- | ---: | ---: | ---: | --- |")
    for fault, (cause, _) in FAULTS.items():
        found, others = [], Counter[str]()
        for strength in STRENGTHS:
            tables = [
                causes(faulty(fault, movement, seed, strength))
                for movement, seed in itertools.product(MOVEMENTS, range(seeds))
            ]
            found.append(sum(cause in one for one in tables) / len(tables))
            if strength == 1:
                others.update(other for one in tables for other in one if other != cause)
        shares = " | ".join(f"{share:.0%}" for share in found)
        also = ", ".join(f"{other} {count}" for other, count in others.items()) or "nothing"
        print(f"| {fault} | {cause} | {shares} | {also} |", flush=True)
    cases = list(itertools.product(sorted(PATHS), LINKS, RATES))
    alarms = [
        (*case, told)
        for number, case in enumerate(cases)
        if (told := causes(clean(case[0], LINKS[case[1]], case[2], 1000 + number, 30.0)))
    ]
    print(f"\nclean recordings with an alarm: {len(alarms)} of {len(cases)}")
    for alarm in alarms:
        print(*alarm)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    main(parser.parse_args().seeds)
