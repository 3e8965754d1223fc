"""What a page says in words: what was compared, and what each of its pictures shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from epic_cli.analysis.digits import three_digits
from epic_cli.views.pictures.scene_words import network_words, packets_words

if TYPE_CHECKING:
    from epic_cli.analysis.compare.result import Comparison


@dataclass(frozen=True)
class About:
    """Where a comparison comes from: the recording's name, the truth's, and the command."""

    recording: str = ""
    truth: str = ""
    command: str = ""


def facts(comparison: Comparison, about: About) -> list[tuple[str, str]]:
    """What was compared, under which conditions, in which units: terms and descriptions."""
    scenes = [one for one in comparison.scenes if len(one.times)]
    found = []
    if about.command:
        found.append(("Command", about.command))
    if about.recording:
        found.append(("Recording", about.recording))
    if about.truth:
        found.append(("Truth", about.truth))
    for one in scenes[:12]:
        called = f" of {one.entity}" if one.entity else ""
        found.append((f"Packets{called}", packets_words(one.deliveries)))
        found.append((f"Network{called}", network_words(one.deliveries)))
    if len(scenes) > 12:
        found.append(("More", f"{len(scenes) - 12} more entities"))
    found.append(
        ("Rows", f"one every {three_digits(comparison.tick * 1000)} ms, {comparison.rows:,} count")
    )
    most = max((one.rows for one in scenes), default=0)
    if any(len(one.times) < one.rows for one in scenes):
        kept = max(len(drawn.times) for one in scenes for drawn in one.drawn)
        found.append(
            (
                "Pictures",
                f"keep the extremes of each stretch and every hole: up to {kept:,} of {most:,}"
                " rows; --span draws fewer seconds with every row",
            )
        )
    found.append(("Units", "lengths are in the recording's own unit, times in seconds"))
    return found
