"""What happened while listening: who joined and left, clocks that were set, teleports, drops."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from epic_cli.engine.text.widths import cut, printable
from epic_cli.live.model.history import History
from epic_cli.metrics.digits import listed
from epic_cli.recordings.datagrams.counts import Counts

#: Seconds of silence after which an entity has left.
SILENCE = 3.0

#: Events that are kept, and names in one of them.
_KEPT, _NAMES = 500, 3

#: Seconds from one look to the next, and for which an event is news.
_EVERY, _NEWS = 0.25, 10.0

_LONGEST_NAME = 20


class Event(NamedTuple):
    """Something that happened at a time (s) of the receiver's clock."""

    time: float
    words: str


class EventLog:
    """Looks some times a second at the newest packets and the counts."""

    def __init__(self) -> None:
        self.events: deque[Event] = deque(maxlen=_KEPT)
        self._looked = float("-inf")
        self._here: dict[str, float] = {}  # entities, by their last arrival
        self._left: dict[str, float] = {}
        self._resets = self._dropped = 0

    def look(
        self, history: History, now: float, real_time: float, counts: Counts, dropped: int
    ) -> None:
        """What has happened up to ``now``, on the receiver's clock; ``real_time`` on any (s)."""
        if real_time - self._looked < _EVERY:
            return
        self._looked = real_time
        arrivals = {name: one.arrival or now for name, one in history.newest.items()}
        silent = {name for name, arrival in arrivals.items() if now - arrival > SILENCE}
        joined = arrivals.keys() - self._here.keys() - self._left.keys()
        back = (self._left.keys() & arrivals.keys()) - silent
        self._note(now, joined - silent, "joined")
        self._note(now, back, "is back", "are back")
        self._note(now, self._here.keys() & silent, "left")
        self._here = {name: arrivals[name] for name in arrivals.keys() - silent}
        self._left = {name: arrivals[name] for name in silent}
        self._note(now, history.teleported, "teleported")
        history.teleported.clear()
        if counts.clock_resets > self._resets:
            step = counts.clock_step
            way = "back" if step > 0 else "ahead"
            self.events.append(Event(now, f"the game's clock was set {abs(step):.1f} s {way}"))
        if dropped > self._dropped:
            lost = f"{dropped - self._dropped:,} datagrams dropped by the full queue of the socket"
            self.events.append(Event(now, lost))
        self._resets, self._dropped = counts.clock_resets, dropped

    def _note(self, now: float, names: Iterable[str], verb: str, verbs: str = "") -> None:
        several = sorted(names)
        if not several:
            return
        shown = [cut(printable(one) or "(no name)", _LONGEST_NAME) for one in several[:_NAMES]]
        rest = len(several) - len(shown)
        if rest:
            shown.append(f"{rest:,} more")
        self.events.append(
            Event(now, f"{listed(shown)} {(verbs or verb) if several[1:] else verb}")
        )

    def news(self, now: float) -> Sequence[str]:
        """The events of the last seconds, the latest first."""
        recent = (one for one in reversed(self.events) if 0 <= now - one.time < _NEWS)
        return [f"{one.words} {now - one.time:.0f} s ago" for one in recent]

    def lines(self, room: int) -> Sequence[str]:
        """The last events, as many as there is room for, each with its time."""
        shown = list(self.events)[-room:] if room > 0 else []
        lines = [f"{one.time:>10.2f} s  {one.words}" for one in shown]
        return lines or ["nothing has happened yet"]
