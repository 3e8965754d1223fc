"""Lines from a terminal with a cursor: editing, hints, completion, history, toolbar."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from prompt_toolkit.application import create_app_session, run_in_terminal
from prompt_toolkit.auto_suggest import Suggestion
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Always
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import History
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding.vi_state import InputMode
from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput
from prompt_toolkit.output import ColorDepth, Output
from prompt_toolkit.shortcuts import PromptSession, create_confirm_session
from prompt_toolkit.styles import Style
from prompt_toolkit.validation import ValidationError, Validator

from epic_cli.engine.text import TextScanner
from epic_cli.recordings.entries.text import WORDS
from epic_cli.recordings.wording import FrontEnd, in_words
from epic_cli.session.dialogue import Dialogue
from epic_cli.session.hints import from_history, ghost, proposal, toolbar_text, words_for
from epic_cli.session.interpreter import BARE, Interpreter
from epic_cli.session.keys import Pasted, key_bindings

_STYLE = Style.from_dict(
    {
        "prompt": "ansicyan",
        "ghost": "ansibrightblack dim",
        "auto-suggestion": "ansibrightblack dim",
        "bottom-toolbar": "reverse",
        "bottom-toolbar.text": "",
        "validation-toolbar": "ansired reverse",
    }
)

#: Other modes of vi keys insert.
_VI_MODES = {
    InputMode.NAVIGATION: "(cmd)",
    InputMode.REPLACE: "(rep)",
    InputMode.REPLACE_SINGLE: "(rep)",
}

#: Pastes of more lines than this are not shown line by line, nor kept in the history.
_SHORT_PASTE = 20


class PromptReader:
    """Reads lines with prompt_toolkit and hands pastes over in one piece."""

    def __init__(
        self,
        interpreter: Interpreter,
        history: History,
        suspend: Callable[[], None] = lambda: None,
        source: Input | None = None,
        output: Output | None = None,
    ) -> None:
        self._dialogue = dialogue = interpreter.dialogue
        self._history = history
        self._rest = ""
        color = dialogue.screen.color
        self.session: PromptSession[str] = PromptSession(
            self._message,
            completer=CommandCompleter(interpreter),
            complete_while_typing=False,
            validator=LineValidator(interpreter),
            validate_while_typing=False,
            history=history,
            key_bindings=key_bindings(dialogue, suspend),
            input_processors=[Ghost(dialogue)],
            style=_STYLE,
            color_depth=ColorDepth.DEPTH_4_BIT if color else ColorDepth.DEPTH_1_BIT,
            editing_mode=EditingMode.VI if dialogue.preferences.vi else EditingMode.EMACS,
            input=source,
            output=output,
        )
        _let_errors_wrap(self.session)
        self.session.default_buffer.on_text_changed += self._suggest
        # a terminal that does not say where its cursor is only goes without the toolbar
        self.session.app.renderer.cpr_not_supported_callback = None
        dialogue.earlier_lines = history.get_strings
        dialogue.confirm = self._confirm

    def read(self) -> str:
        """The next line, or lines; raises ``EOFError`` and ``KeyboardInterrupt``."""
        shown = self._dialogue.preferences.toolbar
        self.session.bottom_toolbar = self._toolbar if shown else None
        rest, self._rest = self._rest, ""
        self._dialogue.screen.clear_prompt()
        try:
            text = self.session.prompt(default=rest, pre_run=self._begin)
        except KeyboardInterrupt:
            if not self.session.default_buffer.text:
                self._dialogue.stop_listening()
            raise
        self._dialogue.screen.count_lines(1)
        if not isinstance(text, Pasted):
            return text
        whole, _, self._rest = text.rpartition("\n")
        return self._echo(whole + "\n")

    def _echo(self, text: str) -> str:
        """Shows a paste: the prompt has shown no more than its first line."""
        lines = text.splitlines()
        screen = self._dialogue.screen
        if len(lines) > _SHORT_PASTE:
            screen.say(f"pasted {len(lines):,} lines", "dim")
            return text
        for line in lines:
            if line.strip():
                self._history.append_string(line)
        for line in lines[1:]:
            screen.say(f"  {line}", "dim")
        return text

    def _confirm(self, question: str) -> bool:
        app = self.session.app
        with create_app_session(input=app.input, output=app.output):
            answered: bool = create_confirm_session(question).prompt()
        self._dialogue.screen.count_lines(1)
        return answered

    def _message(self) -> StyleAndTextTuples:
        return [("class:prompt", self._mode() + self._dialogue.prompt)]

    def _mode(self) -> str:
        """The mode of vi keys, as readline shows it."""
        app = self.session.app
        if app.editing_mode != EditingMode.VI:
            return ""
        return _VI_MODES.get(app.vi_state.input_mode, "(ins)")

    @property
    def _columns(self) -> int:
        return self.session.app.output.get_size().columns

    def _toolbar(self) -> str:
        listening = self._dialogue.listening
        words = "" if listening is None else listening.words
        return toolbar_text(self._dialogue.session, self._columns, words)

    def _begin(self) -> None:
        self._suggest(self.session.default_buffer)
        listening = self._dialogue.listening
        if listening is not None:
            app = self.session.app
            app.create_background_task(listening.run(_above_the_line, app.invalidate))

    def _suggest(self, buffer: Buffer) -> None:
        text = buffer.text
        preferences = self._dialogue.preferences
        found = ""
        typed_alone = self._dialogue.listening is None  # what comes next is not what came last
        if preferences.proposals and typed_alone and text[:1] not in (":", "q"):
            whole = proposal(self._dialogue.session)
            found = whole[len(text) :] if whole.startswith(text) else ""
        # for the first numbers of a packet, the grammar helps more than an old packet
        if not found and preferences.hints and (text.startswith(":") or "/" in text):
            found = from_history(text, self._dialogue.earlier_lines())
        buffer.suggestion = Suggestion(found) if found else None


async def _above_the_line(write: Callable[[], None]) -> None:
    """Has something written above the prompt, which is drawn again as it was."""
    await run_in_terminal(write)


def _let_errors_wrap(session: PromptSession[str]) -> None:
    """Gives what is wrong with a line as many lines as it takes; it has one, and is cut."""
    for window in session.layout.find_all_windows():
        if window.height == 1:
            window.height = None
            window.dont_extend_height = window.wrap_lines = Always()


class Ghost(Processor):
    """Shows what a packet still lacks behind it, where nothing is suggested."""

    def __init__(self, dialogue: Dialogue) -> None:
        self._dialogue = dialogue

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        """Appends the rest of the grammar."""
        fragments = transformation_input.fragments
        buffer = transformation_input.buffer_control.buffer
        document = transformation_input.document
        hints = self._dialogue.preferences.hints
        if hints and not buffer.suggestion and document.is_cursor_at_the_end:
            fragments = [*fragments, ("class:ghost", ghost(document.text))]
        return Transformation(fragments)


class LineValidator(Validator):
    """Refuses a typed line with the cursor on the character that is wrong."""

    def __init__(self, interpreter: Interpreter) -> None:
        self._interpreter = interpreter

    def validate(self, document: Document) -> None:
        """Raises ``ValidationError`` with what is expected there."""
        text = document.text
        if not text.strip() or text.strip().lower().encode("utf-8", "replace") in BARE:
            return
        if text.lstrip().startswith(":"):
            wrong = self._interpreter.check(text)
            if wrong is not None:
                raise ValidationError(wrong.column - 1, wrong.message)
            return
        raw = text.encode("utf-8", "surrogateescape")
        refusals = TextScanner().scan(raw + b"\n").refusals
        if refusals:
            first = in_words(refusals[0], FrontEnd.SESSION)
            before = raw[: first.column - 1].decode("utf-8", "surrogateescape")
            raise ValidationError(len(before), f"{first.what}; expected {first.expected}")


class CommandCompleter(Completer):
    """Completes words of packets, and lines with a colon as click completes a command line."""

    def __init__(self, interpreter: Interpreter) -> None:
        self._interpreter = interpreter

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """The names, settings, choices and files that may stand at the cursor."""
        text = document.text_before_cursor.lstrip()
        if not text.startswith(":"):
            begun = text.rpartition(" ")[2]
            for word in words_for(text):
                yield Completion(word, -len(begun), display_meta=WORDS[word[:-1]])
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
            return [self._interpreter.commands.find(words[0]), *words[1:]]
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
