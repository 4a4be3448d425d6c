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
from lexarbor.corpus.law import OLD_LAW_DAYS
from lexarbor.corpus.sources import TINY
from lexarbor.search import Engine
from lexarbor.serve.api.telling import age_of
from lexarbor.serve.asking import Asked, Desk
from lexarbor.serve.failures import Refusal
from lexarbor.serve.guard import Scope
from lexarbor.serve.pages.links import PATHS, Links
from lexarbor.serve.pages.reading import article_view, section_view
from lexarbor.serve.pages.rendering import Page, render
from lexarbor.serve.pages.results import results_view
from lexarbor.serve.pages.sealed import Seal
from lexarbor.serve.pages.views import CodeChoice, LawNote
from lexarbor.serve.pages.words import LANGUAGES, words
from lexarbor.serve.settings import ServeSettings

EXAMPLES = 6
"""Example questions on the first page."""
KEPT = {"Cache-Control": "public, max-age=31536000, immutable"}
"""Of static files: their addresses change with their content."""

Shown = Callable[["_Visit"], Awaitable[Response]]


class _Visit:
    """One request for a page."""

    def __init__(self, request: Request, name: str, lang: str) -> None:
        self.request, self.name = request, name
        self.desk: Desk = request.app.state.desk
        self.seal: Seal = request.app.state.seal
        self.t = words(lang)
        self.lang = lang
        self.as_of: date | None = None
        self.codes: tuple[str, ...] = ()

    @property
    def links(self) -> Links:
        return Links(self.lang, self.desk.settings.root_path, self.as_of)

    def choose(self, day: str | None) -> None:
        self.as_of = _day(day)

    def page(self, engine: Engine, template: str, *, title: str, **more: Any) -> Response:
        """A page about the law of an engine."""
        other = LANGUAGES[self.lang == LANGUAGES[0]]
        switched = Links(other, self.desk.settings.root_path, self.as_of)
        more.setdefault("switch_url", switched(self.name, **self.request.path_params))
        page = Page(self.t, self.links, self.name if self.name != "sealed" else "results", title, _note(self, engine))
        return render(page, template, **more)


async def home(visit: _Visit) -> Response:
    present, t = visit.desk.laws.present, visit.t
    examples = [t(f"example.{at + 1}") for at in range(EXAMPLES)]
    return visit.page(present, "home.html", title=t("title.home"), examples=examples, json_url=visit.links.json("tree"))


async def ask(visit: _Visit) -> Response:
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


async def sealed(visit: _Visit) -> Response:
    return await _results(visit, visit.seal.open(visit.request.path_params["sealed"]))


async def _results(visit: _Visit, asked: Asked) -> Response:
    visit.as_of, visit.codes = asked.as_of, asked.codes
    t, links = visit.t, visit.links
    other = Links(LANGUAGES[visit.lang == LANGUAGES[0]], links.root, asked.as_of)
    visit.name = "results"
    switch = other("sealed", sealed=visit.seal.close(asked))
    try:
        answer = await visit.desk.answer(asked)
    except Refusal as refusal:
        if refusal.code != "preparing":
            raise
        view = SimpleNamespace(day=t.day(asked.as_of), question=asked.question, asked=asked)
        page = visit.page(
            visit.desk.laws.present, "preparing.html", title=t("title.preparing"), view=view, switch_url=switch
        )
        page.status_code = refusal.status
        page.headers.update(refusal.headers)
        return page
    engine = await visit.desk.do(lambda: visit.desk.laws.of(asked.as_of))
    return visit.page(
        engine,
        "results.html",
        title=t("title.results"),
        view=results_view(answer, asked, visit.desk.settings.most_articles, links, t),
        question=asked.question,
        switch_url=switch,
        json_url=links.json("search", q=asked.question, code=list(asked.codes), k=str(asked.k)),
    )


async def tree(visit: _Visit) -> Response:
    return await _section(visit, None)


async def section(visit: _Visit) -> Response:
    return await _section(visit, visit.request.path_params["id"])


async def _section(visit: _Visit, id: str | None) -> Response:
    visit.choose(visit.request.query_params.get("as_of"))
    links, t = visit.links, visit.t
    engine, view = await _in_thread(visit, lambda engine: section_view(engine, id, links, t))
    visit_json = links.json(f"tree/{id}" if id else "tree")
    return visit.page(engine, "section.html", title=view.title or t("tree.title"), view=view, json_url=visit_json)


async def article(visit: _Visit) -> Response:
    visit.choose(visit.request.query_params.get("as_of"))
    links, t, id = visit.links, visit.t, visit.request.path_params["id"]
    engine, view = await _in_thread(visit, lambda engine: article_view(engine, id, links, t))
    title = f"{view.title} · {view.code}"
    return visit.page(engine, "article.html", title=title, view=view, json_url=links.json(f"articles/{view.id}"))


async def data(visit: _Visit) -> Response:
    index = visit.desk.laws.present.index
    view = SimpleNamespace(
        source=index.source,
        legs=list(index.legs),
        version=__version__,
        articles=len(index.law),
        sections=len(index.law.sections),
    )
    return _about(visit, "data.html", view=view, json_url=visit.links.json("version"))


async def privacy(visit: _Visit) -> Response:
    return _about(visit, "privacy.html")


async def help_page(visit: _Visit) -> Response:
    return _about(visit, "help.html")


async def api(visit: _Visit) -> Response:
    openapi = f"{visit.links.root}/api/openapi.json"
    return _about(visit, "api.html", view=_endpoints(visit.request.app), openapi_url=openapi, json_url=openapi)


def _about(visit: _Visit, template: str, **more: Any) -> Response:
    """A page about Lexarbor itself."""
    return visit.page(visit.desk.laws.present, template, title=visit.t(f"title.{visit.name}"), **more)


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
        return await shown(_Visit(request, name, lang))

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
    visit = _Visit(request, "home", lang)
    t = visit.t
    message = f"error.{refusal.code}" if f"error.{refusal.code}" in t else f"error.{refusal.status}.message"
    title = f"error.{refusal.status}.title"
    now = refusal.more.get("now")
    view = SimpleNamespace(
        status=refusal.status,
        title=t(title if title in t else "error.500.title"),
        message=t(message if message in t else "error.500.message", **refusal.values),
        retry=refusal.status in (429, 503),
        now=visit.links("article", id=now) if now else None,
    )
    visit.name = "error"
    page = visit.page(visit.desk.laws.present, "error.html", title=view.title, view=view, switch_url=None)
    page.status_code = refusal.status
    return page


async def _in_thread(visit: _Visit, make: Callable[[Engine], Any]) -> tuple[Engine, Any]:
    def made() -> tuple[Engine, Any]:
        engine = visit.desk.laws.of(visit.as_of)
        return engine, make(engine)

    return await visit.desk.do(made)


def _asked(given: FormData | QueryParams) -> Asked:
    """What a form says; what it leaves out has its default."""
    k = str(given.get("k") or "10")
    return Asked(
        question=str(given.get("q") or ""),
        k=int(k) if k.isascii() and k.isdigit() and len(k) < 6 else 0,
        codes=tuple(str(code) for code in given.getlist("code") if code),
        as_of=_day(str(given.get("as_of") or "")),
    )


def _day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise Refusal("day") from None


def _note(visit: _Visit, engine: Engine) -> LawNote:
    law, present = engine.index.law, visit.desk.laws.present.index.law
    chosen = engine.index.law is not present
    return LawNote(
        day=law.date,
        newest=present.date if chosen else None,
        age=age_of(present),
        old=not chosen and age_of(present) > OLD_LAW_DAYS and law.name != TINY,
        invented=law.name == TINY,
        not_held=len(law.not_held),
        codes=[
            CodeChoice(code.id, code.title, law.sizes[code.id], code.id in visit.codes) for code in law.codes.values()
        ],
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
                    summary=told.get("description", told["summary"]).split("\n\n")[0],
                    parameters=parameters,
                )
            )
    return found
