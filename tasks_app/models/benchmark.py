"""Benchmarks whose texts no task of ours may repeat: hashes and titles, never the texts."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models


class Benchmark(models.Model):
    """The prompts of one benchmark, as somebody supplied them here."""

    name = models.SlugField(max_length=80, unique=True)
    source = models.CharField(max_length=300)
    """The folder's or file's own name."""
    items_count = models.PositiveIntegerField(default=0)
    digest = models.CharField(max_length=64)
    """SHA-256 over the hashes of all items: the same texts give the same."""
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class BenchmarkItem(models.Model):
    """One prompt: what it is called, and hashes of its runs of words."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="items")
    title = models.CharField(max_length=200)
    grams = ArrayField(models.BigIntegerField())
    """Each run of 13 words, hashed."""
    shingles = ArrayField(models.BigIntegerField())
    """Each run of three words, hashed."""

    class Meta:
        ordering = ("benchmark", "pk")
        indexes = [
            GinIndex(fields=["grams"], name="benchmark_grams"),
            GinIndex(fields=["shingles"], name="benchmark_shingles"),
        ]

    def __str__(self) -> str:
        return self.title
