"""Hard negatives found by a model: what it ranks highest for a question though nobody labelled it.

As JSONL, one object for each pair, best first; `pair` is its index in the supervision folder, `question` its words, by
which a file is known to belong to the folder:

    {"pair": 17, "question": "Puis-je…", "negatives": ["LEGIARTI…", "LEGIARTI…"]}
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import torch

from lexarbor.errors import TrainingError
from lexarbor.files import replacing
from lexarbor.supervision.answers import known_answers, same_words
from lexarbor.supervision.folder import Supervised
from lexarbor.text.retriever import DenseStatuteRetriever
from lexarbor.training.hyperparameters import SupervisionRecipe
from lexarbor.training.ranking import article_vectors, question_vectors, rank
from lexarbor.training.token_pairs import checked_kinds

DEPTH = 50
_AT_ONCE = 4096
_MINE = "mine again with `lexarbor train mine`"


def mine(
    model_folder: Path,
    folder: Supervised,
    out_file: Path,
    *,
    kinds: Iterable[str] = (),
    depth: int = DEPTH,
    skip: int = 0,
) -> int:
    """Write, for every pair of some kinds (all if none is named), the `depth` articles that the model ranks highest
    among those not known to answer it; the first `skip` of them are left out, as being likely to answer after all.

    Gives the number of pairs. The file appears whole or not at all.
    """
    wanted = checked_kinds(folder, kinds or {pair.kind for pair in folder.pairs})
    model = DenseStatuteRetriever.load(model_folder).to("cuda" if torch.cuda.is_available() else "cpu")
    chosen = [index for index, pair in enumerate(folder.pairs) if pair.kind in wanted]
    known = known_answers(folder.pairs)
    articles = article_vectors(model, folder.articles)
    with replacing(out_file) as temporary, temporary.open("w", encoding="utf-8") as file:
        for start in range(0, len(chosen), _AT_ONCE):
            some = chosen[start : start + _AT_ONCE]
            texts = [folder.pairs[index].question for index in some]
            answers = [known[same_words(text)] for text in texts]
            questions = question_vectors(model, [str(index) for index in some], texts)
            deepest = depth + skip + max(len(one) for one in answers)
            found = rank(questions, articles, model.settings.similarity, deepest).ids()
            for index, text, ids, answering in zip(some, texts, found, answers, strict=True):
                negatives = [id for id in ids if id not in answering][skip : skip + depth]
                line = {"pair": index, "question": text, "negatives": negatives}
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
    return len(chosen)


def hard_negatives(folder: Supervised, supervision: SupervisionRecipe) -> Mapping[int, Sequence[str]]:
    """By a pair's index, the ids of the hard negatives that a recipe asks for."""
    if supervision.negatives == "none" or not supervision.hard_negatives:
        return {}
    if supervision.negatives == "bm25":
        return {index: pair.negatives for index, pair in enumerate(folder.pairs) if pair.negatives}
    return read_mined(Path(supervision.negatives), folder)


def read_mined(path: Path, folder: Supervised) -> dict[int, list[str]]:
    """What `mine` wrote, checked against the folder."""
    held = {passage.id for passage in (*folder.articles, *folder.passages)}
    found: dict[int, list[str]] = {}
    for number, (index, question, ids) in enumerate(_lines(path), start=1):
        if not 0 <= index < len(folder.pairs) or folder.pairs[index].question != question:
            raise TrainingError(f"{path}, line {number}: mined for another supervision folder; {_MINE}")
        unknown = next((id for id in ids if id not in held), None)
        if unknown is not None:
            raise TrainingError(
                f"{path}, line {number}: names the passage '{unknown}', which the supervision folder does not hold; "
                f"{_MINE}"
            )
        found[index] = ids
    return found


def _lines(path: Path) -> Iterator[tuple[int, str, list[str]]]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, text in enumerate(file, start=1):
                line = json.loads(text)
                try:
                    yield int(line["pair"]), str(line["question"]), [str(id) for id in line["negatives"]]
                except (KeyError, TypeError, ValueError) as error:
                    raise TrainingError(f"{path}, line {number}: holds no mined negatives; {_MINE}") from error
    except FileNotFoundError as error:
        raise TrainingError(
            f"{path}: no such file of mined negatives; write it with `lexarbor train mine`, or set "
            "supervision.negatives to bm25 or none"
        ) from error
    except (OSError, ValueError) as error:
        raise TrainingError(f"{path}: cannot be read as mined negatives ({error}); {_MINE}") from error
