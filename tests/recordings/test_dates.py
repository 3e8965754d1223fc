"""Dates in the formats of several countries, and in formats given by the user."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.running import epic

from epic_cli import RefusedLine, inspect, read_packets

BEGIN = datetime(2024, 1, 25, 11, 59, 58)


def times(dates: list[str], read: str = "") -> tuple[list[float], str]:
    text = "Time;x;y\n" + "".join(f"{date};{n};0\n" for n, date in enumerate(dates))
    with read_packets(io.BytesIO(text.encode()), read=read) as reader:
        found = [packet.time for packet in reader]
        assert reader.layout is not None
        return found, reader.layout.write()


@given(
    steps=st.lists(st.integers(1, 10**6), min_size=2, max_size=20),
    form=st.sampled_from([
        "%d.%m.%Y %H:%M:%S", "%d.%m.%y %H:%M:%S", "%m/%d/%Y %H:%M:%S", "%m/%d/%Y %I:%M:%S %p",
        "%d/%m/%Y %H:%M:%S", "%m/%d/%y, %I:%M:%S %p", "%d-%m-%Y %H:%M:%S",
    ]),
    fraction=st.sampled_from([".", ",", ""]),
)  # fmt: skip
def test_what_the_first_date_shows_is_read(steps: list[int], form: str, fraction: str) -> None:
    begin, dates, expected = BEGIN, [], []
    for step in [0, *steps]:
        begin += timedelta(milliseconds=step)
        millis = begin.microsecond // 1000
        seconds = f"%S{fraction}{millis:03d}" if fraction else "%S"
        dates.append(begin.strftime(form.replace("%S", seconds)))
        expected.append((begin - BEGIN).total_seconds() - (0 if fraction else millis / 1000))
    found, options = times(dates)
    assert found == pytest.approx(expected, abs=1e-6)
    assert "time_format=" in options
    assert "origin=first" in options


def test_german_dates_need_no_second_of_the_month() -> None:
    assert times(["05.01.2024 12:00:00,5", "05.01.2024 12:00:01,25"])[0] == [0, 0.75]


def test_a_date_of_two_months_is_asked_for() -> None:
    done = epic("replay", stdin=b"time;x;y\n5/1/2024 12:00:00;0;0\n5/1/2024 12:00:01;1;0\n")
    assert done.returncode == 1
    for order in ("%d/%m/%Y", "%m/%d/%Y"):
        assert f"--read 'time_format={order} %H:%M:%S'".encode() in done.stderr
    dates = ["5/1/2024 0:00:00", "5/2/2024 0:00:00"]
    assert times(dates, "time_format=%m/%d/%Y %H:%M:%S")[0] == [0, 86400]
    assert times(dates, "time_format=%d/%m/%Y %H:%M:%S")[0] == [0, 31 * 86400]


@pytest.mark.parametrize(
    ("form", "dates", "step"),
    [
        ("%b %d %H:%M:%S.%f", ["Jan 5 12:00:00.250", "january 6 12:00:00.5"], 86400.25),
        ("%Y%m%dT%H%M%S", ["20240105T120000", "20240105T120001.5"], 1.5),
        ("%H:%M:%S %z", ["12:00:00 +02:00", "12:00:00 +0100"], 3600),
        ("%d/%b/%Y:%H:%M:%S %z", ["10/Oct/2000:13:55:36 -0700", "10/Oct/2000:13:55:37 -0700"], 1),
        ("%I:%M %p", ["11:59 AM", "12:00 pm"], 60),
        ("%I:%M:%S.%f %p", ["11:59:59.75 AM", "12:00:00.25 pm"], 0.5),
    ],
)
def test_a_format_is_given(form: str, dates: list[str], step: float) -> None:
    assert times(dates, f'time_format="{form}"')[0] == pytest.approx([0, step])


def test_what_is_not_in_the_format_is_refused() -> None:
    with pytest.raises(RefusedLine, match="time"):
        times(["05.01.2024 12:00:00", "05.13.2024 12:00:00"])
    for wrong in ("%Y-%m-%d", "%H %Q", "%"):
        assert epic("replay", "--read", f"time_format={wrong}").returncode == 2


@pytest.mark.parametrize(
    ("form", "least", "most"),
    [("%H", 0, 24), ("%I", 1, 12), ("%M", 0, 59), ("%S", 0, 60), ("%d", 1, 31), ("%m", 1, 12)],
)
def test_a_part_of_a_date_has_its_range(form: str, least: int, most: int) -> None:
    usual = {"%d": "05", "%m": "01", "%H": "10", "%I": "10", "%M": "00", "%S": "00"}
    hour = "%I" if form == "%I" else "%H"
    whole = f"%Y-%m-%d {hour}:%M:%S" + " %p" * (form == "%I")

    def write(value: int) -> str:
        text = whole.replace("%Y", "2024").replace("%p", "am")
        for name, of in {**usual, form: f"{value:02}"}.items():
            text = text.replace(name, of)
        return text

    read = f'time_format="{whole}"'
    assert len(times([write(least), write(most)], read)[0]) == 2
    for wrong in {least - 1, most + 1, most + 2} if least else {most + 1, most + 2}:
        with pytest.raises(RefusedLine, match="time"):
            times([write(least), write(wrong)], read)


@pytest.mark.parametrize(("year", "text"), [(1969, "69"), (1999, "99"), (2000, "00"), (2068, "68")])
def test_years_of_two_digits_are_those_of_posix(year: int, text: str) -> None:
    when = datetime(year, 12, 31, 23, 59, 59, tzinfo=UTC)
    read = 'time_format="%d %b %y %H:%M:%S",origin=0'
    assert times([f"31 Dec {text} 23:59:59"], read)[0] == [when.timestamp()]


@pytest.mark.parametrize("moves", ["", ",2,0,0"])
def test_days_of_a_spreadsheet_are_told_from_seconds(moves: str) -> None:
    head = "time,x,y,z" + ",vx,vy,vz" * bool(moves)
    rows = [f"{45000 + k / 20 / 86400!r},{k / 10},0,0{moves}" for k in range(60)]
    found = inspect(io.BytesIO("\n".join([head, *rows, ""]).encode())).findings
    assert ("E201", "unit=d") in [(finding.code, str(finding.read)) for finding in found]
