from epic_cli.engine.packets import Entities, PacketBlock
from epic_cli.engine.refusals import Reason

FIELDS: tuple[str, ...]
OPTIONAL_FIELDS: tuple[str, ...]

def next_piece(line: bytes) -> int | None: ...

class TextScanner:
    def __init__(self, entities: Entities | None = None, wide: bool | None = None) -> None: ...
    @property
    def entities(self) -> Entities: ...
    @property
    def ended(self) -> bool: ...
    def scan(self, data: bytes, final: bool = False) -> PacketBlock: ...

class FieldScanner:
    def __init__(self, entities: Entities | None = None) -> None: ...
    @property
    def entities(self) -> Entities: ...
    def add(
        self,
        block: PacketBlock,
        numbers: list[str],
        optional: dict[str, str],
        line: int,
        offset: int,
        length: int,
    ) -> tuple[Reason, str] | None: ...
