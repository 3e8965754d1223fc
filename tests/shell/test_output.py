"""``--output``: the file is complete or does not exist."""

import stat
from pathlib import Path

import pytest
from support.running import PACKET, ROWS, epic, shell

ENDLESS = b"0,0,0 / 0,0,0 / inf\n"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_file_is_written(tmp_path: Path) -> None:
    done = epic("replay", "--output", "rows.txt", stdin=PACKET, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert (tmp_path / "rows.txt").read_bytes() == ROWS
    assert names(tmp_path) == ["rows.txt"]


def test_dash_is_stdout(tmp_path: Path) -> None:
    done = epic("replay", "-o", "-", stdin=PACKET, cwd=tmp_path)
    assert (done.returncode, done.stdout, names(tmp_path)) == (0, ROWS, [])


@pytest.mark.parametrize(
    ("args", "stdin", "status"),
    [
        (["--strict"], PACKET + b"hello\n", 1),
        (["--strict"], PACKET + ENDLESS, 1),
        (["-", "missing.txt"], PACKET, 3),
        ([], b"0,0,0/0,0,0/0 entity=a\n0,0,0/0,0,0/1 entity=b\n", 2),
        (["-s", "epic+no=1"], PACKET, 2),
        (["--tick", "0"], PACKET, 2),
        (["--strategy", "no"], PACKET, 2),
    ],
    ids=["strict", "strict time", "missing file", "entities", "setting", "tick", "strategy"],
)
def test_old_file_stays_on_an_error(
    tmp_path: Path, args: list[str], stdin: bytes, status: int
) -> None:
    (tmp_path / "rows.txt").write_text("old")
    done = epic("replay", "--output", "rows.txt", *args, stdin=stdin, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (status, b"")
    assert names(tmp_path) == ["rows.txt"]
    assert (tmp_path / "rows.txt").read_text() == "old"


@pytest.mark.parametrize("umask", ["022", "077", "002"])
def test_new_file_has_the_usual_permissions(tmp_path: Path, umask: str) -> None:
    shell(f"umask {umask}; epic replay -o rows.txt; touch other.txt", cwd=tmp_path)
    assert mode(tmp_path / "rows.txt") == mode(tmp_path / "other.txt")


@pytest.mark.parametrize("permissions", [0o600, 0o640, 0o755])
def test_old_file_keeps_its_permissions(tmp_path: Path, permissions: int) -> None:
    output = tmp_path / "rows.txt"
    output.write_text("old")
    output.chmod(permissions)
    epic("replay", "-o", output, stdin=PACKET)
    assert mode(output) == permissions
    assert output.read_bytes() == ROWS


def test_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "rows.txt").write_text("old")
    (tmp_path / "link").symlink_to("far/rows.txt")
    epic("replay", "-o", "link", stdin=PACKET, cwd=tmp_path)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "far" / "rows.txt").read_bytes() == ROWS
    assert names(tmp_path / "far") == ["rows.txt"]


def test_link_to_nothing_makes_the_file(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("rows.txt")
    epic("replay", "-o", "link", stdin=PACKET, cwd=tmp_path)
    assert names(tmp_path) == ["link", "rows.txt"]
    assert (tmp_path / "rows.txt").read_bytes() == ROWS


def test_stdout_by_its_name_into_a_file(tmp_path: Path) -> None:
    # /dev/stdout is then the file that the shell has opened
    done = shell(
        'epic replay -o /dev/stdout >rows.txt <<<"1,2,3 / 4,5,6 / 0.1"; echo $?', cwd=tmp_path
    )
    assert (done.stdout, done.stderr) == (b"0\n", b"")
    assert names(tmp_path) == ["rows.txt"]
    assert (tmp_path / "rows.txt").read_bytes() == ROWS


def test_named_pipe(tmp_path: Path) -> None:
    done = shell(
        'mkfifo pipe; cat pipe & epic replay -o pipe <<<"1,2,3 / 4,5,6 / 0.1"; wait', cwd=tmp_path
    )
    assert (done.stdout, done.stderr) == (ROWS, b"")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_named_pipe_whose_reader_leaves(tmp_path: Path) -> None:
    (tmp_path / "many.txt").write_text("".join(f"0,0,0/0,0,0/{n}\n" for n in range(500)))
    done = shell("mkfifo pipe; head -1 pipe & epic replay -o pipe many.txt; echo $?", cwd=tmp_path)
    assert (done.stdout.splitlines()[-1], done.stderr) == (b"0", b"")
