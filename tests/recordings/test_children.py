"""Child processes never import modules from the folder in which the program was started."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.game_files import Fighter, needs_slippi, slippi
from support.places import ROOT
from support.running import environment

PACKAGE = ROOT / "epic_cli"

KINDS = ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")

#: What starts processes, by module; None: whatever is taken from it.
STARTING = {
    "subprocess": {"Popen", "run", "call", "check_call", "check_output", "getoutput"},
    "multiprocessing": {"Process", "Pool", "Manager", "get_context", "set_start_method"},
    "concurrent.futures": {"ProcessPoolExecutor"},
    "concurrent.futures.process": None,
    "asyncio": {"create_subprocess_exec", "create_subprocess_shell"},
    "distributed": {"LocalCluster", "Nanny"},
    "os": {
        *("system", "popen", "fork", "forkpty", "startfile", "posix_spawn", "posix_spawnp"),
        *(
            f"{how}{kind}"
            for how in ("exec", "spawn")
            for kind in ["l", "le", "lp", "lpe", "v", "ve", "vp", "vpe"]
        ),
    },
    "pty": {"fork", "spawn"},
    "webbrowser": {"get", "open", "open_new", "open_new_tab"},
    "click": {"edit", "launch", "echo_via_pager"},
}

IMPORTING = re.compile(rf"(?m)^\s*(?:import|from) (?:{'|'.join(STARTING)})\b")

#: Where: with a safe path; by the system's own means, or what the user has named, for reading.
SAFE = {
    "recordings/children.py: subprocess.Popen",
    "work/executors.py: multiprocessing.get_context",
    "work/executors.py: concurrent.futures.ProcessPoolExecutor",
}
OTHERS = {
    "jobs/check/port.py: subprocess.Popen",  # the type of what is started
    "live/command_line.py: webbrowser.get",
    "session/terminal.py: click.echo_via_pager",
}


def dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def started_in(path: Path) -> set[str]:
    """Return the functions of ``STARTING`` that a module uses, whatever it calls them."""
    found: set[str] = set()
    modules: dict[str, str] = {}
    text = path.read_text()
    if not IMPORTING.search(text):
        return found
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module in STARTING:
            names = STARTING[node.module]
            found |= {
                f"{node.module}.{alias.name}"
                for alias in node.names
                if names is None or alias.name in names | {"*"}
            }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            module = modules.get(dotted(node.value), "")
            if module in STARTING and node.attr in (STARTING[module] or {node.attr}):
                found.add(f"{module}.{node.attr}")
    return found


def test_every_place_that_starts_a_process_is_known() -> None:
    building = PACKAGE / "engine" / "build.py"  # of the package, in its own folder
    found = {
        f"{path.relative_to(PACKAGE).as_posix()}: {started}"
        for path in PACKAGE.rglob("*.py")
        if path != building
        for started in started_in(path)
    }
    assert found == SAFE | OTHERS


@pytest.fixture(scope="module")
def trap(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of recordings with a file named like each module of Python and of ours."""
    folder = tmp_path_factory.mktemp("trap")
    names = {*sys.stdlib_module_names, *(path.name for path in PACKAGE.iterdir()), "numpy", "cmaes"}
    for name in names:
        (folder / f"{name}.py").write_text(f"open('ran', 'a').write('{name} ')")
    for name in "ab":
        (folder / f"{name}.txt").write_bytes((ROOT / "sample_inputs/turn.txt").read_bytes())
    frames = [(number, {(0, False): Fighter(number / 7, 0)}) for number in range(99)]
    (folder / "match.slp").write_bytes(slippi(frames))
    return folder


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Start ``epic`` as an installed script does."""
    path = tmp_path_factory.mktemp("bin") / "epic"
    path.write_text("from epic_cli.main import run\nif __name__ == '__main__':\n    run()\n")
    return str(path)


@pytest.mark.parametrize(
    "words",
    [
        "EPIC compare -s lerp,hermite --workers 2 a.txt b.txt",
        pytest.param("EPIC convert --to csv match.slp", marks=needs_slippi),
    ],
)
def test_recordings_beside_modules_of_pythons_names_run_nothing(
    trap: Path, script: str, words: str
) -> None:
    clean = environment()
    clean.pop("PYTHONSAFEPATH", None)
    command = [sys.executable, *words.replace("EPIC", script).split()]
    ended = subprocess.run(command, cwd=trap, env=clean, capture_output=True, check=False)
    ran = (trap / "ran").read_text() if (trap / "ran").exists() else ""
    (trap / "ran").unlink(missing_ok=True)
    assert (ended.returncode, ran) == (0, ""), ended.stderr.decode()
