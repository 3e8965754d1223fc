"""Settings that are off by a tenth: do the built-in cases of ``epic check`` see each?

    python -m endurance.tenths [NAME ...]

Each number of a strategy that is worth tuning is changed alone, at the other settings' defaults and
with each other choice, until a built-in case has another row. Status 1 where no case has.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from epic_cli.engine.parameters import Choice, Number
from epic_cli.engine.replay.strategy_spec import StrategySpec, read_specs
from epic_cli.engine.strategies import get_declaration, list_remote_names
from epic_cli.jobs.check.case_file import make_builtin_cases
from epic_cli.jobs.check.drawing import draw
from epic_cli.jobs.check.spec import DrawSpec


def iterate_rows(spec: StrategySpec) -> Iterator[bytes]:
    """Yield the rows of each built-in case."""
    for case in make_builtin_cases(DrawSpec((), (spec,))):
        yield draw(case.drawing).rows


def iterate_ways(name: str) -> Iterator[str]:
    """Yield a strategy at its defaults and with each other choice."""
    yield name
    if name == "source":  # its delay is in whole ticks
        yield f"{name}+tick_interval=0"
    for setting in get_declaration(name).settings:
        if isinstance(setting, Choice):
            for word in setting.choices:
                if word != setting.default:
                    yield f"{name}+{setting.name}={word}"


def change_by_tenth(one: Number) -> str:
    """Return the default plus a tenth, or less if that is out of range."""
    value = one.default
    assert isinstance(value, (int, float))
    assert one.tune is not None
    if value * 1.1 > max(one.tune):
        return f"{one.name}={int(value * 0.9) if one.whole else value * 0.9:.9g}"
    return f"{one.name}={int(value * 1.1) + 1 if one.whole else value * 1.1:.9g}"


def keep(known: list[bytes], rest: Iterator[bytes]) -> Iterator[bytes]:
    """Yield what is known, then the rest, which is known from then on."""
    yield from known
    for one in rest:
        known.append(one)
        yield one


def find_unseen(name: str) -> list[str]:
    """Return the settings whose change by a tenth no built-in case sees."""
    unseen = {
        setting.name: setting
        for setting in get_declaration(name).settings
        if isinstance(setting, Number)
        and setting.tune
        and isinstance(setting.default, (int, float))
        and setting.default
    }
    for way in iterate_ways(name):
        if not unseen:
            break
        (right, *wrong) = read_specs(
            [way, *(f"{way}+{change_by_tenth(number)}" for number in unseen.values())]
        )
        known, rest = list[bytes](), iterate_rows(right)
        for key, spec in zip(list(unseen), wrong, strict=True):
            drawn = zip(iterate_rows(spec), keep(known, rest), strict=True)
            if any(here != there for here, there in drawn):
                del unseen[key]
    return list(unseen)


def main() -> bool:
    """Look at the strategies; return status 1 if a change is not seen."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*")
    found = {name: find_unseen(name) for name in parser.parse_args().names or list_remote_names()}
    for name, unseen in found.items():
        print(f"{name}: {', '.join(unseen) or 'each is seen'}")
    return any(found.values())


if __name__ == "__main__":
    raise SystemExit(main())
