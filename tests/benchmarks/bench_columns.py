"""Tables in memory and in files, beside the same rows as CSV and beside other libraries.

    python tests/benchmarks/bench_columns.py [--rows 2000000] [--runs 5]

Each pair of runs is two processes, one after the other; the ratios of their CPU seconds (of all
cores) are printed. The time to make a table is taken off. Needs pandas, Polars, PyArrow, DuckDB and
python-calamine.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

EPIC = str(Path(sys.executable).with_name("epic"))

#: How a table is made from ``rows.parquet``, and what is measured of it.
_FRAMES = {
    "NumPy": "import numpy as np; t = {k: v for k, v in np.load('rows.npz').items()}",
    "PyArrow": "import pyarrow.parquet as pq; t = pq.read_table('rows.parquet')",
    "Polars": "import polars; t = polars.read_parquet('rows.parquet')",
    "pandas": "import pandas; t = pandas.read_csv('rows.csv')",
    "DuckDB": "import duckdb; t = duckdb.sql(\"FROM 'rows.parquet'\")",
}
_REPLAY = (
    "; import time; begin = time.process_time(); import epic_cli; epic_cli.replay_array(t, 'lerp');"
    " print(time.process_time() - begin)"
)


def make_files(folder: Path, rows: int, few: int) -> None:
    """Write 64 entities on sums of sines at 20 Hz in each format."""
    index = np.arange(rows)
    time, phase = (index // 64) * 0.05, (index % 64) * 0.3
    columns = {
        "entity": np.array([f"p{number}" for number in range(64)])[index % 64],
        "time": np.round(time, 3),
        "x": np.round(100 * np.sin(time / 7 + phase), 4),
        "y": np.round(80 * np.cos(time / 5 + phase), 4),
        "z": np.round(10 * np.sin(time / 3), 3),
        "vx": np.round(100 / 7 * np.cos(time / 7 + phase), 3),
        "vy": np.round(-16 * np.sin(time / 5 + phase), 3),
        "vz": np.round(10 / 3 * np.cos(time / 3), 3),
    }
    table = pa.table(columns)
    pa_csv.write_csv(table, folder / "rows.csv", pa_csv.WriteOptions(quoting_style="none"))
    pq.write_table(table, folder / "rows.parquet")
    np.savez(folder / "rows.npz", **columns)  # type: ignore[arg-type]
    pa_csv.write_csv(table[:few], folder / "few.csv", pa_csv.WriteOptions(quoting_style="none"))
    base = sqlite3.connect(folder / "few.db")
    base.execute(f"CREATE TABLE packets ({', '.join(columns)})")
    base.executemany(
        "INSERT INTO packets VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        zip(*(column[:few].tolist() for column in columns.values()), strict=True),
    )
    base.commit()


def write_sheet(folder: Path) -> None:
    """Write ``few.csv`` as a workbook of one sheet."""
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    main_name = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    relation = (
        f'<Relationships xmlns="{package}">'
        f'<Relationship Id="r1" Type="{office}/{{}}" Target="{{}}"/></Relationships>'
    )

    def write_cell(place: str, text: str) -> str:
        if text.strip("-.").replace(".", "").replace("e-", "").isdigit():
            return f'<c r="{place}"><v>{text}</v></c>'
        return f'<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>'

    with zipfile.ZipFile(folder / "few.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_rels/.rels", relation.format("officeDocument", "xl/workbook.xml"))
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{main_name}" xmlns:r="{office}"><sheets>'
            '<sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
        )
        archive.writestr("xl/_rels/workbook.xml.rels", relation.format("worksheet", "s.xml"))
        with archive.open("xl/s.xml", "w") as sheet:
            sheet.write(f'<worksheet xmlns="{main_name}"><sheetData>'.encode())
            for number, line in enumerate((folder / "few.csv").read_text().splitlines(), 1):
                cells = zip("ABCDEFGH", line.replace('"', "").split(","), strict=True)
                row = "".join(write_cell(f"{letter}{number}", text) for letter, text in cells)
                sheet.write(f'<row r="{number}">{row}</row>'.encode())
            sheet.write(b"</sheetData></worksheet>")


def measure(command: list[str], folder: Path) -> float:
    """Run a command; return its CPU seconds, or those that it prints for a part of its own."""
    with (folder / "out").open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, cwd=folder)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    if command[-1].endswith(_REPLAY):
        return float((folder / "out").read_text().split()[-1])  # DuckDB shows its progress
    return usage.ru_utime + usage.ru_stime


def in_python(code: str) -> list[str]:
    """Return the command that runs some Python."""
    return [sys.executable, "-c", code]


def list_pairs() -> list[tuple[str, list[str], list[str], float]]:
    """Return what is compared: a name, two commands, the highest ratio wanted."""
    csv = [EPIC, "replay", "-q", "-s", "lerp", "-f", "csv", "rows.csv"]
    own = {name: (in_python(code + _REPLAY), csv, 0.6) for name, code in _FRAMES.items()}
    polars = "import polars; polars.read_{}('rows.{}').{}"
    few = [EPIC, "replay", "-q", "-s", "lerp", "-f", "csv"]
    select = "import sqlite3; sqlite3.connect('few.db').execute('SELECT * FROM packets').fetchall()"
    sheet = (
        "import python_calamine as c;"
        " c.CalamineWorkbook.from_path('few.xlsx').get_sheet_by_index(0).to_python()"
    )

    def convert(source: str, to: str) -> list[str]:
        return [EPIC, "convert", "-q", source, "--to", to, "-o", f"made.{to}"]

    pairs = {f"replay_array of {name}, epic replay of CSV": pair for name, pair in own.items()}
    return [
        *((name, *pair) for name, pair in pairs.items()),
        ("epic replay of Parquet, of CSV", [*csv[:-1], "rows.parquet"], csv, 1.0),
        ("convert CSV to Parquet, Polars", convert("rows.csv", "parquet"),
         in_python(polars.format("csv", "csv", "write_parquet('o.parquet')")), 1.5),
        ("convert Parquet to CSV, Polars", convert("rows.parquet", "csv"),
         in_python(polars.format("parquet", "parquet", "write_csv('o.csv')")), 1.2),
        ("convert Parquet to JSON lines, Polars", convert("rows.parquet", "jsonl"),
         in_python(polars.format("parquet", "parquet", "write_ndjson('o.jsonl')")), 1.2),
        ("epic replay of SQLite, fetchall", [*few, "few.db"], in_python(select), 1.5),
        ("epic replay of Excel, calamine's to_python", [*few, "few.xlsx"], in_python(sheet), 1.3),
    ]  # fmt: skip


def main() -> None:
    """Measure all pairs, and print their ratios."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--few", type=int, default=200_000, help="rows of SQLite and Excel")
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_files(folder, arguments.rows, arguments.few)
        write_sheet(folder)
        print(f"{'':48} {'ratio':>5} {'wanted':>6} {'CPU s':>6}")
        for title, first, second, wanted in list_pairs():
            ratios, seconds = [], []
            for _ in range(arguments.runs):
                taken = measure(first, folder)
                seconds.append(taken)
                ratios.append(taken / measure(second, folder))
            print(
                f"{title:48} {statistics.median(ratios):5.2f} {wanted:6.1f}"
                f" {statistics.median(seconds):6.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
