"""Every example in the README, run as it stands there."""

import contextlib
import io
import re
from pathlib import Path

import pytest
from support.places import ROOT
from support.running import shell

from epic_cli import strategies

README = (ROOT / "README.md").read_text()

SESSIONS = re.findall(r"^```console\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
PYTHON = re.findall(
    r"^```python\n(.*?)^```\n\n```output\n(.*?)^```", README, re.MULTILINE | re.DOTALL
)


def steps(session: str) -> list[tuple[str, str]]:
    """The commands of a session, each with what it says."""
    parts = re.split(r"^\$ (.*)\n", session, flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


EXAMPLES = [step for session in SESSIONS for step in steps(session)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the examples are run, one after the other: they leave files behind."""
    made = tmp_path_factory.mktemp("readme")
    (made / "sample_inputs").symlink_to(ROOT / "sample_inputs")
    return made


@pytest.mark.parametrize(("command", "expected"), EXAMPLES, ids=[e[0][:60] for e in EXAMPLES])
def test_a_session_goes_as_the_readme_shows_it(folder: Path, command: str, expected: str) -> None:
    done = shell(command, cwd=folder)
    # on a terminal both streams are seen; what is told comes before the last row here
    assert (done.stderr + done.stdout).decode() == expected


@pytest.mark.parametrize(("code", "expected"), PYTHON)
def test_python_prints_what_the_readme_shows(code: str, expected: str) -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
    assert printed.getvalue() == expected


def test_every_python_example_says_what_it_prints() -> None:
    assert len(PYTHON) == README.count("```python") == 3
    assert len(EXAMPLES) >= 8


def strategy_table() -> str:
    """The table of strategies, from their declarations."""
    declared = strategies()
    lines = [
        "| strategy | what it draws | needs | lag | when packets stay away | how we know |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for family in dict.fromkeys(one.family for one in declared):
        lines.append(f"| *{family}* | | | | | |")
        for one in declared:
            if one.family == family:
                needs = ", ".join(one.needs) or "positions only"
                cells = (f"`{one.name}`", one.summary, needs, one.lag, one.on_loss, one.proof)
                lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def test_the_table_of_strategies_is_what_they_declare(request: pytest.FixtureRequest) -> None:
    before, _, rest = README.partition("<!-- strategies -->\n")
    shown, _, after = rest.partition("<!-- end -->")
    if request.config.getoption("--update-goldens"):
        table = f"<!-- strategies -->\n{strategy_table()}\n<!-- end -->"
        (ROOT / "README.md").write_text(before + table + after)
    else:
        assert shown.strip() == strategy_table()


def test_the_two_commands_are_there_to_be_run() -> None:
    for name in ("run", "test"):
        assert f"<!-- command: {name} -->\n```sh\npip install" in README
