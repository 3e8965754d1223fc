from collections.abc import Iterable, Sequence

#: The buffers of a column: validity, values, and the bytes of texts.
Buffers = tuple[bytes | None, ...]

def export_stream(
    fields: Sequence[tuple[str, str]], batches: Iterable[tuple[int, Sequence[Buffers]]]
) -> object: ...
