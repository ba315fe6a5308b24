"""The kinds of work that workers do for tasks; registered as their core modules arrive."""
