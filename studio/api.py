"""The API at /api/v1: mounts what the platform and each app offer, and nothing else."""

from importlib import import_module
from importlib.util import find_spec

from ninja import NinjaAPI

from studio.web import api as platform
from studio.web.auth import API_AUTH, schema_readers
from studio.web.problems import install

DESCRIPTION = """Everything that the pages can do. Send `Authorization: Bearer cws_…` (a token from
your account page, within its scopes and your role) or use the session of a signed-in browser.
Errors are problem documents (RFC 9457): `status`, `detail`, and `problems` with places. Lists give
`next_cursor`; hand it back as `cursor`."""

#: Apps on top of the platform; each offers ``ROUTERS`` in its ``api`` package once it has routes.
APPS = ("tasks_app.api", "rollouts_app.api", "training_app.api")

api = NinjaAPI(
    title="CoworkEnv Studio",
    version="1",
    description=DESCRIPTION,
    auth=API_AUTH,
    urls_namespace="api",
    docs_url=None,
    docs_decorator=schema_readers,
)
install(api)

for prefix, router in platform.ROUTERS:
    api.add_router(prefix, router)
for name in APPS:
    if find_spec(name.partition(".")[0]) and find_spec(name):
        for prefix, router in getattr(import_module(name), "ROUTERS", ()):
            api.add_router(prefix, router)
