"""What is written, one write in one transaction each."""
