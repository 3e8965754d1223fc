from epic_cli.lab.spec import OPENING, read_query


def test_an_empty_address_is_the_opening_and_so_is_its_query() -> None:
    assert read_query("") == read_query(OPENING.query()) == OPENING
