"""Forms of the pages of training."""
