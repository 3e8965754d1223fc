"""Tests of strategies from other installed packages, working and broken."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import epic_cli
from epic_cli import StrategyFailed, UnknownStrategy, replay, strategy
from epic_cli.engine.places import UnusablePlugin
from epic_cli.engine.strategies import find_class, get_declaration, list_names, list_unusable

GOOD = '''
from epic_cli import Number, Sample

class Good:
    """Stands at the origin."""
    settings = (Number("gain", 0.5, "a share", "", 0, 1),)

    def __init__(self, gain): self.gain = gain
    def reset(self): pass
    def update(self, packet, now): return True
    def read(self, at): return Sample(at, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), "held")

class Other(Good):
    """Another one."""

class Bare:
    """Has no methods."""

class Needy(Good):
    """Cannot be made without its setting."""
    settings = None

    def __init__(self, gain): self.gain = gain

class Wrong(Good):
    """Declares what is no setting."""
    settings = (1, 2)

class Curse(type):
    @property
    def declaration(cls): raise LookupError("no words")

class Cursed(Good, metaclass=Curse):
    """Raises when it is asked for its declaration."""

class Fragile(Good):
    """Raises when it is made."""
    def __init__(self, gain): raise OSError("no device")

function = print
'''

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install a package with these entry points; its module is ``tiny_NAME``."""
    monkeypatch.setenv("EPIC_ENTRY_POINTS", "on")
    monkeypatch.syspath_prepend(tmp_path)

    def add(distribution: str, source: str = GOOD, /, **points: str) -> None:
        information = tmp_path / f"{distribution}-1.2.dist-info"
        information.mkdir()
        (information / "METADATA").write_text(f"Name: {distribution}\nVersion: 1.2\n")
        lines = [f"{name.replace('_', '-')} = {value}\n" for name, value in points.items()]
        (information / "entry_points.txt").write_text("[epic_cli.strategies]\n" + "".join(lines))
        (tmp_path / f"tiny_{distribution}.py").write_text(source)
        monkeypatch.delitem(sys.modules, f"tiny_{distribution}", raising=False)

    return add


def test_a_strategy_of_another_package_stands_behind_the_built_in_ones(install: Install) -> None:
    built_in = list_names()
    install("whole", their_own="tiny_whole:Good")
    assert list_names() == [*built_in, "their-own"]
    assert list_unusable() == []
    assert get_declaration("their-own").name == "their-own"
    assert get_declaration("their-own").summary == "Stands at the origin."
    assert strategy("their-own", gain="0.25").gain == 0.25  # type: ignore[attr-defined]
    assert epic_cli.strategies()[-1].name == "their-own"
    with pytest.raises(UnknownStrategy, match="did you mean 'their-own'"):
        find_class("their-owm")


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("tiny_broken:Nothing", "cannot be loaded: module 'tiny_broken' has no attribute 'Nothi"),
        ("tiny_brokem:Good", "cannot be loaded: No module named 'tiny_brokem'"),
        ("tiny_broken:function", "cannot be loaded: tiny_broken:function is not a class"),
        ("tiny_broken:Bare", "is not a strategy: it has no reset, update, read"),
        ("tiny_broken:Wrong", "is not a strategy: its settings must be Number, Switch"),
        ("tiny_broken:Cursed", "failed while loading: LookupError: no words (tiny_broken.py"),
        (
            "tiny_broken:Fragile",
            "failed while being created: OSError: no device (tiny_broken.py, li",
        ),
        ("tiny_broken:Needy", "cannot be created: missing a required argument: 'gain'"),
        ("tiny_broken", "cannot be loaded: '' is not a module name"),
        ("./tiny_broken.py:Good", "cannot be loaded: './tiny_broken.py' is not a module name"),
    ],
)
def test_a_broken_one_costs_only_itself(
    install: Install, place: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = list_names()
    install("broken", theirs=place, well="tiny_broken:Good")
    assert list_names() == [*before, "well"]
    (flaw,) = list_unusable()
    assert (flaw.name, flaw.distribution) == ("theirs", "broken 1.2")
    assert reason in flaw.reason
    said = "the strategy 'theirs' of broken 1.2 is left out: "
    with pytest.warns(RuntimeWarning, match=said) as caught:
        assert epic_cli.strategies()[-1].name == "well"
    assert caught[0].filename == __file__  # which asks, as Python shows a warning


@pytest.mark.parametrize("statement", ["1 / 0", "import no_such_module", "def", "raise SystemExit"])
def test_a_module_that_cannot_be_imported_costs_only_itself(
    install: Install, statement: str
) -> None:
    before = list_names()
    install("broken", f"import sys\n{statement}\n", theirs="tiny_broken:Good")
    assert list_names() == before
    (flaw,) = list_unusable()
    assert "tiny_broken failed while loading: " in flaw.reason
    assert flaw.reason.endswith("tiny_broken.py, line 2)")
    with pytest.raises(StrategyFailed, match="tiny_broken failed while loading"):
        find_class("theirs")


def test_its_own_line_is_named_where_another_file_of_the_author_failed(
    install: Install, tmp_path: Path
) -> None:
    (tmp_path / "tiny_helper.py").write_text("\n\nraise OSError('no device')\n")
    install("broken", "import sys\nimport tiny_helper\n", one="tiny_broken:Good")
    (tmp_path / "tiny_package").mkdir()
    (tmp_path / "tiny_package/__init__.py").write_text("import tiny_helper\n")
    install("other", two="tiny_package:Good")
    reasons = {flaw.name: flaw.reason for flaw in list_unusable()}
    assert reasons["one"].endswith("/tiny_broken.py, line 2)")
    assert reasons["two"].endswith("/tiny_package/__init__.py, line 1)")


def test_a_name_that_is_taken_is_left_out(install: Install) -> None:
    before = list_names()
    install("one", epic="tiny_one:Good", theirs="tiny_one:Good")
    install("two", theirs="tiny_two:Other")
    assert list_names() == [*before, "theirs"]
    assert get_declaration("theirs").summary == "Stands at the origin."
    assert list_unusable() == [
        UnusablePlugin(
            "epic", "one 1.2", "a built-in strategy has that name: rename its entry point"
        ),
        UnusablePlugin(
            "theirs", "two 1.2", "one 1.2 has that name already: rename its entry point"
        ),
    ]
    assert list(replay([], "epic")) == []


def test_a_replay_by_a_built_in_one_loads_nobody_elses(install: Install, tmp_path: Path) -> None:
    install("slow", "raise AssertionError('loaded')\n", slow="tiny_slow:Good")
    run = subprocess.run(
        [sys.executable, "-m", "epic_cli", "replay"],
        input=b"0,0,0 / 1,0,0 / 0\n",
        capture_output=True,
        check=True,
        cwd=tmp_path,
    )
    assert run.stdout.count(b"\n") == 3
    assert run.stderr == b""


def test_the_commands_name_a_broken_one_and_go_on(install: Install, tmp_path: Path) -> None:
    install("broken", "1 / 0\n", theirs="tiny_broken:Good")
    (tmp_path / "packets").write_text("".join(f"{n},0,0 / 1,0,0 / {n}\n" for n in range(6)))

    def run(*words: str, **settings: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "epic_cli", *words]
        environment = {**settings, "PYTHONPATH": str(tmp_path), "EPIC_ENTRY_POINTS": "on"}
        return subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment
        )

    done = run("compare", "packets", "-s", "epic")
    assert (done.returncode, done.stderr) == (0, "")
    for words in (["strategies"], ["compare", "packets", "--format", "csv"]):
        done = run(*words)
        assert done.returncode == 0
        assert "epic: the strategy 'theirs' of broken 1.2 is left out: " in done.stderr
        assert "ZeroDivisionError: division by zero (tiny_broken.py, line 1)" in done.stderr
        assert "dumb-terminal" in done.stdout
    done = run(_EPIC_COMPLETE="bash_complete", COMP_LINE="epic replay -s ")
    assert "plain\tdumb-terminal" in done.stdout
    assert done.stderr == ""
    done = run("replay", "--strategy", "theirs", "packets")
    assert done.returncode == 4
    assert done.stderr.startswith("epic: strategy tiny_broken failed while loading: ")


def test_a_file_is_loaded_once_until_it_changes(tmp_path: Path) -> None:
    place = tmp_path / "one.py"
    place.write_text(GOOD)
    kinds = [type(strategy(f"{place}:Good")) for _ in range(2)]
    assert kinds[0] is kinds[1]
    place.write_text(GOOD + "\nchanged = True\n")
    os.utime(place, ns=(1, 1))
    assert type(strategy(f"{place}:Good")) is not kinds[0]
