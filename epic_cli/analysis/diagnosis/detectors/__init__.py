"""One file a cause; ``diagnose.all_detectors`` finds them."""
