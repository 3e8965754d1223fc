"""What checks write: new cases, rows that were not expected, and expected ones that are taken."""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from epic_cli.engine.replay.playback import TIMING
from epic_cli.engine.replay.strategy_spec import written
from epic_cli.engine.text import COLUMNS
from epic_cli.jobs.check.case_file import read_case
from epic_cli.jobs.check.drawing import draw
from epic_cli.jobs.check.outcome import CaseStatus, Outcome
from epic_cli.jobs.check.run import check_rows
from epic_cli.jobs.check.spec import CASE_FILE, BrokenCase, Case, beside
from epic_cli.jobs.replay.spec import ReplaySpec
from epic_cli.recordings.files import check_output, cleaning_up, write_whole
from epic_cli.recordings.writing import number

if TYPE_CHECKING:
    from epic_cli.engine.contract import Sample

#: What the packets of a case are called whose recording has no file.
PACKETS = "packets.txt"

Value = str | float | bool | list[str] | dict[str, float]


class CaseExists(ValueError):
    """There is a case of this name already."""


# ---------------------------------------------------------------- rows


def remove(path: str) -> None:
    """Removes a file, if it is there."""
    with contextlib.suppress(OSError):
        os.unlink(path)  # noqa: PTH108


def keep_new(outcome: Outcome) -> Outcome:
    """Writes what is drawn and not expected beside the expected rows, as ``case.new``.

    Where all is as expected, what was written there before is removed.
    """
    case = outcome.case
    if case is None or case.expected is None:
        return outcome
    if outcome.drawn is None:
        if outcome.status in (CaseStatus.HOLDS, CaseStatus.FIGURES):
            remove(case.new)
        return outcome
    try:
        write_whole(case.new, outcome.drawn)
    except OSError as error:
        problem = f"{case.new}: cannot be written: {error.strerror or error}"
        return outcome._replace(problem="\n".join(filter(None, (outcome.problem, problem))))
    return outcome._replace(new=case.new)


def takeable(outcome: Outcome) -> str | None:
    """Where the rows of an outcome can become the expected ones; None: there are none."""
    return outcome.case.expected if outcome.case and outcome.drawn is not None else None


def accept(outcome: Outcome) -> None:
    """What is drawn becomes what is expected; raises ``OSError``."""
    case = outcome.case
    assert case is not None
    assert case.expected is not None
    assert outcome.drawn is not None
    write_whole(case.expected, outcome.drawn, replaces=True)
    remove(case.new)


def in_continuous_integration() -> bool:
    """Whether there is no person who could decide what to accept."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


def tsv(samples: Iterable[Sample]) -> bytes:
    """Samples as ``epic replay --format tsv`` writes them."""
    lines = ["\t".join(COLUMNS)]
    for sample in samples:
        numbers = [*sample.position, *sample.velocity]
        cells = ["" if sample.status == "none" else number(value) for value in numbers]
        name = sample.entity if sample.entity.isprintable() else ascii(sample.entity)[1:-1]
        lines.append("\t".join([number(sample.time), *cells, sample.status, name]))
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")


# ---------------------------------------------------------------- new cases


def spec_values(folder: str, spec: ReplaySpec, row_format: str = "tsv") -> dict[str, Value]:
    """The keys of a case in a folder, from which a strategy in a file is seen.

    They are those whose values differ from the defaults.
    """
    strategy, timing = spec.strategy, spec.timing
    values: dict[str, Value] = {
        "strategy": written(_strategy_from(folder, strategy.name), strategy.settings)
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
    """Makes a case, and expects what is drawn of it now; returns its file, and how many rows.

    With ``print_rows`` another program prints the expected rows: their bytes and format.

    ``recordings`` are paths as seen from where we are; with ``packets`` it is these instead.
    ``values`` are all other keys. Raises
    ``CaseExists``, ``BrokenCase``, ``StrategyFailed`` or ``OSError``; then it is not made. A new
    folder is there when all is in it, whatever ends the program.
    """
    import shutil

    path = os.path.join(folder, CASE_FILE)  # noqa: PTH118
    if os.path.lexists(path):
        raise CaseExists(f"{path} is there already: remove it first, or choose another name")
    check_output(path)
    if os.path.isdir(folder):  # noqa: PTH112
        return path, _fill(folder, recordings, values, packets, print_rows)
    whole = os.path.abspath(folder)  # noqa: PTH100
    # beside it: what is named from there is the same; what a killed run has left has this name
    parent, name = os.path.split(whole)
    part = os.path.join(parent, f".epic-{zlib.crc32(os.fsencode(name)):08x}.part")  # noqa: PTH118
    remove_part = partial(shutil.rmtree, part, ignore_errors=True)
    with cleaning_up(remove_part):
        try:
            remove_part()
            os.makedirs(part)  # noqa: PTH103
            count = _fill(part, recordings, values, packets, print_rows)
            os.rename(part, whole)  # noqa: PTH104
        except BrokenCase as error:
            place, what = (text.replace(part, folder) for text in (error.place, error.what))
            raise BrokenCase(place, what, gone=error.gone) from error
        finally:
            remove_part()
    return path, count


def _fill(
    folder: str,
    recordings: Sequence[str],
    values: Mapping[str, Value],
    packets: bytes | None,
    print_rows: Callable[[Case], tuple[bytes, str]] | None,
) -> int:
    """Writes the files of a case in a folder; returns how many rows are expected."""
    import tomlkit  # a check writes no case files

    path = os.path.join(folder, CASE_FILE)  # noqa: PTH118
    absolute = os.path.isabs
    named = [name if absolute(name) else os.path.relpath(name, folder) for name in recordings]
    made: list[str] = []
    try:
        # what names the others comes last: without it there is no case, whatever ended the program
        if packets is not None:
            named = [PACKETS]
            made += _leave(os.path.join(folder, PACKETS), packets)  # noqa: PTH118
        recording: Value = named[0] if len(named) == 1 else named
        text = tomlkit.dumps({"recording": recording, **values})
        case = read_case(path, trust=True, text=text)  # ours
        if print_rows is None:
            rows = draw(case.drawing).rows
            assert case.expected is not None
            made += _leave(case.expected, rows)
            count = check_rows(case, rows).rows
        else:
            rows, row_format = print_rows(case)
            made += _leave(beside(path, row_format), rows)
            count = rows.count(b"\n") - (row_format in ("tsv", "csv"))
        made += _leave(path, text.encode())
    except BaseException:
        for name in made:
            remove(name)
        raise
    return count


def _leave(path: str, data: bytes) -> list[str]:
    """Writes a file of a new case, and returns what was made; a killed run may have left it.

    Raises ``CaseExists`` where there is another file, and ``OSError``.
    """
    try:
        with open(path, "rb") as stream:  # noqa: PTH123
            if stream.read() == data:
                return []
        raise CaseExists(f"{path} is there already: remove it first, or choose another name")
    except FileNotFoundError:
        write_whole(path, data)
        return [path]


def _strategy_from(folder: str, strategy: str) -> str:
    path, colon, rest = strategy.rpartition(":")
    if not (colon and path.endswith(".py")):
        return strategy
    seen = os.path.relpath(path, folder)
    return f"{seen if seen.startswith('.') else f'./{seen}'}:{rest}"
