"""Pages of datasets, runs and evaluations."""
