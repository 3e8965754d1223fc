"""Where the configuration file is."""

from __future__ import annotations

import os


def config_path() -> str:
    """``$XDG_CONFIG_HOME/epic/config.toml``, or the same below ``~/.config``."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(base):  # noqa: PTH117 - pathlib is slow to load; so below
        base = os.path.expanduser("~/.config")  # noqa: PTH111
    return os.path.join(base, "epic", "config.toml")  # noqa: PTH118
