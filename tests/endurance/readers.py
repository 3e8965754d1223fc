"""Bytes that no program wrote through every reader, guided by what they reach.

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
from collections.abc import Callable, Iterator
from pathlib import Path

from support.typed_session import TypedSession

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
from epic_cli.recordings.wording import FrontEnd, in_words
from epic_cli.work.journal import ResultJournal, UnusableJournal, program_version

HERE = Path(__file__).parent
CORPUS = HERE / "corpus"
ENGINE = HERE.parents[1] / "epic_cli" / "engine"

PATTERN = r"(?P<time>[\d.]+) (?P<id>\w+) \((?P<x>[-\d.]+), (?P<y>[-\d.]+)\)"

#: Rows drawn of one recording: what is read is to be seen, not how long a gap is.
MOST_ROWS = 2000


def recording(kind: str) -> Callable[[bytes], str]:
    """Reads a recording in two pieces, draws its first rows and says what was refused."""

    def read(data: bytes) -> str:
        from epic_cli.engine.strategies import maker

        reader = make_reader(kind)
        middle = len(data) * (data[0] if data else 0) // 256
        stream = SampleStream(maker("lerp"), Timing(pacing="arrival", latency=0.1))
        writer = RowWriter("jsonl")
        rows, said = 0, []
        for piece, final in ((data[:middle], False), (data[middle:], True)):
            block = reader.scan(piece, final)
            for samples in stream.feed(block):
                writer.rows(samples, block.entities)
                rows += len(samples)
                if rows > MOST_ROWS:
                    return f"more than {MOST_ROWS} rows"
            said += [in_words(refusal, FrontEnd.COMMAND_LINE).what for refusal in block.refusals]
        return f"{rows} rows; {said}"

    return read


def table(read: Callable[[io.BytesIO], object]) -> Callable[[bytes], str]:
    """Reads a file that is taken whole or refused."""

    def take(data: bytes) -> str:
        try:
            read(io.BytesIO(data))
        except TableRefusal as refused:
            said = refused.problem.what
        except ValueError as error:
            said = str(error)
        else:
            return "taken"
        assert said
        return said

    return take


def file(kind: str, pattern: str | None = None) -> Callable[[bytes], str]:
    """Reads a file in this format through whatever is around it, up to its first packets."""
    spec = ReadSpec(format=kind, pattern=pattern)

    def take(data: bytes) -> str:
        rows = 0
        said: list[str] = []
        try:
            for block in reading.read(io.BytesIO(data), spec):
                rows += len(block)
                said += [
                    in_words(refusal, FrontEnd.COMMAND_LINE).what for refusal in block.refusals
                ]
                if rows > MOST_ROWS:
                    return f"more than {MOST_ROWS} rows"
        except (Unreadable, OSError) as refused:
            said.append(str(refused))
            assert said[-1]
        return f"{rows} rows; {said}"

    return take


@functools.cache
def scratch() -> Path:
    """A file of this process, in memory where that is possible."""
    memory = Path("/dev/shm")
    return Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None)) / "case.toml"


def case(data: bytes) -> str:
    """Reads a case file; nothing is drawn, and no code of it runs."""
    scratch().write_bytes(data)
    try:
        found = read_case(str(scratch()))
    except BrokenCase as broken:
        return str(broken)
    return f"taken: {len(str(found))} characters"


def answers(data: bytes) -> str:
    """Opens a journal of results, looks up what it holds, and goes on with it."""
    path = scratch().with_name("journal")
    data = re.sub(rb'"epic":"[^"]*"', b'"epic":"%b"' % program_version().encode(), data)
    path.write_bytes(data)
    try:
        with ResultJournal(str(path), "compare") as one:
            known = len(one)
            for name in re.findall(r"[0-9a-f]{64}", data.decode("latin-1")):
                one.find(name)
            one.add("0" * 64, known)
    except UnusableJournal as refused:
        return str(refused)
    with ResultJournal(str(path), "compare") as one:
        assert one.find("0" * 64) == known
    return f"{known} answers"


def datagrams(data: bytes) -> str:
    """Reads datagrams of any kind, one a line."""
    lines = data.split(b"\n")
    decoder = Decoder()
    found = sum(len(decoded.block) for decoded in decoder.read(lines) if decoded.block)
    return f"{found} packets"


def binary(data: bytes) -> str:
    """Reads records whose layout is the first line."""
    words, _, records = data.partition(b"\n")
    try:
        layout = RecordLayout(words.decode("utf-8", "replace"))
    except ValueError as refused:
        return str(refused) or "no words"
    found = Decoder(records=layout).read([records, records[: layout.size], records * 2])
    return f"{sum(len(decoded.block) for decoded in found if decoded.block)} packets"


def capture(data: bytes) -> str:
    """Reads a capture of a network, pcap or pcapng."""
    one = Capture(Ingest(IngestSpec()))
    packets = sum(len(block) for block in one.blocks(io.BytesIO(data).read))
    return f"{packets} packets of {one.frames} frames; {one.broken}; {one.words()}"


def commands(data: bytes) -> str:
    """Looks at a line as the session does before it is entered; nothing is run."""
    line = ":" + data.decode("utf-8", "surrogateescape").partition("\n")[0]
    return str(TypedSession().check(line))


#: The corpus that each harness in C++ begins with.
HARNESSES = {"scanner": "text", "records": "records"}

READERS: dict[str, Callable[[bytes], str]] = {
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
    """The corpus of a reader, which is kept small."""
    return [path.read_bytes() for path in sorted((CORPUS / name).glob("*"))]


class Count:
    """Calls a reader, counts, and ends when there has been enough."""

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
        """Since it began."""
        return time.monotonic() - self._begun

    def __call__(self, data: bytes) -> None:
        """One case."""
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
    """The most memory so far, KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def variant(chance: random.Random, known: list[bytes]) -> bytes:
    """One of the corpus with pieces taken out, put in, doubled or damaged."""
    data = bytearray(chance.choice(known))
    for _ in range(chance.randrange(1, 5)):
        place = chance.randrange(len(data) + 1)
        length = chance.choice((1, 1, 2, 5, 30))
        kind = chance.randrange(4)
        if kind == 0:
            del data[place : place + length]
        elif kind == 1:
            data[place:place] = chance.randbytes(length)
        elif kind == 2:
            other = chance.choice(known)
            begin = chance.randrange(len(other) + 1)
            data[place:place] = other[begin : begin + length]
        else:
            data[place : place + 1] = chance.choice((b"\n", b",", b'"', b"\0", b"-", b"e9", b"{"))
    return bytes(data)


def functions() -> Iterator[types.FunctionType]:
    """The project's own functions in Python, as far as they are loaded."""
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
    """Builds a harness in C++ and runs it until the time is over."""
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
    """Fuzzes one reader; ends with a crash report where something is not as it should be."""
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
