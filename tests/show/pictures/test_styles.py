"""Lines can be distinguished on both backgrounds, also by color-blind people."""

from __future__ import annotations

import random
import re
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from epic_cli.engine.strategies import get_declaration, list_remote_names
from epic_cli.show.styles import BLACK, HUES, PALETTE, WHITE, choose_line_styles

PICTURES = Path(__file__).parents[2] / "pictures"


#: Linear RGB as it is seen: by most, and without one of the three kinds of cones
#: (Machado, Oliveira and Fernandes 2009, severity 1).
VISIONS = {
    "usual": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
         [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
         [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
         [0.004733, 0.691367, 0.303900]]
    ),
}  # fmt: skip

#: sRGB's primaries in CIE XYZ, and its white.
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
     [0.0193339, 0.1191920, 0.9503041]]
)  # fmt: skip
WHITE_POINT = np.array([0.95047, 1.0, 1.08883])


def linear(color: str) -> np.ndarray:
    values = np.array([int(color[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colors by WCAG 2.2."""
    high, low = sorted((float(XYZ[1] @ linear(color)) for color in (one, other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def lab(rgb: np.ndarray) -> np.ndarray:
    ratio = XYZ @ np.clip(rgb, 0, 1) / WHITE_POINT
    f = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def oklab(rgb: np.ndarray) -> np.ndarray:
    """Convert a color to Oklab (Ottosson 2020), times 100."""
    cones = np.array([[0.4122214708, 0.5363325363, 0.0514459929],
                      [0.2119034982, 0.6806995451, 0.1073969566],
                      [0.0883024619, 0.2817188376, 0.6299787005]])  # fmt: skip
    mixed = np.array([[0.2104542553, 0.7936177850, -0.0040720468],
                      [1.9779984951, -2.4285922050, 0.4505937099],
                      [0.0259040371, 0.7827717662, -0.8086757660]])  # fmt: skip
    return np.asarray(100 * mixed @ np.cbrt(cones @ np.clip(rgb, 0, 1)))


#: A kind of colour, its backgrounds, and how much it has to differ from these.
KINDS = (("light", (WHITE,), 4.5), ("dark", (BLACK,), 4.5), ("screen", (WHITE, BLACK), 3.0))


@pytest.mark.parametrize(("kind", "backgrounds", "least"), KINDS)
@pytest.mark.parametrize("vision", VISIONS)
def test_lines_can_be_seen_and_no_two_hues_look_alike(
    kind: str, backgrounds: tuple[str, ...], least: float, vision: str
) -> None:
    colors = [getattr(color, kind) for color in HUES]
    assert min(contrast(one, back) for one in colors for back in backgrounds) >= least
    # 2.3 is the least difference that is seen at all (Mahy et al. 1994)
    seen = [lab(VISIONS[vision] @ linear(color)) for color in colors]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 16
    seen = [oklab(VISIONS[vision] @ linear(color)) for color in colors]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > (
        13 if vision == "usual" else 9
    )


@pytest.mark.parametrize(("kind", "backgrounds", "least"), KINDS)
def test_each_shade_can_be_seen_and_told_from_all_others(
    kind: str, backgrounds: tuple[str, ...], least: float
) -> None:
    colors = [getattr(color, kind) for color in PALETTE]
    assert min(contrast(one, back) for one in colors for back in backgrounds) >= least
    seen = [oklab(linear(color)) for color in colors]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 6


def hue(color: str) -> float:
    """Return the hue of a color as an angle (degrees) in Oklab."""
    _, green, blue = oklab(linear(color))
    return float(np.degrees(np.arctan2(blue, green)))


def test_strategies_of_a_family_have_its_hue_and_no_two_strategies_one_color() -> None:
    styles = choose_line_styles(list_remote_names())
    families: dict[str, list[str]] = {}
    for name in list_remote_names():
        families.setdefault(get_declaration(name).family, []).append(name)
    assert len(families) == len(HUES)
    for family in families.values():
        hues = [hue(styles[name].light) for name in family]
        assert max(abs((a - b + 180) % 360 - 180) for a in hues for b in hues) < 70
        assert len({styles[name].pattern for name in family}) == len(family)
    assert len({style.color for style in styles.values()}) == len(styles)


@pytest.mark.parametrize("seed", range(20))
def test_a_strategy_has_one_color_and_no_two_of_a_picture_look_alike(seed: int) -> None:
    """The color does not depend on the other strategies, their order or settings."""
    own = random.Random(seed)
    names = [*list_remote_names(), "visual-offset", "mine", "drawn", "été\ud800"]
    team = [
        "+".join([name, *(f"k{n}={own.randrange(9)}" for n in range(own.randrange(3)))])
        for name in own.choices(names, k=own.randrange(1, 60))
    ]
    found = choose_line_styles(team)
    assert list(found) == list(choose_line_styles(own.sample(team, len(team))))
    assert len({(style.color, style.dashes) for style in found.values()}) == len(set(team))
    for label, style in found.items():
        alone = choose_line_styles([label])[label]
        assert PALETTE[style.color].plain == PALETTE[alone.color].plain  # its family's
        assert alone == choose_line_styles([label.partition("+")[0]]).popitem()[1]
        if label in list_remote_names():
            assert style == alone
    # colors stand twice only where a family has no more of them
    for plain in {color.plain for color in PALETTE}:
        shades = [k for k, color in enumerate(PALETTE) if color.plain == plain]
        some = [style.color for style in found.values() if style.color in shades]
        assert len(set(some)) == min(len(some), len(shades))


@pytest.mark.parametrize("file", sorted(PICTURES.glob("*.svg")), ids=lambda one: one.stem)
def test_the_text_of_committed_pictures_can_be_read(file: Path) -> None:
    """A browser ignores a rule of a class that is no CSS name."""
    text = file.read_text()
    rules = re.findall(r"(?:^|[\s},])(\.?[A-Za-z][\w-]*)\s*\{[^}]*?fill:\s*(#\w+)", text)
    fills = {name: full(color) for name, color in rules}
    found: list[tuple[float, str, str]] = []

    def look(
        parent: ElementTree.Element, areas: list[tuple[float, float, float, float, str]]
    ) -> None:
        for word in parent:
            kind, words = word.tag.rpartition("}")[2], "".join(word.itertext()).strip()
            x, y, width, height = (float(word.get(k, 0)) for k in ("x", "y", "width", "height"))
            fill = full(word.get("fill", ""))
            if kind == "rect" and fill:
                areas.append((x, y, x + width, y + height, fill))
            elif kind == "text" and words:
                (*_, back) = [
                    color
                    for left, top, right, bottom, color in areas
                    if left <= x + 1 <= right and top <= y - 4 <= bottom
                ]
                styled = re.findall(r"fill:(#\w+)", word.get("style", ""))
                classes = [f".{name}" for name in word.get("class", "").split()]
                styled += [fills[name] for name in (*classes, "text") if name in fills]
                color = (*styled, fill or "#000000")[0]
                found.append((contrast(color, back), color, words))
            elif kind == "g":
                everywhere = (-1e9, -1e9, 1e9, 1e9, areas[-1][4])
                look(word, [everywhere] if "transform" in word.attrib else [*areas])

    look(ElementTree.fromstring(text), [(-1e9, -1e9, 1e9, 1e9, "#ffffff")])
    assert len(found) > 5
    assert min(found)[0] > 3.5, min(found)


def full(color: str) -> str:
    """Expand ``#fff`` to ``#ffffff``; empty for no color."""
    if not color.startswith("#"):
        return ""
    return color if len(color) == 7 else "#" + "".join(2 * digit for digit in color[1:])
