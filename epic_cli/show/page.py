"""A comparison as one page for a browser: self-contained, offline, to be sent to a colleague."""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from importlib.resources.abc import Traversable
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from urllib.parse import urlencode

import numpy as np

from epic_cli.engine.parameters import Choice, Custom, Number, Parameter, Switch
from epic_cli.engine.replay.playback import TIMING
from epic_cli.metrics.comparison import Comparison
from epic_cli.metrics.digits import format_three_digits
from epic_cli.metrics.notes import NothingToDraw
from epic_cli.metrics.turns import project_headings
from epic_cli.network.link import LINK, GilbertElliott
from epic_cli.recordings import METERS
from epic_cli.show.documents import Link, write_html
from epic_cli.show.report import MAYBE, Figure, Report, ReportFinding, Table, Usage
from epic_cli.show.scene import (
    BINS,
    Scene,
    StrategyTrace,
    choose_ground_axes,
    describe_network,
    describe_packets,
    describe_scene,
)
from epic_cli.show.styles import BLACK, PALETTE, WHITE, choose_line_styles
from epic_cli.show.svg import draw_scores_picture

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from epic_cli.metrics.arrays import Floats


#: The metrics beside the picture; the table under it has all.
BRIEF = ("score", "error", "error_max", "lag", "angle")

#: Strategies whose scores stand beside the verdict.
SCORES = 8

#: Most characters of a verdict; the rest is folded.
SENTENCES = 5

#: The folder of the pages' scripts, styles and elements.
BROWSER = files("epic_cli.show") / "browser"


@dataclass(frozen=True)
class PageParts:
    """The files that make up a page, in their order.

    ``scripts`` stand in the order in which the browser reads them: while a script is read it may
    use only earlier ones; ``elements`` go into the page's ``main``. A file that is not in
    ``folder`` is taken from those that all pages share. With the script ``talk``, the page talks to
    the program that serves it.
    """

    scripts: Sequence[str]
    elements: Sequence[str]
    styles: Sequence[str]
    folder: Traversable = BROWSER

    def join_scripts(self) -> str:
        """Return the scripts as one text."""
        return self._join_files(self.scripts, "js")

    def write_html(self, title: str, data: dict[str, Any]) -> str:
        """Return the page, with the data that its scripts read."""
        # no text of the recording may end an element
        safe = json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
        talks = "talk" in self.scripts
        text = (BROWSER / "frame.html").read_text("utf-8")
        for mark, part in (
            ("<!--MAIN-->", f"\n{self._join_files(self.elements, 'html')}"),
            # older browsers do not count a WebSocket as 'self'
            ("/*SOURCES*/", "; connect-src 'self' ws://localhost:* ws://127.0.0.1:*" * talks),
            ("/*STYLE*/", f"{_write_color_variables()}\n{self._join_files(self.styles, 'css')}"),
            ("/*SCRIPT*/", self.join_scripts()),
            ("<!--TITLE-->", title.replace("&", "&amp;").replace("<", "&lt;")),
            ("/*DATA*/", safe),
        ):
            text = text.replace(mark, part)
        return text

    def _join_files(self, names: Sequence[str], kind: str) -> str:
        places = [(self.folder / f"{name}.{kind}", BROWSER / f"{name}.{kind}") for name in names]
        found = [own if own.is_file() else shared for own, shared in places]
        return "\n".join(traversable.read_text("utf-8") for traversable in found)


#: One map and one set of lanes, for all pages.
_SHARED = ("base", "pen", "map", "lanes")

#: The page of scenes, and that of a running game.
PAGE = PageParts(
    (*_SHARED, "scene", "path", "time", "words", "reader", "begin"), ("page",), ("page",)
)
LIVE = PageParts((*_SHARED, "controls", "talk", "live"), ("live",), ("page", "controls", "live"))


@dataclass(frozen=True)
class About:
    """The origin of a comparison: the names of its recording and truth, and the command line."""

    recording: str = ""
    truth: str = ""
    command: str = ""


class Section(NamedTuple):
    """A recording's name and the report about it, as a section of a page."""

    recording: str
    report: Report


@dataclass(frozen=True)
class Content:
    """The texts and values of a page beside its scenes.

    The ``report`` has the verdict, the notes, and a table of the strategies' metrics. ``facts`` are
    terms with descriptions of what the page compares. ``shown`` strategies are visible at first,
    all if empty. ``diagnoses`` are of recordings, ``drawn`` is the recording of the scenes. The
    ``lead`` stands above the pictures, which open at the time ``at`` (None: the worst moment);
    ``truth`` is the name of the thick line, ``scores`` a picture of the scores (SVG). ``of`` names
    the recording or network of the pictures, if there are several.
    """

    title: str
    report: Report = field(default_factory=Report)
    facts: Sequence[tuple[str, str]] = ()
    shown: Sequence[str] = ()
    tick: float = 0.05
    diagnoses: Sequence[Section] = ()
    drawn: str = ""
    lead: Report | None = None
    at: float | None = None
    scores: str = ""
    truth: str = "truth"
    of: str = ""


def make_content(
    comparison: Comparison,
    told: Report,
    shown: Sequence[str] = (),
    about: About = About(),
    diagnoses: Sequence[Section] = (),
    tuning: Report | None = None,
) -> Content:
    """Return the content of a comparison's page; ``told`` is the report of the comparison.

    ``diagnoses`` are reports on its recordings. With ``tuning``, the comparison is of the settings
    before and after, and the report of the tuning gives the verdict.
    """
    if tuning is not None:
        told = replace(told, verdict=tuning.verdict, notes=tuning.notes, method=tuning.method)
        # the front and what to copy are what one looks for
        parts = sorted(
            tuning.parts, key=lambda one: (not isinstance(one, Figure), not isinstance(one, Usage))
        )
        tuning = Report("Tuned settings", parts=parts)
    places = {row["label"]: place for place, row in enumerate(_read_metrics(told)[1])}
    results = sorted(comparison.results, key=lambda one: places.get(one.label, len(places)))
    subject = "Tuned settings" if tuning else "What each strategy draws"
    return Content(
        title=f"{subject}{f': {about.recording}' if about.recording else ''}",
        report=told,
        facts=_list_facts(comparison, about),
        shown=shown,
        tick=comparison.tick,
        diagnoses=diagnoses,
        drawn=next(iter(comparison.recordings), ""),
        lead=tuning,
        scores=draw_scores_picture(results, SCORES),
        of=comparison.pictured,
    )


def _list_facts(comparison: Comparison, about: About) -> list[tuple[str, str]]:
    """Return what was compared, under which conditions and units, as terms and descriptions."""
    scenes = [scene for scene in comparison.scenes if len(scene.times)]
    found = []
    if about.command:
        found.append(("Command", about.command))
    if about.recording:
        found.append(("Recording", about.recording))
    if about.truth:
        found.append(("Truth", about.truth))
    for scene in scenes[:12]:
        called = f" of {scene.entity}" if scene.entity else ""
        found.append((f"Packets{called}", describe_packets(scene.deliveries)))
        found.append((f"Network{called}", describe_network(scene.deliveries)))
    if len(scenes) > 12:
        found.append(("More", f"{len(scenes) - 12} more entities"))
    found.append(
        (
            "Rows",
            f"one every {format_three_digits(comparison.tick * 1000)} ms, {comparison.rows:,}"
            " are judged",
        )
    )
    if any(scene.shared is not None for scene in scenes):
        drawn = [len(trace.times) for scene in scenes for trace in scene.drawn]
        rows, most = median(drawn or [0]), max(scene.rows for scene in scenes)
        kept = f"about {rows:,.0f} of {most:,} rows of each"
        where = (
            "all around the worst moment and the longest outages, elsewhere every few, with the"
            " least and the largest error between them; lines are thin where others could be seen"
            " beside them. Figures are of all rows; --span has every row of a part"
        )
        found.append(("Pictures", f"hold {kept}: {where}"))
    if any(scene.rotations is not None for scene in scenes):
        found.append(("Heading", "where the x axis of what turns points to, seen from above"))
    metric = any(scene.unit == METERS for scene in scenes)
    lengths = "lengths are in meters" if metric else "lengths are in the recording's own unit"
    found.append(("Units", f"{lengths}, times in seconds"))
    return found


def make_page(scenes: Sequence[Scene], content: Content) -> str:
    """Return the page of any scenes, which shows drawn positions beside the truth.

    A scene's ``truth`` is the thick line, each of its ``drawn`` a line of its own, and their
    ``distances`` make the chart of errors. ``content`` has the words and values; strategies are
    ranked as in its table, and strategies that are not in the table come last. The page is
    self-contained and makes no network requests. Raises ``NothingToDraw`` if no scene has a row.
    """
    return PAGE.write_html(content.title, make_page_data(scenes, content))


def make_page_data(
    scenes: Sequence[Scene], content: Content, pack: Pack | None = None
) -> dict[str, Any]:
    """Return the data for the scripts of ``make_page``.

    ``pack`` returns a placeholder for an array of numbers; without it, the numbers are in the data.
    """
    usable = [scene for scene in scenes if len(scene.times)]
    if not usable:
        raise NothingToDraw
    told = content.report
    heads, rows = _read_metrics(told)
    labels = [row["label"] for row in rows]
    labels += [row.label for scene in usable for row in scene.drawn]
    ranks = {label: rank for rank, label in enumerate(dict.fromkeys(labels))}
    shown, numbers = list(content.shown) or list(ranks), _PackedArrays()
    found = {
        "title": content.title,
        "verdict": list(told.verdict[:SENTENCES]),
        "details": list(told.verdict[SENTENCES:]),
        "notes": [*told.notes, *told.method],
        "facts": list(content.facts),
        "columns": heads,
        "rows": rows or [{"label": label, "cells": [], "best": []} for label in ranks],
        "shown": sorted(shown, key=lambda label: ranks.get(label, len(ranks))),
        "styles": list_looks(ranks),
        "tick": content.tick,
        "diagnoses": [
            write_html(
                section.report,
                _make_link_writer(usable if section.recording == content.drawn != "" else ()),
                _TERMS,
            )
            for section in content.diagnoses
        ],
        "lead": content.lead and write_html(content.lead),
        "at": content.at,
        "scores": content.scores,
        "truth": content.truth,
        "of": content.of,
        "scenes": [
            {
                **make_scene_data(each, ranks, pack or numbers.pack, pack is None),
                "words": describe_scene(each, shown),
            }
            for each in usable
        ],
    }
    return found if pack else {**found, "numbers": numbers.write_arrays()}


def list_looks(labels: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the color, dashes and marker of each label's line, for the page."""
    return {
        label: {
            "color": style.color,
            "dashes": style.dashes,
            "mark": style.mark,
            "shape": style.shape,
        }
        for label, style in choose_line_styles(labels).items()
    }


def _make_link_writer(scenes: Sequence[Scene]) -> Link:
    """Return a function that writes the address of a finding's moment in the page of these scenes.

    The address is empty for a moment beyond the rows of the scenes.
    """

    def write_link(finding: ReportFinding, at: float) -> str:
        own = [scene for scene in scenes if scene.entity in finding.entities]
        for scene in (own or scenes)[:1]:
            if scene.times[0] <= at <= scene.times[-1]:
                several = len(scenes) > 1 and finding.entities
                entity = {"entity": scene.entity} if several else {}
                return f"#{urlencode({'t': round(at, 6), **entity})}"
        return ""

    return write_link


def _read_metrics(told: Report) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the table's metrics, and its rows.

    A row is a strategy's label, its cells, the cells that are best, and whether it may be best.
    """
    table = next((part for part in told.parts if isinstance(part, Table)), Table(()))
    metrics = [column for column in table.columns if column.key]
    heads = [
        {
            "title": metric.title,
            "name": metric.key,
            "meaning": metric.meaning,
            "brief": metric.key in BRIEF,
        }
        for metric in metrics
    ]
    labels = table.columns[0].cells if table.columns else ()
    marks = next((column.cells for column in table.columns if column.title == MAYBE), ())
    rows = [
        {
            "label": label,
            "maybe": row < len(marks) and marks[row] == "maybe",
            "cells": [metric.cells[row] for metric in metrics],
            "best": [row in (metric.best or ()) for metric in metrics],
        }
        for row, label in enumerate(labels)
    ]
    return heads, rows


def make_live_page(live: dict[str, Any]) -> str:
    """Return the HTML page of a running game.

    ``live`` holds ``where`` its packets come in, the ``ways``, and the ``link`` sliders.
    """
    return LIVE.write_html(f"epic lab: {live['where']}", {"live": live})


def _write_color_variables() -> str:
    """Return the CSS variables of the line colors and backgrounds for light and dark schemes."""

    def write_scheme(colors: Sequence[str], card: str) -> str:
        return f"--card:{card};" + "".join(f"--line{i}:{c};" for i, c in enumerate(colors))

    return (
        f":root{{{write_scheme([each.light for each in PALETTE], WHITE)}}}\n"
        "@media (prefers-color-scheme:dark)"
        f"{{:root:not(.print){{{write_scheme([each.dark for each in PALETTE], BLACK)}}}}}"
    )


#: Recordings of which a page says what is wrong with them.
MOST = 12

#: The terms of a finding that a page shows; the others are for the command line.
_TERMS = ("cure", "try", "gain", "effect", "also explains")


#: Largest distance that is drawn: single precision ends not far beyond.
FURTHEST = 1e30


#: Placeholder for an array of numbers in the data of a page.
Pack: TypeAlias = Callable[[Any], Any]


class _PackedArrays:
    """An encoder of a page's number arrays, compressed into one text."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def pack(self, values: Any) -> list[int]:
        """Add an array; return its offset, its length and the size of a number, all in bytes.

        All first bytes of the numbers come first, then all second ones: similar bytes compress
        better.
        """
        size = values.itemsize
        data = np.ascontiguousarray(values).view("u1").reshape(-1, size).T.tobytes()
        self._size += len(data)
        self._parts.append(data)
        return [self._size - len(data), len(data), size]

    def write_arrays(self) -> str:
        """Return all added arrays, deflated (RFC 1950), in base64."""
        return base64.b64encode(zlib.compress(b"".join(self._parts), 9)).decode()


def _round_bits(values: Floats, digits: int) -> Floats:
    """Round numbers to ``digits`` binary digits behind the leading one."""
    bits, cut = values.astype("<f4").view("<u4"), 23 - digits
    rounded = (bits + np.uint32(1 << cut >> 1)) >> cut << cut
    return np.where(np.isfinite(values), rounded, bits).astype("<u4").view("<f4")


def make_scene_data(
    scene: Scene, ranks: dict[str, int], pack: Pack, short: bool = False
) -> dict[str, Any]:
    """Return the data of a scene for the page; strategies are in the order of their ``ranks``.

    Drawn positions are given relative to the truth, where that is known. ``short``: positions are
    rounded so that a marker 10,000 pixels from the truth is at most a tenth of a pixel off, and
    errors to four digits, one more than are displayed.
    """

    def pack_f32(values: Floats) -> Any:
        return pack(_convert_to_float32(values))

    def pack_rounded(values: Floats, digits: int = 13) -> Any:
        return pack(
            _round_bits(_convert_to_float32(values), digits)
            if short
            else _convert_to_float32(values)
        )

    def pack_times(values: Floats) -> dict[str, Any]:
        """Pack times as differences in ticks, or as seconds if they are between ticks."""
        count = np.rint((values - start) / scene.tick)
        steps = np.diff(count, prepend=0.0)
        regular = np.abs(start + count * scene.tick - values).max(initial=0.0) < 1e-9
        if regular and steps.min(initial=0.0) >= 0 and steps.max(initial=0.0) < 1 << 16:
            return {"ticks": pack(steps.astype("<u2"))}
        return {"t": pack((values - start).astype("<f8"))}

    def pack_u8(values: ArrayLike) -> Any:
        return pack(np.asarray(values).astype("u1"))

    a, b = choose_ground_axes(scene)
    known = np.concatenate((scene.truth, scene.packets))[:, (a, b)]
    known = known[np.isfinite(known).all(axis=1)]
    middle = (known.min(axis=0) + known.max(axis=0)) / 2 if len(known) else np.zeros(2)
    start = float(scene.times[0])
    lags = next((trace.lag.times for trace in scene.drawn), np.empty(0))
    truth = _convert_to_float32(scene.truth[:, (a, b)] - middle)

    def pack_path(positions: Floats) -> dict[str, Any]:
        return {
            "x": pack_f32(positions[:, a] - middle[0]),
            "y": pack_f32(positions[:, b] - middle[1]),
        }

    def pack_heads(rotations: Floats | None) -> dict[str, Any]:
        if rotations is None:
            return {}
        seen = np.nan_to_num(project_headings(rotations, (a, b))).clip(
            -1, 1
        )  # 0, 0: not known, or up
        return {"heads": pack(np.rint(32767 * seen).astype("<i2"))}

    def pack_drawn(one: StrategyTrace) -> dict[str, Any]:
        at = np.searchsorted(scene.times, one.times, "right") - 1
        steps, when = np.diff(at, prepend=0), pack_times(one.times)
        places = one.positions[:, (a, b)] - middle
        if np.array_equal(scene.times[at], one.times) and steps.max(initial=0) < 1 << 16:
            same = np.array_equal(one.times, scene.times)
            when = {"at": None if same else pack(steps.astype("<u2"))}
            places = np.where(np.isfinite(truth[at]), places - truth[at], places)
        own = {} if np.array_equal(one.lag.times, lags) else {"t": pack_f32(one.lag.times - start)}
        return {
            "label": one.label,
            **when,
            "x": pack_rounded(places[:, 0], 16),
            "y": pack_rounded(places[:, 1], 16),
            **pack_heads(one.rotations),
            **({} if one.angles is None else {"angle": pack_rounded(one.angles, 16)}),
            "distance": pack_rounded(one.distances),
            # of a distance a 63rd can be seen
            "across": pack_u8(np.rint(63 * np.nan_to_num(one.across))),
            "counted": pack(np.packbits(np.isfinite(one.errors))),
            "runs": {**pack_times(one.run_times), "status": pack_u8(one.run_statuses)},
            "lag": {**own, "ms": pack(_convert_to_milliseconds(one.lag.seconds))},
            "histogram": {"first": one.histogram.first, "counts": one.histogram.counts.tolist()},
            "recoveries": [round(s, 4) if math.isfinite(s) else None for s in one.recoveries],
        }

    deliveries = scene.deliveries
    lost = (deliveries.lost_times >= scene.times[0]) & (deliveries.lost_times <= scene.times[-1])
    return {
        "entity": scene.entity,
        "unit": scene.unit,
        "axes": ["xyz"[a], "xyz"[b]],
        "origin": [float(each) for each in middle],
        "start": start,
        "end": float(scene.times[-1]),
        "tick": scene.tick,
        "bins": BINS,
        "shared": scene.shared is not None
        and scene.blur is not None
        and {**pack_times(scene.shared), "blur": pack_f32(scene.blur)},
        "truth": {
            **pack_times(scene.times),
            "x": pack_f32(truth[:, 0]),
            "y": pack_f32(truth[:, 1]),
        },
        "lags": pack_f32(lags - start),
        **pack_heads(scene.rotations),
        "packets": {
            "t": pack_f32(scene.packet_times - start),
            "arrival": pack_f32(scene.arrivals - start),
            **pack_path(scene.packets),
        },
        "lost": {
            "t": pack_f32(deliveries.lost_times[lost] - start),
            **pack_path(deliveries.lost[lost]),
        },
        "interruptions": [
            {
                "start": interruption.start - start,
                "end": interruption.end - start,
                "kind": interruption.kind,
            }
            for interruption in scene.interruptions
        ],
        "drawn": [
            pack_drawn(trace) for trace in sorted(scene.drawn, key=lambda trace: ranks[trace.label])
        ],
    }


#: A lag (ms) that is not known.
UNKNOWN = -(1 << 15)


def _convert_to_milliseconds(seconds: Floats) -> Any:
    return np.nan_to_num(np.rint(1000 * seconds), nan=UNKNOWN).astype("<i2")


def _convert_to_float32(values: Floats) -> Floats:
    """Return numbers in single precision; those out of its range are NaN."""
    with np.errstate(invalid="ignore"):
        return np.where(np.abs(values) < FURTHEST, values, np.nan).astype("<f4")


#: Frames per second that players see.
TICK = TIMING[0]

#: The first two numbers of a Gilbert-Elliott model, each a slider.
_BURSTS = ("good to bad", "bad to good")

#: Slider's end for a number without a range, as a multiple of its default.
_AROUND = 10.0


def describe_control(parameter: Parameter) -> dict[str, Any]:
    """Return the description of one control: its kind, its choices, and the range of its slider."""
    found: dict[str, Any] = {
        "name": parameter.name,
        "help": parameter.help.partition("  [")[0],
        "words": list(parameter.choices),
    }
    match parameter:
        case Number():
            low, high, log = make_slider(parameter)
            found |= {"kind": "number", "low": low, "high": high, "log": log}
            share = not parameter.unit and any(parameter is each for each in LINK)
            found |= {
                "unit": "%" if share else parameter.unit,
                "whole": parameter.whole,
                "range": parameter.range,
            }
        case Switch():
            found["kind"] = "switch"
        case Choice():
            found["kind"] = "choice"
            found["words"] = [*([""] if parameter.default is None else []), *parameter.choices]
        case Custom() if parameter is TICK:
            found |= {"kind": "number", "low": 1 / 240, "high": 0.25, "log": True}
            found |= {"unit": "s", "whole": False, "range": "0.05, 1/60, 50ms or 60hz"}
        case Custom() if parameter.kind is GilbertElliott:
            found |= {"kind": "text", "range": parameter.form, "shares": list(_BURSTS)}
        case Custom():
            words = [word for word, _ in parameter.complete()]
            found |= {"kind": "choice" if words else "text", "range": parameter.form}
            found["words"] = ["", *words] if words else []
    return found


def make_slider(number: Number) -> tuple[float, float, bool]:
    """Return the range of a parameter's slider, and True if the slider is logarithmic.

    The range is the one worth tuning if declared, or the whole range if that is short.
    """
    if number.tune is not None:
        low, high = number.tune
        return low, high, number.scale == "log" and low > 0
    usual = number.default if isinstance(number.default, int | float) else 1.0
    high = min(number.high, _AROUND * abs(usual) or 1.0)
    low = max(number.low, -high) if number.low < 0 else number.low
    if math.isfinite(number.high) and number.high <= _AROUND**2 * max(abs(usual), 1.0):
        high = number.high
    if number.whole and high - low < 2:
        high = low + 100
    return (low, high, False) if low < high else (number.low, number.low + 1, False)


def write_value(one: Parameter, holder: object) -> str:
    """Return the value of the parameter ``one`` in ``holder`` as users type it; empty if unset."""
    value = getattr(holder, one.field)
    if one.field == "loss" and isinstance(value, GilbertElliott) != (one.name == "gemodel"):
        return ""
    return "" if value is None else one.write(value)
