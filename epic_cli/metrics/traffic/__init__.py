"""Traffic as it came: states, messages, stamps."""
