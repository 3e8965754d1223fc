"""What moves in a simulation, and how it is sent: the options that several commands share."""

from __future__ import annotations

import math

from epic_cli.engine.parameters import Number
from epic_cli.network.paths import PATH
from epic_cli.network.sender import SENDER, SenderSpec
from epic_cli.ui.options.declared import options
from epic_cli.ui.options.groups import OptionGroup

path_option, speed_option, size_option = options(PATH)

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

#: How long is sent.
DURATION = Number(
    "duration",
    None,
    "How long to send, in seconds, or endless.  [default: 10; with --truth all of it]",
    "s",
    0,
    1e9,
    words={"endless": math.inf},
)
