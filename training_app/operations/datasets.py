"""Of datasets."""
