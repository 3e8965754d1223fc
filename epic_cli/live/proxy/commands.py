"""What scripts can say to a proxy that runs: a line for a command, and a line for its answer."""

from __future__ import annotations

import json
from collections.abc import Callable

from epic_cli.engine.parameters import nearest
from epic_cli.live.proxy.relay import Relay
from epic_cli.live.proxy.statistics import facts_of_client, facts_of_relay
from epic_cli.live.proxy.steering import Steering
from epic_cli.network.conditions import PERFECT as NO_LINK
from epic_cli.network.conditions import LinkConditions
from epic_cli.network.words import WAYS, Way, differences, write_words

#: Characters; a longer line is no command.
LONGEST_COMMAND = 4096

HELP = (
    "set WORD=VALUE ... (also up.WORD, down.WORD and preset=NAME), blackout [up|down],"
    " restore [up|down], reset, clear, show, stats, clients, help, quit"
)


class Commands:
    """Answers lines: ``ok``, ``ok`` with what was asked for, a JSON object, or ``error: ...``."""

    def __init__(self, steering: Steering, relay: Relay) -> None:
        self._steering = steering
        self._relay = relay
        self._verbs: dict[str, Callable[[str], str]] = {
            "set": self._set,
            "blackout": lambda rest: self._black_out(True, rest),
            "restore": lambda rest: self._black_out(False, rest),
            "reset": self._alone(steering.reset),
            "clear": self._alone(steering.clear),
            "show": self._alone(self._show),
            "stats": self._alone(lambda: json.dumps(facts_of_relay(relay))),
            "clients": self._alone(self._clients),
            "help": self._alone(lambda: f"ok {HELP}"),
            "quit": self._alone(relay.end),
        }

    def answer(self, line: str) -> str:
        """The answer to a command, without the end of its line."""
        verb, _, rest = line.strip().partition(" ")
        if "=" in verb:
            verb, rest = "set", line
        try:
            if verb not in self._verbs:
                near = nearest(verb, list(self._verbs)) if verb.isprintable() else None
                hint = f"did you mean {near}?" if near else f"there are {', '.join(self._verbs)}"
                raise ValueError(f"{_shown(verb)} is not a command: {hint}")
            return self._verbs[verb](rest.strip())
        except ValueError as error:
            return f"error: {error}"

    def _alone(self, act: Callable[[], str | None]) -> Callable[[str], str]:
        def answer(rest: str) -> str:
            if rest:
                raise ValueError(f"nothing follows this command, but {_shown(rest)} does")
            return act() or "ok"

        return answer

    def _set(self, rest: str) -> str:
        if not rest:
            raise ValueError("set what? write set loss=5% up.latency=40ms")
        try:
            self._steering.set_words(rest)
        except ValueError as error:
            raise ValueError(_escaped(str(error))) from error
        return self._show()

    def _black_out(self, on: bool, rest: str) -> str:
        self._steering.black_out(on, _ways(rest))
        return self._show()

    def _show(self) -> str:
        both = ((way, self._steering.directions[way]) for way in WAYS)
        return "ok " + "; ".join(
            f"{way} {'blackout' if one.blackout else words_of(one.conditions)}" for way, one in both
        )

    def _clients(self) -> str:
        clients = self._relay.clients.values()
        return json.dumps({"clients": [facts_of_client(one, self._relay) for one in clients]})


def words_of(conditions: LinkConditions) -> str:
    """A link in words that make the same link again; of a perfect one that it is that."""
    return write_words(differences(NO_LINK, conditions)) or "perfect"


def _ways(rest: str) -> tuple[Way, ...]:
    found = tuple(way for way in WAYS if rest in ("", way))
    if not found:
        raise ValueError(f"{_shown(rest)} is no direction: up, down, or nothing for both")
    return found


def _shown(text: str) -> str:
    return repr(text[:40] + "..." if len(text) > 40 else text)


def _escaped(text: str) -> str:
    """One line that cannot steer a terminal."""
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in text[:1000])
