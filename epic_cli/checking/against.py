"""A case's rows held against those of somebody's own implementation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from epic_cli.checking.case import Case, Tolerances
from epic_cli.checking.differences import Difference, compare
from epic_cli.checking.drawing import draw
from epic_cli.checking.feed import environment_of, feed_of
from epic_cli.checking.outcome import Outcome, Verdict
from epic_cli.checking.port import Ending, Port
from epic_cli.checking.rows import NotRows, format_of, parse


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


class Against(NamedTuple):
    """A program under test, the format of the packets it reads, and what it may differ by.

    Without ``tolerances`` those of the case count.
    """

    port: Port
    packet_format: str = "text"
    tolerances: Tolerances | None = None

    def check(self, case: Case) -> Outcome:
        """Gives the program the case's packets; ours are the expected rows.

        The columns that it prints are compared. Raises ``BrokenCase``, ``StrategyFailed``.
        """
        ours = draw(case.drawing._replace(row_format="tsv"))
        given = feed_of(case.drawing, self.packet_format)
        most = 1_000_000 + 8 * len(ours.rows)
        run = self.port.run(given, environment_of(case), most)
        outcome = Outcome(
            case.name, case.file, Verdict.HOLDS, case, rows=ours.rows.count(b"\n") - 1
        )
        if run.ending is not Ending.DONE:
            return outcome._replace(verdict=Verdict.PORT_FAILED, port=run)
        tolerances = self.tolerances or case.tolerances
        try:
            difference, ignored = _held_against(case, ours.rows, run.output, tolerances)
        except NotRows as error:
            return outcome._replace(verdict=Verdict.PORT_FAILED, port=run, problem=str(error))
        verdict = Verdict.DIFFERS if difference else Verdict.HOLDS
        return outcome._replace(verdict=verdict, difference=difference, ignored=ignored)


def _held_against(
    case: Case, ours: bytes, output: bytes, tolerances: Tolerances
) -> tuple[Difference | None, tuple[str, ...]]:
    """What differs, and which columns were not compared; raises ``NotRows``."""
    found = format_of(output)
    if found is None:
        if output.strip():
            first = output.lstrip()[:60].partition(b"\n")[0].decode("utf-8", "backslashreplace")
            raise NotRows(1, f"{first!r} is no row: print epic rows, CSV, TSV or JSON lines")
        found = "tsv"
        output = ours.partition(b"\n")[0] + b"\n"
    if output and not output.endswith(b"\n"):
        output += b"\n"
    theirs = parse(output, found)
    if found == "epic":
        epic = draw(case.drawing._replace(row_format="epic")).rows
        return compare(parse(epic, "epic"), theirs, tolerances, literal=True), ()
    table = parse(ours, "tsv")
    difference = compare(table, theirs, tolerances)
    ignored = tuple(one for one in table.columns if one not in theirs.columns)
    return difference, ignored
