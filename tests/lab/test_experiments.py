"""An experiment, its address and its command line are one and the same."""

from __future__ import annotations

import json
import math
import shlex
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

import pytest
from support.places import SAMPLES
from support.recordings import EXHAUSTIVE
from support.running import epic

from epic_cli.engine.parameters import Choice, Number, SettingError
from epic_cli.engine.strategies import get_declaration, list_remote_names
from epic_cli.lab.page import list_controls, list_values
from epic_cli.lab.run import ExperimentRunner, InvalidExperiment
from epic_cli.lab.spec import (
    BY_HAND,
    GROUPS,
    RECORDED,
    RECORDING,
    TABLE,
    LabInputs,
    LabSpec,
    read_query,
    write_points,
)
from epic_cli.live.browser.session import check_strategies
from epic_cli.metrics.metric import GAMES
from epic_cli.network.link import DISTRIBUTIONS
from epic_cli.network.link_spec import PRESETS
from epic_cli.network.paths import PATHS

HERE = LabInputs(str(SAMPLES / "jitter.txt"), (str(SAMPLES / "half_way.py:HalfWay"),))


def strategy(random: Random, name: str) -> str:
    """Return a strategy with one of its settings anywhere in its range."""
    settings = get_declaration(name).settings
    if not settings or random.random() < 0.4:
        return name
    one = random.choice(settings)
    if isinstance(one, Number) and one.tune is not None:
        value = random.uniform(*one.tune)
        return f"{name}+{one.name}={round(value) if one.whole else round(value, 4)}"
    return f"{name}+{one.name}={random.choice(one.choices)}" if one.choices else name


def experiment(seed: int) -> LabSpec:
    random = Random(seed)
    moves = random.choice([*PATHS, RECORDED, BY_HAND])
    values: dict[str, str] = {
        "duration": f"{random.randint(4, 9)}",
        "seed": str(random.randint(0, 9)),
    }
    if moves in PATHS:
        values["speed"] = f"{random.uniform(1, 20):.3g}"
        values["turning"] = random.choice(["none", "heading", "look", "flick"])
    if moves == BY_HAND or random.random() < 0.7:
        values["send_rate"] = f"{random.randint(10, 60)}"
    if random.random() < 0.3:
        values["quantize"] = random.choice(["0.01", "0.25", "half"])
    if random.random() < 0.3:
        values["preset"] = random.choice([*PRESETS])
    else:
        values["latency"] = f"{random.randint(0, 300)}ms"
        values["jitter"] = f"{random.randint(0, 60)}ms"
        values["distribution"] = random.choice(DISTRIBUTIONS)
    loss = random.choice(["", "loss", "gemodel"])
    if loss:
        values[loss] = "5%" if loss == "loss" else "3%,40%"
    if random.random() < 0.3:
        values["in_order"] = "on"
    if random.random() < 0.5:
        values["weights"] = random.choice([game.name for game in GAMES])
    if random.random() < 0.5:
        values["tick"] = random.choice(["1/60", "30hz", "50ms", "0.0125", "7ms"])
    changes = ("2s loss=100%", "2.5s loss=1% latency=90ms") if random.random() < 0.4 else ()
    points = ";".join(
        f"{n / 60:.4f},{5 * math.cos(n / 40):.3f},{random.gauss(0, 1):.3f}" for n in range(400)
    )
    names = random.sample([*list_remote_names(), *HERE.own * 9], random.randint(1, 4))
    names = list(dict.fromkeys(names))  # the own one often, but once
    return LabSpec(
        moves,
        tuple((row.name, values[row.name]) for row in TABLE if row.name in values),
        changes,
        tuple(strategy(random, name) for name in names),
        points if moves == BY_HAND else "",
        random.choice([1, 1, 3]),
    )


@pytest.mark.parametrize("seed", range(60))
def test_an_address_holds_the_whole_experiment(seed: int) -> None:
    spec = experiment(seed)
    assert read_query(spec.query(), HERE.own) == spec
    assert read_query(f"http://localhost:1/token/?{spec.query()}#t=3.2&log=1", HERE.own) == spec


def figures(found: Any) -> list[dict[str, Any]]:
    """Return each strategy's figures as JSON has them: None for unknown ones."""
    return [
        {name: None if math.isnan(value) else value for name, value in result.list_values().items()}
        for result in found.results
    ]


@pytest.mark.parametrize("seed", range(10 if EXHAUSTIVE else 4))
def test_the_command_makes_the_same_figures_to_the_last_bit(seed: int, tmp_path: Path) -> None:
    spec = experiment(seed)
    same_as_command(spec, tmp_path)


def test_the_same_of_a_recording_as_it_arrived(tmp_path: Path) -> None:
    spec = LabSpec(RECORDING, strategies=("epic", "mirror", *HERE.own))
    usual = same_as_command(spec, tmp_path)
    judged = (("weights", "shooter"), ("tick", "25ms"))
    found = same_as_command(replace(spec, values=(("latency", "90ms"), *judged)), tmp_path)
    assert [record["score"] for record in found] != [record["score"] for record in usual]
    assert [record["error"] for record in found] != [record["error"] for record in usual]


def test_the_same_with_what_the_game_drew(tmp_path: Path) -> None:
    frames = tmp_path / "frames.txt"
    frames.write_bytes(epic("replay", "-s", "chase", HERE.recording).stdout)
    given = HERE._replace(drawn=f"{frames},offset=0.01")
    found = same_as_command(LabSpec(RECORDING, strategies=("snapshot",)), tmp_path, given)
    assert [row["strategy"] for row in found] == ["snapshot", "drawn"]


def same_as_command(spec: LabSpec, folder: Path, given: LabInputs = HERE) -> list[dict[str, Any]]:
    runner = ExperimentRunner(given)
    read = runner.read(spec)
    runner.draw_picture(read)  # what the page shows first changes nothing of what comes then
    found = runner.compute_comparison(read, pictured=spec.networks == 1)
    runner.close()
    if spec.points:
        (folder / HERE.by_hand).write_bytes(write_points(spec.points))
    words = shlex.split(spec.write_command(given))
    done = epic(*words[1:], "--sort", "given", "--format", "jsonl", cwd=folder)
    assert done.returncode in (0, 1), done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["strategy"] for row in rows] == read.labels
    for row, own in zip(rows, figures(found), strict=True):
        assert {name: row[name] for name in own if name in row} == {
            name: value for name, value in own.items() if name in row
        }
        assert len(set(own) & set(row)) > 20
    return rows


def test_every_parameter_of_the_tables_has_a_control() -> None:
    found = list_controls(LabInputs("mine.csv"))
    folded = sorted(
        [*found["front"], *(name for names in found["folds"].values() for name in names)]
    )
    assert folded == sorted({row.name for row in TABLE} - {"path"})
    for name, group in GROUPS.items():
        shown = {field["name"]: field for field in found["groups"][name]}
        for parameter in group:
            if parameter.name == "path":
                continue
            about = shown[parameter.name]
            assert about["help"] == parameter.help.partition("  [")[0]
            if isinstance(parameter, Number):
                # a slider never leads where the engine refuses to go
                parameter.verify(about["low"] if not parameter.whole else int(about["low"]))
                parameter.verify(about["high"] if not parameter.whole else int(about["high"]))
                assert about["low"] < about["high"]
            elif isinstance(parameter, Choice):
                assert tuple(filter(None, about["words"])) == parameter.choices
                assert ("" in about["words"]) == (parameter.default is None)
    for name in list_remote_names():
        shown = {setting["name"]: setting for setting in found["strategies"][name]["settings"]}
        for setting in get_declaration(name).settings:
            about = shown[setting.name]
            if isinstance(setting, Number):
                for end in (about["low"], about["high"]):
                    setting.check(end)
                assert about["low"] < about["high"], setting.name


def test_controls_stand_at_what_is_in_force() -> None:
    runner = ExperimentRunner(HERE)
    preset = list_values(runner.read(read_query("movement=circle&link=lte,jitter=7ms")))
    assert preset["latency"] == repr(PRESETS["lte"].down.latency)
    assert preset["jitter"] == "0.007"
    assert (preset["loss"], preset["gemodel"]) == ("0.04", "")
    bursts = list_values(
        runner.read(read_query('movement=circle&link=gemodel="1%25,30%25",loss=5%25'))
    )
    assert (bursts["loss"], bursts["gemodel"]) == ("", "0.01,0.3,1.0,0.0")
    assert (bursts["send_rate"], bursts["duration"]) == ("20.0", "10.0")
    assert (bursts["weights"], bursts["tick"]) == ("", "1/60")
    judged = list_values(runner.read(read_query("movement=recording&weights=vehicle&tick=30hz")))
    assert (judged["weights"], judged["tick"]) == ("vehicle", "1/30")
    assert (judged["send_rate"], judged["duration"]) == ("recorded", "")
    assert float(list_values(runner.read(read_query("movement=circle&tick=0.001")))["tick"]) == 1e-3
    with pytest.raises(InvalidExperiment, match="1 ms or more"):
        runner.read(read_query("movement=circle&tick=0.00099"))
    runner.close()


@pytest.mark.parametrize(
    "query",
    [
        "movement=nowhere",
        "movement=circle,speed=fast",
        "link=4gg",
        "send=fast",
        "path=circle",
        "s=nobody",
        'link=at="-1s loss=1"',
        "seed=1.5",
        "weights=chess",
        "tick=fast",
    ],
)
def test_an_address_that_is_no_experiment_is_refused(query: str) -> None:
    with pytest.raises(SettingError):
        read_query(query)


@pytest.mark.parametrize("name", ["epic", "mirror", "epic+calc_ahead=0.1", "nobody"])
@pytest.mark.parametrize(
    "words",
    ["{file}:Own", "{name}+/..{file}:Own", "{name}+{up}{file}:Own",
     "{name}+x/{up}{file}:Own+gain=1", "{name}:{file}:Own", "own:Own",
     "{name}+own:Own", "{up}{file}:Own"],
)  # fmt: skip
def test_no_address_names_code(
    name: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = tmp_path / "ran"
    (tmp_path / "own.py").write_text(f"open({str(ran)!r}, 'w')\nclass Own: pass\n")
    monkeypatch.chdir(tmp_path)
    text = words.format(name=name, file=tmp_path / "own.py", up="/.." * 30)
    for query in (f"s={text}", f"s={quote(text)}", f"movement=circle&s=epic&s={quote(text)}"):
        with pytest.raises(SettingError):
            read_query(query)
    with pytest.raises(SettingError):
        check_strategies([text], ["snapshot"])
    assert not ran.exists()
