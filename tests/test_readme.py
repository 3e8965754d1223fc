"""The documents: every example in them is run as written, and every link has a target.

``pytest tests/test_readme.py --update-goldens`` writes what the examples print now into the
documents, and the tables of strategies and metrics; read it with ``git diff``.
"""

import contextlib
import csv
import io
import pkgutil
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image, ImageSequence
from support.places import ROOT, TESTS
from support.recordings import EXHAUSTIVE, few_of
from support.running import shell

from epic_cli import strategies
from epic_cli.engine.keys import KEYS
from epic_cli.engine.strategies.systems import SYSTEMS
from epic_cli.jobs.diagnose.detectors import load_registry
from epic_cli.metrics import METRICS
from epic_cli.metrics.metric import GAMES, Better, Weights
from epic_cli.metrics.score import COSTS

DOCUMENTS = sorted(
    [
        *(ROOT / folder / "README.md" for folder in (".", "sample_inputs")),
        *(ROOT / "epic_cli").rglob("README.md"),
        *TESTS.rglob("README.md"),
        *(ROOT / ".github").rglob("*.md"),
    ]
)
README = ROOT / "README.md"
ENGINE = ROOT / "epic_cli" / "engine" / "README.md"
FORMATS = ROOT / "epic_cli" / "recordings" / "README.md"
METRICS_GUIDE = ROOT / "epic_cli" / "metrics" / "README.md"
DIAGNOSIS = ROOT / "epic_cli/jobs/diagnose/README.md"

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
CONSOLE = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
STEP = re.compile(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
PYTHON = re.compile(r"(?<=^```python\n)(.*?)^```\n\n```output\n(.*?)(?=^```$)", re.M | re.S)
TABLE = re.compile(r"(?<= -->\n)(?:\|.*\n)*(?=<!-- end -->$)", re.MULTILINE)
IN_A_TABLE = re.compile(r"^\|[^`\n]*\| `(epic [^`]*)` \|", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)")

documents = pytest.mark.parametrize(
    "document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT))
)


#: Searches of ten seconds, and ports beside all built-in streams; tests/jobs has smaller ones of
#: both. They run each week, and before their output is written into a document.
LONG = re.compile(
    r"epic (?:tune --(?:design|bytes) |check --builtin .*(?:--(?:atol|feed) |'epic replay ))"
)

#: What no example may print: epic itself has failed, or is not there.
BROKEN = re.compile(r"Traceback|there is no program|command not found")


def carried_out(text: str, folder: Path, everything: bool) -> str:
    """Return the document with the present output of its examples, run in one folder.

    What an example of ``LONG`` printed stays as it is unless ``everything``.

    A command that fails has to print what stands there already: what it says instead is never
    taken, and no example may break.
    """

    def say(step: re.Match[str]) -> str:
        if LONG.match(step[1]) and not everything:
            return step[0]
        failing = "set -o pipefail; " if "|" in step[1] else ""
        done = shell(f"{failing}{step[1]}", cwd=folder)
        # on a terminal both streams are seen; what is told comes before the last row here
        said = f"$ {step[1]}\n{(done.stderr + done.stdout).decode()}"
        assert not BROKEN.search(said), said
        assert done.returncode == 0 or said == step[0], said
        return said

    def evaluate(example: re.Match[str]) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(example[1], "README.md", "exec"), {"__name__": "readme"})
        return f"{example[1]}```\n\n```output\n{printed.getvalue()}"

    text = CONSOLE.sub(lambda session: STEP.sub(say, session[0]), text)
    return PYTHON.sub(evaluate, text)


@documents
def test_the_examples_print_what_is_shown(
    document: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    (tmp_path / "sample_inputs").symlink_to(ROOT / "sample_inputs")
    text = document.read_text()
    update = request.config.getoption("--update-goldens")
    printed = carried_out(text, tmp_path, EXHAUSTIVE or update)
    for drawn in tmp_path.glob("*.svg"):
        picture = TESTS / "pictures" / drawn.name
        if update:
            picture.write_bytes(drawn.read_bytes())
        assert picture.read_bytes() == drawn.read_bytes()
    if update:
        document.write_text(printed)
    else:
        assert printed == text


COMMANDS = sorted({each for path in DOCUMENTS for each in IN_A_TABLE.findall(path.read_text())})


@pytest.mark.parametrize("command", few_of(COMMANDS[::3] + COMMANDS[1::3] + COMMANDS[2::3], 6))
def test_the_commands_in_tables_work(command: str) -> None:
    done = shell(command, cwd=ROOT)
    assert done.returncode == 0
    assert done.stdout


@documents
def test_every_example_is_one_that_is_run(document: Path) -> None:
    text = document.read_text()
    kinds = [kind for kind, _ in BLOCK.findall(text)]
    ours = {"console", "cython", "output", "python", "sh", "text", "toml"}
    # what other programs need stands in their languages, and is built and run by
    # tests/jobs/check/test_ports.py, tests/jobs/code/test_circle.py and
    # tests/live/test_other_programs.py
    theirs = {"check": {"cpp", "py"}, "code": {"ts"}, "live": {"cpp", "js", "py"}}
    assert set(kinds) <= ours | theirs.get(document.parent.name, set())
    assert len(PYTHON.findall(text)) == kinds.count("python") == kinds.count("output")
    assert len(CONSOLE.findall(text)) == kinds.count("console")
    for session in CONSOLE.findall(text):
        assert "".join(step[0] for step in STEP.finditer(session)) == session


def slugs(text: str) -> set[str]:
    """Return the anchors of a document's headings."""
    headings = re.findall(r"^#+ (.*)$", BLOCK.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@documents
def test_every_link_leads_somewhere(document: Path) -> None:
    for place, anchor in LINK.findall(document.read_text()):
        target = document.parent / place if place else document
        assert target.exists(), place
        assert not anchor or anchor in slugs(target.read_text()), anchor


ADDRESS = re.compile(r"`(?:(epic_cli(?:\.\w+)+)|((?:\w+/)+\w+\.(?:py|pyx|h|js)))\b")


@documents
def test_every_address_is_there(document: Path) -> None:
    """Names of the package, and files: of the document's folder, the project, the package."""
    roots = (document.parent, ROOT, ROOT / "epic_cli", ROOT / "epic_cli" / "engine")
    for name, path in ADDRESS.findall(document.read_text()):
        if name and name != "epic_cli.detectors":  # which is a group of entry points
            assert pkgutil.resolve_name(name) is not None
        elif path and "my_" not in path and path == path.lower():  # NAME.py: the reader's own
            assert any((root / path).exists() for root in roots), path


PICTURE = re.compile(r"!\[[^\]]*\]\(([^)]*)\)")


def pictures(document: Path) -> list[Path]:
    """Return the pictures of a document."""
    return [(document.parent / match).resolve() for match in PICTURE.findall(document.read_text())]


def test_each_picture_can_be_seen() -> None:
    shown = {picture for document in DOCUMENTS for picture in pictures(document)}
    assert {
        file for file in (TESTS / "pictures").iterdir() if file.suffix in (".gif", ".png", ".svg")
    } <= shown
    for file in shown:
        if file.suffix == ".svg":
            ElementTree.parse(file)
            continue
        assert file.stat().st_size < 1_000_000, file
        with Image.open(file) as film:
            if file.suffix == ".png":
                film.load()
                continue
            lasts = []
            for frame in ImageSequence.Iterator(film):
                frame.load()
                lasts.append(frame.info["duration"])
        assert len(lasts) > 30, file
        if file.name == "loop.gif":
            assert 9_000 < sum(lasts) < 12_000


def test_the_readme_leads_to_every_guide() -> None:
    linked = {(README.parent / place).resolve() for place, _ in LINK.findall(README.read_text())}
    guides = {path for path in DOCUMENTS if "epic_cli" in path.parts}
    assert guides <= linked


def strategy_table() -> str:
    """Return the table of strategies, from their declarations."""
    declared = strategies()
    lines = ["| strategy | what it draws | needs | lag |", "| --- | --- | --- | --- |"]
    for family in dict.fromkeys(declaration.family for declaration in declared):
        lines.append(f"| *{family}* | | | |")
        for described in declared:
            if described.family == family:
                needs = ", ".join(described.needs_words) or "positions only"
                cells = (f"`{described.name}`", described.summary, needs, described.lag)
                lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


BETTER = {Better.LOW: "low", Better.HIGH: "high", Better.NEAR_ZERO: "near 0", Better.NEITHER: ""}


#: Simulated networks, and the same with an outage of half a second in place of the losses.
MATCH = "--movement strafe --send 20 --seeds 6 --pacing frame --tick 60hz -f csv -q -s"
STEADY = "latency=50ms,jitter=10ms,loss=1%"
OUTAGE = 'latency=50ms,jitter=10ms,at="8s loss=100%",at="8.5s loss=0"'

#: Settings that 20 packets a second ask for.
RATES = {"netcode-for-entities": "+net_rate=20"}


def system_table() -> str:
    """Return the table of engines, with what ``epic compare`` measures."""
    named = {f"{one.name}{RATES.get(one.name, '')}": one for one in SYSTEMS}
    compare = f"epic compare {MATCH} {','.join(named)} --link"
    steady, outage = (
        {row["strategy"]: row for row in csv.DictReader(io.StringIO(done.stdout.decode()))}
        for done in (shell(f"{compare} '{link}'", cwd=ROOT) for link in (STEADY, OUTAGE))
    )
    lines = [
        "| engine | `-s` | lag, ms | jumps | while nothing comes | largest jump then |",
        "| --- | --- | ---: | ---: | --- | ---: |",
    ]
    for spec, one in sorted(named.items(), key=lambda item: item[1].title.lower()):
        usual, without = steady[spec], outage[spec]
        minutes = float(usual["rows"]) * float(usual["tick"]) / 60
        cells = (
            one.title,
            f"`{spec}`",
            f"{float(usual['lag']) * 1e3:.0f}",
            f"{float(usual['jumps']) / minutes:.0f}",
            describe_outage(usual, without),
            f"{float(without['largest_jump']):.1f}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def describe_outage(steady: dict[str, str], outage: dict[str, str]) -> str:
    """Return what is drawn in an outage, by the shares of the rows that it adds."""
    more = {name: float(outage[name]) - float(steady[name]) for name in ("held", "extrapolated")}
    words = [
        *(["extrapolates"] if more["extrapolated"] > 0.004 else []),
        *(["stands"] if more["held"] > 0.004 else []),
    ]
    if not words:
        return "extrapolates" if float(outage["extrapolated"]) > 0.9 else "goes to the newest"
    return ", then ".join(words)


def metric_table() -> str:
    """Return the table of metrics but the costs, from their declarations."""
    lines = ["| column | name | unit | better | meaning |", "| --- | --- | --- | --- | --- |"]
    for metric in METRICS:
        if metric.name.endswith("_cost"):
            continue
        column = metric.title if metric.weight else ""
        cells = (column, f"`{metric.name}`", metric.unit, BETTER[metric.better], metric.help)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def cost_table() -> str:
    """Return the table of costs and their weights by kind of game."""
    weights = {"usual": Weights(), **{f"`{game.name}`": game.weights for game in GAMES}}
    lines = [
        f"| weight | {' | '.join(weights)} | cost |",
        f"| --- | {' | '.join('---:' for _ in weights)} | --- |",
    ]
    for name, cost in COSTS.items():
        own = (f"{getattr(weight, name):g}" for weight in weights.values())
        lines.append(f"| `{name}` | {' | '.join(own)} | {cost} |")
    return "\n".join(lines) + "\n"


def cause_table() -> str:
    """Return the table of causes, from their detectors."""
    lines = ["| cause | what is wrong | needs |", "| --- | --- | --- |"]
    for detector in load_registry().detectors:
        lines.append(f"| `{detector.name}` | {detector.title} | {', '.join(detector.needs)} |")
    return "\n".join(lines) + "\n"


def words_table() -> str:
    """Return the words of packet text, and the columns of tables and JSON that say the same."""
    lines = ["| word | columns | meaning |", "| --- | --- | --- |"]
    for key in KEYS:
        columns = ", ".join(f"`{column}`" for column in key.columns)
        lines.append(f"| {key.example and f'`{key.example}`'} | {columns} | {key.meaning} |")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("document", "tables"),
    [
        (FORMATS, [words_table]),
        (ENGINE, [strategy_table, system_table]),
        (METRICS_GUIDE, [metric_table, cost_table]),
        (DIAGNOSIS, [cause_table]),
    ],
)
def test_the_tables_are_what_is_declared(
    document: Path, tables: list[Callable[[], str]], request: pytest.FixtureRequest
) -> None:
    text, declared = document.read_text(), [table() for table in tables]
    if request.config.getoption("--update-goldens"):
        left = iter(declared)
        text = TABLE.sub(lambda _: next(left), text)
        document.write_text(text)
    assert TABLE.findall(text) == declared


def test_what_is_said_to_be_installed_is_what_an_extra_has() -> None:
    """Packages are named themselves: this program has no extra that an index could install."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    known = {
        re.split("[^a-z-]", needed)[0]
        for needs in extras["optional-dependencies"].values()
        for needed in needs
    }
    said = set()
    for path in (ROOT / "epic_cli").rglob("*"):
        if path.suffix in (".py", ".md"):
            for words in re.findall(r"(?<=pip install )[a-z][a-z -]*[a-z]", path.read_text()):
                said |= set(words.split())
            assert "'epic-cli[" not in path.read_text(), path
    assert said <= known
    assert len(said) > 8


def test_the_two_commands_are_there_to_be_run() -> None:
    for name in ("run", "test"):
        assert f"<!-- command: {name} -->\n```sh\npip install" in README.read_text()
