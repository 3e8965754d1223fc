"""A diagnosis as a report: findings worst first, the network, what could not be checked."""

from __future__ import annotations

import math
from collections.abc import Sequence

from epic_cli.jobs.diagnose.detectors import Detector
from epic_cli.jobs.diagnose.report.drawings import describe_drawing
from epic_cli.jobs.diagnose.report.findings import make_finding, make_record
from epic_cli.jobs.diagnose.report.networks import (
    describe_network,
    describe_network_details,
    describe_unseen_drift,
)
from epic_cli.jobs.diagnose.report.records import make_drawn_record
from epic_cli.jobs.diagnose.run import Diagnosis
from epic_cli.metrics.digits import format_count, format_seconds, format_share, join_words
from epic_cli.recordings.findings import RecordingFinding, describe_limits, sort_findings
from epic_cli.recordings.wording import FrontEnd
from epic_cli.show import report as model


def report(name: str, found: Diagnosis) -> model.Report:
    """Return the report of a diagnosis.

    Causes with evidence and remedies, and the network's statistics. The effect of each cause, where
    it shows, and the rule that found it belong to the method.
    """
    drawn = found.drawn is not None
    parts: list[model.Part] = [_describe_doubts(found)] if found.doubts else []
    title = _describe_amount(name, found)
    if found.drawn is not None:  # what was asked for comes first
        parts += ["\n".join(describe_drawing(found.drawn)), title]
        title = f"{name}: what the game drew"
    parts += (make_finding(each, drawn) for each in found.findings)
    if found.full_buffers:
        parts.append(_describe_buffers(found.full_buffers))
    elif not (found.findings or drawn or found.doubts):
        parts.append(_ONLY_PACKETS)
    method = [*describe_unseen_drift(*found.unseen)]
    if found.network is not None:
        remedy = found.drawn.advice.remedy if found.drawn is not None else None
        parts.append(describe_network(found.network, remedy.delay if remedy else None))
        method.insert(0, describe_network_details(found.network))

    def make_records() -> list[model.Record]:
        return _make_records(name, found)

    return model.Report(
        title=title,
        parts=parts,
        notes=[
            *_describe_unchecked_causes(found.unable),
            *describe_limits(found.in_recording),
            *map(str, found.left_out),
        ],
        method=method,
        data=model.Data(records=make_records),
    )


def _make_records(name: str, found: Diagnosis) -> list[model.Record]:
    """Return a record for each finding, and one for what the game drew if it was examined."""
    records: list[model.Record] = []
    if found.doubts:
        doubtful = [finding.record() for finding in _list_grave_findings(found)]
        records.append({"recording": name, "in_doubt": doubtful})
    drawn = found.drawn is not None
    records += (make_record(name, each, drawn) for each in found.findings)
    if found.drawn is not None:
        records.append({"recording": name, "drawn": make_drawn_record(found.drawn)})
    return records


#: What to do where nothing is wrong with the packets.
_ONLY_PACKETS = (
    "Only the packets were looked at. To judge what the game draws of them, log its frames and add"
    " --drawn FRAMES."
)


#: What is examined of a recording in doubt.
_AS_READ = "What follows is of the recording as it was read."
_FRAMES_UNREAD = "The frames are examined once this is given; what follows is of the packets alone."

#: Findings of frames that cannot be compared as they are.
_OF_FRAMES = {"E213", "E216"}


def _describe_buffers(buffers: Sequence[tuple[str, float]]) -> str:
    """Return which strategies draw from a buffer that is long enough, and which from none."""
    full = [f"{label} (empty in {format_share(share)} of its frames)"
            for label, share in buffers if not math.isnan(share)]  # fmt: skip
    without = [label for label, share in buffers if math.isnan(share)]
    words = [f"Delay buffers that are long enough: {join_words(full)}."] if full else []
    words += [f"Without a delay buffer: {join_words(without)}."] if without else []
    return "\n".join(words)


def _describe_amount(name: str, found: Diagnosis) -> str:
    """Return the number of findings, and the amount of data."""
    count = len(found.findings)
    words = format_count(count, "finding") if count else "nothing wrong found"
    if found.drawn is not None:  # what the game drew may be wrong all the same
        words, name = f"{words} in the traffic", "The packets"
    if found.doubts:  # how it is read decides what is found
        words = "the input is in doubt"
    return (
        f"{name}: {words} ({format_count(found.packets, 'packet')} in"
        f" {format_seconds(found.duration)})"
    )


def _list_grave_findings(found: Diagnosis) -> list[RecordingFinding]:
    """Return the findings that make the whole diagnosis doubtful, gravest first."""
    return [finding for finding in sort_findings(found.in_recording) if finding.is_error]


def _describe_doubts(found: Diagnosis) -> str:
    """Return the errors of the input and their remedies, one paragraph for each error."""
    said = [
        f"{finding.write_words(FrontEnd.COMMAND_LINE)}." for finding in _list_grave_findings(found)
    ]
    unread = found.drawn is None and _OF_FRAMES & set(found.doubts)
    return "\n".join([*said, _FRAMES_UNREAD if unread else _AS_READ])


def _describe_unchecked_causes(unable: Sequence[tuple[Detector, tuple[str, ...]]]) -> list[str]:
    """Return the causes that could not be checked, and the data that they need."""
    by_lack: dict[tuple[str, ...], list[str]] = {}
    for detector, lacking in unable:
        by_lack.setdefault(lacking, []).append(detector.name)
    return [
        f"Not checked (no {', no '.join(lack)}): {', '.join(names)}."
        for lack, names in by_lack.items()
    ]
