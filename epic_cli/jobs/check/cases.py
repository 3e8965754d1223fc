"""Where cases come from: ``case.toml`` in a folder, ``NAME.case.toml``, and what is built in."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from epic_cli.engine.failures import StrategyFailed
from epic_cli.jobs.check.case import (
    CASE_FILE,
    EXPECTED,
    ROW_FORMATS,
    BrokenCase,
    Case,
    DrawSpec,
    Recording,
    case_name,
)
from epic_cli.jobs.check.case_file import read_case
from epic_cli.jobs.check.outcome import CaseStatus, Outcome, broken
from epic_cli.jobs.check.streams import builtin_streams


def load(places: Sequence[str], trust: bool = False) -> list[Case | Outcome]:
    """The cases in folders and files, in their order, then expected rows that have lost theirs.

    Only with ``trust`` they may name code. A case that cannot be read is an outcome already. Raises
    ``BrokenCase`` where there are none.
    """
    found = find_cases(places)
    cases: list[Case | Outcome] = []
    for path in found:
        try:
            cases.append(read_case(path, trust))
        except (BrokenCase, StrategyFailed) as error:
            cases.append(broken(case_name(path), path, error))
    read = [one for one in cases if isinstance(one, Case)]
    clashes = _clashes(read)
    cases = [
        broken(one.name, one.file, clashes[one.file]) if one.file in clashes else one
        for one in cases
    ]
    # rows beside a case that cannot be read may be its own
    unread = {os.path.dirname(one.file) for one in cases if isinstance(one, Outcome)}  # noqa: PTH120
    lost = _orphans(places, found, [one.expected for one in read if one.expected])
    return [*cases, *(one for one in lost if os.path.dirname(one.file) not in unread)]  # noqa: PTH120


def builtin_cases(drawing: DrawSpec) -> list[Case]:
    """A case for each built-in stream, drawn as ``drawing`` says, whose recordings do not count."""
    return [
        Case(
            f"builtin/{stream.name}",
            "streams.json",
            drawing._replace(
                recordings=(Recording(stream.name, None, stream.text),),
                input_format="text",
                layout=None,
            ),
            None,
        )
        for stream in builtin_streams()
    ]


def singles(case: Case) -> Iterator[Case]:
    """The cases of one strategy and one recording each that a case consists of."""
    drawing = case.drawing
    for candidate in drawing.candidates:
        for recording in drawing.recordings:
            words = [case.name]
            if len(drawing.candidates) > 1:
                words.append(candidate.label)
            if len(drawing.recordings) > 1:
                words.append(recording.name)
            own = drawing._replace(
                recordings=(recording,), candidates=(candidate,), several=False, file_column=None
            )
            yield case._replace(name=" ".join(words), drawing=own)


# ---------------------------------------------------------------- files


def is_case(path: str) -> bool:
    """Whether a file is one by its name."""
    name = os.path.basename(path)  # noqa: PTH119
    return name == CASE_FILE or (name.endswith(f".{CASE_FILE}") and not name.startswith("."))


def find_cases(places: Iterable[str]) -> list[str]:
    """The case files of folders and of files, each once; raises ``BrokenCase``.

    In a folder those of folders below it count as well, but for hidden ones.
    """
    found: dict[str, str] = {}
    for place in places:
        there = list(_cases_at(place))
        if not there:
            what = "no cases here: neither case.toml nor NAME.case.toml"
            raise BrokenCase(place, what)
        for path in there:
            found.setdefault(os.path.realpath(path), path)
    return list(found.values())


def _cases_at(place: str) -> Iterator[str]:
    if os.path.isdir(place):  # noqa: PTH112
        for path in _files(place):
            if is_case(path) and os.path.isfile(path):  # noqa: PTH113
                yield path
    elif os.path.exists(f"{place}.{CASE_FILE}"):  # noqa: PTH110
        yield f"{place}.{CASE_FILE}"
    elif not os.path.exists(place):  # noqa: PTH110
        raise BrokenCase(place, "there is no such file or folder", gone=True)
    elif place.endswith(".toml"):
        yield place
    else:
        raise BrokenCase(place, "is no case: give a folder, case.toml or NAME.case.toml")


def _files(folder: str) -> Iterator[str]:
    """All files below a folder, in the order of their names; hidden folders are left out."""
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        for one in sorted(names):
            yield os.path.normpath(os.path.join(here, one))  # noqa: PTH118


def _orphans(places: Iterable[str], cases: Iterable[str], used: Iterable[str]) -> list[Outcome]:
    """Files of expected rows, in the folders given, that no case has."""
    taken = {os.path.realpath(one) for one in used}
    known = {os.path.realpath(one) for one in cases}
    lost = {}
    for place in places:
        for path in _files(place) if os.path.isdir(place) else ():  # noqa: PTH112
            stem, dot, ending = os.path.basename(path).rpartition(".")  # noqa: PTH119
            is_rows = dot and ending in ROW_FORMATS and f".{stem}".endswith(f".{EXPECTED}")
            if not is_rows or os.path.realpath(path) in taken:
                continue
            case = f"{path.removesuffix(f'{EXPECTED}.{ending}')}{CASE_FILE}"
            reason = f"there is no {case}"
            if os.path.realpath(case) in known:
                reason = f"{case} draws rows of another format, or elsewhere"
            lost[os.path.realpath(path)] = Outcome(path, path, CaseStatus.ORPHANED, problem=reason)
    return list(lost.values())


def _clashes(cases: Iterable[Case]) -> dict[str, BrokenCase]:
    """The cases, by file, whose rows would be written where another case's are."""
    first: dict[str, Case] = {}
    wrong: dict[str, BrokenCase] = {}
    for case in cases:
        for place in filter(None, (case.expected, case.new)):
            other = first.setdefault(os.path.realpath(place), case)
            if other is not case:
                what = f"writes to {place}, as {other.file} does: give each its own"
                wrong.setdefault(case.file, BrokenCase(case.file, what))
    return wrong
