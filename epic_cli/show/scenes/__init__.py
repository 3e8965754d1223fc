"""What pictures show: the truth, the packets, what was drawn, thinned so that extremes stay."""
