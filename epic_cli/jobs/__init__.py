"""The jobs, one folder for each subcommand, with its spec, run, report and command."""
