"""What tuning has found: its reports, and the front as a picture."""
