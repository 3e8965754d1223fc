"""The library that reads and writes Parquet, an extra of this program."""

from __future__ import annotations

from typing import Any

from epic_cli.formats.conventions import Unreadable


class NoParquetLibrary(Unreadable):
    """It is not installed."""

    def __init__(self) -> None:
        super().__init__("Parquet needs a library: pip install 'epic-cli[parquet]'")


def parquet_library() -> tuple[Any, Any]:
    """``pyarrow`` and ``pyarrow.parquet``; raises ``NoParquetLibrary``."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise NoParquetLibrary from error
    return pyarrow, pyarrow.parquet
