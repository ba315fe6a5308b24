"""Jobs of runs."""
