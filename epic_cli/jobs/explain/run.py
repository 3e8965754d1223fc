"""Look up names in the tables of findings, causes, metrics, strategies, settings, keys, ..."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from epic_cli.engine.failures import Portable
from epic_cli.engine.parameters import Parameter
from epic_cli.engine.strategies import (
    find_class,
    get_declaration,
    list_declarations,
    list_system_names,
)
from epic_cli.jobs.diagnose.detectors import load_registry
from epic_cli.jobs.explain.drawbacks import DRAWBACK_NOTES
from epic_cli.jobs.explain.spec import ExplainSpec, NameEntry, NameKind
from epic_cli.metrics import METRICS
from epic_cli.metrics.metric import GAMES, Better, Metric, Weights
from epic_cli.metrics.score import COSTS, write_formula
from epic_cli.network.link_spec import LINK_KEYS
from epic_cli.network.movement_spec import MOVEMENT_KEYS
from epic_cli.network.sender import SENDER
from epic_cli.recordings.findings import KINDS
from epic_cli.recordings.read_spec import READ
from epic_cli.show.video import VIDEO

#: The options whose values are descriptions, each with its keys.
OPTIONS: Mapping[str, Sequence[Parameter]] = {
    "--read": READ,
    "--link": LINK_KEYS,
    "--send": SENDER,
    "--movement": MOVEMENT_KEYS,
    "--video": VIDEO,
}

_BETTER = {
    Better.LOW: "lower values",
    Better.HIGH: "higher values",
    Better.NEAR_ZERO: "values near 0",
    Better.NEITHER: "",
}

#: Placeholders for a finding's values in a detector's sentence.
_PLACES = re.compile(r"\{[^}]*\}")

#: Placeholders right behind a word or a full stop, for clauses that not every finding has.
_CLAUSES = re.compile(r"(?<=[.\w])\{[^}]*\}")

#: The most names that are proposed for an unknown one.
_PROPOSED = 3


class UnknownName(Portable, ValueError):
    """An error for a name that no table has; the message proposes the nearest names."""

    def __init__(self, name: str, near: Sequence[str]) -> None:
        likely = " or ".join(filter(None, (", ".join(near[:-1]), *near[-1:])))
        hint = f"did you mean {likely}?" if near else "'epic explain' lists the kinds"
        super().__init__(f"nothing is called {name!r}: {hint}")


def run(spec: ExplainSpec) -> list[NameEntry]:
    """Return all explanations of a name; raise ``UnknownName``.

    Without a name, return the first explanation of each kind.
    """
    if spec.name is None:
        return [next(iterate_names(kind)) for kind in NameKind]
    wanted = spec.name.partition("=")[0].strip().lower()
    found = [entry for entry in list_explanations() if entry.name.lower() == wanted]
    found = found or [entry for entry in list_explanations() if _get_column_title(entry) == wanted]
    if not found:
        known = list(dict.fromkeys(entry.name for entry in list_explanations()))
        by_case = {name.lower(): name for name in known}
        near = difflib.get_close_matches(wanted, by_case, _PROPOSED, 0.5)
        raise UnknownName(spec.name, [by_case[name] for name in near])
    return found


def _get_column_title(entry: NameEntry) -> str:
    """Return the title of a metric's column, in lower case; empty for other entries."""
    return dict(entry.terms).get("column", "").lower()


@cache
def list_explanations() -> tuple[NameEntry, ...]:
    """Return the explanations of all names, kind by kind."""
    return tuple(entry for kind in NameKind for entry in iterate_names(kind))


def iterate_names(kind: NameKind) -> Iterator[NameEntry]:
    """Yield the explanation of each name of a kind."""
    return _TABLES[kind]()


def _iterate_findings() -> Iterator[NameEntry]:
    for code, kind in KINDS.items():
        terms = (("severity", kind.severity.value), ("cure", kind.cure))
        yield _make_explanation(NameKind.FINDING, code, kind.title, kind.explanation, terms)


def _iterate_causes() -> Iterator[NameEntry]:
    for entry in load_registry().detectors:
        terms = (
            ("cure", _remove_values(entry.cure)),
            ("measured", f"{entry.statistic}."),
            ("reported if", f"{entry.threshold}."),
            ("needs", ", ".join(entry.needs)),
            ("explains", ", ".join(entry.explains)),
            ("source", f"{entry.source}."),
        )
        yield _make_explanation(
            NameKind.CAUSE, entry.name, entry.title, _remove_values(entry.effect), terms
        )


def _iterate_drawbacks() -> Iterator[NameEntry]:
    for cause, note in DRAWBACK_NOTES.items():
        terms = (("cure", note.cure), ("reported if", f"{note.rule}."))
        yield _make_explanation(NameKind.DRAWBACK, cause, note.title, "", terms)


def _remove_values(sentence: str) -> str:
    """Return a sentence of a detector with its placeholders for measured values cut out."""
    return "" if sentence.startswith("{") else _PLACES.sub("...", _CLAUSES.sub("", sentence))


def _iterate_metrics() -> Iterator[NameEntry]:
    for entry in METRICS:
        terms = (
            ("column", entry.title if entry.weight else ""),
            ("unit", _describe_unit(entry)),
            ("better", _BETTER[entry.better]),
            ("formula", write_formula(Weights()) if entry.name == "score" else ""),
        )
        yield _make_explanation(NameKind.METRIC, entry.name, entry.help, "", terms)
    for name, cost in COSTS.items():
        yield _make_explanation(NameKind.METRIC, name, f"cost of the score: {cost}", "", ())


def _describe_unit(entry: Metric) -> str:
    """Return the unit of a metric: in the table's column, and in CSV and JSON if they differ."""
    if entry.unit == "s" and entry.title.endswith(" ms"):
        return "ms in the table, s in CSV and JSON"
    return "the recording's length" if entry.unit == "length" else entry.unit


def _iterate_strategies() -> Iterator[NameEntry]:
    for entry in (*list_declarations(), *map(get_declaration, list_system_names())):
        settings = tuple(
            (setting.name, f"{setting.help} ({setting.range}; default {setting.default})")
            for setting in entry.settings
        )
        facts = (
            ("needs", ", ".join(entry.needs_words)),
            ("lag", entry.lag),
            ("on loss", entry.on_loss),
            ("turns", entry.rotates),
            ("source", entry.source),
        )
        text = _unwrap_paragraphs(inspect.cleandoc(find_class(entry.name).__doc__ or ""))
        yield _make_explanation(
            NameKind.STRATEGY, entry.name, entry.summary, text, (*settings, *facts)
        )


def _unwrap_paragraphs(text: str) -> str:
    """Join the lines of each paragraph of a docstring; indented formulas keep their lines."""
    parts = text.replace("``", "").split("\n\n")
    return "\n".join(part if part.startswith(" ") else " ".join(part.split()) for part in parts)


def _iterate_settings() -> Iterator[NameEntry]:
    users: dict[tuple[str, str, str], list[str]] = {}
    for entry in list_declarations():
        for setting in entry.settings:
            known = (setting.name, setting.help, setting.range)
            users.setdefault(known, []).append(f"{entry.name} (default {setting.default})")
    for (name, words, values), strategies in users.items():
        terms = (("values", values), ("of", ", ".join(strategies)))
        yield _make_explanation(NameKind.SETTING, name, words, "", terms)


def _iterate_options() -> Iterator[NameEntry]:
    for option, table in OPTIONS.items():
        terms = tuple((entry.name, _describe_key(entry)) for entry in table)
        yield _make_explanation(NameKind.OPTION, option[2:], f"keys of {option}", "", terms)


def _describe_key(entry: Parameter) -> str:
    """Return the help of a key, its range and, unless the help names it, its default."""
    default = "" if entry.default in (None, ()) else f"; default {entry.show(entry.default)}"
    words = entry.help or f"The column of {entry.name}."
    return f"{words} ({entry.range}{'' if '[default' in words else default})"


def _iterate_keys() -> Iterator[NameEntry]:
    for option, table in OPTIONS.items():
        for entry in table:
            words = entry.help or f"The column of {entry.name}."
            terms = (("option", option), ("values", entry.range))
            yield _make_explanation(NameKind.KEY, entry.name, words, "", terms)


def _iterate_games() -> Iterator[NameEntry]:
    for game in GAMES:
        changed = (
            f"{name} {weight:g}"
            for name, weight in game.weights._asdict().items()
            if weight != getattr(Weights(), name)
        )
        terms = (("option", f"--weights {game.name}"), ("weights", ", ".join(changed)))
        yield _make_explanation(NameKind.GAME, game.name, "weights of the score", game.why, terms)


def _iterate_words() -> Iterator[NameEntry]:
    for name, where, title in WORDS:
        yield _make_explanation(NameKind.WORD, name, title, "", (("stands in", where),))


#: Words of tables: the word, where it stands, its meaning there.
WORDS = (
    ("main cost", "epic compare", "the cost that takes most from a row's score"),
    ("shape", "epic compare", "main cost: the residual, a path of another shape than the truth"),
    ("likely", "epic compare", "the 95 % interval of the score"),
    ("rank", "epic compare --full", "1 + the number of strategies that are clearly better"),
    ("step error", "epic diagnose", "RMS of the drawn step minus the true one, at the best constant"
     " lag, over the RMS of the true steps: 0 is smooth and right"),
    ("jumps", "epic diagnose", "jumps a minute: drawn steps more than 1.5 times as long as the"
     " truth's longest within half a second"),
    ("still frames", "epic diagnose", "frames in which the drawing stands while the truth moves"),
    ("none", "the status of a row", "there is nothing to draw yet"),
    ("interpolated", "the status of a row", "on the way to a known target, or just arrived there"),
    ("extrapolated", "the status of a row", "beyond what is known"),
    ("held", "the status of a row", "frozen for lack of data: no movement since the last row"),
)  # fmt: skip


def _make_explanation(
    kind: NameKind, name: str, title: str, text: str, terms: Sequence[tuple[str, str]]
) -> NameEntry:
    """Return an explanation; terms without a text are left out."""
    return NameEntry(kind, name, title, text, tuple(term for term in terms if term[1].strip(".")))


_TABLES: Mapping[NameKind, Callable[[], Iterator[NameEntry]]] = {
    NameKind.FINDING: _iterate_findings,
    NameKind.CAUSE: _iterate_causes,
    NameKind.DRAWBACK: _iterate_drawbacks,
    NameKind.METRIC: _iterate_metrics,
    NameKind.STRATEGY: _iterate_strategies,
    NameKind.SETTING: _iterate_settings,
    NameKind.OPTION: _iterate_options,
    NameKind.KEY: _iterate_keys,
    NameKind.GAME: _iterate_games,
    NameKind.WORD: _iterate_words,
}
