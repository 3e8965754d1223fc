"""Good numbers for a strategy's settings: what a network needs, and what a search finds.

``closed_form`` computes, from the arrival times alone, which delay each delay buffer needs.
"""
