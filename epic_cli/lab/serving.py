"""What a page of experiments talks with: pictures first, then figures."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qs

from epic_cli.engine.failures import StrategyFailed
from epic_cli.engine.parameters import Choice, SettingError
from epic_cli.jobs.check.writing import make_case, spec_values
from epic_cli.jobs.code.command import LANGUAGES
from epic_cli.jobs.code.run import run as code
from epic_cli.jobs.code.spec import CodeSpec
from epic_cli.jobs.compare.report import likely_scores, report
from epic_cli.jobs.replay.spec import ReplaySpec
from epic_cli.lab.page import figures_data, in_force, lab_page
from epic_cli.lab.run import Experiment, ExperimentRunner, InvalidExperiment, Superseded
from epic_cli.lab.spec import (
    BY_HAND,
    NOTHING,
    STEPS,
    LabInputs,
    LabSpec,
    by_hand_file,
    mended,
    read_query,
)
from epic_cli.live.browser.server import File, ServeSpec
from epic_cli.live.browser.session import Outbox, PageFrame, checked_strategies, frame
from epic_cli.recordings.reading import make_writer
from epic_cli.recordings.writing import Changes, Conversion, Unwritable, UnwritablePacket
from epic_cli.show.page import About, content_of, looks, page_of, scene_data
from epic_cli.show.svg import picture
from epic_cli.show.video import VideoSpec, kind_of, write_video

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


class LatestSlot:
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

    def __init__(self, outbox: Outbox, given: LabInputs) -> None:
        self._outbox = outbox
        self._given = given
        self._asked, self._drawn = LatestSlot(), LatestSlot()
        self._sending, self._number = threading.Lock(), None
        self._threads = [
            threading.Thread(target=work, name="lab", daemon=True)
            for work in (self._draw, self._judge)
        ]
        for thread in self._threads:
            thread.start()

    def receive(self, message: dict[str, Any]) -> None:
        """Replaces what has been asked before."""
        self._asked.put(message)

    def close(self) -> None:
        """Ends the threads, and waits until they have looked up."""
        self._asked.end()
        self._drawn.end()
        for thread in self._threads:
            thread.join(LEAVE)

    def _draw(self) -> None:
        with contextlib.closing(ExperimentRunner(self._given)) as bench:
            for message in self._asked.items():
                number = self._number = message.get("number")
                query = str(message.get("query", ""))
                with self._refusals(number, partial(self._mend, bench, query)):
                    experiment = bench.read(read_query(query, self._given.own))
                    self._put(_picture(bench, experiment), experiment, 1, number)
                    self._drawn.put((experiment.lab, number))

    def _judge(self) -> None:
        with contextlib.closing(ExperimentRunner(self._given)) as bench:
            for lab, number in self._drawn.items():
                with contextlib.suppress(Superseded), self._refusals(number):
                    self._judge_one(bench, lab, number)

    def _judge_one(self, bench: ExperimentRunner, lab: LabSpec, number: Any) -> None:
        scenes: tuple[Scene, ...] = ()
        for networks in STEPS if lab.simulated else STEPS[:1]:
            if self._drawn.wait(PAUSE if networks <= STEPS[1] else REST):
                raise Superseded
            began = time.monotonic()
            experiment = bench.read(replace(lab, networks=networks))
            found = bench.figures(experiment, self._superseded, pictured=not scenes)
            scenes = scenes or found.scenes
            self._put(_figures(replace(found, scenes=scenes)), experiment, networks, number)
            if time.monotonic() - began > ENOUGH:
                break

    def _superseded(self) -> bool:
        return self._asked.waits or self._drawn.waits

    @contextlib.contextmanager
    def _refusals(self, number: Any, mend: Callable[[], dict[str, Any]] = dict) -> Iterator[None]:
        """What is wrong with an experiment is told, and what would ``mend`` it."""
        try:
            yield
        except Superseded:
            raise
        except (SettingError, InvalidExperiment, StrategyFailed) as error:
            self._refuse(number, str(error), **mend())
        except Exception as error:
            self._refuse(number, f"internal error: {error!r}")

    def _refuse(self, number: Any, words: str, **mend: Any) -> None:
        self._send(number, frame(kind="refused", number=number, words=words, **mend))

    def _mend(self, bench: ExperimentRunner, query: str) -> dict[str, Any]:
        """What is left of a refused experiment without its wrong entries, and what these are."""

        def fits(query: str) -> bool:
            with contextlib.suppress(SettingError, InvalidExperiment, StrategyFailed):
                bench.picture(bench.read(read_query(query, self._given.own)))
                return True
            return False

        with contextlib.suppress(SettingError):
            kept, left_out = mended(query, fits)
            values = in_force(bench.read(read_query(kept, self._given.own)))
            return {"mended": kept, "left_out": left_out, "values": values}
        return {}

    def _put(self, made: Made, experiment: Experiment, networks: int, number: Any) -> None:
        """Each frame has all of those before it, and may replace them."""
        about, message = made
        message |= {
            "number": number,
            "networks": networks if experiment.lab.simulated else 0,
            "command": experiment.lab.command(self._given),
            "design": experiment.lab.design(self._given),
            "labels": experiment.labels,
            "values": in_force(experiment),
        }
        self._send(number, about.bytes(message))

    def _send(self, number: Any, data: bytes) -> None:
        with self._sending:
            if number == self._number:  # else it would replace a newer one
                self._outbox.put(KEY, data)


def _picture(bench: ExperimentRunner, experiment: Experiment) -> Made:
    made = PageFrame()
    ranks = {label: rank for rank, label in enumerate(experiment.labels)}
    scenes = [scene for scene in bench.picture(experiment) if len(scene.times)]
    if not scenes:
        raise InvalidExperiment("nothing arrives")
    return made, {
        "kind": "picture",
        "styles": looks(experiment.labels),
        "scenes": [scene_data(scene, ranks, made.pack) for scene in scenes],
    }


def _figures(found: Comparison) -> Made:
    made = PageFrame()
    likely = likely_scores(found.results)
    return made, {"kind": "figures", "likely": likely, **figures_data(found, made.pack)}


class Wanted(NamedTuple):
    """An experiment on its bench, what is given, a file's ``name``, which part a video shows."""

    bench: ExperimentRunner
    experiment: Experiment
    given: LabInputs
    name: str
    clip: str


def export(name: str, query: str, given: LabInputs) -> bytes:
    """The file of this name, one of ``EXPORTS``; raises ``ValueError`` where there is none.

    The query is an experiment's, and may have a ``clip``, as the option.
    """
    if name == CODE:
        return _code(query)
    own, _, clip = query.partition("&clip=")
    lab = read_query(own, given.own)
    if name == NOTHING.by_hand:
        return by_hand_file(lab.points)
    part = parse_qs(f"clip={clip}").get("clip", [""])[0]
    try:
        with closing(ExperimentRunner(given)) as bench:
            return _MAKERS[name](Wanted(bench, bench.read(lab), given, name, part))
    except (StrategyFailed, Unwritable, UnwritablePacket) as error:
        raise ValueError(str(error)) from error


#: Python 3.11 fails where two threads are in ``ast.parse`` (gh-106905).
_CODING = threading.Lock()


def _code(query: str) -> bytes:
    """A strategy in a language, as ``epic code`` writes it."""
    words = {key: values[0] for key, values in parse_qs(query.replace("+", "%2B")).items()}
    language = Choice("language", None, "", LANGUAGES).read(words.get("lang", ""))
    strategy = checked_strategies([words.get("s", "")])[0]
    line = shlex.join(["epic", "code", strategy.label, "--lang", language])
    with _CODING:
        return code(CodeSpec(strategy, language), line).encode()


def _page(wanted: Wanted) -> bytes:
    lab, given = wanted.experiment.lab, wanted.given
    found = wanted.bench.figures(wanted.experiment)
    about = About("" if lab.moves == BY_HAND else given.recording, "", lab.command(given))
    return page_of(found.scenes, content_of(found, report(found), about=about)).encode()


def _svg(wanted: Wanted) -> bytes:
    found = wanted.bench.figures(wanted.experiment)
    return picture(found.scenes[0], wanted.experiment.labels, found.pictured).encode()


def _video(wanted: Wanted) -> bytes:
    found = wanted.bench.figures(wanted.experiment)
    spec, stream = VideoSpec.parse(wanted.clip), io.BytesIO()
    labels = wanted.experiment.labels
    write_video(stream, kind_of(wanted.name), found.scenes[:1], spec, labels, found.pictured)
    return stream.getvalue()


def _case(wanted: Wanted) -> bytes:
    """A case for ``epic check`` in a ZIP: packets, strategies, and what they draw."""
    run, spec = next(wanted.experiment.runs()), wanted.experiment.job.how
    blocks = [block for block in run.packets.values() if len(block)]
    writer, conversion, stream = make_writer("text"), Conversion(Changes()), io.BytesIO()
    rows = [row for block in blocks for row in conversion.rows(block, writer)]
    with tempfile.TemporaryDirectory() as place, zipfile.ZipFile(stream, "w") as archive:
        folder = os.path.join(place, wanted.name.removesuffix(".zip"))  # noqa: PTH118
        values = spec_values(folder, ReplaySpec(timing=spec.timing))
        values |= {"strategy": [*wanted.experiment.lab.strategies]}
        make_case(folder, [], values, writer.header + b"".join(rows))
        for file in sorted(Path(folder).iterdir()):
            archive.write(file, file.relative_to(place))
    return stream.getvalue()


_MAKERS: dict[str, Callable[[Wanted], bytes]] = {
    "lab.html": _page,
    "lab.svg": _svg,
    "lab.gif": _video,
    "lab.mp4": _video,
    "lab-case.zip": _case,
}

#: The file of a strategy's code.
CODE = "smoothing.txt"

#: The names of files, and what they are.
EXPORTS = {
    "lab.html": "text/html",
    "lab.svg": "image/svg+xml",
    "lab.gif": "image/gif",
    "lab.mp4": "video/mp4",
    "lab-case.zip": "application/zip",
    NOTHING.by_hand: "text/csv",
    CODE: "text/plain",
}


def experiments(given: LabInputs = NOTHING, port: int = 0, query: str = "") -> ServeSpec:
    """A page of experiments on what is ``given``, which begins with that of the ``query``."""
    files = {name: File(kind, partial(_saved, name, given)) for name, kind in EXPORTS.items()}
    sessions = {"experiment": partial(ExperimentSession, given=given)}
    return ServeSpec(partial(lab_page, given), sessions, port, query, files)


def _saved(name: str, given: LabInputs, query: str) -> bytes:
    return export(name, query, given)
