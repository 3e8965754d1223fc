"""The punctuality of ``epic send``: python -m benchmarks.bench_send [SECONDS], in tests/.

The kernel stamps each datagram as it arrives on the loopback (SO_TIMESTAMPNS); what is printed is
how far the time between two of them is from 1 / rate, and how far the whole run is from its length.
With --load two processes that compute run beside it for each core; with --realtime, epic comes
before all others (chrt -f 50, for root).
"""

import os
import socket
import struct
import subprocess
import sys
from itertools import pairwise

RATES = (20, 60, 128, 1000)

#: Linux; the socket module has no name for it.
SO_TIMESTAMPNS = 35


def arrivals(rate: int, seconds: float, *options: str) -> list[float]:
    """Return the arrivals of a path's datagrams, by the kernel's clock (s)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        receiver.bind(("127.0.0.1", 0))
        port = str(receiver.getsockname()[1])
        args = ["send", "-q", "--movement", f"circle,duration={seconds}"]
        args += ["--send", f"{rate}hz", *options, port]
        before = ["chrt", "-f", "50"] if "--realtime" in sys.argv else []
        sender = subprocess.Popen([*before, sys.executable, "-m", "epic_cli", *args])
        found: list[float] = []
        receiver.settimeout(0.5)
        while True:
            try:
                _, control, *_ = receiver.recvmsg(2048, 64)
            except TimeoutError:
                if sender.poll() is not None:
                    return found
                continue
            whole, part = struct.unpack("qq", control[0][2])
            found.append(whole + part * 1e-9)


def main() -> None:
    """Print a line for each rate."""
    words = [argument for argument in sys.argv[1:] if argument[:2] != "--"]
    seconds = float(words[0]) if words else 10.0
    busy = [sys.executable, "-c", "while True: pass"]
    count = 2 * (os.cpu_count() or 1) if "--load" in sys.argv else 0
    load = [subprocess.Popen(busy) for _ in range(count)]
    try:
        print("rate     sent    median    99 %    most  of the whole (ms)")
        for rate in RATES:
            came = arrivals(rate, seconds)
            steps = (after - before for before, after in pairwise(came))
            off = sorted(abs(step - 1 / rate) * 1e3 for step in steps)
            whole = (came[-1] - came[0] - (len(came) - 1) / rate) * 1e3
            figures = off[len(off) // 2], off[len(off) * 99 // 100], off[-1]
            print(f"{rate:>4} {len(came):>8}", *(f"{figure:9.3f}" for figure in (*figures, whole)))
    finally:
        for popen in load:
            popen.kill()
            popen.wait()


if __name__ == "__main__":
    main()
