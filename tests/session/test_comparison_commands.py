"""``:compare`` and ``:plot``: what they show beside what was measured."""

from __future__ import annotations

from support.comparisons import compared
from support.typed_session import TypedSession

from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.replay import separate
from epic_cli.engine.replay.strategy_spec import read_specs
from epic_cli.metrics import named

STEADY = [f"{k},{k / 2},0 / 10,5,0 / {k / 10}" for k in range(30)]
SHOWN = ("largest_jump", "error", "lag", "score")


def line(output: str, name: str) -> list[str]:
    return next(one.split() for one in output.splitlines() if one.startswith(f"{name} "))


def test_figures_are_those_of_the_metrics() -> None:
    typed = TypedSession()
    typed.type(*STEADY)
    output = typed.type(":compare lerp epic")
    head = output.splitlines()[0]
    assert head.split() == ["strategy", "ends", "at", "jump", "error", "lag", "ms", "score"]
    blocks: dict[str, PacketBlock] = {}
    for _, block in typed.session.packets.blocks():
        separate(block, blocks)
    timing = typed.session.view.timing
    for result in compared(blocks, read_specs(["lerp", "epic"]), timing).results:
        cells = [named(name).cell(result.value(name)) for name in SHOWN]
        assert line(output, result.label)[2:] == cells


def test_the_final_position_is_one_also_where_entities_have_names() -> None:
    plain, named_ = TypedSession(), TypedSession()
    plain.type(*STEADY)
    named_.type(*(f"{one} entity=tank7" for one in STEADY))
    ends = [line(typed.type(":compare lerp"), "lerp")[1] for typed in (plain, named_)]
    assert ends[0] == ends[1]
    assert len(ends[0].split(",")) == 3


def test_strategies_without_figures_stay_in_their_order() -> None:
    typed = TypedSession()
    output = typed.type(STEADY[0], ":compare lerp epic hermite")
    assert [one.split()[0] for one in output.splitlines()[-3:]] == ["lerp", "epic", "hermite"]


def test_a_plot_of_one_packet_says_why_there_is_none() -> None:
    typed = TypedSession()
    assert "one usable state: a movement needs two" in typed.type(STEADY[0], ":plot")


def test_plots_of_what_turns() -> None:
    """An entity that turns beside one that does not."""
    typed = TypedSession()
    typed.type(*(f"{one} entity=still" for one in STEADY))
    typed.type(*(f"{one} entity=spins yaw={k * 11}" for k, one in enumerate(STEADY)))
    for view in ("yaw", "angle"):
        found = typed.type(f":plot {view} lerp snapshot")
        assert f"spins: {view} (degrees" in found
        assert "a lerp   b snapshot" in found
        assert f"nothing to draw: still: {view} (degrees" in found
