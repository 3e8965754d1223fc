"""Where cases are: ``case.toml`` in a folder, or ``NAME.case.toml``; and what has lost its case."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from epic_cli.checking.case import ROW_FORMATS, Case
from epic_cli.checking.outcome import Outcome, Verdict
from epic_cli.checking.toml_file import BrokenCase

CASE_FILE = "case.toml"

#: What is in front of the name's ending in files of expected rows.
EXPECTED = "expected"


def is_case(path: str) -> bool:
    """Whether a file is one by its name."""
    name = os.path.basename(path)  # noqa: PTH119
    return name == CASE_FILE or (name.endswith(f".{CASE_FILE}") and not name.startswith("."))


def case_name(path: str) -> str:
    """What a case is called: its folder, or its file without the ending."""
    if os.path.basename(path) == CASE_FILE:  # noqa: PTH119
        return os.path.dirname(path) or "."  # noqa: PTH120
    return path.removesuffix(f".{CASE_FILE}")


def beside(path: str, row_format: str) -> str:
    """Where the expected rows of a case file are."""
    return f"{path.removesuffix(CASE_FILE)}{EXPECTED}.{row_format}"


def expected_files(path: str) -> list[str]:
    """The files of expected rows beside a case file, in the order of the formats."""
    return [
        one
        for one in (beside(path, name) for name in ROW_FORMATS)
        if os.path.exists(one)  # noqa: PTH110
    ]


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
            if is_case(path):
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
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        for one in sorted(files):
            yield os.path.normpath(os.path.join(here, one))  # noqa: PTH118


def orphans(places: Iterable[str], cases: Iterable[str], used: Iterable[str]) -> list[Outcome]:
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
            lost[os.path.realpath(path)] = Outcome(path, path, Verdict.ORPHANED, problem=reason)
    return list(lost.values())


def check_places(cases: Iterable[Case]) -> dict[str, BrokenCase]:
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
