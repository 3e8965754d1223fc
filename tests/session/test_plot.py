"""``:plot``: what strategies would have drawn."""

from __future__ import annotations

from support.typed_session import TypedSession

STEADY = [f"{k},{k / 2},0 / 10,5,0 / {k / 10}" for k in range(30)]


def test_a_plot_of_one_packet_says_why_there_is_none() -> None:
    typed = TypedSession()
    assert "one usable state" in typed.type(STEADY[0], ":plot")


def test_a_plot_of_two_packets_says_that_more_are_needed() -> None:
    assert "too few packets for a chart" in TypedSession().type(*STEADY[:2], ":plot")
    assert "o packets" in TypedSession().type(*STEADY[:6], ":plot")


def test_plots_of_what_turns() -> None:
    """An entity that turns beside one that does not."""
    typed = TypedSession()
    typed.type(*(f"{name} entity=still" for name in STEADY))
    typed.type(*(f"{one} entity=spins yaw={k * 11}" for k, one in enumerate(STEADY)))
    for view in ("yaw", "angle"):
        found = typed.type(f":plot {view} -s lerp,snapshot")
        assert f"spins: {view} (degrees" in found
        assert "a lerp   b snapshot" in found
        assert f"nothing to draw: still: {view} (degrees" in found
