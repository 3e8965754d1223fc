"""Parquet, which needs a library."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from epic_cli.recordings import Format, Unreadable

if TYPE_CHECKING:
    from epic_cli.recordings import ByteSource, PieceReader, Requested
    from epic_cli.recordings.entries.parquet.writer import ParquetWriter
    from epic_cli.recordings.read_spec import ReadSpec


class NoParquetLibrary(Unreadable):
    """The library that reads and writes Parquet, an extra of this program, is not installed."""

    def __init__(self) -> None:
        super().__init__("Parquet needs a library: pip install pyarrow")


def import_library() -> tuple[Any, Any]:
    """Return ``pyarrow`` and ``pyarrow.parquet``; raise ``NoParquetLibrary``."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise NoParquetLibrary from error
    return pyarrow, pyarrow.parquet


class Parquet(Format):
    """Parquet, read as CSV with the same rows; it needs a library."""

    name = "parquet"
    suffixes = (".parquet",)
    magic = (b"PAR1",)
    unpacked = "csv"
    binary = True

    def unpack(self, source: ByteSource, layout: ReadSpec | None) -> PieceReader:
        """Return a function that yields the names of the wanted columns, then their rows.

        Both raise ``Unreadable`` for a file that is no Parquet, or not complete.
        """
        from epic_cli.recordings.entries.parquet.reader import iterate_rows
        from epic_cli.recordings.read_spec import ReadSpec

        arrow, parquet = import_library()
        pieces = iterate_rows(arrow, parquet, source.open_file("Parquet"), layout or ReadSpec())
        return lambda: next(pieces, b"")

    def make_writer(self, requested: Requested, extras: Collection[str]) -> ParquetWriter:
        """Return a writer of groups of rows; raises ``NoParquetLibrary``."""
        from epic_cli.recordings.entries.parquet.writer import ParquetWriter

        return ParquetWriter(requested, extras)


FORMATS = (Parquet(),)
