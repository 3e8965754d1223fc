"""Videos in independent decoders: Pillow reads the GIF, PyAV the MP4."""

from __future__ import annotations

import csv
import json
import os
import random
import resource
import signal
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import av
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageColor
from support.places import ROOT
from support.recordings import few_of, seeds

import epic_cli.show.film as filming
from epic_cli.main import main
from epic_cli.show.plot import spread
from epic_cli.show.styles import BLACK, WHITE, choose_line_styles

Floats = NDArray[np.float64]

JITTER = str(ROOT / "sample_inputs" / "jitter.txt")
TANKS = str(ROOT / "sample_inputs" / "two_tanks.csv")
STRATEGIES = ("epic", "snapshot", "dead-reckoning")
STYLES = choose_line_styles([*STRATEGIES, "lerp", "mirror", "drawn"])
#: Pixels enough to tell a marker from its trail; it begins when a row does.
LARGE = "size=960x540,from=0.5,to=2.5"
#: The last seconds of a video, which dissolve.
DISSOLVE = 0.4


class Video(NamedTuple):
    """A decoded video: frames (n, height, width, 3), and the start of each frame (n + 1, s)."""

    frames: list[NDArray[np.uint8]]
    times: Floats

    def at(self, seconds: float) -> NDArray[np.uint8]:
        return self.frames[int(np.searchsorted(self.times, seconds, side="right")) - 1]


def decoded(path: Path) -> Video:
    frames, lasts = [], []
    if path.suffix == ".gif":
        with Image.open(path) as file:
            for number in range(getattr(file, "n_frames", 1)):
                file.seek(number)
                frames.append(np.asarray(file.convert("RGB")))
                lasts.append(file.info["duration"] / 1000)
    else:
        with av.open(path) as movie:
            stream = movie.streams.video[0]
            assert stream.codec_context.name == "h264"
            assert stream.codec_context.pix_fmt == "yuv420p"
            for frame in movie.decode(stream):
                frames.append(frame.to_ndarray(format="rgb24"))
            assert stream.average_rate
            lasts = [float(1 / stream.average_rate)] * len(frames)
            assert stream.duration
            assert stream.time_base
            assert float(stream.duration * stream.time_base) == pytest.approx(sum(lasts), abs=1e-3)
    return Video(frames, np.concatenate([[0.0], np.cumsum(lasts)]))


def film(path: Path, *words: str, clip: str = "") -> tuple[float, float]:
    """Run a command with ``--video``; return the seconds that it reports."""
    said = Path("stderr.txt")
    with said.open("w") as stream, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stderr", stream)
        assert main([*words, "--video", ",".join(filter(None, (str(path), clip)))]) == 0
    words_said = said.read_text().partition("The video shows ")[2].split()
    return float(words_said[0]), float(words_said[2])


def simulated(seed: int, *words: str) -> str:
    """Return a recording, with its truth in ``truth.csv``."""
    rng = random.Random(seed)
    rate, latency = rng.choice([8, 10, 20]), rng.uniform(0.05, 0.15)
    made = main(
        ["simulate", *words, "--send", f"{rate}hz", "--latency", f"{latency:.3f}", "--jitter",
         "30ms", "--loss", "4%", "--seed", str(seed), "-o", "packets.txt", "--truth-out",
         "truth.csv"]
    )  # fmt: skip
    assert made == 0
    return "packets.txt"


def rows(strategy: str, recording: str) -> tuple[Floats, Floats]:
    """Return times (n) and places (n, 2) of the rows that ``epic replay`` writes."""
    words = ["-s", strategy, "--tick", "1/60", "--clock", "exact", "-f", "csv", "-o", "rows.csv"]
    assert main(["replay", *words, recording]) == 0
    with Path("rows.csv").open() as stream:
        found = [row for row in csv.DictReader(stream) if row["status"] != "none"]
    numbers = [[float(row[key]) for key in ("time", "x", "y")] for row in found]
    table = np.array(numbers)
    return table[:, 0], table[:, 1:]


def there(times: Floats, places: Floats, at: float) -> Floats:
    return np.array([np.interp(at, times, axis) for axis in places.T])


def painted(frame: NDArray[np.uint8], color: str, near: int = 0) -> NDArray[np.bool_]:
    """Return the mask of the pixels that have a color, or nearly so."""
    found = np.ones(frame.shape[:2], bool)
    for channel, wanted in enumerate(ImageColor.getrgb(color)):
        values = frame[..., channel]
        found &= (values >= max(wanted - near, 0)) & (values <= min(wanted + near, 255))
    return found


def disc(frame: NDArray[np.uint8], color: str, near: int, right: bool | None) -> tuple[Floats, int]:
    """Return the center (x, y) of the disc of a color, and the number of its visible inner pixels.

    Of two discs with this color, ``right`` chooses the one further right or down, else the other.
    """
    alike = painted(frame, color, near)
    alike[: round(34 * len(frame) / 540)] = False  # the key
    rows, columns = np.nonzero(alike)
    if not len(rows):
        return np.full(2, np.nan), 0
    low = np.array([columns.min(), rows.min()]) - 4
    alike = np.pad(alike, 4)[rows.min() : rows.max() + 9, columns.min() : columns.max() + 9]
    inner = alike
    for axis in (0, 1):
        inner = np.logical_and.reduce([np.roll(inner, by, axis) for by in range(-2, 3)])
    y, x = np.nonzero(inner)
    if right is not None and len(x):
        along = max(x, y, key=np.ptp)
        half = (along > (along.min() + along.max()) / 2) == right
        y, x = y[half], x[half]
    place = np.array([low[0] + x.mean(), low[1] + y.mean()]) if len(x) else np.full(2, np.nan)
    return place, len(x)


def seen(
    video: Video, color: str, moments: Sequence[float], near: int, right: bool | None = None
) -> tuple[Floats, list[int]]:
    """Return the disc's center at these moments (s of the video), and when it is fully visible."""
    found = [disc(video.at(moment), color, near, right) for moment in moments]
    most = max(count for _, count in found)
    whole = [k for k, (_, count) in enumerate(found) if count >= 0.75 * most]
    return np.array([place for place, _ in found]), whole


def fitted(places: Floats, pixels: Floats) -> Floats:
    """Return the distances of pixels (n, 2) from the best map of the places (n, 2).

    The map has one scale for both axes, y upwards.
    """
    ones, nothing = np.ones(len(places)), np.zeros(len(places))
    left = np.concatenate(
        [
            np.column_stack([places[:, 0], ones, nothing]),
            np.column_stack([-places[:, 1], nothing, ones]),
        ]
    )
    right = np.concatenate([pixels[:, 0], pixels[:, 1]])
    solution, *_ = np.linalg.lstsq(left, right, rcond=None)
    assert solution[0] > 1
    return np.asarray(np.abs(left @ solution - right))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ---------------------------------------------------------------- what is where


def test_markers_are_where_the_rows_are() -> None:
    recording, speed = simulated(2, "--movement", "zigzag,duration=6"), 0.5
    words = ["--truth", "truth.csv", "-s", ",".join(STRATEGIES), "--show", ",".join(STRATEGIES)]
    clip = f"theme=dark,speed={speed},fps=10,from=2,to=3.6,size=960x540"
    start, end = film(Path("out.gif"), "compare", recording, *words, clip=clip)
    video = decoded(Path("out.gif"))
    assert tuple(video.frames[0][-1, 0]) == ImageColor.getrgb(BLACK)
    rng = np.random.default_rng(2)
    moments = rng.uniform(1.0 / speed, (end - start) / speed - DISSOLVE - 0.1, 50)
    # a frame shows the time at which it begins
    begins = video.times[np.searchsorted(video.times, moments, side="right") - 1]
    places, pixels = [], []
    for strategy in STRATEGIES:
        shown, whole = seen(video, STYLES[strategy].dark, moments.tolist(), 0)
        assert len(whole) >= 4  # at other times something lies upon it
        drawn = rows(strategy, recording)
        places += [there(*drawn, start + begins[k] * speed) for k in whole]
        pixels += [shown[k] for k in whole]
    assert len(places) > 30
    # an error of half a frame's movement would be 2 pixels
    assert fitted(np.array(places), np.array(pixels)).max() < 0.8


def test_entities_are_where_the_rows_are() -> None:
    start, end = film(Path("out.gif"), "replay", "-f", "csv", "-o", "rows.csv", TANKS, clip=LARGE)
    video = decoded(Path("out.gif"))
    with Path("rows.csv").open() as stream:
        table = list(csv.DictReader(stream))
    moments = np.random.default_rng(5).uniform(0.6, end - start - DISSOLVE - 0.1, 30)
    begins = video.times[np.searchsorted(video.times, moments, side="right") - 1]
    places, pixels = [], []
    for right, entity in enumerate(("tank1", "tank7")):
        own = np.array(
            [[float(row[key]) for key in ("time", "x", "y")] for row in table
             if row["entity"] == entity]
        )  # fmt: skip
        shown, whole = seen(video, STYLES["epic"].light, moments.tolist(), 0, bool(right))
        assert len(whole) > 10
        places += [there(own[:, 0], own[:, 1:], start + begins[k]) for k in whole]
        pixels += [shown[k] for k in whole]
    assert fitted(np.array(places), np.array(pixels)).max() < 0.8


def test_small_errors_are_shown_from_near_by() -> None:
    """The picture follows the truth: what is drawn moves against its marker as the rows do."""
    recording = simulated(7, "--movement", "figure-eight,duration=5,size=60,speed=6")
    words = ["--truth", "truth.csv", "-s", "epic,lerp", "--show", "epic,lerp"]
    start, end = film(Path("out.gif"), "compare", recording, *words, clip=LARGE)
    video = decoded(Path("out.gif"))
    moments = np.random.default_rng(7).uniform(0.6, end - start - DISSOLVE - 0.1, 50)
    begins = video.times[np.searchsorted(video.times, moments, side="right") - 1]
    first, _ = seen(video, STYLES["epic"].light, moments.tolist(), 0)
    other, whole = seen(video, STYLES["lerp"].light, moments.tolist(), 0)
    whole = [k for k in whole if np.isfinite(first[k]).all()]
    assert len(whole) > 10
    one, two = rows("epic", recording), rows("lerp", recording)
    apart = [there(*one, start + begins[k]) - there(*two, start + begins[k]) for k in whole]
    assert fitted(np.array(apart), (first - other)[whole]).max() < 1.5
    moved = np.ptp(first[whole], axis=0)
    assert moved.max() < 200  # not over the whole picture


# ---------------------------------------------------------------- frames, seconds, size


@pytest.mark.parametrize(
    ("kind", "clip", "size", "fps", "seconds"),
    [
        ("gif", "", (800, 450), 20, 5.0667),
        ("mp4", "from=1,to=1.5", (1280, 720), 30, 0.5),
        ("mp4", "fps=60,size=320x200,from=1,to=2", (320, 200), 60, 1.0),
        ("gif", "fps=30,size=320x200,from=1,to=3,speed=2", (320, 200), 30, 1.0),
        ("mp4", "worst=on,speed=0.5,size=160x160,fps=10", (160, 160), 10, 6.0),
    ],
)
def test_frames_size_and_duration(
    kind: str, clip: str, size: tuple[int, int], fps: int, seconds: float
) -> None:
    path = Path(f"out.{kind}")
    film(path, "compare", JITTER, "-s", "lerp,epic,snapshot,dead-reckoning", clip=clip)
    video = decoded(path)
    assert path.stat().st_size < 1_000_000
    assert video.frames[0].shape == (size[1], size[0], 3)
    assert painted(video.frames[-1][34:], STYLES["epic"].light, 40).any()
    assert painted(video.frames[0][-1:], WHITE, 4).all()
    assert video.times[-1] == pytest.approx(seconds, abs=1 / fps)
    if kind == "mp4":
        assert len(video.frames) == round(seconds * fps)
    else:  # frames in which nothing changes are one
        assert 0.9 * seconds * fps < len(video.frames) <= round(seconds * fps)
        assert abs(video.times - np.rint(video.times * fps) / fps).max() < 0.0051


def test_letters_are_as_large_as_the_shorter_side_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    class Backdrop(filming.Backdrop):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            made.append(self.unit)

    monkeypatch.setattr(filming, "Backdrop", Backdrop)
    for size in ("540x540", "640x540", "540x640", "1080x1080", "160x160"):
        film(Path("out.gif"), "compare", JITTER, "-s", "lerp", clip=f"from=1,to=1.1,size={size}")
    assert made == [1, 1, 1, 2, pytest.approx(0.7)]


@pytest.mark.parametrize("kind", ["gif", "mp4"])
def test_the_same_bytes_each_time(kind: str) -> None:
    paths = [Path(f"{number}.{kind}") for number in range(2)]
    for path in paths:
        # whatever is in the memory that is taken
        rubbish = [np.random.default_rng().bytes(size) for size in range(1000, 6_000_000, 300_000)]
        del rubbish
        film(path, "compare", JITTER, "-s", "lerp,epic", clip="from=1,to=1.4,size=320x180")
    assert len({path.read_bytes() for path in paths}) == 1


# ---------------------------------------------------------------- which seconds


def largest_step(frames: Sequence[NDArray[np.uint8]]) -> tuple[float, float]:
    """Return the mean change of a pixel from the last frame to the first, and the largest
    elsewhere.
    """
    small = [frame[17:].astype(np.int16) for frame in frames]
    steps = [float(np.abs(a - b).mean()) for a, b in pairwise(small)]
    return float(np.abs(small[-1] - small[0]).mean()), max(steps)


def test_it_loops_without_a_jump() -> None:
    film(Path("out.gif"), "compare", JITTER, "-s", "lerp,epic", clip="size=240x160,worst=on")
    back, usual = largest_step(decoded(Path("out.gif")).frames)
    assert back <= usual


@pytest.mark.parametrize("seed", seeds(3, 1))
def test_the_loop_is_where_the_movement_comes_back(seed: int) -> None:
    recording = simulated(
        seed, "--movement", f"{('circle', 'figure-eight', 'strafe')[seed]},duration=40"
    )
    start, end = film(Path("out.gif"), "compare", recording, "-s", "lerp,epic", clip="size=160x160")
    assert 5 < end - start < 13
    with Path("truth.csv").open() as stream:
        table = list(csv.DictReader(stream))
    truth = np.array([[float(row[key]) for key in ("time", "x", "y")] for row in table])
    apart = there(truth[:, 0], truth[:, 1:], start) - there(truth[:, 0], truth[:, 1:], end)
    assert np.linalg.norm(apart) < 0.05 * np.ptp(truth[:, 1:], axis=0).max()


@pytest.mark.parametrize("seed", seeds(2, 1))
def test_the_worst_is_in_the_middle(seed: int) -> None:
    recording = simulated(seed, "--movement", "zigzag,duration=20")
    words = ("--truth", "truth.csv", "-s", "lerp", "--warm-up", "1")
    start, end = film(Path("out.gif"), "compare", recording, *words, clip="worst=on,size=160x160")
    times, places = rows("lerp", recording)
    with Path("truth.csv").open() as stream:
        table = list(csv.DictReader(stream))
    truth = np.array([[float(row[key]) for key in ("time", "x", "y")] for row in table])
    errors = [np.linalg.norm(there(truth[:, 0], truth[:, 1:], t) - p)
              for t, p in zip(times, places, strict=True)]  # fmt: skip
    late = (times > times[0] + 1) & (times <= truth[-1, 0])
    inside = late & (times >= start) & (times <= end)
    assert end - start == pytest.approx(3, abs=0.011)
    assert np.max(np.array(errors)[inside]) >= 0.98 * np.max(np.array(errors)[late])


# ---------------------------------------------------------------- commands


def test_what_a_game_drew() -> None:
    rows("lerp", JITTER)
    clip = "from=1,to=3,size=320x180"
    film(Path("out.gif"), "diagnose", JITTER, "--drawn", "rows.csv", clip=clip)
    frame = decoded(Path("out.gif")).at(1.0)
    assert painted(frame[34:], STYLES["drawn"].light).any()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("compare", JITTER, "--video", "x.png"), "a .gif or a .mp4"),
        (("compare", JITTER, "--video", "x.gif,from=9,to=10"), "0.10 to 5.17 s"),
        (("compare", JITTER, "--video", "x.gif,size=321x200"), "even numbers"),
        (("compare", JITTER, "--video", "x.gif,spede=2"), "did you mean 'speed'"),
        (("replay", "-", "--video", "x.gif"), "give one file"),
        (("replay", JITTER, TANKS, "--video", "x.gif", "-f", "csv"), "give one file"),
        (("diagnose", JITTER, "--video", "x.gif"), "--drawn"),
    ],
)
def test_what_is_refused(
    words: tuple[str, ...], said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(list(words)) == 2
    assert said in capfd.readouterr().err
    assert not list(Path().glob("*.gif"))


@pytest.mark.parametrize(("kind", "missing"), [("gif", "PIL"), ("mp4", "PIL"), ("mp4", "av")])
def test_what_is_missing_is_named(
    kind: str, missing: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    assert main(["compare", JITTER, "-s", "lerp", "--video", f"x.{kind}"]) == 2
    assert "pip install av pillow" in capfd.readouterr().err
    assert not list(Path().glob("x.*"))


def test_where_an_mp4_cannot_go(capfd: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("pipe.mp4")
    reading = os.open("pipe.mp4", os.O_RDWR)
    assert main(["compare", JITTER, "-s", "lerp", "--video", "pipe.mp4"]) == 2
    os.close(reading)
    assert "needs a file" in capfd.readouterr().err


@pytest.mark.parametrize("kind", ["gif", "mp4"])
def test_a_full_disk(kind: str, capfd: pytest.CaptureFixture[str]) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        assert main(["compare", JITTER, "-s", "lerp", "--video", f"x.{kind}"]) == 3
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert f"epic: cannot write to x.{kind}" in capfd.readouterr().err
    assert not [path for path in Path().iterdir() if path.name.startswith(("x.", ".epic"))]


@pytest.mark.parametrize("name", few_of(["é\n<b>\x1b[31m", "坦克", "a" * 300], 1))
def test_names_cannot_break_it(name: str) -> None:
    rows = [{"t": k / 10, "x": k, "y": k % 5, "z": 0, "entity": name} for k in range(28)]
    Path("p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ("replay", "-f", "csv", "-o", "rows.csv", "p.jsonl")
    film(Path("out.gif"), *words, clip="size=320x180")
    assert decoded(Path("out.gif")).times[-1] > 2


NAMES = [
    "Höhe",
    "Hohe",
    "プレイヤー",
    "フレイヤー",
    "\u0416",
    "\u0436",
    "坦克",
    "坦",
    "العربية",
    "naïve",
    "\U0001f600",
]


def test_names_in_ascii_are_drawn_without_fonts_of_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(filming, "_find_fonts", lambda text: pytest.fail(f"a font for {text!r}"))
    text = "".join(map(chr, range(32, 127)))
    assert filming.choose_readable(text, 13.0)[0] == text


def test_names_beyond_ascii_are_told_apart_without_any_font(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(filming, "_find_fonts", lambda _: ())
    found = [filming.choose_readable(name, 13.0)[0] for name in NAMES]
    assert all(name.isascii() and name.isprintable() for name in found)
    assert found[0] == found[1] == "Hohe"  # in plain letters
    assert len(set(found)) >= len(NAMES) - 1
    assert len(filming.choose_readable("坦" * 32, 13.0)[0]) < 60


def test_no_name_is_drawn_as_boxes() -> None:
    for name in NAMES:
        text, font = filming.choose_readable(name, 13.0)
        assert all(bytes(font.getmask(sign)) != bytes(font.getmask("\uffff")) for sign in text)
        # whatever font there is, names look different
        pictures = {
            filming.make_sprite(word, 13.0, (0, 0, 0), (9, 9, 9)).tobytes() for word in (name, "x")
        }
        assert len(pictures) == 2


@pytest.mark.parametrize("seed", seeds(2, 1))
def test_odd_recordings_are_drawn(seed: int) -> None:
    """Silences, teleports, standing still, one far leap: each is drawn, whatever it shows."""
    rng = np.random.default_rng(seed)
    at, place, lines = 0.0, np.zeros(2), []
    for number in range(120):
        at += float(rng.choice([0.05, 0.05, 0.05, 0.0, 2.0], p=[0.4, 0.3, 0.2, 0.09, 0.01]))
        place = place + rng.choice([0.0, 0.3, 1.0]) * rng.normal(size=2)
        jump = rng.random() < 0.03
        place = place + jump * rng.choice([50, 1e7]) * rng.normal(size=2)
        mark = f"teleport=1 seq={number}" if jump else f"seq={number}"
        lines.append(f"{place[0]},{place[1]},0 / 0,0,0 / {at} arrival={at + 0.1:.4f} {mark}\n")
    Path("odd.txt").write_text("".join(lines))
    film(Path("out.gif"), "compare", "odd.txt", "-s", "epic,lerp", clip="size=320x180,fps=10")
    assert decoded(Path("out.gif")).times[-1] > 2


def test_names_are_apart_and_move_no_more_than_they_must() -> None:
    rng = np.random.default_rng(0)
    for count in range(1, 12):
        heights = np.sort(rng.uniform(0, 100, count)).tolist()
        found = spread(heights, 15.0)
        assert all(b - a >= 15 - 1e-9 for a, b in pairwise(found))
        assert np.mean(found) == pytest.approx(np.mean(heights))
    assert spread([0.0, 50.0, 100.0], 15.0) == [0.0, 50.0, 100.0]


@pytest.mark.parametrize("width", [1.0, 3.0, 9.0])
def test_a_line_is_as_wide_on_each_side(width: float) -> None:
    """A stroke, and the same turned by quarters, are the same picture, turned."""
    points = np.array([[10.0, 20.0], [30.0, 20.0], [30.0, 26.0]])

    def draw(places: Floats) -> NDArray[np.uint8]:
        image = Image.new("RGB", (61, 61), "white")
        filming.Pen(image, (0, 0, 61, 61)).draw_lines([(places, 255)], (0, 0, 0), width)
        return np.asarray(image)[..., 0]

    drawn = draw(points)
    rows = np.flatnonzero((drawn < 128)[:, 20])  # across the long side
    assert len(rows) == pytest.approx(width, abs=1)
    assert rows.mean() == pytest.approx(20, abs=0.51)
    dark = np.sum(255 - drawn.astype(float))
    for flipped in (points * (1, -1) + (0, 60), points * (-1, 1) + (60, 0), points[:, ::-1]):
        assert np.sum(255 - draw(flipped).astype(float)) == pytest.approx(dark, rel=0.06)
    for axis in (0, 1):  # nothing is cut off at an end
        found = np.flatnonzero((draw(points[1:2]) < 128).any(axis=axis))
        assert found.min() + found.max() == pytest.approx(2 * points[1][axis], abs=1)
        assert len(found) == pytest.approx(width, abs=1)


@pytest.mark.skipif(sys.platform == "win32", reason="a script that is no program there")
@pytest.mark.parametrize("status", [0, 1])
def test_a_font_is_that_of_fontconfig_if_it_has_one(
    status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "fc-match"
    program.write_text(f"#!/bin/sh\nprintf /fonts/one.ttf\nexit {status}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert (filming._find_fonts(f"坦{status}") == ("/fonts/one.ttf",)) == (not status)
