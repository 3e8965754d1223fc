"""Links by name, each as its source has published it; every delay is one way.

- Unity: the Network Simulator of Unity's Multiplayer Tools 2, whose manual lists its presets
  (docs-multiplayer.unity3d.com/tools/current/tools-network-simulator). Its packet delay and jitter
  (the greatest deviation) hold for each packet on its way; it has no rate.
- WebPageTest: www/settings/connectivity.ini.sample in github.com/catchpoint/WebPageTest. Rates
  in and out and a round trip, of which half is taken; no jitter, no loss. Its queue is not
  specified: a packet waits at most 1 s here.
"""

from __future__ import annotations

from typing import NamedTuple

from epic_cli.engine.parameter_base import nearest
from epic_cli.network.conditions import LinkConditions, QueueLimit

UNITY = "Unity Multiplayer Tools 2"
WEB_PAGE_TEST = "WebPageTest"


class Preset(NamedTuple):
    """A named link: a description, conditions down to and up from a player, and the source."""

    name: str
    meaning: str
    down: LinkConditions
    up: LinkConditions
    source: str


def _unity(name: str, meaning: str, delay: int, jitter: int, loss: int) -> Preset:
    """Milliseconds, and percent."""
    link = LinkConditions(delay / 1000, jitter / 1000, loss=loss / 100)
    return Preset(name, meaning, link, link, UNITY)


def _web(name: str, meaning: str, down: int, up: int, round_trip: int) -> Preset:
    """Kilobits a second, and milliseconds."""

    def way(rate: int) -> LinkConditions:
        return LinkConditions(round_trip / 2000, rate=1000.0 * rate, queue=QueueLimit(1.0))

    return Preset(name, meaning, way(down), way(up), WEB_PAGE_TEST)


#: By name.
PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        _unity("broadband", "a typical home: Wi-Fi, cable, console, PC", 32, 12, 2),
        _unity("wifi", "the same: a typical home", 32, 12, 2),
        _unity("fiber", "fiber at home", 10, 1, 0),
        _unity("cable", "cable at home", 25, 5, 0),
        _unity("dsl", "ADSL or VDSL at home", 30, 10, 0),
        _unity("satellite", "a satellite in a low orbit", 100, 10, 0),
        _unity("congested", "a home whose line is full", 50, 50, 1),
        _unity("2g", "CDMA, GSM", 520, 50, 7),
        _unity("2.5g", "GPRS", 480, 40, 7),
        _unity("2.75g", "EDGE", 440, 40, 7),
        _unity("3g", "WCDMA, UMTS", 360, 30, 7),
        _unity("3.5g", "HSDPA", 160, 30, 6),
        _unity("3.75g", "HSPA+", 130, 30, 6),
        _unity("4g", "LTE", 100, 20, 4),
        _unity("lte", "the same: 4G", 100, 20, 4),
        _unity("4.5g", "LTE Advanced", 80, 20, 4),
        _unity("5g", "5G", 30, 20, 4),
        _web("web-cable", "cable", 5000, 1000, 28),
        _web("web-dsl", "DSL", 1500, 384, 50),
        _web("web-fios", "fiber (FIOS)", 20000, 5000, 4),
        _web("web-dial", "a modem on the telephone", 49, 30, 120),
        _web("web-3g-fast", "mobile 3G, fast", 1600, 768, 150),
        _web("web-3g", "mobile 3G", 1600, 768, 300),
        _web("web-3g-slow", "mobile 3G, slow", 780, 330, 200),
        _web("web-edge", "mobile EDGE", 240, 200, 840),
        _web("web-2g", "mobile 2G", 35, 32, 1300),
    )
}


def find_preset(name: str) -> Preset:
    """The preset of this name; raises ``ValueError``, with the nearest name."""
    if name in PRESETS:
        return PRESETS[name]
    near = nearest(name, list(PRESETS))
    raise ValueError(f"did you mean {near!r}?" if near else f"it must be {', '.join(PRESETS)}")
