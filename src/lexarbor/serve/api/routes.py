"""The routes of the API. Answers are written as they are made; their shapes, told to OpenAPI, are held by tests."""

import json
from collections.abc import Callable
from datetime import date
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from lexarbor import __version__
from lexarbor.corpus.law import iso
from lexarbor.search import Engine
from lexarbor.serve import metrics
from lexarbor.serve.api import models, telling
from lexarbor.serve.asking import Desk

router = APIRouter(prefix="/api", responses=models.ERRORS)

Id = Annotated[str, Path(description="As a search gave it.", examples=["LEGIARTI000033020922"], max_length=200)]
SectionId = Annotated[str, Path(description="Of a code or section.", examples=["LEGITEXT000006072050"], max_length=200)]
Day = Annotated[models.DayQuery, Query()]


def json_response(content: Any) -> Response:
    return Response(json.dumps(content, ensure_ascii=False).encode(), media_type="application/json")


def desk_of(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


@router.get("/search", response_model=models.AnswerTold, responses=models.NOT_HELD, tags=["search"])
async def search(request: Request, query: Annotated[models.SearchQuery, Query()]) -> Response:
    """Find the articles that govern a question, best first, or those that it names.

    The question is part of the address here, which browsers and proxies keep: use POST where that matters.
    """
    return await desk_of(request).answer(query.asked(), lambda answer: json_response(telling.tell_answer(answer)))


@router.post(
    "/search",
    response_model=models.AnswerTold | models.AnswersTold,
    responses=models.NOT_HELD,
    tags=["search"],
    summary="Search, one question or several",
)
async def search_many(request: Request, body: models.Body) -> Response:
    """With `question`, one answer; with `questions`, as many answers in their order."""
    desk, asked = desk_of(request), body.asked()
    if isinstance(body, models.OneQuestion):
        return await desk.answer(asked[0], lambda answer: json_response(telling.tell_answer(answer)))
    for one in asked:
        desk.check(one)
    request.scope["lexarbor.charge"](len(asked) - 1)
    answers = [await desk.answer(one, telling.tell_answer) for one in asked]  # each in turn, among those of others
    return await desk.do(lambda: json_response({"answers": answers}))


@router.get("/articles/{id}", response_model=models.ArticleTold, responses=models.NOT_HELD, tags=["law"])
async def article(request: Request, id: Id, day: Day) -> Response:
    """One article whole: its place, text, dates and versions."""
    return await _told(request, day.as_of, lambda engine: telling.tell_article(engine, id))


@router.get("/articles/{id}/related", response_model=models.RelatedTold, responses=models.NOT_HELD, tags=["law"])
async def related(request: Request, id: Id, day: Day) -> Response:
    """What an article cites, what cites it, and its neighbours."""
    return await _told(request, day.as_of, lambda engine: telling.tell_related(engine, id))


@router.get("/tree", response_model=models.CodesTold, responses=models.NOT_HELD, tags=["law"])
async def tree(request: Request, day: Day) -> Response:
    """The codes held, each the root of a tree."""
    return await _told(request, day.as_of, telling.tell_codes)


@router.get("/tree/{section}", response_model=models.BranchTold, responses=models.NOT_HELD, tags=["law"])
async def branch(request: Request, section: SectionId, day: Day) -> Response:
    """What stands directly in a code or section, and what stands above it."""
    return await _told(request, day.as_of, lambda engine: telling.tell_branch(engine, section))


@router.head("/health", include_in_schema=False)
@router.get("/health", response_model=models.HealthTold, tags=["server"])
async def health(request: Request) -> Response:
    """Whether the server answers, and with which law."""
    law = desk_of(request).laws.present.index.law
    return json_response({"status": "ok", "law_as_of": iso(law.date), "articles": len(law)})


@router.get("/version", response_model=models.VersionOfServer, tags=["server"])
async def version(request: Request) -> Response:
    """What is running: the program, the law, the legs of the engine and its encoder."""
    laws = desk_of(request).laws
    index = laws.present.index
    return json_response(
        {
            "lexarbor": __version__,
            "source": index.source,
            "law_as_of": iso(index.law.date),
            "legs": index.legs,
            "encoder": index.encoder and index.encoder.checksum,
            "days": [iso(day) for day in laws.held_days()] if laws.days else [],
        }
    )


async def prometheus() -> Response:
    return Response(metrics.exposition(), media_type="text/plain; version=0.0.4; charset=utf-8")


async def _told(request: Request, day: date | None, tell: Callable[[Engine], Any]) -> Response:
    desk = desk_of(request)
    return await desk.do(lambda: json_response(tell(desk.laws.of(day))))
