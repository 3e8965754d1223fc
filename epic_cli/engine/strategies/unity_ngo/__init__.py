"""Unity Netcode for GameObjects: the strategy and its helpers."""
