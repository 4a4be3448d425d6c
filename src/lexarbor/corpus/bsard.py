"""Reader and writer of BSARD, the Belgian Statutory Article Retrieval Dataset (Louis and Spanakis, ACL 2022).

A folder of CSV files, or the hub dataset that holds them. The first release names them `articles_fr.csv`,
`questions_fr_test.csv`…, today's hub copy `articles.csv`, `questions_test.csv`…: both are known.

Eight columns are headings: `law_type, code, book, part, act, chapter, section, subsection`. A `Code` of the
tree is one pair of `law_type` and `code`, titled by the latter. `law_type` ("national", "regional") tells the
kind of a whole code; since codes are the roots, it stands as the one section directly under its code, the six
divisions below it. So `headings` shows all eight, code first, less those that a row leaves empty. A place is
known by the headings above it and their columns: the same way down, met again later, is the same place.
There are no dates. The column `description` repeats the headings and is not read.
"""

import json
import logging
import random
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from lexarbor.corpus.law import Article, Code, Section
from lexarbor.corpus.questions import SPLITS, Question, QuestionSet
from lexarbor.corpus.references import fold
from lexarbor.corpus.tables import AGAIN, Row, read_rows, read_text, write_rows
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import BenchmarkError, CorpusError, FetchError, MissingExtraError
from lexarbor.files import replacing

logger = logging.getLogger(__name__)

LEVELS = ("law_type", "code", "book", "part", "act", "chapter", "section", "subsection")
"""The heading columns, from the top."""

LAW_TYPES = ("national", "regional")

DEV_SEED = 0
DEV_SHARE = 0.2
"""The paper keeps 177 of the 886 training questions for dev; which ones it does not say."""

_ARTICLES = ("articles_fr.csv", "articles.csv")
_QUESTIONS = {split: (f"questions_fr_{split}.csv", f"questions_{split}.csv") for split in SPLITS}
_SYNTHETIC = ("questions_fr_synthetic.csv", "questions_synthetic.csv", "synthetic_questions_fr.csv")
_ARTICLE_COLUMNS = ("id", "reference", "article", *LEVELS)
_QUESTION_COLUMNS = ("id", "category", "subcategory", "question", "extra_description", "article_ids")

_HUB_NAME = re.compile(r"\w[\w.-]*/\w[\w.-]*")
_BY_PATH = "give the CSV files' folder by path instead"
_OWN = "take BSARD's own file"
_INTEGER = re.compile(r"[0-9]{1,18}")
_NUMBER = re.compile(r"\s*(?:Art(?:icle)?\b\.?)?\s*(?P<number>[^,]*?)(?:_(?P<remark>[A-Z][A-Z_-]+))?\s*(?:,|$)")
"""Of a reference: "Art. 12.4.6, Code Wallon…", "Art. 275_DROIT_FUTUR, Code…"."""


def read_bsard(source: str | Path) -> tuple[LawTree, QuestionSet]:
    """The law and the questions of a folder, or of a hub dataset such as "maastrichtlawtech/bsard"."""
    folder = _folder(source)
    tree = read_bsard_law(folder)
    return tree, _read_splits(folder, tree.articles.keys())


def read_bsard_law(source: str | Path) -> LawTree:
    """The law alone; `source` may also be the articles' file."""
    path = Path(source)
    if not path.is_file():
        path = _needed(_folder(source), _ARTICLES)
    planter = _Planter()
    for row in read_rows(path, _ARTICLE_COLUMNS, _OWN):
        planter.plant(row)
    if not planter.nodes:
        raise CorpusError(f"{path}: column names but no article; fetch the file again")
    return LawTree(planter.nodes.values(), name="bsard")


def read_bsard_questions(source: str | Path) -> QuestionSet:
    """The questions alone, for work that needs no article: their gold ids are not looked up."""
    return _read_splits(_folder(source), None)


def read_synthetic_questions(source: str | Path) -> QuestionSet:
    """Questions that a model wrote for the articles, in one split "synthetic"; empty where there are none."""
    path = _found(_folder(source), _SYNTHETIC)
    rows = read_rows(path, ("question", "article_ids"), _OWN) if path else []
    written = [row for row in rows if row.values["question"].strip()]
    if len(written) < len(rows):
        logger.warning("%s: %d questions without a text are left out", path, len(rows) - len(written))
    return _question_set({"synthetic": _labelled(written, None)}, "bsard-synthetic")


def read_negatives(source: str | Path) -> dict[str, tuple[str, ...]]:
    """By question id, articles that BM25 takes for answers by mistake, best first; empty where absent."""
    negatives: dict[str, tuple[str, ...]] = {}
    for path in sorted((_folder(source) / "negatives").glob("*.json")):
        text = read_text(path)
        try:
            lists = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise CorpusError(f"{path}: not JSON ({error}), perhaps cut off; fetch it again") from error
        if not isinstance(lists, dict) or not all(isinstance(ids, list) for ids in lists.values()):
            raise CorpusError(f"{path}: expected lists of article ids by question id; {AGAIN}")
        for question, articles in lists.items():
            place = f"{path}, question '{question}'"
            ids = tuple(_integer(str(id), "an article id", place) for id in articles)
            if negatives.setdefault(_integer(question, "a question id", place), ids) != ids:
                raise CorpusError(f"{place}: another file gives it other negatives; keep one of them")
    return negatives


def draw_dev(questions: Collection[Question]) -> frozenset[str]:
    """Ids of the training questions set apart for dev: a fifth, drawn by DEV_SEED from ids in numeric order.

    BSARD asks some questions several times with other descriptions: all of those are in train, none in test.
    They stay in train here too, so that no dev question was learned word for word.
    """
    wordings = Counter(fold(question.text) for question in questions)
    alone = sorted((question.id for question in questions if wordings[fold(question.text)] == 1), key=int)
    size = min(round(DEV_SHARE * len(questions)), len(alone))
    return frozenset(random.Random(DEV_SEED).sample(alone, size))


class Numbering(NamedTuple):
    """The integer ids that BSARD's columns ask for, by the ids of what was written."""

    articles: dict[str, str]
    questions: dict[str, str]


def write_bsard(tree: LawTree, questions: QuestionSet, folder: str | Path) -> Numbering:
    """A tree and its questions in BSARD's columns; dev gets a file, which the reader prefers to drawing one.

    Ids that are integers are kept, others are numbered from 1. Headings too deep for the columns are joined
    by " > " in the last. What no column can hold is left out: dates, status, notes, second places.
    """
    folder = Path(folder)
    numbering = Numbering(_numbered(tree.articles), _numbered(questions.questions))
    tables = {_ARTICLES[0]: [[*_ARTICLE_COLUMNS, "description"], *_article_rows(tree, numbering)]}
    for split, rows in _question_rows(tree, questions, numbering).items():
        tables[_QUESTIONS[split][0]] = [[*_QUESTION_COLUMNS], *rows]
    with ExitStack() as files:
        for name, rows in tables.items():
            temporary = files.enter_context(replacing(folder / name))
            folder.mkdir(parents=True, exist_ok=True)
            write_rows(temporary, rows)
    return numbering


def _numbered(ids: Collection[str]) -> dict[str, str]:
    if all(_INTEGER.fullmatch(id) and str(int(id)) == id for id in ids):
        return {id: id for id in ids}
    return {id: str(number) for number, id in enumerate(ids, start=1)}


def _article_rows(tree: LawTree, numbering: Numbering) -> list[list[str]]:
    rows = []
    for article in tree.articles.values():
        code, *below = tree.headings(article)
        reference = f"Art. {article.number.replace(',', '')}, {code}"
        levels = _levels(code, below)
        rows.append([numbering.articles[article.id], reference, article.text, *levels, ", ".join(below)])
    return rows


def _levels(code: str, below: Sequence[str]) -> list[str]:
    """The eight heading columns."""
    typed = bool(below) and below[0] in LAW_TYPES
    divisions, last = below[typed:], len(LEVELS) - 3
    levels = [below[0] if typed else "", code, *divisions[:last], " > ".join(divisions[last:])]
    return levels + [""] * (len(LEVELS) - len(levels))


def _question_rows(tree: LawTree, questions: QuestionSet, numbering: Numbering) -> dict[str, list[list[str]]]:
    if unknown := set(questions.splits) - set(SPLITS):
        raise BenchmarkError(f"BSARD has the splits {', '.join(SPLITS)}, and none named '{min(unknown)}'")
    if unsplit := set(questions.questions).difference(*questions.splits.values()):
        raise BenchmarkError(f"question '{min(unsplit)}' is in no split, and BSARD has a file for each split")
    rows: dict[str, list[list[str]]] = {split: [] for split in SPLITS}
    for split in questions.splits:
        for one in questions.split(split):
            gold = questions.qrels[one.id]
            if missing := gold - tree.articles.keys():
                raise BenchmarkError(f"question '{one.id}' has gold '{min(missing)}', no article of the law")
            ids = ",".join(sorted((numbering.articles[id] for id in gold), key=int))
            rows[split].append([numbering.questions[one.id], one.topic, "", one.text, one.description, ids])
    return rows


class _Labelled(NamedTuple):
    question: Question
    gold: frozenset[str]


class _Planter:
    """Grows codes and sections as the articles' rows name them; their ids count the places."""

    def __init__(self) -> None:
        self.nodes: dict[str, Code | Section | Article] = {}
        self._places: dict[tuple[str, ...], str] = {}

    def plant(self, row: Row) -> None:
        id = _integer(row.values["id"], "the id", row.place)
        code, *path = self._climb(row)
        reference = _NUMBER.match(row.values["reference"])
        number, remark = (reference["number"], reference["remark"] or "") if reference else ("", "")
        article = Article(id, number, code, row.values["article"], tuple(path), status=remark)
        known = self.nodes.setdefault(id, article)
        if isinstance(known, Article) and known != article:
            self.nodes[id] = _at_both_places(known, article, row.place)

    def _climb(self, row: Row) -> list[str]:
        """The ids from the code down to the row's place, which grows where it is new."""
        headings = {level: " ".join(row.values[level].split()) for level in LEVELS}
        title = headings.pop("code") or row.values["reference"].partition(",")[2].strip()
        if not title:
            raise CorpusError(f"{row.place}: neither 'code' nor 'reference' names the code; fill in 'code'")
        way: tuple[str, ...] = (headings["law_type"], title)
        if way not in self._places:
            self._grow(way, Code(f"bsard:{len(self._places) + 1}", title))
        ids = [self._places[way]]
        for level, heading in headings.items():
            if heading:
                way = (*way, level, heading)
                if way not in self._places:
                    id = f"{ids[0]}/{len(self._places) + 1}"
                    self._grow(way, Section(id, heading, level=len(ids), parent=ids[-1]))
                ids.append(self._places[way])
        return ids

    def _grow(self, way: tuple[str, ...], node: Code | Section) -> None:
        self._places[way] = node.id
        self.nodes[node.id] = node


def _at_both_places(known: Article, again: Article, place: str) -> Article:
    if (again.text, again.code) != (known.text, known.code):
        raise CorpusError(f"{place}: the id {again.id} stands above with another text or code; {AGAIN}")
    if again.path in (known.path, *known.other_paths):
        return known
    return replace(known, other_paths=(*known.other_paths, again.path))


def _read_splits(folder: Path, articles: Set[str] | None) -> QuestionSet:
    """Train, dev and test; gold must be among `articles`, where they are known."""
    files = {split: _needed(folder, _QUESTIONS[split]) for split in ("train", "test")}
    if own_dev := _found(folder, _QUESTIONS["dev"]):
        files["dev"] = own_dev
    read = {split: _labelled(read_rows(path, _QUESTION_COLUMNS, _OWN), articles) for split, path in files.items()}
    if not own_dev:
        dev = draw_dev([one.question for one in read["train"]])
        read["dev"] = [one for one in read["train"] if one.question.id in dev]
        read["train"] = [one for one in read["train"] if one.question.id not in dev]
    try:
        return _question_set({split: read[split] for split in SPLITS}, "bsard")
    except BenchmarkError as error:
        raise CorpusError(f"{folder}: {error}") from error


def _question_set(splits: Mapping[str, Sequence[_Labelled]], name: str) -> QuestionSet:
    everyone = [one for ones in splits.values() for one in ones]
    return QuestionSet(
        {one.question.id: one.question for one in everyone},
        {one.question.id: one.gold for one in everyone},
        {split: tuple(one.question.id for one in ones) for split, ones in splits.items()},
        name,
    )


def _labelled(rows: Iterable[Row], articles: Set[str] | None) -> list[_Labelled]:
    found: dict[str, _Labelled] = {}
    for count, (values, place) in enumerate(rows, start=1):
        id = _integer(values["id"], "the id", place) if "id" in values else f"synthetic-{count}"
        # The description goes on from the sub-category: "Dettes", then "Récupération amiable, La saisie".
        steps = (values.get("subcategory", ""), values.get("extra_description", ""))
        description = ", ".join(step for step in steps if step)
        try:
            question = Question(id, values["question"], values.get("category", ""), description)
        except BenchmarkError as error:
            raise CorpusError(f"{place}: {error}") from error
        gold = frozenset(_integer(id, "article_ids", place) for id in values["article_ids"].split(","))
        if articles is not None and (missing := gold - articles):
            raise CorpusError(f"{place}: article_ids names {min(missing)}, which is no article; {AGAIN}")
        labelled = _Labelled(question, gold)
        if found.setdefault(id, labelled) != labelled:
            raise CorpusError(f"{place}: the id {id} stands above with another text or gold; {AGAIN}")
    return list(found.values())


def _integer(value: str, what: str, place: str) -> str:
    if not _INTEGER.fullmatch(value.strip()):
        raise CorpusError(f"{place}: {what} must be an integer, found {value[:40]!r}; {AGAIN}")
    return str(int(value))


def _found(folder: Path, names: Iterable[str]) -> Path | None:
    return next((folder / name for name in names if (folder / name).is_file()), None)


def _needed(folder: Path, names: Sequence[str]) -> Path:
    found = _found(folder, names)
    if found is None:
        raise CorpusError(f"{folder}: no {' or '.join(names)} inside; give the folder of BSARD's CSV files")
    return found


def _folder(source: str | Path) -> Path:
    path = Path(source)
    if path.is_dir():
        return path
    if path.is_file():
        return path.parent
    if _HUB_NAME.fullmatch(str(source)):
        return _fetched(str(source))
    raise CorpusError(f"{source}: no such folder; give BSARD's CSV files', or 'maastrichtlawtech/bsard'")


def _fetched(name: str) -> Path:
    """The folder of a hub dataset's files, in the hub client's cache."""
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise MissingExtraError(f"reading BSARD from the hub ('{name}' is no folder here)", "hub") from error
    try:
        snapshot = snapshot_download(name, repo_type="dataset", allow_patterns=["*.csv", "*.json"])
    except Exception as error:  # the client raises its own errors, its HTTP library's and the system's
        why = " ".join(str(error).split())
        raise FetchError(f"'{name}' is no folder here, and the hub failed ({why}); {_BY_PATH}") from error
    for found in sorted(Path(snapshot).rglob("questions_*train.csv")):
        return found.parent
    raise FetchError(f"the hub dataset '{name}' holds no questions_train.csv; {_BY_PATH}")
