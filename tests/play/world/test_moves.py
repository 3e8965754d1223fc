"""The move list of the book's listings 8.1 and 8.2."""

from epic_cli.play.world import MOST_MOVES, Control, MoveList


def filled(*timestamps: int) -> MoveList:
    moves = MoveList()
    for timestamp in timestamps:
        moves.add_move_if_new(Control(), timestamp)
    return moves


def test_the_first_move_lasts_no_time_and_the_others_since_the_one_before() -> None:
    assert [move.duration_us for move in filled(100, 133, 199)] == [0, 33, 66]


def test_a_move_that_is_not_newer_is_not_added() -> None:
    moves = filled(100, 133)
    assert moves.add_move_if_new(Control(), 133) is None
    assert moves.add_move_if_new(Control(), 50) is None
    assert len(moves) == 2


def test_a_move_lasts_no_longer_than_it_may() -> None:
    moves = filled(100)
    added = moves.add_move_if_new(Control(), 10_000_000, longest_us=250_000)
    assert added is not None
    assert added.duration_us == 250_000


def test_processed_moves_are_removed_up_to_the_timestamp() -> None:
    moves = filled(100, 133, 166, 199)
    moves.remove_processed(150)
    assert [move.timestamp_us for move in moves] == [166, 199]
    moves.remove_processed(199)
    assert not moves
    # what has been removed is still not new
    assert moves.add_move_if_new(Control(), 199) is None


def test_the_three_newest_are_sent() -> None:
    assert [move.timestamp_us for move in filled(1, 2, 3, 4, 5).list_newest()] == [3, 4, 5]
    assert [move.timestamp_us for move in filled(1, 2).list_newest()] == [1, 2]


def test_a_client_that_hears_nothing_keeps_a_bounded_list() -> None:
    assert len(filled(*range(2 * MOST_MOVES))) == MOST_MOVES
