"""Addresses of the composition: home, health, search, the API's own page."""

from django.urls import path

from studio import views

urlpatterns = [
    path("", views.home, name="home"),
    path("healthz", views.health, name="health"),
    path("search/", views.search, name="search"),
    path("api/docs", views.api_docs, name="api-docs"),
]
