from epic_cli.engine.packets import Entities, SampleBlock

FORMATS: tuple[str, ...]

class RowWriter:
    def __init__(
        self,
        row_format: str = "epic",
        color: bool = False,
        width: int = 96,
        shown: bool = False,
    ) -> None: ...
    @property
    def format(self) -> str: ...
    def header(self, named: bool = True) -> bytes: ...
    def rows(self, block: SampleBlock, entities: Entities) -> bytes: ...
