from epic_cli.engine.packets import SampleBlock

def count_apart(
    before: SampleBlock, after: SampleBlock
) -> tuple[int, SampleBlock, SampleBlock]: ...
