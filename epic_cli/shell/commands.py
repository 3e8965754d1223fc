"""The table of commands: the name, the audience, the sentence and the module of each.

The table is read without loading a command: by ``epic --help``, by the completion, by the session.
A command's help begins with its sentence here.
"""

from __future__ import annotations

from typing import NamedTuple

#: The groups in the order of a newcomer's questions, each with its title.
GROUPS = {
    "try": "Try a strategy",
    "judge": "Judge recordings, strategies and settings",
    "network": "Send, receive, and be in between",
    "test": "Test your own implementation",
}


class CommandEntry(NamedTuple):
    """A command: the function ``name`` of the module ``command`` in its folder."""

    name: str
    group: str
    folder: str
    summary: str

    @property
    def module(self) -> str:
        """The module that has the command."""
        return f"epic_cli.{self.folder}.command"

    @property
    def is_job(self) -> bool:
        """True if the command works and ends by itself, without filling the screen."""
        return self.folder.startswith("jobs.") or self.name == "send"


COMMANDS = {
    entry.name: entry
    for entry in (
        CommandEntry("session", "try", "session", "Type packets and see the rows at once."),
        CommandEntry("replay", "try", "jobs.replay",
                     "Turn packets into what a player would see, one row per tick."),
        CommandEntry("lab", "try", "lab",
                     "Move sliders in the browser, and see what each strategy draws."),
        CommandEntry("play", "try", "play", "Play a small networked game over a bad network."),
        CommandEntry("strategies", "try", "jobs.strategies",
                     "List the smoothing strategies, or explain one."),
        CommandEntry("explain", "try", "jobs.explain",
                     "Explain a code, a cause, a metric, a strategy or a key."),
        CommandEntry("samples", "try", "jobs.samples",
                     "List the sample recordings, or copy them to here."),
        CommandEntry("inspect", "judge", "jobs.inspect",
                     "Show what is in a recording, and what looks wrong."),
        CommandEntry("compare", "judge", "jobs.compare",
                     "Find which strategy draws recordings best, and how surely."),
        CommandEntry("diagnose", "judge", "jobs.diagnose",
                     "Find out why it jitters: causes, evidence and cures."),
        CommandEntry("tune", "judge", "jobs.tune", "Find good values for a strategy's settings."),
        CommandEntry("convert", "judge", "jobs.convert",
                     "Turn recordings into another format, without loss."),
        CommandEntry("simulate", "network", "jobs.simulate",
                     "Send a movement over a bad network, and write what arrives."),
        CommandEntry("listen", "network", "live.listen",
                     "Receive packets of a running game, and draw them."),
        CommandEntry("send", "network", "live.send",
                     "Send recordings or a movement to a game, at their own pace."),
        CommandEntry("proxy", "network", "live.proxy",
                     "Put a bad network between a game and its server."),
        CommandEntry("code", "test", "jobs.code",
                     "Write a strategy as one file in your language."),
        CommandEntry("check", "test", "jobs.check",
                     "Check golden cases, or your own program, row by row."),
    )
}  # fmt: skip
