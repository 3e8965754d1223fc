"""Studies: questions of the field, answered over data, each by one command."""
