"""Parts of the train sheets, and what a run without one of them must not see."""

import pytest

from lexarbor.errors import TrainingError
from lexarbor.supervision.folder import Pair, Passage, Supervision
from lexarbor.supervision.folds import left_out, parts_of, sources_of

SHEETS = {"F1": "Garder un âne", "F2": "Se marier à la mairie", "F3": "Semer un potager", "F4": "Vendre du miel"}


def supervision() -> Supervision:
    gold = [Pair("gold", title, ("A1",), source=id) for id, title in SHEETS.items()]
    chapters = [Pair("chapter", f"{title} : Quand ?", (f"{id}-0",), source=id) for id, title in SHEETS.items()]
    others = [
        Pair("headings", "Garder un âne", ("A2",)),  # a heading of the law with a sheet's very title
        Pair("agreement", "Les primes", ("K1",)),
        Pair("agreement", "Le miel des ruches", ("K2",)),
        Pair("sentence", "Nul ne peut être privé de son rucher.", ("A2",)),
    ]
    passages = [
        *(Passage(f"{id}-0", "…", (title, "Quand ?")) for id, title in SHEETS.items()),
        Passage("K1", "…", ("Palefreniers", "Garder un âne")),
        Passage("K2", "…", ("Apiculteurs", "Récolte")),
    ]
    articles = [Passage("A1", "…"), Passage("A2", "…")]
    return Supervision(articles, passages, [*gold, *chapters, *others])


def test_every_sheet_is_in_one_part_and_parts_are_alike_in_size() -> None:
    pairs = [Pair("gold", f"Question {number}", ("A1",), source=f"F{number}") for number in range(11)]
    parts = parts_of(pairs, 4)
    assert sorted(parts) == sorted(f"F{number}" for number in range(11))
    assert sorted(list(parts.values()).count(part) for part in (1, 2, 3, 4)) == [2, 3, 3, 3]
    assert parts_of(list(reversed(pairs)), 4) == parts
    assert sources_of(pairs, 2, 4) == {source for source, part in parts.items() if part == 2}


def test_a_part_leaves_out_its_sheets_and_what_is_near_them() -> None:
    folder = supervision()
    part = parts_of(folder.pairs, 2)["F1"]
    out = {folder.pairs[number] for number in left_out(folder, part, 2)}
    theirs = {pair for pair in folder.pairs if pair.source in sources_of(folder.pairs, part, 2)}
    heading, under_it = folder.pairs[8], folder.pairs[9]
    assert {pair.source for pair in theirs} >= {"F1"}
    assert out == theirs | {heading, under_it}


def test_words_that_a_sheet_of_another_part_says_too_are_left_out() -> None:
    folder = supervision()
    parts = parts_of(folder.pairs, 2)
    one = "F1"
    other = next(id for id in SHEETS if parts[id] != parts[one])
    said = "Toute demande se fait par écrit, à la mairie."
    folder.pairs.extend(
        [
            Pair("train_text", said, ("A1",), source=one),
            Pair("train_text", said.upper(), ("A2",), source=other),
            Pair("synthetic", said, ("A2",)),
        ]
    )
    last = len(folder.pairs)
    assert left_out(folder, parts[one], 2) >= {last - 3, last - 2, last - 1}


def test_no_fold_leaves_nothing_out() -> None:
    assert left_out(supervision(), 0, 0) == frozenset()


def test_the_parts_together_leave_out_every_sheet_once() -> None:
    folder = supervision()
    out = [{folder.pairs[number].source for number in left_out(folder, part, 3)} - {""} for part in (1, 2, 3)]
    assert sorted(source for sources in out for source in sources) == sorted(SHEETS)


def test_too_few_sheets() -> None:
    with pytest.raises(TrainingError, match="names the sources of 4 gold pairs: too few to be cut into 5 parts"):
        parts_of(supervision().pairs, 5)
