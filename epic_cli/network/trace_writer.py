"""A recorded network as CSV, which ``trace_file`` reads back."""

from __future__ import annotations

from epic_cli.network.trace import Trace

HEADER = "send_time,owd_ms,lost\n"


def write_trace(trace: Trace) -> str:
    """A line for each packet sent: its time in seconds, rounded to 1e-6, the delay to 1e-6 s."""
    return HEADER + "".join(
        f"{time:.6f},,1\n" if delay is None else f"{time:.6f},{delay * 1000:.3f},0\n"
        for time, delay in zip(trace.times, trace.delays, strict=True)
    )
