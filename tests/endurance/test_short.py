"""A short run of each endurance script, so that none of them rots; of the slow ones each week."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.recordings import weekly

from endurance import (
    advice,
    altered,
    calls,
    clocks,
    foreign,
    full_disk,
    hangs,
    interrupted,
    killed,
    large,
    logs,
    network,
    pools,
    readers,
    recorded,
    scale,
    strangers,
    tenths,
    ways,
)
from endurance.mutation import HeaderMutation, Mutation
from endurance.python_mutation import Source
from endurance.watched import run_cases

COMPILER = os.environ.get("CXX", "g++").split()


@weekly
def test_advice_is_followed(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    advice.follow(91004, counts, tmp_path)
    assert counts["cures"] == counts["improves"] > 0


@pytest.mark.parametrize("system", strangers.SYSTEMS)
def test_systems_draw_the_streams_of_strangers(system: str) -> None:
    assert [said for said in (strangers.judge(system, case) for case in range(12)) if said] == []


def test_what_is_off_by_a_tenth_is_seen() -> None:
    assert tenths.find_unseen("epic") == []


def test_a_hunt_for_hangs() -> None:
    assert hangs.hunt(range(200)) == []


def test_a_hang_a_crash_and_an_error_are_found(capfd: pytest.CaptureFixture[str]) -> None:
    def run(case: int) -> None:
        if case == 1:
            end = time.process_time() + 5
            while time.process_time() < end:
                pass
        if case == 2:
            raise ValueError("as asked")

    found = [str(ended) for ended in run_cases(range(4), run, 0.1)]
    assert found == ["case 1: still running after the limit", "case 2: status 1"]
    assert "as asked" in capfd.readouterr().err


def test_calls_leave_nothing_behind() -> None:
    kinds = calls.kinds()
    for call in kinds:
        try:
            call()
        except (ValueError, ZeroDivisionError):
            continue
    assert calls.run(400) < 10_000


def test_many_packets_take_no_more_memory_than_few() -> None:
    rows, seen = scale.replay(10 * scale.ROUND)
    assert rows == 10 * scale.ROUND + 2
    assert [reading.packets for reading in seen] == [scale.ROUND * tenth for tenth in range(1, 11)]
    assert not scale.grown(seen)


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_a_full_disk(tmp_path: Path) -> None:
    library = full_disk.compiled(tmp_path)
    command = "replay -f table -o rows packets.txt"
    count, wrong = full_disk.try_command(command, library, most=3)
    assert (count, wrong) == (3, [])


def test_a_recording_that_is_killed_and_a_flood(tmp_path: Path) -> None:
    chance = random.Random(5)
    assert recorded.live_and_die(tmp_path, chance) is None
    assert recorded.proxy_and_die(tmp_path, chance) is None
    assert recorded.flood(tmp_path, 2000, chance) == []


def test_a_session_that_is_killed(tmp_path: Path) -> None:
    chance = random.Random(3)
    assert [killed.live_and_die(tmp_path, chance) for _ in range(2)] == [None, None]


@pytest.mark.parametrize("name", list(readers.READERS))
def test_a_reader_takes_anything(name: str) -> None:
    chance, known, read = random.Random(2), readers.seeds(name), readers.READERS[name]
    assert any(read(data).taken for data in known) or name == "sentences", "nothing is read"
    for data in [readers.variant(chance, known) for _ in range(20)]:
        said = read(data)
        assert said == read(data)


@pytest.mark.parametrize("name", list(large.KINDS))
def test_a_reader_takes_long_input(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "_SIZES", (4000,))
    large.bases.cache_clear()
    read = large.KINDS[name][0]
    found = [read(large.made(name, number)) for number in range(12)]
    large.bases.cache_clear()
    assert any(outcome.taken for outcome in found) or name == "proposed"
    assert any(outcome.refused for outcome in found) or name in ("binary", "capture", "session")


def test_a_journal_that_was_altered(tmp_path: Path) -> None:
    assert not altered.attack("session", 40, 4, tmp_path)["WRONG"]
    assert not altered.attack("diagnose", 2, 4, tmp_path)["WRONG"]


def test_two_ways_find_the_same() -> None:
    assert [ways.Case(number).difference() for number in range(100)] == [""] * 100


@weekly
@pytest.mark.skipif(shutil.which(COMPILER[0]) is None, reason="there is no C++ compiler")
@pytest.mark.parametrize("name", list(readers.HARNESSES))
def test_a_harness_is_in_order(name: str) -> None:
    """The harness runs. To find faults is the task of libFuzzer, which not every compiler has."""
    source = readers.HERE / f"{name}.cpp"
    command = [*COMPILER, "-std=c++17", "-Wall", "-Werror", "-fsyntax-only", f"-I{readers.ENGINE}"]
    subprocess.run([*command, str(source)], check=True)


@pytest.mark.filterwarnings("ignore")  # of findings, which are asked for
def test_three_clocks_are_read_or_something_is_said() -> None:
    counts = Counter(clocks.judge(clocks.make(random.Random(f"9 {n}")))[0] for n in range(60))
    assert set(counts) <= {"right", "told"}
    assert counts["right"] > 30


def test_logs_are_read_by_the_command_or_what_it_proposes_reads_them(tmp_path: Path) -> None:
    logs.load()
    counts = Counter(logs.judge(logs.Writer(3, case).log(), str(tmp_path))[0] for case in range(6))
    assert set(counts) <= {"right", "pasted"}
    assert counts["right"] > 2


def test_tables_of_all_libraries_are_read_as_their_csv(tmp_path: Path) -> None:
    from endurance import tables  # which loads all of them

    found = [found for seed in range(4) for found in tables.find_differences(seed, tmp_path)]
    assert {form for form, _ in found} >= {"pyarrow", "parquet", "polars", "duckdb", "numpy"}
    assert [words for _, words in found if words] == []


@weekly
@pytest.mark.parametrize("name", ["listen over WebSocket", "lab", "proxy"])
def test_an_attack_from_the_network(name: str) -> None:
    assert network.ATTACKS[name](0.5, random.Random(4)) == []


@weekly
def test_commands_that_are_interrupted(tmp_path: Path) -> None:
    for event in ("Ctrl-Z", "hung up", "no stdout", "reader goes"):
        case = interrupted.Case("compare {s}/jitter.txt -s epic,lerp", event, 0.3)
        assert interrupted.judge(case, interrupted.run_case(case, tmp_path)) == []


@weekly
def test_a_strategy_that_fails_beside_others() -> None:
    assert pools.try_strategy("raises", "compare") == []
    assert pools.try_strategy("exits at once", "replay") == []
    assert pools.try_strategy("changes the folder", "check") == []


@weekly
def test_files_from_a_stranger() -> None:
    for number in range(1, 5):
        _, name, data, command = foreign.draw_case(number, 9)
        assert foreign.try_file(name, data, command)[1] == []


PROGRAM = """\
LIMIT = 3


def find(numbers, least=2):
    found = []
    for number in numbers:
        if number < least or number in (7, 9):
            continue
        found.append(number * 1000)
    return min(len(found), LIMIT), found
"""


def test_mutants_of_python_change_one_token_in_a_known_block() -> None:
    source = Source(PROGRAM)
    ways = {(site.kind, site.old, site.new) for site in source.sites}
    assert ways >= {
        ("constant", "3", "4"),
        ("default", "2", "3"),
        ("bound", "<", "<="),
        ("and/or", "or", "and"),
        ("continue removed", "continue", "pass"),
        ("unit", "1000", "100"),
        ("min/max", "min", "max"),
    }
    for site in source.sites:
        changed = source.replace(site)
        assert source.is_valid(site)
        assert len(changed) - len(PROGRAM) == len(site.new) - len(site.old)
    marked, count = source.mark_blocks(40)
    seen: list[int] = []
    names: dict[str, Any] = {"mark_block": seen.append}
    exec(marked, names)
    assert names["find"]([1, 5])[1] == [5000]
    assert sorted({*seen}) == [41, 42, 43]
    assert count == 3


def test_mutants_of_the_engine_keep_lines_and_have_numbers_of_their_own() -> None:
    mutation = Mutation()
    cython = "cdef double half(double x) noexcept nogil:\n    if x < 3:\n        return 0.5 * x\n"
    assert mutation.of("epic_cli/engine/text/a.pyx", cython).count("\n") == cython.count("\n")
    cast = "cdef long ticks(float x):\n    return <long>min(x, <double>limit) + 1\n"
    text = Mutation().of("epic_cli/engine/strategies/a.pyx", cast)
    assert "mutant_flip" not in text  # a cast compares nothing
    assert "mutant_count" in text  # with a double, a number in single precision would be another
    header = (
        "inline bool is_odd(int a) {\n    if (a > 3 && a != 7) return true;\n    return a;\n}\n"
    )
    changed = HeaderMutation(mutation.mutants, {}).mutate("epic_cli/engine/text/a.h", header)
    assert changed.count("\n") == header.count("\n")
    assert [mutant.number for mutant in mutation.mutants] == list(
        range(1, len(mutation.mutants) + 1)
    )
    assert changed.count("mutant_flip") == 2
    assert changed.count("mutant_lt") == 1
