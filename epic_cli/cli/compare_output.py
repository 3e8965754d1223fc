"""What ``epic compare`` writes: figures and charts to stdout, pictures to files."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rich.console import Console

from epic_cli.analysis.compare import Comparison
from epic_cli.terminal.color import ColorChoice
from epic_cli.terminal.console import show
from epic_cli.terminal.output import open_sink
from epic_cli.views.comparison import ComparisonTable, ordered, story
from epic_cli.views.comparison_text import as_csv, as_jsonl, as_markdown
from epic_cli.views.scenes import scene_chart

if TYPE_CHECKING:
    from epic_cli.views.scenes import View

#: Charts and pictures get crowded with more strategies.
MOST_SHOWN = 6

#: Work that takes no longer (s) shows no progress.
PATIENCE = 0.5


class Output:
    """Writes one comparison."""

    def __init__(
        self, comparison: Comparison, sort: str, by_entity: bool, color: ColorChoice
    ) -> None:
        self.comparison = comparison
        self.sort = sort
        self.by_entity = by_entity
        self.color = color

    def write_figures(self, form: str) -> None:
        """The figures to stdout; what they rest on too, but to stderr where programs read them."""
        results = ordered(self.comparison, self.sort, self.by_entity)
        if form == "table":
            self._print(ComparisonTable(self.comparison, self.sort, self.by_entity))
            return
        if form == "markdown":
            self._write(as_markdown(self.comparison, results, self.by_entity))
            return
        self._write(as_csv(results) if form == "csv" else as_jsonl(results))
        for line in story(self.comparison, results):
            sys.stderr.write(f"{line}\n")

    def write_charts(self, views: Sequence[View], shown: Sequence[str]) -> None:
        """Charts of the first entity to stdout."""
        for view in views:
            self._write("\n")
            self._print(scene_chart(self.comparison.scenes[0], view, self._chosen(shown)))
        others = len(self.comparison.scenes) - 1
        if views and others:
            name = self.comparison.scenes[0].entity
            sys.stderr.write(
                f"Charts show {name}, one of {others + 1}; --entity chooses another.\n"
            )

    def write_files(self, svg: str | None, html: str | None, shown: Sequence[str]) -> None:
        """The picture and the page, each to its file."""
        if svg is not None:
            from epic_cli.views.svg import picture

            text = picture(self.comparison.scenes[0], self._chosen(shown))
            with open_sink(svg) as sink:
                sink.write(text.encode())
        if html is not None:
            from epic_cli.views.page import page

            text = page(self.comparison, self.sort, self._chosen(shown))
            with open_sink(html) as sink:
                sink.write(text.encode())

    def _chosen(self, shown: Sequence[str]) -> list[str]:
        best = [one.label for one in ordered(self.comparison, "score", by_entity=False)]
        return list(shown) or best[:MOST_SHOWN]

    def _print(self, renderable: Any) -> None:
        show(renderable, self.color)

    def _write(self, text: str) -> None:
        with open_sink(None) as sink:
            sink.write(text.encode())


class Progress:
    """A bar on stderr, if that is a terminal and the work takes long; gone when it is done."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        return self

    def __call__(self, done: int, total: int) -> None:
        """So many of so many runs are done."""
        if self._bar is None and sys.stderr.isatty():
            if time.monotonic() - self._begun < PATIENCE:
                return
            from rich import progress

            self._bar = progress.Progress(console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task("comparing")
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
