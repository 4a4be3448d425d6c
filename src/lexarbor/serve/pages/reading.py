"""Articles and sections as the page shows them."""

from lexarbor.corpus.law import Article
from lexarbor.corpus.tree import LawTree
from lexarbor.search import Engine
from lexarbor.search.hits import legifrance_url
from lexarbor.serve.api.telling import article_in
from lexarbor.serve.failures import Refusal
from lexarbor.serve.pages.body import blocks, opening
from lexarbor.serve.pages.drawing import draw_citations
from lexarbor.serve.pages.links import Links
from lexarbor.serve.pages.results import places
from lexarbor.serve.pages.views import (
    ArticleLink,
    ArticleRow,
    ArticleView,
    SectionRow,
    SectionView,
    VersionRow,
)
from lexarbor.serve.pages.words import Words, article_title


def article_view(engine: Engine, id: str, url: Links, t: Words) -> ArticleView:
    law = engine.index.law
    article = article_in(engine, id)
    around = engine.read(article.id).around
    assert around is not None

    def links(others: tuple[Article, ...]) -> list[ArticleLink]:
        return [
            ArticleLink(
                other.number, law.codes[other.code].title, url("article", id=other.id), other.code != article.code
            )
            for other in others
        ]

    before, after, cites, cited_by = map(links, (around.before, around.after, around.cites, around.cited_by))
    return ArticleView(
        id=article.id,
        title=article_title(article.number, t),
        code=law.codes[article.code].title,
        crumbs=places(law, (article.code, *article.path), url),
        other_places=[places(law, (article.code, *path), url) for path in article.other_paths],
        since=t.day(article.start),
        until=t.day(article.end),
        blocks=blocks(article.text),
        note=blocks(article.note),
        official=legifrance_url(article),
        before=before[0] if before else None,
        after=after[0] if after else None,
        cites=cites,
        cited_by=cited_by,
        graph=draw_citations(article.number, cited_by, cites, t),
        versions=[
            VersionRow(t.day(version.start), t.day(version.end), version.id == article.id, legifrance_url(version))
            for version in reversed(law.history.get(article.cid, ()))
        ],
    )


def section_view(engine: Engine, id: str | None, url: Links, t: Words) -> SectionView:
    """A code or section; all codes for None."""
    law = engine.index.law
    if id is None:
        return SectionView("", (), _rows(law, tuple(law.codes), url), (), len(law))
    if id not in law.sections and id not in law.codes:
        raise Refusal("section_not_held")
    below = law.children(id)
    articles = [law.articles[one] for one in below if one in law.articles]
    return SectionView(
        title=law.title(id),
        crumbs=places(law, law.ancestors(id), url),
        sections=_rows(law, tuple(one for one in below if one in law.sections), url),
        articles=[
            ArticleRow(article_title(one.number, t), url("article", id=one.id), opening(one.text), t.day(one.start))
            for one in articles
        ],
        total=law.sizes[id],
    )


def _rows(law: LawTree, ids: tuple[str, ...], url: Links) -> list[SectionRow]:
    return [SectionRow(law.title(id), url("section", id=id), law.sizes[id]) for id in ids]
