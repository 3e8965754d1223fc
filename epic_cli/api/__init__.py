"""The Python interface: recordings in, samples, arrays and comparisons out.

``reading`` reads packets from files, ``replaying`` draws them, ``arrays`` returns the rows as one
array, ``comparing`` finds the strategy that draws them best, ``tuning`` its settings,
``diagnosing`` the causes of jitter, ``listening`` takes packets of a running game. ``epic_cli``
offers all of it.
"""
