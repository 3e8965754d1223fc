"""Drawn samples as a structured NumPy array."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from epic_cli.api.replaying import list_columns
from epic_cli.engine.contract import STATUSES
from epic_cli.engine.packets import SampleRecords

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from epic_cli.engine.packets import PacketBlock, SampleBlock

#: Text in NumPy's arrays, in the machine's byte order, and the bytes of a character.
_ENCODING = "utf-32-le" if np.little_endian else "utf-32-be"
_CHARACTER = 4


def collect_records(drawn: Iterable[tuple[SampleBlock, PacketBlock]]) -> NDArray[np.void]:
    """Return drawn samples as records with the columns of the CSV format.

    Numbers are ``float64``, NaN where nothing is drawn. The status and the entity are texts, as
    wide as the longest one. There are columns of a rotation if any sample has a rotation.
    """
    width = max(map(len, STATUSES))
    records = SampleRecords([_encode(status.ljust(width, "\0")) for status in STATUSES], _encode)
    for samples, packets in drawn:
        records.add(samples, packets.entities)
    texts = {"status": f"U{width}", "entity": f"U{records.name_width // _CHARACTER}"}
    columns = [(name, texts.get(name, "f8")) for name in list_columns(records.has_turns)]
    return np.frombuffer(memoryview(records), columns) if records.count else np.empty(0, columns)


def _encode(text: str) -> bytes:
    """Return a text as the bytes of a cell, at least one."""
    return (text or "\0").encode(_ENCODING, "surrogatepass")
