"""Messages tell of senders' clocks that drift or were set."""

import pytest

from epic_cli.live.reports import (
    describe_clock_reset,
    format_milliseconds,
    summarize_listening,
)
from epic_cli.recordings.datagrams.ingest import Ingest, IngestSpec

NONE = Ingest(IngestSpec()).counts


NOTHING = "0 packets in 0 datagrams, 0 entities, 0 packets older than the one before\n"


@pytest.mark.parametrize(
    ("drifts", "words"),
    [
        ([None], ""),
        ([0.0], ""),
        ([5e-4], "the sender's clock runs slower by 500 ppm than the receiver's\n"),
        ([-1.2e-3], "the sender's clock runs faster by 1,200 ppm than the receiver's\n"),
        (
            [None, 1e-4, 0.0, -2e-4],
            "clocks of senders run slower by 100 ppm, faster by 200 ppm than the receiver's\n",
        ),
        (
            [1e-4] * 7,
            f"clocks of senders run {'slower by 100 ppm, ' * 5}... than the receiver's\n",
        ),
    ],
)
def test_the_drift_of_clocks_in_words(drifts: list[float | None], words: str) -> None:
    assert summarize_listening(NONE._replace(drifts=drifts), 0, 0) == NOTHING + words


def test_a_clock_that_was_set_in_words() -> None:
    for resets, step, words in (
        (0, 0.0, ""),
        (1, 12.34, "the game's clock was set once 12.3 s back; times continue from there"),
        (
            1234,
            -7.0,
            "the game's clock was set 1,234 times, the last time 7.0 s ahead; times continue from"
            " there",
        ),
    ):
        assert describe_clock_reset(NONE._replace(clock_resets=resets, clock_step=step)) == words


def test_times_have_three_digits_and_no_fraction_from_100_ms_on() -> None:
    times = 0.0012345, 0.012345, 0.12345, 1.2345, -0.25
    said = ["1.23 ms", "12.3 ms", "123 ms", "1,234 ms", "-250 ms"]
    assert [format_milliseconds(time) for time in times] == said
