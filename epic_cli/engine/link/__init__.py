"""A link at C speed: its random numbers, its delays, losses and queue, and what is on its way."""
