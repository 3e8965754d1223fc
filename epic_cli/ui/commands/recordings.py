"""The recordings that a command means: files, folders, and which entity of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from epic_cli.formats.recordings import recordings_in
from epic_cli.ui.io.errors import CannotAccess, WrongUsage

if TYPE_CHECKING:
    from epic_cli.engine.packets import PacketBlock


def recordings_of(given: Sequence[str], truth: str | None = None) -> list[str]:
    """The files that are meant, those of a folder by name; none: standard input.

    The truth is none of them. Raises ``CannotAccess``.
    """
    found: list[str] = []
    for name in given or ("-",):
        try:
            inside = [name] if name == "-" else recordings_in(name)
        except OSError as error:
            raise CannotAccess("read", name, error) from error
        found += [one for one in inside if one == name or one != truth]
    return found


def of_entity(
    packets: dict[str, PacketBlock], entity: str | None, name: str
) -> dict[str, PacketBlock]:
    """The packets of one entity, or of all; raises ``WrongUsage``."""
    if entity is None:
        return packets
    if entity not in packets:
        there = ", ".join(sorted(filter(None, packets))[:8]) or "no named ones"
        raise WrongUsage(f"{name}: there is no entity {entity!r}; there are: {there}")
    return {entity: packets[entity]}
