"""Framework-free helpers: nothing here imports Django, reads a clock or draws at random."""
