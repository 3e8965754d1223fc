"""The link of a proxy as sliders on a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from epic_cli.live.proxy.spec import LinkController
from epic_cli.network.link import LINK, PERFECT
from epic_cli.network.link_spec import PRESET
from epic_cli.show.page import describe_control, write_value

#: The settings without packet_size, since datagrams have their own.
_LINK = tuple(quantity for quantity in LINK if quantity.name != "packet_size")


class LinkControls:
    """The sliders for a proxy's link; ``answer`` runs the commands that they send."""

    def __init__(self, links: LinkController, answer: Callable[[str], str]) -> None:
        self._links, self._answer = links, answer

    def list_controls(self) -> list[dict[str, Any]]:
        """Return the page's controls of the link, each with its value on a perfect link."""
        words = [
            {**describe_control(quantity), "usual": write_value(quantity, PERFECT)}
            for quantity in _LINK
        ]
        return [{**describe_control(PRESET), "usual": ""}, *words]

    def run_command(self, command: str) -> str:
        """Run a command that a page sends; return the answer."""
        allowed = command.partition(" ")[0] in ("set", "blackout", "restore", "reset", "clear")
        return self._answer(command) if allowed else "error: pages cannot run this command"

    def list_states(self) -> dict[str, dict[str, str]]:
        """Return the value of each control, by direction."""
        found: dict[str, dict[str, str]] = {}
        for way, one in self._links.directions.items():
            found[way] = {about.name: write_value(about, one.conditions) for about in _LINK}
            found[way] |= {"preset": self._links.preset, "dark": "on" if one.blackout else ""}
        return found
