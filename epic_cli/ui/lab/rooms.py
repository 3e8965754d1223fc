"""The rooms of a page: who answers its messages. One of experiments, one day one of a game."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from epic_cli.engine.parameter_base import SettingError
from epic_cli.ui.lab.bench import Bench, Experiment, Impossible, Overtaken
from epic_cli.ui.lab.controls import in_force
from epic_cli.ui.lab.frames import Frame, frame
from epic_cli.ui.lab.spec import STEPS, Files, read_query
from epic_cli.views.comparison.report import likely_scores
from epic_cli.views.page.page import content_of, page_data
from epic_cli.views.page.sections import scene_data

#: Seconds without a change after which figures of few networks are computed, and those of many:
#: what has begun takes a while to drop, and the next picture would wait for it.
PAUSE, REST = 0.1, 1.0

#: Seconds: where some networks take longer, no more of them are computed.
ENOUGH = 20.0

#: The key of an experiment's frames.
KEY = "experiment"

#: A frame being made, and its message.
Made = tuple[Frame, dict[str, Any]]


class Outbox:
    """What is to be sent to one page: of each key the newest frame alone."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[str, bytes] = {}
        self._some = asyncio.Event()

    def put(self, key: str, data: bytes) -> None:
        """Called by any thread; what waits under this key is replaced."""

        def add() -> None:
            self._waiting.pop(key, None)
            self._waiting[key] = data
            self._some.set()

        with contextlib.suppress(RuntimeError):  # the program ends
            self._loop.call_soon_threadsafe(add)

    async def get(self) -> bytes:
        """The oldest of those that wait."""
        while not self._waiting:
            self._some.clear()
            await self._some.wait()
        return self._waiting.pop(next(iter(self._waiting)))


class Room(Protocol):
    """One page's talk about one thing."""

    def receive(self, message: dict[str, Any]) -> None:
        """Takes a message, at once."""

    def close(self) -> None:
        """The page has gone."""


class ExperimentRoom:
    """Computes the newest experiment, on a thread of its own.

    Messages are ``{"query": ..., "number": ...}``. Frames have the number, and are of the kind
    ``picture`` (scenes), ``figures`` (all that a page of ``--html`` shows) or ``refused``
    (``words``).
    """

    def __init__(self, outbox: Outbox, recording: str = "") -> None:
        self._outbox = outbox
        self._bench = Bench(recording)
        self._recording = recording
        self._newest: dict[str, Any] | None = None
        self._changed = threading.Condition()
        self._ended = False
        self._thread = threading.Thread(target=self._run, name="lab", daemon=True)
        self._thread.start()

    def receive(self, message: dict[str, Any]) -> None:
        """Replaces what has been asked before."""
        with self._changed:
            self._newest = message
            self._changed.notify()

    def close(self) -> None:
        """Ends the thread as soon as it looks up."""
        with self._changed:
            self._ended = True
            self._changed.notify()

    def _overtaken(self) -> bool:
        return self._newest is not None or self._ended

    def _run(self) -> None:
        try:
            while True:
                with self._changed:
                    self._changed.wait_for(self._overtaken)
                    message, self._newest = self._newest, None
                if self._ended or message is None:
                    return
                with contextlib.suppress(Overtaken):
                    self._answer(str(message.get("query", "")), message.get("number"))
        finally:
            self._bench.close()

    def _answer(self, query: str, number: Any) -> None:
        try:
            experiment = self._bench.read(read_query(query))
            self._put(self._picture(experiment), experiment, 1, number)
            for networks in STEPS if experiment.lab.simulated else STEPS[:1]:
                self._rest(PAUSE if networks <= STEPS[1] else REST)
                began = time.monotonic()
                found = self._figures(experiment, networks)
                self._put(found, experiment, networks, number)
                if time.monotonic() - began > ENOUGH:
                    break
        except (SettingError, Impossible) as error:
            self._outbox.put(KEY, frame(kind="refused", number=number, words=str(error)))
        except Overtaken:
            raise
        except Exception as error:  # the next experiment may do
            words = f"epic cannot compute this, which is a mistake of epic's: {error!r}"
            self._outbox.put(KEY, frame(kind="refused", number=number, words=words))

    def _rest(self, seconds: float) -> None:
        with self._changed:
            if self._changed.wait_for(self._overtaken, seconds):
                raise Overtaken

    def _picture(self, experiment: Experiment) -> Made:
        made = Frame()
        ranks = {one.label: rank for rank, one in enumerate(experiment.spec.participants)}
        scenes = [one for one in self._bench.picture(experiment) if len(one.times)]
        if not scenes:
            raise Impossible("nothing arrives")
        return made, {
            "kind": "picture",
            "scenes": [scene_data(one, ranks, made.pack) for one in scenes],
        }

    def _figures(self, experiment: Experiment, networks: int) -> Made:
        made = Frame()
        found = self._bench.figures(experiment, networks, self._overtaken)
        return made, {
            "kind": "figures",
            "likely": likely_scores(found.results),
            **page_data(found.scenes, content_of(found, "given"), made.pack),
        }

    def _put(self, made: Made, experiment: Experiment, networks: int, number: Any) -> None:
        """Each frame has all of those before it, and may replace them."""
        lab, (about, message) = replace(experiment.lab, networks=networks), made
        message |= {
            "number": number,
            "networks": networks if lab.simulated else 0,
            "command": lab.command(Files(self._recording)),
            "labels": [one.label for one in experiment.spec.participants],
            "values": in_force(experiment),
        }
        self._outbox.put(KEY, about.bytes(message))


#: What makes a room, by the word in ``room`` of its messages.
ROOMS: dict[str, Callable[[Outbox, str], Room]] = {"experiment": ExperimentRoom}
