"""How many cells the sheets of a workbook have: known before the library makes all of them."""

from __future__ import annotations

from functools import reduce
from typing import IO

from epic_cli.recordings import Unreadable

#: A workbook unpacks to no more than this, to no more cells unless half of them are written, and
#: has no more elements of XML and sheets.
_UNPACKED, _CELLS, _ELEMENTS, SHEETS = 512 << 20, 8 << 20, 24 << 20, 1000

#: The member of an OpenDocument that has its sheets.
_ODS = "content.xml"

#: XFD1048576; and what the parser of XML holds at once: levels, names, bytes of a tag.
_PLACE, _DEEPEST, _DIFFERENT, _LONGEST_TAG = 10, 200, 2000, 8 << 20


def check_sizes(file: IO[bytes]) -> None:
    """Raises ``Unreadable`` where an archive takes far more memory than it has bytes.

    Every cell of XLSX is made that lies between the first and the last. Where they lie is read
    strictly: a cell that this did not see would be made all the same.
    """
    import zipfile

    with zipfile.ZipFile(file) as archive:
        if sum(one.file_size for one in archive.infolist()) > _UNPACKED:
            raise Unreadable("an archive that unpacks to more than 512 MiB: export a table as CSV")
        if any(one.filename.lower().endswith("workbook.bin") for one in archive.infolist()):
            raise Unreadable("a binary workbook (XLSB): save it as XLSX")
        elements = 0
        for one in archive.infolist():
            rest, is_sheet = b"", False
            with archive.open(one) as member:
                while part := member.read(1 << 20):
                    is_sheet |= one.filename == _ODS or b"sheetData" in rest + part
                    elements += part.count(b"</") + part.count(b"/>")
                    rest = part[-16:]
            if elements > _ELEMENTS:
                raise Unreadable("a workbook of too many cells or texts: export a table as CSV")
            if is_sheet:
                with archive.open(one) as member:
                    _check_extent(member, one.filename)
    file.seek(0)


def _check_extent(member: IO[bytes], name: str) -> None:
    from xml.parsers import expat

    extent, parser, read = _Extent(), expat.ParserCreate("utf-8"), 0
    parser.StartElementHandler = extent.begins
    parser.EndElementHandler = extent.ends
    parser.StartDoctypeDeclHandler = extent.declares  # it could give cells other places
    try:
        while part := member.read(1 << 20):
            parser.Parse(part)
            read += len(part)
            if read - parser.CurrentByteIndex > _LONGEST_TAG:
                raise ValueError("a tag is too long")
    except (expat.ExpatError, ValueError) as error:
        raise Unreadable(f"{name} in it is no sheet: {error}") from error
    if extent.area > max(_CELLS, 2 * extent.cells):
        raise Unreadable("a sheet whose cells lie too far apart: export it as CSV")


class _Extent:
    """How far a sheet's cells reach; where one has no place, it is right of the last.

    OpenDocument has all sheets in one, equal cells and rows once, with a count, and makes no empty
    ones behind the last.
    """

    def __init__(self) -> None:
        self.cells = self.rows = self.columns = self._column = self._depth = 0
        self._row = self._empty = self._before = 0
        self._names: set[str] = set()

    @property
    def area(self) -> int:
        """The cells that will be made."""
        return self._before + self.rows * self.columns

    def begins(self, name: str, attributes: dict[str, str]) -> None:
        """Raises ``ValueError`` at a place that no sheet has."""
        self._depth += 1
        self._names.update((name, *attributes))
        if self._depth > _DEEPEST or len(self._names) > _DIFFERENT:
            raise ValueError("its elements are too many or too deep")
        kind = name.rpartition(":")[2]
        if kind == "row":
            self.rows, self._column = max(self.rows + 1, int(attributes.get("r", 0))), 0
        elif kind == "c":
            self.cells += 1
            letters = attributes.get("r", "").rstrip("0123456789")
            if place := attributes.get("r"):
                if not letters.isalpha() or not place.isascii() or len(place) > _PLACE:
                    raise ValueError(f"there is no cell {place[:20]!r}")
                self._column = reduce(lambda n, c: 26 * n + ord(c) - 64, letters.upper(), 0)
                self.rows = max(self.rows, int(place[len(letters) :] or 0))
            else:
                self._column += 1
            self.columns = max(self.columns, self._column)
        elif kind == "table":
            self._before, self.rows, self.columns = self.area, 0, 0
            self._row = self._empty = 0
        elif kind == "table-row":
            self._empty += self._row
            self._row, self._column = _count(attributes, "number-rows-repeated"), 0
        elif kind.endswith("table-cell"):
            self._column += _count(attributes, "number-columns-repeated")
            if any(one.endswith("value-type") for one in attributes):
                self.cells += 1
                self.rows += self._empty + self._row
                self._empty = self._row = 0
                self.columns = max(self.columns, self._column)

    def ends(self, _: str) -> None:
        """The element that began last."""
        self._depth -= 1

    def declares(self, *_: object) -> None:
        """Raises ``ValueError``."""
        raise ValueError("it declares a document type")


def _count(attributes: dict[str, str], name: str) -> int:
    given = (value for key, value in attributes.items() if key.endswith(name))
    return max(int(next(given, 1)), 1)
