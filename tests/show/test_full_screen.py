from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from epic_cli.show.full_screen import fit_blocks


@given(st.lists(st.integers(0, 4), max_size=5), st.sets(st.integers(0, 4)), st.integers(-2, 12))
def test_blocks_never_take_more_lines_than_there_are(
    sizes: list[int], dispensable: set[int], room: int
) -> None:
    left_out = sorted(dispensable & {*range(len(sizes))})
    blocks = {str(k): ("", [f"{k}.{n}" for n in range(size)]) for k, size in enumerate(sizes)}
    shown = [line for _, line in fit_blocks(blocks, [str(k) for k in left_out], room)]
    kept = list(range(len(sizes)))
    for k in left_out:
        if sum(sizes[one] for one in kept) > room:
            kept.remove(k)
    whole = [f"{k}.{n}" for k in kept for n in range(sizes[k])]
    assert shown == whole[: max(room, 0)]
