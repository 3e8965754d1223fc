"""Tests that the compiled engine and Python agree on the table of a packet's keys."""

from typing import Any

import pytest

from epic_cli import Packet
from epic_cli.engine import keys, text
from epic_cli.engine.build import HERE
from epic_cli.engine.intake import PARTS
from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.text import TextScanner
from epic_cli.recordings import list_packet_formats
from epic_cli.recordings.reading import make_writer, read

#: A value that is not the usual one, by the kind of a key.
VALUES: dict[keys.KeyType, Any] = {
    keys.KeyType.MOMENT: 7.5,
    keys.KeyType.DURATION: 0.25,
    keys.KeyType.COUNT: 12,
    keys.KeyType.FLAG: True,
    keys.KeyType.NAME: "tank",
    keys.KeyType.ROTATION: (0.0, 0.0, 0.6, 0.8),
    keys.KeyType.SPIN: (1.0, 2.0, 3.0),
}
PLAIN = Packet((1.0, 2.0, 3.0), (4.0, 5.0, 6.0), 0.5)


def test_the_compiled_table_is_that_of_the_source() -> None:
    assert (HERE / "packets" / "keys.h").read_text() == keys.write_header()
    assert tuple(keys.COLUMN_KEYS) == text.ALL_FIELDS
    assert set(PARTS) == {part for key in keys.KEYS for part in key.parts}


def test_a_packet_has_a_field_for_each_key() -> None:
    assert {key.attribute for key in keys.KEYS} == {*Packet._fields} - {"extras"}
    absent: dict[str, Any] = {key.attribute: key.absent for key in keys.KEYS if key.words}
    assert PLAIN._replace(**absent) == PLAIN


@pytest.mark.parametrize("key", [key for key in keys.KEYS if key.words], ids=lambda key: key.name)
@pytest.mark.parametrize("packet_format", list_packet_formats())
def test_each_key_is_written_and_read_in_each_format(key: keys.Key, packet_format: str) -> None:
    changed = {key.attribute: VALUES[key.type]}
    if key.type is keys.KeyType.SPIN:  # it is passed over without a rotation
        changed["rotation"] = VALUES[keys.KeyType.ROTATION]
    packet = PLAIN._replace(**changed)
    writer = make_writer(packet_format, keys.REQUESTS)
    parts = iter([writer.header + writer.format_row(packet) + writer.end()])
    assert [block[at] for block in read(lambda: next(parts, b"")) for at in range(len(block))] == [
        packet
    ]


@pytest.mark.parametrize("word", keys.WORDS)
def test_a_wrong_value_is_refused_by_its_word(word: str) -> None:
    line = f"1,2,3 / 4,5,6 / 7 {word}={'' if word == 'entity' else 'x'}\n".encode()
    (refusal,) = TextScanner().scan(line, final=True).refusals
    assert (refusal.field, refusal.caret) == (word, line.index(b"=") + 1)


def test_what_is_no_packet_is_said_by_the_key() -> None:
    for key in keys.KEYS:
        if key.type is keys.KeyType.FLAG:  # anything is true or false
            continue
        wrong: dict[str, Any] = {key.attribute: object()}
        turned = PLAIN._replace(rotation=(0.0, 0.0, 0.0, 1.0))
        with pytest.raises(TypeError, match=f"its {key.attribute} is .*, not {key.python[:12]}"):
            PacketBlock().append(turned._replace(**wrong))
