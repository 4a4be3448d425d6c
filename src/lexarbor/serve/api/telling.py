"""What the law holds, as the API tells it: plain values, in the shapes of `models`."""

from collections import Counter
from collections.abc import Iterable
from datetime import date
from typing import Any

from lexarbor.corpus.law import OLD_LAW_DAYS, Article, iso
from lexarbor.corpus.sources import TINY
from lexarbor.corpus.tree import LawTree
from lexarbor.search import Answer, Engine
from lexarbor.search.hits import legifrance_url
from lexarbor.serve.failures import Refusal

Told = dict[str, Any]


def dated(law: LawTree) -> Told:
    """The day of a law, with a warning where much may have changed since."""
    told: Told = {"law_as_of": iso(law.date)}
    if law.name == TINY:
        told["warning"] = "this is the tiny law of an invented commune: it is no real law"
    elif age_of(law) > OLD_LAW_DAYS:
        told["warning"] = f"this law is {age_of(law)} days old: the official site tells what has changed since"
    return told


def age_of(law: LawTree) -> int:
    """Days since the day of a law."""
    return (date.today() - law.date).days if law.date else 0


def tell_answer(answer: Answer) -> Told:
    return dated(answer.law) | answer.as_dict()


def article_in(engine: Engine, id: str) -> Article:
    """An article in force by its id; of a version that is not, the one that is now is told."""
    law = engine.index.law
    found = law.articles.get(id)
    if found is not None:
        return found
    now = law.in_place_of(id)
    if now is None:
        raise Refusal("article_not_held")
    raise Refusal("article_not_held", more={"now": now.id}, number=now.number)


def tell_article(engine: Engine, id: str) -> Told:
    law, article = engine.index.law, article_in(engine, id)
    return dated(law) | {
        "id": article.id,
        "cid": article.cid,
        "number": article.number,
        "code": law.codes[article.code].title,
        "above": places(law, (article.code, *article.path)),
        "start": iso(article.start),
        "end": iso(article.end),
        "status": article.status,
        "url": legifrance_url(article),
        "text": article.text,
        "note": article.note,
        "versions": [
            {
                "id": version.id,
                "start": iso(version.start),
                "end": iso(version.end),
                "held": version.id == article.id,
                "url": legifrance_url(version),
            }
            for version in reversed(law.history.get(article.cid, ()))
        ],
    }


def tell_related(engine: Engine, id: str) -> Told:
    law, article = engine.index.law, article_in(engine, id)
    around = engine.read(article.id).around
    assert around is not None
    siblings = (law.articles[other] for other in law.siblings(article.id))
    before, after = linked(law, around.before), linked(law, around.after)
    return dated(law) | {
        "id": article.id,
        "before": before[0] if before else None,
        "after": after[0] if after else None,
        "siblings": linked(law, siblings),
        "cites": linked(law, around.cites),
        "cited_by": linked(law, around.cited_by),
    }


def tell_codes(engine: Engine) -> Told:
    law = engine.index.law
    sections = Counter(law.roots.values())
    codes = [
        {"id": code.id, "title": code.title, "articles": law.sizes[code.id], "sections": sections[code.id]}
        for code in law.codes.values()
    ]
    return dated(law) | {"source": engine.index.source, "codes": codes}


def tell_branch(engine: Engine, id: str) -> Told:
    law = engine.index.law
    if id not in law.sections and id not in law.codes:
        raise Refusal("section_not_held")
    below = law.children(id)
    return dated(law) | {
        "id": id,
        "title": law.title(id),
        "above": places(law, law.ancestors(id)),
        "sections": [
            {"id": one, "title": law.title(one), "articles": law.sizes[one]} for one in below if one in law.sections
        ],
        "articles": [
            {"id": one, "number": law.articles[one].number, "start": iso(law.articles[one].start)}
            for one in below
            if one in law.articles
        ],
    }


def places(law: LawTree, ids: Iterable[str]) -> list[Told]:
    return [{"id": id, "title": law.title(id)} for id in ids]


def linked(law: LawTree, articles: Iterable[Article]) -> list[Told]:
    return [
        {"id": a.id, "number": a.number, "code": law.codes[a.code].title, "url": legifrance_url(a)} for a in articles
    ]
