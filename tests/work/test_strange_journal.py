"""Tests of a journal made by somebody else, whose values are checked or computed again."""

import base64
import json
import zlib
from collections.abc import Sequence
from hashlib import blake2b
from itertools import cycle
from pathlib import Path

import pytest
from support.running import epic

PACKETS = "time,arrival,x,y\n" + "".join(f"{n / 20},{n / 20 + 0.03},{n},0\n" for n in range(60))


def of(name: str, *fields: object) -> bytes:
    return json.dumps({"of": [name, *fields]}).encode()


def nested(kind: str, depth: int = 50_000) -> bytes:
    return f'{{"{kind}":['.encode() * depth + b"]}" * depth


def list_unreadable() -> list[bytes]:
    """Return values that no journal holds, whatever the command; some are large."""
    return [
        b"not JSON",
        b"[" * 100_000,  # too deep
        nested("tuple"),  # too deep a value
        b" " * (80 << 20) + b"1",  # too large
        b"[" + b"1," * 3_000_000 + b"1]",  # too many
        b'{"tuple": [], "map": []}',  # two kinds
        of("Popen", "ls"),  # a class of others
        b'{"array": ["O", [1], "AAAAAAAAAAA="]}',  # an array of objects
        b'{"array": ["f8,f8", [1], "AAAAAAAAAAAAAAAAAAAAAA=="]}',  # an array of records
        b'{"array": ["<f8", [99999999999999999999], "AAAAAAAAAAA="]}',  # a huge shape
        b'{"map": [[{"map": []}, 1]]}',  # a list as a key
        b'{"bytes": 5}',  # no bytes
    ]


#: Values that are results of nothing, or of another command.
VALUES = {
    "null": b"null",
    "a number": b"1",
    "a text": b'"x"',
    "a list": b"[1]",
    "nothing": of("JobResult"),
    "numbers": of("JobResult", 1, 2, 3, 4, 5),
    "a class without a result": of("Damage", "x", 1, {"tuple": []}),
    "another result": of(
        "JobResult", {"of": ["Damage", "x", 1, {"tuple": []}]}, False, None, "", ""
    ),
    "no such member": b'{"enum": ["Cut", "NONE"]}',
    "figures that are texts": b'{"score": "high"}',
    "figures of others": b'{"no such figure": 1.5}',
}


#: Values that are packed in another way than ours.
UNPACKED = [b"", b"not zlib", zlib.compress(b"[1]")[:-3], b"\0" * 1000]


def forge(journal: bytes, values: Sequence[bytes]) -> bytes:
    """Return the journal with one of these packed values in each entry, and valid checksums."""
    header, *entries = journal.splitlines(keepends=True)
    assert len(entries) >= len(values)
    salt = json.loads(header)["sum"].encode()
    lines = [header]
    for entry, value in zip(entries, cycle(values), strict=False):
        key, text = json.loads(entry)["key"].encode(), base64.b64encode(value)
        checked = blake2b(salt + key + text, digest_size=16).hexdigest().encode()
        lines.append(b'{"key":"%b","sum":"%b","value":"%b"}\n' % (key, checked, text))
    return b"".join(lines)


#: Each has as many results as there are values of that kind.
COMMANDS = {
    "diagnose": ("diagnose", "-f", "jsonl"),
    "compare": ("compare", "-s", "lerp", "-f", "csv"),
    "tune": ("tune", "-s", "lerp", "--trials", "20", "-f", "jsonl"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_what_cannot_be_a_result_is_computed_again(command: str, tmp_path: Path) -> None:
    packed = [*VALUES.values(), *(list_unreadable() if command == "diagnose" else ())]
    values = [*map(zlib.compress, packed), *UNPACKED]
    files = [tmp_path / f"{number}.csv" for number in range(len(values))]
    for number, file in enumerate(files[:1] if command == "tune" else files):
        file.write_text(PACKETS.replace(",0\n", f",{number}\n"))
    journal = tmp_path / "journal"
    given = [str(file) for file in files if file.exists()]
    words = (*COMMANDS[command], "--journal", str(journal), *given)
    first = epic(*words)
    assert first.returncode == 0
    made = journal.read_bytes()
    again = epic(*words)
    assert again.stdout == first.stdout
    assert journal.read_bytes() == made
    assert b"known before" in again.stderr
    journal.write_bytes(forge(made, values))
    again = epic(*words)
    assert b"Traceback" not in again.stderr
    assert (again.returncode, again.stdout) == (0, first.stdout)
