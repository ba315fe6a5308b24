"""Mounts what each app offers; nothing is defined here."""

from importlib.util import find_spec

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from studio.api import api

handler400 = "studio.web.middleware.bad_request"
handler404 = "studio.web.middleware.page_not_found"
handler500 = "studio.web.middleware.server_error"

# An app's pages come into being one after the other; each is mounted from its first page on.
APPS = ("tasks_app.urls", "rollouts_app.urls", "training_app.urls")

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("studio.pages")),
    path("", include("studio.web.urls")),
    *(path("", include(module)) for module in APPS if find_spec(module)),
    path("api/v1/", api.urls),
    path("admin/", admin.site.urls),
]
