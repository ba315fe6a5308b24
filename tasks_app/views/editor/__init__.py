"""The editor of a task: what stands on its page, what a form changes, and new tasks."""
