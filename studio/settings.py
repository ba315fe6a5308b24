"""All settings, read from the environment through typed helpers.

Nothing has to be set on a laptop: the embedded servers and a generated secret are the default.
A wrong value ends the start with one line that names the variable and what it should be.
"""

import contextlib
import importlib.util
import os
import secrets
import shlex
from collections.abc import Collection
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import django_stubs_ext
from django.core.exceptions import ImproperlyConfigured

from studio import embedded
from studio.addresses import AddressError, parse_database_url

django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent


def env_str(name: str, default: str = "") -> str:
    """Return the variable, stripped, or the default where it is unset or empty."""
    return os.environ.get(name, "").strip() or default


def env_bool(name: str, *, default: bool) -> bool:
    """Return 1/true/yes/on as True and 0/false/no/off as False."""
    raw = env_str(name).lower()
    if not raw:
        return default
    if raw in {"1", "true", "yes", "on"}:
        return True
    if raw in {"0", "false", "no", "off"}:
        return False
    raise ImproperlyConfigured(f"{name}={raw!r} is neither 1/true/yes/on nor 0/false/no/off")


def env_int(name: str, default: int) -> int:
    """Return a whole number."""
    raw = env_str(name)
    if not raw:
        return default
    try:
        return int(raw)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}={raw!r} is not a whole number") from error


def env_list(name: str, default: list[str]) -> list[str]:
    """Return the comma-separated values."""
    raw = env_str(name)
    return [part.strip() for part in raw.split(",") if part.strip()] if raw else default


VAR_DIR = embedded.var_dir()
DEBUG = env_bool("STUDIO_DEBUG", default=False)


def env_choice(name: str, default: str, choices: Collection[str], what: str) -> str:
    """Return one of the choices."""
    value = env_str(name, default)
    if value not in choices:
        raise ImproperlyConfigured(f"{name}={value!r} is not {what}")
    return value


def env_zone(name: str, default: str) -> str:
    """Return the name of a time zone."""
    value = env_str(name, default)
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ImproperlyConfigured(
            f"{name}={value!r} is not a time zone such as Europe/Berlin"
        ) from error
    return value


def _secret_key() -> str:
    """Take the variable, else a key made once and kept readable by its owner only."""
    given = env_str("STUDIO_SECRET_KEY")
    if given:
        return given
    try:
        return _kept_secret(VAR_DIR / "secret_key")
    except OSError as error:
        raise ImproperlyConfigured(
            f"{error.filename or VAR_DIR}: {error.strerror}. Keys and data are kept in {VAR_DIR}: "
            "set STUDIO_VAR to a folder that you can write to."
        ) from error


def _kept_secret(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
    try:
        # O_EXCL: of two first starts at once one writes, the other reads.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text(encoding="ascii").strip()
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        key = secrets.token_urlsafe(48)
        file.write(key)
    return key


def _database() -> dict[str, Any]:
    url = env_str("DATABASE_URL") or embedded.known_addresses(VAR_DIR).database_url
    try:
        database: dict[str, Any] = dict(parse_database_url(url))
    except AddressError as error:
        raise ImproperlyConfigured(f"DATABASE_URL: {error}") from error
    timeout = env_int("STUDIO_STATEMENT_TIMEOUT_MS", 0)
    if timeout:
        # `up` sets it for the web processes alone: a page may take seconds, a job may not care.
        database["OPTIONS"] = {
            **database["OPTIONS"],
            "options": f"-c statement_timeout={timeout}",
        }
    return {
        **database,
        "ENGINE": "django.db.backends.postgresql",
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "TEST": {"NAME": f"test_{database['NAME']}"},
    }


SECRET_KEY = _secret_key()
ALLOWED_HOSTS = env_list("STUDIO_ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env_list("STUDIO_TRUSTED_ORIGINS", [])
HTTPS = env_bool("STUDIO_HTTPS", default=False)

INSTALLED_APPS = [
    "studio.apps.StudioConfig",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "ninja",
    "studio.web",
    "tasks_app",
    "rollouts_app",
    "training_app",
]
INSTALLED_APPS = [
    name for name in INSTALLED_APPS if importlib.util.find_spec(name.split(".apps")[0])
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "studio.web.middleware.ContentSecurityPolicy",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "studio.web.middleware.RequestSize",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "studio.web.middleware.AccountRequired",
    "studio.web.middleware.Methods",
    "studio.web.middleware.Errors",
    "studio.api_queries.KnownQueries",
]

ROOT_URLCONF = "studio.urls"
WSGI_APPLICATION = "studio.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "studio.shell.shell",
            ],
        },
    },
]

DATABASES = {"default": _database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "web.User"
LOGIN_URL = "/sign-in/"
LOGIN_REDIRECT_URL = "/"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

LANGUAGE_CODE = "en"
TIME_ZONE = env_zone("STUDIO_TIME_ZONE", "UTC")
USE_I18N = False
USE_TZ = True

STATIC_URL = "/static/"
STATIC_ROOT = VAR_DIR / "static"
with contextlib.suppress(OSError):  # whitenoise warns where it is missing, empty is fine
    STATIC_ROOT.mkdir(parents=True, exist_ok=True)
STATICFILES_DIRS: list[Any] = [BASE_DIR / "static"]
_plotly = importlib.util.find_spec("plotly")
if _plotly is not None and _plotly.origin is not None:
    # plotly.min.js is served out of its own package: nothing vendored, nothing from a CDN.
    STATICFILES_DIRS.append(("plotly", Path(_plotly.origin).parent / "package_data"))
# Served straight from the source folders: a fresh clone needs no collectstatic.
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "studio.web.middleware.csrf_failure"
SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
# How many proxies stand before the web processes: the sign-in throttle counts clients, not proxies.
STUDIO_TRUSTED_PROXIES = env_int("STUDIO_TRUSTED_PROXIES", 0)
# Hosts that model endpoints may name; empty: any. A private network is safer with a list.
STUDIO_ENDPOINT_HOSTS = env_list("STUDIO_ENDPOINT_HOSTS", [])
# The command that starts a training engine; empty: this Python with -m training_app.engine.
STUDIO_ENGINE = shlex.split(env_str("STUDIO_ENGINE"))
# Seconds that a stopped engine has beyond a few of its own steps, before TERM and before KILL.
STUDIO_ENGINE_PATIENCE = env_int("STUDIO_ENGINE_PATIENCE", 10)
STUDIO_MAX_BODY_BYTES = env_int("STUDIO_MAX_BODY_BYTES", 20 * 2**20)
DATA_UPLOAD_MAX_MEMORY_SIZE = 10 * 1024 * 1024  # bytes of a request body without its files
FILE_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024

CELERY_BROKER_URL = env_str("BROKER_URL") or embedded.known_addresses(VAR_DIR).broker_url
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = (
    {
        # A message whose worker was killed comes back after this many seconds; the lease in the
        # job row refuses a second runner of a job that merely takes longer.
        "visibility_timeout": 120,
        "unacked_restore_throttle": 1,  # kombu looks every 100 s otherwise
    }
    if CELERY_BROKER_URL.startswith(("redis", "rediss"))
    else {}
)
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "light"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 2.0  # what is cut off is run again: leave quickly
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR_DIR / "run" / "beat-schedule")
CELERY_BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    "settle-runs": {
        "task": "training_app.jobs.settle_runs",
        "schedule": 10.0,
        "options": {"expires": 10, "queue": "light"},
    }
}

_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
LOG_LEVEL = env_choice("STUDIO_LOG_LEVEL", "INFO", _LEVELS, f"one of {', '.join(_LEVELS)}")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(levelname)s %(name)s: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "loggers": {
        # Two lines for every wake-up, one of them each ten seconds: jobs report on themselves.
        "celery.worker.strategy": {"level": "WARNING"},
        "celery.app.trace": {"level": "WARNING"},
        "celery.worker.consumer.connection": {"level": "WARNING"},
        # A line for every answer of a model; batches count them.
        "httpx": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},
    },
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
}
