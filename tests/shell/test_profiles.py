"""Profiles: options of recordings under a name in the configuration file."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.running import environment, epic

TABLE = b"stamp_ms,px,py,vel_x,vel_y\n" + b"".join(
    b"%d,%d,0,10,0\n" % (n * 100, n) for n in range(20)
)
READ = "time=stamp_ms,x=px,y=py,vx=vel_x,vy=vel_y,unit=ms"
SAVED = f'[profile.mygame]\nread = "{READ}"\n'


class Home:
    """A home folder with a configuration file, and runs that use it."""

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
    assert b"wrote [profile.mygame] read = " in saved.stderr
    assert home.read() == SAVED
    used = home.epic("replay", "--read", "mygame")
    assert (used.stdout, used.stderr) == (saved.stdout, b"")


@pytest.mark.parametrize("read", [(), ("--read", READ)])
def test_of_a_long_recording_it_is_told_once(home: Home, read: tuple[str, ...]) -> None:
    rows = b"".join(b"%d,%d,0,10,0\n" % (n * 100, n) for n in range(20_000))
    words = ("replay", "--tick", "9s", *read, "--save-profile", "mygame")
    saved = home.epic(*words, stdin=TABLE.partition(b"\n")[0] + b"\n" + rows)
    assert saved.returncode == 0
    assert saved.stderr.count(b"mygame") == 1


@pytest.mark.parametrize("before", ["", "# mine\r\ntick = '60hz'  # fast\r\n", "tick = '60hz'"])
def test_all_else_in_the_file_stays_as_it_is(home: Home, before: str) -> None:
    home.write(before)
    assert (
        home.epic("compare", "-s", "epic", "--latency", "0", "--save-profile", "mygame").returncode
        == 0
    )
    assert home.read().startswith(before)
    assert home.read().endswith(SAVED)


def test_another_profile_gives_way_which_is_said(home: Home) -> None:
    other = '[profile.b]\nread = "scale=2"\n'
    home.write(f"# a\n{other}\n{SAVED}\n# c\n[replay]\ntick = 0.1\n")
    assert b"already" in home.epic("replay", "--save-profile", "mygame").stderr
    done = home.epic("replay", "--read", "scale=2", "--save-profile", "mygame")
    assert done.returncode == 0
    assert f'instead of "{READ}"'.encode() in done.stderr
    changed = SAVED.replace(READ, f"{READ},scale=2")
    assert home.read() == f"# a\n{other}\n{changed}\n# c\n[replay]\ntick = 0.1\n"


def test_a_profile_of_an_inline_table_is_changed_where_it_is(home: Home) -> None:
    home.write("profile = { mygame = { read = 'scale=3' }, b = { read = 'csv' } }\n")
    assert home.epic("replay", "--save-profile", "mygame").returncode == 0
    assert home.read() == (
        f"profile = {{ mygame = {{ read = \"{READ}\" }}, b = {{ read = 'csv' }} }}\n"
    )


def test_nothing_to_save(home: Home) -> None:
    done = home.epic("--save-profile", "x", stdin=b"1,2,3 / 4,5,6 / 0\n")
    assert b"there is nothing to save as 'x'" in done.stderr
    assert done.returncode == 2
    assert not home.file.exists()


def test_what_stands_beside_a_profile_comes_first(home: Home) -> None:
    home.write(SAVED.replace(READ, f"csv,{READ},scale=2") + "[replay]\nread = 'unit=ms,scale=3'\n")

    def first(*args: str, **variables: Any) -> bytes:
        done = home.epic("replay", *args, **variables)
        return done.stdout.splitlines()[-1].partition(b",")[0]

    by_scale = {scale: first("--read", f"unit=ms,scale={scale}") for scale in (2, 3, 4)}
    assert len(set(by_scale.values())) == 3
    assert first() == by_scale[3]
    assert first("--read", "mygame") == by_scale[2]
    assert first("--read", "profile=mygame", EPIC_READ="scale=4") == by_scale[2]
    assert first("--read", "mygame,scale=4") == by_scale[4]
    assert first(EPIC_READ="mygame") == by_scale[2]


def test_a_session_loads_with_a_profile(home: Home, tmp_path: Path) -> None:
    home.write(SAVED)
    (tmp_path / "game.csv").write_bytes(TABLE)
    script = f":load --read mygame {tmp_path / 'game.csv'}\n".encode()
    done = home.epic("session", "--init", "-", stdin=script)
    assert b"20 packets taken" in done.stderr
    assert b"read with" not in done.stderr
