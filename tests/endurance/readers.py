"""Random bytes through every reader, guided by the code that they reach.

    python -m endurance.readers csv --seconds 600
    python -m endurance.readers scanner --bytes 1000000000

``scanner`` and ``records`` are the C++ scanners of packet text, and of tables, JSON lines and
times, with libFuzzer (``clang++``; ``scanner.cpp`` and ``records.cpp``); the others are the whole
readers, from Python, with atheris (``pip install atheris``). A reader may refuse anything with a
reason that has words; it must not raise anything else, take a second, or grow. Without either
program, ``--plain`` makes variants of the corpus by chance.
"""

from __future__ import annotations

import argparse
import functools
import io
import itertools
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import types
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

from support.typed_session import TypedSession

from epic_cli.engine.refusals import Refusal
from epic_cli.engine.replay.playback import SampleStream, Timing
from epic_cli.engine.text import RowWriter
from epic_cli.jobs.check.case_file import read_case
from epic_cli.jobs.check.spec import BrokenCase
from epic_cli.network.trace import read_trace
from epic_cli.network.truth_file import read_movement
from epic_cli.play.script import parse_script
from epic_cli.recordings import Unreadable, reading
from epic_cli.recordings.captures import Capture
from epic_cli.recordings.datagrams.ingest import Decoder, Ingest, IngestSpec
from epic_cli.recordings.datagrams.record_layout import RecordLayout
from epic_cli.recordings.read_spec import ReadSpec
from epic_cli.recordings.reading import make_reader
from epic_cli.recordings.tables import TableRefusal
from epic_cli.recordings.wording import FrontEnd, word_refusal
from epic_cli.work.journal import ResultJournal, UnusableJournal, get_program_version

HERE = Path(__file__).parent
CORPUS = HERE / "corpus"
ENGINE = HERE.parents[1] / "epic_cli" / "engine"

PATTERN = r"(?P<time>[\d.]+) (?P<id>\w+) \((?P<x>[-\d.]+), (?P<y>[-\d.]+)\)"

#: Rows drawn of one recording: what is read is to be seen, not how long a gap is.
MOST_ROWS = 2000

#: Refusals of a block that are put into words.
_SAID = 20


class Found(NamedTuple):
    """A reader's result: packets (or entries), the number of refusals, their words."""

    taken: int
    refused: int = 0
    said: tuple[str, ...] = ()


def refused(error: object) -> Found:
    """Return a refusal after checking that it has a message."""
    assert str(error)
    return Found(0, 1, (str(error),))


def worded(refusals: Iterable[Refusal]) -> tuple[str, ...]:
    """Return some refusals of packets in words."""
    some = itertools.islice(refusals, _SAID)
    return tuple(word_refusal(refusal, FrontEnd.COMMAND_LINE).what for refusal in some)


def recording(kind: str) -> Callable[[bytes], Found]:
    """Read a recording in two pieces, draw its first rows, and return what was refused."""

    def read(data: bytes) -> Found:
        from epic_cli.engine.strategies import make_factory

        reader = make_reader(kind)
        middle = len(data) * (data[0] if data else 0) // 256
        stream = SampleStream(make_factory("lerp"), Timing(pacing="arrival", latency=0.1))
        writer = RowWriter("jsonl")
        rows, said = 0, list[str]()
        for piece, final in ((data[:middle], False), (data[middle:], True)):
            block = reader.scan(piece, final)
            for samples in stream.feed(block):
                writer.rows(samples, block.entities)
                rows += len(samples)
                if rows > MOST_ROWS:
                    return Found(rows)
            said += worded(block.refusals)
        return Found(rows, len(said), tuple(said))

    return read


def table(read: Callable[[io.BytesIO], object]) -> Callable[[bytes], Found]:
    """Read a file that is accepted or refused as a whole."""

    def take(data: bytes) -> Found:
        try:
            read(io.BytesIO(data))
        except TableRefusal as error:
            return refused(error.problem.what)
        except ValueError as error:
            return refused(error)
        return Found(1)

    return take


def file(kind: str, pattern: str | None = None) -> Callable[[bytes], Found]:
    """Read a file in this format, also inside of wrappers such as compression."""
    spec = ReadSpec(format=kind, pattern=pattern)
    return lambda data: whole(io.BytesIO(data), spec)


def whole(source: IO[bytes] | int, spec: ReadSpec | None = None) -> Found:
    """Read a recording to its end."""
    rows = wrong = 0
    said: tuple[str, ...] = ()
    try:
        for block in reading.read(source, spec):
            rows += len(block)
            wrong += len(block.refusals)
            said += worded(block.refusals)
    except (Unreadable, OSError) as error:
        said += refused(error).said
    return Found(rows, wrong + (len(said) > wrong), said)


@functools.cache
def scratch() -> Path:
    """Return a temporary file of this process, in memory where possible."""
    memory = Path("/dev/shm")
    return Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None)) / "case.toml"


def case(data: bytes) -> Found:
    """Read a case file, without drawing it or running code that it names."""
    scratch().write_bytes(data)
    try:
        read_case(str(scratch()))
    except BrokenCase as broken:
        return refused(broken)
    return Found(1)


def answers(data: bytes) -> Found:
    """Open a journal of results, look up some of its entries, and continue it."""
    path = scratch().with_name("journal")
    data = re.sub(rb'"epic":"[^"]*"', b'"epic":"%b"' % get_program_version().encode(), data)
    path.write_bytes(data)
    try:
        with ResultJournal(str(path), "compare") as one:
            known, damage = len(one), one.damage.number if one.damage else 0
            names = re.findall(r"[0-9a-f]{64}", data.decode("latin-1"))
            for name in names[:: 1 + len(names) // 100]:
                one.find(name)
            one.add("f" * 64, known)
    except UnusableJournal as error:
        return refused(error)
    with ResultJournal(str(path), "compare") as one:
        assert one.find("f" * 64) == known
    return Found(known, damage)


def decoded(decoder: Decoder, pieces: list[bytes]) -> Found:
    """Read datagrams."""
    found = list(decoder.read(pieces))
    return Found(
        sum(len(one.block) for one in found if one.block), sum(one.refused for one in found)
    )


def datagrams(data: bytes) -> Found:
    """Read datagrams of any kind, one a line."""
    return decoded(Decoder(), data.split(b"\n"))


def binary(data: bytes) -> Found:
    """Read records whose layout is the first line."""
    words, _, records = data.partition(b"\n")
    try:
        layout = RecordLayout(words.decode("utf-8", "replace"))
    except ValueError as error:
        return refused(error)
    size = 8 * layout.size
    pieces = [records[at : at + size] for at in range(0, len(records), size)]
    return decoded(Decoder(records=layout), [*pieces, records, records[: layout.size], records * 2])


def capture(data: bytes) -> Found:
    """Read a capture of a network, pcap or pcapng."""
    one = Capture(Ingest(IngestSpec()))
    packets = sum(len(block) for block in one.iterate_blocks(io.BytesIO(data).read))
    return Found(packets, one.frames - packets, (str(one.broken), one.describe_capture()))


def commands(data: bytes) -> Found:
    """Check a line as the session does before it is entered; run nothing."""
    line = ":" + data.decode("utf-8", "surrogateescape").partition("\n")[0]
    said = TypedSession().check(line)
    return Found(said is None, said is not None, (str(said),))


#: The corpus that each harness in C++ begins with.
HARNESSES = {"scanner": "text", "records": "records"}

READERS: dict[str, Callable[[bytes], Found]] = {
    "text": recording("text"),
    "csv": recording("csv"),
    "jsonl": recording("jsonl"),
    "auto": file("auto"),
    "truth": table(read_movement),
    "trace": table(read_trace),
    "script": table(lambda stream: parse_script(stream, ("A", "B"))),
    "capture": capture,
    "frames": file("auto"),
    "pattern": file("auto", PATTERN),
    "sentences": file("auto"),
    "gpx": file("gpx"),
    "nmea": file("nmea"),
    "case": case,
    "answers": answers,
    "datagrams": datagrams,
    "binary": binary,
    "commands": commands,
}


def seeds(name: str) -> list[bytes]:
    """Return the corpus of a reader, which is kept small."""
    return [path.read_bytes() for path in sorted((CORPUS / name).glob("*"))]


class Count:
    """A wrapper of a reader that counts the calls, and ends the run at the limit."""

    def __init__(self, name: str, enough: Callable[[Count], bool]) -> None:
        self.calls = self.bytes = 0
        self.slowest = 0.0
        self._begun = 0.0
        self._read = READERS[name]
        self._name = name
        self._enough = enough
        self._first_peak = 0

    @property
    def seconds(self) -> float:
        """The seconds since the start."""
        return time.monotonic() - self._begun

    def __call__(self, data: bytes) -> None:
        """Count one case."""
        self._begun = self._begun or time.monotonic()
        begin = time.process_time()
        self._read(data)
        self.slowest = max(self.slowest, time.process_time() - begin)
        self.calls += 1
        self.bytes += len(data)
        if self.calls == 1000:
            self._first_peak = peak()
        if self.calls % 1000 == 0 and self._enough(self):
            print(self, flush=True)
            os._exit(0)  # libFuzzer would take an exit for a crash

    def __str__(self) -> str:
        grown = (peak() - self._first_peak) / 1024
        return (
            f"{self._name}: {self.bytes:,} bytes in {self.calls:,} cases, {self.seconds:.0f} s;"
            f" slowest {self.slowest * 1e3:.0f} ms, grown by {grown:.1f} MB"
        )


def peak() -> int:
    """Return this process's peak memory in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def variant(chance: random.Random, known: list[bytes]) -> bytes:
    """Return an entry of the corpus with a few places changed."""
    return damaged(chance, chance.choice(known), known, 4)


def damaged(chance: random.Random, data: bytes, others: list[bytes], most: int = 200) -> bytes:
    """Return data with up to two hundred places changed, and sometimes cut."""
    out = bytearray(data)
    for _ in range(min(chance.choice((0, 1, 1, 2, 5, 30, 200)), most) if out else 0):
        place = chance.randrange(len(out) + 1)
        length = chance.choice((1, 1, 2, 8, 60))
        kind = chance.randrange(6)
        if kind == 0:
            del out[place : place + length]
        elif kind == 1:
            out[place:place] = chance.randbytes(length)
        elif kind == 2:
            out[place : place + length] = chance.randbytes(len(out[place : place + length]))
        elif kind == 3:
            other = chance.choice(others)
            begin = chance.randrange(len(other) + 1)
            out[place:place] = other[begin : begin + length * 8]
        elif kind == 4:
            out[place : place + 1] = chance.choice((b"\n", b",", b'"', b"\0", b"-", b"e9", b"{"))
        elif out[place : place + 1].isdigit():
            out[place : place + 1] = chance.choice((b"9", b"99999", b"1e9", b"-"))
    if chance.random() < 0.1:
        del out[chance.randrange(len(out) + 1) :]
    return bytes(out)


def functions() -> Iterator[types.FunctionType]:
    """Return the project's own Python functions in the loaded modules."""
    for name, module in list(sys.modules.items()):
        if name.startswith("epic_cli."):
            for member in vars(module).values():
                members = vars(member).values() if isinstance(member, type) else [member]
                yield from (
                    member
                    for member in members
                    if isinstance(member, types.FunctionType) and member.__module__ == name
                )


def fuzz_engine(options: argparse.Namespace) -> int:
    """Build a harness in C++ and run it until the time is over."""
    with tempfile.TemporaryDirectory() as name:
        program, corpus = Path(name) / options.reader, Path(name) / "corpus"
        shutil.copytree(CORPUS / HARNESSES[options.reader], corpus)
        sanitizers = "fuzzer" if options.fast else "fuzzer,address,undefined"
        build = ["clang++", "-std=c++17", "-O2", f"-fsanitize={sanitizers}", f"-I{ENGINE}"]
        build += [
            "-fno-sanitize-recover=all",
            str(HERE / f"{options.reader}.cpp"),
            "-o",
            str(program),
        ]
        subprocess.run(build, check=True)
        limits = ["-timeout=1", "-rss_limit_mb=512", "-max_len=4096"]
        limits.append(f"-max_total_time={options.seconds}")
        return subprocess.run([str(program), *limits, str(corpus)], check=False).returncode


def main() -> int:
    """Fuzz one reader; end with a crash report at the first fault."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("reader", choices=[*HARNESSES, *READERS])
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--bytes", type=int, default=1_000_000_000, help="in Python")
    parser.add_argument("--plain", action="store_true", help="by chance, without atheris")
    parser.add_argument("--fast", action="store_true", help="in C++: without sanitizers")
    options = parser.parse_args()
    if options.reader in HARNESSES:
        return fuzz_engine(options)
    count = Count(
        options.reader, lambda one: one.seconds > options.seconds or one.bytes > options.bytes
    )
    if options.plain:
        chance, known = random.Random(1), seeds(options.reader)
        while True:
            count(variant(chance, known))
    import atheris  # type: ignore[import-untyped, import-not-found, unused-ignore]

    for function in functions():
        atheris.instrument_func(function)
    with tempfile.TemporaryDirectory() as name:
        corpus = Path(name) / "corpus"
        shutil.copytree(CORPUS / options.reader, corpus)
        # by the clock, of a machine that may be busy: what one case takes itself is printed
        limits = ["-timeout=10", "-rss_limit_mb=512", "-max_len=2048"]
        atheris.Setup([sys.argv[0], *limits, str(corpus)], count)
        atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
