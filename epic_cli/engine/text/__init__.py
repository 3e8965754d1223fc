"""Text and numbers: packet lines to packets, samples to rows."""
