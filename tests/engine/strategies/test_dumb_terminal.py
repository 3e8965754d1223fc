"""The dumb terminal: the last received state, held."""

from epic_cli import Packet, replay, strategy


def test_it_shows_each_state_until_the_next_one_comes() -> None:
    # the book's figure 8.2: 60 frames a second, a state every four of them
    packets = [Packet((0, 0, float(4 * k)), (0, 0, 60), k / 15, k / 15) for k in range(5)]
    drawn = [s.position[2] for s in replay(packets, "dumb-terminal", tick="1/60")]
    assert drawn[:16] == [0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12]


def test_a_late_state_is_not_shown() -> None:
    one = strategy("dumb-terminal")
    assert one.update(Packet((2, 0, 0), (1, 0, 0), 0.2), 0.3)
    assert not one.update(Packet((1, 0, 0), (1, 0, 0), 0.1), 0.31)
    drawn = one.read(0.4)
    assert (drawn.position, drawn.velocity, drawn.status) == ((2, 0, 0), (1, 0, 0), "held")
