"""Videos as files: GIF by Pillow, MP4 (H.264) by PyAV."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, BinaryIO

from epic_cli.views.video.spec import KINDS, VideoSpec

if TYPE_CHECKING:
    from PIL import Image

    from epic_cli.analysis.scenes.scene import Scene

#: The palette's last colour stands for what has not changed.
_UNCHANGED = 255


class NoVideo(ValueError):
    """It cannot be made: a library is missing, or there are no such seconds."""


def write_video(
    stream: BinaryIO,
    kind: str,
    scenes: Sequence[Scene],
    spec: VideoSpec,
    labels: Sequence[str] = (),
    progress: Callable[[int, int], object] | None = None,
) -> tuple[float, float]:
    """Writes a video of these scenes, and returns from when to when (s) it goes.

    ``kind`` is ``gif`` or ``mp4``, whose stream must be one in which one can go back; ``labels``
    chooses strategies, the best one first, none: all. Of several scenes, each entity is a line.
    The same scenes give the same bytes, as long as Pillow and PyAV are the same.

    Raises ``NoVideo``, and ``NothingToDraw`` where the scenes hold nothing to draw.
    """
    try:
        import PIL  # noqa: F401

        if kind == "mp4":
            import av  # noqa: F401
    except ImportError:
        raise NoVideo("a video needs libraries: pip install 'epic-cli[video]'") from None
    from epic_cli.views.video.backdrop import Backdrop
    from epic_cli.views.video.frames import frames
    from epic_cli.views.video.stage import seconds_of, stage_of

    size, fps = KINDS[kind][0] if spec.size is None else spec.size, KINDS[kind][1]
    fps = fps if spec.fps != spec.fps else int(spec.fps)
    stage = stage_of(scenes, labels)
    try:
        start, end = seconds_of(stage, spec, fps)
    except ValueError as error:
        raise NoVideo(str(error)) from error
    backdrop = Backdrop(stage, start, end, size, spec.theme)
    total = max(1, round((end - start) / spec.speed * fps))

    def drawn() -> Iterator[Image.Image]:
        for number, image in enumerate(frames(backdrop, total, fps)):
            if progress is not None:
                progress(number, total)
            yield image

    if kind == "gif":
        _write_gif(stream, drawn(), fps, backdrop.colors.palette(one.rank for one in stage.tracks))
    else:
        _write_mp4(stream, drawn(), fps, size)
    return start, end


def _write_gif(
    stream: BinaryIO, images: Iterable[Image.Image], fps: int, palette: list[int]
) -> None:
    """Of each frame what has changed, in one palette; it repeats for ever."""
    from PIL import GifImagePlugin, Image, ImageChops

    colors = Image.new("P", (1, 1))
    colors.putpalette(palette)
    before: Image.Image | None = None
    waiting: tuple[Image.Image, tuple[int, int]] | None = None
    begun = 0

    def write(until: int) -> None:
        """The frame that is waiting, shown until that frame; times are in hundredths."""
        if waiting is not None:
            lasts = 10 * (round(100 * until / fps) - round(100 * begun / fps))
            image, corner = waiting
            options = {"duration": lasts, "transparency": _UNCHANGED, "disposal": 1}
            stream.writelines(GifImagePlugin.getdata(image, corner, **options))

    number = 0
    for number, frame in enumerate(images):
        image = frame.quantize(palette=colors, dither=Image.Dither.NONE)
        if before is None:
            header = GifImagePlugin.getheader(image, info={"loop": 0, "transparency": _UNCHANGED})
            stream.writelines(header[0])
            waiting = image, (0, 0)
        else:
            changed = ImageChops.difference(image, before).point([0] + [255] * 255, "L")
            box = changed.getbbox()
            if box is None:
                continue
            write(number)
            part = Image.new("P", image.size, _UNCHANGED)
            part.putpalette(image.getpalette() or palette)
            part.paste(image, mask=changed)
            begun, waiting = number, (part.crop(box), box[:2])
        before = image
    write(number + 1)
    stream.write(b";")


def _write_mp4(
    stream: BinaryIO, images: Iterable[Image.Image], fps: int, size: tuple[int, int]
) -> None:
    """H.264 as every player and browser has it, by one thread, which makes it repeatable."""
    import av
    import numpy as np
    from av.video.reformatter import ColorPrimaries, ColorRange, Colorspace, ColorTrc

    with av.open(stream, "w", format="mp4") as file:
        video = file.add_stream("libx264", rate=fps)
        video.width, video.height, video.pix_fmt = *size, "yuv420p"
        video.time_base = Fraction(1, fps)
        video.options = {"preset": "veryfast", "crf": "18"}
        context = video.codec_context
        context.thread_count = 1
        context.colorspace, context.color_range = Colorspace.ITU709, ColorRange.MPEG
        context.color_primaries, context.color_trc = ColorPrimaries.BT709, ColorTrc.BT709
        for number, image in enumerate(images):
            frame = av.VideoFrame.from_ndarray(np.asarray(image)).reformat(
                format="yuv420p", dst_colorspace=Colorspace.ITU709
            )
            frame.pts = number
            file.mux(video.encode(frame))
        file.mux(video.encode())
