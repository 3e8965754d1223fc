"""Tables fit, whatever is in them and however narrow the screen is."""

from hypothesis import given
from hypothesis import strategies as st
from support.recordings import examples

from epic_cli.engine.text.widths import width
from epic_cli.views.report import KEPT, Column
from epic_cli.views.table import Row, described, fit

NAMES = st.text("ab日本e\u0301👨\u200d\x1b\n ", max_size=40)
NUMBERS = st.floats(-1e6, 1e6).map(lambda value: f"{value:.3g}")


@st.composite
def tables(draw: st.DrawFn) -> list[Column]:
    rows = draw(st.integers(1, 5))

    def column(cells: st.SearchStrategy[str]) -> list[str]:
        return draw(st.lists(cells, min_size=rows, max_size=rows))

    weights = draw(st.lists(st.integers(1, 20), max_size=8, unique=True))
    names = [Column("name", column(NAMES), shortest=6), Column("entity", column(NAMES), shortest=4)]
    numbers = [Column(f"n{weight}", column(NUMBERS), weight, right=True) for weight in weights]
    return names[: draw(st.integers(1, 2))] + numbers


@given(tables(), st.integers(20, 120))
@examples(300)
def test_no_line_is_wider_than_the_screen(columns: list[Column], room: int) -> None:
    fitted = fit(columns, room)
    lines = [line.plain for line in fitted.lines()]
    assert max(map(width, lines)) <= room
    assert len(lines) == 1 + len(columns[0].cells)
    kept = {column.title for column in fitted.columns}
    assert kept | set(fitted.left_out) == {column.title for column in columns}
    # a number is whole or not there at all
    for column in fitted.columns:
        if column.right:
            for cell, line in zip(column.cells, lines[1:], strict=True):
                assert cell in line


@given(tables(), st.integers(20, 120))
@examples(100)
def test_the_least_important_columns_go_first(columns: list[Column], room: int) -> None:
    fitted = fit(columns, room)
    kept = [column.weight for column in fitted.columns]
    gone = [column.weight for column in columns if column.title in fitted.left_out]
    assert max(gone, default=0) < min(kept)


def test_names_are_cut_before_columns_go() -> None:
    fitted = fit([Column("name", ["a" * 30], shortest=8), Column("x", ["1"], 1, right=True)], 20)
    assert [line.plain for line in fitted.lines()] == ["name               x", "a" * 16 + "…  1"]
    assert fitted.left_out == []


def test_what_stays_for_ever_is_cut_further() -> None:
    fitted = fit([Column("name", ["a" * 30], shortest=12), Column("x", ["1" * 12], KEPT)], 20)
    assert [line.plain for line in fitted.lines()] == ["name    x", "aaaaa…  " + "1" * 12]


@given(st.lists(st.tuples(NAMES, NAMES), min_size=1, max_size=5), st.integers(20, 120))
@examples(200)
def test_definitions_fit_beside_or_below(items: list[tuple[str, str]], room: int) -> None:
    rows = [Row((name,), text, ("bold",)) for name, text in items]
    assert all(width(line.plain) <= room for line in described(rows, room, "  "))
