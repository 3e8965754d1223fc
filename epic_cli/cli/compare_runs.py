"""What ``epic compare`` judges: the runs of recordings, files or folders, or of simulations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from epic_cli.cli.options.compare import Inputs
from epic_cli.cli.options.compare_network import NetworkOptions
from epic_cli.engine.text.widths import printable
from epic_cli.formats.folders import NoRecordings, recordings_in
from epic_cli.terminal.errors import CannotAccess, WrongUsage, say
from epic_cli.terminal.input import read_file
from epic_cli.terminal.remarks import Remarks, Reporter
from epic_cli.terminal.sources import load, source_name

if TYPE_CHECKING:
    from epic_cli.analysis.compare import Comparison
    from epic_cli.analysis.study import Run
    from epic_cli.analysis.truth import Truth
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.network import Channel, Movement
    from epic_cli.terminal.profiles import Saving


def recordings_of(inputs: Inputs) -> list[str]:
    """The files that are meant, those of a folder by name.

    The truth is none of them. Raises ``WrongUsage``, ``CannotAccess``.
    """
    found: list[str] = []
    for name in inputs.recordings or ("-",):
        try:
            inside = [name] if name == "-" else recordings_in(name)
        except NoRecordings as error:
            raise WrongUsage(printable(str(error))) from error
        except OSError as error:
            raise CannotAccess("read", name, error) from error
        found += [one for one in inside if one == name or one != inputs.truth]
    return found


class Recordings:
    """The runs of recorded files, one after the other; what is wrong with one is said.

    ``broken`` is how many of several could not be used at all.
    """

    def __init__(
        self,
        inputs: Inputs,
        truths: Mapping[str, Truth] | None,
        remarks: Remarks,
        saving: Saving | None,
        color: bool,
    ) -> None:
        self.names = recordings_of(inputs)
        self.broken = 0
        self._inputs = inputs
        self._truths = truths
        self._remarks = remarks
        self._saving = saving
        self._color = color
        self._reporters: dict[str, Reporter] = {}

    @property
    def refused(self) -> bool:
        """Whether lines of one were refused."""
        return any(one.refused for one in self._reporters.values())

    def __iter__(self) -> Iterator[Run]:
        for name in self.names:
            try:
                yield self._run(name)
            except (CannotAccess, WrongUsage) as error:
                if len(self.names) == 1:
                    raise
                self.broken += 1
                say(f"epic: {printable(str(error))}; it is left out\n")

    def _run(self, file: str) -> Run:
        from epic_cli.analysis.study import Run

        inputs, name = self._inputs, source_name(file)
        reporter = self._reporters[name] = Reporter(name, self._remarks, self._color)
        packets = load(file, inputs.input_format, reporter, inputs.given)
        reporter.save(self._saving, inputs.given)
        if any(block.lacks_velocity() for block in packets.values()):
            reporter.estimated()
        return Run(name, _of_entity(packets, inputs.entity, name), self._truths)

    def judged(self, run: Run, comparison: Comparison | None) -> None:
        """What came of a run: its refused packets are said, and why it cannot be judged."""
        if comparison is None:
            self.broken += 1
        else:
            self._reporters[run.name].refuse(comparison.refused)

    def end(self) -> None:
        """Says how many lines were refused, however it ended."""
        for one in self._reporters.values():
            one.__exit__()


def _of_entity(
    packets: dict[str, PacketBlock], entity: str | None, name: str
) -> dict[str, PacketBlock]:
    if entity is None:
        return packets
    if entity not in packets:
        there = ", ".join(sorted(filter(None, packets))[:8]) or "no named ones"
        raise WrongUsage(f"{name}: there is no entity {entity!r}; there are: {there}")
    return {entity: packets[entity]}


def given_truths(
    inputs: Inputs, remarks: Remarks, color: bool
) -> tuple[Mapping[str, Truth] | None, bool]:
    """The given truth by entity, if there is one, and whether lines of it were refused."""
    from epic_cli.analysis.truth import truths_of
    from epic_cli.views.comparison_words import why

    if inputs.truth is None:
        return None, False
    name = source_name(inputs.truth)
    given = inputs.given and inputs.given._replace(unless_own=True)
    with Reporter(name, remarks, color) as reporter:
        states = load(inputs.truth, "auto", reporter, given)
    truths, missing = truths_of(states, "given", inputs.truth_offset)
    for note in missing:
        place = f"{name}: {note.entity}" if note.entity else name
        reporter.say(f"epic: {printable(place)}: {printable(why(note))}\n")
    if not truths:
        raise WrongUsage(f"not enough to say: {name} has no movement to compare with")
    return truths, reporter.refused


def simulated_runs(network: NetworkOptions, inputs: Inputs, remarks: Remarks) -> Iterator[Run]:
    """A run for each seed; raises what reading the movement or the network raises."""
    from epic_cli.analysis.networks import Setting, simulated
    from epic_cli.network import Link, read_trace

    options = network.trace
    recorded = _movement(inputs, remarks) if inputs.truth else None
    trace = None
    if options.trace:
        flow, direction = options.trace_flow, options.trace_direction
        trace = read_file(
            options.trace, lambda stream: read_trace(stream, flow=flow, direction=direction)
        )

    def movement(seed: int) -> Movement:
        return recorded or _path(network, inputs, seed)

    def channel(seed: int) -> Channel:
        if trace is not None:
            return options.link(trace, network.link.in_order)
        return Link(network.link, seed=seed)

    return simulated(
        Setting(
            movement,
            channel,
            network.sender.rate(recorded=recorded is not None),
            network.seconds,
            network.sender.sender,
            network.sender.separate,
        ),
        network.all_seeds,
    )


def _path(network: NetworkOptions, inputs: Inputs, seed: int) -> Movement:
    from epic_cli.network import PATHS, PathMovement

    path = PATHS[str(network.path)](network.speed, network.size, seed)
    return PathMovement(path, inputs.entity or "")


def _movement(inputs: Inputs, remarks: Remarks) -> Movement:
    from epic_cli.network import read_movement

    reporter = Reporter(source_name(str(inputs.truth)), remarks)
    return read_file(
        str(inputs.truth),
        lambda stream: read_movement(
            stream, entity=inputs.entity, layout=inputs.given, tell=reporter.layout
        ),
    )
