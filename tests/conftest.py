"""Options of the test run."""

import gc
import os
import signal
import sys
from collections.abc import Generator, Iterator

import pytest
from _pytest.assertion import rewrite
from hypothesis import HealthCheck, settings
from support.browser import Page, open_page
from support.rows import pytest_pycollect_makeitem  # noqa: F401  # a hook

# What hypothesis finds by chance is for whoever looks for it, with EPIC_TESTS=exhaustive, not for a
# change that has nothing to do with it. No test is timed, nor are its examples: machines are busy.
by_chance = os.environ.get("EPIC_TESTS") == "exhaustive"
slow = [HealthCheck.too_slow]
settings.register_profile(
    "epic",
    derandomize=not by_chance,
    deadline=None,
    max_examples=100 if by_chance else 25,
    suppress_health_check=slow,
)
settings.load_profile("epic")

# What happens to be installed beside epic is not what is tested, nor what whoever tests wants of
# his own terminal; programs that tests start inherit this.
os.environ["EPIC_ENTRY_POINTS"] = "off"
for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "PAGER"):
    os.environ.pop(name, None)

# Hundreds of programs start: what they load is compiled once.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Whoever starts the tests in the background may have told them to ignore Ctrl-C or the end of the
# terminal, and what they start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
if sys.platform != "win32":
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Keep Python's collector of garbage from all tests and modules: each look at them takes a
    fourth of a second.
    """
    gc.disable()
    try:
        compile_share(session.config)
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def compile_share(config: pytest.Config) -> None:
    """Compile one worker's share of what pytest compiles, unless it was compiled before.

    That is the tests and, since it has a plugin of pytest, the package. Each worker needs all, and
    would compile all, which takes ten seconds.
    """
    number = os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw")
    if not number or config.args_source is not config.ArgsSource.TESTPATHS:
        return
    if config.getoption("assertmode") == "plain":  # then Python compiles, as ever
        return
    places = ("tests/**/test_*.py", "epic_cli/**/*.py")
    files = [file for place in places for file in sorted(config.rootpath.glob(place))]
    for file in files[int(number) :: int(os.environ["PYTEST_XDIST_WORKER_COUNT"])]:
        compiled = rewrite.get_cache_dir(file) / (file.stem + rewrite.PYC_TAIL)
        if not compiled.exists():
            compiled.parent.mkdir(exist_ok=True)
            source, code = rewrite._rewrite_test(file, config)
            rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, source, compiled)


@pytest.fixture(scope="session")
def open_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with open_page(tmp_path_factory.mktemp("browser")) as page:
        yield page


@pytest.fixture
def browser(open_browser: Page) -> Iterator[Page]:
    """Yield a browser; afterwards it shows an empty page, since a playing page would use the
    processor.
    """
    open_browser.complaints.clear()
    yield open_browser
    open_browser.open("about:blank")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return two workers per processor, since tests wait for programs and clocks."""
    return (os.cpu_count() or 1) * 2


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-goldens",
        action="store_true",
        help="write what epic says now into tests/golden and the documents; then read git diff",
    )
