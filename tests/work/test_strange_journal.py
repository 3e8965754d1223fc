"""Tests of a journal made by somebody else, whose values are checked or computed again."""

import base64
import json
import zlib
from hashlib import blake2b
from pathlib import Path

import pytest
from support.running import epic

PACKETS = "time,arrival,x,y\n" + "".join(f"{n / 20},{n / 20 + 0.03},{n},0\n" for n in range(60))


def of(name: str, *fields: object) -> bytes:
    return json.dumps({"of": [name, *fields]}).encode()


def nested(kind: str, depth: int = 50_000) -> bytes:
    return f'{{"{kind}":['.encode() * depth + b"]}" * depth


#: Values that no journal holds, whatever the command.
UNREADABLE = {
    "not JSON": b"not JSON",
    "too deep": b"[" * 100_000,
    "too deep a value": nested("tuple"),
    "too large": b" " * (80 << 20) + b"1",
    "too many": b"[" + b"1," * 3_000_000 + b"1]",
    "two kinds": b'{"tuple": [], "map": []}',
    "a class of others": of("Popen", "ls"),
    "an array of objects": b'{"array": ["O", [1], "AAAAAAAAAAA="]}',
    "an array of records": b'{"array": ["f8,f8", [1], "AAAAAAAAAAAAAAAAAAAAAA=="]}',
    "a huge shape": b'{"array": ["<f8", [99999999999999999999], "AAAAAAAAAAA="]}',
    "a list as a key": b'{"map": [[{"map": []}, 1]]}',
    "no bytes": b'{"bytes": 5}',
}

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


def forged(journal: bytes, value: bytes, packed: bool = True) -> bytes:
    """Return the journal with another value in each entry, and valid checksums."""
    header, *entries = journal.splitlines(keepends=True)
    salt = json.loads(header)["sum"].encode()
    text = base64.b64encode(zlib.compress(value) if packed else value)
    lines = [header]
    for entry in entries:
        key = json.loads(entry)["key"].encode()
        checked = blake2b(salt + key + text, digest_size=16).hexdigest().encode()
        lines.append(b'{"key":"%b","sum":"%b","value":"%b"}\n' % (key, checked, text))
    return b"".join(lines)


COMMANDS = {
    "diagnose": ("diagnose", "-f", "jsonl"),
    "compare": ("compare", "-s", "lerp,dumb-terminal", "-f", "csv"),
    "tune": ("tune", "-s", "lerp", "--trials", "3", "-f", "jsonl"),
}


#: A command with a journal, what it says, the journal, and what is in it.
Run = tuple[tuple[str, ...], bytes, Path, bytes]


@pytest.fixture(scope="module", params=COMMANDS)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run a command with a journal; return its output and the journal."""
    folder = tmp_path_factory.mktemp(request.param)
    for name in ("a.csv", "b.csv"):
        (folder / name).write_text(PACKETS.replace(",0\n", f",{len(name) + ord(name[0])}\n"))
    count = 1 if request.param == "tune" else 2
    files = [str(folder / name) for name in ("a.csv", "b.csv")[:count]]
    journal = folder / "journal"
    words = (*COMMANDS[request.param], "--journal", str(journal), *files)
    first = epic(*words)
    assert first.returncode == 0
    return words, first.stdout, journal, journal.read_bytes()


def test_a_journal_of_ours_is_gone_on_with(run: Run) -> None:
    words, said, journal, made = run
    journal.write_bytes(made)
    again = epic(*words)
    assert again.stdout == said
    assert journal.read_bytes() == made
    assert b"known before" in again.stderr


@pytest.mark.parametrize("value", VALUES)
def test_what_cannot_be_a_result_is_computed_again(run: Run, value: str) -> None:
    words, said, journal, made = run
    _check(words, said, journal, forged(made, VALUES[value]))


@pytest.mark.parametrize("run", ["diagnose"], indirect=True)
@pytest.mark.parametrize("value", UNREADABLE)
def test_what_no_journal_holds_is_computed_again(run: Run, value: str) -> None:
    words, said, journal, made = run
    _check(words, said, journal, forged(made, UNREADABLE[value]))


@pytest.mark.parametrize("value", [b"", b"not zlib", zlib.compress(b"[1]")[:-3], b"\0" * 1000])
def test_what_is_not_packed_as_ours_is_computed_again(run: Run, value: bytes) -> None:
    words, said, journal, made = run
    _check(words, said, journal, forged(made, value, packed=False))


def _check(words: tuple[str, ...], said: bytes, journal: Path, content: bytes) -> None:
    journal.write_bytes(content)
    again = epic(*words)
    assert b"Traceback" not in again.stderr
    assert (again.returncode, again.stdout) == (0, said)
