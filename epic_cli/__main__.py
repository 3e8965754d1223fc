"""``python -m epic_cli`` is the command ``epic``."""

from epic_cli.main import run

if __name__ == "__main__":
    run()
