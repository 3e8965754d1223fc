"""What is wrong with a recording: its report."""
