"""Synthetic questions as one more kind of pairs."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from lexarbor.corpus.sources import read_tiny
from lexarbor.errors import TrainingError
from lexarbor.supervision import preparation
from lexarbor.supervision.folder import Pair, SupervisionFolder
from lexarbor.supervision.guard import LeakageGuard
from lexarbor.supervision.preparation import prepare
from lexarbor.supervision.synthetic import SyntheticQuestion, write_synthetic
from lexarbor.supervision.synthetic_pairs import synthetic_pairs


def made_up(*asked: tuple[str, str]) -> list[SyntheticQuestion]:
    return [SyntheticQuestion(article, question, "tiny-mt5", -1.5) for article, question in asked]


def written(path: Path, *asked: tuple[str, str]) -> Path:
    write_synthetic(made_up(*asked), path)
    return path


def synthetic(folder: SupervisionFolder) -> list[Pair]:
    return [pair for pair in folder.pairs if pair.kind == "synthetic"]


def test_the_same_words_are_one_pair_with_all_their_articles() -> None:
    asked = made_up(("B", "Qui paie ?"), ("A", "Où vendre ?"), ("A", "qui  PAIE ?"), ("B", "Qui paie ?"), ("C", "Ou ?"))
    assert list(synthetic_pairs(asked, {"A", "B", "C"}, LeakageGuard(()))) == [
        Pair("synthetic", "Qui paie ?", ("A", "B")),
        Pair("synthetic", "Où vendre ?", ("A",)),
        Pair("synthetic", "Ou ?", ("C",)),
    ]


def test_articles_that_are_not_held_are_left_out() -> None:
    asked = made_up(("X", "Qui paie ?"), ("A", "Qui paie ?"), ("X", "Où vendre ?"))
    guard = LeakageGuard(["Où vendre ?"])
    assert list(synthetic_pairs(asked, {"A"}, guard)) == [Pair("synthetic", "Qui paie ?", ("A",))]
    assert not guard.kept_out  # what is not held is not asked of the guard


def test_what_comes_near_a_title_held_out_is_refused_once_for_the_same_words() -> None:
    guard = LeakageGuard(["Vendre au marché"])
    asked = made_up(("A", "Vendre au marché ?"), ("B", "VENDRE au marché ?"), ("A", "Vendre un âne au marché noir"))
    assert [pair.question for pair in synthetic_pairs(asked, {"A", "B"}, guard)] == ["Vendre un âne au marché noir"]
    assert guard.kept_out == {"synthetic": 1}


def test_they_follow_the_weak_pairs_and_get_no_negatives(tmp_path: Path) -> None:
    asked = [(article.id, article.text) for article in read_tiny().current()[:20]]
    folder = prepare("tiny", tmp_path / "out", kinds=["citation"], synthetic=[written(tmp_path / "q.jsonl", *asked)])
    assert list(folder.kinds()) == ["gold", "citation", "synthetic"]
    assert synthetic(folder) == [Pair("synthetic", text, (id,)) for id, text in asked]
    assert any(pair.negatives for pair in folder.pairs if pair.kind == "gold")


def test_an_article_it_was_asked_of_is_no_negative_of_a_train_question(tmp_path: Path) -> None:
    before = prepare("tiny", tmp_path / "before", kinds=["citation"])
    gold = next(pair for pair in before.pairs if len(pair.negatives) > 1)
    path = written(tmp_path / "q.jsonl", (gold.negatives[0], gold.question.upper()))
    after = prepare("tiny", tmp_path / "after", kinds=["citation"], synthetic=[path])
    assert after.pairs[before.pairs.index(gold)].negatives == gold.negatives[1:]
    assert synthetic(after) == [Pair("synthetic", gold.question.upper(), (gold.negatives[0],))]


def test_facts_tell_the_files_and_what_was_left_of_them(tmp_path: Path) -> None:
    law = read_tiny()
    repealed = next(id for id, article in law.articles.items() if not law.is_current(article))
    first = written(tmp_path / "a.jsonl", ("VALARTI0005", "Qui paie la caution ?"), ("LEGIARTI1", "Et qui la rend ?"))
    second = written(tmp_path / "b.jsonl.xz", ("VALARTI0005", "qui paie la caution ?"), (repealed, "Où donc ?"))
    folder = prepare("tiny", tmp_path / "out", kinds=["citation"], synthetic=[first, second, first])
    assert folder.facts["synthetic"] == [
        {
            "file": path.name,
            "checksum": hashlib.sha256(path.read_bytes()).hexdigest(),
            "questions": 2,
            "of_unknown_articles": 1,
        }
        for path in (first, second)
    ]
    assert [pair.positives for pair in synthetic(folder)] == [("VALARTI0005",)]
    assert folder.kinds()["synthetic"] == 1


def test_without_files_nothing_changes(tmp_path: Path) -> None:
    path = written(tmp_path / "q.jsonl", ("VALARTI0005", "Qui paie la caution ?"))
    bare, more = prepare("tiny", tmp_path / "bare"), prepare("tiny", tmp_path / "more", synthetic=[path])
    assert "synthetic" not in bare.facts
    assert bare.pairs == [pair for pair in more.pairs if pair.kind != "synthetic"]


@pytest.mark.parametrize("count", [0, 3])
def test_a_file_made_from_another_law_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(preparation, "gather", lambda *given, **how: pytest.fail("the work was begun"))
    law = read_tiny()
    repealed = next(id for id, article in law.articles.items() if not law.is_current(article))
    held = written(tmp_path / "held.jsonl", ("VALARTI0005", "Qui paie la caution ?"))
    other = written(tmp_path / "other.jsonl", *((id, "Où ?") for id in ("LEGIARTI1", "LEGIARTI2", repealed)[:count]))
    with pytest.raises(TrainingError) as refused:
        prepare("tiny", tmp_path / "out", synthetic=[held, other])
    assert str(refused.value) == (
        f"other.jsonl: none of the {count} questions is about an article in force of the law 'tiny': name the "
        "benchmark over the law that they were made from, or leave the file out"
    )
    assert not (tmp_path / "out").exists()


def test_the_guard_counts_them_beside_the_others(invented: Callable[[], None], tmp_path: Path) -> None:
    invented()
    path = written(tmp_path / "q.jsonl", ("VALARTI0009", "Vendre au marché ?"), ("VALARTI0009", "Combien d'ânes ?"))
    folder = prepare("vosdroits", tmp_path / "out", synthetic=[path])
    assert [pair.question for pair in synthetic(folder)] == ["Combien d'ânes ?"]
    assert folder.facts["kept_out_by_the_guard"]["synthetic"] == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "q.jsonl: no such file of synthetic questions; write one with `lexarbor augment`"),
        ('{"article": "A", "question": "?"}\n', "q.jsonl, line 1: not a synthetic question"),
    ],
)
def test_a_bad_file_is_met_before_long_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None, message: str
) -> None:
    monkeypatch.setattr(preparation, "build_benchmark", lambda name, source: pytest.fail("the law was read"))
    if content is not None:
        (tmp_path / "q.jsonl").write_text(content, encoding="utf-8")
    with pytest.raises(TrainingError, match=message):
        prepare("tiny", tmp_path / "out", synthetic=[tmp_path / "q.jsonl"])
    assert not (tmp_path / "out").exists()
