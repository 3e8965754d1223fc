"""How a client keeps its clock in step with the server's: one synchroniser a file.

A client's loop runs on a ``SteeredClock``, which a ``ClockSync`` speeds up, slows down or holds;
what is drawn is drawn by the ``Timekeeper``'s estimate of the server's clock.
"""

from collections.abc import Callable

from epic_cli.play.client.clock.contract import ClockSync, FreeRunning
from epic_cli.play.client.clock.ggpo import Ggpo
from epic_cli.play.client.clock.lightyear import Lightyear
from epic_cli.play.client.clock.netfox import Netfox

#: Each is made for the simulation's step, in seconds.
CLOCK_SYNCS: dict[str, Callable[[float], ClockSync]] = {
    "free-running": FreeRunning,
    "netfox": Netfox,
    "lightyear": Lightyear,
    "ggpo": Ggpo,
}
