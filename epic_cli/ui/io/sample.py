"""The first packets of a recording, to be looked at before it is long or when it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.formats.hints import Hint
    from epic_cli.formats.layout import Layout

#: Packets that are looked at: after the first few a live recording has its hints, and no later
#: packets are looked at than these, which takes less than a millisecond.
_SOON, _MOST = 64, 2048

#: Fewer say nothing: then the hints are not even loaded.
_LEAST = 12


class Hints:
    """What looks wrong with the first packets of a recording, each of it once."""

    def __init__(self) -> None:
        self._sample: PacketBlock | None = None
        self._looked = 0
        self._texts: list[bytes] = []
        self._told: set[tuple[object, ...]] = set()
        self._settled: Layout | None = None

    def settled(self, layout: Layout | None) -> None:
        """What somebody has said of the recording's times is not doubted."""
        self._settled = layout

    def look(self, block: PacketBlock) -> bool:
        """Takes the next packets; whether it is time to ask for what is ``new``."""
        before = 0 if self._sample is None else len(self._sample)
        if before >= _MOST:
            return False
        if self._sample is None:
            self._sample = block.part(0, _MOST)
        else:
            self._sample.extend(block)
        if block.find_field is None and b"=" in block.text:
            self._texts.append(block.text)
        count = len(self._sample)
        return before < _SOON <= count or count >= _MOST

    def end(self) -> bool:
        """Whether there may be something ``new`` now that no more packets come."""
        count = 0 if self._sample is None else len(self._sample)
        return bool(self._texts) or (count != self._looked and count >= _LEAST)

    def new(self) -> list[Hint]:
        """What has not been told before."""
        from epic_cli.formats.hints import hints, word_hints

        found = [hint for text in self._texts for hint in word_hints(text)]
        self._texts.clear()
        if self._sample is not None and len(self._sample) >= _LEAST:
            self._looked = len(self._sample)
            found += hints(self._sample)
        settled = self._settled.settles if self._settled is not None else ()
        fresh = {
            hint.told(): hint
            for hint in found
            if hint.told() not in self._told and hint.option not in settled
        }
        self._told.update(fresh)
        return list(fresh.values())
