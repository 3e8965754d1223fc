"""Case files: ``case.toml`` holds options of ``epic replay``, and the expected results.

Every error in a file has a place: the file, the line, the column.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeGuard

from epic_cli.engine.failures import StrategyFailed
from epic_cli.engine.parameters import Number, SettingError, find_nearest
from epic_cli.engine.replay.strategy_spec import (
    StrategySpec,
    read_specs,
)
from epic_cli.engine.strategies import DEFAULT, list_remote_names
from epic_cli.engine.trust import BY_OPTION, apply_file_rule, check_output
from epic_cli.jobs.check.outcome import CaseStatus, Outcome, make_broken_outcome
from epic_cli.jobs.check.spec import (
    CASE_FILE,
    EXPECTED,
    NUMBERS,
    ROW_FORMATS,
    BrokenCase,
    Case,
    CaseRecording,
    DrawSpec,
    Tolerance,
    Tolerances,
    TruthSpec,
    find_expected_file,
    get_case_name,
    list_expected_files,
)
from epic_cli.jobs.check.streams import make_builtin_streams
from epic_cli.jobs.replay.spec import FIELDS, READERS, ReplaySpec
from epic_cli.metrics import METRICS
from epic_cli.metrics.conditions import (
    Condition,
    ConditionError,
    check_strategies,
    parse_expectation,
)
from epic_cli.recordings.read_spec import ReadSpec

_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_KEY = r"""(?:"{0}"|'{0}'|{0})"""

#: Most bytes of a case file.
LONGEST_FILE = 1_000_000


class TomlFile(NamedTuple):
    """A parsed TOML file that can name the line and column of each key."""

    path: str
    text: str
    table: dict[str, Any]

    def locate_key(self, *keys: str) -> str:
        """Return ``file:line:column`` of a key (outermost table first), or the file if unknown."""
        line, column = _find_key(self.text, keys)
        return f"{self.path}:{line}:{column}" if line else self.path

    def make_error(self, what: str, *keys: str, gone: bool = False) -> BrokenCase:
        """Return a ``BrokenCase`` error that begins with the place of a key."""
        return BrokenCase(self.locate_key(*keys), what, gone=gone)

    def check_keys(self, table: dict[str, Any], known: Collection[str], *keys: str) -> None:
        """Raise ``BrokenCase`` for an unknown key of the table at ``keys``.

        Propose the nearest known key.
        """
        for key in table:
            if key not in known:
                near = find_nearest(key, list(known))
                hint = f"did you mean {near!r}?" if near else f"there are {', '.join(known)}"
                where = f" in [{'.'.join(keys)}]" if keys else ""
                raise self.make_error(f"there is no key {key!r}{where}; {hint}", *keys, key)


def read_toml(path: str) -> TomlFile:
    """Read a TOML file; raise ``BrokenCase``."""
    try:
        with open(path, "rb") as stream:  # noqa: PTH123
            data = stream.read(LONGEST_FILE + 1)
    except OSError as error:
        raise BrokenCase.from_unreadable(path, error) from error
    if len(data) > LONGEST_FILE:
        raise BrokenCase(path, f"more than {LONGEST_FILE:,} bytes: this is no case file")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise BrokenCase(f"{path}:{line}:{column}", "this is not UTF-8") from error
    try:
        return TomlFile(path, text, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise _make_toml_error(path, text, str(error)) from error
    except RecursionError as error:
        raise BrokenCase(path, "its values are nested too deeply for a case file") from error


def resolve_path(file: TomlFile, written: str) -> str:
    """Return a path that a TOML file names, resolved from the folder of that file.

    Raises ``BrokenCase`` for a device or a pipe, which might never end.
    """
    path = os.path.normpath(os.path.join(os.path.dirname(file.path), written))  # noqa: PTH118, PTH120
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):  # noqa: PTH110, PTH112, PTH113
        raise file.make_error(f"{written} is neither a file nor a folder: give a path that exists")
    return path


def _make_toml_error(path: str, text: str, message: str) -> BrokenCase:
    found = _AT.search(message)
    line, column = text.count("\n") + 1, len(text) - text.rfind("\n")
    if found and found[1]:
        line, column = int(found[1]), int(found[2])
    what = message[: found.start()] if found else message
    return BrokenCase(f"{path}:{line}:{column}", f"this is not TOML: {what}")


def _find_key(text: str, keys: tuple[str, ...]) -> tuple[int, int]:
    """Return line and column of a key, from 1; 0 if the key was not found."""
    if not keys:
        return 0, 0
    header: tuple[str, ...] = ()
    table = 0, 0
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if bare.startswith("[") and "=" not in bare:
            names = bare.partition("]")[0].strip("[] ")
            header = tuple(part.strip(" \"'") for part in names.split("."))
            if keys[: len(header)] == header:
                table = number, len(line) - len(line.lstrip()) + 1
            continue
        if keys[: len(header)] != header:
            continue
        dotted = r"\s*\.\s*".join(_KEY.format(re.escape(key)) for key in keys[len(header) :])
        first = _KEY.format(re.escape(keys[min(len(header), len(keys) - 1)]))
        if keys[len(header) :] and re.match(rf"\s*{dotted}\s*=", line):
            return number, len(line) - len(line.lstrip()) + 1
        inline = re.match(rf"\s*{first}\s*=\s*\{{", line)
        if inline and len(keys) > len(header):
            inner = re.search(rf"[{{,]\s*({_KEY.format(re.escape(keys[-1]))})\s*=", line)
            return number, (inner.start(1) if inner else inline.start()) + 1
    return table


_TIMES = (
    Number("truth-offset", 0.0, "Seconds to add to the times of the truth.", "s", -1e9, 1e9),
    Number(
        "warm-up", 0.0, "Seconds at the start that are left out of the evaluation.", "s", 0, 1e9
    ),
)
_TRUTH = ("truth", *(time.name for time in _TIMES))


class Expectations:
    """The tables of a case file that state expected results; each method raises ``BrokenCase``."""

    def __init__(self, file: TomlFile) -> None:
        self._file = file

    def make_tolerances(self) -> Tolerances:
        """Return the allowed differences of numbers."""
        table = self._get_sub_table("tolerance")
        self._file.check_keys(table, ("atol", "rtol", *NUMBERS), "tolerance")
        default = self._read_tolerance(table, ("tolerance",), Tolerance())
        columns = {}
        for column in NUMBERS:
            if column in table:
                one = table[column]
                if not isinstance(one, dict):
                    one = {"atol": one}
                self._file.check_keys(one, ("atol", "rtol"), "tolerance", column)
                columns[column] = self._read_tolerance(one, ("tolerance", column), default)
        return Tolerances(default, columns)

    def _read_tolerance(
        self, table: dict[str, Any], keys: tuple[str, ...], default: Tolerance
    ) -> Tolerance:
        found = default
        for key in ("atol", "rtol"):
            if key not in table:
                continue
            value = table[key]
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if not is_number or not 0 <= value < float("inf"):
                raise self._file.make_error(
                    f"it must be a number from 0 on, not {value!r}", *keys, key
                )
            found = found._replace(**{key: float(value)})
        return found

    def make_conditions(self, labels: list[str]) -> tuple[tuple[Condition, ...], TruthSpec]:
        """Return the conditions on the strategies of these labels, and the truth to judge by."""
        table = self._get_sub_table("expect")
        known = [metric.name for metric in METRICS]
        self._file.check_keys(table, (*known, *_TRUTH, *labels), "expect")
        found = []
        for key, value in table.items():
            inner = value if isinstance(value, dict) else {key: value}
            keys = ("expect", key) if isinstance(value, dict) else ("expect",)
            if key in _TRUTH:
                continue
            self._file.check_keys(inner, known, *keys)
            for metric, limits in inner.items():
                label = key if isinstance(value, dict) else None
                for text in limits if isinstance(limits, list) else [limits]:
                    try:
                        found.append(parse_expectation(metric, str(text), label))
                        check_strategies(found[-1:], labels)
                    except ConditionError as error:
                        raise self._file.make_error(str(error), *keys, metric) from error
        return tuple(found), self._read_truth(table)

    def _read_truth(self, table: dict[str, Any]) -> TruthSpec:
        path = table.get("truth")
        if path is not None and not isinstance(path, str):
            raise self._file.make_error("it must be a path", "expect", "truth")
        times = {}
        for time in _TIMES:
            if time.name in table:
                try:
                    times[time.name] = time.read(str(table[time.name]))
                except SettingError as error:
                    raise self._file.make_error(str(error), "expect", time.name) from error
        return TruthSpec(
            None if path is None else resolve_path(self._file, path),
            times.get("truth-offset", 0.0),
            times.get("warm-up"),
        )

    def _get_sub_table(self, key: str) -> dict[str, Any]:
        table = self._file.table.get(key, {})
        if not isinstance(table, dict):
            raise self._file.make_error(f"it must be a table: write [{key}]", key)
        return table


Reader = Callable[[str], Any]

#: Word for all built-in strategies.
ALL = "all"


#: All keys that a replay has, too; and what a case has besides. What it cannot say of a replay is
#: where its rows go, how messages look, and whose configuration counts.
KEYS = (*READERS, "strict")
OWN = ("recording", "expected", "printed_by", "tolerance", "expect")


def read_case(
    path: str, trust: bool = False, remedy: str = BY_OPTION, text: str | None = None
) -> Case:
    """Return the case in a file, or the case that ``text`` describes; raise ``BrokenCase``.

    Only with ``trust`` it may name code; ``remedy`` says how to give trust. Raises
    ``StrategyFailed`` if a custom strategy fails when it is made.
    """
    file = read_toml(path) if text is None else TomlFile(path, text, tomllib.loads(text))
    with apply_file_rule(path, trust, remedy):
        return _CaseReader(file).read_case()


class _CaseReader:
    """A reader of one case file."""

    def __init__(self, file: TomlFile) -> None:
        self._file = file
        self._table = file.table
        file.check_keys(file.table, (*OWN, *KEYS))
        self._values = {
            FIELDS.get(key, key): self._read_value(key, read)
            for key, read in READERS.items()
            if key in self._table and key != "strategy"
        }

    def read_case(self) -> Case:
        """Return the case that the file describes."""
        file, recordings = self._file, self._read_recordings()
        candidates, several = self._read_candidates()
        if several and len(recordings) > 1:
            what = "several strategies and several recordings: rows name one of them only"
            raise file.make_error(what, "strategy")
        expectations = Expectations(file)
        conditions, truth = expectations.make_conditions(
            [candidate.label for candidate in candidates]
        )
        if conditions and len(recordings) > 1:
            raise file.make_error(
                "metrics are computed over a single recording: name only one recording", "expect"
            )
        expected, row_format = self._find_expected_rows(conditions)
        if row_format == "epic" and several:
            what = "epic rows do not name their strategy: give one strategy, or another format"
            raise file.make_error(what, "strategy")
        replay = self._read_replay(row_format, len(recordings) > 1)
        drawing = DrawSpec(recordings, candidates, several, replay)
        tolerances = expectations.make_tolerances()
        name = get_case_name(file.path)
        printed_by = self._read_program_command(several or len(recordings) > 1)
        case = Case(name, file.path, drawing, expected, tolerances, conditions, truth, printed_by)
        for output in filter(None, (case.expected, case.new)):
            try:
                check_output(output)
            except PermissionError as error:
                raise file.make_error(f"{output}: {error.strerror}", "expected") from error
        return case

    # ------------------------------------------------------------ what is drawn

    def _read_value(self, key: str, read: Reader) -> Any:
        value = self._table[key]
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise self._file.make_error(f"expected one value, not {value!r}", key)
        try:
            return read(str(value))
        except ValueError as error:
            raise self._file.make_error(str(error), key) from error

    def _read_recordings(self) -> tuple[CaseRecording, ...]:
        if "recording" not in self._table:
            raise self._file.make_error("it names no recording: recording = 'FILE'")
        named = self._table["recording"]
        written = named if isinstance(named, list) else [named]
        if not written or not all(map(_is_path, written)):
            raise self._file.make_error(
                "it must be a path, or a list of paths, not empty and without NUL", "recording"
            )
        return tuple(CaseRecording(item, resolve_path(self._file, item)) for item in written)

    def _read_replay(self, row_format: str, several: bool) -> ReplaySpec:
        strict = self._table.get("strict", False)
        if not isinstance(strict, bool):
            raise self._file.make_error("is true or false", "strict")
        values = {**self._values, "row_format": row_format, "strict": strict}
        replay = ReplaySpec.from_values(**values)
        try:
            replay.check()
            return replay._replace(file_column=replay.make_column(several) or "no")
        except SettingError as error:
            raise self._file.make_error(str(error).replace("--", ""), error.about[0]) from error

    def _resolve_strategy(self, text: str) -> str:
        """Return the strategy's text.

        A custom strategy's file is resolved from the case's folder.
        """
        name, plus, settings = text.partition("+")
        path, colon, rest = name.rpartition(":")
        if not (colon and path.endswith(".py")):
            return text
        return f"{os.path.abspath(resolve_path(self._file, path))}:{rest}{plus}{settings}"  # noqa: PTH100

    def _read_candidates(self) -> tuple[tuple[StrategySpec, ...], bool]:
        """Return the strategies, and whether the file gives a list of strategies."""
        listed = self._table.get("strategy", DEFAULT)
        several = isinstance(listed, list) or listed == ALL
        labels: list[str] = []
        for text in listed if isinstance(listed, list) else [listed]:
            labels += sorted(list_remote_names()) if text == ALL else [str(text)]
        if not labels:
            what = f"is NAME or NAME+key=value, a list of these, or {ALL!r}"
            raise self._file.make_error(what, "strategy")
        try:
            found = read_specs(map(self._resolve_strategy, labels))
        except ValueError as error:
            raise self._file.make_error(str(error), "strategy") from error
        specs = zip(found, labels, strict=True)
        return tuple(
            StrategySpec(spec.name, spec.settings, label) for spec, label in specs
        ), several

    # ------------------------------------------------------------ what is expected

    def _read_program_command(self, several: bool) -> str:
        """Return the command of the program that printed the expected rows; empty: none."""
        named = self._table.get("printed_by", "")
        if not isinstance(named, str):
            raise self._file.make_error("is the command of a program", "printed_by")
        if named and several:
            raise self._file.make_error(
                "a program prints rows of one recording and strategy: name one of each",
                "printed_by",
            )
        return named

    def _find_expected_rows(self, conditions: tuple[Condition, ...]) -> tuple[str | None, str]:
        """Return the file of expected rows and its format, by default that of the file's name."""
        given = self._values.get("row_format")
        if given is not None and given not in ROW_FORMATS:
            what = f"{given} rows are cut to a screen: choose from {', '.join(ROW_FORMATS)}"
            raise self._file.make_error(what, "format")
        named = self._table.get("expected")
        if named is not None:
            if not _is_path(named):
                raise self._file.make_error(
                    "it must be a path, not empty and without NUL", "expected"
                )
            ending = named.rpartition(".")[2]
            row_format = given or (ending if ending in ROW_FORMATS else "tsv")
            return resolve_path(self._file, named), row_format
        there = list_expected_files(self._file.path)
        if given is not None:
            there = [name for name in there if name.endswith(f".{given}")]
        if len(there) > 1:
            what = f"{' and '.join(there)} are both there: give the format, or remove one"
            raise BrokenCase(self._file.path, what)
        if there:
            return there[0], there[0].rpartition(".")[2]
        row_format = given or "tsv"
        return None if conditions else find_expected_file(self._file.path, row_format), row_format


def _is_path(written: object) -> TypeGuard[str]:
    return isinstance(written, str) and bool(written) and "\0" not in written


def load(places: Sequence[str], trust: bool = False) -> list[Case | Outcome]:
    """Return the cases in folders and files, in order, then expected rows that have no case.

    Only with ``trust`` cases may name code. An unreadable case becomes an outcome. Raises
    ``BrokenCase`` if there are no cases.
    """
    found = find_cases(places)
    cases: list[Case | Outcome] = []
    for path in found:
        try:
            cases.append(read_case(path, trust))
        except (BrokenCase, StrategyFailed) as error:
            cases.append(make_broken_outcome(get_case_name(path), path, error))
    read = [case for case in cases if isinstance(case, Case)]
    clashes = _find_clashes(read)
    cases = [
        make_broken_outcome(case.name, case.file, clashes[case.file])
        if case.file in clashes
        else case
        for case in cases
    ]
    # rows beside a case that cannot be read may be its own
    unread = {os.path.dirname(case.file) for case in cases if isinstance(case, Outcome)}  # noqa: PTH120
    lost = _find_orphans(places, found, [case.expected for case in read if case.expected])
    return [*cases, *(outcome for outcome in lost if os.path.dirname(outcome.file) not in unread)]  # noqa: PTH120


def make_builtin_cases(drawing: DrawSpec) -> list[Case]:
    """Return a case for each built-in stream, drawn as ``drawing`` says."""
    return [
        Case(
            f"builtin/{stream.name}",
            "streams.json",
            drawing.replace_fields(read=ReadSpec(format="text"))._replace(
                recordings=(CaseRecording(stream.name, None, stream.text),)
            ),
            None,
        )
        for stream in make_builtin_streams()
    ]


def split_case(case: Case) -> Iterator[Case]:
    """Split a case into cases that have one strategy and one recording each."""
    drawing = case.drawing
    for candidate in drawing.candidates:
        for recording in drawing.recordings:
            words = [case.name]
            if len(drawing.candidates) > 1:
                words.append(candidate.label)
            if len(drawing.recordings) > 1:
                words.append(recording.name)
            own = drawing.replace_fields(file_column="no")._replace(
                recordings=(recording,), candidates=(candidate,), several=False
            )
            yield case._replace(name=" ".join(words), drawing=own)


# ---------------------------------------------------------------- files


def is_case(path: str) -> bool:
    """Return True if a file's name is that of a case file."""
    name = os.path.basename(path)  # noqa: PTH119
    return name == CASE_FILE or (name.endswith(f".{CASE_FILE}") and not name.startswith("."))


def find_cases(places: Iterable[str]) -> list[str]:
    """Return the case files of folders and of files, each once; raise ``BrokenCase``.

    Folders are searched to any depth, except for hidden folders.
    """
    found: dict[str, str] = {}
    for place in places:
        there = list(_find_cases_at(place))
        if not there:
            what = "no cases here: neither case.toml nor NAME.case.toml"
            raise BrokenCase(place, what)
        for path in there:
            found.setdefault(os.path.realpath(path), path)
    return list(found.values())


def _find_cases_at(place: str) -> Iterator[str]:
    if os.path.isdir(place):  # noqa: PTH112
        for path in _list_files(place):
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


def _list_files(folder: str) -> Iterator[str]:
    """Yield all files below a folder in the order of their names, without hidden folders."""
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            yield os.path.normpath(os.path.join(here, name))  # noqa: PTH118


def _find_orphans(
    places: Iterable[str], cases: Iterable[str], used: Iterable[str]
) -> list[Outcome]:
    """Return an outcome for each file of expected rows in these folders that belongs to no case."""
    taken = {os.path.realpath(name) for name in used}
    known = {os.path.realpath(name) for name in cases}
    lost = {}
    for place in places:
        for path in _list_files(place) if os.path.isdir(place) else ():  # noqa: PTH112
            stem, dot, ending = os.path.basename(path).rpartition(".")  # noqa: PTH119
            is_rows = dot and ending in ROW_FORMATS and f".{stem}".endswith(f".{EXPECTED}")
            if not is_rows or os.path.realpath(path) in taken:
                continue
            case = f"{path.removesuffix(f'{EXPECTED}.{ending}')}{CASE_FILE}"
            reason = f"there is no {case}: write one, or remove these rows"
            if os.path.realpath(case) in known:
                reason = f"{case} expects rows in another file: remove these rows"
            lost[os.path.realpath(path)] = Outcome(path, path, CaseStatus.ORPHANED, problem=reason)
    return list(lost.values())


def _find_clashes(cases: Iterable[Case]) -> dict[str, BrokenCase]:
    """Return an error for each case whose rows would overwrite another case's, by case file."""
    first: dict[str, Case] = {}
    wrong: dict[str, BrokenCase] = {}
    for case in cases:
        for place in filter(None, (case.expected, case.new)):
            other = first.setdefault(os.path.realpath(place), case)
            if other is not case:
                what = f"writes to {place}, as {other.file} does: give each its own"
                wrong.setdefault(case.file, BrokenCase(case.file, what))
    return wrong
