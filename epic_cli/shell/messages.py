"""Messages on stderr about a recording: its layout, what looks odd, which lines are refused."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from epic_cli.recordings.watch import RecordingMonitor
from epic_cli.shell.errors import quoted, say

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from epic_cli.engine.packets import PacketBlock
    from epic_cli.engine.refusals import Refusal
    from epic_cli.recordings.findings import RecordingFinding
    from epic_cli.recordings.read_spec import ReadSpec
    from epic_cli.shell.profiles import Saving
    from epic_cli.shell.refused_lines import RefusedLines

# Wording is imported only when there is something to report: packet text must start fast.


class Messages:
    """How much is reported: ``quiet``: only fatal errors; ``all_errors``: every refused line."""

    def __init__(self, quiet: bool = False, all_errors: bool = False) -> None:
        self.quiet: Final = quiet
        self.all_errors: Final = all_errors


class Reporter:
    """Reports on a recording as it is read, and the count of refused lines when its block ends.

    Messages go to ``write``, by default to stderr.
    """

    def __init__(
        self,
        name: str,
        messages: Messages = Messages(),  # noqa: B008
        color: bool = False,
        write: Callable[[str], object] = say,
    ) -> None:
        self.name = name
        self._messages = messages
        self._color = color
        self._write = write
        self._lines: RefusedLines | None = None
        self.watch = RecordingMonitor(name=name)
        self._inferred: ReadSpec | None = None
        self._saved = False
        self.packets = 0

    @property
    def refused(self) -> bool:
        """Whether lines of the recording were refused."""
        return self._lines is not None

    def say(self, text: str) -> None:
        """Writes a message unless ``quiet``."""
        if not self._messages.quiet:
            self._write(text)

    def requested(self, spec: ReadSpec) -> None:
        """Takes how the user wants it to be read."""
        self.watch.requested(spec)

    def inferred(self, spec: ReadSpec) -> None:
        """Reports how it is read where that was inferred."""
        from epic_cli.recordings.wording import FrontEnd

        self._inferred = spec
        self.watch.inferred(spec)
        how = FrontEnd.COMMAND_LINE.read(spec.write())
        self.say(f"epic: {quoted(self.name)}: read with {quoted(how)}\n")

    def save(self, saving: Saving | None, given: ReadSpec) -> None:
        """Saves how it is read, inferred or ``given``, as a profile."""
        if saving is not None and self.packets and not self._saved:
            self._saved = True
            self.say(saving.save(self._inferred or given))

    def observe(self, block: PacketBlock) -> None:
        """Takes the recording's next packets."""
        self.packets += len(block)
        if self.watch.observe(block):
            self._say_findings()

    def end_of_recording(self) -> None:
        """There are no more packets: reports what is found in all of them."""
        if self.watch.end():
            self._say_findings()

    def _say_findings(self) -> None:
        from epic_cli.recordings.checks import new_findings

        for finding in new_findings(self.watch):
            self.say(finding_words(self.name, finding))

    def estimated(self) -> None:
        """Reports that missing velocities are estimated."""
        words = "packets without a velocity get one from the position before theirs"
        self.say(f"epic: {quoted(self.name)}: {words}\n")

    def refuse(self, refusals: Sequence[Refusal]) -> None:
        """Takes the next refused lines."""
        if not refusals:
            return
        if self._lines is None:
            self._lines = self._refused_lines()
        self._lines.add(refusals)

    def stop(self, refusal: Refusal) -> None:
        """The refused line that ends the run."""
        self._messages = Messages()
        self.refuse([refusal])
        self._lines = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.end_of_recording()
        if self._lines is not None:
            self.say(self._lines.summary(self.packets))

    def _refused_lines(self) -> RefusedLines:
        from epic_cli.recordings.wording import FrontEnd
        from epic_cli.shell.console import screen_columns
        from epic_cli.shell.refused_lines import RefusedLines

        columns = screen_columns(sys.stderr) if sys.stderr and sys.stderr.isatty() else None
        return RefusedLines(
            self.name,
            FrontEnd.COMMAND_LINE,
            self.say,
            color=self._color,
            columns=columns,
            everything=self._messages.all_errors,
        )


def finding_words(name: str, finding: RecordingFinding) -> str:
    """A line for stderr: what is found in the recording ``name``, and what helps."""
    from epic_cli.recordings.wording import FrontEnd

    return f"epic: {quoted(name)}: {quoted(finding.words(FrontEnd.COMMAND_LINE))}\n"
