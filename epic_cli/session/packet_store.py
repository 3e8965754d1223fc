"""The packets of a session, as text and as numbers, however many there are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from epic_cli.engine.contract import Packet
from epic_cli.engine.packets import Entities, PacketBlock
from epic_cli.recordings.entries.text import packet_line

#: A longer line is read as several (``fgets`` with 1024 bytes): no packet is kept as one.
_LONGEST_LINE = 1022

#: A part that has this many packets grows no more: what is long is neither moved nor held twice.
_FULL = 512


class _Part:
    """Packets that follow each other, and their text: a line each."""

    def __init__(self, block: PacketBlock, text: bytes) -> None:
        self.packets = block.part(0, len(block))  # without the room to grow
        self.texts = [text]

    @property
    def is_full(self) -> bool:
        return len(self.packets) >= _FULL

    def add(self, block: PacketBlock, text: bytes) -> None:
        self.packets.extend(block)
        self.texts.append(text)

    def cut(self, left: int) -> None:
        """Keeps only the first packets, this many."""
        self.packets = self.packets.part(0, left)
        lines = b"".join(self.texts).split(b"\n")[:left]
        self.texts = [b"".join(line + b"\n" for line in lines)]


class PacketStore:
    """Packets in parts of some thousands, each packet with the line that it was typed as."""

    def __init__(self, entities: Entities) -> None:
        self.entities = entities
        self._parts: list[_Part] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> Packet:
        begin = self._count
        if index < begin:
            for part in reversed(self._parts):  # the last ones are asked for
                begin -= len(part.packets)
                if index >= begin:
                    return part.packets[index - begin]
        raise IndexError(index)

    def add(self, block: PacketBlock, text: bytes) -> None:
        """Adds the packets of a block with the same ``entities``, and their lines."""
        if not len(block):
            return
        if not self._parts or self._parts[-1].is_full or len(block) >= _FULL:
            self._parts.append(_Part(block, text))
        else:
            self._parts[-1].add(block, text)
        self._count += len(block)

    def cut(self, left: int) -> None:
        """Keeps only the first packets, this many."""
        while self._count > left:
            begin = self._count - len(self._parts[-1].packets)
            if begin >= left:
                self._parts.pop()
            else:
                self._parts[-1].cut(left - begin)
            self._count = max(begin, left)

    def blocks(self) -> Iterator[tuple[int, PacketBlock]]:
        """The packets some at a time; how many there are before each block.

        A replay may hold the blocks: none of them grows.
        """
        sizes = [len(part.packets) for part in self._parts]
        for begin, part in zip(accumulate(sizes, initial=0), self._parts, strict=False):
            block = part.packets
            if not part.is_full:
                block = block.part(0, len(block))
            block.refusals = []  # those of an earlier replay
            yield begin, block

    def by_entity(self) -> dict[str, PacketBlock]:
        """The packets of each entity."""
        from epic_cli.engine.replay import separate  # packets are typed before they are compared

        found: dict[str, PacketBlock] = {}
        for _, block in self.blocks():
            separate(block, found)
        return found

    def texts(self) -> Iterator[bytes]:
        """The lines of the packets, some at a time."""
        for part in self._parts:
            yield from part.texts

    def begins_with_arrival(self) -> bool:
        """Whether the first packet has an arrival time."""
        return bool(self._parts) and self._parts[0].packets.begins_with_arrival()


def lines_of(block: PacketBlock) -> bytes:
    """The lines of packets read as packet text; one that is too long is formatted again."""
    return b"".join(
        f"{packet_line(block[index])}\n".encode() if text is None else text
        for index, text in enumerate(block.line_texts(_LONGEST_LINE))
    )
