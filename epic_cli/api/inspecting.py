"""Inspections of recordings, from Python."""

from __future__ import annotations

import warnings

from epic_cli.api.reading import RecordingWarning, parse_read, raise_python_errors
from epic_cli.api.shown import register
from epic_cli.jobs.inspect.report import report
from epic_cli.jobs.inspect.run import Inspection
from epic_cli.jobs.inspect.run import inspect as run
from epic_cli.recordings.opening import ReadingLog, read_blocks
from epic_cli.recordings.read_spec import INFERRED, ReadSpec
from epic_cli.recordings.rows import PacketSource, make_source, settle_source
from epic_cli.recordings.watch import RecordingMonitor


def inspect(packets: PacketSource, read: str | ReadSpec = INFERRED) -> Inspection:
    """Inspect a recording and how it was read, as ``epic inspect`` does.

    ``packets`` are of the kinds that ``replay`` takes; ``read`` is that of ``read_packets``. The
    ``findings`` of the result, worst first, have a ``code``, a ``title``, an observation
    (``what``), ``lines`` and the ``read`` that mends it; ``doubts`` are the codes of those that
    make every result from the recording doubtful. There are no warnings. Raise what ``replay`` does
    for what is no recording.
    """
    source = settle_source(make_source(packets))
    log = source.log or ReadingLog(source.name, RecordingMonitor(True, source.name))
    log.watch.thorough = True
    with raise_python_errors(), warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordingWarning)
        return run(source.name, read_blocks(source, parse_read(read), log), log.watch)


register(Inspection, report)
