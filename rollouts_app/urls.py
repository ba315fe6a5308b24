"""Addresses of rollouts: batches, episodes, replays."""

from django.urls import path, register_converter
from django.urls.converters import StringConverter

from rollouts_app.views import batches, compare, episodes, failures, play, told


class EpisodeCode(StringConverter):
    """Something that begins as an episode's code: other codes are compared at /compare/ too."""

    regex = "[Ee]-[^/]+"


register_converter(EpisodeCode, "episode")

urlpatterns = [
    path("rollouts/", batches.batch_list, name="rollouts"),
    path("rollouts/<str:code>/", batches.batch, name="batch"),
    path("rollouts/<str:code>/cancel/", batches.cancel, name="batch-cancel"),
    path("rollouts/<str:code>/resume/", batches.resume, name="batch-resume"),
    path("play/", play.start, name="play-start"),
    path("play/<str:code>/", play.play, name="play"),
    path("play/<str:code>/act/", play.act, name="play-act"),
    path("play/<str:code>/undo/", play.undo, name="play-undo"),
    path("compare/", compare.compare_pick, name="compare"),
    path(
        "compare/<episode:code>/<episode:other>/", compare.episode_compare, name="episode-compare"
    ),
    path("episodes/", episodes.episode_list, name="episodes"),
    path("episodes/curation/", episodes.curate_matching, name="episodes-curation"),
    path("episodes/export.jsonl", episodes.export, name="episodes-export"),
    path("episodes/failures/", failures.failure_page, name="failures"),
    path("episodes/failures.csv", failures.failure_csv, name="failures-csv"),
    path("episodes/<str:code>/", episodes.episode, name="episode"),
    path("episodes/<str:code>/model/", told.episode_told, name="episode-told"),
    path("episodes/<str:code>/trajectory.jsonl", episodes.trajectory, name="trajectory"),
    path("episodes/<str:code>/calls/<int:number>/", episodes.call_result, name="call-result"),
    path("episodes/<str:code>/reference/", play.use_as_reference, name="use-as-reference"),
    path("episodes/<str:code>/curation/", episodes.set_curation, name="curation"),
    path("episodes/<str:code>/flags/<str:rule>/", episodes.decide_flag, name="episode-flag"),
]
