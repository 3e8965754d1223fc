from collections.abc import Iterable

from epic_cli.engine.packets import Entities, PacketBlock

PARTS: tuple[str, ...]

class RecordReader:
    def __init__(
        self, fields: Iterable[tuple[str, str, int, float]], size: int, big: bool
    ) -> None: ...
    @property
    def entities(self) -> Entities: ...
    def block(self, data: bytes) -> PacketBlock: ...
