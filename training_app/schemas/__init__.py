"""What the API takes and gives for training."""
