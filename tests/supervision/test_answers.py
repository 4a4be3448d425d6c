"""What is known to answer a question."""

from lexarbor.supervision.answers import known_answers, same_words
from lexarbor.supervision.folder import Pair


def test_pairs_of_all_kinds_with_the_same_words_know_together() -> None:
    pairs = [
        Pair("gold", "Qui paie ?", ("a",)),
        Pair("sentence", "QUI  paie ?\n", ("b",)),
        Pair("gold", "Qui paye ?", ("c",)),
    ]
    assert known_answers(pairs) == {"qui paie ?": {"a", "b"}, "qui paye ?": {"c"}}


def test_case_and_spaces_alone_make_no_other_question() -> None:
    assert same_words("  Où\tÊTES-vous ? ") == same_words("où êtes-vous ?") == "où êtes-vous ?"
    assert same_words("ou etes-vous ?") != same_words("où êtes-vous ?")
