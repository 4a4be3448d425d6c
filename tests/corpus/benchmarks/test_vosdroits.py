from lexarbor.corpus.benchmarks.sheets import Sheet
from lexarbor.corpus.benchmarks.vosdroits import Unresolved, label
from lexarbor.corpus.law import Article, Code
from lexarbor.corpus.questions import Question
from lexarbor.corpus.sources import read_tiny
from lexarbor.corpus.tree import LawTree

TOWN, FAIR = "Code communal de Valombre", "Code des fêtes, marchés et jardins de Valombre"


def sheet(id: str, *labels: str) -> Sheet:
    return Sheet(id, f"Titre de {id}", "Village", "À savoir", labels)


def ids(*numbers: int) -> frozenset[str]:
    return frozenset(f"VALARTI{number:04}" for number in numbers)


def test_a_sheet_becomes_a_question_with_the_articles_its_labels_name() -> None:
    labelled = label(
        [sheet("F1", f"{TOWN} : articles L111-1 à L111-3 et R*212-1", f"{FAIR} : article L111-2")], read_tiny()
    )
    assert labelled.questions == {"F1": Question("F1", "Titre de F1", "Village", "À savoir")}
    assert labelled.qrels == {"F1": ids(1, 2, 3, 4, 43, 47)}
    assert (labelled.references, labelled.unresolved) == (3, ())


def test_what_the_law_does_not_hold_is_listed() -> None:
    repealed, misprint = f"{TOWN} : article L211-4", f"{FAIR} : articles L111-1 et L999-9"
    labelled = label([sheet("F1", repealed, misprint), sheet("F2", repealed)], read_tiny())
    assert labelled.qrels == {"F1": ids(46)}
    assert labelled.references == 4
    assert labelled.unresolved == (
        Unresolved("F1", repealed),
        Unresolved("F1", misprint),
        Unresolved("F2", repealed),
    )


def test_references_to_other_texts_are_not_counted() -> None:
    labelled = label(
        [
            sheet("F1", "Code civil : articles 1240 et 1241", "Loi n° 2010-1 : article L111-1"),
            sheet("F2", f"{TOWN} : article L111-1 et article 5 de la loi du 3 mai 2010", "Code pénal : article R1-1"),
        ],
        read_tiny(),
    )
    assert labelled.qrels == {"F2": ids(1)}
    assert (labelled.references, labelled.unresolved) == (1, ())


def test_a_reference_made_twice_under_one_sheet_counts_once() -> None:
    twice = (f"{TOWN} : article L111-1", f"{TOWN} : articles L. 111-1 et L999-9", f"{TOWN} : L999-9")
    labelled = label([sheet("F1", *twice), sheet("F2", twice[0])], read_tiny())
    assert labelled.qrels == {"F1": ids(1), "F2": ids(1)}
    assert labelled.references == 3
    assert labelled.unresolved == (Unresolved("F1", twice[1]),)


def test_a_range_of_more_than_a_hundred_articles_is_unresolved() -> None:
    articles = [Article(f"A{count}", f"L1-{count}", "C", "…", ()) for count in range(1, 102)]
    law = LawTree([Code("C", "Code des ponts"), *articles])
    hundred, more = "Code des ponts : articles L1-1 à L1-100", "Code des ponts : articles L1-1 à L1-101"
    labelled = label([sheet("F1", hundred), sheet("F2", more)], law)
    assert labelled.qrels == {"F1": frozenset(article.id for article in articles[:100])}
    assert labelled.unresolved == (Unresolved("F2", more),)


def test_no_sheets_no_questions() -> None:
    assert label([], read_tiny()) == ({}, {}, 0, ())


def test_a_label_that_names_a_held_code_but_no_article_is_unresolved() -> None:
    annex = f"{TOWN} : annexe II - Tableaux des bruits"
    labelled = label([sheet("F1", f"{TOWN} : article L111-1", annex), sheet("F2", annex)], read_tiny())
    assert (labelled.references, list(labelled.questions)) == (3, ["F1"])
    assert labelled.unresolved == (Unresolved("F1", annex), Unresolved("F2", annex))
