"""Addresses of training: datasets, runs, evaluations."""

from django.urls import URLPattern

datasets: list[URLPattern] = []

runs: list[URLPattern] = []

evaluations: list[URLPattern] = []

urlpatterns = [*datasets, *runs, *evaluations]
