"""Jobs of datasets."""
