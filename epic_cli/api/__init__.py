"""What a program of somebody's own calls: recordings in, samples, arrays and comparisons out.

``reading`` reads packets from files, ``replaying`` draws them, ``arrays`` gives the rows as one
array, ``comparing`` says which strategy draws them best, ``tuning`` with which settings,
``diagnosing`` why they jitter, ``listening`` takes packets of a running game. All of it is offered
by ``epic_cli``.
"""
