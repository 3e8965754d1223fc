from __future__ import annotations

import math
import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from support import comparisons

from epic_cli.metrics.notes import NothingToDraw
from epic_cli.show.plot import find_largest
from epic_cli.show.svg import HEIGHT, WIDTH, draw_picture, draw_scores_picture

(SCENE,) = comparisons.comparison("Late", "Jumping", entities=("<tank & co>",)).scenes


SVG = "{http://www.w3.org/2000/svg}"


def elements(text: str, tag: str, kind: str | None = None) -> list[ElementTree.Element]:
    found = ElementTree.fromstring(text).iter(f"{SVG}{tag}")
    return [element for element in found if kind is None or element.get("class") == kind]


def test_it_shows_everything_inside_and_refers_to_nothing_outside() -> None:
    text = draw_picture(SCENE)
    words = [element.text for element in elements(text, "text")]
    assert "<tank & co>: from above, y over x (lengths)" in words
    assert {"truth", "packets"} <= set(words)
    # in the key, and where the lines end
    assert words.count("Late") == words.count("Jumping") == 3
    assert "error 0.500 (RMS), 0.500 at most" in words
    assert "Jumping: at most 2.00" in (elements(text, "desc")[0].text or "")
    assert len(elements(text, "path", "d")) == 4  # two paths, two errors
    for path in re.findall(r'class="[dt]"[^>]* d="([^"]*)"', text):
        numbers = [float(number) for number in re.findall(r"-?[\d.]+", path)]
        assert all(0 <= x <= WIDTH for x in numbers[::2])
        assert all(0 <= y <= HEIGHT for y in numbers[1::2])
    assert not re.search(r"https?:|href|url\(|@import|<script", text.replace(SVG[1:-1], ""))
    chosen = draw_picture(SCENE, ["Jumping"])
    assert "Late" not in chosen
    assert "Jumping" in chosen


def test_names_cannot_break_it() -> None:
    (scene,) = comparisons.comparison("Late", entities=("a\x1b[31m\nb\x01",)).scenes
    words = [element.text for element in elements(draw_picture(scene), "text")]
    assert "a\\x1b[31m\\nb\\x01: from above, y over x (lengths)" in words


def test_the_first_is_drawn_above_the_others_and_each_in_its_own_style() -> None:
    many = [SCENE.drawn[0]._replace(label=f"n{number}") for number in range(23)]
    text = draw_picture(SCENE._replace(drawn=tuple(many)), [trace.label for trace in many])
    lines = elements(text, "path", "d")
    styles = [(line.get("stroke"), line.get("stroke-dasharray")) for line in lines[:23]]
    assert len(set(styles)) == 23


def test_names_at_the_ends_of_lines_do_not_lie_on_each_other() -> None:
    many = [SCENE.drawn[0]._replace(label=f"n{number}") for number in range(12)]
    names = elements(draw_picture(SCENE._replace(drawn=tuple(many))), "text", "n")
    heights = sorted(float(name.get("y", "")) for name in names[:12])
    assert len(heights) == 12
    assert min(b - a for a, b in pairwise(heights)) >= 12.9


@pytest.mark.parametrize("aspect", [0.2, 1.0, 5.0])
def test_axes_go_little_further_than_the_path_and_names_not_into_the_key(aspect: float) -> None:
    count = len(SCENE.times)
    high = 20 * aspect
    zigzag = high * np.abs(np.linspace(0, 5, count) % 2 - 1)
    ways = np.column_stack((np.linspace(0, 20, count), zigzag, 0 * zigzag))
    drawn = tuple(one._replace(times=SCENE.times, positions=ways) for one in SCENE.drawn)
    text = draw_picture(
        SCENE._replace(truth=ways, packet_times=SCENE.times, packets=ways, drawn=drawn)
    )
    words = [
        (float(one.get("x", 0)), float(one.get("y", 0)), one) for one in elements(text, "text")
    ]
    end = next(y for _, y, one in words if "error (lengths)" in str(one.text))
    map_words = [(x, one) for x, y, one in words if y < end]
    for anchor, side in (("end", high), ("middle", 20.0)):
        values = [float(one.text or "") for _, one in map_words
                  if one.get("text-anchor") == anchor and one.get("class") is None]  # fmt: skip
        assert min(values) >= -0.4 * side
        assert max(values) <= 1.4 * side
        assert max(values) - min(values) >= 0.5 * side
    names = [(x, one) for x, one in map_words if one.get("class") == "n"]
    assert len(names) == len(SCENE.drawn)
    for x, one in names:
        assert one.get("text-anchor") == "end" or x + 6 * len(one.text or "") < 710


def test_breaks_in_a_path_stay_breaks() -> None:
    late = SCENE.drawn[0]
    positions = late.positions.copy()
    positions[100] = np.nan
    broken = SCENE._replace(drawn=(late._replace(positions=positions),))
    (path, _) = re.findall(r'class="d"[^>]* d="([^"]*)"', draw_picture(broken))
    assert path.count("M") == 2


def test_nothing_to_draw_is_an_error() -> None:
    none, nowhere = np.empty(0), np.empty((0, 3))
    nothing = SCENE._replace(
        times=none, truth=nowhere, packets=nowhere, packet_times=none, drawn=()
    )
    with pytest.raises(NothingToDraw, match="nothing to draw"):
        draw_picture(nothing)


def test_long_series_keep_their_peaks() -> None:
    values = np.zeros(10_000)
    values[1234] = 5.0
    values[5000:6000] = np.nan
    times, largest = find_largest(np.arange(10_000.0), values, 100)
    assert len(times) == len(largest) == 100
    assert np.nanmax(largest) == 5.0
    assert np.isnan(largest[50:60]).all()
    assert not np.isnan(largest[:50]).any()


def test_bytes_are_those_of_every_machine() -> None:
    turn = np.linspace(0, 2 * math.pi, 9)
    round_ = np.stack([np.rint(100 * np.cos(turn)), np.rint(100 * np.sin(turn)), 0 * turn], axis=1)
    scene = SCENE._replace(
        entity="",
        times=np.arange(9.0),
        truth=round_,
        packet_times=np.arange(9.0),
        packets=round_,
        drawn=(
            SCENE.drawn[0]._replace(
                times=np.arange(9.0),
                positions=round_ + 1,
                errors=np.full(9, math.sqrt(3)),
                rms=math.sqrt(3),
            ),
        ),
    )
    golden = Path(__file__).parent / "octagon.svg"
    assert draw_picture(scene).encode() == golden.read_bytes()


@pytest.mark.parametrize("seed", range(3))
def test_darts_head_where_the_rows_do(seed: int) -> None:
    """The darts' tips are 8 pixels from their rows, less where these look up or down."""
    packets = comparisons.tumbling(seed)
    (scene,) = comparisons.turning({"": packets}).scenes
    oracle = comparisons.Turning(packets, comparisons.TURNING)
    text = draw_picture(scene, comparisons.TURNING)
    assert "angle (degrees from the true rotation) over time (s)" in text
    scale, left, top = _map_of(text)
    shapes = [
        re.findall(r"M([^Z]*)Z", path) for path in re.findall(r'<path fill="#.*?d="(.*?)"', text)
    ]
    labels = ("truth", *reversed(comparisons.TURNING))
    assert len(shapes) == 3
    for label, darts in zip(labels, shapes, strict=True):
        of = next((trace for trace in scene.drawn if trace.label == label), None)
        positions = scene.truth if of is None else of.positions
        times = scene.times if of is None else of.times
        assert len(darts) > 10, label
        before = (np.inf, np.inf)
        for dart in darts:
            corners = np.array([part.split() for part in dart.split("L")], float)
            (tip, _, notch, _) = corners
            place = (tip + notch / 0.35) / (1 + 1 / 0.35)  # between the two
            assert np.hypot(*(place - before)) > 35.5, "darts are crowded"
            before = place
            near = np.hypot(*((place - (left, top)) / (scale, -scale) - positions[:, :2]).T)
            heads = [oracle.heading(label, times[k]) for k in np.flatnonzero(near < 0.4 / scale)]
            assert any(abs(tip - place - 8 * head * (1, -1)).max() < 0.2 for head in heads)
    assert draw_picture(scene, comparisons.TURNING) == text


def _map_of(text: str) -> tuple[float, float, float]:
    """Return the pixels per length, and the pixels of (0, 0), from the labels of the two axes."""
    across = re.findall(r'<text x="([\d.]+)" y="440" text-anchor="middle">(-?[\d.]+)<', text)
    up = re.findall(r'<text x="50" y="([\d.]+)" text-anchor="end">(-?[\d.]+)<', text)
    (x, a), (z, b) = np.array([across[0], across[-1]], float)
    (y, c) = np.array(up[0], float)
    scale = (z - x) / (b - a)
    return scale, x - scale * a, y - 4 + scale * c


def test_nothing_to_draw_is_no_picture() -> None:
    assert draw_scores_picture([]) == ""
