"""Tables fit any screen, whatever their content."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from support.recordings import examples

from epic_cli.engine.text.widths import printable, width
from epic_cli.show.report import KEPT, Column
from epic_cli.show.text import DescribedRow, fit, write_described_rows

NAMES = st.text("ab日本e\u0301👨\u200d\x1b\n ", max_size=40)
NUMBERS = st.floats(-1e6, 1e6).map(lambda value: f"{value:.3g}")


@st.composite
def tables(draw: st.DrawFn) -> list[Column]:
    rows = draw(st.integers(1, 5))

    def column(cells: st.SearchStrategy[str]) -> list[str]:
        return draw(st.lists(cells, min_size=rows, max_size=rows))

    weights = draw(st.lists(st.integers(1, 20), max_size=8, unique=True))
    names = [Column("name", column(NAMES), text=True), Column("entity", column(NAMES), text=True)]
    numbers = [Column(f"n{weight}", column(NUMBERS), weight, right=True) for weight in weights]
    return names[: draw(st.integers(1, 2))] + numbers


@given(tables(), st.integers(20, 120))
@examples(300)
def test_no_line_is_wider_than_the_screen_and_no_name_is_cut(
    columns: list[Column], room: int
) -> None:
    fitted = fit(columns, room)
    lines = [line.plain for line in fitted.iterate_lines()]
    names = {printable(cell) for column in fitted.columns if column.text for cell in column.cells}
    assert max(width(line) for line in lines if line not in names) <= room
    for column in fitted.columns:
        for cell in column.cells:
            assert any(printable(cell).rstrip() in line for line in lines)
    kept = {column.title for column in fitted.columns}
    assert kept | set(fitted.left_out) == {column.title for column in columns}


@given(tables(), st.integers(20, 120))
@examples(100)
def test_the_least_important_columns_go_first(columns: list[Column], room: int) -> None:
    fitted = fit(columns, room)
    kept = [column.weight for column in fitted.columns]
    gone = [column.weight for column in columns if column.title in fitted.left_out]
    assert max(gone, default=0) < min(kept)


def test_long_names_have_lines_of_their_own() -> None:
    fitted = fit([Column("name", ["a" * 30], text=True), Column("x", ["1"], 1, right=True)], 20)
    assert [line.plain for line in fitted.iterate_lines()] == [
        "name               x",
        "a" * 30,
        " " * 19 + "1",
    ]
    assert fitted.left_out == []


def test_what_stays_for_ever_has_room_beside_any_name() -> None:
    fitted = fit([Column("name", ["a" * 30], text=True), Column("x", ["1" * 12], KEPT)], 20)
    assert [line.plain for line in fitted.iterate_lines()] == [
        "name    x",
        "a" * 30,
        " " * 8 + "1" * 12,
    ]


def test_a_wider_screen_shows_more_columns() -> None:
    names = Column("name", ["n" * 33, "short"], text=True)
    numbers = [Column(f"n{k}", ["123456", "1"], k, right=True) for k in range(1, 16)]
    shown = [len(fit([names, *numbers], room).columns) for room in (60, 100, 140)]
    assert shown == sorted(set(shown))


@given(st.lists(st.tuples(NAMES, NAMES), min_size=1, max_size=5), st.integers(20, 120))
@examples(200)
def test_definitions_fit_beside_or_below(items: list[tuple[str, str]], room: int) -> None:
    rows = [DescribedRow((name,), text, ("bold",)) for name, text in items]
    assert all(width(line.plain) <= room for line in write_described_rows(rows, room, "  "))


@given(tables(), st.integers(20, 120))
@examples(100)
def test_columns_that_always_stay_go_at_last_where_they_have_no_room(
    columns: list[Column], room: int
) -> None:
    fitted = fit([replace(column, weight=KEPT) for column in columns], room)
    names = {printable(cell) for column in fitted.columns if column.text for cell in column.cells}
    lines = [line.plain for line in fitted.iterate_lines()]
    assert max(width(line) for line in lines if line not in names) <= room
    assert [column.title for column in fitted.columns][:1] == [columns[0].title]
    kept = [column.title for column in fitted.columns if not column.text]
    assert kept == [column.title for column in columns if not column.text][: len(kept)]
