"""``epic tune``: good numbers for a strategy's settings."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from epic_cli.cli.options.common import (
    color_option,
    remarks_options,
    saving_options,
)
from epic_cli.cli.options.compare import Inputs, inputs_options
from epic_cli.cli.options.compare_network import NetworkOptions, network_options
from epic_cli.cli.options.tune import Tuned, format_option, tuned_options
from epic_cli.terminal.color import ColorChoice, use_color
from epic_cli.terminal.errors import ExitStatus, WrongUsage
from epic_cli.terminal.remarks import Remarks

if TYPE_CHECKING:
    from epic_cli.analysis.study import Run
    from epic_cli.terminal.profiles import Saving

_EXAMPLES = """\b
Examples:
  epic tune sample_inputs/jitter.txt
  epic tune --format markdown sample_inputs/two_tanks.csv
"""


@click.command(epilog=_EXAMPLES)
@inputs_options
@tuned_options
@network_options
@format_option
@saving_options
@remarks_options
@color_option
@click.pass_context
def tune(
    context: click.Context,
    /,
    inputs: Inputs,
    tuned: Tuned,
    network: NetworkOptions,
    form: str,
    saving: Saving | None,
    remarks: Remarks,
    color: ColorChoice,
) -> int:
    """Say what good numbers are.

    The delay that each delay buffer needs is computed from the arrival times of the RECORDING
    (packet text, CSV or JSON lines, from files, folders or standard input): how long to wait for
    90, 95, 99 and 99.9 % of the packets, and where one or two of them are lost.

    Exit status: 0 all packets accepted, 1 some lines were refused or a recording was left out, 2
    wrong usage, or not enough in the data to say anything, 3 a file cannot be read or written.
    """
    from epic_cli.analysis.tuning.closed_form import delays_needed
    from epic_cli.cli.compare_runs import Recordings, given_truths, simulated_runs
    from epic_cli.cli.options.groups import given_options
    from epic_cli.cli.tune_output import write_delays
    from epic_cli.formats.layout import begun_together
    from epic_cli.views.tuning_delays import NO_ARRIVALS

    network.check(given_options(context), inputs.recordings, inputs.truth)
    candidates = tuned.candidates()
    refused, recordings = False, None
    if network.simulates:
        runs: list[Run] = list(simulated_runs(network, inputs, remarks))
    else:
        error_color = use_color(color, sys.stderr)
        given = begun_together(inputs.given) if inputs.truth else None
        truths, refused = given_truths(inputs, given, remarks, error_color)
        recordings = Recordings(inputs, given, truths, remarks, saving, error_color)
        try:
            runs = list(recordings)
        finally:
            recordings.end()
    found = delays_needed([one.packets for one in runs], candidates)
    if found is None:
        raise WrongUsage(f"not enough to say: {NO_ARRIVALS}")
    write_delays(found, form, color)
    left_out = recordings is not None and (recordings.refused or recordings.broken)
    return ExitStatus.LINES_REFUSED if refused or left_out else ExitStatus.DONE
