"""The spline of Decentraland: the strategy and its curves."""
