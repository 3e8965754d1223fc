"""A player in a running match: his machine, his link and whoever steers him."""

from __future__ import annotations

from dataclasses import dataclass

from epic_cli.play.client.client import Client
from epic_cli.play.match.bots import Controller
from epic_cli.play.match.one_way_link import OneWayLink
from epic_cli.play.match.settings import PlayerConfig
from epic_cli.play.world.clock import MachineClock
from epic_cli.play.world.fixed_step import FixedStepLoop


@dataclass
class Participant:
    """What a ``PlayerConfig`` becomes; ``frames`` is the loop of his client, on his ``clock``."""

    config: PlayerConfig
    client: Client
    clock: MachineClock
    frames: FixedStepLoop
    up: OneWayLink
    down: OneWayLink
    controller: Controller
