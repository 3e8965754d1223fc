"""OpenDocument's sheets as LibreOffice writes them: equal cells and rows once, with a count."""

from __future__ import annotations

import io
import random
import zipfile
from itertools import chain, groupby
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.running import epic

from epic_cli import read_packets
from epic_cli.recordings import Unreadable
from epic_cli.recordings.entries.workbook import Workbook
from epic_cli.recordings.read_spec import ReadSpec

pytest.importorskip("python_calamine")

SPACES = "".join(
    f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "table", "text")
)
NAMES = ("time", "x", "y", "z", "vx", "vy", "vz")
Row = tuple[float | str | None, ...]


def cell(value: float | str | None, count: int) -> str:
    repeated = f' table:number-columns-repeated="{count}"' if count > 1 else ""
    if value is None:
        return f"<table:table-cell{repeated}/>"
    kind = "string" if isinstance(value, str) else "float"
    number = "" if isinstance(value, str) else f' office:value="{value!r}"'
    text = f"<text:p>{value}</text:p>"
    return (
        f'<table:table-cell{repeated} office:value-type="{kind}"{number}>{text}</table:table-cell>'
    )


def sheet(rows: list[Row]) -> bytes:
    """Return a workbook; behind each row and below the last, LibreOffice writes empty cells to the
    end.
    """
    body = ""
    for row, equal in groupby([*rows, *((),) * 9]):
        count = len(list(equal)) * (1 if row else 100_000)
        cells = "".join(cell(value, len(list(some))) for value, some in groupby(row))
        rest = '<table:table-cell table:number-columns-repeated="16370"/>'
        body += f'<table:table-row table:number-rows-repeated="{count}">{cells}{rest}'
        body += "</table:table-row>"
    table = f'<table:table table:name="Sheet1">{body}</table:table>'
    content = (
        f'<?xml version="1.0"?><office:document-content{SPACES} office:version="1.3">'
        f"<office:body><office:spreadsheet>{table}</office:spreadsheet></office:body>"
        "</office:document-content>"
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", content)
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
    return file.getvalue()


@pytest.mark.parametrize("seed", range(8))
def test_repeated_cells_and_rows_are_read_as_often(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    rows: list[Row] = []
    for index in range(60):
        row = (index / 10, *(float(rng.randint(0, 1)) for _ in NAMES[1:]))
        rows += [row] * rng.choice((1, 1, 1, 3))
    (tmp_path / "a.ods").write_bytes(sheet([NAMES, *rows]))
    with read_packets(tmp_path / "a.ods") as packets:
        found = [(packet.time, *packet.position, *(packet.velocity or ())) for packet in packets]
    assert found == rows


def test_empty_rows_are_passed_over_and_no_cells_are_made_up(tmp_path: Path) -> None:
    state = (0.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0)
    lacking = (0.2, None, None, 1.0, 2.0, 2.0, 2.0)
    rows: list[Row] = [NAMES, state, *[(None,) * 7] * 3, (0.1, *state[1:]), lacking]
    (tmp_path / "a.ods").write_bytes(sheet(rows))
    done = epic("convert", "--to", "csv", "a.ods", cwd=tmp_path)
    assert [line.split(b",")[1] for line in done.stdout.splitlines()[1:]] == [b"0", b"0.1"]
    assert done.stderr.count(b"expected") == 1
    assert b"a.ods:7:" in done.stderr


def with_rows(more: str) -> io.BytesIO:
    """Return a workbook with packets and the given rows below them."""
    data = sheet([NAMES, (0.0,) * 7])
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as given, zipfile.ZipFile(file, "w") as made:
        content = given.read("content.xml").decode()
        at = content.rindex('<table:table-row table:number-rows-repeated="900000"')
        for name in given.namelist():
            data = given.read(name)
            whole = f"{content[:at]}{more}{content[at:]}".encode()
            made.writestr(name, whole if name == "content.xml" else data)
    return file


def equal(rows: int, cells: int) -> str:
    zeros = f'<table:table-cell table:number-columns-repeated="{cells}" office:value-type="float"'
    bomb = f'<table:table-row table:number-rows-repeated="{rows}">{zeros} office:value="0"/>'
    return f"{bomb}</table:table-row>"


EMPTY = '<table:table-row table:number-rows-repeated="900000"><table:table-cell/></table:table-row>'


@pytest.mark.parametrize(
    "more",
    [
        equal(1, 10**9),
        equal(10**9, 1),
        equal(1000, 16384),
        EMPTY + equal(1, 100),
        equal(1, -1)[:-9],
    ],
    ids=["cells", "rows", "both", "empty", "unpaired"],
)
def test_counts_without_end_are_refused_before_they_are_made(more: str) -> None:
    with pytest.raises(Unreadable, match=r"too far apart|as a sheet"):
        Workbook().iterate_tables(with_rows(more))


def test_equal_rows_of_a_usual_number_are_made() -> None:
    (blocks,) = Workbook().iterate_tables(with_rows(EMPTY + equal(1000, 7))).values()
    rows = chain.from_iterable(blocks())
    assert sum(any(item != "" for item in row) for row in rows) == 1002


def test_a_workbook_has_a_thousand_sheets_at_most() -> None:
    more = '<table:table table:name="{}"><table:table-row><table:table-cell/></table:table-row>'
    every = ["</table:table>" + more.format(number) for number in range(1000)]
    assert len(Workbook().iterate_tables(with_rows("".join(every[:-1])))) == 1000
    with pytest.raises(Unreadable, match="more than 1,000 sheets"):
        Workbook().iterate_tables(with_rows("".join(every)))


def test_a_look_at_sheets_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    file = with_rows(equal(3, 7))
    source = SimpleNamespace(open_file=lambda _: file)
    assert b"time,x,y" in bytes(Workbook().unpack(source, None)())
    monkeypatch.setattr("epic_cli.recordings.entries.workbook._PATIENCE", -1.0)
    asked = ReadSpec(table="Sheet1")
    assert b"time,x,y" in bytes(Workbook().unpack(source, asked)())
