"""The options of commands that simulate: seeds, what moves, how it is sent, over what."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from epic_cli.engine.parameters import Number
from epic_cli.engine.replay.playback import Timing
from epic_cli.network.link import LinkConditions
from epic_cli.network.paths import PATH, PATHS, TURNING
from epic_cli.network.sender import SENDER, SenderSpec
from epic_cli.shell.declared import OptionGroup, is_default, option, options, refuse, shared
from epic_cli.shell.errors import WrongUsage
from epic_cli.shell.options.common import DURATION, seed_option
from epic_cli.shell.options.link import link_options
from epic_cli.shell.options.trace import TraceOptions, check_network, one_way_trace_options

if TYPE_CHECKING:
    from epic_cli.network import PathMovement, RecordedMovement

path_option, speed_option, size_option = options(PATH)
turning_option = option(TURNING)

#: How the movement is put into packets, as ``sender: SenderSpec``.
sender_options = OptionGroup(
    "sender",
    SenderSpec,
    *options(
        SENDER,
        send_rate={"help": f"{SENDER[0].help}  [default: 20; with --truth recorded]"},
        clock_drift={"metavar": "PPM"},
    ),
)

#: The default of ``--seeds`` with ``--path``.
USUAL_SEEDS = 20

#: Options that mean something without a simulation, too.
_OF_BOTH = ("seed", "latency", "recordings")

#: A path goes on for so long (s) unless it is given.
_USUAL_DURATION = 10.0

#: All rows of a movement are compared at once: for more seconds than this they have no room.
_LONGEST = 50_000.0


SEEDS = Number("seeds", None, "Send the truth, or a --path, over this many simulated networks and"
               " evaluate over all." f"  [default: {USUAL_SEEDS} with --path]", "", 1, 100_000,
               whole=True)  # fmt: skip


@dataclass(frozen=True)
class NetworkOptions:
    """What is simulated, if anything; ``seed`` is the first one, and that of the bootstrap."""

    seeds: int | None = shared(option(SEEDS))
    seed: int = shared(
        seed_option(
            "Seed of the first network and of the intervals; the same seed gives the same result."
        )
    )
    path: str | None = shared(
        option(
            PATH[0],
            default=None,
            help="What moves in the simulation: a computed path instead of --truth.",
        )
    )
    speed: float = shared(speed_option)
    size: float = shared(size_option)
    turning: str = shared(turning_option)
    duration: float | None = shared(
        option(
            DURATION, help="How long to send, in seconds.  [default: 10; with --truth all of it]"
        )
    )
    sender: SenderSpec = shared(sender_options)
    link: LinkConditions = shared(
        link_options(
            "0",
            "The mean delay of the simulated link; of a recording without arrival times, the delay"
            " of each packet.",
        )
    )
    trace: TraceOptions = shared(one_way_trace_options)

    @property
    def simulates(self) -> bool:
        """Whether there is something to simulate."""
        return self.seeds is not None or self.path is not None

    @property
    def all_seeds(self) -> range:
        """The seeds."""
        return range(self.seed, self.seed + (self.seeds or USUAL_SEEDS))

    @property
    def seconds(self) -> float:
        """For how long it is sent; infinite: to the end of the truth."""
        if self.duration is None:
            return _USUAL_DURATION if self.path else math.inf
        return self.duration

    def with_latency(self, timing: Timing) -> Timing:
        """For recordings: the timing with the delay of each packet, if one was given."""
        return timing if is_default("latency") else timing._replace(latency=self.link.latency)

    def check(self, recordings: tuple[str, ...], truth: str | None) -> None:
        """Refuses what does not go together."""
        if not self.simulates:
            own = OptionGroup("network", NetworkOptions)
            refuse(
                sorted({one.name or "" for one in own.parameters} - {*_OF_BOTH}),
                f"needs --seeds, which simulates networks: --seeds {USUAL_SEEDS} --truth MOVEMENT",
            )
            return
        if recordings:
            raise WrongUsage(
                f"--{'seeds' if self.seeds else 'path'} simulates a network, but {recordings[0]}"
                " has already been over one; if it is the movement itself, pass it as --truth",
                "truth",
            )
        if self.path is None and truth is None:
            raise WrongUsage(
                "--seeds needs a movement to send: --truth FILE, or --path NAME (one of"
                f" {', '.join(PATHS)})",
                "seeds",
                "truth",
                "path",
            )
        if self.path is not None and truth is not None:
            raise WrongUsage(
                "--path and --truth exclude each other: each is a movement", "path", "truth"
            )
        if truth == "-":
            raise WrongUsage("a movement that is sent over several networks must come from a file")
        if self.path is None:
            refuse(("speed", "size", TURNING.name), "needs --path")
        if self.path is not None and self.sender.send_rate == "recorded":
            raise WrongUsage(
                "--send-rate recorded needs --truth: a path has no rate of its own",
                "send-rate",
                "truth",
            )
        if self.seconds == math.inf and self.path:
            raise WrongUsage(
                "an endless movement cannot be evaluated: set a --duration in seconds", "duration"
            )
        if self.seconds > _LONGEST and self.path:
            raise WrongUsage(
                f"--duration {self.seconds:g}: a path is evaluated for up to {_LONGEST:,.0f} s;"
                " --seeds gives more data",
                "duration",
                "seeds",
            )
        check_network(self.trace)
        is_bare = self.link == LinkConditions(in_order=self.link.in_order)
        if self.trace.trace and is_bare and len(self.all_seeds) > 1:
            raise WrongUsage(
                "a recorded network is the same with every seed: give --seeds 1 beside --trace, or"
                " options of the link, which are added to it",
                "seeds",
                "trace",
            )


def check_turning(movement: PathMovement | RecordedMovement, sender: SenderSpec) -> None:
    """Refuses to quantise rotations that are not there."""
    if sender.rotation_bits and not movement.turns:
        raise WrongUsage(
            "--rotation-bits: nothing has a rotation; --turning gives a --path one",
            "rotation-bits",
            "turning",
            "path",
        )
