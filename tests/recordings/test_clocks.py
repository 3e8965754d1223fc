"""Stamps, arrivals and frames: three clocks, each with a unit of its own."""

import io
import json
import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.movements import block
from support.recordings import examples
from support.running import epic

from epic_cli import Packet, inspect, read_packets
from epic_cli.engine.packets import PacketBlock
from epic_cli.metrics.drawn_clock import find_frame_clock
from epic_cli.metrics.drawn_coordinates import find_other_coordinates, find_unit_ratio
from epic_cli.metrics.drawn_path import DrawnPath, UnusableDrawing, make_drawn_paths
from epic_cli.metrics.inputs import RecordedRuns, RecordingSpec
from epic_cli.recordings.entries.sentences.reader import propose
from epic_cli.recordings.opening import ReadingLog
from epic_cli.recordings.read_spec import ReadSpec

#: How programs write a moment (s): by the suffix of the name.
MOMENTS: dict[str, Callable[[float], str]] = {
    "s": lambda at: f"{at:.6f}",
    "ms": lambda at: f"{at * 1e3:.3f}",
    "us": lambda at: f"{at * 1e6:.0f}",
    "ns": lambda at: f"{at * 1e9:.0f}",
}

DAY = datetime(2026, 3, 1, 12, tzinfo=UTC)


def date(at: float) -> str:
    return (DAY + timedelta(seconds=at)).isoformat().replace("+00:00", "Z")


def read(text: str, given: str = "") -> list[Packet]:
    return list(read_packets(io.BytesIO(text.encode()), read=ReadSpec.parse(given)))


def table(header: str, rows: Sequence[tuple[object, ...]]) -> str:
    return header + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)


def lines(header: str, rows: Sequence[tuple[object, ...]]) -> str:
    names = header.split(",")
    return "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows)


@pytest.mark.parametrize("write", [table, lines])
@pytest.mark.parametrize("came", MOMENTS)
@pytest.mark.parametrize("sent", [*MOMENTS, "tick"])
def test_stamps_and_arrivals_have_their_own_units(sent: str, came: str, write: object) -> None:
    times = [n * 3 / 60 for n in range(20)]
    stamps = [n * 3 for n in range(20)] if sent == "tick" else [MOMENTS[sent](t) for t in times]
    name = "tick" if sent == "tick" else f"t_{sent}"
    rows = [(stamps[n], MOMENTS[came](t + 0.033), n, 0) for n, t in enumerate(times)]
    text = write(f"{name},recv_{came},x,y", rows)  # type: ignore[operator]
    found = read(text, "unit=ticks@60" if sent == "tick" else "")
    assert [packet.time for packet in found] == pytest.approx(times, abs=1e-6)
    delays = [packet.arrival - packet.time for packet in found if packet.arrival is not None]
    assert delays == pytest.approx([0.033] * 20, abs=1e-6)


@pytest.mark.parametrize("came", [*MOMENTS, "date"])
@pytest.mark.parametrize("sent", [*MOMENTS, "date"])
def test_dates_in_two_ways_are_on_one_clock(sent: str, came: str) -> None:
    begin = DAY.timestamp()

    def way(unit: str, at: float) -> str:
        return date(at) if unit == "date" else MOMENTS[unit](begin + at)

    times = [n * 0.05 for n in range(20)]
    rows = [(way(sent, t), way(came, t + 0.033), n, 0) for n, t in enumerate(times)]
    found = read(table("sent,recv,x,y", rows))
    assert [packet.time for packet in found] == pytest.approx(times, abs=2e-6)
    assert [packet.arrival for packet in found] == pytest.approx(
        [t + 0.033 for t in times], abs=2e-6
    )


@pytest.mark.parametrize("sent", ["date", "s", "ms"])
def test_arrivals_since_the_program_began_stay_on_their_clock(sent: str) -> None:
    way = date if sent == "date" else lambda at: MOMENTS[sent](DAY.timestamp() + at)
    rows = [(way(n * 0.05), n * 50 + 512, n, 0) for n in range(20)]
    found = read(table("sent,recv_ms,x,y", rows))
    assert [packet.time for packet in found] == pytest.approx(
        [0.512 + n * 0.05 for n in range(20)], abs=1e-6
    )  # the first packet sets their clock
    own = [0.512 + n * 0.05 for n in range(20)]
    assert [packet.arrival for packet in found] == pytest.approx(own, abs=1e-9)


def test_what_is_said_of_one_is_not_said_of_the_other() -> None:
    rows = [(n * 50, n * 0.05 + 0.033, n, 0) for n in range(20)]
    text = table("sent,recv,x,y", rows)
    first = inspect(io.BytesIO(text.encode()))
    assert first.doubts == ("E201",)
    cure = next(finding.read for finding in first.findings if finding.code == "E201")
    found = read(text, cure)
    assert [p.time for p in found] == pytest.approx([n * 0.05 for n in range(20)])
    assert [p.arrival for p in found] == pytest.approx([n * 0.05 + 0.033 for n in range(20)])


def test_a_delta_has_the_unit_in_its_name() -> None:
    rows = [(n * 3, 25, n, 0) for n in range(4)]
    given = "time=tick,delta=age_ms,unit=ticks@60"
    assert {packet.delta for packet in read(table("tick,age_ms,x,y", rows), given)} == {0.025}
    given = "time=t_ms,delta=delta"
    rows = [(n * 50, 25, n, 0) for n in range(4)]
    assert {packet.delta for packet in read(table("t_ms,delta,x,y", rows), given)} == {0.025}


# ----------------------------------------------------------------------------- what was drawn


def drawn(folder: Path, packets: str, frames: str, given: str = "") -> tuple[list[float], float]:
    """Return the times (s) of the frames beside these packets, and their last position."""
    for name, text in (("packets.csv", packets), ("frames.csv", frames)):
        (folder / name).write_text(text)
    spec = RecordingSpec(ReadSpec.parse(given))
    runs = RecordedRuns((str(folder / "packets.csv"),), spec, drawn=str(folder / "frames.csv"))
    log = ReadingLog("packets.csv")
    run = runs.run(runs.recordings[0], log, None, ReadingLog)
    assert run.drawn is not None
    (path,) = run.drawn.paths.values()
    return path.times.tolist(), float(path.positions[:, 0].max())


FRAMES = [0.033 + n * 0.008 for n in range(200)]


@pytest.mark.parametrize("names", ["x,y", "px,py"])
@pytest.mark.parametrize("scaled", [1.0, 0.01])
def test_a_scale_is_the_packets_unless_frames_are_as_large(
    tmp_path: Path, names: str, scaled: float
) -> None:
    packets = table("t_ms,recv_ms,x,y", [(n * 50, n * 50 + 33, n * 100, 0) for n in range(40)])
    frames = table(f"t_ms,{names}", [(t * 1e3, t * 20 / scaled, 0) for t in FRAMES])
    _, size = drawn(tmp_path, packets, frames, "scale=0.01")
    assert size == pytest.approx(FRAMES[-1] * 20)


@pytest.mark.parametrize("write", [table, lines])
def test_frames_without_the_packets_columns_are_inferred(
    tmp_path: Path, write: Callable[..., str]
) -> None:
    rows = [(n * 50, n * 50 + 33, n, 0) for n in range(40)]
    packets = write("made,came_ms,place_a,place_b", rows)
    frames = write("frame,drawnMs,px,py", [(n, t * 1e3, t * 20, 0) for n, t in enumerate(FRAMES)])
    given = "time=made,arrival=came_ms,x=place_a,y=place_b,unit=ms"
    times, size = drawn(tmp_path, packets, frames, given)
    assert times == pytest.approx(FRAMES, abs=1e-6)
    assert size == pytest.approx(FRAMES[-1] * 20)


def test_frames_with_a_header_may_stand_beside_packets_without_one(tmp_path: Path) -> None:
    packets = "".join(f"recv,{n * 0.05 + 0.033:.3f},{n * 0.05:.3f},a,{n},0\n" for n in range(40))
    names = "entity,time,x,y,z,vx,vy,vz"
    frames = table(names, [("", t, t * 20, 0, 0, "", "", "") for t in FRAMES])
    times, size = drawn(tmp_path, packets, frames, "time=3,arrival=2,entity=4,x=5,y=6")
    assert times == pytest.approx(FRAMES)
    assert size == pytest.approx(FRAMES[-1] * 20)


SAID = "12:00:{:06.3f} net <- state t={:.3f} at ({:.2f}, 0.00)\n"


@pytest.mark.parametrize("written", ["table", "log"])
def test_frames_of_a_log_in_sentences_have_lines_of_their_own(tmp_path: Path, written: str) -> None:
    packets = "".join(SAID.format(n * 0.05 + 0.033, n * 0.05, n) for n in range(40))
    (reading,) = propose(packets.splitlines()[0])
    given = f'pattern="{dict(reading.entries)["pattern"]}"'
    log = "".join(
        f"12:00:{t:06.3f} drew frame {n} at ({t * 20:.4f}, 0.0)\n" for n, t in enumerate(FRAMES)
    )
    frames = table("t,x,y", [(f"12:00:{t:06.3f}", t * 20, 0) for t in FRAMES])
    times, size = drawn(tmp_path, packets, log if written == "log" else frames, given)
    assert np.diff(times) == pytest.approx(np.diff(FRAMES), abs=0.002)
    assert size == pytest.approx(FRAMES[-1] * 20, abs=1e-3)


@pytest.mark.parametrize("member", ["t", "ts", "time", "sentMs"])
@pytest.mark.parametrize("above", ["snap", "msg", "payload"])
def test_a_time_inside_another_object_is_the_stamp(above: str, member: str) -> None:
    unit = 1000 if member == "sentMs" else 1
    rows = [
        {"recvMs": n * 50 + 33, above: {"n": n, member: n * 0.05 * unit, "tanks": [
            {"id": "ada", "pos": [n, 0]}, {"id": "bob", "pos": [0, n]}]}}
        for n in range(20)
    ]  # fmt: skip
    found = read("".join(json.dumps(row) + "\n" for row in rows))
    assert {packet.entity for packet in found} == {"ada", "bob"}
    assert [packet.time for packet in found[::2]] == pytest.approx([n * 0.05 for n in range(20)])
    assert found[0].arrival == pytest.approx(0.033)


@pytest.mark.parametrize("write", [table, lines])
@pytest.mark.parametrize(
    ("came", "sent"),
    [("t_recv", "t_send"), ("now", "t"), ("Time.time", "serverTime"), ("performanceNow", "ts")],
)
def test_a_log_has_its_own_clock_and_the_senders(
    came: str, sent: str, write: Callable[..., str]
) -> None:
    scale = 1000 if came == "performanceNow" else 1  # whose unit is known
    rows = [(n * 0.05, (n * 0.05 + 0.033) * scale, n, 0) for n in range(20)]
    found = read(write(f"{sent},{came},x,y", rows), "unit=s,arrival_unit=ms" if scale > 1 else "")
    assert [packet.time for packet in found] == pytest.approx([n * 0.05 for n in range(20)])
    delays = [packet.arrival - packet.time for packet in found if packet.arrival is not None]
    assert delays == pytest.approx([0.033] * 20)


@pytest.mark.parametrize("pair", ["srv_ms,cli_ms", "remote_us,local_us", "host_s,client_s"])
def test_clocks_named_by_their_owner_are_the_stamp_and_the_arrival(
    tmp_path: Path, pair: str
) -> None:
    factor = {"ms": 1e3, "us": 1e6, "s": 1.0}[pair.rpartition("_")[2]]
    rows = [(n, n * 0.05 * factor, (n * 0.05 + 0.033) * factor, n, 0) for n in range(40)]
    packets = table(f"seq,{pair},px,py", rows)
    (first, *_) = read(packets)
    assert (first.time, first.arrival) == pytest.approx((0, 0.033))
    frames = [(t * factor, n / 10, 0) for n, t in enumerate(FRAMES)]
    times, _ = drawn(tmp_path, packets, table(f"{pair.partition(',')[2]},px,py", frames))
    assert times == pytest.approx(FRAMES)
    sent, came = pair.split(",")
    both = table(f"{came},{sent},px,py", [(t * factor, 7 * t, n, 0) for n, t in enumerate(FRAMES)])
    assert drawn(tmp_path, packets, both)[0] == pytest.approx(FRAMES)
    own = table(f"{pair},px,py,mine", [(n, n + 1e6, n, 0, (n + 0.5) * factor) for n in range(9)])
    assert read(own, "arrival=mine")[0].arrival == pytest.approx(0.5)


UNIX = 1764470000000.0


@pytest.mark.parametrize("given", ["", "frame.time=time", "frame.x=x,frame.y=y"])
@pytest.mark.parametrize(("server", "client"), [(UNIX, 48402.5), (93211400.0, UNIX), (UNIX, UNIX)])
def test_frames_are_in_the_unit_of_the_arrivals(
    tmp_path: Path, server: float, client: float, given: str
) -> None:
    """Two clocks are in milliseconds, under names that do not say so; one has dates."""
    packets = [
        {"serverTime": server + n * 50, "receivedAt": client + n * 50 + 33, "x": n, "y": 0}
        for n in range(40)
    ]
    frames = [{"time": client + 1e3 * t, "x": n / 10, "y": 0} for n, t in enumerate(FRAMES)]
    log, frame_log = ("".join(json.dumps(row) + "\n" for row in rows) for rows in (packets, frames))
    times, _ = drawn(tmp_path, log, frame_log, given)
    found = read(log)
    assert np.diff([packet.time for packet in found]) == pytest.approx(np.full(39, 0.05), abs=1e-6)
    assert np.diff(times) == pytest.approx(np.diff(FRAMES), abs=1e-6)


@pytest.mark.parametrize(
    "given", ["", "origin=first", "time=serverTime,arrival=receivedAt,x=x,y=y,unit=ms,origin=first"]
)
def test_the_origin_of_stamps_on_a_clock_of_their_own_is_not_that_of_frames(
    tmp_path: Path, given: str
) -> None:
    """The description that is printed reads both files again."""
    packets = [
        {"serverTime": UNIX + n * 50, "receivedAt": 5622.4 + n * 50 + 33, "x": n, "y": 0}
        for n in range(40)
    ]
    log = "".join(json.dumps(row) + "\n" for row in packets)
    rows = [(5622.4 + 1e3 * t, n / 10, 0) for n, t in enumerate(FRAMES)]
    times, _ = drawn(tmp_path, log, table("t_ms,x,y", rows), given)
    assert times == pytest.approx([5.6224 + t for t in FRAMES])


def test_frames_of_another_time_are_refused_wherever_they_are_read(tmp_path: Path) -> None:
    packets = table("time,arrival,x,y", [(n / 20, n / 20 + 0.033, n, 0) for n in range(40)])
    frames = table("time,x,y", [(1000 + t, t * 20, 0) for t in FRAMES])
    with pytest.raises(UnusableDrawing, match=r"use --drawn \S+,offset=-\d+"):
        drawn(tmp_path, packets, frames)


@pytest.mark.parametrize("together", [True, False])
def test_lines_of_frames_are_told_from_those_of_packets(tmp_path: Path, together: bool) -> None:
    """Both begin with the time of the line; what else frames say of time is another clock."""
    clock = [f"12:00:{t:06.3f}" for t in FRAMES]
    came = [n / 20 + 0.033 for n in range(round(FRAMES[-1] * 20))]
    packets = [
        f"12:00:{at:06.3f} [Net] recv pos=({n}.00, 0.00, 0.00) serverTime={1000 + n / 20:.3f}\n"
        for n, at in enumerate(came)
    ]
    frames = [
        f"{at} [View] drawn ({t * 20:.3f}, 0.000, 0.000) t={t + 77:.4f}\n"
        for at, t in zip(clock, FRAMES, strict=True)
    ]
    log = "".join(sorted([*packets, *frames]))
    (reading,) = propose(packets[0])
    given = ReadSpec().add_entries(dict(reading.entries))
    first, second = (log, log) if together else ("".join(packets), "".join(frames))
    times, size = drawn(tmp_path, first, second, given)
    assert np.array(times) % 60 == pytest.approx(FRAMES, abs=1e-3)
    assert size == pytest.approx(FRAMES[-1] * 20, abs=1e-3)


# how frames are written, with what must be said of them alone
FOREIGN = {
    "columns without a header": ("", "{time},{x},0\n", "time=1,x=2,y=3"),
    "words of their own": ("now;along;over\n", "{time};{x};0\n", "time=now,x=along,y=over"),
    "lines": ("", "D {time}|{x}|0|ok\n", r'pattern="D (?P<time>.+?)\|(?P<x>.+?)\|(?P<y>.+?)\|"'),
    "other axes": ("time,x,y,z\n", "{time},{x},7,0\n", "axes=xzy"),
}


@pytest.mark.parametrize("written", FOREIGN)
@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_frames_are_read_by_keys_of_their_own(tmp_path: Path, written: str, scale: float) -> None:
    packets = table("t_ms,recv_ms,x,y", [(n * 50, n * 50 + 33, n, 0) for n in range(40)])
    head, row, given = FOREIGN[written]
    frames = head + "".join(row.format(time=f"{t:.3f}", x=f"{t * 20:.4f}") for t in FRAMES)
    entries = re.sub(r"(^|,)(?=[a-z])", r"\1frame.", given)
    told = f"{entries},frame.scale={scale}" if scale != 1 else entries
    times, size = drawn(tmp_path, packets, frames, told)
    assert times == pytest.approx(FRAMES)
    assert size == pytest.approx(FRAMES[-1] * 20 * scale, abs=1e-3)
    spec = ReadSpec.parse(told)
    assert ReadSpec.parse(spec.write()) == spec


#: Keys of frames under this program's own names, with cells of rows and what x becomes.
OWN_NAMES = {
    "frame.axes=zxy": ("{time},7,0,{x}", 20.0),
    "frame.missing=-999": ("{time},{missing},{missing},0", 20.0),
    "frame.scale=3": ("{time},{x},0,0", 60.0),
    "frame.x=z,frame.z=x": ("{time},7,0,{x}", 20.0),
    "frame.time=,frame.unit=ticks@125": ("99,{x},0,0", 20.0),
}


@pytest.mark.parametrize("given", OWN_NAMES)
def test_keys_of_frames_hold_under_own_names(tmp_path: Path, given: str) -> None:
    packets = table("time,arrival,x,y,z", [(n / 20, n / 20 + 0.033, n, 0, 0) for n in range(40)])
    row, speed = OWN_NAMES[given]
    rows = [
        row.format(time=f"{t:.3f}", x=f"{t * 20:.4f}", missing="-999" if n % 5 == 2 else t * 20)
        for n, t in enumerate(FRAMES)
    ]
    _, size = drawn(tmp_path, packets, "time,x,y,z\n" + "\n".join(rows) + "\n", given)
    assert size == pytest.approx(FRAMES[-1] * speed, abs=0.01)


def test_a_column_of_frames_that_is_not_there_is_refused(tmp_path: Path) -> None:
    packets = table("time,arrival,x,y", [(n / 20, n / 20 + 0.033, n, 0) for n in range(40)])
    frames = table("time,x,y", [(t, t * 20, 0) for t in FRAMES])
    with pytest.raises(UnusableDrawing, match="no frames"):
        drawn(tmp_path, packets, frames, "frame.x=nope")


def test_a_refused_file_of_frames_proposes_keys_of_frames(tmp_path: Path) -> None:
    packets = table("t_ms,recv_ms,x,y", [(n * 50, n * 50 + 33, n, 0) for n in range(40)])
    (tmp_path / "p.csv").write_text(packets)
    (tmp_path / "f.csv").write_text("".join(f"{t:.3f},{t * 20:.4f},0\n" for t in FRAMES))
    command = ["diagnose", str(tmp_path / "p.csv"), "--drawn", str(tmp_path / "f.csv")]
    proposed = "--read frame.time=1,frame.x=2,frame.y=3"
    assert f"expected their numbers, as {proposed}" in epic(*command).stderr.decode()
    assert epic(*command, *proposed.split()).returncode == 0


def drawn_behind(
    move: Callable[[np.ndarray], np.ndarray], lasts: int, lag: float, share: float
) -> tuple[PacketBlock, np.ndarray, np.ndarray]:
    """Return packets of a movement, and times and positions of frames behind a low-pass."""
    came = np.arange(20 * lasts) * 0.05
    packets = block(
        Packet((x, y, z), (0.0, 0.0, 0.0), at - 0.1, at)
        for at, (x, y, z) in zip(came.tolist(), move(came).tolist(), strict=True)
    )
    times = np.arange(60, 60 * (lasts - 1)) / 60
    goal, positions = move(times - lag), [move(times[:1] - lag)[0]]
    for place in goal[1:]:  # which shrinks circles a little
        positions.append(positions[-1] + (place - positions[-1]) * share)
    return packets, times, np.array(positions)


@given(
    axes=st.permutations((0, 1, 2)),
    signs=st.tuples(*[st.sampled_from((1.0, 1.0, -1.0))] * 3),
    offset=st.tuples(*[st.sampled_from((0.0, 0.0, 300.0, -40.0))] * 3),
    lag=st.floats(0, 0.6),
    share=st.floats(0.3, 1),
    flat=st.booleans(),
)
@examples(60)
def test_frames_in_other_coordinates_are_found(
    axes: list[int],
    signs: tuple[float, ...],
    offset: tuple[float, ...],
    lag: float,
    share: float,
    flat: bool,
) -> None:
    def move(at: np.ndarray) -> np.ndarray:
        height = 0 * at if flat else 6 * np.sin(0.7 * at + 1)
        return np.array([9 * np.cos(at) + 0.3 * at, 7 * np.sin(1.7 * at) + 15, height]).T

    packets, times, positions = drawn_behind(move, 30, lag, share)
    path = DrawnPath(times, np.array(signs) * positions[:, axes] + np.array(offset), 1e-6)
    found = find_other_coordinates({"": path}, {"": packets})
    moving = [axis for axis in range(3) if not (flat and axes[axis] == 2)]
    usual = all(axes[axis] == axis and signs[axis] == 1 for axis in moving) and not any(offset)
    if usual:
        assert found is None
    elif found is None:  # on a height that stays as it is, an exchange cannot be told
        assert flat
    else:
        for axis in moving:
            assert (found.axes[axis], found.signs[axis]) == (axes[axis], signs[axis])
            assert found.offset[axis] == pytest.approx(offset[axis], abs=1.5)


@pytest.mark.parametrize("shown", ["drawn", "rendered", "visual"])
def test_of_two_places_in_a_frame_the_drawn_one_counts(tmp_path: Path, shown: str) -> None:
    packets = table("t,recv,x,y", [(n * 0.05, n * 0.05 + 0.033, n, 0) for n in range(40)])
    frames = table(
        f"t,{shown}_x,{shown}_y,server_x,server_y",
        [(t, t * 20, 0, round(t * 20), 0) for t in FRAMES],
    )
    _, size = drawn(tmp_path, packets, frames)
    assert size == pytest.approx(FRAMES[-1] * 20)


def test_a_cure_for_frames_leaves_the_packets_alone(tmp_path: Path) -> None:
    packets = lines("t,recv,x,y", [(n * 0.05, n * 0.05 + 0.033, n, 0) for n in range(40)])
    frames = lines("t,x,y", [(n * 16.7, n / 10, 0) for n in range(200)])
    (tmp_path / "p.jsonl").write_text(packets)
    (tmp_path / "f.jsonl").write_text(frames)
    given = ReadSpec()
    log = ReadingLog("f.jsonl")
    runs = RecordedRuns(
        (str(tmp_path / "p.jsonl"),), RecordingSpec(given), drawn=str(tmp_path / "f.jsonl")
    )
    with pytest.raises(UnusableDrawing, match=r"the frames are from 0 to 3323.3 s"):
        runs.run(runs.recordings[0], ReadingLog("p.jsonl"), None, lambda _: log)
    assert [finding.read for finding in log.findings if finding.code == "E201"] == ["frame.unit=ms"]
    cured, size = drawn(tmp_path, packets, frames, "frame.unit=ms")
    assert math.isclose(cured[1], 0.0167)
    assert size == 19.9


# --------------------------------------------------------------------------- rows without times


def test_rows_at_a_rate() -> None:
    assert [p.time for p in read("x,y\n0,0\n1,0\n2,0\n", "time=,unit=ticks@50")] == [0, 0.02, 0.04]
    both = read("who,x,y\na,0,0\nb,5,5\na,1,0\nb,6,6\n", "time=,entity=who,unit=ticks@50")
    assert [p.time for p in both] == [0, 0, 0.02, 0.02]
    both_there = '{"cars": {"a": {"x": 0, "y": 0}, "b": {"x": 5, "y": 5}}}'
    several = both_there + '\n{"cars": {"b": {"x": 1, "y": 1}}}\n'
    found = read(several, "time=,x=cars.*.x,y=cars.*.y,unit=ticks@50")
    assert [(p.entity, p.time) for p in found] == [("a", 0), ("b", 0), ("b", 0.02)]


def test_frames_in_sentences_are_read_beside_packets(tmp_path: Path) -> None:
    """A game's log of frames has words of its own, which no ``--read`` entry says."""
    packets, frames = tmp_path / "net.csv", tmp_path / "draw.log"
    packets.write_text(table("t,recv,x,y", [(n / 10, n / 10 + 0.05, n, 0) for n in range(30)]))
    frames.write_text(
        "".join(f"[{17 * n + 50} ms] draw at=({0.17 * n:.3f}, 0.000)\n" for n in range(160))
    )
    runs = RecordedRuns((str(packets),), RecordingSpec(ReadSpec()), drawn=str(frames))
    run = runs.run(runs.recordings[0], ReadingLog("net.csv"), None, ReadingLog)
    assert run.drawn is not None
    (path,) = run.drawn.paths.values()
    assert path.positions[100, 0] == pytest.approx(17.0)
    assert path.times[100] == pytest.approx(1.75)


@pytest.mark.parametrize("write", [table, lines])
@pytest.mark.parametrize("numbered", [False, True])
def test_arrivals_alone_are_the_stamps_too(write: Callable[..., str], numbered: bool) -> None:
    rows = [(n * 50 + 33, n, n, 0) for n in range(40)]
    text = write("recv_ms,seq,x,y", rows)
    if not numbered:
        text = write("recv_ms,x,y", [(at, x, y) for at, _, x, y in rows])
    found = read(text)
    assert [packet.time for packet in found] == [packet.arrival for packet in found]
    assert [packet.time for packet in found] == pytest.approx([n * 0.05 + 0.033 for n in range(40)])
    assert [packet.sequence for packet in found] == (list(range(40)) if numbered else [None] * 40)
    assert found == read(text, "time=recv_ms,arrival=recv_ms,unit=ms")


def test_two_arrivals_are_not_taken_for_stamps() -> None:
    text = table("recv_ms,received_ms,x,y", [(n * 50, n * 50 + 1, n, 0) for n in range(40)])
    with pytest.raises(ValueError, match="no column is clearly time"):
        read(text)


@pytest.mark.parametrize("write", [table, lines])
@pytest.mark.parametrize("begin", [0, 73_000, 1_764_483_000_000])
@pytest.mark.parametrize("names", ["aq,bw", "bw,aq"])
def test_clocks_without_a_name_are_proposed_by_their_values(
    write: Callable[..., str], begin: int, names: str
) -> None:
    came = [n * 50 + 40 + n * 7 % 11 for n in range(40)]
    rows = [(begin + n * 50, begin + at, n % 3, 5) for n, at in enumerate(came)]
    text = write(f"{names},x,y", rows)
    with pytest.raises(ValueError, match="no column is clearly time") as error:
        read(text)
    proposed = re.findall("read='(.*)'", str(error.value))
    first, second = names.split(",")
    assert proposed[0].startswith(f"time={first},arrival={second}")
    packets = read(text, proposed[0])
    delays = [packet.arrival - packet.time for packet in packets if packet.arrival is not None]
    assert delays == pytest.approx([(at - n * 50) / 1000 for n, at in enumerate(came)], abs=1e-6)


@pytest.mark.parametrize("write", [table, lines])
def test_of_two_counters_the_one_with_a_usual_rate_is_proposed_first(
    write: Callable[..., str],
) -> None:
    rows = [(n, 4 * k, 30 + round(k * 4000 / 60), k, 5) for n, k in enumerate(
        k for k in range(80) if k % 9 != 5)]  # fmt: skip
    text = write("frame,server_tick,recv_ms,x,y", rows)
    with pytest.raises(ValueError, match="their rate is not known") as error:
        read(text)
    proposed = re.findall("read='(.*)'", str(error.value))
    assert proposed[0] == "time=server_tick,unit=ticks@60"
    assert proposed[1:] == ["time=frame,unit=ticks@HZ"]
    assert [packet.time for packet in read(text, proposed[0])] == pytest.approx(
        [row[1] / 60 for row in rows]
    )
    with pytest.raises(ValueError, match="time may be frame or server_tick"):
        read(text, "unit=ticks@60")


@pytest.mark.parametrize("comment", ["# meadow client 0.3", "# one, two", "#"])
@pytest.mark.parametrize("header", ["seq,srv_ms,cli_ms,px,py", "frm,srv_ms,cli_ms,east,north"])
def test_comments_above_a_table_whose_names_are_not_the_usual_ones(
    comment: str, header: str
) -> None:
    rows = [(n, n * 50, n * 50 + 33, n, 0) for n in range(40)]
    plain = table(header, rows)
    read_plain, commented = read(plain), read(f"{comment}\n{comment}\n{plain}")
    assert commented == read_plain
    assert len(commented) == 40


@given(
    seed=st.integers(0, 10**6),
    offset=st.sampled_from([0.0, 0.0, 0.4, 2.5, 40.0, -3.5, -60.0, 1.7e9, -1.7e6]),
    way=st.sampled_from(["share", "buffer"]),
    begun=st.sampled_from([0.0, 7.0]),
)
@examples(25)
def test_frames_on_another_clock_are_found(
    seed: int, offset: float, way: str, begun: float
) -> None:
    chance = np.random.default_rng(seed)
    stamps = np.arange(0.0, 40.0, chance.uniform(0.03, 0.2))
    turns = np.cumsum(chance.normal(0, 8 * np.sqrt(stamps[1]), len(stamps)))
    sent = np.cumsum([np.cos(turns), np.sin(turns)], axis=1).T * 5 * stamps[1]
    came = stamps + 0.05 + chance.gamma(2, 0.012, len(stamps))
    order = np.argsort(came)
    came, sent, stamps = came[order], sent[order], stamps[order]
    times = came[0] + np.cumsum(1 / 60 + np.abs(chance.normal(0, 0.002, 2300)))
    if way == "share":  # of the rest, each frame
        drawn = [sent[0]]
        for newest in np.searchsorted(came, times[1:], side="right") - 1:
            drawn.append(drawn[-1] + 0.2 * (sent[newest] - drawn[-1]))
    else:  # by the stamps, each of which is there by then
        drawn = [[np.interp(at - 0.25, stamps, axis) for axis in sent.T] for at in times]
    told, seen = came >= came[0] + begun, times >= times[0] + begun
    packets = block(
        Packet((x, y, 0.0), (0.0, 0.0, 0.0), sent_at, at)
        for (x, y), sent_at, at in zip(
            sent[told].tolist(), stamps[told].tolist(), came[told].tolist(), strict=True
        )
    )
    shown = np.append(np.array(drawn), np.zeros((len(times), 1)), axis=1)[seen]
    found = find_frame_clock({"": DrawnPath(times[seen] - offset, shown, 1e-6)}, {"": packets})
    if not offset:
        assert found is None
        return
    assert found is not None
    # how late a buffer is by itself is seen where its frames begin with the packets
    assert found.offset == pytest.approx(offset, abs=0.03 if way == "share" else 0.4)


def test_a_circle_is_drawn_late_and_no_lap_early() -> None:
    stamps = np.arange(0.0, 40.0, 0.05)
    came = stamps + np.where(stamps % 2 < 0.3, 0.3 - stamps % 2, 0.0)  # held up, then all at once
    packets = block(
        Packet((9 * math.cos(at), 9 * math.sin(at), 0.0), None, at, arrival)
        for at, arrival in zip(stamps.tolist(), came.tolist(), strict=True)
    )
    times = np.arange(0.4, 40.0, 1 / 60)
    shown = 9 * np.stack((np.cos(times - 0.4), np.sin(times - 0.4), 0 * times), axis=1)
    assert find_frame_clock({"": DrawnPath(times, shown, 1e-6)}, {"": packets}) is None


def test_what_moves_frames_can_be_pasted(tmp_path: Path) -> None:
    packets = [(n * 0.05, n * 0.05 + 0.033, 9 * math.cos(n / 9), n % 60) for n in range(400)]
    (tmp_path / "p.csv").write_text(table("t,recv,x,y", packets))
    for ahead in (1.6, 1e6):
        frames = [
            (f"{recv + ahead + k / 60:.4f}", x, y) for _, recv, x, y in packets for k in range(3)
        ]
        (tmp_path / "f.csv").write_text(table("t,x,y", frames))
        command = ["compare", "-s", "epic", str(tmp_path / "p.csv"), "--drawn"]
        said = epic(*command, str(tmp_path / "f.csv")).stderr.decode()
        option = re.search(r"--drawn (\S+,offset=\S+)", said)
        assert option is not None, said
        if ahead < 2:
            alone = epic("diagnose", *command[3:], str(tmp_path / "f.csv")).stdout.decode()
            assert "of the packets alone" in " ".join(alone.split())
            assert "Not understood" not in alone
        moved = epic(*command, option[1].rstrip("."))
        assert moved.returncode == 0
        assert b"another clock" not in moved.stderr


@given(
    signs=st.tuples(*[st.sampled_from((1.0, -1.0))] * 2),
    offset=st.tuples(*[st.floats(50, 400)] * 2),
    scale=st.sampled_from([1.0, 1 / 32, 0.3048]),
    lag=st.floats(0, 0.3),
)
@examples(15)
def test_frames_in_other_coordinates_are_read_in_the_packets(
    signs: tuple[float, float], offset: tuple[float, float], scale: float, lag: float
) -> None:
    def move(at: np.ndarray) -> np.ndarray:  # and rest
        part = np.minimum(at % 4, 2.5) + 2.5 * (at // 4)
        return np.array([9 * np.cos(part) + part, 7 * np.sin(1.7 * part), 0 * part]).T

    packets, times, positions = drawn_behind(move, 30, lag, 0.9)
    shown = np.round((positions * (*signs, 1) + (*offset, 0)) / scale, 2) * scale  # a log's digits
    rows = block(
        Packet((x, y, 0.0), (0.0, 0.0, 0.0), at)
        for at, (x, y, _) in zip(times.tolist(), shown.tolist(), strict=True)
    )
    paths = make_drawn_paths({"1": rows}, {"sheep#1": packets, "sheep#2": packets}, 0.0, scale)
    found = find_other_coordinates(paths, {"sheep#1": packets})
    assert found is not None
    path = found.place(paths)["sheep#1"]
    assert path.positions == pytest.approx(positions, abs=0.012 * scale)
    assert 0.0005 * scale < path.resolution < 0.006 * scale


def test_arrivals_are_dates_beside_ticks_and_a_height_is_the_third_axis() -> None:
    rows = [
        (3000 + 2 * n, (DAY + timedelta(seconds=n / 16)).strftime("%d.%m.%Y %H:%M:%S.%f"), n, 2, 9)
        for n in range(200)
    ]
    text = "tick;recv;x_ft;z_ft;alt_ft\n" + "".join(";".join(map(str, row)) + "\n" for row in rows)
    said = epic("inspect", stdin=text.encode()).stderr.decode()
    assert "--read unit=ticks@32, the rate by the arrival times" in said
    first, second = read(text, "unit=ticks@32")[:2]
    assert second.position == pytest.approx((0.3048, 9 * 0.3048, 2 * 0.3048))
    assert first.arrival is not None
    assert second.arrival == pytest.approx(first.arrival + 1 / 16)


@given(ratio=st.floats(3, 900), lag=st.floats(0, 0.3), down=st.booleans())
@examples(10)
def test_a_unit_of_length_is_exact_where_things_rest(ratio: float, lag: float, down: bool) -> None:
    def move(at: np.ndarray) -> np.ndarray:
        part = np.minimum(at % 4, 2.5) + 2.5 * (at // 4)
        return np.array([9 * np.cos(part) + part, 7 * np.sin(1.7 * part), 0 * part]).T

    packets, times, positions = drawn_behind(move, 30, lag, 0.9)
    shown = np.round(positions * ratio * (1, -1 if down else 1, 1), 2)
    found = find_unit_ratio({"": DrawnPath(times, shown, 0.005)}, {"": packets})
    assert found == pytest.approx(ratio, rel=2.1e-3)
    assert find_unit_ratio({"": DrawnPath(times, positions * 1.4, 1e-6)}, {"": packets}) is None


def test_a_message_in_a_log_has_its_own_time(tmp_path: Path) -> None:
    packets = [
        {"t": n * 50 + 512.4, "msg": {"ts": 1.796e12 + n * 50, "units": {"a": {"x": n, "y": 3}}}}
        for n in range(60)
    ]
    found = read("".join(json.dumps(row) + "\n" for row in packets))
    assert [(one.entity, one.arrival) for one in found[:2]] == [("a", 0.5124), ("a", 0.5624)]
    frames = [
        {"raf": 512.4 + n * 16, "px": {"a": [round(n * 0.32 + math.sin(n), 2), 3 + n % 2]}}
        for n in range(180)
    ]
    for name, rows in (("p.jsonl", packets), ("f.jsonl", frames)):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ["compare", "-s", "epic", "p.jsonl", "--drawn", "f.jsonl"]
    said = epic(*command, cwd=tmp_path).stderr.decode()
    assert "--read 'frame.x=px.*.0,frame.y=px.*.1'" in said
    moved = epic(*command, "--read", "frame.x=px.*.0,frame.y=px.*.1", cwd=tmp_path)
    assert moved.returncode == 0, moved.stderr
