"""Pages of rollouts: a view parses, calls, renders."""
