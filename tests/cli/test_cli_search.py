"""`lexarbor index`, `search` and `run`."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lexarbor.cli import output
from lexarbor.corpus import sources
from lexarbor.corpus.sources import read_tiny
from lexarbor.evaluation import read_run
from lexarbor.search import Engine
from lexarbor.search.building import build_index
from lexarbor.search.lexical import tuned

Command = Callable[..., Any]
QUESTION = "Le voisin doit-il procéder à l'élagage de ses branchages ?"


@pytest.mark.usefixtures("kept")
def test_the_index_is_built_where_it_is_asked_for(lexarbor: Command, tmp_path: Path) -> None:
    assert lexarbor("index", "--law", "tiny", "--index", tmp_path / "ix") == (0, f"{tmp_path / 'ix'}\n", "")
    assert lexarbor("search", QUESTION, "--index", tmp_path / "ix").code == 0


@pytest.mark.usefixtures("kept")
def test_the_index_is_in_the_cache_or_where_the_environment_says(
    lexarbor: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lexarbor("index", "--law", "tiny").out == f"{tmp_path / 'cache' / 'index'}\n"
    monkeypatch.setenv("LEXARBOR_INDEX", str(tmp_path / "named"))
    assert lexarbor("index", "--law", "tiny").out == f"{tmp_path / 'named'}\n"
    assert (tmp_path / "named" / "manifest.json").is_file()


@pytest.mark.usefixtures("kept")
def test_the_first_search_indexes_the_default_law_once(lexarbor: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "DEFAULT_LAW", "tiny")
    first = lexarbor("search", QUESTION, "-f", "json")
    assert first.err == "no index yet: fetching and indexing tiny, once\n"
    assert lexarbor("search", QUESTION, "-f", "json") == (0, first.out, "")


def test_an_answer_in_json_has_the_agreed_keys(lexarbor: Command, index: Path) -> None:
    code, out, err = lexarbor("search", QUESTION, "-k", "3", "--index", index, "--format", "json")
    assert (code, err) == (0, "")
    answer = json.loads(out)
    assert list(answer) == ["question", "read_as", "law_as_of", "codes", "not_held", "outside", "hits"]
    assert (answer["question"], answer["read_as"]) == (QUESTION, None)
    assert answer["law_as_of"] == "2026-01-01"
    assert answer["codes"] == ["Code communal de Valombre", "Code des fêtes, marchés et jardins de Valombre"]
    assert [hit["rank"] for hit in answer["hits"]] == [1, 2, 3]
    assert answer["hits"][0]["number"] == "L123-2"
    for hit in answer["hits"]:
        assert " ".join(hit) == "rank id cid number code path score start end status url passage marks reasons"


def test_an_answer_in_tsv_has_a_line_for_each_article(lexarbor: Command, index: Path) -> None:
    code, out, err = lexarbor("search", QUESTION, "-k", "2", "-i", index, "-f", "tsv")
    header, first, second = (line.split("\t") for line in out.splitlines())
    assert (code, err) == (0, "")
    assert header == ["rank", "id", "number", "code", "path", "score", "start", "end", "url", "passage"]
    assert first[:4] == ["1", "VALARTI0018", "L123-2", "Code communal de Valombre"]
    assert first[4].endswith("Chapitre II : Salubrité et cadre de vie › Plantations et arbres")
    assert (len(first), second[0]) == (10, "2")


def test_an_answer_for_people_tells_place_passage_and_dates(lexarbor: Command, index: Path) -> None:
    lines = lexarbor("search", QUESTION, "-k", "1", "-i", index).out.splitlines()
    assert [line.strip().split(" ", 1)[0] for line in lines] == ["1.", "Titre", "Le", "score", "Law"]
    assert lines[0].rstrip() == "  1. Article L123-2 · Code communal de Valombre"
    assert lines[3].strip().endswith("in force since 2015-01-01")
    assert lines[4].startswith("Law as of 2026-01-01: Code communal de Valombre, ")


def test_a_reference_is_looked_up(lexarbor: Command, index: Path) -> None:
    code, out, err = lexarbor("search", "L112-1", "--code", "VALTEXT01", "-i", index, "-f", "json")
    assert (code, err) == (0, "")
    assert [hit["id"] for hit in json.loads(out)["hits"]] == ["VALARTI0005"]
    assert "Not in force in these codes: L. 999-1." in lexarbor("search", "L. 999-1", "-i", index).out


def test_a_search_can_be_kept_to_a_part_of_the_tree(lexarbor: Command, index: Path) -> None:
    asked = ("search", "le maire de la commune", "-i", index, "-f", "json")
    found = json.loads(lexarbor(*asked, "--under", "nuisances sonores", "--under", "VALSCTA0106").out)["hits"]
    assert found and {hit["path"][-1] for hit in found} <= {
        "Nuisances sonores nocturnes", "Garde et divagation des animaux",
    }  # fmt: skip
    assert lexarbor(*asked, "--under", "xylophone").err.startswith(
        "lexarbor: no heading of this law has the words 'xylophone'"
    )


def test_an_explained_answer_has_the_whole_text_and_the_links(lexarbor: Command, index: Path) -> None:
    asked = ("search", "L112-2", "--code", "VALTEXT01", "--explain", "-i", index)
    (hit,) = json.loads(lexarbor(*asked, "-f", "json").out)["hits"]
    assert hit["text"].startswith("L'auteur de nuisances sonores nocturnes")
    assert [other["number"] for other in hit["before"] + hit["after"]] == ["L112-1", "L112-3"]
    lines = [line.strip() for line in lexarbor(*asked).out.splitlines()]
    assert "found by reference 1.00 (rank 1)" in lines
    assert "before L112-1" in lines and "after L112-3" in lines


@pytest.mark.usefixtures("kept")
def test_an_index_of_an_older_version_is_built_again(lexarbor: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "DEFAULT_LAW", "tiny")
    where = Path(lexarbor("index").out.strip())
    (where / "manifest.json").write_text('{"format": "lexarbor-index/1"}', encoding="utf-8")
    done = lexarbor("search", QUESTION)
    assert done.code == 0
    assert done.err.startswith(
        "the index is damaged or of another version of Lexarbor: fetching and indexing tiny, once"
    )


@pytest.mark.usefixtures("kept")
def test_the_law_of_another_day_is_indexed_and_searched(lexarbor: Command, tmp_path: Path) -> None:
    where = tmp_path / "2020"
    assert lexarbor("index", "--law", "tiny", "--as-of", "2020-06-01", "-i", where).code == 0
    asked = ("search", "L113-2 du code communal de Valombre", "-i", where, "-f", "json")
    answer = json.loads(lexarbor(*asked, "--as-of", "2020-06-01").out)
    assert answer["law_as_of"] == "2020-06-01"
    assert [hit["id"] for hit in answer["hits"]] == ["VALARTI0010"]
    other = lexarbor(*asked, "--as-of", "2021-01-01")
    assert other.code == 2
    assert "the index is of the law as of 2020-06-01, not of 2021-01-01; build one with `lexarbor index" in other.err


@pytest.mark.parametrize("day", ["hier", "2021-13-01", "01/03/2021"])
def test_what_is_no_day_is_refused(lexarbor: Command, day: str) -> None:
    assert lexarbor("search", QUESTION, "--as-of", day) == (
        2, "", f"lexarbor: '{day}' is not a day: write it as YYYY-MM-DD, e.g. 2021-03-01\n",
    )  # fmt: skip


def test_a_question_that_shares_no_word_is_told_so(lexarbor: Command, index: Path) -> None:
    code, out, err = lexarbor("search", "xylophone", "-i", index)
    assert (code, err) == (0, "")
    assert out.startswith("Nothing was found for this question: try other words.")
    assert json.loads(lexarbor("search", "xylophone", "-i", index, "-f", "json").out)["hits"] == []


def test_old_law_is_shown_with_a_warning_beside_it(
    lexarbor: Command, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "OLD_LAW_DAYS", 0)
    law = read_tiny()
    law.name = "valombre"
    build_index(law, tmp_path / "ix", source="valombre", settings=tuned("headings+text"))
    code, out, err = lexarbor("search", QUESTION, "-i", tmp_path / "ix", "-f", "json")
    assert code == 0
    assert json.loads(out)["hits"]
    assert err.startswith("This law is as of 2026-01-01, 1 days old: check")
    assert lexarbor("search", QUESTION, "-i", index, "-f", "json") == (0, out, "")  # invented law does not age


def queries(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_a_run_is_a_trec_file_of_what_the_engine_ranks(lexarbor: Command, index: Path, tmp_path: Path) -> None:
    asked = {"q1": QUESTION, "q2": "xylophone", "q3": "le marché"}
    lines = [json.dumps({"id": id, "text": text}) for id, text in asked.items()]
    out = tmp_path / "run.trec"
    done = lexarbor("run", queries(tmp_path / "q.jsonl", *lines), "-o", out, "-k", "5", "-i", index)
    engine = Engine.open(index)
    expected = {id: engine.rank(text, 5) for id, text in asked.items() if id != "q2"}
    assert read_run(out) == expected
    assert len(expected["q1"]) == 5
    assert done == (0, "", f"3 questions, {5 + len(expected['q3'])} lines: {out}\n")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "q2", "text": ', "q.jsonl, line 2: not JSON"),
        ('{"id": "q2"}', 'q.jsonl, line 2: the key "text" is missing'),
        ('{"id": "q2", "text": " "}', "q.jsonl, line 2: question 'q2' is empty"),
        (json.dumps({"id": "q2", "text": "chien " * 2000}), "q.jsonl, line 2: question 'q2' has 12,000 char"),
        (json.dumps({"id": "q2", "text": "a" * 1_000_000}), "q.jsonl, line 2: question 'q2' has 1,000,000 char"),
        ('{"id": "q1", "text": "encore"}', "q.jsonl, line 2: the id 'q1' is already that of line 1"),
    ],
)
def test_a_bad_line_stops_a_run_before_anything_is_written(
    lexarbor: Command, index: Path, tmp_path: Path, line: str, message: str
) -> None:
    path = queries(tmp_path / "q.jsonl", '{"id": "q1", "text": "le marché"}', line)
    code, out, err = lexarbor("run", path, "-o", tmp_path / "run.trec", "-i", index)
    assert (code, out) == (2, "")
    assert err.startswith(f"lexarbor: {tmp_path}/{message}")
    assert err.count("\n") == 1
    assert not (tmp_path / "run.trec").exists()


def test_a_run_that_cannot_be_written_is_told(lexarbor: Command, index: Path, tmp_path: Path) -> None:
    path = queries(tmp_path / "q.jsonl", '{"id": "q1", "text": "le marché"}')
    code, out, err = lexarbor("run", path, "-o", tmp_path / "absent" / "run.trec", "-i", index)
    assert (code, out) == (2, "")
    assert err == f"lexarbor: cannot write {tmp_path}/absent/run.trec: No such file or directory\n"


def test_in_a_shell_the_result_is_on_stdout_and_the_rest_on_stderr(shell: Command, tmp_path: Path) -> None:
    folder = tmp_path / "ix"
    assert shell('lexarbor index --law tiny --index "$IX"', IX=folder) == (0, f"{folder}\n", "")
    code, out, err = shell('lexarbor search "$Q" -i "$IX" -f json', IX=folder, Q=QUESTION)
    assert code == 0
    assert json.loads(out)["hits"][0]["number"] == "L123-2"
    assert not err or err.startswith("This law is as of 2026-01-01")


def test_a_reader_that_has_seen_enough_is_no_error(shell: Command) -> None:
    code, out, err = shell("set -o pipefail; lexarbor tune bm25 --benchmark tiny -f tsv | head -1")
    assert (code, out, err) == (0, "k1\tb\trecall@200\n", "")


@pytest.mark.parametrize(
    "arguments",
    [
        "corpus show --law tiny --format table",
        "corpus show --law tiny --format json",
        "bench show tiny --format tsv",
        "--help",
    ],
)
def test_a_pipe_closed_before_the_first_word_ends_the_command_quietly(arguments: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        command = [str(Path(sys.executable).parent / "lexarbor"), *arguments.split()]
        done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=120)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.usefixtures("kept")
def test_an_index_of_other_law_at_the_default_place_is_told(lexarbor: Command) -> None:
    assert lexarbor("index", "--law", "tiny").code == 0
    code, out, err = lexarbor("search", QUESTION, "-f", "json")
    assert code == 0 and json.loads(out)["hits"]
    assert err == "the law searched is tiny; `lexarbor index` indexes @socialgouv/legi-data@2.513.0\n"
