"""What an experiment can be saved as, each computed as the command of the page would."""

from __future__ import annotations

from epic_cli.ui.lab.bench import Bench
from epic_cli.ui.lab.spec import BY_HAND, Files, by_hand_file, read_query
from epic_cli.ui.runs.compare_output import MOST_SHOWN
from epic_cli.views.page.page import page
from epic_cli.views.page.sections import About
from epic_cli.views.pictures.svg import picture

#: The names of files, and what they are.
EXPORTS = {
    "lab.html": "text/html",
    "lab.svg": "image/svg+xml",
    Files().by_hand: "text/csv",
}


def export(name: str, query: str, recording: str) -> bytes:
    """The file of this name; raises ``ValueError`` where it cannot be made."""
    lab = read_query(query)
    if name == Files().by_hand:
        return by_hand_file(lab.points)
    bench = Bench(recording)
    try:
        experiment = bench.read(lab)
        found = bench.figures(experiment, lab.networks, lambda: False)
    finally:
        bench.close()
    if name == "lab.svg":
        labels = [one.label for one in found.results][:MOST_SHOWN]
        return picture(found.scenes[0], labels).encode()
    about = About(recording if lab.moves != BY_HAND else "", "", lab.command(Files(recording)))
    return page(found, about=about).encode()
