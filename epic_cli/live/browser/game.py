"""A running game for pages: views of it, one entity in detail, and the thread that draws."""

from __future__ import annotations

import asyncio
import math
import threading
from collections import deque
from collections.abc import Coroutine, Mapping, Sequence
from functools import partial
from itertools import takewhile
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from epic_cli.engine.failures import StrategyFailed
from epic_cli.engine.packets import ConnectionTimes, Entities, PacketBlock, SampleBlock
from epic_cli.engine.replay.strategy_spec import StrategySpec, split
from epic_cli.engine.text.widths import cut, printable
from epic_cli.live.browser.server import ServeSpec, serve
from epic_cli.live.browser.session import Outbox, PageFrame, check_strategies
from epic_cli.live.consumer import Consumer
from epic_cli.live.listener import LaterDrawing, LiveDrawing
from epic_cli.live.model import ROW, History, LiveEvaluator, RunningGame
from epic_cli.live.reports import describe_faults, describe_traffic
from epic_cli.metrics.turns import compute_forward
from epic_cli.recordings.files import raise_cannot_access
from epic_cli.show.page import list_looks, make_live_page

if TYPE_CHECKING:
    from epic_cli.live.command_line import Page


#: The drawing of an entity as the page reads it: position, heading (0: unknown), status.
STATE = np.dtype([("position", "f8", 3), ("heading", "f4", 3), ("status", "i4")])

#: Seconds between two updates of the metrics, and the most entities that are all measured.
_LOOK, _MEASURED = 0.1, 1000


class GameView(Consumer):
    """The state of a running game that pages show.

    ``state`` (``STATE``) is the last drawn state of each entity, by the entity's number; ``fresh``
    are the packets of the last step.
    """

    def __init__(self, game: RunningGame, drawing: LaterDrawing) -> None:
        self.game, self._drawing = game, drawing
        drawing.consumers.append(self)
        self.state = np.zeros(0, STATE)
        self.fresh: list[PacketBlock] = []
        self._looked = -math.inf

    @property
    def entities(self) -> Entities:
        """The entities that have sent packets."""
        return self._drawing.entities

    @property
    def drawn_up_to(self) -> float:
        """The receiver's time (s) up to which all ticks are drawn."""
        return self._drawing.drawn_up_to

    def take_packets(self, block: PacketBlock) -> None:
        """Add received packets to those that the next step shows."""
        self.fresh.append(block)

    def take_samples(self, samples: SampleBlock, entities: Entities) -> None:
        """Store the drawn samples as the entities' states."""
        more = max(len(entities) - len(self.state), 0)
        self.state = np.concatenate((self.state, np.zeros(more, STATE))) if more else self.state
        rows = np.frombuffer(samples.rows(), ROW)
        for name in ("position", "status"):
            self.state[name][rows["entity"]] = rows[name]
        rotations = np.frombuffer(samples.turns()).reshape(-1, 7)[:, :4]
        if not np.isnan(rotations[:, 0]).all():
            self.state["heading"][rows["entity"]] = np.nan_to_num(compute_forward(rotations))

    def step(self, now: float) -> None:
        """Take the waiting packets and draw the due ticks at ``now`` (s, on any steady clock)."""
        self.fresh.clear()
        self._drawing.step()
        if now - self._looked >= _LOOK:
            self._looked = now
            if len(self.game.live.newest) > _MEASURED:
                self.game.followed = ""  # measures none
            self.game.advance(now)

    def describe_game(self) -> dict[str, Any]:
        """Return traffic, news and metrics in words, and the longest delay (s) of each second."""
        game = self.game
        delays = game.traffic.flow.history
        return {
            "traffic": describe_traffic(game),
            "news": describe_faults(game),
            "figures": game.evaluator.format_metrics(),
            "worst": game.evaluator.find_worst() or "",
            "delays": [None if math.isnan(delay) else round(delay, 6) for delay in delays],
        }


#: The most frames in transit to a page; seconds between two frames with words.
_UNDER_WAY, _WORDS = 4, 0.2

#: The most names in a frame, characters of a name, and waiting messages of a page.
_NAMES, _LONGEST_NAME, _WAITING = 2000, 48, 256


class FollowedStrategy(Consumer):
    """A strategy that draws the followed entity for a page."""

    def __init__(
        self, strategy: StrategySpec, view: GameView, name: str, block: PacketBlock
    ) -> None:
        self._label, self._view, self._name = strategy.label, view, name
        self._history = History(view.entities)
        tick = view.game.tick
        self._evaluator = LiveEvaluator(tick[0] / tick[1])
        self._drawing = LiveDrawing(strategy, tick, view.entities, [self])
        self._drawn = self._measured = -math.inf  # times that the page knows
        self._before = ConnectionTimes()
        self._drawing.draw(block, view.drawn_up_to)

    def take_packets(self, block: PacketBlock) -> None:
        """Add received packets to the history."""
        self._history.take(block)

    def take_samples(self, samples: SampleBlock, entities: Entities) -> None:
        """Add drawn samples to the history."""
        del entities
        self._history.draw(samples)

    def step(self, now: float) -> None:
        """Take the followed entity's new packets and draw its due ticks."""
        own, drawn_up_to = PacketBlock(self._view.entities), self._view.drawn_up_to
        for block in self._view.fresh:
            own.extend(block)
        own.keep_entity(self._name, self._before)
        self._drawing.draw(own, drawn_up_to)
        of = self._history, drawn_up_to, now, self._name, (), self._view.game.truth
        self._evaluator.look(*of)

    def take_news(self, made: PageFrame) -> dict[str, Any]:
        """Return the rows, errors and lags that are new since the last call."""
        rows = self._history.list_rows(np.nextafter(self._drawn, math.inf))
        times, apart = self._evaluator.apart
        later = times > self._measured
        self._drawn = float(rows["time"][-1]) if len(rows) else self._drawn
        self._measured = float(times[-1]) if len(times) else self._measured
        lags = list(self._evaluator.curves[1].items())[-2:]
        return {
            "label": self._label,
            "figures": self._evaluator.format_metrics(),
            "lags": [[second, 1000 * lag] for second, lag in lags if math.isfinite(lag)],
            "time": made.pack(rows["time"]),
            "position": made.pack(rows["position"]),
            "status": made.pack(rows["status"].astype("u1")),
            "measured": made.pack(times[later]),
            "error": made.pack(apart[later]),
        }


class LiveSession:
    """A page's session, which sends changes to the page and obeys the page's messages.

    Messages are ``{"got": number of a frame}``, which makes room for the next frame, and ``follow``
    (an entity's number, or null), ``strategies``, ``way`` and ``link`` (a command). A frame has the
    numbers and states of the entities whose drawing changed since the page's last frame; some
    frames have words, too.
    """

    def __init__(
        self,
        views: Mapping[str, GameView],
        team: Sequence[str],
        link: PageLink | None,
        outbox: Outbox,
    ) -> None:
        self._views, self._usual, self._link, self._outbox = views, team, link, outbox
        self.closed = False
        self._asked: deque[dict[str, Any]] = deque(maxlen=_WAITING)
        self._sent = self._got = 0
        self._spoke = -math.inf
        self._said = ""
        self._own = [split(strategy)[0] for strategy in team]
        self._team = check_strategies(team, self._own)
        self._show_direction(next(iter(views)))

    def receive(self, message: dict[str, Any]) -> None:
        """Handle a message of the page, at once."""
        got = message.get("got")
        if isinstance(got, int):
            self._got = max(self._got, min(got, self._sent))
        else:
            self._asked.append(message)

    def close(self) -> None:
        """End the session after the page has gone."""
        self.closed = True

    def _show_direction(self, way: str) -> None:
        self._way, self._view = way, self._views[way]
        self._known = np.zeros(0, STATE)
        self._named = 0
        self._event: object = None
        self._follow_entity(None)

    def _follow_entity(self, number: int | None) -> None:
        """Draw one entity with each strategy from now on, beginning with the last seconds."""
        view, self._followed, self._members = self._view, number, list[FollowedStrategy]()
        self._known_up_to: dict[str, float] = {}
        self._begins = True
        if number is not None:
            name = view.entities.name(number)
            for block in view.game.live.group_by_entity(name).values():
                self._members += [
                    FollowedStrategy(strategy, view, name, block) for strategy in self._team
                ]

    def _handle_message(self, message: dict[str, Any]) -> None:
        try:
            if "link" in message:
                self._said = self._link.run_command(str(message["link"])) if self._link else ""
            if message.get("way") in self._views:
                self._show_direction(message["way"])
            if "strategies" in message:
                wanted = [str(text) for text in message["strategies"]]
                team = check_strategies(wanted or self._usual, self._own)
                if team[0] != self._view.game.strategy:
                    self._view.game.draw_by(team[0])
                self._team, self._said = team, ""
                self._follow_entity(self._followed)
            if "follow" in message:
                number = message["follow"]
                there = type(number) is int and 0 <= number < len(self._view.entities)
                self._follow_entity(number if there else None)
        except (StrategyFailed, ValueError, TypeError) as error:
            self._said = f"error: {error}"

    def step(self, now: float) -> None:
        """Draw the followed entity; send a frame if the page has room for one."""
        while self._asked:
            self._handle_message(self._asked.popleft())
        for member in self._members:
            member.step(now)
        if self._sent - self._got >= _UNDER_WAY:
            return
        made = PageFrame()
        message = self._pack_changes(made)
        if now - self._spoke >= _WORDS or self._begins:
            self._spoke = now
            message |= self._describe_news(made)
        if message:
            self._sent += 1
            up_to = self._view.drawn_up_to
            message |= {"number": self._sent, "now": up_to if up_to > -math.inf else None}
            self._outbox.put(f"live {self._sent % _UNDER_WAY}", made.write_bytes(message))

    def _pack_changes(self, made: PageFrame) -> dict[str, Any]:
        """Return the entities' states that have changed since the page's last frame."""
        state = self._view.state
        more = np.zeros(len(state) - len(self._known), STATE)
        self._known = np.concatenate((self._known, more))
        both = [states.view("u1").reshape(-1, STATE.itemsize) for states in (state, self._known)]
        changed = np.flatnonzero((both[0] != both[1]).any(axis=1))
        self._known[changed] = state[changed]
        packed = {"changed": changed.astype("i4"), "states": state[changed]}
        return {key: made.pack(one) for key, one in packed.items()} if len(changed) else {}

    def _describe_news(self, made: PageFrame) -> dict[str, Any]:
        view, game, entities = self._view, self._view.game, self._view.entities
        numbers = range(self._named, min(len(entities), self._named + _NAMES))
        names = [printable(entities.name(number)) or "(no name)" for number in numbers]
        events = list(takewhile(lambda event: event is not self._event, reversed(game.log.events)))
        self._event, self._named = game.log.events[-1] if game.log.events else None, numbers.stop
        message = {
            **view.describe_game(),
            "names": [numbers.start, [cut(name, _LONGEST_NAME) for name in names]],
            "events": [[event.time, event.words] for event in reversed(events)],
            "team": (team := [strategy.label for strategy in self._team]),
            "styles": list_looks(team),
            "said": self._said,
            "link": self._link.list_states() if self._link else {},
            "way": self._way,
            "where": game.where,
            "followed": self._followed,
            "begins": self._begins,
        }
        self._begins = False
        if self._followed is not None:
            both = {"received": game.live, "sent": game.truth}
            message |= {key: self._pack_points(made, key, one) for key, one in both.items() if one}
            message["members"] = [member.take_news(made) for member in self._members]
        return message

    def _pack_points(self, made: PageFrame, key: str, history: History) -> dict[str, Any]:
        """Return the followed entity's packets that the page does not know."""
        since = self._known_up_to.get(key, -math.inf)
        points = history.select_points(since)
        points = points[(points["entity"] == self._followed) & (points["time"] > since)]
        self._known_up_to[key] = float(points["time"][-1]) if len(points) else since
        return {name: made.pack(points[name]) for name in ("time", "delay", "position")}


class PageLink(Protocol):
    """The interface of a simulated link whose conditions a page shows and changes."""

    def list_controls(self) -> list[dict[str, Any]]:
        """Return the page's controls of the link, each with its value on a perfect link."""

    def run_command(self, command: str) -> str:
        """Run a command that the page sent; return its answer."""

    def list_states(self) -> dict[str, dict[str, str]]:
        """Return the value of each control, by direction."""


#: The least seconds between two frames.
PERIOD = 0.03


class Live:
    """The views of a running game by name, and the sessions of its pages.

    Each page begins with the strategies ``team``, and has the ``link`` of a proxy.
    """

    def __init__(
        self,
        views: Mapping[str, GameView],
        team: Sequence[StrategySpec],
        link: PageLink | None = None,
    ) -> None:
        self._views, self._team, self._link = views, [strategy.label for strategy in team], link
        self._rooms: set[LiveSession] = set()
        self._stopped = threading.Event()

    async def show(self, page: Page, job: Coroutine[Any, Any, None]) -> None:
        """Serve the page while a job runs."""
        where, link = next(iter(self._views.values())).game.where, self._link
        data = {
            "where": where,
            "ways": [*self._views],
            "link": link.list_controls() if link else [],
        }

        def measure_room(outbox: Outbox) -> LiveSession:
            self._rooms.add(made := LiveSession(self._views, self._team, link, outbox))
            return made

        async def serve_page() -> None:
            with raise_cannot_access("listen on", f"127.0.0.1:{page.port}"):
                spec = ServeSpec(partial(make_live_page, data), {"live": measure_room}, page.port)
                await serve(spec, page.announce_page)

        jobs = job, serve_page(), asyncio.to_thread(self._draw_until_stopped)
        tasks = [asyncio.ensure_future(work) for work in jobs]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            self._stopped.set()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    @np.errstate(all="ignore")  # strategies may draw at infinity
    def _draw_until_stopped(self) -> None:
        """Draw the game and make the pages' frames, again and again, until ``show`` ends."""
        due = perf_counter()
        while not self._stopped.wait(max(due - perf_counter(), 0.001)):
            begin = perf_counter()
            for view in self._views.values():
                view.step(begin)
            for room in tuple(self._rooms):
                room.step(begin)
                if room.closed:
                    self._rooms.discard(room)
            end = perf_counter()
            due = max(due + PERIOD, end + (end - begin) / 4)  # leave time to other threads
