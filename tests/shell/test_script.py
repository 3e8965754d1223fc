"""``epic session`` without a terminal, on packets alone."""

from support.running import epic


def test_packets_alone_are_replayed() -> None:
    packets = b"".join(b"%d,0,0 / 1,0,0 / %d\n" % (k, k) for k in range(50))
    for ending in (b"", b"1,2,3\n", b"q\n1,2\n"):
        script, replay = epic("session", stdin=packets + ending), epic(stdin=packets + ending)
        assert (script.stdout, script.returncode) == (replay.stdout, replay.returncode)
