"""Tests that files of random content are read or refused, and that all numbers are finite."""

from __future__ import annotations

import io
import itertools
import math

from hypothesis import example, given
from hypothesis import strategies as st

from epic_cli.network.sender import sample_movement
from epic_cli.network.trace import TraceLink, read_trace
from epic_cli.network.truth_file import read_movement
from epic_cli.recordings import Unreadable
from epic_cli.recordings.tables import TableRefusal
from epic_cli.recordings.wording import Problem

cells = st.sampled_from(
    ["0", "1", "0.5", "-2", "1e15", "-1e15", "1e-300", "5e-324", "1e400", "nan", "inf", "", " ",
     "a", '"', '"3"', "0x1", "1_0", "\t", "\r", "\0", "\u00e9"]
)  # fmt: skip
rows = st.lists(st.lists(cells, min_size=1, max_size=6).map(",".join), max_size=8).map("\n".join)


@given(
    rows,
    st.sampled_from(["time,x,y,z", "entity,time,x,y,z", "teleport,time,x,y,z,vx,vy,vz"]),
    st.none() | st.just(100.0),
)
@example("0,1,0,0\n5e-324,0,0,0", "time,x,y,z", None)
def test_movement(text: str, header: str, max_speed: float | None) -> None:
    try:
        movement = read_movement(io.BytesIO(f"{header}\n{text}".encode()), max_speed=max_speed)
    except ValueError:
        return
    for rate in (None, 3):
        for look in itertools.islice(sample_movement(movement, rate), 50):
            assert movement.start <= look.time <= movement.end
            for _, state in look.states:
                assert all(map(math.isfinite, state.position + state.velocity))


@given(rows, st.sampled_from(["send_time,recv_time", "flow,send_time,owd_ms", "send_time,rtt_ms"]))
def test_trace(text: str, header: str) -> None:
    try:
        trace = read_trace(io.BytesIO(f"{header}\n{text}".encode()))
    except ValueError:
        return
    assert trace.times == sorted(trace.times)
    link = TraceLink(trace)
    for time in (0.0, 1e-7, 0.3, 7.0, 1e9):
        assert all(time <= arrival <= time + 3600 for arrival in link.send(time))


@given(st.binary(max_size=200))
@example(b"PAR1")
def test_any_bytes(data: bytes) -> None:
    for head in (b"", b"time,x,y,z\n", b"\xef\xbb\xbftime\tx\ty\tz\r\n"):
        problem: Problem | ValueError | None = None
        try:
            read_movement(io.BytesIO(head + data))
        except TableRefusal as refused:
            problem = refused.problem
        except Unreadable:  # of all of it: such as Parquet, which is read from a file
            pass
        except ValueError as error:
            problem = None if "no state" in str(error) else error
        assert problem is None or (
            isinstance(problem, Problem)
            and problem.line >= 1
            and 0 <= problem.caret <= len(problem.text)
        )
