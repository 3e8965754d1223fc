"""Delay buffers too small for the network, and the settings that would be enough."""

from __future__ import annotations

import numpy as np
import pytest
from support.arrival_oracle import arrival_of

from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.replay import separate
from epic_cli.engine.replay.strategy_spec import read_specs
from epic_cli.jobs.diagnose.detectors import Finding, find_detector
from epic_cli.jobs.diagnose.run import make_spec_traffic, run
from epic_cli.jobs.diagnose.spec import DiagnoseSpec
from epic_cli.network.link import Link, LinkConditions
from epic_cli.network.movement import PathMovement
from epic_cli.network.paths import PATHS
from epic_cli.network.simulation import simulate
from epic_cli.recordings.opening import read_blocks
from epic_cli.recordings.rows import make_source


def packets(jitter: float, ahead: float = 0.0) -> dict[str, PacketBlock]:
    link = LinkConditions(latency=0.05 + jitter, jitter=jitter, distribution="uniform")
    movement = PathMovement(PATHS["circle"](5.0, 5.0, 1))
    found: dict[str, PacketBlock] = {}
    sent = simulate(movement, send_rate=20, duration=15.0, channel=Link(link, seed=1))
    arrived = (packet._replace(arrival=arrival_of(packet) + ahead) for packet in sent)
    for block in read_blocks(make_source(arrived)):
        separate(block, found)
    return found


BAD, GOOD = packets(0.12), packets(0.0)


def told(strategy: str, there: dict[str, PacketBlock]) -> list[Finding]:
    found = make_spec_traffic(DiagnoseSpec(there, tuple(read_specs([strategy]))))
    return find_detector("delay-buffer").detect(found)


def test_the_delays_that_packets_need_are_those_of_the_link() -> None:
    (found,) = told("source", BAD)
    # delays are anything from 0 to 240 ms, and any later packet will do, a period each behind it
    delays = np.random.default_rng(3).uniform(0, 0.24, (100_000, 6)) + 0.05 * np.arange(1, 7)
    p95, p99 = np.quantile(delays.min(axis=1), (0.95, 0.99))
    assert found.values["p95"] == pytest.approx(p95, abs=0.02)
    assert found.values["p99"] == pytest.approx(p99, abs=0.03)


def test_where_no_setting_reaches_far_enough_it_says_so() -> None:
    (found,) = told("quake3", BAD)  # its cl_time_nudge is 30 ms at most
    assert "instead" not in found.values
    assert "try another strategy" in str(found.values["cure"])


@pytest.mark.parametrize("strategy", ["buffer", "buffer+delay=0.02", "snapshot", "source"])
def test_clocks_that_differ_are_told_with_the_settings_for_them(strategy: str) -> None:
    apart = packets(0.02, ahead=-100)
    before, found = told(strategy, packets(0.02)), told(strategy, apart)
    assert bool(before) == (strategy == "buffer+delay=0.02")
    assert bool(found) == (strategy != "source")
    for finding in found:
        assert "receiver's clock" in str(finding.values["cure"])
        assert told(str(finding.values["instead"]), apart) == []


def test_two_senders_under_one_id_have_no_buffer_to_judge() -> None:
    first = [GOOD[""][at] for at in range(len(GOOD[""]))]
    other = [
        packet._replace(
            position=(packet.position[0] + 60, *packet.position[1:]),
            time=packet.time + 0.02,
            arrival=arrival_of(packet) + 0.02,
        )
        for packet in first
    ]
    both: dict[str, PacketBlock] = {}
    for block in read_blocks(make_source(sorted([*first, *other], key=arrival_of))):
        separate(block, both)
    found = run(DiagnoseSpec(both, tuple(read_specs(["snapshot", "unreal"]))))
    assert [finding.cause for finding in found.findings] == ["two-senders"]
    assert found.full_buffers == ()
