import pytest

from epic_cli.jobs.check import report


@pytest.mark.parametrize(
    ("cells", "shown"),
    [
        (("held", "interpolated"), ("held", "interpolated")),
        (("", "0.12345678901"), ("", "0.12345678901")),
        (("0.123456789012", "0.123456999999"), ("0.1234568", "0.123457")),
        (("0.5", "0.25"), ("0.5", "0.25")),
        (("1.0000000000", "1.00000000000"), ("1.0000000000", "1.00000000000")),
    ],
)
def test_numbers_have_the_digits_by_which_they_differ(
    cells: tuple[str, ...], shown: tuple[str, ...]
) -> None:
    assert report._shorten_numbers(*cells) == shown
