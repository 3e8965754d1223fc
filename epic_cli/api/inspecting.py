"""What is in a recording, from Python."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from epic_cli.api.reading import PacketReader, RecordingWarning, RefusedLine, read_packets, warned
from epic_cli.api.replaying import blocks_of, packets_of
from epic_cli.jobs.inspect.run import Inspection
from epic_cli.jobs.inspect.run import inspect as run
from epic_cli.recordings.read_spec import INFERRED, ReadSpec
from epic_cli.recordings.watch import RecordingMonitor

if TYPE_CHECKING:
    from epic_cli.api.sources import PacketSource
    from epic_cli.engine.contract import Packet


def inspect(packets: PacketSource, read: str | ReadSpec = INFERRED) -> Inspection:
    """What is in a recording and what was made of it, as ``epic inspect`` shows it.

    ``packets`` are what ``replay`` takes; ``read`` is that of ``read_packets``. The ``findings`` of
    the result, worst first, have a ``code``, a ``title``, what was seen (``what``), ``lines`` and
    the ``read`` that mends it; ``doubts`` are the codes of those that make all that is computed
    from the recording doubtful. Nothing is warned of. Raises what ``replay``
    does for what is no recording.
    """
    mistakes: list[RefusedLine] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordingWarning)
        if read != INFERRED or isinstance(packets, (str, os.PathLike)):
            taken: Iterable[Packet] = read_packets(packets, read=read, refused=mistakes.append)
        else:
            taken = packets_of(packets)
        if isinstance(taken, PacketReader):
            taken.watch.thorough = True
            found = run(taken.name, taken.blocks(), taken.watch)
        else:
            watch = RecordingMonitor(thorough=True)
            blocks = warned(blocks_of(taken), "packets", watch)
            found = run("packets", blocks, watch)
    refusals = [mistake.refusal for mistake in mistakes]
    return replace(found, refused=len(refusals), first_refused=next(iter(refusals), None))
