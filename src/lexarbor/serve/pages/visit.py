"""One request for a page: its language, the day that was chosen, and what every page tells of the law."""

from datetime import date
from typing import Any

from fastapi import Request
from fastapi.responses import Response

from lexarbor.corpus.law import OLD_LAW_DAYS
from lexarbor.corpus.sources import TINY
from lexarbor.corpus.tree import LawTree
from lexarbor.serve.api.telling import age_of
from lexarbor.serve.asking import Desk, a_day
from lexarbor.serve.failures import Refusal
from lexarbor.serve.pages.links import PATHS, Links
from lexarbor.serve.pages.rendering import Page, render
from lexarbor.serve.pages.sealed import Seal
from lexarbor.serve.pages.views import CodeChoice, LawNote
from lexarbor.serve.pages.words import LANGUAGES, words


class Visit:
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
    def present(self) -> LawTree:
        return self.desk.laws.present.index.law

    @property
    def links(self) -> Links:
        return Links(self.lang, self.desk.settings.root_path, self.as_of)

    @property
    def switched(self) -> Links:
        """Addresses in the other language."""
        return Links(LANGUAGES[self.lang == LANGUAGES[0]], self.desk.settings.root_path, self.as_of)

    def choose(self, day: str | None) -> None:
        self.as_of = day_of(day)

    def page(self, law: LawTree, template: str, *, title: str, **more: Any) -> Response:
        """A page that speaks of a law."""
        if self.name in PATHS:
            more.setdefault("switch_url", self.switched(self.name, **self.request.path_params))
            if self.as_of:
                now = Links(self.lang, self.desk.settings.root_path)
                more.setdefault("now_url", now(self.name, **self.request.path_params))
        page = Page(self.t, self.links, self.name if self.name != "sealed" else "results", title, _note(self, law))
        return render(page, template, **more)


def _note(visit: Visit, law: LawTree) -> LawNote:
    present = visit.present
    chosen = law.date != present.date
    return LawNote(
        day=law.date,
        newest=present.date if chosen else None,
        age=age_of(present),
        old=not chosen and age_of(present) > OLD_LAW_DAYS and law.name != TINY,
        invented=law.name == TINY,
        not_held=len(law.not_held),
        days=visit.desk.laws.days,
        codes=[
            CodeChoice(code.id, code.title, law.sizes[code.id], code.id in visit.codes) for code in law.codes.values()
        ],
    )


def day_of(text: str | None) -> date | None:
    try:
        return a_day(text) if text else None
    except ValueError:
        raise Refusal("day") from None
