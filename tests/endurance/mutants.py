"""Small faults, many: do the tests see them?

    python -m endurance.mutants ports                # are broken ports seen by ``epic check``?
    python -m endurance.mutants ports mirror source --show
    python -m endurance.mutants suite --built /tmp/mutants --seed 1 --count 600
    python -m endurance.mutants again --built /tmp/mutants --results survived unreached
    python -m endurance.mutants table

``mutant_ports.py`` and ``mutant_suite.py`` say which faults these are. ``equivalent.toml`` lists
those that are no faults, with the reason. A run with ``--built`` goes on where it was stopped.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from endurance import mutant_ports, mutant_suite


def main() -> bool:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(required=True)
    ports = commands.add_parser("ports", help="broken ports of strategies, against epic check")
    ports.add_argument("strategies", nargs="*")
    ports.add_argument("--show", action="store_true", help="list the faults that are not caught")
    ports.add_argument("--pool", type=int, default=60, help="random streams")
    ports.add_argument("--first", type=int, help="how many of the built-in streams")
    ports.add_argument("--seed", type=int, default=1)
    ports.add_argument("--built", type=Path, help="a folder to build in, or of an earlier build")
    ports.set_defaults(run=mutant_ports.run)
    suite = commands.add_parser("suite", help="faults of epic, against its tests")
    suite.add_argument("--seed", type=int, default=1)
    suite.add_argument("--count", type=int, default=600, help="mutants in all")
    suite.add_argument("--rooms", nargs="*", default=[], help="only of these rooms")
    suite.set_defaults(run=mutant_suite.run)
    again = commands.add_parser("again", help="faults of the table once more")
    again.add_argument("--results", nargs="*", default=["survived", "unreached"])
    again.add_argument("--only", default="", help="that this finds, in fault or test")
    again.add_argument("--by", nargs="*", default=[], help="by these tests, without a run of all")
    again.set_defaults(run=mutant_suite.run_again)
    for one in (suite, again):
        one.add_argument(
            "--built", type=Path, required=True, help="a folder for a copy of the tree"
        )
        one.add_argument("--no-engine", dest="engine", action="store_false", help="Python alone")
        one.add_argument("--tests", nargs="*", default=[], help="only these, as pytest names them")
        one.add_argument("--workers", type=int, default=1, help="processes that measure coverage")
        one.add_argument(
            "--seconds", type=float, default=150, help="of tests for a mutant, at most"
        )
        one.add_argument("--table", type=Path, default=mutant_suite.TABLE)
    table = commands.add_parser("table", help="print the kill rates by room, and the survivors")
    table.add_argument("--table", type=Path, default=mutant_suite.TABLE)
    table.set_defaults(run=mutant_suite.print_table)
    options = parser.parse_args()
    return bool(options.run(options))


if __name__ == "__main__":
    raise SystemExit(main())
