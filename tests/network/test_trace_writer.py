"""Tests that a recorded network written as CSV is read back the same."""

from __future__ import annotations

import io

import pytest

from epic_cli.network.trace import NetworkTrace, read_trace, write_trace


def test_what_is_written_is_read_back() -> None:
    given = NetworkTrace([0.0, 0.05, 0.05, 1234.567891], [0.051, None, 0.0, 59.999999])
    written = write_trace(given)
    assert written.splitlines()[:3] == ["send_time,owd_ms,lost", "0.000000,51.000,0", "0.050000,,1"]
    found = read_trace(io.BytesIO(written.encode()))
    assert found.times == given.times
    assert [delay for delay in found.delays if delay is not None] == pytest.approx(
        [0.051, 0, 59.999999]
    )
    assert found.delays[1] is None
