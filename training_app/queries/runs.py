"""Of runs."""
