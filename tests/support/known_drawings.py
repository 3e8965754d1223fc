"""Drawings whose way is told to the search: for what is said of them, not how it is found."""

import pytest

from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.replay.strategy_spec import read_spec
from epic_cli.jobs.diagnose.drawn import match
from epic_cli.jobs.diagnose.drawn.drawn_match import DrawnMatch
from epic_cli.jobs.diagnose.fitted import FittedStrategy
from epic_cli.jobs.diagnose.mechanism.compositions import convert_to_numbers
from epic_cli.jobs.diagnose.mechanism.search import ExplanationSearch
from epic_cli.metrics.drawn_path import DrawnPath


def match_known(strategy: str, *drawings: tuple[PacketBlock, DrawnPath]) -> DrawnMatch:
    """Return the diagnosis of entities that this strategy drew; the search begins with it alone.

    A whole search takes ten times as long.
    """

    def survey(search: ExplanationSearch) -> None:
        search.results.add(search.comparison.measure_error(known))

    known = FittedStrategy(convert_to_numbers(read_spec(strategy)))
    packets = {f"{number}": block for number, (block, _) in enumerate(drawings)}
    paths = {f"{number}": path for number, (_, path) in enumerate(drawings)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ExplanationSearch, "survey", survey)
        patch.setattr(ExplanationSearch, "deepen", lambda search: search.change_parts())
        return match(packets, paths)
