from collections.abc import Callable, Collection

from epic_cli.engine.packets import PacketBlock

def own_lines(block: PacketBlock, longest: int) -> bytes | None: ...

class PacketRows:
    def __init__(
        self,
        name_text: Callable[[str], str | None],
        longest: int,
        *,
        separator: str = "",
        json: bool = False,
        delta: bool = False,
        entities: Collection[str] = (),
        span: tuple[float, float] | None = None,
        shift: float = 0,
    ) -> None: ...
    def rows(self, block: PacketBlock, begin: int = 0) -> tuple[bytes, int]: ...
