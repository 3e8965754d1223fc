"""Messages on stderr about a recording: its layout, what looks odd, which lines are refused."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from epic_cli.engine.text.widths import some
from epic_cli.recordings.opening import ReadingLog
from epic_cli.shell.errors import StoppedAtLine, quote_text, write_message

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epic_cli.engine.packets import PacketBlock
    from epic_cli.engine.refusals import Refusal
    from epic_cli.recordings.findings import RecordingFinding
    from epic_cli.recordings.read_spec import ReadSpec
    from epic_cli.recordings.watch import RecordingMonitor
    from epic_cli.recordings.wording import FrontEnd
    from epic_cli.shell.profiles import Saving
    from epic_cli.shell.progress import Progress
    from epic_cli.shell.refused_lines import RefusedLines

# Wording is imported only when there is something to report: packet text must start fast.


class Messages:
    """The choice of messages that a user wants to see.

    With ``quiet`` only fatal errors are reported, with ``all_errors`` every refused line.
    """

    def __init__(self, quiet: bool = False, all_errors: bool = False) -> None:
        self.quiet: Final = quiet
        self.all_errors: Final = all_errors


class Reporter(ReadingLog):
    """A log of one recording that writes what is learned of it, and counts refused lines.

    Messages go to ``write``, by default to stderr. ``saving`` saves the layout as a profile.
    ``strict``: the first refused line ends the run with ``StoppedAtLine``.
    """

    def __init__(
        self,
        name: str,
        messages: Messages = Messages(),  # noqa: B008
        color: bool = False,
        write: Callable[[str], object] = write_message,
        watch: RecordingMonitor | None = None,
        *,
        saving: Saving | None = None,
        strict: bool = False,
    ) -> None:
        super().__init__(name, watch)
        self._saving = saving
        self._strict = strict
        self._messages = messages
        self._color = color
        self.write = write
        self._lines: RefusedLines | None = None
        self._saved = False

    def say(self, text: str) -> None:
        """Write a line to stderr, unless ``quiet``."""
        if not self._messages.quiet:
            self.write(text)

    def note(self, text: str) -> None:
        """Write a message about the recording unless ``quiet``."""
        self.say(f"epic: {quote_text(self.name)}: {text}\n")

    @property
    def _front_end(self) -> FrontEnd:
        """The front end in whose words keys of this file alone are written."""
        from epic_cli.recordings.wording import FrontEnd

        given = self.watch.given
        beside = given is not None and given.packets is not None
        return FrontEnd.BESIDE if beside else FrontEnd.COMMAND_LINE

    def report_inferred(self, spec: ReadSpec) -> None:
        """Report the layout that was inferred for the recording."""
        super().report_inferred(spec)
        self.note(f"read with {quote_text(self._front_end.read_own(spec.write()))}")
        if spec.conversions:
            self.note(spec.conversions)

    def save(self, saving: Saving | None, given: ReadSpec) -> None:
        """Save the inferred or ``given`` layout as a profile."""
        if saving is not None and self.packets and not self._saved:
            self._saved = True
            self.say(saving.save(self.layout or given))

    def observe(self, block: PacketBlock) -> None:
        """Check the next packets.

        Save the layout that ``--read`` gave as a profile, if that is wanted.
        """
        super().observe(block)
        given = self.watch.given
        if given is not None and not given.unless_own:  # else it stands beside a recording
            self.save(self._saving, given)

    def report_finding(self, finding: RecordingFinding) -> None:
        """Write a finding of the recording to stderr."""
        self.say(describe_finding(self.name, finding))

    def report_estimated(self) -> None:
        """Report that missing velocities are estimated."""
        self.note("packets without a velocity get one from the position before theirs")

    def report_trace(self, words: str) -> None:
        """Report that the recording is read as a network trace."""
        self.note(f"read as a network trace, without positions: {words}")

    def report_lost_extras(self, words: str) -> None:
        """Report which extra values the output lacks."""
        self.note(words)

    def report_capture(self, words: str) -> None:
        """Report the content of a capture."""
        self.note(words.removesuffix("\n"))

    def report_undrawn(self, entities: Sequence[str]) -> None:
        """Report entities for which there are no drawn positions."""
        self.say(f"epic: --drawn has no rows of {quote_text(some(entities))}: skipped\n")

    def report_unjudged(self, entity: str, why: str) -> None:
        """Report why an entity cannot be judged."""
        name = f"{self.name}: {entity}" if entity else self.name
        self.say(f"epic: {quote_text(name)}: {quote_text(why)}\n")

    def show_progress(self) -> Progress:
        """Return a progress bar, which appears if reading takes long."""
        from epic_cli.shell.progress import Progress

        return Progress("reading", in_bytes=True, silent=True)

    def refuse(self, refusals: Sequence[Refusal]) -> None:
        """Report refused lines with their reasons."""
        super().refuse(refusals)
        if not refusals:
            return
        if self._strict:
            self._messages = Messages()
            self._make_refused_lines().add(refusals[:1])
            raise StoppedAtLine
        if self._lines is None:
            self._lines = self._make_refused_lines()
        self._lines.add(refusals)

    def report_unplaced(self, refusals: Sequence[Refusal]) -> bool:
        """Report packets without a place on the clock as refused."""
        self.refuse(refusals)
        return True

    def __exit__(self, *_error: object) -> None:
        super().__exit__()
        if self._lines is not None:
            self.say(self._lines.summarize_refused(self.packets))

    def _make_refused_lines(self) -> RefusedLines:
        from epic_cli.shell.console import measure_screen_columns
        from epic_cli.shell.refused_lines import RefusedLines

        columns = measure_screen_columns(sys.stderr) if sys.stderr and sys.stderr.isatty() else None
        return RefusedLines(
            self.name,
            self._front_end,
            self.say,
            color=self._color,
            columns=columns,
            everything=self._messages.all_errors,
        )


def describe_finding(name: str, finding: RecordingFinding) -> str:
    """Return a line for stderr: a finding in the recording ``name``, and its remedy."""
    from epic_cli.recordings.wording import FrontEnd

    return f"epic: {quote_text(name)}: {quote_text(finding.write_words(FrontEnd.COMMAND_LINE))}\n"
