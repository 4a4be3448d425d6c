"""The shapes of what the API takes and gives, as OpenAPI tells them."""

from datetime import date
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, model_validator

from lexarbor.serve.asking import Asked, a_day
from lexarbor.serve.settings import LONGEST_QUESTION, MOST_ARTICLES, MOST_QUESTIONS

MOST_FIELDS = 50
"""Of a request, known ones and others."""


def _day(given: Any) -> Any:
    return a_day(given) if isinstance(given, str) else given


# Bounds that are told here and held by the desk, which has a code for each.
K = Annotated[
    int,
    Field(description="How many articles.", examples=[5], json_schema_extra={"minimum": 1, "maximum": MOST_ARTICLES}),
]
QuestionText = Annotated[
    str, Field(json_schema_extra={"minLength": 1, "maxLength": LONGEST_QUESTION, "pattern": r"\S"})
]
LONGEST_NAME, MOST_NAMES = 500, 20
"""Of codes and headings to look in."""
Name = Annotated[str, Field(max_length=LONGEST_NAME)]
Codes = Annotated[
    list[Name],
    Field(
        description="Look in these codes alone: by title, short name or id.",
        examples=[["Code du travail"]],
        max_length=MOST_NAMES,
    ),
]
Under = Annotated[
    list[Name],
    Field(
        description="Look under these headings alone, by words of them or by id.",
        examples=[["congés payés"]],
        max_length=MOST_NAMES,
    ),
]
AsOf = Annotated[
    date | None,
    BeforeValidator(_day),
    Field(description="The law in force on this day; else as it stands.", examples=[None]),
]
Explain = Annotated[bool, Field(description="With each article's whole text, its neighbours and its citations.")]
QUESTION = "Combien de jours de congés payés par mois ?"


class _Taken(BaseModel):
    """What is not known is refused: a misspelt filter must not be ignored."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _few(cls, given: Any) -> Any:
        """Each unknown field would be told of."""
        if isinstance(given, dict) and len(given) > MOST_FIELDS:
            raise ValueError(f"more than {MOST_FIELDS} fields")
        return given


class SearchQuery(_Taken):
    """A question in the address. Addresses are kept by browsers and proxies: POST keeps it out of them."""

    q: Annotated[
        QuestionText,
        Field(description="The question, in everyday words, or an article by its number.", examples=[QUESTION]),
    ]
    k: K = 10
    code: Codes = []
    under: Under = []
    as_of: AsOf = None
    explain: Explain = False

    def asked(self) -> Asked:
        return Asked(self.q, self.k, tuple(self.code), tuple(self.under), self.as_of, self.explain)


class DayQuery(_Taken):
    """Of which day the law is to be told."""

    as_of: AsOf = None


class _How(_Taken):
    k: Annotated[K, Field(strict=True)] = 10
    codes: Codes = []
    under: Under = []
    as_of: AsOf = None
    explain: Annotated[Explain, Field(strict=True)] = False

    def _asked(self, question: str) -> Asked:
        return Asked(question, self.k, tuple(self.codes), tuple(self.under), self.as_of, self.explain)


class OneQuestion(_How):
    question: Annotated[
        QuestionText, Field(description="In everyday words, or an article by its number.", examples=[QUESTION])
    ]

    def asked(self) -> list[Asked]:
        return [self._asked(self.question)]


class ManyQuestions(_How):
    questions: Annotated[
        list[QuestionText],
        Field(
            description="Each gets an answer, in their order.",
            min_length=1,
            max_length=MOST_QUESTIONS,
            examples=[[QUESTION, "L1234-9"]],
        ),
    ]

    def asked(self) -> list[Asked]:
        return [self._asked(question) for question in self.questions]


KINDS_OF_BODY = ("one question", "many questions")


def _kind_of_body(given: Any) -> str:
    return KINDS_OF_BODY["questions" in given if isinstance(given, dict) else 0]


Body = Annotated[
    Annotated[OneQuestion, Tag(KINDS_OF_BODY[0])] | Annotated[ManyQuestions, Tag(KINDS_OF_BODY[1])],
    Discriminator(_kind_of_body),
]
"""Told apart before they are looked at: so that of what is wrong with the one nothing is told of the other."""


class Field422(BaseModel):
    where: list[str | int]
    problem: str


class ErrorTold(BaseModel):
    code: Annotated[str, Field(examples=["question_empty"])]
    """For programs."""
    message: str
    """For people."""
    fields: list[Field422] | None = None
    """Which values are wrong, where some are."""
    now: str | None = None
    """Of an article that is no longer in force: the id of the version that is."""


class Error(BaseModel):
    """The one shape of all that is refused."""

    error: ErrorTold


class ArticleNamed(BaseModel):
    id: str
    number: str
    code: str


class SheetTold(BaseModel):
    """A question asked before that an article answers."""

    id: str | None = None
    text: str | None = None
    year: int | None = None
    url: str | None = None
    likeness: float | None = None
    amended_since: bool | None = None


class ReasonTold(BaseModel):
    """What one leg of the engine says of a hit."""

    score: float
    rank: int
    question: SheetTold | None = None


class HitTold(BaseModel):
    rank: int
    id: Annotated[str, Field(examples=["LEGIARTI000033020922"])]
    cid: str
    number: Annotated[str, Field(examples=["L3141-3"])]
    code: Annotated[str, Field(examples=["Code du travail"])]
    path: list[str]
    """The headings above it, below the code."""
    score: float
    """Compares within one answer only."""
    start: date | None
    end: date | None
    status: str
    url: str | None
    """On Légifrance."""
    passage: str
    marks: list[list[int]]
    """Where words of the question stand in the passage: start and end of each."""
    reasons: dict[str, ReasonTold]
    text: str | None = None
    before: list[ArticleNamed] | None = None
    after: list[ArticleNamed] | None = None
    cites: list[ArticleNamed] | None = None
    cited_by: list[ArticleNamed] | None = None


class OutsideTold(BaseModel):
    """That the answer is probably in other law."""

    chance: float
    codes: list[str]


class Dated(BaseModel):
    law_as_of: date | None
    """The day of the law that was looked in."""
    warning: str | None = None
    """Where what is held may not be what is in force: show it to people."""


class AnswerTold(Dated):
    question: str
    read_as: str | None
    """As it was understood, where its spelling was mended or everyday words were explained."""
    codes: list[str]
    not_held: list[str]
    """References in the question that name no article in force."""
    outside: OutsideTold | None
    hits: list[HitTold]


class AnswersTold(BaseModel):
    answers: list[AnswerTold]


class Place(BaseModel):
    id: str
    title: str


class VersionTold(BaseModel):
    id: str
    start: date | None
    end: date | None
    held: bool
    """Whether its text is that which is told here."""
    url: str | None


class ArticleTold(Dated):
    id: str
    cid: str
    number: str
    code: str
    above: list[Place]
    """From the code down."""
    start: date | None
    end: date | None
    status: str
    url: str | None
    text: str
    note: str
    versions: list[VersionTold]
    """From the newest on."""


class LinkedArticle(ArticleNamed):
    url: str | None


class RelatedTold(Dated):
    id: str
    before: LinkedArticle | None
    after: LinkedArticle | None
    siblings: list[LinkedArticle]
    """All others under the same heading."""
    cites: list[LinkedArticle]
    cited_by: list[LinkedArticle]


class CodeTold(Place):
    articles: int
    """In force."""
    sections: int


class CodesTold(Dated):
    source: str
    codes: list[CodeTold]


class SectionTold(Place):
    articles: int
    """In force in it and below."""


class ArticleAt(BaseModel):
    id: str
    number: str
    start: date | None


class BranchTold(Dated):
    id: str
    title: str
    above: list[Place]
    """From the code down; empty for a code."""
    sections: list[SectionTold]
    articles: list[ArticleAt]


class HealthTold(BaseModel):
    status: Annotated[str, Field(examples=["ok"])]
    law_as_of: date | None
    articles: int


class VersionOfServer(BaseModel):
    lexarbor: str
    source: str
    law_as_of: date | None
    legs: list[str]
    encoder: str | None
    days: list[date]
    """Other days whose law lies ready."""


ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": Error, "description": description}
    for status, description in {
        400: "It cannot be understood.",
        401: "A key is needed.",
        408: "It took too long to arrive.",
        413: "It is too large.",
        422: "Some values are missing or wrong.",
        429: "Too many requests in a short time: wait as `Retry-After` says.",
        503: "Busy, or the law of that day is being prepared: come back as `Retry-After` says.",
    }.items()
}
"""What every route may answer instead."""
NOT_HELD: dict[int | str, dict[str, Any]] = {404: {"model": Error, "description": "It is not held."}}
