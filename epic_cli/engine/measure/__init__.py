"""What analysis needs at C speed: true paths and accumulated errors."""
