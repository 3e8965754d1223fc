"""Every name that a user meets is explained; for an unknown name the nearest is proposed."""

from __future__ import annotations

import json

import pytest
from support.running import epic

from epic_cli.engine.strategies import list_declarations, list_system_names
from epic_cli.jobs.diagnose.detectors import load_registry
from epic_cli.jobs.diagnose.report.drawbacks import DRAWBACKS
from epic_cli.jobs.explain.report import report, write_overview
from epic_cli.jobs.explain.run import (
    OPTIONS,
    WORDS,
    UnknownName,
    iterate_names,
    list_explanations,
    run,
)
from epic_cli.jobs.explain.spec import ExplainSpec, NameKind
from epic_cli.main import main
from epic_cli.metrics import METRICS
from epic_cli.metrics.metric import GAMES, Weights
from epic_cli.recordings.findings import KINDS
from epic_cli.show.documents import write_jsonl

KNOWN = {
    NameKind.FINDING: {*KINDS},
    NameKind.CAUSE: {one.name for one in load_registry().detectors},
    NameKind.DRAWBACK: {*DRAWBACKS},
    NameKind.METRIC: {one.name for one in METRICS} | {*Weights._fields},
    NameKind.STRATEGY: {one.name for one in list_declarations()} | {*list_system_names()},
    NameKind.SETTING: {one.name for each in list_declarations() for one in each.settings},
    NameKind.OPTION: {option.removeprefix("--") for option in OPTIONS},
    NameKind.KEY: {one.name for table in OPTIONS.values() for one in table},
    NameKind.GAME: {one.name for one in GAMES},
    NameKind.WORD: {name for name, _, _ in WORDS},
}


@pytest.mark.parametrize("kind", NameKind)
def test_each_name_of_a_table_is_explained(kind: NameKind) -> None:
    assert {one.name for one in iterate_names(kind)} == KNOWN[kind]
    for name in KNOWN[kind]:
        found = [one for one in run(ExplainSpec(name.upper())) if one.kind is kind]
        assert found
        for one in found:
            assert one.name == name
            assert one.title
            assert not set("{}") & set(one.title + one.text)


def test_an_option_has_all_its_keys_with_their_defaults() -> None:
    for option, table in OPTIONS.items():
        (one,) = run(ExplainSpec(option.removeprefix("--")))
        terms = dict(one.terms)
        assert [*terms] == [key.name for key in table]
        assert all(key.range in terms[key.name] for key in table)
    assert "default 1200" in dict(run(ExplainSpec("send"))[0].terms)["mtu"]


def test_json_lines_have_what_the_text_has() -> None:
    for one in list_explanations():
        (record,) = map(json.loads, write_jsonl(report([one])).splitlines())
        assert record["name"] == one.name
        assert record["terms"] == dict(one.terms)


def test_the_overview_counts_each_kind() -> None:
    rows = [*write_overview(run(ExplainSpec())).data.rows()]
    assert [row["kind"] for row in rows] == [kind.value for kind in NameKind]
    assert sum(row["names"] for row in rows) == len(list_explanations())


def test_an_unknown_name_gets_the_nearest_names(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UnknownName, match="did you mean clock_drift, clock-drift or"):
        run(ExplainSpec("clockdrift"))
    assert main(["explain", "clockdrift"]) == 2
    assert "clock-drift" in capsys.readouterr().err
    with pytest.raises(UnknownName, match="lists the kinds"):
        run(ExplainSpec("%%%%"))


def test_the_command_prints_the_explanation() -> None:
    done = epic("explain", "e201")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"E201 (finding of inspect)\n")
    assert KINDS["E201"].title.encode() in done.stdout


def test_a_column_and_a_setting_with_its_value_are_names(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for words, name in ((["lag", "ms"], "lag"), (["clock=min"], "clock"), (["95 %"], "error95")):
        assert main(["explain", *words]) == 0
        assert capsys.readouterr().out.startswith(f"{name} (")
