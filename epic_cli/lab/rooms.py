"""What a page of experiments talks with: pictures first, then figures."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from epic_cli.engine.failures import StrategyFailed
from epic_cli.engine.parameter_base import SettingError
from epic_cli.jobs.compare.report import likely_scores, report
from epic_cli.lab.bench import Bench, Experiment, Impossible, Overtaken
from epic_cli.lab.controls import in_force
from epic_cli.lab.spec import STEPS, Given, LabSpec, read_query
from epic_cli.live.browser.session import Outbox, PageFrame, frame
from epic_cli.show.page.page import content_of, page_data, scene_data

if TYPE_CHECKING:
    from epic_cli.metrics.comparison import Comparison
    from epic_cli.show.scene import Scene

#: Seconds without a change after which figures of few networks are computed, and those of many:
#: what has begun takes a while to drop, and the next picture would wait for it.
PAUSE, REST = 0.1, 1.0

#: Seconds: where some networks take longer, no more of them are computed.
ENOUGH = 20.0

#: Seconds in which a thread that is to end should do so.
LEAVE = 2.0

#: The key of an experiment's frames.
KEY = "experiment"

#: A frame being made, and its message.
Made = tuple[PageFrame, dict[str, Any]]


class Newest:
    """A place for one thing, between threads: the newest one replaces what has not been taken."""

    def __init__(self) -> None:
        self._item: Any = None
        self._changed = threading.Condition()
        self.ended = False

    @property
    def waits(self) -> bool:
        """Whether there is something to take, or nothing will ever come."""
        return self._item is not None or self.ended

    def put(self, item: Any) -> None:
        """Called by any thread."""
        with self._changed:
            self._item = item
            self._changed.notify()

    def end(self) -> None:
        """Nothing more will come."""
        with self._changed:
            self.ended = True
            self._changed.notify()

    def wait(self, seconds: float | None = None) -> bool:
        """Waits until ``waits``, so long at most; says whether it does."""
        with self._changed:
            return self._changed.wait_for(lambda: self.waits, seconds)

    def items(self) -> Iterator[Any]:
        """What comes, until the end."""
        while self.wait() and not self.ended:
            with self._changed:
                item, self._item = self._item, None
            yield item


class ExperimentSession:
    """Draws the newest experiment on one thread, and judges it on another one.

    Messages are ``{"query": ..., "number": ...}``. Frames have the number, and are of the kind
    ``picture`` (scenes), ``figures`` (all that a page of ``--html`` shows) or ``refused``
    (``words``). Figures wait until nothing changes, and are dropped when something does: part of
    them takes long, and no picture waits for it.
    """

    def __init__(self, outbox: Outbox, given: Given) -> None:
        self._outbox = outbox
        self._given = given
        self._asked, self._drawn = Newest(), Newest()
        self._sending, self._number = threading.Lock(), None
        self._threads = [
            threading.Thread(target=work, name="lab", daemon=True)
            for work in (self._draw, self._judge)
        ]
        for one in self._threads:
            one.start()

    def receive(self, message: dict[str, Any]) -> None:
        """Replaces what has been asked before."""
        self._asked.put(message)

    def close(self) -> None:
        """Ends the threads, and waits until they have looked up."""
        self._asked.end()
        self._drawn.end()
        for one in self._threads:
            one.join(LEAVE)

    def _draw(self) -> None:
        with contextlib.closing(Bench(self._given)) as bench:
            for message in self._asked.items():
                number = self._number = message.get("number")
                with self._refusals(number):
                    experiment = bench.read(
                        read_query(str(message.get("query", "")), self._given.own)
                    )
                    self._put(_picture(bench, experiment), experiment, 1, number)
                    self._drawn.put((experiment.lab, number))

    def _judge(self) -> None:
        with contextlib.closing(Bench(self._given)) as bench:
            for lab, number in self._drawn.items():
                with contextlib.suppress(Overtaken), self._refusals(number):
                    self._judge_one(bench, lab, number)

    def _judge_one(self, bench: Bench, lab: LabSpec, number: Any) -> None:
        scenes: tuple[Scene, ...] = ()
        for networks in STEPS if lab.simulated else STEPS[:1]:
            if self._drawn.wait(PAUSE if networks <= STEPS[1] else REST):
                raise Overtaken
            began = time.monotonic()
            experiment = bench.read(replace(lab, networks=networks))
            found = bench.figures(experiment, self._overtaken, pictured=not scenes)
            scenes = scenes or found.scenes
            self._put(_figures(replace(found, scenes=scenes)), experiment, networks, number)
            if time.monotonic() - began > ENOUGH:
                break

    def _overtaken(self) -> bool:
        return self._asked.waits or self._drawn.waits

    @contextlib.contextmanager
    def _refusals(self, number: Any) -> Iterator[None]:
        """What is wrong with an experiment is told; the next one may do."""
        words = ""
        try:
            yield
        except Overtaken:
            raise
        except (SettingError, Impossible, StrategyFailed) as error:
            words = str(error)
        except Exception as error:
            words = f"epic cannot compute this, which is a mistake of epic's: {error!r}"
        if words:
            self._send(number, frame(kind="refused", number=number, words=words))

    def _put(self, made: Made, experiment: Experiment, networks: int, number: Any) -> None:
        """Each frame has all of those before it, and may replace them."""
        about, message = made
        message |= {
            "number": number,
            "networks": networks if experiment.lab.simulated else 0,
            "command": experiment.lab.command(self._given),
            "labels": [one.label for one in experiment.spec.participants],
            "values": in_force(experiment),
        }
        self._send(number, about.bytes(message))

    def _send(self, number: Any, data: bytes) -> None:
        with self._sending:
            if number == self._number:  # else it would replace a newer one
                self._outbox.put(KEY, data)


def _picture(bench: Bench, experiment: Experiment) -> Made:
    made = PageFrame()
    ranks = {one.label: rank for rank, one in enumerate(experiment.spec.participants)}
    scenes = [one for one in bench.picture(experiment) if len(one.times)]
    if not scenes:
        raise Impossible("nothing arrives")
    return made, {
        "kind": "picture",
        "scenes": [scene_data(one, ranks, made.pack) for one in scenes],
    }


def _figures(found: Comparison) -> Made:
    made = PageFrame()
    return made, {
        "kind": "figures",
        "likely": likely_scores(found.results),
        **page_data(found.scenes, content_of(found, report(found, "given")), made.pack),
    }
