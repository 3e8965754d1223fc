"""Key bindings: what Enter, pastes and interrupts do."""

from __future__ import annotations

import select
import sys
import time
from collections import deque
from collections.abc import Callable

from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import is_searching
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys

from epic_cli.session.dialogue import Dialogue

#: What comes within this many seconds of an Enter was pasted, or typed ahead.
_PAUSE = 0.003

#: A line end so soon after a paste in keys belongs to it.
_PASTE_GOES_ON = 0.1

_LINE_ENDS = (Keys.ControlM, Keys.ControlJ)


class Pasted(str):
    """Several lines at once; the last one is not ended yet, and goes on in the next prompt."""


def key_bindings(dialogue: Dialogue, suspend: Callable[[], None]) -> KeyBindings:
    """The session's own keys; prompt_toolkit has the others."""
    bindings = KeyBindings()
    handle = bindings.add
    pasted_at = -1.0

    @handle("enter", filter=~is_searching)
    def _(event: KeyPressEvent) -> None:
        nonlocal pasted_at
        rest = _pending(event)
        buffer = event.current_buffer
        # the end of one chunk of a paste must not be taken for the end of all of it
        if rest is None and time.monotonic() - pasted_at > _PASTE_GOES_ON:
            buffer.validate_and_handle()
        else:
            pasted_at = time.monotonic()
            event.app.exit(result=Pasted(f"{buffer.text}\n{rest or ''}"))

    @handle(Keys.BracketedPaste)
    def _(event: KeyPressEvent) -> None:
        text = event.data.replace("\r\n", "\n").replace("\r", "\n")
        buffer = event.current_buffer
        if "\n" in text:
            before, after = buffer.document.text_before_cursor, buffer.document.text_after_cursor
            whole = before + text + after
            buffer.text = whole.partition("\n")[0]  # what the prompt shows last
            event.app.exit(result=Pasted(whole))
        else:
            buffer.insert_text(text)

    @handle("f4")
    def _(event: KeyPressEvent) -> None:
        vi = event.app.editing_mode != EditingMode.VI
        event.app.editing_mode = EditingMode.VI if vi else EditingMode.EMACS
        dialogue.preferences = dialogue.preferences._replace(vi=vi)

    if sys.platform != "win32":

        @handle("c-z")
        def _(_event: KeyPressEvent) -> None:
            run_in_terminal(suspend)

    return bindings


def _pending(event: KeyPressEvent) -> str | None:
    """The text that has come right behind an Enter; None: it was the last key.

    Terminals without bracketed paste send a paste as keys, faster than anybody types. Keys
    that are no text, such as an interrupt, are left to be handled in their turn.
    """
    queue = event.key_processor.input_queue
    keys = deque([*queue, *_read_on(event.app.input)])
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


def _read_on(source: Input) -> list[KeyPress]:
    """What is there to be read now, or comes while it is being read."""
    keys: list[KeyPress] = []
    if sys.platform == "win32":  # no console can be waited for like this
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
