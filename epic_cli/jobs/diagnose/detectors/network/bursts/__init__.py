"""Messages sent one after the other that arrive together, and the causes of it.

Batching makes bursts all the time; head-of-line blocking now and then, after a pause of the
arrivals; a receiver that stalls has them on its frames; and behind a late sender each message has
jitter of its own.
"""
