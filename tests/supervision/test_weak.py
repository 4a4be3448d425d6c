"""Weak pairs of each kind, from a law, sheets and agreements made by hand."""

import random
from itertools import combinations

import pytest
from invented import bridges, sheet

from lexarbor.corpus.agreements import AgreementArticle
from lexarbor.corpus.law import Article, Code
from lexarbor.corpus.sources import read_tiny
from lexarbor.corpus.tree import LawTree
from lexarbor.supervision import weak
from lexarbor.supervision.folder import Pair, Passage
from lexarbor.supervision.guard import LeakageGuard
from lexarbor.supervision.weak import KINDS, MOST_CITING, MOST_UNDER_HEADING, Sources, ask_under, plain_heading

LONG = "Toute pile est visitée chaque année par un ingénieur des ponts."
OTHER = "Le rapport de cette visite est remis au maire de la commune."
THIRD = "Chacun peut en demander une copie à ses frais au secrétariat."
SHORT = "Elle est gratuite."

BRIDGE = sheet(
    "F1",
    "Traverser un pont ?",
    ((), "Introduction."),
    (("À pied",), "Passez."),
    (("À pied", "La nuit"), "Attendez."),
    (("À cheval",), "Passez."),  # a text that stood before
    (("À pied",), "Marchez."),
    description="Qui peut passer",
)
BOAT = sheet("F2", "Louer une barque", ((), "Payez d'abord."))
EMPTY = sheet("F3", "Page vide", description="Rien")


def sources(
    law: LawTree | None = None,
    *agreements: AgreementArticle,
    held_out: tuple[str, ...] = (),
    gold: tuple[str, ...] = (),
    seed: int = 0,
) -> Sources:
    labels = {id: frozenset({"A02", "A01"}) for id in gold}
    return Sources(law or bridges(), LeakageGuard(held_out), (BRIDGE, BOAT, EMPTY), agreements, labels, seed)


def test_headings_answer_with_the_articles_below_them() -> None:
    pairs = list(weak.headings(sources(bridges("Un.", "Deux.", "Trois."))))
    under_title = Pair("headings", "Les piles", ("A01", "A02", "A03"), bare=True)
    assert pairs == [
        under_title,
        under_title,  # two headings and three of a path that has but one
        under_title,
        Pair("headings", "Les arches", ("A02",), bare=True),
        Pair("headings", "Les piles : Les arches", ("A02",), bare=True),
        Pair("headings", "Les piles : Les arches", ("A02",), bare=True),
    ]


def test_a_heading_over_too_many_articles_asks_nothing() -> None:
    enough = bridges(*["Un."] * MOST_UNDER_HEADING)
    too_many = bridges(*["Un."] * (MOST_UNDER_HEADING + 1))
    assert "Les piles" in {pair.question for pair in weak.headings(sources(enough))}
    assert {pair.question for pair in weak.headings(sources(too_many))} == {"Les arches", "Les piles : Les arches"}


def test_only_articles_in_force_are_asked_for() -> None:
    law = read_tiny()
    held = law.current()
    assert [article.id for article in held] == sorted(article.id for article in held)
    assert {"VALARTI0070"} == {"VALARTI0070", "VALARTI0010"} & {article.id for article in held}
    for kind in ("headings", "sentence", "citation"):
        named = {id for pair in KINDS[kind](sources(law)) for id in pair.positives}
        assert named
        assert named <= {article.id for article in held}


def test_a_sentence_asks_for_the_rest_of_its_article() -> None:
    law = bridges(f"{LONG} {SHORT}", f"{LONG}\n{OTHER}", f"{LONG} {OTHER} {SHORT} {THIRD}", SHORT)
    pairs = list(weak.sentence(sources(law)))
    assert [pair.positives for pair in pairs] == [("A02",), ("A03",), ("A03",)]  # one long sentence has no rest
    for pair in pairs:
        assert pair.question in (LONG, OTHER, THIRD)
        assert pair == Pair("sentence", pair.question, pair.positives, left_out=pair.question)
    assert pairs[1].question != pairs[2].question


def test_sentences_are_drawn_by_the_seed_alone() -> None:
    law = read_tiny()
    assert list(weak.sentence(sources(law))) == list(weak.sentence(sources(law)))
    assert list(weak.sentence(sources(law))) != list(weak.sentence(sources(law, seed=1)))


def test_a_sentence_that_cites_asks_for_what_it_cites() -> None:
    law = bridges(
        f"Les péages sont perçus comme il est dit aux articles L. 1-2 et L. 1-3, sans autre formalité. {LONG}",
        "Comme à l'article L. 1-3.",  # too short
        "Les droits que tiennent les riverains de l'article 544 du code civil demeurent entiers en toute saison.",
        f"Le préfet suspend le péage en cas de crue du fleuve ou de ses affluents. {LONG}",
    )
    trades = AgreementArticle(
        "K1", (), "Par dérogation à l'article L. 1-4 du code des ponts, les bateliers ne paient rien le lundi.\n" + LONG
    )
    elsewhere = AgreementArticle("K2", (), "Selon l'article L. 1-4, les bateliers, les passeurs et les haleurs paient.")
    assert list(weak.citation(sources(law, trades, elsewhere))) == [
        Pair(
            "citation",
            "Les péages sont perçus comme il est dit aux articles … et …, sans autre formalité.",
            ("A02", "A03"),
        ),
        Pair(
            "citation",
            "Par dérogation à l'article … du code des ponts, les bateliers ne paient rien le lundi.",
            ("A04",),
        ),
    ]


def test_an_article_cited_everywhere_is_asked_for_a_few_times() -> None:
    citing = [
        f"Le bac numéro {place} du fleuve, son passeur et ses haleurs suivent les règles de l'article L. 1-1."
        for place in range(30)
    ]
    pairs = list(weak.citation(sources(bridges("Nul ne passe sans payer.", *citing))))
    assert len(set(pairs)) == len(pairs) == MOST_CITING
    assert {pair.positives for pair in pairs} == {("A01",)}
    assert pairs == sorted(pairs, key=lambda pair: pair.question)


def test_questions_that_differ_by_what_they_cite_alone_are_drawn_in_one_order() -> None:
    """Which are drawn must not hang on the order of a set, which Python changes from run to run."""
    law = bridges(*["Un."] * 20)
    cited = list(combinations(range(1, 21), 2))
    who = "Les bateliers, les passeurs et les haleurs suivent en toute saison"
    lines = (f"{who} les articles L. 1-{one} et L. 1-{two} du code des ponts." for one, two in cited)
    drawn: set[tuple[str, ...]] = set()
    for id in law.articles:
        naming = [pair for one, two in cited if id in (pair := (f"A{one:02}", f"A{two:02}"))]
        drawn.update(random.Random(f"7 {id}").sample(naming, MOST_CITING))
    pairs = list(weak.citation(sources(law, AgreementArticle("K", (), "\n".join(lines)), seed=7)))
    assert [pair.positives for pair in pairs] == sorted(drawn)
    assert len({pair.question for pair in pairs}) == 1


def test_a_sheet_answers_its_title() -> None:
    assert list(weak.sheet(sources())) == [
        Pair("sheet", "Traverser un pont ?", ("F1-0", "F1-1", "F1-2", "F1-4"), source="F1"),
        Pair("sheet", "Louer une barque", ("F2-0",), source="F2"),
    ]


def test_a_chapter_answers_its_titles() -> None:
    assert list(weak.chapter(sources())) == [
        Pair("chapter", "Traverser un pont : À pied", ("F1-1", "F1-4"), bare=True, source="F1"),
        Pair("chapter", "Traverser un pont : À pied : La nuit", ("F1-2",), bare=True, source="F1"),
    ]


def test_an_agreement_answers_its_last_two_headings() -> None:
    deep = ("Bateliers", "Texte de base : Convention du 3 mai", "Titre II : Salaires", "Article 4 : Primes")
    found = weak.agreement(
        sources(
            None,
            AgreementArticle("K1", deep, "Une prime."),
            AgreementArticle("K2", ("Bateliers",), "Sans titre."),
            AgreementArticle("K3", deep, "Deux primes."),
            AgreementArticle("K4", deep[:2], "Préambule."),
        )
    )
    assert list(found) == [
        Pair("agreement", "Salaires : Primes", ("K1", "K3"), bare=True),
        Pair("agreement", "Convention du 3 mai", ("K4",), bare=True),
    ]


def test_an_agreement_with_too_many_articles_under_a_heading_asks_nothing() -> None:
    many = [AgreementArticle(f"K{place}", ("B", "Salaires"), str(place)) for place in range(MOST_UNDER_HEADING + 1)]
    assert not list(weak.agreement(sources(None, *many)))
    assert len(list(weak.agreement(sources(None, *many[1:])))) == 1


def test_only_train_sheets_answer_with_gold() -> None:
    trained = sources(gold=("F1", "F3"))
    gold = ("A01", "A02")
    assert list(weak.description(trained)) == [
        Pair("description", "Qui peut passer", gold, source="F1"),
        Pair("description", "Rien", gold, source="F3"),
    ]
    assert list(weak.train_chapter(trained)) == [
        Pair("train_chapter", "Traverser un pont : À pied", gold, source="F1"),
        Pair("train_chapter", "Traverser un pont : À pied : La nuit", gold, source="F1"),
        Pair("train_chapter", "Traverser un pont : À cheval", gold, source="F1"),
    ]
    for kind in ("description", "train_chapter", "train_text"):
        assert not list(KINDS[kind](sources(gold=("F2",))))


def test_what_a_train_sheet_says_asks_for_its_gold() -> None:
    long = "Toute personne qui traverse un pont à cheval, de jour ou de nuit, paie deux fois le péage du piéton."
    told = sheet("F1", "Traverser un pont", ((), f"{long} {LONG}\n{SHORT}"), (("À pied",), f"{long} {LONG}\n{SHORT}"))
    from_sheet = Sources(bridges(), LeakageGuard([]), (told,), gold={"F1": frozenset({"A01"})})
    assert list(weak.train_text(from_sheet)) == [Pair("train_text", long, ("A01",), source="F1")]


def test_the_guard_sees_every_question() -> None:
    pairs = list(weak.weak_pairs(sources(held_out=("Louer une barque", "Le pont, traverser")), ("sheet", "chapter")))
    assert {pair.question for pair in pairs} == {"Traverser un pont : À pied", "Traverser un pont : À pied : La nuit"}
    guarded = sources(read_tiny(), held_out=("Garde et divagation des animaux",))
    asked = {pair.question for pair in weak.weak_pairs(guarded, ["headings"])}
    assert "Garde et divagation des animaux" not in asked
    assert "Tranquillité publique : Garde et divagation des animaux" in asked
    assert guarded.guard.kept_out == {"headings": 1}


def test_kinds_come_in_the_order_asked_for() -> None:
    kinds = [pair.kind for pair in weak.weak_pairs(sources(gold=("F1",)), ("description", "sheet"))]
    assert kinds == ["description", "sheet", "sheet"]
    everything = {pair.kind for pair in weak.weak_pairs(sources(read_tiny(), gold=("F1",)))}
    assert everything == {"headings", "sentence", "citation", "sheet", "chapter", "description", "train_chapter"}


def test_a_pair_without_positives_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KINDS, "sheet", lambda sources: [Pair("sheet", "Sans réponse", ())])
    assert not list(weak.weak_pairs(sources(), ["sheet"]))


def test_passages_stand_under_their_titles() -> None:
    article = AgreementArticle("K1", ("Bateliers", "Titre II : Salaires"), "Une prime.")
    assert list(weak.passages(sources(None, article))) == [
        Passage("F1-0", "Introduction.", ("Traverser un pont ?",)),
        Passage("F1-1", "Passez.", ("Traverser un pont ?", "À pied")),
        Passage("F1-2", "Attendez.", ("Traverser un pont ?", "À pied", "La nuit")),
        Passage("F1-4", "Marchez.", ("Traverser un pont ?", "À pied")),
        Passage("F2-0", "Payez d'abord.", ("Louer une barque",)),
        Passage("K1", "Une prime.", ("Bateliers", "Titre II : Salaires")),
    ]


@pytest.mark.parametrize(
    ("titles", "words"),
    [
        (["Section 3 : Les piles."], "Les piles"),
        (["Sous-section 1 bis : Les piles", "Les arches"], "Les piles : Les arches"),
        (["Texte de base : Convention", "TITRE IV : SALAIRES"], "Convention : SALAIRES"),
        (["Livre II"], "Livre II"),
        (["Titre Ier :"], ""),
        (["Titres-restaurant : achat"], "Titres-restaurant : achat"),
        (
            ["Partie d'un texte bien trop long pour un numéro : suite"],
            "Partie d'un texte bien trop long pour un numéro : suite",
        ),
        ([], ""),
    ],
)
def test_a_heading_loses_its_number(titles: list[str], words: str) -> None:
    assert plain_heading(titles) == words


def test_chapters_are_asked_for_under_their_sheet() -> None:
    assert ask_under("Traverser un pont ?", ("À pied ?",)) == "Traverser un pont : À pied ?"


def test_a_citation_in_a_law_points_into_its_own_code() -> None:
    text = (
        "Les bateliers, les passeurs et les haleurs suivent l'article L. 1 du présent code en toute saison de l'année."
    )
    codes = (Code("C1", "Code des ponts"), Code("C2", "Code des bacs"))
    articles = (
        Article("P1", "L1", "C1", "Un.", ()),
        Article("B1", "L1", "C2", "Un.", ()),
        Article("B2", "L2", "C2", text, ()),
    )
    assert [pair.positives for pair in weak.citation(sources(LawTree([*codes, *articles])))] == [("B1",)]
