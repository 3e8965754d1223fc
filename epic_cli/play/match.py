"""A match: clients and a server, each on its own clock, with links between them.

Everything that happens is an event at a whole microsecond of the match's time, so the same seed
and script give the same match, however it is watched.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import partial
from heapq import heappop, heappush

from epic_cli.engine.contract import SmoothingStrategy
from epic_cli.engine.strategies import create
from epic_cli.network.encoding import HEADERS
from epic_cli.network.link import Channel, fates
from epic_cli.network.randomness import make_generator
from epic_cli.network.sender import JUDGED
from epic_cli.play.bots import BOTS, Controller, ScriptedInput
from epic_cli.play.client import Client, Identity
from epic_cli.play.clock import CLOCK_SYNCS, ClockSync
from epic_cli.play.script import MOST_LINES, Script, parse_script, write_input
from epic_cli.play.server import Server
from epic_cli.play.spec import Change, MatchSpec, PlayerConfig, apply_change, describe
from epic_cli.play.world import (
    SECOND_US,
    Control,
    Event,
    FixedStepLoop,
    MachineClock,
    Value,
    convert_to_seconds,
    convert_to_us,
)

#: The kinds of events, in their order at the same microsecond.
_TO_SERVER, _TO_CLIENT, _TICK, _FRAME, _SAY, _CHANGE = range(6)

#: The delay between the starts of two clients' loops, so that they do not run in step.
PHASE_US = 7_000


class Match:
    """A match that can be run up to any time, and then further.

    ``controllers`` steer players (by name) in place of the script and the bots. ``on_frame`` is
    called after each frame of a client, ``on_change`` after each change of the settings,
    ``on_event`` with each event. ``fill_caption`` returns a caption with its placeholders filled.
    Raises ``ValueError`` for settings out of range and for names of players who do not take part.
    """

    def __init__(
        self,
        settings: MatchSpec,
        script: Script | None = None,
        controllers: Mapping[str, Controller] | None = None,
        on_frame: Callable[[MatchParticipant], None] = lambda _: None,
    ) -> None:
        self.script = script or Script()
        for change in self.script.beginning:
            settings = apply_change(settings, change)
        self.settings = settings
        self.now_us = 0
        self.events: list[Event] = []
        self.names = [player.name for player in settings.players]
        if len(set(self.names)) < len(self.names):
            raise ValueError(f"two players have the same name, rename one: {', '.join(self.names)}")
        tokens = [
            int(make_generator(settings.seed, f"token/{name}").random() * 2**32)
            for name in self.names
        ]
        self.server = Server(
            settings.rules,
            tokens,
            [player.spawn for player in settings.players],
            history=settings.history,
            rewind=settings.rewind,
            lag_compensation=settings.lag_compensation,
            view_delay=lambda: self.settings.view_delay,
            make_sender=settings.make_sender,
            report=self._report_server_event,
        )
        self.participants = [
            self._add_participant(number, token, controllers or {})
            for number, token in enumerate(tokens)
        ]
        self.on_change: Callable[[Change], None] = lambda _: None
        self.on_event: Callable[[Event], None] = lambda _: None
        self.fill_caption: Callable[[str], str] = lambda text: text
        self.on_frame = on_frame
        self._queue: list[tuple[int, int, int, Callable[[], None]]] = []
        self._order = 0
        self._links_changed = 0
        self._ticks = FixedStepLoop(_compute_period_us(settings.send_rate), 0)
        self._expect_sender()
        self._set_server_timer()
        for participant in self.participants:
            self._set_timer(participant)
        for time, change in self.script.changes:
            self._schedule_event(convert_to_us(time), _CHANGE, partial(self.change, change))
        for time, text in self.script.captions:
            self._schedule_event(convert_to_us(time), _SAY, partial(self._show_caption, text))

    @property
    def now(self) -> float:
        """The time since the match's beginning (s)."""
        return convert_to_seconds(self.now_us)

    @property
    def clipped(self) -> int:
        """The number of packets whose simulated delay was below 0 and became 0."""
        return sum(
            participant.up.clipped + participant.down.clipped for participant in self.participants
        )

    def run_until(self, seconds: float) -> None:
        """Run all events up to this time, inclusive."""
        end_us = convert_to_us(seconds)
        while self._queue and self._queue[0][0] <= end_us:
            self.now_us, _, _, action = heappop(self._queue)
            action()
        self.now_us = max(self.now_us, end_us)

    def take_events(self) -> list[Event]:
        """Return the events since the last call, and forget them."""
        events, self.events = self.events, []
        return events

    def change(self, change: Change) -> None:
        """Change a setting of the link, the send rate or a technique; raise ``ValueError``."""
        before = self.settings.compute_strategy_settings()
        self.settings = settings = apply_change(self.settings, change)
        name = change.name
        if change.is_of_link:
            self._links_changed += 1
            for participant in self.participants:
                for link in (participant.up, participant.down):
                    link.replace(settings.make_channel(f"{link.purpose}/{self._links_changed}"))
        elif name == "send":
            self._ticks.change_step(_compute_period_us(settings.send_rate))
        elif name == "rewind":
            self.server.weapons.rewind = settings.rewind
        elif name == "lag_compensation":
            self.server.change_compensation(settings.lag_compensation)
        elif name == "clock_sync":
            for participant in self.participants:
                participant.client.timekeeper.change_sync(self._make_clock_sync())
        follows = change.is_of_link or name == "send"
        changes_strategy = name.startswith("remote") or (
            follows and settings.compute_strategy_settings() != before
        )
        if name == "send" or (changes_strategy and settings.send.against == JUDGED):
            self.server.change_sender(settings.make_sender)
            self._expect_sender()
        for participant in self.participants:
            local = participant.client.local
            local.change_mode(settings.local)
            settings.smoothing_of_corrections.apply(local.smoothed)
            if changes_strategy:
                for remote in participant.client.remotes.values():
                    remote.change_strategy(self._make_strategy)
        self.on_change(change)
        self._add_event("match", "set", "", {"change": str(change)})

    def _expect_sender(self) -> None:
        """Tell the clients the encoding of other players' states from now on."""
        for participant in self.participants:
            participant.client.expect(self.server.epoch, self.settings.encoding)

    def _make_strategy(self) -> SmoothingStrategy:
        settings = self.settings
        return create(settings.remote_strategy, settings.compute_strategy_settings())

    def _make_clock_sync(self) -> ClockSync:
        return CLOCK_SYNCS[self.settings.clock_sync](self.settings.rules.step)

    def _add_participant(
        self, number: int, token: int, controllers: Mapping[str, Controller]
    ) -> MatchParticipant:
        settings, player = self.settings, self.settings.players[number]
        client = Client(
            Identity(number, self.names, token),
            settings.rules,
            player.spawn,
            settings.local,
            settings.smoothing_of_corrections,
            self._make_strategy,
            self._make_clock_sync(),
            lambda what, details: self._add_event(player.name, what, player.name, details),
        )
        clock = MachineClock(player.offset, player.rate, number * PHASE_US)
        up, down = f"up/{player.name}", f"down/{player.name}"
        return MatchParticipant(
            player,
            client,
            clock,
            FixedStepLoop(settings.rules.step_us, clock.start_us),
            OneWayLink(up, settings.make_channel(up)),
            OneWayLink(down, settings.make_channel(down)),
            controllers.get(player.name) or self._make_controller(player),
        )

    def _make_controller(self, player: PlayerConfig) -> Controller:
        if player.name in self.script.inputs:
            numbers = {name: number for number, name in enumerate(self.names)}
            return ScriptedInput(self.script.inputs[player.name], numbers, lambda: self.now)
        if player.bot not in BOTS:
            raise ValueError(f"no bot {player.bot!r}: choose from {', '.join(BOTS)}")
        return BOTS[player.bot](player.name, self.settings.seed)

    def _schedule_event(self, time_us: int, kind: int, action: Callable[[], None]) -> None:
        self._order += 1
        heappush(self._queue, (time_us, kind, self._order, action))

    def _set_server_timer(self) -> None:
        due_us = self._ticks.due_us
        self._schedule_event(due_us, _TICK, partial(self._run_server, due_us))

    def _run_server(self, now_us: int) -> None:
        """Run the server when its timer fires."""
        while self._ticks.advance(now_us):
            packets = self.server.tick(self._ticks.time_us, self._ticks.due_us)
            for participant in self.participants:
                data = packets[participant.client.identity.player]
                size = len(data) + HEADERS if self.settings.send.encoded else 0
                for arrival_us in participant.down.send(self.now_us, size):
                    self._schedule_event(
                        arrival_us, _TO_CLIENT, partial(self._receive_at_client, participant, data)
                    )
        self._set_server_timer()

    def _set_timer(self, participant: MatchParticipant) -> None:
        due_us = participant.frames.due_us
        steered = participant.client.timekeeper.clock
        # extra frames of a synchronization are due now
        when_us = max(
            participant.clock.compute_match_time(steered.convert_to_machine_time(due_us)),
            self.now_us,
        )
        self._schedule_event(when_us, _FRAME, partial(self._run_client, participant, due_us))

    def _run_client(self, participant: MatchParticipant, now_us: int) -> None:
        """Run a client when its timer fires, which was set to this time of the client's clock."""
        frames = participant.frames
        while frames.advance(now_us):
            data = participant.client.run_frame(frames.time_us, participant.controller)
            for arrival_us in participant.up.send(self.now_us) if data else ():
                self._schedule_event(arrival_us, _TO_SERVER, partial(self._receive_at_server, data))
            self.on_frame(participant)
        self._set_timer(participant)

    def _receive_at_server(self, data: bytes) -> None:
        self.server.receive(data, self.now_us)

    def _receive_at_client(self, participant: MatchParticipant, data: bytes) -> None:
        participant.client.receive(data, participant.clock.read(self.now_us))

    def _report_server_event(self, what: str, player: int, details: dict[str, Value]) -> None:
        for key in ("other", "victim"):
            if key in details:
                details[key] = self.names[int(details[key])]
        self._add_event("server", what, self.names[player], details)

    def _add_event(self, where: str, what: str, player: str, details: dict[str, Value]) -> None:
        event = Event(self.now, where, what, player, details)
        self.events.append(event)
        self.on_event(event)

    def _show_caption(self, caption: str) -> None:
        self._add_event("match", "say", "", {"text": self.fill_caption(caption)})


def _compute_period_us(rate: float) -> Fraction:
    """Return the exact period of this rate (hertz) in microseconds."""
    return Fraction(SECOND_US) / Fraction(rate)


class OneWayLink:
    """A link from a client to the server (``up/NAME``) or back (``down/NAME``).

    ``sent`` and ``lost`` count the packets of the whole match.
    """

    def __init__(self, purpose: str, channel: Channel) -> None:
        self.purpose = purpose
        self.sent = self.lost = 0
        self._clipped_before = 0
        self._use_channel(channel)

    def _use_channel(self, channel: Channel) -> None:
        self.channel = channel
        self._arrived = 0
        self._total_delay = 0.0

    @property
    def mean_delay(self) -> float:
        """The mean delay (s) since the channel was last replaced, duplicates included.

        NaN if unknown.
        """
        return self._total_delay / self._arrived if self._arrived else math.nan

    @property
    def clipped(self) -> int:
        """The number of packets whose simulated delay was below 0 and became 0."""
        return self._clipped_before + fates(self.channel).clipped

    def replace(self, channel: Channel) -> None:
        """Replace the channel, and measure only the new channel's delays."""
        self._clipped_before = self.clipped
        self._use_channel(channel)

    def send(self, now_us: int, size: int = 0) -> list[int]:
        """Send a packet of ``size`` bytes (0: the link's packet size); return its arrivals (us)."""
        time = convert_to_seconds(now_us)
        arrivals = () if self.channel.has_ended(time) else self.channel.send(time, size)
        self.sent += 1
        self.lost += not arrivals
        self._arrived += len(arrivals)
        for arrival in arrivals:
            self._total_delay += arrival - time
        return [convert_to_us(arrival) for arrival in arrivals]


@dataclass
class MatchParticipant:
    """A player in a match; ``frames`` is the loop of his client, on his ``clock``."""

    config: PlayerConfig
    client: Client
    clock: MachineClock
    frames: FixedStepLoop
    up: OneWayLink
    down: OneWayLink
    controller: Controller

    @property
    def round_trip(self) -> float:
        """The mean round trip (s) over the current link, which clients and server cannot see."""
        return self.up.mean_delay + self.down.mean_delay


class Unrecordable(ValueError):
    """An error for a match that no script can describe."""


class Recorder:
    """A recorder of a match's inputs and changes, from before its beginning.

    Bots are recorded like people, so a replay needs none. Raises ``Unrecordable``.
    """

    def __init__(self, match: Match) -> None:
        self._match = match
        self._head = "".join(f"set {change}\n" for change in describe(match.settings))
        _check_recordable(self._head, match.settings)
        # in the replay, a player who never moved must not be taken for a bot
        self._lines = [write_input(0.0, name, Control()) for name in match.names]
        for participant in match.participants:
            participant.controller = _record_controller(
                participant.config.name, participant.controller, self._record_line
            )
        match.on_change = self._record_line

    def write_script(self) -> str:
        """Return the script of the match so far; raise ``Unrecordable`` if it is too long."""
        script = f"{self._head}set duration={self._match.now!r}\n{''.join(self._lines)}"
        if len(self._lines) > MOST_LINES or script.count("\n") >= MOST_LINES:
            raise Unrecordable(f"a script has at most {MOST_LINES:,} lines: the match is too long")
        return script

    def _record_line(self, what: Change | tuple[str, Control]) -> None:
        now = self._match.now
        if len(self._lines) > MOST_LINES:
            return  # too long for a script already
        if isinstance(what, Change):
            self._lines.append(f"{now!r} set {what}\n")
        else:
            self._lines.append(write_input(now, *what))


def _record_controller(
    player: str, controller: Controller, note: Callable[[tuple[str, Control]], None]
) -> Controller:
    """Return a controller that also records each change of the player's input."""
    held = (0, 0)

    def control_and_record(client: Client) -> Control:
        nonlocal held
        control = controller(client)
        if (control.x, control.y) != held or control.weapon:
            held = (control.x, control.y)
            note((player, control))
        return control

    return control_and_record


def _check_recordable(head: str, settings: MatchSpec) -> None:
    """Raise ``Unrecordable`` if the written beginning of the script loses a setting."""
    names = [player.name for player in settings.players]
    again = MatchSpec()
    try:
        for change in parse_script(io.BytesIO(head.encode()), names).beginning:
            again = apply_change(again, change)
    except ValueError as error:
        raise Unrecordable(f"a script cannot hold this match: {error}") from error
    for field in fields(MatchSpec):
        if _remove_bots(getattr(again, field.name)) != _remove_bots(getattr(settings, field.name)):
            raise Unrecordable(
                f"a script cannot hold the {field.name.replace('_', ' ')} of a match"
            )


def _remove_bots(value: object) -> object:
    """Return a setting's value without bots, which a recorded match does not need."""
    if isinstance(value, tuple):
        return [replace(item, bot="") if isinstance(item, PlayerConfig) else item for item in value]
    return value
