from collections.abc import Mapping, Sequence

from epic_cli.engine.packets import Entities, PacketBlock
from epic_cli.engine.refusals import Reason

FIELDS: tuple[str, ...]
OPTIONAL_FIELDS: tuple[str, ...]
ALL_FIELDS: tuple[str, ...]

class RecordScanner:
    def __init__(
        self,
        entities: Entities | None = None,
        *,
        per_second: float | None = 1.0,
        origin: float | None = 0.0,
        scale: float = 1,
        axes: str = "xyz",
        decimal_comma: bool = False,
    ) -> None: ...
    @property
    def entities(self) -> Entities: ...
    @property
    def beginning(self) -> float | None: ...
    def take_lines(
        self, block: PacketBlock, begin: int, line: int, longest: int
    ) -> tuple[int, int]: ...
    def add(
        self, block: PacketBlock, fields: dict[str, str], line: int, offset: int, length: int
    ) -> tuple[Reason, str] | None: ...

class TableScanner(RecordScanner):
    def __init__(
        self,
        columns: Sequence[str | None],
        delimiter: str = ",",
        entities: Entities | None = None,
        *,
        per_second: float | None = 1.0,
        origin: float | None = 0.0,
        scale: float = 1,
        axes: str = "xyz",
        decimal_comma: bool = False,
    ) -> None: ...

class JsonScanner(RecordScanner):
    def __init__(
        self,
        paths: Mapping[str, Sequence[str]],
        entities: Entities | None = None,
        *,
        per_second: float | None = 1.0,
        origin: float | None = 0.0,
        scale: float = 1,
        axes: str = "xyz",
        decimal_comma: bool = False,
    ) -> None: ...

class EntriesScanner(RecordScanner):
    def __init__(
        self,
        steps: Sequence[str],
        paths: Mapping[str, Sequence[str]],
        own: Mapping[str, Sequence[str]],
        entities: Entities | None = None,
        *,
        per_second: float | None = 1.0,
        origin: float | None = 0.0,
        scale: float = 1,
        axes: str = "xyz",
        decimal_comma: bool = False,
    ) -> None: ...
