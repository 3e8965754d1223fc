from collections.abc import Sequence

from epic_cli.engine.packets import Entities, SampleBlock

FORMATS: tuple[str, ...]
COLUMNS: tuple[str, ...]

class RowWriter:
    def __init__(
        self,
        row_format: str = "epic",
        color: bool = False,
        width: int | None = None,
        named: bool = True,
        wide: bool | None = None,
        file_column: str | None = None,
        files: Sequence[str] = (),
    ) -> None: ...
    @property
    def format(self) -> str: ...
    @property
    def left_out(self) -> tuple[str, ...]: ...
    @property
    def file_column(self) -> str | None: ...
    def header(self) -> bytes: ...
    def begin_file(self, name: str) -> None: ...
    def rows(self, block: SampleBlock, entities: Entities) -> bytes: ...
    def view(self, block: SampleBlock, entities: Entities) -> bytes | memoryview: ...
