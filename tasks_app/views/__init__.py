"""Pages of tasks: the list, one task, its editor, generation."""
