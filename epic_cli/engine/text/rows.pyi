from epic_cli.engine.packets import Entities, SampleBlock

FORMATS: tuple[str, ...]

class RowWriter:
    def __init__(
        self,
        row_format: str = "epic",
        color: bool = False,
        width: int | None = None,
        named: bool = True,
        wide: bool | None = None,
    ) -> None: ...
    @property
    def format(self) -> str: ...
    @property
    def left_out(self) -> tuple[str, ...]: ...
    def header(self) -> bytes: ...
    def rows(self, block: SampleBlock, entities: Entities) -> bytes: ...
