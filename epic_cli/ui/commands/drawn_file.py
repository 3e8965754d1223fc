"""What a game drew, from a file: a recording, or rows as ``epic replay`` and the demo write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from epic_cli.engine.text.widths import printable
from epic_cli.ui.io.errors import WrongUsage, say
from epic_cli.ui.io.messages import Messages, Reporter
from epic_cli.ui.io.sources import load, source_name

if TYPE_CHECKING:
    from epic_cli.analysis.drawn.match import Match
    from epic_cli.analysis.drawn.path import DrawnPath
    from epic_cli.analysis.drawn.shown import DrawnCandidate
    from epic_cli.analysis.study import Run
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.formats.layout import Layout
    from epic_cli.ui.options.drawn import Drawing


def drawn_of(
    packets: Mapping[str, PacketBlock],
    drawing: Drawing,
    given: Layout | None,
    remarks: Messages,
) -> dict[str, DrawnPath]:
    """What the file says was drawn of these entities.

    ``given`` is the layout that it shares with the recording. Raises ``WrongUsage``,
    ``CannotAccess``.
    """
    from epic_cli.analysis.drawn.path import ROWS, UnusableDrawing, drawn_paths
    from epic_cli.formats.layout import FRAME, Layout

    file = str(drawing.drawn)
    name = source_name(file)
    layout = (given or Layout()).beside(FRAME)
    with Reporter(name, remarks) as reporter:
        rows = load(file, "auto", reporter, layout._replace(pattern=layout.pattern or ROWS))
    try:
        return drawn_paths(rows, packets, drawing.drawn_offset)
    except UnusableDrawing as error:
        raise WrongUsage(f"--drawn: {name}: {printable(str(error))}") from error


def matched(
    packets: Mapping[str, PacketBlock],
    drawing: Drawing,
    given: Layout | None,
    remarks: Messages,
) -> Match:
    """Which strategy draws what the file says was drawn; raises as ``drawn_of``."""
    from epic_cli.analysis.drawn.match import match
    from epic_cli.analysis.drawn.path import UnusableDrawing

    paths = drawn_of(packets, drawing, given, remarks)
    try:
        return match(packets, paths)
    except UnusableDrawing as error:
        raise WrongUsage(
            f"--drawn: {source_name(str(drawing.drawn))}: {printable(str(error))}"
        ) from error


def with_drawn(
    run: Run, drawing: Drawing, given: Layout | None, remarks: Messages
) -> tuple[Run, DrawnCandidate]:
    """A recording, of those entities that were drawn, and what was drawn of them.

    Raises as ``drawn_of``.
    """
    from epic_cli.analysis.drawn.shown import DrawnCandidate

    paths = drawn_of(run.packets, drawing, given, remarks)
    left_out = [name for name in run.packets if name not in paths]
    if left_out and not remarks.quiet:
        names = ", ".join(left_out[:8])
        say(f"epic: --drawn has nothing of {printable(names)}: left out\n")
    kept = {name: block for name, block in run.packets.items() if name in paths}
    return run._replace(packets=kept), DrawnCandidate(paths)
