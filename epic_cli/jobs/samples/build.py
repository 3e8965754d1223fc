"""Include the samples in wheels and source distributions."""

from __future__ import annotations

from pathlib import Path

from setuptools.command.build_py import build_py

PACKAGE = "epic_cli.jobs.samples"
FOLDER = "sample_inputs"

#: A package, the folders its files are taken from and put into, and their names.
DataFiles = tuple[str, str, str, list[str]]


class BuildWithSamples(build_py):
    """The setuptools command ``build_py``, with the source tree's ``sample_inputs`` added.

    An editable installation finds the samples where they are.
    """

    def _get_data_files(self) -> list[DataFiles]:  # which the types of setuptools leave out
        return [*super()._get_data_files(), self._list_samples()]  # type: ignore[misc]

    def get_data_files_without_manifest(self) -> list[DataFiles]:
        """Add the samples to a source distribution, whose manifest does not exist yet."""
        return [*super().get_data_files_without_manifest(), self._list_samples()]

    def _list_samples(self) -> DataFiles:
        files = [path.relative_to(FOLDER) for path in sorted(Path(FOLDER).rglob("*.*"))]
        names = [file.as_posix() for file in files if "__pycache__" not in file.parts]
        return PACKAGE, FOLDER, str(Path(self.build_lib, *PACKAGE.split("."), FOLDER)), names
