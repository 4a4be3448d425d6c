"""The application: API, pages and static files behind one guard."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.routing import Match

from lexarbor import __version__
from lexarbor.errors import place_of
from lexarbor.serve import metrics
from lexarbor.serve.api import models
from lexarbor.serve.api import routes as api
from lexarbor.serve.asking import Desk
from lexarbor.serve.failures import BY_STATUS, Refusal
from lexarbor.serve.guard import App, Guard, Scope
from lexarbor.serve.laws import Laws
from lexarbor.serve.pages import routes as pages
from lexarbor.serve.settings import ServeSettings

DESCRIPTION = (
    "Ask a legal question in everyday French, get the statutory articles that govern it, each at its place in the tree "
    "of law and with the day of that law. Information, not legal advice. No question is logged or kept."
)
_KNOWN = frozenset("query body path q k code codes under as_of explain question questions id section".split())
"""Names that a refusal may repeat: any other may be words of the asker."""

MOST_TOLD = 20
"""Of what is wrong with one request."""

_log = logging.getLogger(__name__)


def build_app(laws: Laws, settings: ServeSettings) -> Guard:
    """The whole application over some laws."""
    app = FastAPI(
        title="Lexarbor",
        version=__version__,
        description=DESCRIPTION,
        docs_url=None,  # those pages load scripts from elsewhere; ours is /api
        redoc_url=None,
        openapi_url="/api/openapi.json",
        root_path_in_servers=False,
        lifespan=_lifespan,
        redirect_slashes=False,
        license_info={"name": "MIT"},
        servers=[{"url": settings.root_path}] if settings.root_path else None,
    )
    app.state.desk = Desk(laws, settings)
    app.include_router(api.router)
    app.add_api_route("/metrics", api.prometheus, include_in_schema=False)
    pages.add_to(app, settings)
    app.openapi()  # made once and kept
    app.add_exception_handler(Refusal, _on_refusal)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(Exception, _on_failure)

    async def respond_early(scope: Scope, refusal: Refusal) -> App:
        """What is refused before the application has seen it."""
        scope.setdefault("app", app)
        return await respond(scope, refusal)

    return Guard(app, settings, respond_early)


def from_environment() -> Guard:
    """The application of a worker."""
    settings = ServeSettings.handed_on()
    return build_app(Laws(settings.index, settings.days), settings)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Watches, as long as the server runs, whether there is a new index."""
    watching = asyncio.create_task(_watch(app.state.desk))
    yield
    watching.cancel()
    with suppress(asyncio.CancelledError):
        await watching


async def _watch(desk: Desk) -> None:
    while True:
        await asyncio.sleep(desk.settings.watch_seconds)
        try:
            await asyncio.to_thread(desk.laws.refresh)
        except Exception as error:  # whatever it is, the server goes on with the law that it has
            _log.error("the index could not be looked at: %s", place_of(error))


async def respond(scope: Scope, refusal: Refusal) -> App:
    """A refusal, as JSON to programs and as a page to people."""
    metrics.refusals.labels(refusal.code).inc()
    path: str = scope["path"]
    if path.startswith("/api/") or path == "/metrics":
        answer: Response = api.json_response(refusal.as_dict())
        answer.status_code = refusal.status
    else:
        answer = pages.refused(scope, refusal)
    answer.headers.update(refusal.headers)
    return answer


async def _on_refusal(request: Request, error: Exception) -> Any:
    assert isinstance(error, Refusal)
    return await respond(request.scope, error)


async def _on_http(request: Request, error: Exception) -> Any:
    """What the framework refuses; a body that we refused while it was read among it."""
    assert isinstance(error, HTTPException)
    cause = error.__cause__
    refusal = cause if isinstance(cause, Refusal) else Refusal(BY_STATUS.get(error.status_code, "bad_request"))
    answer = await _on_refusal(request, refusal)
    if error.status_code == 405:
        answer.headers["Allow"] = ", ".join(sorted(_methods(request)))
    return answer


def _methods(request: Request) -> set[str]:
    """How an address can be asked: several routes may stand there."""
    found: set[str] = set()
    for route in (*request.app.routes, *api.router.routes):
        methods = getattr(route, "methods", None)
        if methods and route.matches(request.scope)[0] is not Match.NONE:
            found |= methods
    return found


async def _on_invalid(request: Request, error: Exception) -> Any:
    assert isinstance(error, RequestValidationError)
    fields = [
        {
            "where": [
                part if isinstance(part, int) or part in _KNOWN else "?"
                for part in found["loc"]
                if part not in models.KINDS_OF_BODY
            ],
            "problem": found["msg"],  # tells what is expected, never what was given
        }
        for found in error.errors()[:MOST_TOLD]
    ]
    return await _on_refusal(request, Refusal("invalid", more={"fields": fields}))


async def _on_failure(request: Request, error: Exception) -> Any:
    return await _on_refusal(request, Refusal("failed"))
