"""Addresses of tasks, generation and endpoints."""

from django.urls import path

from tasks_app.views import coverage, endpoints, gate_pages, generate, task, tasks
from tasks_app.views.editor import edit, new_task

urlpatterns = [
    path("endpoints/", endpoints.endpoint_list, name="endpoints"),
    path("endpoints/<str:name>/", endpoints.endpoint, name="endpoint"),
    path("endpoints/<str:name>/probe/", endpoints.endpoint_probe, name="endpoint-probe"),
    path("endpoints/<str:name>/active/", endpoints.endpoint_active, name="endpoint-active"),
    path("coverage/", coverage.coverage_page, name="coverage"),
    path("coverage/fill/", coverage.coverage_fill, name="coverage-fill"),
    path("coverage/<str:part>.csv", coverage.coverage_csv, name="coverage-csv"),
    path("gates/", gate_pages.gate_list, name="gates"),
    path("gates/audit/", gate_pages.audit_start, name="gates-audit"),
    path("gates/audit.csv", gate_pages.audit_csv, name="gates-audit-csv"),
    path("gates/renew/", gate_pages.renew_start, name="gates-renew"),
    path("gates/misses/<int:number>/", gate_pages.miss, name="gates-miss"),
    path("gates/<str:gate>/", gate_pages.gate_page, name="gate"),
    path("generate/", generate.generate, name="generate"),
    path("generate/<str:code>/", generate.run, name="generation-run"),
    path("tasks/", tasks.task_list, name="tasks"),
    path("tasks/new/", new_task.task_new, name="task-new"),
    path("tasks/<str:code>/", task.task, name="task"),
    path("tasks/<str:code>/edit/", edit.task_edit, name="task-edit"),
    path("tasks/<str:code>/prove/", task.task_prove, name="task-prove"),
    path("tasks/<str:code>/repair/", task.task_repair, name="task-repair"),
    path("tasks/<str:code>/undo/", task.task_undo, name="task-undo"),
    path("tasks/<str:code>/approve/", task.task_approve, name="task-approve"),
    path("tasks/<str:code>/reject/", task.task_reject, name="task-reject"),
    path("tasks/<str:code>/retire/", task.task_retire, name="task-retire"),
    path("tasks/<str:code>/duplicate/", task.task_duplicate, name="task-duplicate"),
    path("tasks/<str:code>/comments/", task.task_comment, name="task-comment"),
]
