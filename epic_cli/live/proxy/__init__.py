"""A bad network between two programs: datagrams are delayed, lost and recorded on their way."""
