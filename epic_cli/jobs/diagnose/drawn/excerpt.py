"""Cut the frames that are examined out of all frames."""

from __future__ import annotations

import numpy as np

from epic_cli.metrics.drawn_path import FEWEST_FRAMES, DrawnPath, UnusableDrawing

#: Most frames that are examined, those with the most movement: a minute.
MOST_FRAMES = 9000

#: Packets that lasted so much shorter or longer than the frames have another unit.
UNITS = 0.02, 50.0

#: Seconds after the last packet in which frames are examined.
AFTER = 2.0


def cut_excerpt(path: DrawnPath, begins: float, ends: float) -> DrawnPath:
    """Return the frames to examine while packets came, from ``begins`` to ``ends`` (s).

    Raises ``UnusableDrawing`` if there are too few.
    """
    there = (path.times >= begins) & (path.times <= ends + AFTER)
    if there.sum() < FEWEST_FRAMES:
        lasted = float(path.times[-1] - path.times[0])
        units = UNITS[0] < (ends - begins) / lasted < UNITS[1] if lasted > 0 else True
        remedy = (
            "offset=SECONDS moves the frames"
            if units
            else "--read unit=, arrival_unit= and frame.unit= name their units"
        )
        raise UnusableDrawing(
            f"the frames are from {path.times[0]:.6g} to {path.times[-1]:.6g} s, the packets"
            f" from {begins:.6g} to {ends:.6g} s: {remedy}"
        )
    path = path._replace(times=path.times[there], positions=path.positions[there])
    if len(path.times) > MOST_FRAMES:
        travelled = np.cumsum(np.linalg.norm(np.diff(path.positions, axis=0), axis=1))
        begin = int((travelled[MOST_FRAMES:] - travelled[:-MOST_FRAMES]).argmax())
        part = slice(begin, begin + MOST_FRAMES)
        path = path._replace(times=path.times[part], positions=path.positions[part])
    return path
