"""What analysis needs at C speed: reference paths and accumulated errors."""
