"""``:diagnose``: what it says of the packets so far, and of the strategy that draws them."""

from __future__ import annotations

from support.typed_session import TypedSession

STEADY = [f"{k},{k / 2},0 / 20,10,0 / {k / 20} arrival={k / 20 + 0.04}" for k in range(40)]
LEAP = [f"{k + 500},{k / 2},0 / 20,10,0 / {k / 20} arrival={k / 20 + 0.04}" for k in range(40, 60)]


def test_it_says_what_is_wrong_with_the_packets_so_far() -> None:
    typed = TypedSession()
    assert "no entity has 20 packets: there are no packets" in typed.type(":diagnose")
    few = typed.type(*STEADY[:10], ":diagnose")
    assert "no entity has 20 packets: there are 10 packets of one entity" in few
    assert "nothing wrong found (40 packets in 1.95 s)" in typed.type(*STEADY[10:], ":diagnose")
    assert "1. a teleport is not marked" in typed.type(*LEAP, ":diagnose")


def test_the_buffer_of_the_strategy_that_draws_is_looked_at() -> None:
    typed = TypedSession()
    typed.type(*STEADY, ":strategy snapshot", ":set interpolation_time=0.01")
    assert "the delay buffer is too short" in typed.type(":diagnose")
    typed.type(":set interpolation_time=0.2")
    assert "nothing wrong found" in typed.type(":diagnose")
