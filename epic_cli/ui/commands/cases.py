"""Cases from their files, new ones, and those that are built in."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence

from epic_cli.checking.builtin import builtin_cases
from epic_cli.checking.case import ROW_FORMATS, Case, Drawing
from epic_cli.checking.discovery import (
    case_name,
    check_places,
    find_cases,
    orphans,
)
from epic_cli.checking.outcome import Outcome
from epic_cli.checking.run import broken, judged, write
from epic_cli.checking.toml_file import BrokenCase
from epic_cli.checking.writing import CaseExists, new_case
from epic_cli.engine.failures import StrategyFailed
from epic_cli.ui.io.case_values import case_values
from epic_cli.ui.io.errors import CannotAccess, ExitStatus, WrongUsage
from epic_cli.ui.io.output import write_text
from epic_cli.ui.io.replaying import ReplayOptions
from epic_cli.ui.options.case import read_case


def load(places: Sequence[str]) -> list[Case | Outcome]:
    """The cases in folders and files, in their order, then expected rows that have lost theirs.

    A case that cannot be read is an outcome already. Raises ``WrongUsage`` where there are none.
    """
    try:
        found = find_cases(places)
    except BrokenCase as error:
        if error.gone:
            raise CannotAccess("read", error.place, FileNotFoundError(2, error.what)) from error
        raise WrongUsage(str(error)) from error
    cases: list[Case | Outcome] = []
    for path in found:
        try:
            cases.append(read_case(path))
        except (BrokenCase, StrategyFailed) as error:
            cases.append(broken(case_name(path), path, error))
    read = [one for one in cases if isinstance(one, Case)]
    clashes = check_places(read)
    cases = [
        broken(one.name, one.file, clashes[one.file]) if one.file in clashes else one
        for one in cases
    ]
    unread = {one.file for one in cases if isinstance(one, Outcome)}
    lost = orphans(places, found, [one.expected for one in read if one.expected])
    return [*cases, *(one for one in lost if not _of_broken(one.file, unread))]


def _of_broken(rows: str, unread: set[str]) -> bool:
    """Whether rows may be those of a case that cannot be read."""
    folder = os.path.dirname(rows)  # noqa: PTH120
    return any(os.path.dirname(one) == folder for one in unread)  # noqa: PTH120


def builtin(options: ReplayOptions) -> list[Case | Outcome]:
    """The streams that strategies are tested with, drawn as the options say."""
    chosen = options.chosen
    chosen.maker()
    candidate = chosen._replace(label=chosen.name)
    return [*builtin_cases(Drawing((), (candidate,), timing=options.timing))]


def make(folder: str, files: tuple[str, ...], options: ReplayOptions, format_given: bool) -> int:
    """Makes a case of a recording, with what is drawn of it now as its expected rows.

    Raises ``WrongUsage``, ``CannotAccess``, ``StrategyFailed``.
    """
    row_format = options.row_format if format_given else "tsv"
    if row_format not in ROW_FORMATS:
        raise WrongUsage(f"--format {row_format}: choose from {', '.join(ROW_FORMATS)}")
    if not files:
        raise WrongUsage("--new CASE needs a recording: a file, or - for standard input")
    packets = None
    if "-" in files:
        if len(files) > 1 or sys.stdin is None:
            raise WrongUsage("--new CASE takes standard input alone")
        packets = sys.stdin.buffer.read()
    chosen = options.chosen
    values = case_values(folder, chosen.name, chosen.settings, options.timing, options.given)
    others = {
        "entity": options.entity,
        "input-format": None if options.input_format == "auto" else options.input_format,
        "strict": options.strict or None,
        "file-column": options.file_column,
        "format": None if row_format == "tsv" else row_format,
    }
    values.update({key: value for key, value in others.items() if value is not None})
    try:
        path = new_case(folder, list(files), values, packets)
    except CaseExists as error:
        raise WrongUsage(str(error)) from error
    except OSError as error:
        raise CannotAccess("write to", folder, error) from error
    try:
        rows = _expect(read_case(path))
    except BaseException as error:
        for name in (path, os.path.join(folder, "packets.txt")):  # noqa: PTH118
            with contextlib.suppress(OSError):
                os.unlink(name)  # noqa: PTH108
        with contextlib.suppress(OSError):
            os.rmdir(folder)  # noqa: PTH106
        if isinstance(error, BrokenCase):
            raise WrongUsage(str(error)) from error
        raise
    write_text(f"{path}: a case of {rows:,} rows\n")
    return ExitStatus.DONE


def _expect(case: Case) -> int:
    outcome = judged(case)
    if case.expected is None or outcome.drawn is None:
        raise WrongUsage(f"{case.file}: {case.expected} is there already")
    try:
        write(case.expected, outcome.drawn)
    except OSError as error:
        raise CannotAccess("write to", case.expected, error) from error
    return outcome.rows
