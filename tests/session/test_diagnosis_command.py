"""``:inspect`` and ``:diagnose``: of the packets so far, a file, and the strategy that draws."""

from __future__ import annotations

from pathlib import Path

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


def test_packets_so_far_and_files_are_inspected(tmp_path: Path) -> None:
    typed = TypedSession()
    assert "No packet could be read." in typed.type(":inspect")
    said = typed.type(*STEADY, ":inspect")
    assert "this session: 40 packets" in said
    assert "Nothing looks wrong." in said
    assert "columns and units are those of a file" in typed.type(":inspect --axes xy")
    mixed = tmp_path / "mixed.csv"
    rows = [f"{k / 20},{k + far},0,0,{far}" for k in range(40) for far in (0, 500)]
    mixed.write_text("\n".join(["time,x,y,z,far", *rows]))
    said = typed.type(f":inspect {mixed}")
    assert "In doubt: E101" in said
    assert ":inspect --columns entity=far" in said
    assert "Nothing looks wrong." in typed.type(f":inspect --columns entity=far {mixed}")
    assert len(typed.lines) == len(STEADY)  # nothing is taken into the session
    (tmp_path / "no.bin").write_bytes(bytes(range(256)))
    assert "no.bin" in typed.type(f":inspect {tmp_path / 'no.bin'}", ":format")
