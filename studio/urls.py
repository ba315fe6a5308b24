"""Mounts what each app offers; nothing is defined here."""

from importlib import import_module
from importlib.util import find_spec

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

# An app's pages come into being one after the other; each is mounted from its first page on.
PAGES = ("studio.pages", "studio.web.urls", "tasks_app.urls", "rollouts_app.urls")

handler404 = "studio.web.middleware.page_not_found"

urlpatterns: list[URLPattern | URLResolver] = [
    path("admin/", admin.site.urls),
    *(path("", include(module)) for module in PAGES if find_spec(module)),
]
if find_spec("studio.api"):
    urlpatterns.append(path("api/v1/", import_module("studio.api").api.urls))
