"""The options of commands that simulate: what moves, how it is sent, over what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from epic_cli.engine import description
from epic_cli.engine.parameters import Number, Parameter
from epic_cli.engine.replay.playback import Timing
from epic_cli.network.link import LINK, PERFECT, LinkConditions
from epic_cli.network.link_spec import LINK_KEYS, PRESETS, LinkSpec
from epic_cli.network.movement_spec import MOVEMENT_KEYS, MovementSpec
from epic_cli.network.paths import PATHS
from epic_cli.network.sender import SENDER, SenderSpec
from epic_cli.network.simulation import SimulationSpec
from epic_cli.shell.console import write_text
from epic_cli.shell.declared import (
    Decorator,
    OptionGroup,
    Parsed,
    declare_shared,
    is_default,
    list_completions,
    make_option,
    make_options,
    refuse,
)
from epic_cli.shell.errors import WrongUsage, raise_wrong_usage
from epic_cli.shell.options.common import make_seed_option

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

#: The default of ``--seeds``.
USUAL_SEEDS = 20


def make_described_type(
    parse: Callable[[str], Any],
    kind: type,
    table: Sequence[Parameter],
    names: Callable[[], Iterable[tuple[str, str | None]]] = tuple,
) -> Parsed:
    """Return the click type of a description (``4g,loss=3%``), completed by names and keys.

    The files named in the description are registered as inputs.
    """

    def propose(begun: str) -> list[CompletionItem]:
        return list_completions(description.complete(begun, table, names()), "")

    def list_files(value: Any) -> list[str]:
        text = value.write() if isinstance(value, description.Described) else str(value)
        return description.find_files(text, table)

    return Parsed("description", parse, kind, propose, reads=list_files)


def _propose_presets() -> Iterable[tuple[str, str | None]]:
    return ((preset.name, preset.meaning) for preset in PRESETS.values())


def _list_keys(table: Sequence[Parameter]) -> str:
    return ", ".join(parameter.name for parameter in table)


#: The parameters of a link that are options of their own, too.
BESIDE_LINK = ("latency", "jitter", "loss")


def make_link_options(
    usual: LinkConditions = PERFECT,
    *,
    two_ways: bool = False,
    sized: bool = True,
    latency: str = "The mean delay.",
) -> Decorator:
    """Make ``--link``, and ``--latency``, ``--jitter`` and ``--loss``, which override it.

    As ``link: LinkSpec``. ``usual`` is the link without a preset or a trace. Not ``sized``: packets
    have lengths of their own. ``latency`` is what the help says of the delay.
    """
    keys = [key for key in LINK_KEYS if sized or key.name != "packet_size"]
    if two_ways:
        keys = [key for key in keys if key.name != "trace_direction"]

    def make(link: str | None, **beside: Any) -> LinkSpec:
        context = click.get_current_context()
        is_typed = context.get_parameter_source("link") == ParameterSource.COMMANDLINE
        over = {
            name: value
            for name, value in beside.items()
            if context.get_parameter_source(name) != ParameterSource.DEFAULT
            # what the configuration says of them is for another link
            and not (is_typed and context.get_parameter_source(name) != ParameterSource.COMMANDLINE)
        }
        with raise_wrong_usage("--link: ", about=("link",)):
            spec = LinkSpec.parse(link or "", usual, two_ways=two_ways, over=over)
            return spec if sized else spec.drop_sizes()

    prefix = ' "up." or "down." before a key is for one direction.' if two_ways else ""
    return OptionGroup(
        "link",
        make,
        click.option(
            "--link",
            type=make_described_type(
                str, str, keys, _propose_presets
            ),  # it is read with those beside it
            callback=_list_presets,
            metavar="LINK",
            help="Network: a preset such as 4g, with changes. 'list' shows the presets."
            f" For example '4g,jitter=30ms,loss=3%,at=\"10s loss=20%\"'.{prefix} Keys:"
            f" {_list_keys(keys)}.",
        ),
        *make_options(
            [parameter for parameter in LINK if parameter.name in BESIDE_LINK],
            latency={"default": usual.latency, "help": f"{latency}  [overrides --link]"},
            jitter={"default": usual.jitter},
            loss={"default": usual.loss},
        ),
    )


def _list_presets(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> str | None:
    del parameter
    if value == "list" and not context.resilient_parsing:
        from epic_cli.shell.console import draw
        from epic_cli.show.link import make_presets_report
        from epic_cli.show.text import ReportText

        # nothing is left out, however narrow the screen is: there is no other place to look it up
        write_text(draw(ReportText(make_presets_report(PRESETS.values())), color=False))
        context.exit()
    return value


def make_movement_option(help_text: str, default: str | None = None) -> Decorator:
    """Make the option ``--movement``, as ``movement: MovementSpec | None``."""
    return click.option(
        "--movement",
        type=make_described_type(
            MovementSpec.parse,
            MovementSpec,
            MOVEMENT_KEYS,
            lambda: ((path, None) for path in PATHS),
        ),
        default=default,
        show_default=True,
        metavar="MOVEMENT",
        help=f"{help_text} A path ({', '.join(PATHS)}) such as 'zigzag,speed=5,duration=4', or"
        f" 'truth=FILE', a recording. Keys: {_list_keys(MOVEMENT_KEYS[1:])}.",
    )


#: ``--send``, as ``send: SenderSpec``.
send_option: Decorator = click.option(
    "--send",
    type=make_described_type(SenderSpec.parse, SenderSpec, SENDER),
    default="",
    metavar="SENDER",
    help="Sender: a rate or 'recorded', plus overrides. For example"
    f" '20hz,rotation_bits=9'. Keys: {_list_keys(SENDER)}.",
)


SEEDS = Number("seeds", None, "Number of simulated networks to evaluate over."
               f"  [default: {USUAL_SEEDS}]", "", 1, 100_000, whole=True)  # fmt: skip


@dataclass(frozen=True)
class NetworkOptions:
    """Options of the simulated networks: movement, sender, link and seeds.

    ``seed`` is the first seed, and that of the bootstrap.
    """

    movement: MovementSpec | None = declare_shared(
        make_movement_option("Simulate this movement instead of reading recordings.")
    )
    seeds: int | None = declare_shared(make_option(SEEDS))
    seed: int = declare_shared(
        make_seed_option(
            "Seed of the first network and of the intervals; the same seed gives the same result."
        )
    )
    send: SenderSpec = declare_shared(send_option)
    link: LinkSpec = declare_shared(
        make_link_options(
            latency="Mean delay of the simulated link. Of a recording without arrival times: the"
            " delay of each packet."
        )
    )

    @property
    def simulates(self) -> bool:
        """True if a movement is to be simulated."""
        return self.movement is not None

    @property
    def all_seeds(self) -> range:
        """The seeds of the simulated networks."""
        return range(self.seed, self.seed + (self.seeds or USUAL_SEEDS))

    @property
    def simulation(self) -> SimulationSpec:
        """The simulation of each seed; raises ``WrongUsage``."""
        with raise_wrong_usage():
            return SimulationSpec(self.movement or MovementSpec(), self.send, self.link)

    def apply_latency(self, timing: Timing) -> Timing:
        """Return the timing with ``--latency``, by which packets without an arrival time arrive."""
        if is_default("latency"):
            return timing
        return timing._replace(latency=self.link.ways.down.latency)

    def check(self, recordings: tuple[str, ...], truth: str | None) -> None:
        """Raise ``WrongUsage`` for options that contradict each other."""
        movement = self.movement
        if movement is None:
            how = f"--movement 'truth={truth}'" if truth else "--movement strafe"
            refuse(
                ("seeds", "send", "link", "jitter", "loss"),
                f"needs --movement, which is sent over simulated networks: {how}",
            )
            return
        if recordings:
            raise WrongUsage(
                f"--movement simulates a network, but {recordings[0]} has already been over one;"
                f" if it is the movement itself, write --movement 'truth={recordings[0]}'"
            )
        if truth is not None:
            raise WrongUsage("--movement is its own truth: leave out --truth")
