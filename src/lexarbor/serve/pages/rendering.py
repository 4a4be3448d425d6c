"""Templates to pages. Whatever a template shows is escaped."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined

from lexarbor.serve.pages.links import Links
from lexarbor.serve.pages.views import LawNote
from lexarbor.serve.pages.words import Words


@dataclass(frozen=True, slots=True)
class Page:
    """What all pages have."""

    t: Words
    url: Links
    here: str
    """The name of the page."""
    title: str
    law: LawNote


def render(page: Page, template: str, **more: Any) -> Response:
    told = {
        "lang": page.t.lang,
        "t": page.t,
        "url": page.url,
        "asset": page.url.asset,
        "day": page.t.day,
        "number": page.t.number,
        "here": page.here,
        "page_title": page.title,
        "law": page.law,
        "question": "",
        "examples": (),
        "json_url": None,
        "switch_url": None,
    }
    return HTMLResponse(_templates().get_template(template).render(told | more))


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("lexarbor.serve"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, auto_reload=False,
    )  # fmt: skip
