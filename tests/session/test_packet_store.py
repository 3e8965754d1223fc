"""Packets in parts are the packets of one list, whatever is added and taken back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.recordings import examples

from epic_cli.engine.packets import Entities
from epic_cli.engine.text import TextScanner
from epic_cli.session import packet_store
from epic_cli.session.packet_store import PacketStore

# a number of packets to add, or to leave
STEPS = st.lists(st.tuples(st.booleans(), st.integers(0, 9)), max_size=12)


@given(STEPS)
@examples(150)
def test_parts_are_one_list(steps: list[tuple[bool, int]]) -> None:
    entities, wanted, count = Entities(), list[bytes](), 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packet_store, "_FULL", 4)
        store = PacketStore(entities)
        for adds, number in steps:
            if adds:
                lines = [b"%d,0,0 / 0,0,0 / %d arrival=1\n" % (count + k, k) for k in range(number)]
                count += number
                text = b"".join(lines)
                store.add(TextScanner(entities).scan(b"# x\n" + text, True), text)
                wanted += lines
            else:
                store.cut(min(number, len(store)))
                del wanted[number:]
            check(store, wanted)


def check(store: PacketStore, wanted: list[bytes]) -> None:
    assert len(store) == len(wanted)
    assert b"".join(store.texts()).splitlines(keepends=True) == wanted
    firsts = [float(line.partition(b",")[0]) for line in wanted]
    assert [store[index].position[0] for index in range(len(store))] == firsts
    parts = list(store.blocks())
    assert [begin + k for begin, block in parts for k in range(len(block))] == [*range(len(wanted))]
    assert [block[k].position[0] for _, block in parts for k in range(len(block))] == firsts
    assert store.begins_with_arrival() == bool(wanted)
    with pytest.raises(IndexError):
        store[len(store)]
