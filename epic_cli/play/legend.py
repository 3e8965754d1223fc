"""The words on the game's screen: values and switches, news in sentences, a legend."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from epic_cli.engine.strategies import get_declaration
from epic_cli.engine.text.widths import wrap
from epic_cli.play.match import MatchParticipant
from epic_cli.play.script import list_scenario_titles
from epic_cli.play.spec import MatchSpec
from epic_cli.play.statistics import DrawnError, Shots
from epic_cli.play.world import Event

if TYPE_CHECKING:
    from epic_cli.show.full_screen import Fragment  # which loads prompt_toolkit

#: Marks, values and keys, each with a sentence; names of symbols stand in braces.
LEGEND = {
    "On the screens": (
        ("A B", "players as this screen draws them; the arrow beside one is where he looks"),
        ("a b", "their ghosts, on clients' screens: where the server has them at this moment. No"
         " ghost: the player is drawn exactly there"),
        ("{beam}", "a shot, on its shooter's screen at once, on the server's when it is judged;"
         " a hit is red"),
        ("{seen}", "where the shooter saw the player whom he hit"),
        ("*", "a thrown ball; {wall} is a wall"),
    ),
    "Below them": (
        ("strips", "the distance that a player moved in each frame, the newest at the right. Low:"
         " he stands, half: he runs, full: a jump. 'server' is the truth, 'drawn' your screen. Bars"
         " shifted right mean lag; gaps and spikes mean stutter"),
        ("rtt", "the round trip as your client measures it by the echo of its own stamps; then"
         " the link's, which only this program knows"),
        ("corrections", "how often the server's state moved you from your predicted position, and"
         " the longest such move"),
        ("B is drawn", "B's mean distance from his position on the server, and his lag, since the"
         " last switch"),
        ("hits", "shots that hit; then how many would hit with rewind, by what the shooter saw, and"
         " without it, by the positions when the server judges"),
    ),
    "Keys": (
        ("arrows .", "run; stop. You run on until another key is pressed"),
        ("space x", "shoot; throw. Both aim at the nearest player as your screen draws him"),
        ("p r w m", "switch prediction, move replay, rewind, smoothing of corrections. A line then"
         " says what the switch changes"),
        ("l j o s", "more latency, jitter, loss, packets a second; capitals: less"),
        ("i I", "the next strategy that draws the others; the one before"),
        ("t T", "faster; slower, down to a pause"),
        ("n N enter", "the next scenario of the book; the one before; restart. An arrow key takes"
         " over from the scenario's player"),
        ("b", "the screen that did not fit"),
        ("? q", "explain every mark and key; quit"),
    ),
}  # fmt: skip


def draw_legend(columns: int, symbols: dict[str, str]) -> list[Fragment]:
    """Return the lines of the legend."""
    lines: list[Fragment] = []
    for title, part in {**LEGEND, "Scenarios (n)": list_scenario_titles()}.items():
        room = min(max(len(mark) for mark, _ in part) + 2, columns // 2)
        lines.append(("class:news", title))
        for mark, words in part:
            pieces = wrap(words.format_map(symbols), columns - room)
            head = mark.format_map(symbols)
            if len(head) >= room:
                lines.append(("", head))
                head = ""
            for number, piece in enumerate(pieces):
                lines.append(("", f"{'' if number else head:<{room}}{piece}"))
    return lines


def describe_measurements(
    you: MatchParticipant, other: str, drawn: DrawnError, shots: Shots
) -> list[str]:
    """Return a line of values: round trip, corrections, the other player's error and lag, hits."""
    client, local = you.client, you.client.local
    link = "-" if math.isnan(you.round_trip) else f"{1000 * you.round_trip:.0f}"
    lag = "-" if math.isnan(drawn.lag) else f"{1000 * drawn.lag:.0f} ms"
    mean = 0.0 if math.isnan(drawn.mean) else drawn.mean
    return [
        f"rtt {1000 * client.round_trip.estimate:.0f} ms by echo, {link} by the link",
        f"corrections {local.corrections} (most {local.largest:.2f})",
        f"{other} is drawn {mean:.2f} off, {lag} late",
        f"hits {shots.hits} of {shots.judged} ({shots.rewound} with rewind,"
        f" {shots.present} without)",
    ]


def describe_conditions(settings: MatchSpec) -> list[str]:
    """Return a line: the link, the send rate and the speed, each with the key that changes it."""
    link = settings.link.down
    loss = f"{100 * link.loss:g} %" if isinstance(link.loss, int | float) else "in bursts"
    where = [
        f"[l]atency {1000 * link.latency:g} ms",
        f"[j]itter {1000 * link.jitter:g} ms",
        f"l[o]ss {loss}",
    ]
    if settings.trace is not None:
        where = ["recorded network"]
    speed = f"{settings.speed:g} x" if settings.speed else "PAUSE"
    return [*where, f"[s]end rate {settings.send_rate:g}/s", f"[t]ime {speed}"]


def describe_techniques(settings: MatchSpec) -> list[str]:
    """Return a line: the techniques, whether they are on, and the key that switches each."""
    shown = (
        ("[p]rediction", settings.local != "dumb-terminal"),
        ("[r]eplay", settings.local == "reconciled"),
        ("s[m]oothing", settings.smoothing > 0),
        ("re[w]ind", settings.rewind),
    )
    switched = [f"{name} {'on' if on else 'OFF'}" for name, on in shown]
    return [*switched, f"[i]: {settings.remote_strategy}"]


_LOCAL = {
    "dumb-terminal": "prediction OFF: a dumb terminal. You see your own key a round trip later, and"
    " only states that were true on the server",
    "predicted": "replay OFF: your client moves you at once and ignores the server's states of you;"
    " after a bump the two disagree for good",
    "reconciled": "prediction and replay on: you move at once; on each state of the server your"
    " client replays the moves that it lacks",
    "corrected": "prediction on, replay OFF: your client shifts your remembered states by their"
    " error",
    "lerped": "prediction on, replay OFF: you move at once, and each frame pulls you a share of the"
    " way to the server's last position of you",
}

PAUSE = "pause; t: continue, enter: restart, n: the next scenario"

#: A sentence about the new state, by the setting that a key has changed.
_SWITCH_SENTENCES: dict[str, Callable[[MatchSpec], str]] = {
    "local": lambda now: _LOCAL[now.local],
    "rewind": lambda now: (
        "rewind on: the server judges a shot by what its shooter saw; the victim may be behind"
        " cover by then"
        if now.rewind
        else "rewind OFF: the server judges a shot by the positions when it arrives; aim ahead"
    ),
    "smoothing": lambda now: (
        f"smoothing on: your corrections fade within {now.smoothing:g} s"
        if now.smoothing
        else "smoothing OFF: your corrections are jumps"
    ),
    "remote_strategy": lambda now: describe_strategy(now.remote_strategy),
    "latency": lambda now: (
        f"latency {1000 * now.link.down.latency:g} ms each way: a round trip of"
        f" {2000 * now.link.down.latency:g} ms"
    ),
    "jitter": lambda now: (
        f"jitter {1000 * now.link.down.jitter:g} ms: packets arrive that much earlier or later; a"
        " delay buffer waits for the late ones"
    ),
    "loss": lambda now: (
        f"loss {100 * float(now.link.down.loss):g} %: each move is sent in three packets; a lost"
        f" state"
        " leaves a gap"
        if isinstance(now.link.down.loss, int | float)
        else "losses come in bursts"
    ),
    "send": lambda now: (
        f"send rate {now.send_rate:g}/s: a packet period (PP) of {1000 / now.send_rate:.1f} ms"
    ),
    "speed": lambda now: f"the match runs at {now.speed:g} times its speed" if now.speed else PAUSE,
}  # fmt: skip


def describe_strategy(name: str) -> str:
    """Describe a strategy in a sentence."""
    about = get_declaration(name)
    return f"others drawn by {name}: {about.summary}. When packets are missing, it {about.on_loss}"


def _describe_shot(event: Event) -> str:
    details = event.details
    text = f"{event.player}'s shot {'HITS' if details['hit'] else 'MISSES'}"
    if not details["rewound"] and not details["present"]:
        return f"{text}, with rewind and without"
    with_rewind, without = ("hit" if details[world] else "miss" for world in ("rewound", "present"))
    text += f" (with rewind: {with_rewind}, without: {without})"
    if details["rewound"]:
        text += f"; the target had moved {float(details['moved']):.2f}"
    return text + (", behind cover" if details["behind_cover"] else "")


def describe_event(event: Event, now: MatchSpec, you: str) -> str:
    """Describe an event in a sentence; empty for events that the screen does not report."""
    details, who = event.details, event.player
    if event.what == "correction" and who != you:
        return ""
    if event.what == "shot":
        return _describe_shot(event)
    if event.what == "set":
        name, _, value = str(details["change"]).partition("=")
        if name.startswith("remote."):
            return ""
        describe = _SWITCH_SENTENCES.get(name)
        return describe(now) if describe else f"{name} is {value}"
    sentences = {
        "bump": f"{who} bumps into {details.get('other')}",
        "throw hit": f"{who}'s throw hits {details.get('victim')}",
        "predicted effect": f"{who}'s client shows a {details.get('weapon')} at once, before"
        " the server knows: a tell",
        "effect refused": f"the server refuses to fire for {who}, who is {details.get('reason')}:"
        f" the"
        " tell was unwarranted",
        "correction": f"{who} is corrected by {details.get('size', 0.0):.3f}",
    }
    return f"{event.time:.1f} s: {sentences[event.what]}" if event.what in sentences else ""
