"""A comparison as a report: the verdict, the table of metrics, notes, and the method."""

from __future__ import annotations

import contextlib
import math
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from epic_cli.engine.text.widths import some
from epic_cli.metrics import METRICS, find_metric, list_column_names, list_shown_metrics
from epic_cli.metrics.certainty import (
    DRAWS,
    FEWEST_EVENTS,
    FEWEST_UNITS,
    IN_A_ROW,
    PROVEN,
    RESOLUTION,
    Certainty,
    Unit,
)
from epic_cli.metrics.comparison import (
    Advice,
    Comparison,
    Confidence,
    Result,
    find_best_games,
    find_weakest_cost,
    is_good,
)
from epic_cli.metrics.conditions import Condition
from epic_cli.metrics.digits import (
    format_count,
    format_interval,
    format_one_decimal,
    format_rough,
    format_three_digits,
    format_whole,
    replace_unknown,
)
from epic_cli.metrics.drawn_path import LABEL as DRAWN
from epic_cli.metrics.inputs import RecordedRuns, RunInputs, get_run_name
from epic_cli.metrics.metric import GAMES, Better, Metric, Weights, drop_turning
from epic_cli.metrics.notes import (
    MARKS,
    UNRANKED,
    Adjusted,
    Flaw,
    Note,
    Outages,
    describe_flaw,
    describe_note,
    describe_notes,
    shorten_notes,
)
from epic_cli.metrics.score import write_formula
from epic_cli.metrics.truth import Origin
from epic_cli.recordings.findings import describe_limits
from epic_cli.recordings.opening import UNUSABLE, ReadingLog
from epic_cli.show.report import KEPT, MAYBE, Column, Data, ErrorBar, Record, Report, Table

if TYPE_CHECKING:
    from epic_cli.metrics.evaluation import Run
    from epic_cli.show.page import Section


#: Most strategies that are named if several are too close to call.
_NAMED = 3

#: Most further data to ask for, as a multiple of the present amount.
MOST_MORE = 20

#: Seconds of judged movement below which a clear result mentions their amount.
LITTLE = 30.0

#: Jerk, as a multiple of the truth's, above which the truth has hardly any.
_MANY = 1000

_MAIN_COSTS = {
    "accuracy": "the remaining shape error",
    "smoothness": "its jerk{jerk}",
    "latency": "its lag",
    "recovery": "slow recovery after teleports and outages",
    "overshoot": "overshoot",
    "backward": "backward motion",
    "across": "what it draws beside the way",
    "turning": "how it turns",
    "aim": "where it aims",
}

_BAD = {
    "accuracy": "even the best has a residual error (lag removed) of {off:.2g} s of movement",
    "smoothness": "even the best does not move smoothly",
    "latency": "even the best is {lag}",
    "recovery": "even the best is wrong for long after teleports or outages",
    "overshoot": "even the best overshoots",
    "backward": "even the best moves backward",
    "across": "even the best draws wrong curves",
    "turning": "even the best turns wrongly",
    "aim": "even the best aims elsewhere",
}

#: Kinds of games that are not called "a NAME game".
_GAMES = {"shooter": "a shooter", "observer": "an observer"}

_ORIGINS: dict[Origin, str] = {
    "given": "given",
    "rebuilt": "rebuilt with hindsight from the packets themselves: cubic Hermite through"
    " positions and velocities",
}


def write_verdict(
    comparison: Comparison, settings: Mapping[str, str] | None = None, costs: bool = True
) -> list[str]:
    """Return the sentences of the verdict: the best strategy, the confidence, its costs, and more.

    ``settings`` are the settings of strategies by label, as they are written, for labels that do
    not contain them. Without ``costs`` the best strategy's metrics are left to the table.
    """
    found, doubtful = comparison.advice, describe_doubts(comparison)
    if found.confidence is Confidence.NOTHING or found.best is None:
        return doubtful
    sentences = [
        *doubtful,
        *_describe_answer(found, found.best, comparison, settings or {}),
        _describe_runner_up(found),
        _describe_metrics(found, found.best, comparison.resolution) if costs else "",
        _describe_turning(found.best),
        _describe_worst_recording(found, comparison),
        _describe_needed_data(found, comparison),
        _describe_game_score(found.best, comparison),
        _describe_weights(found, comparison.weights),
    ]
    return list(filter(None, sentences))


def describe_doubts(comparison: Comparison) -> list[str]:
    """Return a sentence with the codes of the errors found in the input.

    No sentence without errors.
    """
    codes = comparison.doubts
    return [f"The input is in doubt: {', '.join(codes)}."] if codes else []


def _describe_answer(
    found: Advice, best: Result, comparison: Comparison, settings: Mapping[str, str]
) -> list[str]:
    score = format_score(best)
    match found.confidence:
        case Confidence.NONE_GOOD:
            why = _explain_no_good_strategy(found, best)
            return [f"None of these is good here: {why}. {best.label} scores highest: {score}."]
        case Confidence.TIED:
            several = some((result.label for result in (best, *found.tied)), _NAMED)
            return [f"Too close to call: {several}.", f"{best.label} scores highest: {score}."]
        case Confidence.CLEAR:
            name = "What the game drew" if best.label == DRAWN else best.label
            if settings.get(best.label):
                name += f" with {settings[best.label]}"
            return [f"{name} is clearly best{describe_confidence(comparison)}: score {score}."]
        case Confidence.DOUBTFUL:
            return [f"{best.label} scores highest: {score}."]
        case Confidence.UNCERTAIN:
            return [f"{best.label} scores highest ({score}); too little data to say how surely."]
        case _:
            return [f"{best.label}: score {score}."]


def describe_confidence(comparison: Comparison) -> str:
    """Return the confidence in words: `` (95 % confidence, from only 4 s of data)``.

    Data of ``LITTLE`` seconds and more are not mentioned.
    """
    if comparison.certainty is None:
        return ""
    words = f"{comparison.certainty.confidence * 100:g} % confidence"
    judged = comparison.rows * comparison.tick
    if 0 < judged < LITTLE:
        words += f", from only {format_rough(judged)} s of data"
    return f" ({words})"


def format_score(result: Result) -> str:
    """Return a score and its interval, with meaningful digits only: ``80, 74 to 87``."""
    low, high = result.interval("score")
    digits = format_whole if high - low >= 2 else format_one_decimal
    return ", ".join(
        filter(None, (digits(result.value("score")), format_interval(low, high, digits)))
    )


def _describe_runner_up(found: Advice) -> str:
    after = found.next
    gap = after.standing.gap if after else None
    if after is None or gap is None or not gap.low > 0:  # not worse, or only than another
        return ""
    role = "First clearly worse" if found.confidence is Confidence.TIED else "Runner-up"
    between = f"{format_one_decimal(gap.low)} to {format_one_decimal(gap.high)}"
    return f"{role}: {after.label}, {format_one_decimal(gap.points)} points lower ({between})."


def _describe_metrics(found: Advice, best: Result, resolution: float) -> str:
    error, jumps = (
        find_metric("error").format_cell(best.value("error"), resolution),
        best.value("jumps"),
    )
    parts = ["No error" if error == "0" else f"RMS error {error}", describe_lag(best.value("lag"))]
    if jumps > 0:
        parts.append(format_count(round(jumps), "visible jump"))
    words = ", ".join(parts)
    if found.confidence is Confidence.NONE_GOOD or best.value("score") > 100 - RESOLUTION:
        return f"{words}."
    return f"{words}; its main cost is {_fill_template(_MAIN_COSTS[found.weakest], best)}."


def _describe_turning(best: Result) -> str:
    angle, ways = best.value("angle"), best.value("long_way")
    if math.isnan(angle):
        return ""
    words = f"Its rotation is {format_three_digits(angle)} degrees off (RMS)"
    words += f", {describe_lag(best.value('turn_lag'))}"
    if ways > 0:
        words += f", {format_count(round(ways), 'turn')} the long way round"
    return f"{words}."


def describe_lag(seconds: float) -> str:
    """Return a lag (s) in words: ``31 ms behind``."""
    if math.isnan(seconds):
        return "lag unknown"
    if abs(seconds) < 0.0005:
        return "no lag"
    return f"{abs(seconds) * 1000:.0f} ms {'behind' if seconds > 0 else 'ahead'}"


def _describe_worst_recording(found: Advice, comparison: Comparison) -> str:
    if found.worst is None:
        return ""
    worst, score = found.worst.recording, format_one_decimal(found.worst.value("score"))
    return f"Worst of {len(comparison.recordings)} {comparison.runs_are}: {worst}, score {score}."


def _describe_weights(found: Advice, weights: Weights) -> str:
    """Name the game whose weights score the strategies, and the best strategies of other games.

    Other games are named only if the data tell strategies apart.
    """
    games: dict[str, list[str]] = {}
    if found.confidence in (Confidence.CLEAR, Confidence.TIED):
        for game, label in found.other_games:
            games.setdefault(label, []).append(game)
    ways = [f"--weights {' or '.join(wins)} {label}" for label, wins in games.items()]
    others = ", with ".join([f"with {ways[0]} scores highest", *ways[1:]]) if ways else ""
    game = next((game.name for game in GAMES if game.weights == weights), "")
    if weights == Weights():
        others = others or "--weights chooses one"
        words = "Scored for no particular game"
    else:
        words = f"Scored for {describe_game(game)}" if game else "Scored with your weights"
    return f"{words}; {others}." if others else f"{words}."


def describe_game(game: str) -> str:
    """Return a kind of game with its article: ``a shooter``, ``a vehicle game``."""
    return _GAMES.get(game, f"a {game} game")


def describe_cost(name: str) -> str:
    """Return the words for a cost of the score, such as ``its lag``.

    ``name`` is its key in the weights.
    """
    return _MAIN_COSTS[name].format(jerk="")


def _describe_needed_data(found: Advice, comparison: Comparison) -> str:
    open_yet, best = found.confidence in (Confidence.TIED, Confidence.UNCERTAIN), found.best
    if not open_yet or comparison.certainty is None:
        return ""
    if best and found.tied and all(_has_equal_values(best, result) for result in found.tied):
        return "They draw the same."
    by_run = comparison.certainty.unit is Unit.RUN
    few = f"; {describe_rare_events(comparison.certainty)}" if comparison.certainty.rare.few else ""
    runs = "seed" if comparison.runs_are == "networks" else "recording"
    more = f"More {runs}s" if by_run else "Longer or more recordings"
    if settling := _estimate_settling_data(found, comparison.certainty, runs):
        return f"{settling} would settle it{few}."
    return f"{more} would say more{few}."


def _estimate_settling_data(found: Advice, certainty: Certainty, runs: str) -> str:
    """Return how much more data would make one strategy clearly best: ``About 40 s more``.

    An empty text means that more data would hardly do. An interval narrows with the root of the
    amount of data; the allowance for unseen rare events narrows in proportion to it.
    """
    rival = next(iter((*found.tied, found.next)), None)
    gap = rival.standing.gap if rival else None
    if gap is None or not gap.points >= RESOLUTION:
        return ""
    rare, by_run = certainty.rare, certainty.unit is Unit.RUN
    there = certainty.units * (1.0 if by_run else certainty.seconds)
    growth, other = ((gap.points - gap.seen) / gap.points) ** 2, ""
    if gap.seen > 0 and rare.few:
        if rare.unproven:
            growth, other = PROVEN / rare.watched, ", or one recording with losses,"
        else:
            growth = FEWEST_EVENTS / rare.events
    elif gap.seen > 0:
        growth = (gap.seen - gap.low) / gap.seen
    more = there * (growth - 1)
    if not 0 < more < MOST_MORE * there:
        return ""
    if by_run:
        return f"About {format_count(math.ceil(more), runs)} more"
    return f"About {format_rough(max(more, 1.0))} s more{other}"


def _has_equal_values(one: Result, other: Result) -> bool:
    """Return True if all metrics of two results are equal, so that no data tell them apart."""
    pairs = ((one.value(metric.name), other.value(metric.name)) for metric in METRICS)
    return all(a == b or math.isnan(a) == math.isnan(b) == 1 for a, b in pairs)


def _describe_game_score(best: Result, comparison: Comparison) -> str:
    """Return the score of what the game drew, unless the game's drawing is best."""
    shown = next((result for result in comparison.results if result.label == DRAWN), None)
    score = math.nan if shown is None else shown.value("score")
    if shown is None or best.label == DRAWN or not shown.ranked or math.isnan(score):
        return ""
    rank = list_ranks(comparison.results)[comparison.results.index(shown)]
    better = "" if not rank else f"; {format_count(rank - 1, 'strategy')} clearly better"
    return f"What the game drew: score {format_one_decimal(score)}{better}."


def list_ranks(results: Sequence[Result]) -> list[int | None]:
    """Return the rank of each result.

    None if all results of an entity or recording share rank 1.
    """
    places: dict[str, set[int]] = {}
    for result in results:
        places.setdefault(result.place, set()).update([result.rank] if result.rank else [])
    several = [result.place for result in results if result.rank]
    return [
        None if places[result.place] == {1} and several.count(result.place) > 1 else result.rank
        for result in results
    ]


def _explain_no_good_strategy(found: Advice, best: Result) -> str:
    if best.has(Flaw.DIVERGED):
        return "all of them diverge"
    if found.weakest == "latency" and math.isnan(best.value("lag")):
        return "even the lag of the best is unknown"
    return _fill_template(_BAD[found.weakest], best)


def _fill_template(words: str, best: Result) -> str:
    speed, jerk = best.value("speed"), best.value("jerk")
    return words.format(
        off=best.value("residual") / speed if speed else math.nan,
        # of a truth without any, it is no multiple that means something
        jerk=f", {format_three_digits(jerk)} times the truth's" if 1 < jerk < _MANY else "",
        lag=describe_lag(best.value("lag")),
    )


def explain_method(comparison: Comparison, results: Sequence[Result]) -> list[str]:
    """Return the truth, the judged rows, the score's formula, and the intervals' method.

    Notes on how the truth was made, and on ``results`` that need care, come last.
    """
    counting = comparison.weights if comparison.turns else drop_turning(comparison.weights)
    given, rule = counting._asdict().items(), write_formula(counting)
    weights = ", ".join(f"{name} {value:g}" for name, value in given if value)
    waits = [f"{wait:.3g}" for wait in (min(comparison.warm_ups), max(comparison.warm_ups))]
    lines = [
        f"Truth: {_ORIGINS[comparison.origin]}.",
        f"Rows: {comparison.rows} of {comparison.all_rows} are judged, one every"
        f" {format_three_digits(comparison.tick * 1000)} ms; the first"
        f" {' to '.join(dict.fromkeys(waits))} s of each unbroken movement do not count.",
        f"{rule[0].upper()}{rule[1:]}. Weights: {weights}.",
    ]
    if comparison.certainty:
        lines.append(describe_certainty(comparison.certainty, comparison.runs_are))
    lines += [f"Note: {words}." for words in describe_notes(_split_notes(comparison.notes)[1])]
    lines += _list_recording_notes(_split_recording_notes(comparison)[1])
    return lines + _list_result_notes(results, lambda flaw: flaw not in UNRANKED | _MARKED)


def find_notes(comparison: Comparison, results: Sequence[Result]) -> list[str]:
    """Return the notes that limit the answer: data left out, strategies without a score.

    Notes on marked values of the ``results`` come last.
    """
    lines = [f"Note: {words}." for words in describe_notes(_split_notes(comparison.notes)[0])]
    lines += describe_limits(comparison.findings)
    lines += [f"Left out: {pair.recording}: {pair.why}." for pair in comparison.skipped]
    lines += _list_recording_notes(_split_recording_notes(comparison)[0])
    lines += _list_result_notes(comparison.results, lambda flaw: flaw in UNRANKED)
    return lines + _list_result_notes(results, lambda flaw: flaw in _MARKED - UNRANKED)


#: Flaws that follow from one clock that is taken for another.
_OF_CLOCKS = (Flaw.LAG_UNKNOWN, Flaw.DIVERGED)

#: Flaws that put a mark behind a value.
_MARKED = {flaw for marks in MARKS.values() for flaw in marks}


def _is_method_note(note: Note) -> bool:
    """Return True if a note only says how the truth was made, or which entity was not judged."""
    return isinstance(note, Adjusted | Outages)


def _split_notes(notes: Sequence[Note]) -> tuple[list[Note], list[Note]]:
    """Return the notes that limit the answer, and those that belong to the method."""
    limiting = [note for note in notes if not _is_method_note(note)]
    return limiting, [note for note in notes if _is_method_note(note)]


def _split_recording_notes(
    comparison: Comparison,
) -> tuple[list[tuple[str, Note]], list[tuple[str, Note]]]:
    """Split the notes of single recordings in the same way as ``_split_notes``."""
    noted = comparison.notes_of
    limiting = [(name, note) for name, note in noted if not _is_method_note(note)]
    return limiting, [(name, note) for name, note in noted if _is_method_note(note)]


def _list_recording_notes(noted: Iterable[tuple[str, Note]]) -> list[str]:
    """Return sentences for the first few notes of single recordings, and the count of the rest."""
    return [
        f"Note: {note}."
        for note in shorten_notes(f"{name}: {describe_note(n)}" for name, n in noted)
    ]


def _list_result_notes(results: Sequence[Result], wanted: Callable[[Flaw], bool]) -> list[str]:
    """Return notes on flaws of these kinds (``wanted``); results with one flaw share a sentence."""
    noted: dict[str, list[str]] = {}
    for result in results:
        place = f" ({result.place})" if result.place else ""
        for note in result.notes:
            follows = note.flaw in _OF_CLOCKS and result.has(Flaw.ONE_CLOCK)
            if wanted(note.flaw) and not follows:
                noted.setdefault(describe_flaw(note), []).append(f"{result.label}{place}")
    return [f"Note: {some(who)}: {words}." for words, who in noted.items()]


def describe_certainty(certainty: Certainty, runs_are: str) -> str:
    """Return the basis of the intervals: draws, pieces of data, rare events."""
    if certainty.unit is Unit.NOTHING:
        return (
            f"No intervals: {format_count(certainty.units, 'independent piece')} of data, and"
            f" {FEWEST_UNITS} are needed; use a longer recording, more of them, or --seeds."
        )
    kind = (
        runs_are if certainty.unit is Unit.RUN else f"blocks of {format_rough(certainty.seconds)} s"
    )
    both = certainty.unit is Unit.BLOCK_AND_ENTITY
    pieces = f"{certainty.units} {kind}{f' and of {certainty.entities} entities' if both else ''}"
    words = (
        f"Intervals: {certainty.confidence * 100:g} %, from {DRAWS} bootstrap draws of {pieces};"
        " differences are paired, and hold for all strategies at once. A strategy may be best if"
        " none is clearly better."
    )
    if math.isfinite(certainty.delay_pieces):
        parts = format_count(max(1, round(certainty.delay_pieces)), "independent piece")
        words += f" The delay wanders slowly: only {parts} of it here."
    if certainty.rare.few:
        words += f" One end is open: {describe_rare_events(certainty)}."
        if certainty.tried:
            words += (
                f" Gaps hold for as many more losses as that leaves open, up to {max(IN_A_ROW)} in"
                " a row, which were tried."
            )
        else:
            words += " So nothing is called clearly best."
    return words


def describe_rare_events(certainty: Certainty) -> str:
    """Return which rare events the data contain.

    ``only 3 bursts of losses and 2 changes of the delay in it``.
    """
    rare = certainty.rare
    if not rare.events:
        lost = format_count(rare.lost, "packet") if rare.lost else "none"
        return f"{lost} lost, but only {format_rough(rare.watched)} s of data"
    bursts = rare.bursts if rare.linked else 0
    parts = ((bursts, "burst", "losses"), (rare.changes, "change", "the delay"))
    words = " and ".join(
        f"{format_count(count, word)} of {of}" for count, word, of in parts if count
    )
    return f"only {words} in it"


def describe_failure(condition: Condition, result: Result) -> str:
    """Return the metric for which a condition holds, with its value and interval."""
    values, name = result.list_values(), f"{result.label}: {condition.metric}"
    if not condition.is_known(values):
        why = f": {describe_flaw(result.notes[0])}" if result.notes else ""
        return f"{name} is unknown, which counts as {condition.text}{why}"
    between = format_interval(*result.interval(condition.metric), format_three_digits)
    value = format_three_digits(values[condition.metric])
    return f"{name} is {value}{between and f' ({between})'}: {condition.text}"


#: Head of the column of the scores' intervals.
LIKELY = "likely"

#: Weight from which on columns are always shown.
KEPT_WEIGHT = 8

_PLACES = ("strategy", "entity", "recording")
_ADVICE = ("rank", "good", "behind", "behind_low", "behind_high", "best_for")


def report(
    comparison: Comparison, sort: str = "score", by: str = "strategy", brief: bool = False
) -> Report:
    """Return the report of a comparison, its rows sorted by a metric.

    Rows are ``by`` strategy, or by entity or recording and strategy. A ``brief`` table has the best
    rows and the columns that people ask for first, and fits a small screen.
    """
    results = order_rows(comparison, sort, by)
    answer = write_verdict(comparison, costs=not brief)
    shown = _select_best_rows(results, _count_fitting_rows(answer)) if brief else results

    def make_data() -> list[Record]:
        return iterate_records(comparison, results)

    notes = find_notes(comparison, shown)
    if brief:
        table = _make_brief_table(comparison, shown, sort, by)
        stars = any(column.best for column in table.columns)
        notes = [_describe_legend(results, shown, stars), *notes]
    else:
        table = _make_full_table(shown, by, comparison.resolution)
    return Report(
        verdict=answer,
        parts=[table],
        notes=notes,
        method=explain_method(comparison, results),
        data=Data(list_fields(comparison), make_data, make_data),
    )


def order_rows(comparison: Comparison, sort: str, by: str = "strategy") -> list[Result]:
    """Return the results in the order of the table's rows.

    ``by``: one row per strategy, or per entity or recording and then per strategy.
    """
    if by == "strategy":
        return sort_results(comparison.results, sort)
    places: dict[str, list[Result]] = {}
    for result in comparison.by_entity if by == "entity" else comparison.by_recording:
        places.setdefault(result.place, []).append(result)
    return [result for results in places.values() for result in sort_results(results, sort)]


def sort_results(results: Sequence[Result], by: str) -> list[Result]:
    """Sort results by a metric, best first and those without a value last; or by ``name``.

    ``given`` leaves them in their order.
    """
    if by == "given":
        return list(results)
    if by == "name":
        return sorted(results, key=lambda one: one.label)
    metric = find_metric(by)
    return sorted(results, key=lambda one: (not one.ranked, metric.rank(one.value(by))))


# ---------------------------------------------------------------- the table


#: Rows of a brief table, fewer below a long verdict: with it they fit a screen of this size, whose
#: other lines are the prompt, two blank lines, the heads of the columns, and three of the legend.
MOST_ROWS, _SCREEN, _OTHER_LINES = 10, (80, 24), 7

#: Metrics of a brief table, and the one that it is sorted by.
BRIEF = ("score", "error", "lag", "jumps")

#: Mark of strategies that may be best: none is clearly better.
MAY_BE_BEST = "+"

#: Costs in a word, as a brief table names them.
_COST_NAMES = {
    "accuracy": "shape",
    "smoothness": "jerk",
    "latency": "lag",
    "overshoot": "over",
    "backward": "back",
}


def _make_full_table(results: Sequence[Result], by: str, resolution: float) -> Table:
    """Return a table with a row for each result; empty lines separate entities or recordings."""
    metrics = make_metric_columns(results, resolution)
    if metrics and metrics[0].key == "score":
        scores, likely, marks = (
            metrics[0],
            list_likely_scores(results),
            _mark_possible_winners(results),
        )
        if any(marks):
            words = ["maybe" if mark else "no" for mark in marks]
            metrics.insert(0, Column(MAYBE, words, right=True, group=scores.group))
        if any(likely):
            between = Column(LIKELY, likely, scores.weight - 1, right=True, group=scores.group)
            metrics.insert(metrics.index(scores) + 1, between)
    labels = [result.label for result in results]
    return Table([*_label_columns(results, by, labels), *metrics], _find_group_starts(results))


def _make_brief_table(
    comparison: Comparison, results: Sequence[Result], sort: str, by: str
) -> Table:
    """Return a table of score and interval, error, lag, jumps, main cost, and a picture."""
    keys = [*BRIEF, *([sort] if sort not in (*BRIEF, "name", "given") else [])]
    metrics = [
        replace(
            column,
            weight=KEPT if column.key == "score" else column.weight,
            group="",
            best=column.best or None,
        )
        for column in make_metric_columns(results, comparison.resolution)
        if column.key in keys
    ]
    likely = list_likely_scores(results)
    if any(likely):
        metrics.insert(1, Column(LIKELY, likely, right=True))
    drawn = any(likely) and len(results) > 1
    if drawn:
        bars = [_make_error_bar(result) for result in results]
        metrics.append(Column("", [""] * len(results), error_bars=bars))
    names = [_find_main_cost(result, comparison) for result in results]
    costs = Column("main cost", names, weight=1, styles=["dim"] * len(names))
    metrics.insert(len(metrics) - drawn, costs)
    marks, labels = _mark_possible_winners(results), [result.label for result in results]
    if any(marks):
        signs = [MAY_BE_BEST if mark else " " for mark in marks]
        labels = [f"{sign} {label}" for sign, label in zip(signs, labels, strict=True)]
    return Table([*_label_columns(results, by, labels), *metrics], _find_group_starts(results))


def _label_columns(results: Sequence[Result], by: str, labels: Sequence[str]) -> list[Column]:
    """Return the columns that name each row's strategy, and its entity or recording."""
    title = "  strategy" if labels and labels[0].startswith((" ", MAY_BE_BEST)) else "strategy"
    columns = [Column(title, labels, text=True)]
    if by != "strategy":
        columns.append(Column(by, [result.place for result in results], text=True))
    return columns


def _find_group_starts(results: Sequence[Result]) -> list[int]:
    """Return the rows above which the table has an empty line: another entity or recording begins.

    No lines if each entity or recording has one row.
    """
    begins = [row for row, (a, b) in enumerate(pairwise(results), 1) if a.place != b.place]
    return begins if len(begins) < len(results) - 1 else []


def _mark_possible_winners(results: Sequence[Result]) -> list[bool]:
    """Return True for each result that shares the first rank of its entity or recording."""
    first = [rank == 1 for rank in list_ranks(results)]
    places = [result.place for result, one in zip(results, first, strict=True) if one]
    return [
        one and places.count(result.place) > 1 for result, one in zip(results, first, strict=True)
    ]


def _count_fitting_rows(answer: Sequence[str]) -> int:
    """Return the number of rows that fit a screen below this verdict."""
    lines = sum(len(textwrap.wrap(sentence, _SCREEN[0])) for sentence in answer)
    return max(1, min(MOST_ROWS, _SCREEN[1] - _OTHER_LINES - lines))


def _select_best_rows(results: Sequence[Result], most: int) -> list[Result]:
    """Return the rows of a brief table: the first few of each entity or recording."""
    places: dict[str, list[Result]] = {}
    for result in results:
        places.setdefault(result.place, []).append(result)
    each = max(1, (most + 1) // max(1, len(places)) - 1)  # a line is left between two places
    return [result for rows in [*places.values()][:most] for result in rows[:each]]


def _describe_legend(results: Sequence[Result], shown: Sequence[Result], stars: bool) -> str:
    """Return the line below a brief table: the meaning of its marks, and how to see all rows."""
    marked = sum(_mark_possible_winners(results))
    more = len(results) - len(shown)
    words = [f"{MAY_BE_BEST} may be best ({marked} of {len(results)})."] if marked else []
    words += ["* clearly best."] if stars else []
    rows = f"{format_count(more, 'more row')}, all" if more else "All"
    words.append(f"{rows} columns: --full; method: --explain.")
    return " ".join(words)


def _make_error_bar(result: Result) -> ErrorBar:
    """Return a score with the ends of its interval."""
    low, high = result.interval("score")
    return ErrorBar(low, result.value("score"), high)


def _find_main_cost(result: Result, comparison: Comparison) -> str:
    """Return the cost that takes most from a score, in a word; ``-`` if no cost is known."""
    counting = comparison.weights if comparison.turns else drop_turning(comparison.weights)
    name = find_weakest_cost(result, counting)
    known_cost = result.ranked and result.value(f"{name}_cost") > 0
    return _COST_NAMES.get(name, name) if known_cost else "-"


def make_metric_columns(results: Sequence[Result], resolution: float = 0.0) -> list[Column]:
    """Return a column for each metric with a known value; the best values are marked."""
    made = []
    judged = any(result.values for result in results)
    for metric in list_shown_metrics():
        values = [result.value(metric.name) for result in results]
        if judged and all(map(math.isnan, values)) and metric.weight < KEPT_WEIGHT:
            continue
        cells = [metric.format_cell(value, resolution) for value in values]
        column = Column(
            metric.title,
            [_mark_cell(metric, cell, one) for cell, one in zip(cells, results, strict=True)],
            metric.weight,
            right=True,
            best=_find_best_values(metric, results, cells),
            group=metric.section.name,
            key=metric.name,
            meaning=metric.help,
        )
        made.append(column)
    if made:
        first = [
            "failed" if one.failed else cell
            for one, cell in zip(results, made[0].cells, strict=True)
        ]
        made[0] = replace(made[0], cells=first)
    return made


def _mark_cell(metric: Metric, cell: str, result: Result) -> str:
    """Return a cell, with a mark if the value needs care."""
    marks = MARKS.get(metric.name, {})
    if result.failed:
        return cell
    return cell + next((marks[note.flaw] for note in result.notes if note.flaw in marks), "")


def _find_best_values(metric: Metric, results: Sequence[Result], cells: Sequence[str]) -> set[int]:
    """Return the rows with the best value, one for each entity or recording.

    A row is left out if the second best value is written the same, if both are equal within the
    data's resolution, or if the standing of a result does not call it clearly better.
    """
    best: set[int] = set()
    if metric.better is Better.NEITHER:
        return best
    values = [result.value(metric.name) for result in results]
    for place in {result.place for result in results}:
        rows = [i for i, one in enumerate(results) if one.place == place and one.ranked]
        rows = [i for i in rows if not math.isnan(values[i])]
        rows.sort(key=lambda i: metric.rank(values[i]))
        if len(rows) < 2 or cells[rows[0]].lstrip("-") == cells[rows[1]].lstrip("-"):
            continue
        first = results[rows[0]]
        if first.rank is None or metric.name in first.standing.ahead:
            best.add(rows[0])
    return best


def list_likely_scores(results: Sequence[Result]) -> list[str]:
    """Return the interval of each score as text: ``77-81``."""
    cells = [format_interval(*result.interval("score"), format_whole, "-") for result in results]
    return [cell.replace("at most ", "to ") for cell in cells]


# ---------------------------------------------------------------- the data


def list_fields(comparison: Comparison) -> list[str]:
    """Return the columns of CSV, which are the keys of JSON lines."""
    return [*_PLACES, *_ADVICE, *list_column_names(comparison.turns, comparison.sent), "note"]


def iterate_records(comparison: Comparison, results: Sequence[Result]) -> list[Record]:
    """Return a record for each result, its keys in the order of ``list_fields``."""
    games = find_best_games(comparison.results)
    found: list[Record] = []
    names = list_fields(comparison)
    for result, rank in zip(results, list_ranks(results), strict=True):
        values = _make_record(result, games if result.rank is not None else {}) | {"rank": rank}
        found.append({name: values[name] for name in names})
    return found


def _make_record(result: Result, games: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return all metrics of a result by name, with all digits; None for unknown values.

    Each metric, and the ends of its interval (``_low``, ``_high``), are in the metric's unit.
    ``behind`` is in points of score behind the best. ``games`` are the kinds of games in which a
    strategy would have the best score, by label (``find_best_games``).
    """
    gap = result.standing.gap
    behind = gap[:3] if gap else (math.nan, math.nan, math.nan)
    numbers = dict(zip(_ADVICE[2:5], behind, strict=True)) | result.list_values()
    return {
        "strategy": result.label,
        "entity": result.entity,
        "recording": result.recording,
        "rank": result.rank,
        "good": None if result.rank is None else is_good(result),
        **{name: replace_unknown(value) for name, value in numbers.items()},
        "rows": None if math.isnan(result.value("rows")) else int(result.value("rows")),
        "best_for": " ".join(games.get(result.label, ())),
        "note": "; ".join(map(describe_flaw, result.notes)),
    }


class Diagnoses:
    """The diagnoses of the first recordings, as sections of the comparison's page.

    Pass ``look`` each run that this process reads.
    """

    def __init__(self, given: RunInputs) -> None:
        from epic_cli.show.page import MOST  # only a page has them

        self._given = given
        recorded = given.recordings if isinstance(given, RecordedRuns) else ()
        self._files = {get_run_name(file): file for file in recorded[:MOST]}
        self._sections: dict[str, Section | None] = {}

    def look(self, run: Run) -> None:
        """Diagnose the recording of a run; recordings with too few packets get no section."""
        if run.name not in self._files:
            return
        from epic_cli.jobs.diagnose import run as diagnosing
        from epic_cli.jobs.diagnose.report import report as diagnosed
        from epic_cli.jobs.diagnose.spec import DiagnoseSpec
        from epic_cli.metrics.traffic import TooFewPackets
        from epic_cli.show.page import Section

        section = None
        with contextlib.suppress(TooFewPackets):
            found = diagnosing.run(DiagnoseSpec(run.packets))
            section = Section(run.name, diagnosed(run.name, found))
        self._sections[run.name] = section

    def list_sections(self) -> list[Section]:
        """Return the page's section of each recording.

        Recordings that another process compared are read now. A recording that cannot be read here
        has no section.
        """
        for name, file in self._files.items():
            if file != "-" and name not in self._sections and isinstance(self._given, RecordedRuns):
                with contextlib.suppress(*UNUSABLE):
                    self.look(self._given.run(file, ReadingLog(name), None, ReadingLog))
        found = [self._sections.get(name) for name in self._files]
        return [section for section in found if section is not None]
