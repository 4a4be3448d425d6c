"""The routes of the page, in both languages."""

from collections.abc import Awaitable, Callable
from datetime import date
from importlib.resources import files
from types import SimpleNamespace
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import FormData, QueryParams
from starlette.staticfiles import StaticFiles

from lexarbor import __version__
from lexarbor.corpus.sources import DEFAULT_LAW, TINY, read_tiny_questions
from lexarbor.corpus.tree import LawTree
from lexarbor.search import Answer, Engine, Filters
from lexarbor.search.filters import resolved
from lexarbor.serve.api.models import LONGEST_NAME, MOST_NAMES
from lexarbor.serve.asking import Asked
from lexarbor.serve.failures import Refusal
from lexarbor.serve.guard import Scope
from lexarbor.serve.pages.links import PATHS, Links
from lexarbor.serve.pages.reading import article_view, section_view
from lexarbor.serve.pages.results import results_view
from lexarbor.serve.pages.sealed import Seal
from lexarbor.serve.pages.views import Link
from lexarbor.serve.pages.visit import Visit, day_of
from lexarbor.serve.pages.words import LANGUAGES
from lexarbor.serve.settings import ServeSettings

EXAMPLES = 6
"""Example questions on the first page."""
FRENCH_CODES = DEFAULT_LAW.rpartition("@")[0]
"""The package of the law that the examples of `words` are about."""
KEPT = {"Cache-Control": "public, max-age=31536000, immutable"}
"""Of static files: their addresses change with their content."""

Shown = Callable[[Visit], Awaitable[Response]]


async def home(visit: Visit) -> Response:
    return visit.page(
        visit.present,
        "home.html",
        title=visit.t("title.home"),
        examples=_examples(visit),
        json_url=visit.links.json("tree"),
    )


def _examples(visit: Visit) -> list[str]:
    """Questions to begin with; none for a law of which we do not know what it answers."""
    source = visit.desk.laws.present.index.source
    if source == TINY:
        return [question.text for question in read_tiny_questions().split("train")[:EXAMPLES]]
    if not source.startswith(FRENCH_CODES):
        return []
    return [visit.t(f"example.{at + 1}") for at in range(EXAMPLES)]


async def ask(visit: Visit) -> Response:
    """The form: by POST an address without the question's words; by GET, for those who share it, the answer."""
    if visit.request.method == "POST":
        asked = _asked(await visit.request.form(max_files=0, max_fields=50))
        if not asked.question.strip():
            return RedirectResponse(visit.links("home"), 303)
        visit.desk.check(asked)
        return RedirectResponse(visit.links("sealed", sealed=visit.seal.close(asked)), 303)
    given = visit.request.query_params
    if "q" not in given:
        return RedirectResponse(visit.links("home"), 303)
    return await _results(visit, _asked(given))


async def sealed(visit: Visit) -> Response:
    return await _results(visit, visit.seal.open(visit.request.path_params["sealed"]))


async def _results(visit: Visit, asked: Asked) -> Response:
    visit.as_of, visit.codes = asked.as_of, asked.codes
    t, links = visit.t, visit.links
    visit.name = "results"
    switch = visit.switched("sealed", sealed=visit.seal.close(asked))

    def shown(answer: Answer) -> Response:
        visit.codes = resolved(Filters(asked.codes), answer.law).codes
        return visit.page(
            answer.law,
            "results.html",
            title=t("title.results"),
            view=results_view(answer, asked, visit.desk.settings.most_articles, links, t),
            question=asked.question,
            switch_url=switch,
            json_url=links.json("search", q=asked.question, code=asked.codes, k=str(asked.k)),
        )

    try:
        return await visit.desk.answer(asked, shown)
    except Refusal as refusal:
        if refusal.code != "preparing":
            raise
        return _preparing(visit, refusal, asked, switch)


def _preparing(visit: Visit, refusal: Refusal, asked: Asked | None = None, switch: str | None = None) -> Response:
    """The law of the day that was chosen is not ready yet: to be asked for again."""
    t = visit.t
    view = SimpleNamespace(day=t.day(visit.as_of), as_of=str(visit.as_of or ""), asked=asked)
    page = visit.page(visit.present, "preparing.html", title=t("title.preparing"), view=view, switch_url=switch)
    page.status_code = refusal.status
    page.headers.update(refusal.headers)
    return page


async def tree(visit: Visit) -> Response:
    return await _section(visit, None)


async def section(visit: Visit) -> Response:
    return await _section(visit, visit.request.path_params["id"])


async def _section(visit: Visit, id: str | None) -> Response:
    visit.choose(visit.request.query_params.get("as_of"))
    links, t = visit.links, visit.t
    law, view = await _in_thread(visit, lambda engine: section_view(engine, id, links, t))
    told = links.json("tree", *([id] if id else []))
    return visit.page(law, "section.html", title=view.title or t("tree.title"), view=view, json_url=told)


async def article(visit: Visit) -> Response:
    visit.choose(visit.request.query_params.get("as_of"))
    links, t, id = visit.links, visit.t, visit.request.path_params["id"]
    law, view = await _in_thread(visit, lambda engine: article_view(engine, id, links, t))
    title = f"{view.title} · {view.code}"
    return visit.page(law, "article.html", title=title, view=view, json_url=links.json("articles", view.id))


async def data(visit: Visit) -> Response:
    index = visit.desk.laws.present.index
    view = SimpleNamespace(
        source=index.source,
        legs=list(index.legs),
        version=__version__,
        articles=len(index.law),
        sections=len(index.law.sections),
    )
    return _about(visit, "data.html", view=view, json_url=visit.links.json("version"))


async def privacy(visit: Visit) -> Response:
    return _about(visit, "privacy.html")


async def help_page(visit: Visit) -> Response:
    return _about(visit, "help.html")


async def api(visit: Visit) -> Response:
    openapi = f"{visit.links.root}/api/openapi.json"
    return _about(visit, "api.html", view=_endpoints(visit.request.app), openapi_url=openapi, json_url=openapi)


def _about(visit: Visit, template: str, **more: Any) -> Response:
    """A page about Lexarbor itself."""
    return visit.page(visit.present, template, title=visit.t(f"title.{visit.name}"), **more)


PAGES: dict[str, Shown] = {
    "home": home, "search": ask, "sealed": sealed, "tree": tree, "section": section, "article": article,
    "data": data, "privacy": privacy, "help": help_page, "api": api,
}  # fmt: skip


def add_to(app: FastAPI, settings: ServeSettings) -> None:
    """Add the page and its static files to the application."""
    app.state.seal = Seal(settings.seal)
    for name, shown in PAGES.items():
        methods = ["GET", "HEAD", "POST"] if name == "search" else ["GET", "HEAD"]
        for lang, path in zip(LANGUAGES, PATHS[name], strict=True):
            app.add_api_route(
                path, _endpoint(shown, name, lang), methods=methods, include_in_schema=False, response_model=None
            )
    app.add_api_route("/en", _to_english_home, include_in_schema=False, response_model=None)
    app.mount("/static", _Static(directory=str(files("lexarbor.serve") / "static")))


def _endpoint(shown: Shown, name: str, lang: str) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        return await shown(Visit(request, name, lang))

    return endpoint


async def _to_english_home(request: Request) -> Response:
    return RedirectResponse(Links("en", request.app.state.desk.settings.root_path)("home"), 308)


class _Static(StaticFiles):
    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers.update(KEPT)
        return response


def refused(scope: Scope, refusal: Refusal) -> Response:
    """A refusal as a page, in the language of its address."""
    lang = "en" if scope["path"].startswith("/en/") else "fr"
    request = Request(scope)
    visit = Visit(request, "home", lang)
    if refusal.code == "preparing":
        visit.choose(request.query_params.get("as_of"))
        return _preparing(visit, refusal)
    t, now = visit.t, refusal.more.get("now")
    status = f"error.{refusal.status}" if f"error.{refusal.status}.title" in t else "error.500"
    values = {name: t.day(value) if isinstance(value, date) else value for name, value in refusal.values.items()}
    view = SimpleNamespace(
        status=refusal.status,
        title=t(f"{status}.title"),
        message=t(f"error.{refusal.code}" if f"error.{refusal.code}" in t else f"{status}.message", **values),
        retry=refusal.status in (429, 503),
        link=now and Link(t("error.article_now", **values), visit.links("article", id=now)),
    )
    visit.name = "error"
    page = visit.page(visit.present, "error.html", title=view.title, view=view, switch_url=None)
    page.status_code = refusal.status
    return page


async def _in_thread(visit: Visit, make: Callable[[Engine], Any]) -> tuple[LawTree, Any]:
    def made() -> tuple[LawTree, Any]:
        engine = visit.desk.laws.of(visit.as_of)
        return engine.index.law, make(engine)

    return await visit.desk.do(made)


def _asked(given: FormData | QueryParams) -> Asked:
    """What a form says; what it leaves out has its default."""
    k = str(given.get("k") or "10")
    return Asked(
        question=str(given.get("q") or ""),
        k=int(k) if k.isascii() and k.isdigit() and len(k) < 6 else 0,
        codes=tuple(str(code)[:LONGEST_NAME] for code in given.getlist("code")[:MOST_NAMES] if code),
        as_of=day_of(str(given.get("as_of") or "")),
    )


def _endpoints(app: FastAPI) -> list[SimpleNamespace]:
    """The API as its own description tells it."""
    found = []
    for path, methods in app.openapi()["paths"].items():
        for method, told in methods.items():
            parameters = [
                SimpleNamespace(
                    name=one["name"], description=one.get("description", ""), required=one.get("required", False)
                )
                for one in told.get("parameters", ())
            ]
            found.append(
                SimpleNamespace(
                    method=method.upper(),
                    path=path,
                    summary=told.get("description", told["summary"]).split("\n\n")[0].replace("`", ""),
                    parameters=parameters,
                )
            )
    return found
