"""The server's side of the experiments' page: it sends pictures first, then metrics."""

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
from epic_cli.jobs.check.writing import list_spec_values, make_case
from epic_cli.jobs.code.command import LANGUAGES
from epic_cli.jobs.code.run import run as code
from epic_cli.jobs.code.spec import CodeSpec
from epic_cli.jobs.compare.report import list_likely_scores, report
from epic_cli.jobs.replay.spec import ReplaySpec
from epic_cli.lab.page import list_values, make_comparison_data, make_lab_page
from epic_cli.lab.run import Experiment, ExperimentRunner, InvalidExperiment, Superseded
from epic_cli.lab.spec import (
    BY_HAND,
    NOTHING,
    STEPS,
    LabInputs,
    LabSpec,
    mend_query,
    read_query,
    write_points,
)
from epic_cli.live.browser.server import File, ServeSpec
from epic_cli.live.browser.session import Outbox, PageFrame, check_strategies, make_frame
from epic_cli.recordings.reading import make_writer
from epic_cli.recordings.writing import Changes, Conversion, Unwritable, UnwritablePacket
from epic_cli.show.page import About, list_looks, make_content, make_page, make_scene_data
from epic_cli.show.svg import draw_picture
from epic_cli.show.video import VideoSpec, find_kind, write_video

if TYPE_CHECKING:
    from epic_cli.metrics.comparison import Comparison
    from epic_cli.show.scene import Scene


#: Seconds without a change before metrics of few networks are computed, and those of many: dropping
#: a computation takes a while, and the next picture would wait for it.
PAUSE, REST = 0.1, 1.0

#: Seconds; if some networks take longer, no more are computed.
ENOUGH = 20.0

#: Seconds that a thread has to end.
LEAVE = 2.0

#: The key of an experiment's frames.
KEY = "experiment"

#: A frame being made, and its message.
PreparedFrame = tuple[PageFrame, dict[str, Any]]


class LatestSlot:
    """A slot between threads for one item, which a newer item replaces."""

    def __init__(self) -> None:
        self._item: Any = None
        self._changed = threading.Condition()
        self.ended = False

    @property
    def is_ready(self) -> bool:
        """True if there is an item to take, or no more items will come."""
        return self._item is not None or self.ended

    def put(self, item: Any) -> None:
        """Put an item; any thread may call this."""
        with self._changed:
            self._item = item
            self._changed.notify()

    def end(self) -> None:
        """End ``iterate_items``, which waits for the next item."""
        with self._changed:
            self.ended = True
            self._changed.notify()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait at most this long until ``is_ready`` is true; return its value."""
        with self._changed:
            return self._changed.wait_for(lambda: self.is_ready, seconds)

    def iterate_items(self) -> Iterator[Any]:
        """Wait for each item and yield it, until ``end`` is called."""
        while self.wait() and not self.ended:
            with self._changed:
                item, self._item = self._item, None
            yield item


class ExperimentSession:
    """A page's experiments: one thread draws the newest experiment, another judges it.

    Messages are ``{"query": ..., "number": ...}``. Frames have the number, and are of the kind
    ``picture`` (scenes), ``figures`` (all that a page of ``--html`` shows) or ``refused``
    (``words``). Figures are computed once the page sends no more changes, and are dropped at the
    next change: some take long, and no picture waits for them.
    """

    def __init__(self, outbox: Outbox, given: LabInputs) -> None:
        self._outbox = outbox
        self._given = given
        self._asked, self._drawn = LatestSlot(), LatestSlot()
        self._sending, self._number = threading.Lock(), None
        self._threads = [
            threading.Thread(target=work, name="lab", daemon=True)
            for work in (self._draw_pictures, self._judge_experiments)
        ]
        for thread in self._threads:
            thread.start()

    def receive(self, message: dict[str, Any]) -> None:
        """Replace the experiment that the page asked for last."""
        self._asked.put(message)

    def close(self) -> None:
        """End the threads, and wait for them for a moment."""
        self._asked.end()
        self._drawn.end()
        for thread in self._threads:
            thread.join(LEAVE)

    def _draw_pictures(self) -> None:
        with contextlib.closing(ExperimentRunner(self._given)) as runner:
            for message in self._asked.iterate_items():
                number = self._number = message.get("number")
                query = str(message.get("query", ""))
                with self._report_refusals(
                    number, partial(self._remove_wrong_entries, runner, query)
                ):
                    experiment = runner.read(read_query(query, self._given.own))
                    self._send_frame(_make_picture_frame(runner, experiment), experiment, 1, number)
                    self._drawn.put((experiment.lab, number))

    def _judge_experiments(self) -> None:
        with contextlib.closing(ExperimentRunner(self._given)) as runner:
            for lab, number in self._drawn.iterate_items():
                with contextlib.suppress(Superseded), self._report_refusals(number):
                    self._judge_experiment(runner, lab, number)

    def _judge_experiment(self, runner: ExperimentRunner, lab: LabSpec, number: Any) -> None:
        scenes: tuple[Scene, ...] = ()
        for networks in STEPS if lab.simulated else STEPS[:1]:
            if self._drawn.wait(PAUSE if networks <= STEPS[1] else REST):
                raise Superseded
            began = time.monotonic()
            experiment = runner.read(replace(lab, networks=networks))
            found = runner.compute_comparison(experiment, self._is_superseded, pictured=not scenes)
            scenes = scenes or found.scenes
            self._send_frame(
                _make_comparison_frame(replace(found, scenes=scenes)), experiment, networks, number
            )
            if time.monotonic() - began > ENOUGH:
                break

    def _is_superseded(self) -> bool:
        return self._asked.is_ready or self._drawn.is_ready

    @contextlib.contextmanager
    def _report_refusals(
        self, number: Any, mend: Callable[[], dict[str, Any]] = dict
    ) -> Iterator[None]:
        """Send an experiment's error to the page, with the query that ``mend`` makes valid."""
        try:
            yield
        except Superseded:
            raise
        except (SettingError, InvalidExperiment, StrategyFailed) as error:
            self._send_refusal(number, str(error), **mend())
        except Exception as error:
            self._send_refusal(number, f"internal error: {error!r}")

    def _send_refusal(self, number: Any, words: str, **mend: Any) -> None:
        self._send_if_current(
            number, make_frame(kind="refused", number=number, words=words, **mend)
        )

    def _remove_wrong_entries(self, runner: ExperimentRunner, query: str) -> dict[str, Any]:
        """Return a refused experiment's query without its wrong entries, and these entries."""

        def is_valid(query: str) -> bool:
            with contextlib.suppress(SettingError, InvalidExperiment, StrategyFailed):
                runner.draw_picture(runner.read(read_query(query, self._given.own)))
                return True
            return False

        with contextlib.suppress(SettingError):
            kept, left_out = mend_query(query, is_valid)
            values = list_values(runner.read(read_query(kept, self._given.own)))
            return {"mended": kept, "left_out": left_out, "values": values}
        return {}

    def _send_frame(
        self, made: PreparedFrame, experiment: Experiment, networks: int, number: Any
    ) -> None:
        """Send a frame that replaces all waiting frames."""
        about, message = made
        message |= {
            "number": number,
            "networks": networks if experiment.lab.simulated else 0,
            "command": experiment.lab.write_command(self._given),
            "design": experiment.lab.write_design_command(self._given),
            "labels": experiment.labels,
            "values": list_values(experiment),
        }
        self._send_if_current(number, about.write_bytes(message))

    def _send_if_current(self, number: Any, data: bytes) -> None:
        with self._sending:
            if number == self._number:  # else the frame would replace a newer one
                self._outbox.put(KEY, data)


def _make_picture_frame(runner: ExperimentRunner, experiment: Experiment) -> PreparedFrame:
    made = PageFrame()
    ranks = {label: rank for rank, label in enumerate(experiment.labels)}
    scenes = [scene for scene in runner.draw_picture(experiment) if len(scene.times)]
    if not scenes:
        raise InvalidExperiment("no packet arrives: lower the loss")
    return made, {
        "kind": "picture",
        "styles": list_looks(experiment.labels),
        "scenes": [make_scene_data(scene, ranks, made.pack) for scene in scenes],
    }


def _make_comparison_frame(found: Comparison) -> PreparedFrame:
    made = PageFrame()
    likely = list_likely_scores(found.results)
    return made, {"kind": "figures", "likely": likely, **make_comparison_data(found, made.pack)}


class ExportRequest(NamedTuple):
    """A request for a file of an experiment: the runner, the file's ``name``, a video's part."""

    runner: ExperimentRunner
    experiment: Experiment
    given: LabInputs
    name: str
    clip: str


def export(name: str, query: str, given: LabInputs) -> bytes:
    """Return the content of a file of ``EXPORTS``; raise ``ValueError``.

    The query is an experiment's, and may have a ``clip``, as the option.
    """
    if name == CODE:
        return _generate_code(query)
    own, _, clip = query.partition("&clip=")
    lab = read_query(own, given.own)
    if name == NOTHING.by_hand:
        return write_points(lab.points)
    part = parse_qs(f"clip={clip}").get("clip", [""])[0]
    try:
        with closing(ExperimentRunner(given)) as runner:
            return _MAKERS[name](ExportRequest(runner, runner.read(lab), given, name, part))
    except (StrategyFailed, Unwritable, UnwritablePacket) as error:
        raise ValueError(str(error)) from error


#: Python 3.11 fails if two threads run ``ast.parse`` (gh-106905).
_CODING = threading.Lock()


def _generate_code(query: str) -> bytes:
    """Return a strategy's code in a language, as ``epic code`` writes it."""
    words = {key: values[0] for key, values in parse_qs(query.replace("+", "%2B")).items()}
    language = Choice("language", None, "", LANGUAGES).read(words.get("lang", ""))
    strategy = check_strategies([words.get("s", "")])[0]
    line = shlex.join(["epic", "code", strategy.label, "--lang", language])
    with _CODING:
        return code(CodeSpec(strategy, language), line).encode()


def _make_page(request: ExportRequest) -> bytes:
    lab, given = request.experiment.lab, request.given
    found = request.runner.compute_comparison(request.experiment)
    about = About("" if lab.moves == BY_HAND else given.recording, "", lab.write_command(given))
    return make_page(found.scenes, make_content(found, report(found), about=about)).encode()


def _make_svg(request: ExportRequest) -> bytes:
    found = request.runner.compute_comparison(request.experiment)
    return draw_picture(found.scenes[0], request.experiment.labels, found.pictured).encode()


def _make_video(request: ExportRequest) -> bytes:
    found = request.runner.compute_comparison(request.experiment)
    spec, stream = VideoSpec.parse(request.clip), io.BytesIO()
    labels = request.experiment.labels
    write_video(stream, find_kind(request.name), found.scenes[:1], spec, labels, found.pictured)
    return stream.getvalue()


def _make_case(request: ExportRequest) -> bytes:
    """Make a case for ``epic check`` in a ZIP: packets, strategies, and their rows."""
    run, spec = next(request.experiment.list_runs()), request.experiment.job.how
    blocks = [block for block in run.packets.values() if len(block)]
    writer, conversion, stream = make_writer("text"), Conversion(Changes()), io.BytesIO()
    rows = [row for block in blocks for row in conversion.iterate_rows(block, writer)]
    with tempfile.TemporaryDirectory() as place, zipfile.ZipFile(stream, "w") as archive:
        folder = os.path.join(place, request.name.removesuffix(".zip"))  # noqa: PTH118
        values = list_spec_values(folder, ReplaySpec(timing=spec.timing))
        values |= {"strategy": [*request.experiment.lab.strategies]}
        make_case(folder, [], values, writer.header + b"".join(rows))
        for file in sorted(Path(folder).iterdir()):
            archive.write(file, file.relative_to(place))
    return stream.getvalue()


_MAKERS: dict[str, Callable[[ExportRequest], bytes]] = {
    "lab.html": _make_page,
    "lab.svg": _make_svg,
    "lab.gif": _make_video,
    "lab.mp4": _make_video,
    "lab-case.zip": _make_case,
}

#: The file of a strategy's code.
CODE = "smoothing.txt"

#: The names of files, and their media types.
EXPORTS = {
    "lab.html": "text/html",
    "lab.svg": "image/svg+xml",
    "lab.gif": "image/gif",
    "lab.mp4": "video/mp4",
    "lab-case.zip": "application/zip",
    NOTHING.by_hand: "text/csv",
    CODE: "text/plain",
}


def make_server(given: LabInputs = NOTHING, port: int = 0, query: str = "") -> ServeSpec:
    """Return the server of the lab's page, which opens with the experiment of ``query``."""
    files = {name: File(kind, partial(_export_file, name, given)) for name, kind in EXPORTS.items()}
    sessions = {"experiment": partial(ExperimentSession, given=given)}
    return ServeSpec(partial(make_lab_page, given), sessions, port, query, files)


def _export_file(name: str, given: LabInputs, query: str) -> bytes:
    return export(name, query, given)
