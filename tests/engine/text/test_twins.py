"""The fast paths of the engine give the same bits as their plain twins.

The programs in ``twins`` are run with few random lines and rows here, and with millions in CI.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from support.recordings import EXHAUSTIVE, cut, scan_all

import epic_cli.engine
from epic_cli.engine.refusals import Reason
from epic_cli.engine.text import TextScanner

ENGINE = Path(epic_cli.engine.__file__).parent
HERE = Path(__file__).parent
COMPILER = os.environ.get("CXX", "g++").split()
USUAL = (
    b"1.5,-20.25,300 / -4.125,5.000,-6 / 7.05\n",
    b"1234567.1234567,0,-0.0 / 7.,08.50,9999999.9999999 / 100000.05 arrival=100000.1 seq=3\n",
    b"-1234.123456,5678.654321,-9.000001 / 0.100000,-12.345678,0.000000 / 1.000000\r\n",
)


@pytest.mark.skipif(shutil.which(COMPILER[0]) is None, reason="no C++ compiler")
@pytest.mark.parametrize("name", ["lines", "rows", "shortest"])
def test_random_input_gives_the_same_bits(name: str, tmp_path: Path) -> None:
    program = tmp_path / name
    flags = ["-O0", "-std=c++17", "-ffp-contract=off", "-fsanitize=address,undefined"]
    source = HERE / "twins" / f"verify_{name}.cpp"
    command = [*COMPILER, *flags, "-fno-sanitize-recover=all", f"-I{ENGINE}", str(source)]
    subprocess.run([*command, "-o", str(program)], check=True)
    count = "500000" if EXHAUSTIVE else "20000"
    done = subprocess.run([program, count, "1"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def scan(text: bytes, size: int, *, wide: bool) -> list[str]:
    """Return all packets and refusals of a text in pieces of this size, with their places."""
    scanner = TextScanner(wide=wide)
    packets: list[str] = []
    refusals: list[str] = []
    for block in scan_all(scanner, cut(text, size)):
        for index in range(len(block)):
            caret = block.make_refusal(index, Reason.TOO_FAR, "time").caret
            packets.append(f"{block.line(index)} {block.line_text(index)!r} {caret} {block[index]}")
        refusals += map(repr, block.refusals)
    return [*packets, *refusals, f"ended: {scanner.ended}"]


@pytest.mark.parametrize("line", USUAL)
def test_any_byte_in_any_place_of_a_usual_line(line: bytes) -> None:
    for byte in range(256):
        spoiled = [line[:at] + bytes([byte]) + line[at + 1 :] for at in range(len(line))]
        # one that ends the recording must not hide the others
        text = b"".join(chunk for chunk in spoiled if chunk[:1] not in b"q\0")
        assert scan(text, len(text), wide=True) == scan(text, len(text), wide=False)


@pytest.mark.parametrize("size", [*range(1, 70), 333, 1023, 1024, 4096])
def test_any_border_between_blocks(size: int) -> None:
    text = b"".join(USUAL) * 9 + USUAL[0].rstrip() + b" " * 1000 + b"\n" + USUAL[2] + USUAL[0]
    assert scan(text, size, wide=True) == scan(text, len(text), wide=False)


@pytest.mark.parametrize("end", [b"", b"\n", b"q\n", b"\0", b" entity=a\n1,2"])
def test_the_end_of_a_recording(end: bytes) -> None:
    text = USUAL[0] * 40 + USUAL[1].rstrip(b"\n") + end
    for size in (len(text), 64, 41):
        assert scan(text, size, wide=True) == scan(text, size, wide=False)


def test_names_are_numbered_in_their_order() -> None:
    text = b"".join(
        USUAL[0].rstrip() + b" entity=%d\n" % (number % 7) if number % 3 else USUAL[0]
        for number in range(100, 300)
    )
    assert scan(text, 999, wide=True) == scan(text, len(text), wide=False)
