"""Limits: the last value that a refusal names is taken, and the next one is refused."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest

from epic_cli.lab.spec import read_points
from epic_cli.metrics.conditions import parse_condition
from epic_cli.network.link import QueueLimit
from epic_cli.play.script import parse_script
from epic_cli.recordings.datagrams.record_layout import RecordLayout
from epic_cli.show.video import VideoSpec


def points(count: int) -> str:
    return ";".join(f"{k},0,0" for k in range(count))


def script(line: str) -> object:
    return parse_script(io.BytesIO(line.encode()), "AB")


@pytest.mark.parametrize(
    ("read", "within", "beyond", "said"),
    [
        (read_points, points(2000), points(2001), "2 to 2000 points"),
        (read_points, points(2), points(1), "2 to 2000 points"),
        (QueueLimit.parse, "1000000packets", "1000001packets", "0 to 1000000 packets"),
        (QueueLimit.parse, "60s", "60.1s", "0 to 60 s"),
        (QueueLimit.parse, "0packets", "-1packets", "write|0 to"),
        (parse_condition, "held<1", "held<1.01", "from 0 to 1"),
        (parse_condition, "held>0", "held>-0.01", "from 0 to 1"),
        (script, f"1 A up #{' ' * 4088}", f"1 A up #{' ' * 4089}", "at most 4096 bytes"),
        (VideoSpec.parse, "a.gif,size=160x3840", "a.gif,size=158x3840", "160 to 3840"),
        (VideoSpec.parse, "a.gif,size=3840x160", "a.gif,size=3842x160", "160 to 3840"),
        (RecordLayout, "time:f32 x:f32" + " _:1" * 998, "time:f32 x:f32" + " _:1" * 999, "1,000"),
        (RecordLayout, "time:f32 x:f32 _:65499", "time:f32 x:f32 _:65500", "65,508 bytes"),
    ],
)
def test_a_limit_is_taken_and_no_more(
    read: Callable[[str], Any], within: str, beyond: str, said: str
) -> None:
    read(within)
    with pytest.raises(ValueError, match=said):
        read(beyond)
