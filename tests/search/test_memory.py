"""Question memory, by hand."""

from math import log

import pytest

from lexarbor.corpus.questions import Question
from lexarbor.corpus.sources import read_tiny_questions
from lexarbor.errors import SearchError
from lexarbor.search.memory import MemorySettings, QuestionMemory

QUESTIONS = (
    Question("1", "chien perdu", description="animal errant"),
    Question("2", "chien bruyant", description="voisin gêné"),
    Question("3", "jardin potager", description="parcelle libre"),
)
GOLD = {"1": frozenset({"refuge", "laisse"}), "2": frozenset({"laisse", "bruit"}), "3": frozenset({"parcelle"})}
TEXTS_ALONE = MemorySettings(descriptions=False)

# Every text has two words, so every length is the mean; each word counts twice, as a stem and as a bare stem.
# A term that stands once gives idf · 1 / (1 + k1), with k1 = 1.5.
DOG = 2 * log(1 + (3 - 2 + 0.5) / (2 + 0.5)) / 2.5
LOST = 2 * log(1 + (3 - 1 + 0.5) / (1 + 0.5)) / 2.5


def test_an_article_gets_the_cubes_of_the_likeness_of_the_questions_that_cite_it() -> None:
    memory = QuestionMemory(QUESTIONS, GOLD, TEXTS_ALONE)
    assert memory.scores("Mon chien est perdu") == pytest.approx(
        {"refuge": (DOG + LOST) ** 3, "laisse": (DOG + LOST) ** 3 + DOG**3, "bruit": DOG**3}
    )


def test_a_sharpness_of_one_adds_likeness_up_as_it_is() -> None:
    memory = QuestionMemory(QUESTIONS, GOLD, MemorySettings(descriptions=False, sharpness=1))
    assert memory.scores("chien perdu")["laisse"] == pytest.approx((DOG + LOST) + DOG)


def test_only_the_nearest_lend_their_labels() -> None:
    memory = QuestionMemory(QUESTIONS, GOLD, MemorySettings(neighbours=1, descriptions=False))
    assert memory.scores("chien perdu").keys() == GOLD["1"]
    assert memory.scores("chien").keys() == GOLD["1"]  # of two as near, the first


def test_descriptions_are_remembered_where_asked_for() -> None:
    assert QuestionMemory(QUESTIONS, GOLD).scores("un voisin").keys() == GOLD["2"]
    assert QuestionMemory(QUESTIONS, GOLD, TEXTS_ALONE).scores("un voisin") == {}


def test_a_question_without_a_known_word_remembers_nothing() -> None:
    assert QuestionMemory(QUESTIONS, GOLD).scores("éléphant") == {}


def test_on_the_tiny_corpus_the_nearest_question_decides() -> None:
    questions = read_tiny_questions()
    memory = QuestionMemory(questions.split("train"), questions.gold(["train"]))
    scores = memory.scores("Ai-je le droit de couper le cerisier ?")
    assert sorted(scores, key=lambda id: (-scores[id], id))[:2] == ["VALARTI0017", "VALARTI0018"]
    assert scores.keys() <= questions.positives(["train"])


@pytest.mark.parametrize("settings", [{"neighbours": 0}, {"sharpness": 0.0}, {"sharpness": float("nan")}])
def test_settings_out_of_range_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(SearchError, match="one neighbour or more and a sharpness above 0"):
        MemorySettings(**settings)  # type: ignore[arg-type]


def test_a_memory_of_nothing_is_refused() -> None:
    with pytest.raises(SearchError, match="no word to index in 0 texts"):
        QuestionMemory([], {})
