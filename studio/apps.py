"""Makes the project an installed app, so that Celery is configured wherever Django is."""

from django.apps import AppConfig


class StudioConfig(AppConfig):
    """The composition on top: home, API, supervised processes."""

    name = "studio"
    label = "studio"
    verbose_name = "CoworkEnv Studio"

    def ready(self) -> None:
        """Load the Celery application; ``studio/__init__`` stays empty for the sake of core."""
        # Late: these need the models, which exist from here on.
        from studio import celery, checks
        from studio.web import jobs

        checks.register_all()
        celery.app.conf.beat_schedule = {**celery.app.conf.beat_schedule, **jobs.BEAT_SCHEDULE}
