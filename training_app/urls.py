"""Addresses of training: datasets, runs, evaluations."""

from django.urls import URLPattern, path

from training_app.views import datasets as dataset_pages

datasets: list[URLPattern] = [
    path("datasets/", dataset_pages.dataset_list, name="datasets"),
    path("datasets/<str:code>/", dataset_pages.dataset, name="dataset"),
    path("datasets/<str:code>/discard/", dataset_pages.dataset_discard, name="dataset-discard"),
    path(
        "datasets/<str:code>/download/<str:form>/",
        dataset_pages.dataset_download,
        name="dataset-download",
    ),
]

runs: list[URLPattern] = []

evaluations: list[URLPattern] = []

urlpatterns = [*datasets, *runs, *evaluations]
