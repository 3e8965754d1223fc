"""Tab completion in bash, zsh and fish.

Click finds the candidates; the scripts for the shells are here, since click's own add a blank
after ``key=``, lose what follows ``--option=`` and cut descriptions at commas. For each candidate
the shell reads a line: its kind (``plain``,
``file`` or ``dir``: the shell's own file names), the word, and what it means, with tabs between.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

import click
from click.shell_completion import CompletionItem, ShellComplete, split_arg_string

from epic_cli.recordings.files import CannotAccess
from epic_cli.shell.errors import WrongUsage

#: The variable that asks for a script (``bash_source``) or for candidates (``bash_complete``).
VARIABLE = "_EPIC_COMPLETE"

# The line as far as the cursor is split here, not by bash, which would cut words at "=" and ":".
_BASH = """\
_epic_completion() {
    local kind word meaning
    COMPREPLY=()
    while IFS=$'\\t' read -r kind word meaning; do
        case $kind in
            plain) COMPREPLY+=("$word") ;;
            file) compopt -o default ;;
            dir) compopt -o dirnames ;;
        esac
    done < <(_EPIC_COMPLETE=bash_complete COMP_WORDBREAKS=$COMP_WORDBREAKS \\
        COMP_LINE=${COMP_LINE:0:COMP_POINT} "$1" 2> /dev/null)
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]]; then
        compopt -o nospace
    fi
}
complete -o nosort -F _epic_completion epic
"""

_ZSH = """\
#compdef epic
_epic_completion() {
    local line kind word meaning
    local -a parts words_alone words_explained keys_alone keys_explained
    for line in "${(@f)$(_EPIC_COMPLETE=zsh_complete ${words[1]} \\
        "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2> /dev/null)}"; do
        parts=("${(@ps:\\t:)line}")
        kind=$parts[1] word=$parts[2] meaning=$parts[3]
        case $kind in
            file|dir)
                if [[ $PREFIX == --*=* ]]; then compset -P '*='; fi
                if [[ $kind == dir ]]; then _files -/; else _files; fi
                return ;;
            plain)
                case "${meaning:+explained}$word" in
                    explained*=) keys_explained+=("${word//:/\\\\:}:$meaning") ;;
                    explained*) words_explained+=("${word//:/\\\\:}:$meaning") ;;
                    *=) keys_alone+=("$word") ;;
                    *) words_alone+=("$word") ;;
                esac ;;
        esac
    done
    (( $#keys_explained )) && _describe -V 'epic' keys_explained -S ''
    (( $#words_explained )) && _describe -V 'epic' words_explained
    (( $#keys_alone )) && compadd -V epic -S '' -a keys_alone
    (( $#words_alone )) && compadd -V epic -a words_alone
    return 0
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _epic_completion "$@"
else
    compdef _epic_completion epic
fi
"""

# fish itself adds no blank behind "=".
_FISH = """\
function _epic_completion
    set -l words (commandline -opc) (commandline -ct)
    set -l option (string match -r -- '^--[^=]*=' $words[-1])
    for line in (_EPIC_COMPLETE=fish_complete $words[1] $words[2..] 2> /dev/null)
        set -l parts (string split -m 2 \\t -- $line)
        switch $parts[1]
            case file
                __fish_complete_path $parts[2] | string replace -r -- '^' "$option"
            case dir
                __fish_complete_directories $parts[2] | string replace -r -- '^' "$option"
            case plain
                string join \\t -- $parts[2..]
        end
    end
end
complete --no-files --keep-order --command epic --arguments "(_epic_completion)"
"""


class Candidate(NamedTuple):
    """A word that may stand at the cursor, or a ``kind`` of files whose names may."""

    kind: str
    word: str
    meaning: str

    def __str__(self) -> str:
        return "\t".join(" ".join(part.split()) for part in self)


def list_candidates(
    group: click.Command, words: list[str], begun: str, default: str
) -> list[Candidate]:
    """Return the completions of ``begun``, the word after ``words`` on the command line.

    ``default`` is the command whose options the group has, too.
    """
    complete = ShellComplete(group, {}, "epic", VARIABLE).get_completions
    found: list[CompletionItem[str]] = []
    if not (begun.startswith("--") and "=" in begun and not words):
        found += complete(list(words), begun)
    if not words and begun.startswith("-"):
        found += complete([default], begun)
    option, equals, _ = begun.partition("=")
    # click completes the value alone
    before = f"{option}=" if equals and option.startswith("--") else ""
    made = [
        Candidate(
            each.type, each.value if each.type != "plain" else before + each.value, each.help or ""
        )
        for each in found
    ]
    return list(dict.fromkeys(made))


def answer(group: click.Command, request: str, args: list[str], default: str) -> str | None:
    """Return the answer to a shell's completion request (``VARIABLE=request``); None if unknown."""
    shell, _, what = request.partition("_")
    if shell not in _SHELLS:
        return None
    script, ask = _SHELLS[shell]
    if what == "source":
        return script
    words, begun, cut = ask(args)
    try:
        found = list_candidates(group, words, begun, default)
    except (click.ClickException, WrongUsage, CannotAccess):
        return ""  # running the line reports what is wrong with it
    shown = [
        candidate._replace(word=candidate.word[cut:]) if candidate.kind == "plain" else candidate
        for candidate in found
    ]
    return "".join(f"{candidate}\n" for candidate in shown)


def _read_bash_request(_args: list[str]) -> tuple[list[str], str, int]:
    """Return the words, the word at the cursor, and the length of its part that bash splits off."""
    line = os.environ.get("COMP_LINE", "")
    words = split_arg_string(line)[1:]
    begun = words.pop() if words and not line[-1:].isspace() else ""
    typed = line.split()[-1] if begun else ""
    breaks = [mark for mark in "=:" if mark in os.environ.get("COMP_WORDBREAKS", "=:")]
    is_quoted = any(mark in typed for mark in "'\"\\")
    cut = 0 if is_quoted else max((begun.rfind(mark) + 1 for mark in breaks), default=0)
    return words, begun, cut


def _read_other_request(args: list[str]) -> tuple[list[str], str, int]:
    *words, begun = args or [""]
    return words, begun, 0


_SHELLS: dict[str, tuple[str, Callable[[list[str]], tuple[list[str], str, int]]]] = {
    "bash": (_BASH, _read_bash_request),
    "zsh": (_ZSH, _read_other_request),
    "fish": (_FISH, _read_other_request),
}
