"""The line editor of a terminal with a cursor: editing, hints, completion, history, toolbar."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from prompt_toolkit.application import create_app_session, run_in_terminal
from prompt_toolkit.auto_suggest import AutoSuggest, AutoSuggestFromHistory, Suggestion
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Always, is_searching
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import FileHistory, History
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.key_binding.vi_state import InputMode
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput
from prompt_toolkit.output import ColorDepth, Output
from prompt_toolkit.shortcuts import PromptSession, create_confirm_session
from prompt_toolkit.styles import Style
from prompt_toolkit.validation import ValidationError, Validator

from epic_cli.engine.keys import WORDS
from epic_cli.engine.text import TextScanner
from epic_cli.recordings.wording import FrontEnd, word_refusal
from epic_cli.session.controller import BARE, SessionController
from epic_cli.session.hints import complete_packet, complete_word, propose_packet, write_toolbar
from epic_cli.session.journal import Warn

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

#: The marks of vi modes; in all others, keys insert.
_VI_MODES = {
    InputMode.NAVIGATION: "(cmd)",
    InputMode.REPLACE: "(rep)",
    InputMode.REPLACE_SINGLE: "(rep)",
}

#: A paste of more lines is summed up, and not kept in the history.
_SHORT_PASTE = 20

#: Keys within this time (s) after an Enter were pasted, or typed ahead.
_PAUSE = 0.003

#: A line end within this time (s) after a paste in keys belongs to it.
_PASTE_GOES_ON = 0.1

_LINE_ENDS = (Keys.ControlM, Keys.ControlJ)


class PromptReader:
    """A reader of lines with prompt_toolkit, which returns a paste in one piece."""

    def __init__(
        self,
        controller: SessionController,
        history: History,
        toolbar: bool = True,
        vi: bool = False,
        source: Input | None = None,
        output: Output | None = None,
    ) -> None:
        self._controller = controller
        self._history = history
        self._rest = ""
        color = ColorDepth.DEPTH_4_BIT if controller.screen.color else ColorDepth.DEPTH_1_BIT
        self._suggestions = Suggestions(controller)
        self.session: PromptSession[str] = PromptSession(
            self._compose_prompt,
            auto_suggest=self._suggestions,
            completer=LineCompleter(controller),
            complete_while_typing=False,
            validator=LineValidator(controller),
            validate_while_typing=False,
            history=history,
            key_bindings=make_key_bindings(),
            enable_suspend=True,
            bottom_toolbar=self._compose_toolbar if toolbar else None,
            input_processors=[Ghost(controller)],
            style=_STYLE,
            color_depth=color,
            editing_mode=EditingMode.VI if vi else EditingMode.EMACS,
            input=source,
            output=output,
        )
        for window in self.session.layout.find_all_windows():
            if window.height == 1:  # an error message may need several lines
                window.height = None
                window.dont_extend_height = window.wrap_lines = Always()
        # a terminal that does not report its cursor works without the toolbar
        self.session.app.renderer.cpr_not_supported_callback = None
        controller.confirm = self._confirm

    def read(self) -> str:
        """Return the next line, or the lines of a paste.

        Raise ``EOFError`` and ``KeyboardInterrupt``.
        """
        controller = self._controller
        rest, self._rest = self._rest, ""
        controller.screen.clear_prompt()
        try:
            text = self.session.prompt(default=rest, pre_run=self._prepare_prompt)
        except KeyboardInterrupt:
            if not self.session.default_buffer.text:
                controller.stop_listening()
            raise
        controller.screen.count_lines(1)
        if not isinstance(text, Pasted):
            return text
        whole, _, self._rest = text.rpartition("\n")
        return self._show_paste(whole + "\n")

    def _show_paste(self, text: str) -> str:
        """Show all lines of a paste, as the prompt has shown only the first."""
        lines = text.splitlines()
        screen = self._controller.screen
        if len(lines) > _SHORT_PASTE:
            screen.say(f"pasted {len(lines):,} lines", "dim")
            return text
        for line in filter(str.strip, lines):
            self._history.append_string(line)
        for line in lines[1:]:
            screen.say(f"  {line}", "dim")
        return text

    def _confirm(self, question: str) -> bool:
        app = self.session.app
        with create_app_session(input=app.input, output=app.output):
            answered: bool = create_confirm_session(question).prompt()
        self._controller.screen.count_lines(1)
        return answered

    def _compose_prompt(self) -> StyleAndTextTuples:
        app = self.session.app
        vi = app.editing_mode == EditingMode.VI
        mode = _VI_MODES.get(app.vi_state.input_mode, "(ins)") if vi else ""
        return [("class:prompt", mode + self._controller.prompt)]

    def _compose_toolbar(self) -> str:
        listening = self._controller.listening
        words = "" if listening is None else listening.words
        columns = self.session.app.output.get_size().columns
        return write_toolbar(self._controller.session, columns, words)

    def _prepare_prompt(self) -> None:
        buffer, app = self.session.default_buffer, self.session.app
        buffer.suggestion = self._suggestions.get_suggestion(buffer, buffer.document)
        listening = self._controller.listening
        if listening is not None:
            app.create_background_task(listening.run(_write_above_prompt, app.invalidate))


async def _write_above_prompt(write: Callable[[], None]) -> None:
    """Call a function that writes above the prompt, then draw the prompt again."""
    await run_in_terminal(write)


class Suggestions(AutoSuggest):
    """The suggestions behind the cursor.

    The next packet of a moving entity, or an earlier line's rest.
    """

    def __init__(self, controller: SessionController) -> None:
        self._controller = controller
        self._history = AutoSuggestFromHistory()

    def get_suggestion(self, buffer: Buffer, document: Document) -> Suggestion | None:
        """Return the suggested rest of the line, or None."""
        text = document.text
        typed_alone = self._controller.listening is None  # else the next packet is not typed
        if self._controller.proposals and typed_alone and text[:1] not in (":", "q"):
            whole = propose_packet(self._controller.session)
            if whole.startswith(text) and whole != text:
                return Suggestion(whole[len(text) :])
        # for the first numbers of a packet, the grammar helps more than an old packet
        if self._controller.hints and (text.startswith(":") or "/" in text):
            return self._history.get_suggestion(buffer, document)
        return None


class Ghost(Processor):
    """The missing rest of a packet, shown dimly where there is no suggestion."""

    def __init__(self, controller: SessionController) -> None:
        self._controller = controller

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        """Append the missing rest of the packet to the displayed line."""
        fragments = transformation_input.fragments
        buffer = transformation_input.buffer_control.buffer
        document = transformation_input.document
        if self._controller.hints and not buffer.suggestion and document.is_cursor_at_the_end:
            fragments = [*fragments, ("class:ghost", complete_packet(document.text))]
        return Transformation(fragments)


class LineValidator(Validator):
    """A validator that refuses a typed line and moves the cursor to the wrong character."""

    def __init__(self, controller: SessionController) -> None:
        self._controller = controller

    def validate(self, document: Document) -> None:
        """Raise ``ValidationError`` for a wrong line, with the text that is expected."""
        text = document.text
        if not text.strip() or text.strip().lower().encode("utf-8", "replace") in BARE:
            return
        if text.lstrip().startswith(":"):
            wrong = self._controller.check(text)
            if wrong is not None:
                raise _make_refusal(wrong.column - 1, wrong.message)
            return
        raw = text.encode("utf-8", "surrogateescape")
        refusals = TextScanner().scan(raw + b"\n").refusals
        if refusals:
            first = word_refusal(refusals[0], FrontEnd.SESSION)
            before = raw[: first.column - 1].decode("utf-8", "surrogateescape")
            raise _make_refusal(len(before), f"{first.what}; expected {first.expected}")


def _make_refusal(position: int, message: str) -> ValidationError:
    """Return the error of a line that stays to be corrected; it says how to drop the line."""
    return ValidationError(position, f"{message} (Ctrl-C drops the line)")


class LineCompleter(Completer):
    """A completer of words in packets, and of commands as on a command line."""

    def __init__(self, controller: SessionController) -> None:
        self._controller = controller

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """Yield the names, settings, choices and files that may stand at the cursor."""
        text = document.text_before_cursor.lstrip()
        if not text.startswith(":"):
            begun = text.rpartition(" ")[2]
            for word in complete_word(text):
                yield Completion(word, -len(begun), display_meta=WORDS[word[:-1]])
            return
        *earlier, begun = text[1:].split(" ")
        for value, kind, help_text in self._complete_command(list(filter(None, earlier)), begun):
            if kind in ("file", "dir"):
                paths = PathCompleter(expanduser=True)
                yield from paths.get_completions(Document(begun), complete_event)
            else:
                yield Completion(value, -len(begun), display_meta=help_text or "")

    def _complete_command(
        self, words: list[str], begun: str
    ) -> Iterator[tuple[str, str, str | None]]:
        import click
        from click.shell_completion import ShellComplete

        controller = self._controller
        if words:
            try:
                words = [controller.commands.find(words[0]), *words[1:]]
            except click.UsageError:
                return
        shell = ShellComplete(controller.commands, {"obj": controller}, ":", "")
        for item in shell.get_completions(words, begun):
            yield item.value, item.type, item.help


class StateHistory(FileHistory):
    """A history file; if the file cannot be read or written, warn once and store nothing."""

    def __init__(self, directory: Path, warn: Warn) -> None:
        self._directory = directory
        self._warn: Warn | None = warn
        path = directory / "history"
        with self._warn_on_error():
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        super().__init__(str(path))

    @contextlib.contextmanager
    def _warn_on_error(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            warn, self._warn = self._warn, None
            if warn is not None:
                warn(f"no history: {self._directory}: {error.strerror or error}")

    def load_history_strings(self) -> Iterable[str]:
        """Return the lines of earlier sessions, newest first."""
        found: list[str] = []
        with self._warn_on_error():
            found += super().load_history_strings()
        return found

    def store_string(self, string: str) -> None:
        """Append a line to the history file."""
        with self._warn_on_error():
            super().store_string(string)


# ------------------------------------------------------------- keys


class Pasted(str):
    """Pasted lines; the last line has no newline yet, and continues in the next prompt."""


def make_key_bindings() -> KeyBindings:
    """Return the session's own key bindings, which are added to those of prompt_toolkit."""
    bindings = KeyBindings()
    pasted_at = -1.0

    @bindings.add("enter", filter=~is_searching)
    def _(event: KeyPressEvent) -> None:
        nonlocal pasted_at
        rest = _read_pending_text(event)
        buffer = event.current_buffer
        # the end of a chunk of a paste is not the end of the paste
        if rest is None and time.monotonic() - pasted_at > _PASTE_GOES_ON:
            buffer.validate_and_handle()
        else:
            pasted_at = time.monotonic()
            event.app.exit(result=Pasted(f"{buffer.text}\n{rest or ''}"))

    @bindings.add(Keys.BracketedPaste)
    def _(event: KeyPressEvent) -> None:
        text = event.data.replace("\r\n", "\n").replace("\r", "\n")
        buffer = event.current_buffer
        if "\n" in text:
            before, after = buffer.document.text_before_cursor, buffer.document.text_after_cursor
            whole = before + text + after
            buffer.text = whole.partition("\n")[0]  # the prompt shows this last
            event.app.exit(result=Pasted(whole))
        else:
            buffer.insert_text(text)

    @bindings.add("f4")
    def _(event: KeyPressEvent) -> None:
        vi = event.app.editing_mode != EditingMode.VI
        event.app.editing_mode = EditingMode.VI if vi else EditingMode.EMACS

    return bindings


def _read_pending_text(event: KeyPressEvent) -> str | None:
    """Return the text that follows an Enter without a pause; None if the Enter was the last key.

    Terminals without bracketed paste send a paste as keys, faster than people type. Keys that are
    no text, such as an interrupt, stay in the queue.
    """
    queue = event.key_processor.input_queue
    keys = deque([*queue, *_read_available_keys(event.app.input)])
    queue.clear()
    pieces: list[str] = []
    while keys:
        key = keys.popleft()
        if key.key == Keys.CPRResponse:
            queue.append(key)
        elif key.key in _LINE_ENDS:
            pieces.append("\n")
        elif key.key == Keys.Tab or len(key.key) == 1:
            pieces.append("\t" if key.key == Keys.Tab else key.key)
        else:
            queue.extend([key, *keys])
            break
    return "".join(pieces) or None


def _read_available_keys(source: Input) -> list[KeyPress]:
    """Return the keys that are waiting, and keys that arrive while these are read."""
    keys: list[KeyPress] = []
    if sys.platform == "win32":  # select cannot wait for a console
        return keys
    try:
        descriptor = source.fileno()
    except (NotImplementedError, ValueError):
        return keys
    while not source.closed and select.select([descriptor], [], [], _PAUSE)[0]:
        more = source.read_keys()
        if not more:
            break
        keys += more
    return keys
