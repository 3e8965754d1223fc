"""Declarations of strategies, from which everything else about them is derived.

The checking of ``-s``, completion, ``epic strategies NAME``, the promises that the tests hold it
to, a tuner's bounds and the README's table all read these declarations.
"""

from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from epic_cli.engine.parameters import Converted, Setting, SettingError, Value, make_unknown_error


class Need(StrEnum):
    """A property that packets must have beyond positions and timestamps."""

    VELOCITY = "velocity"
    ARRIVALS = "arrival times"
    STEADY_RATE = "a steady send rate"
    CLOCKS = "clocks that agree"

    def unless(self, words: str) -> tuple["Need", str]:
        """Return the need with words for an alternative that satisfies the strategy as well."""
        return self, words


class LagVariation(NamedTuple):
    """The allowed variation of a strategy's lag at constant velocity on a perfect link.

    By default each row moves on by velocity times tick, so that the lag is constant. ``words`` go
    after "varies" and say where it does not, and why. The lag then stays within ``seconds``. In
    rows further apart than ``frame_above`` times the time between two packets, and with packets
    more than ``period_above`` seconds apart, it may vary by ``periods`` times the latter time and
    ``frames`` times the former as well.
    """

    words: str
    seconds: float = 0.0
    periods: float = 0.0
    frames: float = 0.0
    frame_above: float = 0.0
    period_above: float = 0.0

    def compute_most(self, period: float, frame: float) -> float:
        """Return the allowed variation of the lag (s) for these packet and row intervals."""
        if frame > self.frame_above * period and period > self.period_above:
            return self.seconds + self.periods * period + self.frames * frame
        return self.seconds


class OneClock(NamedTuple):
    """The settings with which a strategy takes the receiver's clock for the sender's.

    It does where each of ``when`` has this value. ``instead`` are the settings for clocks that
    differ, None for the send interval; empty if there are none.
    """

    when: tuple[tuple[str, Value], ...] = ()
    instead: tuple[tuple[str, Value | None], ...] = ()

    @property
    def advice(self) -> str:
        """Advice for clocks that differ."""
        settings = [name if value is None else f"{name}={value}" for name, value in self.instead]
        return f"set {' and '.join(settings)}" if settings else "no setting mends that"


class _DeclaredFields(NamedTuple):
    """The fields of a ``Declaration``."""

    name: str
    summary: str
    family: str = ""
    needs: tuple[Need | str | tuple[Need, str], ...] = ()
    lag: str = ""
    on_loss: str = ""
    source: str = ""
    proof: str = ""
    rotates: str = ""
    connection: str = ""
    estimates_velocity: bool = False
    own_player: bool = False
    takes_any_number: bool = False
    begins_at_origin: bool = False
    waits_for_two: bool = False
    aims_at_prediction: bool = False
    lag_varies: LagVariation | None = None
    lag_by_session: bool = False
    one_clock: OneClock | None = None
    settings: tuple[Setting, ...] = ()


class Declaration(_DeclaredFields):
    """A strategy's metadata.

    ``summary`` is one line. ``family`` groups strategies that work alike; that
    of a built-in one is its folder. ``needs`` names what
    its packets must have, each alone or with what does as well.
    ``lag`` says in words how far behind the newest state it draws. ``on_loss`` is what it draws
    when packets stay away. ``source`` is where the algorithm comes from, ``proof`` how the
    agreement with it was established.

    A packet without a velocity reaches a strategy with an estimate of it, from the entity's earlier
    packets (``velocity_estimate.h``). ``estimates_velocity``: with none, since the
    strategy has an estimate of its own.

    ``rotates`` says in words how it turns between the rotations of packets; empty: it does not. A
    rotation without a spin reaches it with an estimate of that (``velocity_estimate.h``).

    ``connection`` says in words what it takes from the packets of the other entities that come by
    the same connection; empty: it knows its own entity's alone.

    ``own_player``: it draws one's own player, which a client predicts; others draw remote ones, and
    ``all`` is these.

    All strategies make the same guarantees. Where the original deviates, it is declared:

    ``takes_any_number``: a packet that is not finite is accepted, and propagates; others discard
    it.
    ``begins_at_origin``: drawing begins at the origin; others begin at the first packet.
    ``waits_for_two``: nothing is drawn until there are two states; others show the first.
    ``aims_at_prediction``: rows are interpolated on the way to a point on the line that a received
    state predicts; those of others on the way to a received state.
    ``lag_varies``: how the lag at a constant velocity wavers; that of others does not.
    ``lag_by_session``: the first packets set the lag, which is another in another session.
    ``one_clock``: with these settings its clocks must agree; None: they never must.
    """

    @property
    def uses_velocity(self) -> bool:
        """True if the packets' velocity affects where the entity is drawn."""
        return any(Need.VELOCITY in (need, need[0]) for need in self.needs if need)

    @property
    def needs_words(self) -> tuple[str, ...]:
        """The needs as words for users, such as ``velocity``."""
        return tuple("".join(need) for need in self.needs)

    def values(self, given: Mapping[str, object]) -> dict[str, Value]:
        """Check the ``given`` settings; return the value of every setting, given or default.

        Raise ``SettingError``.
        """
        known = self._settings_by_name
        for name in given:
            if name not in known:
                raise SettingError(make_unknown_error(self.name, "setting", name, list(known)))
        return self._defaults | {name: known[name].check(value) for name, value in given.items()}

    def converted(self, values: Mapping[str, Value]) -> dict[str, Converted]:
        """Convert the settings' values, as written, to those that the strategy uses."""
        converted, defaults = {}, self._converted_defaults
        for name, default in self._defaults.items():
            if values[name] is not default:
                converted[name] = self._settings_by_name[name].convert(values[name])
                continue
            if name not in defaults:  # of some that must be given there is none
                defaults[name] = self._settings_by_name[name].convert(default)
            converted[name] = defaults[name]
        return converted

    def write_value(self, name: str, value: Converted) -> str:
        """Return the text of a setting's value, which is as the strategy uses it."""
        return self._settings_by_name[name].write(value)

    def takes_one_clock(self, given: Mapping[str, object]) -> bool:
        """Return True if the strategy, so set, takes the receiver's clock for the sender's."""
        if self.one_clock is None:
            return False
        values = self.values(given)
        return all(values[name] == value for name, value in self.one_clock.when)

    @cached_property
    def _settings_by_name(self) -> dict[str, Setting]:
        """The settings by name."""
        return {setting.name: setting for setting in self.settings}

    @cached_property
    def _defaults(self) -> dict[str, Value]:
        """The default of each setting, as written."""
        return {setting.name: setting.default for setting in self.settings}

    @cached_property
    def _converted_defaults(self) -> dict[str, Converted]:
        """The defaults that have been used, as the strategy uses them."""
        return {}
