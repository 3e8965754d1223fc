"""The jobs: a folder each, with spec, run, report and command."""
