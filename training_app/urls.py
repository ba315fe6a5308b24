"""Addresses of training: datasets, runs, evaluations."""

from django.urls import URLPattern, path

from training_app.views import compare_evaluations, compare_runs, new_run, run_curves, run_files
from training_app.views import datasets as dataset_pages
from training_app.views import evaluations as evaluation_pages
from training_app.views import run as run_page
from training_app.views import runs as run_pages

datasets: list[URLPattern] = [
    path("datasets/", dataset_pages.dataset_list, name="datasets"),
    path("datasets/<str:code>/", dataset_pages.dataset, name="dataset"),
    path("datasets/<str:code>/discard/", dataset_pages.dataset_discard, name="dataset-discard"),
    path("datasets/<str:code>/delete/", dataset_pages.dataset_delete, name="dataset-delete"),
    path(
        "datasets/<str:code>/download/<str:form>/",
        dataset_pages.dataset_download,
        name="dataset-download",
    ),
]

runs: list[URLPattern] = [
    path("runs/", run_pages.run_list, name="runs"),
    path("runs/new/", new_run.run_new, name="run-new"),
    path("runs/compare/", compare_runs.run_compare, name="run-compare"),
    path("runs/compare/curves.json", compare_runs.compare_curves, name="compare-curves"),
    path("runs/compare/sheet.json", compare_runs.compare_sheet, name="compare-sheet"),
    path("runs/compare/curves.csv", compare_runs.compare_csv, name="compare-csv"),
    path("runs/<str:code>/", run_page.run, name="run"),
    path("runs/<str:code>/curves.json", run_curves.run_curves, name="run-curves"),
    path("runs/<str:code>/metrics.csv", run_files.run_csv, name="run-csv"),
    path("runs/<str:code>/recipe.json", run_files.run_recipe, name="run-recipe"),
    path("runs/<str:code>/log/", run_files.run_log, name="run-log"),
    path("runs/<str:code>/log.txt", run_files.run_log_file, name="run-log-file"),
    path("runs/<str:code>/cancel/", run_pages.run_cancel, name="run-cancel"),
    path("runs/<str:code>/resume/", run_pages.run_resume, name="run-resume"),
    path(
        "runs/<str:code>/checkpoints/<str:checkpoint>/promote/",
        run_pages.checkpoint_promote,
        name="checkpoint-promote",
    ),
    path(
        "runs/<str:code>/samples/<int:step>/<int:number>/",
        run_pages.sample_open,
        name="sample-open",
    ),
]

evaluations: list[URLPattern] = [
    path(
        "compare/<str:code>/<str:other>/", compare_evaluations.evaluation_compare,
        name="evaluation-compare",
    ),
    path("evaluations/", evaluation_pages.evaluation_list, name="evaluations"),
    path("evaluations/suites/", evaluation_pages.suite_freeze, name="suite-freeze"),
    path("evaluations/suites/<str:code>/", evaluation_pages.suite, name="suite"),
    path("evaluations/served/", evaluation_pages.serve, name="serve"),
    path("evaluations/served/<str:code>/stop/", evaluation_pages.serve_stop, name="serve-stop"),
    path("evaluations/<str:code>/", evaluation_pages.evaluation, name="evaluation"),
    path(
        "evaluations/<str:code>/cancel/", evaluation_pages.evaluation_cancel,
        name="evaluation-cancel",
    ),
    path(
        "evaluations/<str:code>/resume/", evaluation_pages.evaluation_resume,
        name="evaluation-resume",
    ),
    path(
        "evaluations/<str:code>/baseline/", evaluation_pages.evaluation_baseline,
        name="evaluation-baseline",
    ),
    path(
        "evaluations/<str:code>/export/<str:form>/", evaluation_pages.evaluation_export,
        name="evaluation-export",
    ),
]  # fmt: skip

urlpatterns = [*datasets, *runs, *evaluations]
