"""Of evaluations."""
