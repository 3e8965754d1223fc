from collections.abc import Iterable, Iterator, Sequence
from typing import Final

#: The buffers of a column: validity, values, and the bytes of texts.
Buffers = tuple[bytes | None, ...]

#: A column as ``ColumnRows`` takes it: kind, values, texts, validity, offset, width.
Column = tuple[str, object, object, object, int, int]

def export_stream(
    fields: Sequence[tuple[str, str]], batches: Iterable[tuple[int, Sequence[Buffers]]]
) -> object: ...

class ArrowStream:
    names: Final[list[str]]
    is_plain: Final[bool]
    def __init__(self, capsule: object) -> None: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __iter__(self) -> Iterator[tuple[int, list[Column]]]: ...

def is_plain_type(schema: object) -> bool: ...
def import_array(schema: object, array: object) -> Column | None: ...
