"""The delays that packets need, and the settings that cause these delays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from support.arrival_oracle import arrival_of
from support.movements import block

from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.replay.strategy_spec import read_specs
from epic_cli.engine.strategies import FAMILIES, list_declarations
from epic_cli.jobs.diagnose.detectors.network.delay_buffer import measure_starvation
from epic_cli.metrics.delays import BUFFERS, BufferDelay, DelaysNeeded, find_needed_delays
from epic_cli.metrics.evaluation import group_by_entity
from epic_cli.metrics.traffic import SHARES, make_traffic, measure_network
from epic_cli.network.link import Link, LinkConditions
from epic_cli.network.movement import PathMovement
from epic_cli.network.paths import PATHS
from epic_cli.network.simulation import simulate

LATENCY, JITTER, PERIOD = 0.15, 0.025, 0.05


def packets(
    jitter: float = JITTER, duration: float = 60.0, phases: Sequence[float] = (0.0,)
) -> dict[str, PacketBlock]:
    """Return the packets of as many entities as there are phases, in datagrams of their own."""
    link = LinkConditions(latency=LATENCY, jitter=jitter, distribution="uniform")
    movement = PathMovement(PATHS["circle"](5.0, 5.0, 1))
    sent = [
        packet._replace(
            entity=str(seed), time=packet.time + phase, arrival=arrival_of(packet) + phase
        )
        for seed, phase in enumerate(phases, 1)
        for packet in simulate(
            movement, send_rate=1 / PERIOD, duration=duration, channel=Link(link, seed=seed)
        )
    ]
    return group_by_entity(sorted(sent, key=arrival_of))


THERE = packets()


def needed(*wanted: str) -> DelaysNeeded:
    found = find_needed_delays([THERE], read_specs(wanted))
    assert found is not None
    return found


def interpolation_time(buffer: BufferDelay) -> float:
    settings = buffer.cures[0][2].settings
    assert settings is not None
    return float(settings["interpolation_time"])


@pytest.mark.parametrize("count", [2, 3, 6])
def test_packets_of_other_entities_bring_nothing_new(count: int) -> None:
    """Compare entities that are sent one after the other with the same ones sent at once."""
    apart = packets(phases=[PERIOD * k / count for k in range(count)])
    found, alone = find_needed_delays([apart], []), needed()
    assert found is not None
    assert found.period == pytest.approx(PERIOD)
    for delays, expected in zip(found.needed, alone.needed, strict=True):
        assert delays == pytest.approx(expected, abs=0.005)
    messages = make_traffic(apart).messages
    assert messages is not None
    network = measure_network(messages)
    assert network.needed == pytest.approx(found.needed[0])
    assert (network.rate, network.entity_rate) == pytest.approx(
        (count / PERIOD, 1 / PERIOD), rel=0.01
    )
    moved = measure_network(messages.move_messages(0.0, 1e-3 * (messages.sent - messages.sent[0])))
    assert np.diff(moved.needed) == pytest.approx(np.diff(network.needed), abs=0.03)
    some = messages.select_messages(np.arange(len(messages.sent)) % (7 * count) != 0)
    assert measure_network(some).needed[0] >= network.needed[0]


def test_every_delay_buffer_has_a_model() -> None:
    families = {FAMILIES["fixed_delay"], FAMILIES["adaptive_delay"]}
    # tick-interpolation has no buffer: it draws between its own ticks
    buffers = {known.name for known in list_declarations() if known.family in families}
    assert buffers - {"tick-interpolation"} == set(BUFFERS)


@pytest.mark.parametrize("name", sorted(BUFFERS))
def test_the_settings_fill_the_buffer_as_far_as_they_say(name: str) -> None:
    (buffer,) = needed(name).buffers
    messages = make_traffic(THERE).messages
    assert messages is not None
    before = 1.0
    for share, cure in zip(SHARES, buffer.cures[0], strict=True):
        if cure.settings is None:
            assert name == "quake3"  # its cl_time_nudge is 30 ms at most
            continue
        text = "".join(f"+{key}={value}" for key, value in cure.settings.items())
        (candidate,) = read_specs([name + text])
        empty = measure_starvation(candidate, THERE)
        # late packets are late by less than a period: the share of time is smaller than theirs;
        # hermite holds a whole interval where it does not expect to have to wait that long
        assert empty <= (1 - share) * (3 if name == "hermite" else 1) + 0.01
        assert empty <= before
        before = empty
        # at 99 % it is no longer than it has to be, either
        assert cure.latency == pytest.approx(needed(name).needed[0][SHARES.index(share)], abs=0.09)


def test_a_clock_that_is_ahead_changes_no_setting_but_the_one_that_is_a_latency() -> None:
    link = LinkConditions(latency=LATENCY, jitter=JITTER, distribution="uniform")
    movement = PathMovement(PATHS["circle"](5.0, 5.0, 1))
    sent = simulate(movement, send_rate=20, duration=60.0, channel=Link(link, seed=1))
    later = group_by_entity(
        packet._replace(arrival=packet.arrival + 2.0)
        for packet in sent
        if packet.arrival is not None
    )
    names = read_specs(["snapshot", "hermite", "mirror"])
    here, there = needed("snapshot", "hermite", "mirror"), find_needed_delays([later], names)
    assert there is not None
    assert np.allclose(there.needed, here.needed)
    for one, other in zip(here.buffers[1:], there.buffers[1:], strict=True):
        assert one.cures[0][2].settings == other.cures[0][2].settings
    (own,), (far,) = (row.buffers[:1] for row in (here, there))
    assert interpolation_time(far) == pytest.approx(interpolation_time(own) + 2.0, abs=0.1)


def test_without_arrivals_or_with_one_packet_nothing_is_said() -> None:
    assert find_needed_delays([packets(duration=0.0)], read_specs(["snapshot"])) is None
    assert find_needed_delays([], read_specs(["snapshot"])) is None


def test_a_buffer_that_takes_two_clocks_for_one_is_measured_by_both() -> None:
    apart = {
        name: block(
            known[at]._replace(arrival=arrival_of(known[at]) - 100) for at in range(len(known))
        )
        for name, known in THERE.items()
    }
    found = find_needed_delays([apart], read_specs(["buffer", "buffer+clock=min", "mirror"]))
    assert found is not None
    labels = [buffer.label for buffer in found.buffers]
    assert labels == ["buffer+clock=min", "buffer+clock=min", "mirror"]
    assert found.buffers[0] == found.buffers[1]
    assert found.buffers[0].latency == pytest.approx(0.2)
    assert [buffer.label for buffer in needed("buffer").buffers] == ["buffer"]
