"""The lines under the arenas: figures, what happened last, what is switched on, the keys."""

from __future__ import annotations

import math

from epic_cli.play.match.match import Match
from epic_cli.play.match.participant import Participant
from epic_cli.play.report.statistics import MatchStatistics
from epic_cli.play.world.events import Event

KEYS = ["arrows: run", ".: stop", "space: shoot", "x: throw", "Shift: less", "q: quit"]


def figures(statistics: MatchStatistics, you: Participant, other: Participant) -> list[str]:
    """Round trip, corrections, the drawn error and lag of the other player, hits."""
    client, local = you.client, you.client.local
    link = you.up.delays.mean + you.down.delays.mean
    drawn = statistics.remote(you.config.name, other.config.name)
    shots = statistics.shots(you.config.name)
    lag = "-" if math.isnan(drawn.lag) else f"{1000 * drawn.lag:.0f} ms"
    mean = 0.0 if math.isnan(drawn.mean) else drawn.mean
    return [
        f"rtt {1000 * client.round_trip.estimate:.0f}/{1000 * link:.0f} ms",
        f"corrected {local.corrections} (most {local.largest:.2f})",
        f"{other.config.name} off {mean:.2f}, late {lag}",
        f"hits {shots.rewound}, plain {shots.present}, of {shots.judged}",
    ]


def conditions(match: Match) -> list[str]:
    """The link and the send rate, each with its key."""
    settings, link = match.settings, match.settings.link
    loss = f"{100 * link.loss:g} %" if isinstance(link.loss, int | float) else "in bursts"
    where = [
        f"[l]atency {1000 * link.latency:g} ms",
        f"[j]itter {1000 * link.jitter:g} ms",
        f"l[o]ss {loss}",
    ]
    if settings.trace is not None:
        where = ["recorded network"]
    return [*where, f"[s]end rate {settings.send_rate:g}/s"]


def techniques(match: Match) -> list[str]:
    """What is switched on, each with its key."""
    settings = match.settings
    shown = (
        ("[p]rediction", settings.local != "dumb-terminal"),
        ("[r]eplay", settings.local == "reconciled"),
        ("s[m]oothing", settings.smoothing > 0),
        ("re[w]ind", settings.rewind),
    )
    switched = [f"{name} {'on' if on else 'OFF'}" for name, on in shown]
    return [*switched, f"[i]: {settings.remote_strategy}"]


def _about_shot(event: Event) -> str:
    details = event.details
    text = f"{event.player}'s shot {'HITS' if details['hit'] else 'MISSES'}"
    if not details["rewound"] and not details["present"]:
        return f"{text}, with rewind and without"
    with_rewind, without = ("hit" if details[one] else "miss" for one in ("rewound", "present"))
    text += f" (with rewind: {with_rewind}, without: {without})"
    if details["rewound"]:
        text += f"; the victim had moved {float(details['moved']):.2f}"
    return text + (", behind cover" if details["behind_cover"] else "")


def news(event: Event) -> str:
    """An event in a sentence; empty: it is not worth one."""
    details, who = event.details, event.player
    if event.what == "shot":
        return _about_shot(event)
    sentences = {
        "bump": f"{who} bumps into {details.get('other')}",
        "throw hit": f"{who}'s throw hits {details.get('victim')}",
        "effect refused": f"the server refuses to fire for {who}: {details.get('reason')}",
        "correction": f"{who} is corrected by {details.get('size', 0.0):.3f}",
        "set": f"set {details.get('change')}",
    }
    return f"{event.time:.1f} s: {sentences[event.what]}" if event.what in sentences else ""
