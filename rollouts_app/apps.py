"""The installed app ``rollouts_app``."""

from importlib import import_module

from django.apps import AppConfig


class RolloutsConfig(AppConfig):
    """Batches of episodes, their trajectories and replays."""

    name = "rollouts_app"
    label = "rollouts_app"
    verbose_name = "Rollouts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register kinds of work, gates that look at episodes, and what audits plant for them."""
        import_module("rollouts_app.jobs")
        import_module("rollouts_app.gates")
        import_module("rollouts_app.planters")
