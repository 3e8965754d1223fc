"""GGPO: whoever is ahead by some frames waits for them."""

from __future__ import annotations

from epic_cli.play.client.clock.contract import ClockSync, Exchange, Steering

#: Frames over which the advantages are averaged.
FRAME_WINDOW = 40

#: Frames; less is not worth a wait, and more is not waited for at once.
SMALLEST_WAIT = 3
LONGEST_WAIT = 9

#: Frames between two waits.
RECOMMENDATION_INTERVAL = 240

#: Round trips before the first frame.
HANDSHAKE_ROUND_TRIPS = 5


class FrameAdvantages:
    """How many frames each side has seen itself behind the other, in its last frames.

    Source: GGPO (https://github.com/pond3r/ggpo, MIT), src/lib/ggpo/timesync.cpp.
    """

    def __init__(self) -> None:
        self._local = [0] * FRAME_WINDOW
        self._remote = [0] * FRAME_WINDOW

    def add(self, frame: int, local: int, remote: int) -> None:
        """Notes what this side and the other one had measured in a frame."""
        self._local[frame % FRAME_WINDOW] = local
        self._remote[frame % FRAME_WINDOW] = remote

    def local_wait(self, *, idle: bool = True) -> int:
        """For how many frames this side should wait; 0 unless its player's input is idle."""
        return _wait(sum(self._local), sum(self._remote)) if idle else 0

    def remote_wait(self) -> int:
        """For how many frames the other side will find that it should wait."""
        return _wait(sum(self._remote), sum(self._local))


def _wait(local: int, remote: int) -> int:
    """Half of what the two sides' means differ by: each sees the whole of it, once as a minus."""
    if local >= remote:
        return 0
    frames = int((remote - local) / FRAME_WINDOW / 2 + 0.5)
    return 0 if frames < SMALLEST_WAIT else min(frames, LONGEST_WAIT)


class Ggpo(ClockSync):
    """Compares frame numbers, and at most every 240 frames lets some pass.

    A side's advantage is how many frames it is behind: the other's newest frame, with what passes
    in a round trip, less its own. A client that is ahead waits. The server of a match waits for
    nobody: where it would have to, the client makes those frames at once instead, which brings
    the two to the same place.

    GGPO sends the advantage in a report of its own; the server's follows here from the echo of
    the newest move, which says the same. Source: GGPO, udp_proto.cpp and backends/p2p.cpp.
    """

    def __init__(self, step: float) -> None:
        self._step = step
        self._advantages = FrameAdvantages()
        self._exchange: Exchange | None = None  # the newest
        self._exchanges = 0
        self._is_set = False
        self._next_wait = 0

    def measure(self, exchange: Exchange) -> None:
        """Each counts for the handshake; then the newest one counts."""
        self._exchange = exchange
        self._exchanges += 1

    def steer(self, now: float, time: float) -> Steering | None:
        """Compares the frames, and waits if that is due."""
        exchange = self._exchange
        if exchange is None or self._exchanges < HANDSHAKE_ROUND_TRIPS:
            return None
        if not self._is_set:
            self._is_set = True
            self._next_wait = self._frame(now + exchange.offset)
            return Steering(jump=now + exchange.offset - time)
        frame, ahead = self._frame(time), time - now
        passing = self._frame(exchange.round_trip)
        local = self._frame(exchange.answered) + passing - self._frame(exchange.returned + ahead)
        remote = self._frame(exchange.sent + ahead) + passing - self._frame(exchange.received)
        self._advantages.add(frame, local, remote)
        if frame <= self._next_wait:
            return Steering()
        frames = self._advantages.remote_wait() - self._advantages.local_wait()
        if frames:
            self._next_wait = frame + RECOMMENDATION_INTERVAL
        return Steering(frames=frames)

    def _frame(self, time: float) -> int:
        return int(time // self._step)
