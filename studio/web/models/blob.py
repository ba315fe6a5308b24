"""Bytes by their hash."""

from django.db import models
from django.utils import timezone

from studio.lib.hashing import bytes_hash


class Blob(models.Model):
    """Content-addressed bytes: the same content is kept once and never changes."""

    sha256 = models.CharField(max_length=64, primary_key=True)
    media_type = models.CharField(max_length=100, default="application/octet-stream")
    size = models.PositiveBigIntegerField()
    content = models.BinaryField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    def __str__(self) -> str:
        return self.sha256[:12]

    @staticmethod
    def put(content: bytes, media_type: str = "application/octet-stream") -> "Blob":
        """Keep the bytes, once; safe when two processes put the same at the same time."""
        sha256 = bytes_hash(content)
        row = Blob(sha256=sha256, media_type=media_type, size=len(content), content=content)
        Blob.objects.bulk_create([row], ignore_conflicts=True)
        return Blob.objects.get(pk=sha256)

    def bytes(self) -> bytes:
        """The content, whatever buffer type the driver gave."""
        return bytes(self.content)
