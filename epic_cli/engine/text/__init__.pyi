from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, TypedDict, Unpack

from epic_cli.engine.packets import Entities, PacketBlock, SampleBlock
from epic_cli.engine.refusals import Reason

FIELDS: tuple[str, ...]
OPTIONAL_FIELDS: tuple[str, ...]
ALL_FIELDS: tuple[str, ...]
TURN_FIELDS: tuple[str, ...]
EULER: dict[str, tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]]

class Units(TypedDict, total=False):
    per_second: float | None
    arrival_per_second: float | None
    delta_per_second: float
    origin: float | None
    arrival_moves: bool
    scale: float | Sequence[float]
    axes: str
    time_format: str
    delta: bool
    geo: bool
    place: tuple[float, float] | None
    euler: str
    angles: str
    missing: float

class RecordScanner:
    def __init__(
        self,
        entities: Entities | None = None,
        *,
        decimal_comma: bool = False,
        **units: Unpack[Units],
    ) -> None: ...
    entities: Final[Entities]
    beginning: Final[float | None]
    place: Final[tuple[float, float] | None]
    def take_lines(
        self, block: PacketBlock, begin: int, line: int, longest: int
    ) -> tuple[int, int]: ...
    def take_rows(self, block: PacketBlock, rows: ColumnRows, line: int, longest: int) -> int: ...
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
        decimal_comma: bool = False,
        **units: Unpack[Units],
    ) -> None: ...

class JsonScanner(RecordScanner):
    def __init__(
        self,
        paths: Mapping[str, Sequence[str]],
        entities: Entities | None = None,
        **units: Unpack[Units],
    ) -> None: ...

class EntriesScanner(RecordScanner):
    def __init__(
        self,
        steps: Sequence[str],
        paths: Mapping[str, Sequence[str]],
        own: Mapping[str, Sequence[str]],
        entities: Entities | None = None,
        **units: Unpack[Units],
    ) -> None: ...

FORMATS: tuple[str, ...]
COLUMNS: tuple[str, ...]
TURN_COLUMNS: tuple[str, ...]

class RowWriter:
    def __init__(
        self,
        row_format: str = "epic",
        color: bool = False,
        width: int | None = None,
        named: bool = True,
        wide: bool | None = None,
        file_column: str | None = None,
        files: Sequence[str] = (),
        turns: bool = False,
    ) -> None: ...
    format: Final[str]
    turns: Final[bool]
    left_out: Final[tuple[str, ...]]
    file_column: Final[str | None]
    def header(self) -> bytes: ...
    def begin_file(self, name: str) -> None: ...
    def rows(self, block: SampleBlock, entities: Entities) -> bytes: ...
    def view(self, block: SampleBlock, entities: Entities) -> bytes | memoryview: ...

def next_piece(line: bytes) -> int | None: ...

class TextScanner:
    def __init__(self, entities: Entities | None = None, wide: bool | None = None) -> None: ...
    entities: Final[Entities]
    ended: Final[bool]
    def scan(self, data: bytes, final: bool = False) -> PacketBlock: ...

class PacketRows:
    def __init__(
        self,
        name_text: Callable[[str], str | None],
        longest: int,
        *,
        separator: str = "",
        json: bool = False,
        requested: Collection[str] = (),
        entities: Collection[str] = (),
        span: tuple[float, float] | None = None,
        shift: float = 0,
    ) -> None: ...
    def rows(
        self, block: PacketBlock, begin: int = 0, tails: list[bytes | None] | None = None
    ) -> tuple[bytes, int]: ...
    def columns(
        self, block: PacketBlock, begin: int, fields: Sequence[str]
    ) -> tuple[list[bytes], int]: ...

COLUMN_KINDS: frozenset[str]

def pack_objects(
    values: Iterable[object],
) -> tuple[str, object, object, object, int, int] | None: ...

class SheetExtent:
    @property
    def is_plain(self) -> bool: ...
    @property
    def elements(self) -> int: ...
    @property
    def cells(self) -> int: ...
    @property
    def rows(self) -> int: ...
    @property
    def columns(self) -> int: ...
    def scan(self, text: bytes) -> int: ...

class ColumnRows:
    def __init__(
        self, columns: Sequence[tuple[str, object, object, object, int, int]], count: int
    ) -> None: ...
    count: Final[int]
    def part(self, begin: int, end: int) -> ColumnRows: ...
    def __len__(self) -> int: ...
    def __bytes__(self) -> bytes: ...
    def lines(self, begin: int, end: int) -> bytes: ...

def cut_alike(data: bytes, longest: int) -> tuple[bytes, bytes] | None: ...

class DocumentCutter:
    def enter(self, head: bytes, around: int) -> None: ...
    def cut(self, data: bytes, final: bool = False) -> bytes: ...
    def others(self) -> list[tuple[int, int, bytes]]: ...
    def place(self, line: int) -> tuple[int, int]: ...
    def place_packets(self, block: PacketBlock) -> None: ...
    def forget(self, line: int) -> None: ...
