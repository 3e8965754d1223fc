"""Write cases: new cases, rows that differ, and accepted rows."""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from epic_cli.engine.replay.playback import TIMING
from epic_cli.engine.replay.strategy_spec import write_spec
from epic_cli.engine.text import COLUMNS
from epic_cli.jobs.check.case_file import read_case
from epic_cli.jobs.check.drawing import draw
from epic_cli.jobs.check.outcome import CaseStatus, Outcome
from epic_cli.jobs.check.run import check_rows
from epic_cli.jobs.check.spec import CASE_FILE, BrokenCase, Case, find_expected_file
from epic_cli.jobs.replay.spec import ReplaySpec
from epic_cli.recordings.files import check_output, clean_up_on_signal, write_whole
from epic_cli.recordings.writing import write_number

if TYPE_CHECKING:
    from epic_cli.engine.contract import Sample

#: File name of a case's packets whose recording is no file.
PACKETS = "packets.txt"

Value = str | float | bool | list[str] | dict[str, float]


class CaseExists(ValueError):
    """A case of this name exists already."""


# ---------------------------------------------------------------- rows


def remove(path: str) -> None:
    """Remove a file, if it exists."""
    with contextlib.suppress(OSError):
        os.unlink(path)  # noqa: PTH108


def keep_new(outcome: Outcome) -> Outcome:
    """Write rows that differ to ``case.new``, beside the expected rows; return the outcome.

    If all is as expected, an earlier ``case.new`` is removed.
    """
    case = outcome.case
    if case is None or case.expected is None:
        return outcome
    if outcome.drawn is None:
        if outcome.status in (CaseStatus.HOLDS, CaseStatus.CONDITIONS):
            remove(case.new)
        return outcome
    try:
        write_whole(case.new, outcome.drawn)
    except OSError as error:
        problem = f"{case.new}: cannot be written: {error.strerror or error}"
        return outcome._replace(problem="\n".join(filter(None, (outcome.problem, problem))))
    return outcome._replace(new=case.new)


def find_takeable(outcome: Outcome) -> str | None:
    """Return the file of expected rows that an outcome's drawn rows can replace.

    None if they cannot.
    """
    return outcome.case.expected if outcome.case and outcome.drawn is not None else None


def accept(outcome: Outcome) -> None:
    """Replace the expected rows by the drawn rows; raise ``OSError``."""
    case = outcome.case
    assert case is not None
    assert case.expected is not None
    assert outcome.drawn is not None
    write_whole(case.expected, outcome.drawn, replaces=True)
    remove(case.new)


def is_in_ci() -> bool:
    """Return whether epic runs in CI, where no person can decide what to accept."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


def write_tsv(samples: Iterable[Sample]) -> bytes:
    """Return samples as ``epic replay --format tsv`` writes them."""
    lines = ["\t".join(COLUMNS)]
    for sample in samples:
        numbers = [*sample.position, *sample.velocity]
        cells = ["" if sample.status == "none" else write_number(value) for value in numbers]
        name = sample.entity if sample.entity.isprintable() else ascii(sample.entity)[1:-1]
        lines.append("\t".join([write_number(sample.time), *cells, sample.status, name]))
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")


# ---------------------------------------------------------------- new cases


def list_spec_values(folder: str, spec: ReplaySpec, row_format: str = "tsv") -> dict[str, Value]:
    """Return the keys of a case file, with values, that differ from the defaults.

    Files of strategies are relative to ``folder``.
    """
    strategy, timing = spec.strategy, spec.timing
    values: dict[str, Value] = {
        "strategy": write_spec(_make_relative_strategy(folder, strategy.name), strategy.settings)
    }
    for custom in TIMING:
        value = getattr(timing, custom.name)
        if value != custom.default:
            values[custom.name] = custom.write(value)
    others: dict[str, Value | None] = {
        "read": spec.read.write() or None,
        "entity": spec.entity,
        "strict": spec.strict or None,
        "file-column": spec.file_column,
        "format": None if row_format == "tsv" else row_format,
    }
    return {**values, **{key: value for key, value in others.items() if value is not None}}


def make_case(
    folder: str,
    recordings: Sequence[str],
    values: Mapping[str, Value],
    packets: bytes | None = None,
    print_rows: Callable[[Case], tuple[bytes, str]] | None = None,
) -> tuple[str, int]:
    """Make a case that expects the rows drawn now; return its file, and the number of rows.

    With ``print_rows`` another program prints the expected rows: their bytes and format.
    ``recordings`` are paths relative to the current folder; ``packets`` replace them. ``values``
    are all other keys. Raises ``CaseExists``, ``BrokenCase``, ``StrategyFailed`` or ``OSError``,
    and then makes nothing. A new folder appears only when it is complete, however the program ends.
    """
    import shutil

    path = os.path.join(folder, CASE_FILE)  # noqa: PTH118
    if os.path.lexists(path):
        raise CaseExists(f"{path} is there already: remove it first, or choose another name")
    check_output(path)
    if os.path.isdir(folder):  # noqa: PTH112
        return path, _write_files(folder, recordings, values, packets, print_rows)
    whole = os.path.abspath(folder)  # noqa: PTH100
    # beside it: what is named from there is the same; what a killed run has left has this name
    parent, name = os.path.split(whole)
    part = os.path.join(parent, f".epic-{zlib.crc32(os.fsencode(name)):08x}.part")  # noqa: PTH118
    remove_part = partial(shutil.rmtree, part, ignore_errors=True)
    with clean_up_on_signal(remove_part):
        try:
            remove_part()
            os.makedirs(part)  # noqa: PTH103
            count = _write_files(part, recordings, values, packets, print_rows)
            os.rename(part, whole)  # noqa: PTH104
        except BrokenCase as error:
            place, what = (text.replace(part, folder) for text in (error.place, error.what))
            raise BrokenCase(place, what, gone=error.gone) from error
        finally:
            remove_part()
    return path, count


def _write_files(
    folder: str,
    recordings: Sequence[str],
    values: Mapping[str, Value],
    packets: bytes | None,
    print_rows: Callable[[Case], tuple[bytes, str]] | None,
) -> int:
    """Write the files of a case into a folder; return the number of expected rows."""
    import tomlkit  # a check writes no case files

    path = os.path.join(folder, CASE_FILE)  # noqa: PTH118
    absolute = os.path.isabs
    named = [name if absolute(name) else os.path.relpath(name, folder) for name in recordings]
    made: list[str] = []
    try:
        # what names the others comes last: without it there is no case, whatever ended the program
        if packets is not None:
            named = [PACKETS]
            made += _write_new_file(os.path.join(folder, PACKETS), packets)  # noqa: PTH118
        recording: Value = named[0] if len(named) == 1 else named
        text = tomlkit.dumps({"recording": recording, **values})
        case = read_case(path, trust=True, text=text)  # ours
        if print_rows is None:
            rows = draw(case.drawing).rows
            assert case.expected is not None
            made += _write_new_file(case.expected, rows)
            count = check_rows(case, rows).rows
        else:
            rows, row_format = print_rows(case)
            made += _write_new_file(find_expected_file(path, row_format), rows)
            count = rows.count(b"\n") - (row_format in ("tsv", "csv"))
        made += _write_new_file(path, text.encode())
    except BaseException:
        for name in made:
            remove(name)
        raise
    return count


def _write_new_file(path: str, data: bytes) -> list[str]:
    """Write a file of a new case; accept an equal file that a killed run may have left.

    Raises ``CaseExists`` for another file, and ``OSError``.
    """
    try:
        with open(path, "rb") as stream:  # noqa: PTH123
            if stream.read() == data:
                return []
        raise CaseExists(f"{path} is there already: remove it first, or choose another name")
    except FileNotFoundError:
        write_whole(path, data)
        return [path]


def _make_relative_strategy(folder: str, strategy: str) -> str:
    path, colon, rest = strategy.rpartition(":")
    if not (colon and path.endswith(".py")):
        return strategy
    seen = os.path.relpath(path, folder)
    return f"{seen if seen.startswith('.') else f'./{seen}'}:{rest}"
