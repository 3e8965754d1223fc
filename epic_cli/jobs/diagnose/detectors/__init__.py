"""One file a cause; ``registry`` finds them."""
