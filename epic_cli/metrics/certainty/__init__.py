"""How sure figures are: a bootstrap over the sums of cells, intervals, ranks, and who wins."""
