"""What an experiment can be saved as, each computed as the command of the page would."""

from __future__ import annotations

import io
import os
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs

from epic_cli.engine.failures import StrategyFailed
from epic_cli.engine.replay.playback import ReplaySpec
from epic_cli.jobs.check.writing import make_case, spec_values
from epic_cli.jobs.compare.report import report
from epic_cli.lab.bench import Bench, Experiment
from epic_cli.lab.spec import BY_HAND, NOTHING, Given, by_hand_file, read_query
from epic_cli.recordings.conversion import Changes, Conversion, UnwritablePacket
from epic_cli.recordings.recordings import make_writer
from epic_cli.recordings.writing import Unwritable
from epic_cli.show.page.page import About, content_of, page_of
from epic_cli.show.svg import picture
from epic_cli.show.video import VideoSpec, kind_of, read_clip, write_video


class Wanted(NamedTuple):
    """An experiment on its bench, what is given, a file's ``name``, which part a video shows."""

    bench: Bench
    experiment: Experiment
    given: Given
    name: str
    clip: str


def export(name: str, query: str, given: Given) -> bytes:
    """The file of this name, one of ``EXPORTS``; raises ``ValueError`` where there is none.

    The query is an experiment's, and may have a ``clip``, as the option.
    """
    own, _, clip = query.partition("&clip=")
    lab = read_query(own, given.own)
    if name == NOTHING.by_hand:
        return by_hand_file(lab.points)
    part = parse_qs(f"clip={clip}").get("clip", [""])[0]
    try:
        with closing(Bench(given)) as bench:
            return _MAKERS[name](Wanted(bench, bench.read(lab), given, name, part))
    except (StrategyFailed, Unwritable, UnwritablePacket) as error:
        raise ValueError(str(error)) from error


def _page(wanted: Wanted) -> bytes:
    lab, given = wanted.experiment.lab, wanted.given
    found = wanted.bench.figures(wanted.experiment)
    about = About("" if lab.moves == BY_HAND else given.recording, "", lab.command(given))
    return page_of(found.scenes, content_of(found, report(found), about=about)).encode()


def _picture(wanted: Wanted) -> bytes:
    found = wanted.bench.figures(wanted.experiment)
    return picture(found.scenes[0], wanted.experiment.lab.strategies).encode()


def _video(wanted: Wanted) -> bytes:
    found = wanted.bench.figures(wanted.experiment)
    spec, stream = VideoSpec(**read_clip(wanted.clip)), io.BytesIO()  # type: ignore[arg-type]
    labels = wanted.experiment.lab.strategies
    write_video(stream, kind_of(wanted.name), found.scenes[:1], spec, labels)
    return stream.getvalue()


def _case(wanted: Wanted) -> bytes:
    """A case for ``epic check`` in a ZIP: packets, strategies, and what they draw."""
    run, spec = next(wanted.experiment.runs()), wanted.experiment.spec
    blocks = [block for block in run.packets.values() if len(block)]
    turns = any(block[0].rotation is not None for block in blocks)
    writer, conversion, stream = (
        make_writer("text", turns=turns),
        Conversion(Changes()),
        io.BytesIO(),
    )
    rows = [row for block in blocks for row in conversion.rows(block, writer)]
    with tempfile.TemporaryDirectory() as place, zipfile.ZipFile(stream, "w") as archive:
        folder = os.path.join(place, wanted.name.removesuffix(".zip"))  # noqa: PTH118
        values = spec_values(folder, ReplaySpec(timing=spec.timing))
        values |= {"strategies": [*wanted.experiment.lab.strategies]}
        del values["strategy"]
        make_case(folder, [], values, writer.header + b"".join(rows))
        for file in sorted(Path(folder).iterdir()):
            archive.write(file, file.relative_to(place))
    return stream.getvalue()


_MAKERS: dict[str, Callable[[Wanted], bytes]] = {
    "lab.html": _page,
    "lab.svg": _picture,
    "lab.gif": _video,
    "lab.mp4": _video,
    "lab-case.zip": _case,
}

#: The names of files, and what they are.
EXPORTS = {
    "lab.html": "text/html",
    "lab.svg": "image/svg+xml",
    "lab.gif": "image/gif",
    "lab.mp4": "video/mp4",
    "lab-case.zip": "application/zip",
    NOTHING.by_hand: "text/csv",
}
