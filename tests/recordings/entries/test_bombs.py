"""Small files that declare, or decompress to, more than fits into memory are refused."""

from __future__ import annotations

import io
import random
import sqlite3
import tracemalloc
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from xml.parsers import expat

import pytest

from epic_cli.engine.text import SheetExtent
from epic_cli.recordings import Unreadable
from epic_cli.recordings.entries.workbook import Sqlite, Workbook, _XmlExtent

pytest.importorskip("python_calamine")

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELATED = "http://schemas.openxmlformats.org/package/2006/relationships"


def workbook(cells: dict[str, int], blank: int = 0, more: str = "", head: str = "") -> io.BytesIO:
    """Return a workbook of one sheet with these cells and ``more``, and this many blanks behind."""
    file = io.BytesIO()
    relation = f'<Relationship Id="r1" Type="{OFFICE}/%s" Target="%s"/>'
    relations = f'<Relationships xmlns="{RELATED}">{relation}</Relationships>'
    made = [f'<row><c r="{at}"><v>{value}</v></c></row>' for at, value in cells.items()]
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_rels/.rels", relations % ("officeDocument", "xl/workbook.xml"))
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>'
            '<sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
        )
        archive.writestr("xl/_rels/workbook.xml.rels", relations % ("worksheet", "s.xml"))
        with archive.open("xl/s.xml", "w") as sheet:
            rows = "".join(made) + more
            whole = f'{head}<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'
            sheet.write(whole.encode())
            for _ in range(blank >> 20):
                sheet.write(b" " * (1 << 20))
    file.seek(0)
    return file


def test_cells_far_apart_are_refused_before_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Unreadable, match="too far apart"):
        Workbook().iterate_tables(workbook({"A1": 1, "XFD1048576": 2}))
    monkeypatch.setattr("epic_cli.recordings.entries.workbook._UNPACKED", 5 << 20)
    with pytest.raises(Unreadable, match="512 MiB"):
        Workbook().iterate_tables(workbook({"A1": 1}, 6 << 20))


def test_wide_sheets_and_long_ones_are_read() -> None:
    for last in ("XFD2", "B1000000"):
        (sheet,) = Workbook().iterate_tables(workbook({"A1": 1, last: 2})).values()
        rows = [row for block in sheet() for row in block]
        assert next(iter(rows[0])) == 1
        assert list(rows[-1])[-1] == 2


FAR = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'


@pytest.mark.parametrize(
    "sheet",
    [
        workbook({"A1": 1, "I1048576": 2}, 10 << 20),  # its XML is long, but has two cells
        workbook({"A1": 1}, more=FAR.replace("XFD1048576", "xfd1048576")),
        workbook({"A1": 1}, more=FAR.replace("XFD1048576", "XFD0000001048576")),
        workbook({"A1": 1}, more=FAR.replace("XFD1048576", "XFD&#49;048576")),
        workbook({"A1": 1}, more=FAR.replace("XFD1048576", "ZZZZZZ9")),
        workbook({"A1": 1}, more="<row/>" * 70_000 + "<row>" + "<c><v>1</v></c>" * 200 + "</row>"),
        workbook({"A1": 1}, more=FAR, head='<!DOCTYPE c [<!ATTLIST c r CDATA "A1">]>'),
        workbook({"A1": 1}, more=FAR, head="<a></b>"),
    ],
    ids=[
        "padded",
        "small",
        "zeros",
        "entity",
        "wide",
        "counted",
        "type",
        "unpaired",
    ],
)
def test_cells_whose_places_are_hidden_are_refused_too(sheet: io.BytesIO) -> None:
    with pytest.raises(Unreadable, match=r"too far apart|as a sheet"):
        Workbook().iterate_tables(sheet)


@pytest.mark.parametrize(
    "more", ["<a>" * 300_000, "".join(f"<a{n}/>" for n in range(100_000))], ids=["deep", "names"]
)
def test_elements_without_cells_take_no_memory(more: str) -> None:
    sheet = workbook({"A1": 1}, more=more)
    tracemalloc.start()
    try:
        (rows,) = Workbook().iterate_tables(sheet).values()
        with suppress(Unreadable):
            assert [list(row) for block in rows() for row in block] == [[1]]
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
    finally:
        tracemalloc.stop()


def random_sheet(chance: random.Random) -> str:
    """Return rows of cells as programs write them, and now and then as none does."""
    cells = [
        chance.choice(['<c r="{}"><v>1</v></c>', '<c r="{}" s="1" t="n"/>', '<c s="1" r="{}"/>'])
        if chance.random() < 0.1
        else '<c r="{}"><v>1</v></c>'
        for _ in range(chance.randrange(1, 60))
    ]
    places = [f"{chance.choice(['A', 'Z', 'AB'])}{chance.randrange(1, 99)}" for _ in cells]
    text = "".join(cell.format(place) for cell, place in zip(cells, places, strict=True))
    odd = ["<!-- -->", "<x:c r='A1'/>", "<c/>", "<col/>", "<cols><col min='1'/></cols>", "&amp;"]
    odd += ["<?a b?>", '<?a <c r="B200"?>', "<é:c r='A1'/>", '<ç r="B200"/>', '<c\tr="A1"/>']
    return f"<row>{text}</row>" + "".join(chance.sample(odd, chance.randrange(3)))


def test_a_plain_sheet_has_the_extent_that_a_parser_finds() -> None:
    plain = 0
    for seed in range(300):
        chance = random.Random(seed)
        data = f"<?xml version='1.0'?><sheetData>{random_sheet(chance)}</sheetData>".encode()
        sheet, rest, size = SheetExtent(), b"", chance.choice([1 << 20, 700, 7])
        for begin in range(0, len(data), size):
            piece = rest + data[begin : begin + size]
            rest = piece[sheet.scan(piece) :]
        extent, parser = _XmlExtent(), expat.ParserCreate()
        parser.StartElementHandler = extent.begin_element
        parser.Parse(data.replace(b"x:", b""))
        plain += sheet.is_plain
        if sheet.is_plain:
            assert (sheet.rows, sheet.columns, sheet.cells) == (
                extent.rows, extent.columns, extent.cells
            )  # fmt: skip
            elements = data.count(b"</") + data.count(b"/>")
            assert sheet.elements == elements
    assert 50 < plain < 250


def test_a_sheet_that_the_library_cannot_read_is_refused() -> None:
    tables = Workbook().iterate_tables(
        workbook({"A1": 1}, more='<row><c r="A2" t="s"><v>9</v></c></row>')
    )
    with pytest.raises(Unreadable, match="'S' cannot be read"):
        list(tables["S"]())


@pytest.mark.parametrize(
    "view",
    [
        "SELECT 0 AS time, zeroblob(900000000) AS x",
        "SELECT 0 AS time, hex(zeroblob(400000000)) AS x",
        "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n) "
        "SELECT k AS time, k AS x FROM n WHERE k < 0",
    ],
)
def test_views_that_compute_without_end_are_refused(
    view: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("epic_cli.recordings.entries.workbook._STEPS", 10**6)
    path = tmp_path / "view.sqlite"
    base = sqlite3.connect(path)
    base.execute(f"CREATE VIEW packets AS {view}")
    base.close()
    with path.open("rb") as file:
        rows: Callable[[], object] = Sqlite().iterate_tables(file)["packets"]
        with pytest.raises(Unreadable, match="cannot be read"):
            list(rows())  # type: ignore[call-overload]


def test_a_look_into_sheets_that_are_all_one_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("epic_cli.recordings.entries.workbook._PATIENCE", -1.0)
    monkeypatch.setattr(Workbook, "iterate_tables", lambda *_: {"A": pytest.fail, "B": pytest.fail})
    with pytest.raises(Unreadable, match="which sheet"):
        Workbook().unpack(SimpleNamespace(open_file=lambda _: None), None)
