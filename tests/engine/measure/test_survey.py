from __future__ import annotations

import pytest

from epic_cli import Packet
from epic_cli.engine.measure import survey
from epic_cli.engine.packets import PacketBlock


@pytest.mark.parametrize(("change", "judged"), [(0.0, True), (0.49, True), (0.51, False)])
def test_velocities_are_judged_where_they_change_by_less_than_half(
    change: float, judged: bool
) -> None:
    block = PacketBlock()
    for k in range(20):
        speed = 10 * (1 + (-1) ** k * change / 2)
        block.append(Packet((k / 2.0, 0.0, 0.0), (speed, 0.0, 0.0), k / 20))
    assert (survey(block).judged_runs > 0) == judged
