"""Videos as files: GIF by Pillow, MP4 (H.264) by PyAV."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, BinaryIO

from epic_cli.engine.description import Described
from epic_cli.engine.parameters import Choice, Custom, Number, Switch

if TYPE_CHECKING:
    from PIL import Image

    from epic_cli.show.scene import Scene


#: The palette's last color stands for what has not changed.
_UNCHANGED = 255


class NoVideo(ValueError):
    """The video cannot be made: a library is missing, or the span is outside of the recording."""


def write_video(
    stream: BinaryIO,
    kind: str,
    scenes: Sequence[Scene],
    spec: VideoSpec,
    labels: Sequence[str] = (),
    of: str = "",
    progress: Callable[[int, int], object] | None = None,
) -> tuple[float, float]:
    """Write a video of these scenes, and return its start and end (s).

    ``kind`` is ``gif`` or ``mp4``; an MP4 needs a seekable stream. ``labels`` chooses strategies,
    the best one first; none stands for all. With several scenes, each entity is a line. ``of``
    names the network of the values, if there are several. The same scenes give the same bytes, as
    long as Pillow and PyAV are the same.

    Raises ``NoVideo``, and ``NothingToDraw`` if the scenes hold nothing to draw.
    """
    try:
        import PIL  # noqa: F401

        if kind == "mp4":
            import av  # noqa: F401
    except ImportError:
        raise NoVideo("a video needs libraries: pip install av pillow") from None
    from epic_cli.show.film import Backdrop, choose_span, iterate_frames, make_stage

    usual_size, usual_fps = KINDS[kind]
    size, fps = spec.size or usual_size, spec.fps or usual_fps
    stage = make_stage(scenes, labels, of)
    try:
        start, end = choose_span(stage, (spec.start, spec.end), spec.worst, fps / spec.speed)
    except ValueError as error:
        raise NoVideo(str(error)) from error
    if kind == "mp4" and not stream.seekable():
        raise NoVideo("an MP4 needs a file: its beginning is written last")
    backdrop = Backdrop(stage, start, end, size, spec.theme)
    total = max(1, round((end - start) / spec.speed * fps))

    def draw_frames() -> Iterator[Image.Image]:
        for number, image in enumerate(iterate_frames(backdrop, total, fps)):
            if progress is not None:
                progress(number, total)
            yield image

    if kind == "gif":
        palette = backdrop.colors.make_palette(track.style for track in stage.tracks)
        _write_gif(stream, draw_frames(), fps, palette)
    else:
        _write_mp4(stream, draw_frames(), fps, size)
    return start, end


def _write_gif(
    stream: BinaryIO, images: Iterable[Image.Image], fps: int, palette: list[int]
) -> None:
    """Write a GIF that repeats for ever: the changed part of each frame, in one palette."""
    from PIL import GifImagePlugin

    for (begun, part, corner), (until, _, _) in pairwise(_find_changes(images, palette)):
        assert part is not None
        if not begun:
            header = GifImagePlugin.getheader(part, info={"loop": 0, "transparency": _UNCHANGED})
            stream.writelines(header[0])
        # in hundredths of a second, whose sum is right
        lasts = 10 * (round(100 * until / fps) - round(100 * begun / fps))
        options = {"duration": lasts, "transparency": _UNCHANGED, "disposal": 1}
        stream.writelines(GifImagePlugin.getdata(part, corner, **options))
    stream.write(b";")


def _find_changes(
    images: Iterable[Image.Image], palette: list[int]
) -> Iterator[tuple[int, Image.Image | None, tuple[int, int]]]:
    """Yield number, changed part and the part's corner of each frame that differs from the last.

    The last item is the number of frames, without a picture.
    """
    from PIL import Image, ImageChops

    colors = Image.new("P", (1, 1))
    colors.putpalette(palette)
    before, number = None, 0
    for number, frame in enumerate(images):
        image = frame.quantize(palette=colors, dither=Image.Dither.NONE)
        if before is None:
            yield number, image, (0, 0)
        else:
            changed = ImageChops.difference(image, before).point([0] + [255] * 255, "L")
            if box := changed.getbbox():
                part = Image.new("P", image.size, _UNCHANGED)
                part.putpalette(palette)
                part.paste(image, mask=changed)
                yield number, part.crop(box), box[:2]
        before = image
    yield number + 1, None, (0, 0)


def _write_mp4(
    stream: BinaryIO, images: Iterable[Image.Image], fps: int, size: tuple[int, int]
) -> None:
    """Write H.264 that every player has, with one thread so that the bytes are repeatable."""
    import av
    import numpy as np
    from av.video.reformatter import (
        ColorPrimaries,
        ColorRange,
        Colorspace,
        ColorTrc,
        VideoReformatter,
    )

    reformatter = VideoReformatter()
    with av.open(stream, "w", format="mp4") as file:
        video = file.add_stream("libx264", rate=fps)
        video.width, video.height, video.pix_fmt = *size, "yuv420p"
        # with its macroblock tree, x264 reads memory that was never written; to look ahead and back
        # takes a third of its time, and saves no byte of such pictures
        params = "mbtree=0:bframes=0:rc-lookahead=0"
        video.options = {"preset": "veryfast", "crf": "18", "x264-params": params}
        context = video.codec_context
        context.thread_count = 1
        context.colorspace, context.color_range = Colorspace.ITU709, ColorRange.MPEG
        context.color_primaries, context.color_trc = ColorPrimaries.BT709, ColorTrc.BT709
        for number, image in enumerate(images):
            frame = reformatter.reformat(
                av.VideoFrame.from_ndarray(np.asarray(image)),
                format="yuv420p",
                dst_colorspace=Colorspace.ITU709,
            )
            frame.pts = number
            file.mux(video.encode(frame))
        file.mux(video.encode())


#: Kinds of videos by suffix: the usual size, and frames a second.
KINDS = {"gif": ((800, 450), 20), "mp4": ((1280, 720), 30)}

_SMALLEST, _LARGEST = 160, 3840


def _parse_size(text: str) -> tuple[int, int]:
    """Parse ``WIDTHxHEIGHT``, both even, as H.264 needs them; raises ``ValueError``."""
    width, _, height = text.partition("x")
    if width.isdecimal() and height.isdecimal():
        size = int(width), int(height)
        if all(_SMALLEST <= number <= _LARGEST and number % 2 == 0 for number in size):
            return size
    raise ValueError(f"it must be WIDTHxHEIGHT, even numbers from {_SMALLEST} to {_LARGEST}")


def find_kind(path: str) -> str:
    """Return ``gif`` or ``mp4`` by the suffix of the file's name; raises ``ValueError``."""
    kind = path.lower().rpartition(".")[2]
    if kind not in KINDS:
        raise ValueError(f"a video is a {' or a '.join(f'.{suffix}' for suffix in KINDS)} file")
    return kind


def _parse_file_name(text: str) -> str:
    find_kind(text)
    return text


VIDEO = (
    Custom("file", None, "The file to write, .gif or .mp4.", "FILE", _parse_file_name),
    Number("speed", 1.0, "1 is real time, 0.25 a quarter of it.", "", 0.01, 100),
    Number("from", math.nan, "First second of the video.", "s", unset="auto", field="start"),
    Number("to", math.nan, "Last second of the video.", "s", unset="auto", field="end"),
    Switch("worst", False, "Three seconds around the largest error."),
    Custom("size", None, "Pixels.", "WIDTHxHEIGHT", _parse_size, kind=tuple),
    Choice("theme", "light", "The background.", ("light", "dark")),
    Number("fps", 0, "Frames a second; 0: 20 of a GIF, 30 of an MP4.", "", 0, 60, whole=True),
)


@dataclass(frozen=True)
class VideoSpec(Described):
    """The settings of a video: its ``file`` (None: no video), its span, its speed and its look.

    The video goes from ``start`` to ``end`` (NaN: chosen automatically). ``size`` (pixels) and
    ``fps`` have defaults for each kind of file.
    """

    TABLE, KEY, OWNER = VIDEO, "file", "a video"

    file: str | None = None
    speed: float = 1.0
    start: float = math.nan
    end: float = math.nan
    worst: bool = False
    size: tuple[int, int] | None = None
    theme: str = "light"
    fps: int = 0
