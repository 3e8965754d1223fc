"""Completion of commands, from the same definitions that run them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from epic_cli.ui.session.interpreter import Interpreter


class CommandCompleter(Completer):
    """Completes lines that begin with a colon as click completes a command line."""

    def __init__(self, interpreter: Interpreter) -> None:
        self._interpreter = interpreter

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """The names, settings, choices and files that may stand at the cursor."""
        text = document.text_before_cursor.lstrip()
        if not text.startswith(":"):
            return
        words = text[1:].split(" ")
        begun = words[-1]
        earlier = [word for word in words[:-1] if word]
        if earlier:
            earlier = self._whole_name(earlier)
        for value, kind, help_text in self._items(earlier, begun):
            if kind in ("file", "dir"):
                yield from _paths(begun, complete_event)
            else:
                yield Completion(value, -len(begun), display_meta=help_text or "")

    def _whole_name(self, words: list[str]) -> list[str]:
        import click

        try:
            return [self._interpreter.commands.find(words[0]).name or "", *words[1:]]
        except click.UsageError:
            return words

    def _items(self, words: list[str], begun: str) -> Iterator[tuple[str, str, str | None]]:
        from click.shell_completion import ShellComplete

        found = self._interpreter
        shell = ShellComplete(found.commands, {"obj": found.dialogue}, ":", "")
        for item in shell.get_completions(words, begun):
            yield item.value, item.type, item.help


def _paths(begun: str, event: CompleteEvent) -> Iterator[Completion]:
    yield from PathCompleter(expanduser=True).get_completions(Document(begun), event)
