"""The spec of a replay: the packets to draw, the times of rows, and their format.

The command line, case files, Python and the session each make it in their own way.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from epic_cli.engine.parameters import Choice, SettingError
from epic_cli.engine.replay.playback import TIMING, SampleStream, Timing
from epic_cli.engine.replay.strategy_spec import StrategySpec, read_spec
from epic_cli.engine.text import COLUMNS, FORMATS
from epic_cli.recordings.read_spec import INFERRED, ReadSpec

# No dataclasses, here and wherever a replay needs a class: they start slowly. So do tuples with
# names whose annotations are text, since each of these is compiled.


class ReplaySpec(NamedTuple):
    """A replay: strategy, timing and rows; with ``strict``, the first refused line ends it.

    ``entity`` is the only one drawn; None for all, in a ``row_format`` with a column for the name.
    ``file_column`` names the column of the recording's name; None for "file" if there are several
    recordings, ``no`` for none.
    """

    strategy: StrategySpec = StrategySpec()
    timing: Timing = Timing()
    row_format: str = "epic"
    entity: str | None = None
    read: ReadSpec = INFERRED
    strict: bool = False
    file_column: str | None = None

    @classmethod
    def from_values(cls, **values: Any) -> "ReplaySpec":
        """Return the spec of these values, which include those of the timing."""
        timing = {name: values.pop(name) for name in Timing._fields if name in values}
        return cls(timing=Timing(**timing), **values)

    def make_stream(
        self, at_once: int = 2048, by_time: bool | Callable[[str], bool] = False
    ) -> SampleStream:
        """Return a new stream; raise ``UnknownStrategy`` or ``SettingError``."""
        return SampleStream(
            self.strategy.make_factory(), self.timing, self.strict, at_once, by_time
        )

    def make_column(self, several: bool) -> str | None:
        """Return the column for the recording's name, or None. Raises ``SettingError``.

        ``several``: there are several recordings.
        """
        name = self.file_column
        if name is None:
            return "file" if several and self.row_format != "epic" else None
        if name == "no":
            return None
        if self.row_format == "epic":
            what = "--file-column is for formats with columns: choose another --format"
            raise SettingError(what, "file-column", "format")
        if not name or name in COLUMNS:
            what = f"--file-column cannot be {name!r}: rows have {', '.join(COLUMNS)}"
            raise SettingError(what, "file-column")
        return name

    def check(self) -> None:
        """Raise ``SettingError`` or ``UnknownStrategy`` for an invalid spec."""
        self.strategy.make_factory()
        self.make_column(several=False)
        if self.timing.latency is not None and self.timing.pacing == "demo":
            what = "--latency sets arrival times, which --pacing demo ignores"
            raise SettingError(what, "latency", "pacing")


#: Parsers by the name of an option or key; each raises ``ValueError``.
READERS: dict[str, Callable[[str], Any]] = {
    "strategy": read_spec,
    **{parameter.name: parameter.read for parameter in TIMING},
    "format": Choice("format", "", "", FORMATS).read,
    "entity": str,
    "read": ReadSpec.parse,
    "file-column": str,
}

#: The fields that have other names than these.
FIELDS = {"format": "row_format", "file-column": "file_column"}
