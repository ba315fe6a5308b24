"""Test settings: a private PostgreSQL and Valkey per run, unless DATABASE_URL names a server.

The servers start while this module is read, because pytest-django reads the settings before any
conftest; xdist's workers inherit the variables and start nothing.
"""

import os
import tempfile
from pathlib import Path

from studio import embedded

if not os.environ.get("DATABASE_URL"):
    # Below /tmp, open to walk through: as root the database runs as another user.
    _var = Path(tempfile.mkdtemp(prefix="cws-tests-"))
    _var.chmod(0o755)
    _addresses = embedded.ensure(_var, durable=False, temporary=True, grace=2.0)
    os.environ["STUDIO_VAR"] = str(_var)
    os.environ["DATABASE_URL"] = _addresses.database_url
    os.environ["BROKER_URL"] = _addresses.broker_url

os.environ.setdefault("STUDIO_SECRET_KEY", "made-up-for-tests-and-used-nowhere-else-at-all-0123")

from studio.settings import *  # noqa: F403 - read after the variables above are set

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # speed, not safety
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
