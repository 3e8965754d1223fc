"""Cut the frames that are examined out of all frames."""

from __future__ import annotations

import numpy as np

from epic_cli.metrics.drawn_path import DrawnPath, select_frames

#: Most frames that are examined, those with the most movement: a minute.
MOST_FRAMES = 9000


def cut_excerpt(path: DrawnPath, begins: float, ends: float) -> DrawnPath:
    """Return the frames to examine while packets came, from ``begins`` to ``ends`` (s).

    Raises ``UnusableDrawing`` if there are too few.
    """
    path = select_frames(path, begins, ends)
    if len(path.times) > MOST_FRAMES:
        travelled = np.cumsum(np.linalg.norm(np.diff(path.positions, axis=0), axis=1))
        begin = int((travelled[MOST_FRAMES:] - travelled[:-MOST_FRAMES]).argmax())
        part = slice(begin, begin + MOST_FRAMES)
        path = path._replace(times=path.times[part], positions=path.positions[part])
    return path
