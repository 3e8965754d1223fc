"""Profiles: options of recordings under a name in the configuration file."""

import subprocess
from pathlib import Path

import pytest
from support.running import environment, epic

TABLE = b"stamp_ms,px,py,vel_x,vel_y\n" + b"".join(
    b"%d,%d,0,10,0\n" % (n * 100, n) for n in range(20)
)
SAVED = (
    '[profile.mygame]\ncolumns = "time=stamp_ms,x=px,y=py,vx=vel_x,vy=vel_y"\ntime-unit = "ms"\n'
)


class Home:
    """A configuration file, and runs that have it."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "epic" / "config.toml"

    def write(self, text: str) -> None:
        self.file.parent.mkdir(exist_ok=True)
        self.file.write_bytes(text.encode())

    def read(self) -> str:
        return self.file.read_bytes().decode()

    def epic(
        self, *args: str, stdin: bytes = TABLE, **variables: str
    ) -> subprocess.CompletedProcess[bytes]:
        env = environment(XDG_CONFIG_HOME=str(self.file.parent.parent), **variables)
        return epic(*args, stdin=stdin, env=env)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_what_was_told_is_saved_and_used_again(home: Home) -> None:
    saved = home.epic("replay", "--save-profile", "mygame")
    assert saved.returncode == 0
    assert b"wrote [profile.mygame] columns = " in saved.stderr
    assert home.read() == SAVED
    used = home.epic("replay", "--profile", "mygame")
    assert (used.stdout, used.stderr) == (saved.stdout, b"")


@pytest.mark.parametrize("before", ["", "# mine\r\ntick = '60hz'  # fast\r\n", "tick = '60hz'"])
def test_all_else_in_the_file_stays_as_it_is(home: Home, before: str) -> None:
    home.write(before)
    assert (
        home.epic("compare", "-s", "epic", "--latency", "0", "--save-profile", "mygame").returncode
        == 0
    )
    assert home.read().startswith(before)
    assert home.read().endswith(SAVED)


def test_another_profile_is_replaced_only_on_request(home: Home) -> None:
    home.write(f"# a\n[profile.b]\nscale = 2\n\n{SAVED}\n# c\n[replay]\ntick = 0.1\n")
    again = home.epic("replay", "--save-profile", "mygame")
    assert b"already" in again.stderr
    other = ("replay", "--scale", "2", "--save-profile", "mygame")
    refused = home.epic(*other)
    assert refused.returncode == 2
    assert b"another profile 'mygame'; --replace-profile" in refused.stderr
    assert home.epic(*other, "--replace-profile").returncode == 0
    changed = SAVED + 'scale = "2"\n'
    assert home.read() == f"# a\n[profile.b]\nscale = 2\n\n{changed}\n# c\n[replay]\ntick = 0.1\n"


def test_what_cannot_be_edited_is_left_alone(home: Home) -> None:
    text = "profile = { mygame = { scale = 3 } }\n"
    home.write(text)
    for options in (["--save-profile", "x"], ["--save-profile", "mygame", "--replace-profile"]):
        assert b"edit it there" in home.epic("replay", *options).stderr
    assert home.read() == text


def test_nothing_to_save(home: Home) -> None:
    done = home.epic("--save-profile", "x", stdin=b"1,2,3 / 4,5,6 / 0\n")
    assert b"there is nothing to save as 'x'" in done.stderr
    assert done.returncode == 2
    assert not home.file.exists()


def test_the_command_line_beats_the_profile_and_that_the_rest(home: Home) -> None:
    home.write(SAVED + "scale = 2\n[replay]\nscale = 3\n")

    def first(*args: str, **variables: str) -> bytes:
        return (
            home.epic("replay", *args, stdin=TABLE, **variables)
            .stdout.splitlines()[-1]
            .partition(b",")[0]
        )

    rest = ("--time-unit", "ms")
    by_scale = {scale: first(*rest, "--scale", str(scale)) for scale in (2, 3, 4)}
    assert len(set(by_scale.values())) == 3
    assert first(*rest) == by_scale[3]
    assert first("--profile", "mygame") == by_scale[2]
    assert first("--profile", "mygame", EPIC_SCALE="4") == by_scale[2]
    assert first("--profile", "mygame", "--scale", "4") == by_scale[4]
    assert first(EPIC_PROFILE="mygame") == by_scale[2]


def test_options_of_other_commands_are_passed_over(home: Home) -> None:
    home.write(SAVED + 'strategy = "extrapolator"\nset = ["calc_ahead=0.2"]\nformat = "csv"\n')
    assert (
        home.epic("compare", "-s", "epic", "--latency", "0", "--profile", "mygame").returncode == 0
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SAVED, "there is no profile 'mygam'; did you mean 'mygame'?"),
        ("[profile.zzz]", "there is no profile 'mygam'; there are zzz"),
        ("", "there is no profile 'mygam', nor any other"),
        ("[profile.mygam]\ncolums = 'x=y'", "[profile.mygam]: there is no option 'colums'; did"),
        ("[profile.mygam]\ncolumns = 5", "config.toml: [profile.mygam] columns = 5: '5' is not"),
        ("[profile.mygam]\ncolumns = ['x=y']", "[profile.mygam] columns = ['x=y']: "),
        ("[profile]\nmygam = 5", "a profile is a table"),
    ],
)  # fmt: skip
def test_mistakes_are_told(home: Home, text: str, words: str) -> None:
    home.write(text)
    done = home.epic("replay", "--profile", "mygam")
    assert done.returncode == 2
    assert words in " ".join(done.stderr.decode().split())


def test_a_session_loads_with_a_profile(home: Home, tmp_path: Path) -> None:
    home.write(SAVED)
    (tmp_path / "game.csv").write_bytes(TABLE)
    script = f":load --profile mygame {tmp_path / 'game.csv'}\n".encode()
    done = home.epic("--init", "-", stdin=script)
    assert b"20 packets taken" in done.stderr
    assert b"read with" not in done.stderr
