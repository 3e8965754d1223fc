"""Tests of the information about the engine's build."""

from epic_cli.engine.packets import describe_build


def test_the_engine_was_built_with_every_operation_rounded_by_itself() -> None:
    built = describe_build()
    assert "-ffp-contract=off" in built.split()
    assert not {"-ffast-math", "-Ofast"} & set(built.split())


def test_it_says_which_cython_it_was_made_with() -> None:
    version = describe_build().rpartition("Cython ")[2]
    assert [part.isdigit() for part in version.split(".")] == [True] * 3
