"""An answer as the page shows it: hits with their reasons, and the tree of law with their places lit up."""

from collections.abc import Iterable, Iterator, Sequence

from lexarbor.corpus.tree import LawTree
from lexarbor.search import Answer, Hit
from lexarbor.search.hits import legifrance_url, sheet_url
from lexarbor.serve.asking import Asked
from lexarbor.serve.pages.links import Links
from lexarbor.serve.pages.views import Branch, HitView, Link, OutsideView, Piece, ResultsView, Why
from lexarbor.serve.pages.words import Words, article_title

TOLD_TO = 100
"""A leg that has an article further down is no reason for its place, unless there is no better one."""
STEP = 10
"""How many more articles are shown when more are asked for."""


def results_view(answer: Answer, asked: Asked, most: int, url: Links, t: Words) -> ResultsView:
    """`most`: articles that can be asked for."""
    outside = answer.outside
    read_as = answer.read_as or ""
    added = read_as.removeprefix(answer.question).strip() if read_as.startswith(answer.question) else ""
    more = min(asked.k + STEP, most)
    return ResultsView(
        question=answer.question,
        read_as="" if added else read_as,
        added=added,
        hits=[_hit(hit, answer.law, url, t) for hit in answer.hits],
        outside=OutsideView(round(outside.chance * 100), outside.codes) if outside else None,
        not_held=answer.not_held,
        tree=lit_tree(answer, url),
        as_of=str(asked.as_of or ""),
        k=asked.k,
        more=more if len(answer.hits) == asked.k and more > asked.k else None,
        share=url.share(asked.question, asked.codes),
    )


def _hit(hit: Hit, law: LawTree, url: Links, t: Words) -> HitView:
    article = hit.article
    return HitView(
        rank=hit.rank,
        id=article.id,
        title=article_title(article.number, t),
        url=url("article", id=article.id),
        code=law.codes[article.code].title,
        crumbs=places(law, (article.code, *article.path), url),
        passage=list(_pieces(hit.passage, hit.marks)),
        since=t.day(article.start),
        until=t.day(article.end),
        why=list(_why(hit, t)),
        official=legifrance_url(article),
    )


def places(law: LawTree, ids: Iterable[str], url: Links) -> list[Link]:
    """Codes and sections, as links to their pages."""
    return [Link(law.title(id), url("section", id=id)) for id in ids]


def _pieces(passage: str, marks: Sequence[tuple[int, int]]) -> Iterator[Piece]:
    at = 0
    for start, end in marks:
        yield Piece(passage[at:start], False)
        yield Piece(passage[start:end], True)
        at = end
    yield Piece(passage[at:], False)


def _why(hit: Hit, t: Words) -> Iterator[Why]:
    """The reasons for a hit, the one that tells most first."""
    reasons = hit.reasons
    if "reference" in reasons:
        yield Why(t("why.reference"))
    if hit.recalled and "memory" in reasons:
        yield _remembered(hit, t)
    if hit.everyday and "everyday" in reasons:
        yield Why(t("why.everyday", question=hit.everyday))
    last = min((reason.rank for reason in reasons.values()), default=0)
    for leg in ("dense", "bm25"):
        if leg in reasons and reasons[leg].rank <= max(TOLD_TO, last):
            yield Why(t(f"why.{leg}", rank=t.number(reasons[leg].rank)))


def _remembered(hit: Hit, t: Words) -> Why:
    assert hit.recalled is not None
    question = hit.recalled.question
    sheet = sheet_url(question)
    if question.text:
        told = t("why.memory.own", question=question.text)
    else:
        told = t("why.memory.year", year=question.year) if question.year else t("why.memory")
    if hit.recalled.changed:
        told = f"{told} {t('why.memory.amended')}"
    return Why(told, Link(t("why.memory.sheet"), sheet) if sheet else None)


def lit_tree(answer: Answer, url: Links) -> list[Branch]:
    """The codes, and below them the sections in which hits stand."""
    law = answer.law
    hits: dict[str, int] = {}
    ranks: dict[str, list[int]] = {}
    for hit in answer.hits:
        for id in (hit.article.code, *hit.article.path):
            hits[id] = hits.get(id, 0) + 1
        ranks.setdefault(hit.article.parent, []).append(hit.rank)

    def grown(id: str) -> Branch:
        below = [child for child in law.children(id) if child in law.sections]
        lit = [child for child in below if child in hits]
        return Branch(
            title=law.title(id),
            url=url("section", id=id),
            hits=hits.get(id, 0),
            ranks=ranks.get(id, ()),
            open=id in hits,
            children=[grown(child) for child in lit],
            hidden=len(below) - len(lit) if id in hits else 0,
        )

    return [grown(code) for code in law.codes]
