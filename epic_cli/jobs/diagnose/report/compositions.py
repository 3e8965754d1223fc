"""Words for compositions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epic_cli.jobs.diagnose.report.buffers import describe_buffer
from epic_cli.jobs.diagnose.report.chases import describe_chase
from epic_cli.jobs.diagnose.settings import compute_used_values

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.mechanism import Mechanism


def describe_composition(found: Mechanism) -> str:
    """Return what a composition does, as the end of a sentence that begins with "It"."""
    settings = compute_used_values(found.strategy)
    describe = describe_buffer if found.strategy.name == "buffer" else describe_chase
    return describe(settings, found)
