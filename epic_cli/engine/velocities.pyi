from epic_cli.engine.packets import PacketBlock

class VelocityFiller:
    def fill(self, block: PacketBlock) -> int: ...
