"""Jobs of evaluations."""
