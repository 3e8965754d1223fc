from collections.abc import Callable

from epic_cli.engine.contract import Packet
from epic_cli.engine.packets import PacketBlock

class UsualLines:
    def __init__(self, print_line: Callable[[Packet], bytes]) -> None: ...
    def rows(self, block: PacketBlock) -> bytes: ...
