"""The simulation: how players run, brake, turn, slide along walls and bump."""

import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.play_oracle import Runner, walk, walk_into

from epic_cli.play.world import (
    DEFAULT_ARENA,
    RADIUS,
    SPEED,
    Arena,
    Body,
    Control,
    Rules,
    Weapon,
    find_first_hit,
    is_visible,
    measure_ray_to_player,
    measure_ray_to_wall,
)

OPEN = Rules(Arena(1000.0, 1000.0))
KEYS = st.tuples(st.integers(-1, 1), st.integers(-1, 1))


@given(st.lists(KEYS, min_size=1, max_size=40))
@settings(max_examples=60, deadline=None)
def test_running_is_as_the_oracle_has_it(keys: list[tuple[int, int]]) -> None:
    body, slow = Body(500.0, 500.0), Runner(500.0, 500.0)
    for key in keys:
        body = OPEN.simulate(body, Control(*key), 33_000).body
        slow = walk(slow, key, 33)
        assert body[:4] == pytest.approx((slow.x, slow.y, slow.vx, slow.vy), abs=1e-9)
        assert math.hypot(body.vx, body.vy) <= SPEED + 1e-9


@given(KEYS, st.integers(1, 8))
@settings(deadline=None)
def test_a_move_of_several_steps_is_the_steps_to_the_last_bit(
    keys: tuple[int, int], steps: int
) -> None:
    body = Body(500.0, 500.0, 3.0, -2.0)
    at_once = OPEN.simulate(body, Control(*keys), steps * 33_000).body
    for _ in range(steps):
        body = OPEN.simulate(body, Control(*keys), 33_000).body
    assert at_once == body


@given(st.lists(KEYS, max_size=200), st.sampled_from([(5.0, 12.0), (10.0, 5.5), (13.9, 18.0)]))
@settings(max_examples=60, deadline=None)
def test_nobody_gets_into_a_wall(keys: list[tuple[int, int]], start: tuple[float, float]) -> None:
    body = Body(*start)
    for key in keys:
        body = Rules().simulate(body, Control(*key), 33_000).body
        assert RADIUS <= body.x <= 24 - RADIUS
        assert RADIUS <= body.y <= 24 - RADIUS
        for left, bottom, right, top in DEFAULT_ARENA.blocks:
            assert not (
                left - RADIUS < body.x < right + RADIUS and bottom - RADIUS < body.y < top + RADIUS
            )


def test_a_wall_stops_one_axis_and_he_slides_along_the_other() -> None:
    body = Body(23.3, 12.0, 8.0, 0.0)
    for _ in range(10):
        body = Rules().simulate(body, Control(1, 1), 33_000).body
    assert (body.x, body.vx) == (24 - RADIUS, 0.0)
    assert body.y > 13


@given(st.floats(-1.1, 1.1), st.floats(-8, 8), st.floats(-8, 8))
@settings(deadline=None)
def test_a_bump_exchanges_the_velocities_along_the_line(
    aside: float, vx: float, other_vx: float
) -> None:
    mover, other = Body(500.0, 500.0, vx, 0.0), Body(501.1, 500.0 + aside, other_vx, 0.0)
    stepped = OPEN.simulate(mover, Control(1, 0), 33_000, {1: other})
    dvx, dvy = stepped.knocks.get(1, (0.0, 0.0))
    a, b = walk_into(Runner(*mover[:4]), Runner(*other[:4]), (1, 0))
    assert stepped.body[:4] == pytest.approx((a.x, a.y, a.vx, a.vy), abs=1e-9)
    assert (other.vx + dvx, other.vy + dvy) == pytest.approx((b.vx, b.vy), abs=1e-9)


def test_two_in_one_place_are_put_apart() -> None:
    stepped = OPEN.simulate(Body(5.0, 5.0), Control(), 33_000, {1: Body(5.0, 5.0)})
    assert stepped.body.position == (5.0 + 2 * RADIUS, 5.0)


def test_a_trigger_needs_a_loaded_weapon_and_a_steady_hand() -> None:
    fire = Control(weapon=Weapon.SHOT)
    first = OPEN.simulate(Body(5.0, 5.0), fire, 33_000)
    assert (first.weapon, first.body.reload_us) == (Weapon.SHOT, 400_000)
    assert OPEN.simulate(first.body, fire, 33_000).refused == "reloading"
    again = first.body
    for _ in range(13):
        again = OPEN.simulate(again, Control(), 33_000).body
    assert OPEN.simulate(again, fire, 33_000).weapon == Weapon.SHOT
    assert OPEN.simulate(again._replace(stun_us=50_000), fire, 33_000).refused == "stunned"


@pytest.mark.parametrize(
    ("origin", "aim", "reach"),
    [
        ((5.0, 12.0), (1.0, 0.0), 19.0),
        ((5.0, 5.0), (1.0, 0.0), 6.0),
        ((5.0, 5.0), (-1.0, 0.0), 5.0),
        ((12.0, 12.0), (0.0, 1.0), 4.0),
        ((2.0, 2.0), (0.6, 0.8), 14 / 0.8),
    ],
)
def test_a_ray_ends_at_the_first_wall(
    origin: tuple[float, float], aim: tuple[float, float], reach: float
) -> None:
    assert measure_ray_to_wall(DEFAULT_ARENA, origin, aim) == pytest.approx(reach)


def test_a_ray_meets_a_circle_where_geometry_says() -> None:
    assert measure_ray_to_player((0.0, 0.0), (1.0, 0.0), (5.0, 0.0)) == pytest.approx(5 - RADIUS)
    assert measure_ray_to_player((0.0, 0.0), (1.0, 0.0), (5.0, RADIUS)) == pytest.approx(5.0)
    assert measure_ray_to_player((0.0, 0.0), (1.0, 0.0), (5.0, RADIUS + 1e-9)) is None
    assert measure_ray_to_player((0.0, 0.0), (1.0, 0.0), (-5.0, 0.0)) is None


def test_the_nearest_is_hit_and_nobody_behind_a_wall() -> None:
    players = {1: (9.0, 12.0), 2: (7.0, 12.2)}
    assert find_first_hit(DEFAULT_ARENA, (5.0, 12.0), (1.0, 0.0), players) == 2
    assert find_first_hit(DEFAULT_ARENA, (5.0, 5.0), (1.0, 0.0), {1: (19.0, 5.0)}) is None
    assert not is_visible(DEFAULT_ARENA, (5.0, 5.0), (19.0, 5.0))
    assert is_visible(DEFAULT_ARENA, (5.0, 12.0), (19.0, 12.0))


ARROWS = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y]


@pytest.mark.parametrize("arrows", ARROWS)
def test_whoever_runs_turns_there_the_shorter_way(arrows: tuple[int, int]) -> None:
    for begun in range(0, 65_536, 4_099):
        body, headings = Body(500.0, 500.0, heading=begun), [begun]
        for _ in range(20):
            body = OPEN.simulate(body, Control(*arrows), 33_000).body
            headings.append(body.heading)
        steps = [(b - a + 32_768) % 65_536 - 32_768 for a, b in pairwise(headings)]
        assert max(map(abs, steps)) <= 2 * 65_536 * 0.033
        assert abs(sum(steps)) <= 32_768
        assert body.heading == round(math.atan2(arrows[1], arrows[0]) / math.tau * 65_536) % 65_536
        assert OPEN.simulate(body, Control(), 99_000).body.heading == body.heading


def test_whoever_shoots_looks_there() -> None:
    for degrees in (*range(0, 360, 7), 90, 180, 270):
        aim = (math.cos(math.radians(degrees)), math.sin(math.radians(degrees)))
        body = OPEN.simulate(Body(5.0, 5.0), Control(0, 1, Weapon.SHOT, aim), 33_000).body
        away = (body.heading / 65_536 * 360 - degrees + 180) % 360 - 180
        assert abs(away) < 0.006
        x, y, z, w = body.rotation
        assert (x, y) == (0, 0)
        assert (1 - 2 * z * z, 2 * z * w) == pytest.approx(aim, abs=1e-4)


def test_the_default_arena_is_the_same_seen_from_each_side() -> None:
    width, height, blocks = DEFAULT_ARENA
    assert {(width - c, b, width - a, d) for a, b, c, d in blocks} == {*map(tuple, blocks)}
    assert {(a, height - d, c, height - b) for a, b, c, d in blocks} == {*map(tuple, blocks)}
    assert width == height
    assert len(blocks) == 2
