"""Rotations in binary records."""

from __future__ import annotations

import struct

import pytest

from epic_cli.recordings.datagrams.record_layout import RecordLayout

PLACE = "time:f32 x:f32 y:f32 z:f32"


def test_a_record_has_a_rotation_and_a_spin() -> None:
    turned = "qx:i16*0.0001 qy:i16*0.0001 qz:i16*0.0001 qw:i16*0.0001 wx:f32 wy:f32 wz:f32"
    numbers = (0, 0, 6000, 8000, 1.0, 2.0, 3.0)
    data = struct.pack("<4f4h3f", 0.5, 1, 2, 3, *numbers)
    packet = RecordLayout(f"{PLACE} {turned}").reader().read([data])[0][0]
    assert packet.position == (1, 2, 3)
    assert packet.rotation == pytest.approx((0, 0, 0.6, 0.8))
    assert packet.spin == (1, 2, 3)
    layout = RecordLayout(f"big {PLACE} qw:f64 qx:f64 qy:f64 qz:f64")
    packet = layout.reader().read([struct.pack(">4f4d", 0, 1, 2, 3, 0.8, 0, 0, 0.6)])[0][0]
    assert (packet.rotation, packet.spin) == ((0, 0, 0.6, 0.8), None)


def test_four_zeros_are_no_rotation() -> None:
    layout = RecordLayout(f"{PLACE} qx:f32 qy:f32 qz:f32 qw:f32")
    packet = layout.reader().read([struct.pack("<8f", 0, 1, 2, 3, 0, 0, 0, 0)])[0][0]
    assert (packet.position, packet.rotation) == ((1, 2, 3), None)
    layout = RecordLayout(f"{PLACE} qx:f32 qy:f32 qz:f32 qw:f32 wx:f32 wy:f32 wz:f32")
    packet = layout.reader().read([struct.pack("<11f", 0, 1, 2, 3, 0, 0, 0, 0, 1, 1, 1)])[0][0]
    assert (packet.position, packet.rotation, packet.spin) == ((1, 2, 3), None, None)


@pytest.mark.parametrize(
    "fields", ["qx:f32", "qx:f32 qy:f32 qz:f32", "wx:f32 wy:f32 wz:f32", "qw:f32 wx:f32"]
)
def test_a_rotation_is_whole(fields: str) -> None:
    with pytest.raises(ValueError, match="rotation"):
        RecordLayout(f"{PLACE} {fields}")
