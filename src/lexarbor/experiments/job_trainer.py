"""One process that trains jobs, one after the other, and keeps what several of them read."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from lexarbor.evaluation import evaluate
from lexarbor.experiments.jobs import VOCABULARY, Job, facts_path, order_of, ranking_path
from lexarbor.files import folder_at, replacing, sha256, write_json
from lexarbor.graph.encoder import LegislativeGraphEncoder
from lexarbor.graph.model_folder import GraphModelFolder
from lexarbor.supervision.answers import same_words
from lexarbor.supervision.folder import Asked, SupervisionFolder
from lexarbor.text.inputs import with_headings
from lexarbor.text.retriever import DenseStatuteRetriever
from lexarbor.text.towers import quietly
from lexarbor.text.vocabulary import learn_vocabulary, save_vocabulary
from lexarbor.training import gpu
from lexarbor.training.contrastive import Tokenised, tokenise, train_text
from lexarbor.training.graph import heard_graph, train_graph
from lexarbor.training.graph_recipe import GraphRecipe
from lexarbor.training.graph_views import View, Views, law_nodes, view_of
from lexarbor.training.mining import hard_negatives
from lexarbor.training.node_encoders import node_encoder
from lexarbor.training.pretrain import pretrain
from lexarbor.training.ranking import DEPTH, Ranked, Vectors, article_vectors, question_vectors, rank, rows_of
from lexarbor.training.recipes import PretrainRecipe, TextRecipe, parse_recipe
from lexarbor.training.runs import data_checksum
from lexarbor.training.starting import start
from lexarbor.training.tokens import TokenRows

logger = logging.getLogger(__name__)


class JobTrainer:
    """Trains jobs over the supervision of one experiment's folder."""

    def __init__(self, work: Path) -> None:
        self.work = work
        self._supervision: dict[str, Readings] = {}

    def run(self, job: Job) -> None:
        """Train a job whose needs are met, and write its ranking where it has one."""
        try:
            with quietly():
                self._run(job)
        finally:  # a job that did not fit must not hold what the next one needs
            gpu.free()

    def can_go_on(self) -> bool:
        """Whether another job can be tried in this process."""
        return gpu.answers()

    def _run(self, job: Job) -> None:
        out = folder_at(job.folder(self.work).parent) / job.key
        if job.stage == VOCABULARY:
            shape = job.recipe["architecture"]
            learned = learn_vocabulary(self.readings(job.data).texts(job.texts), shape["vocabulary"])
            save_vocabulary(learned, out, longest=shape["positions"])
            return
        recipe = parse_recipe(job.written(self.work))
        readings = self.readings(job.data)
        if isinstance(recipe, PretrainRecipe):
            kept = bool(recipe.watching.save_every)  # what lies there was begun alike, or there is nothing
            pretrain(recipe, readings.texts(job.texts), out, resume=kept, data=data_checksum(readings.folder))
        elif isinstance(recipe, TextRecipe):
            seconds, steps = readings.learn_text(recipe, out) if job.trained else readings.begin_text(recipe, out)
            ranked, parameters = readings.rank_text(recipe, out, job.asked)
            self._keep(job, ranked, {"seconds": seconds, "steps": steps, "parameters": parameters})
        elif isinstance(recipe, GraphRecipe):
            views = readings.views(recipe)
            report = train_graph(recipe, readings.folder, out, views=views)
            ranked, parameters = readings.rank_graph(recipe, out, views.encoder, job.asked)
            told = {"seconds": report.seconds, "steps": report.steps, "parameters": parameters}
            self._keep(job, ranked, told)

    def readings(self, data: str) -> "Readings":
        if data not in self._supervision:
            self._supervision[data] = Readings(SupervisionFolder.open(self.work / "data" / data))
        return self._supervision[data]

    def _keep(self, job: Job, ranked: Ranked, told: dict[str, Any]) -> None:
        """The ranking, and last the facts: a job that has them has ended."""
        dev = self.readings(job.data).dev_figures(ranked)
        folder_at(ranking_path(self.work, job.key).parent)
        kind = np.uint16 if len(ranked.articles) < 1 << 16 else np.int32  # half the bytes, for most laws
        with replacing(ranking_path(self.work, job.key)) as temporary, temporary.open("wb") as file:
            np.savez_compressed(file, rows=ranked.rows.astype(kind), asked=np.array(ranked.questions))
        facts = {
            **told,
            "dev": dev,
            "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu",
            "articles": order_of(ranked.articles),
            "ranking": sha256(ranking_path(self.work, job.key)),
            "data": job.data,
        }
        write_json(facts_path(self.work, job.key), facts)
        on_dev = f", dev R@100 {dev['recall@100']:.3f}" if dev else ""
        logger.info("%s: %.0f s%s", job.key, told["seconds"], on_dev)


class Readings:
    """A supervision folder as encoders read it: tokens and vectors, each made once for all jobs that share it."""

    def __init__(self, folder: SupervisionFolder) -> None:
        self.folder = folder
        self._tokenised: dict[str, Tokenised] = {}
        self._articles: dict[str, TokenRows] = {}
        self._views: tuple[str, Views] | None = None

    def texts(self, which: str) -> list[str]:
        """What a language model reads: the law's articles and its further texts, or all other passages."""
        passages = self.folder.articles if which == "law" else self.folder.passages
        found = [with_headings(passage.headings, passage.text) for passage in passages]
        if which == "law":
            found += self.folder.texts
        return [text for text in dict.fromkeys(found) if text.strip()]

    def tokenised(self, recipe: TextRecipe) -> Tokenised:
        """Pairs as tokens: the same for every recipe with these settings, tokenizer and kinds. Dev comes with them only
        where a recipe looks at it on the way: its figures are those of the ranking.
        """
        drawn, looks = recipe.supervision, bool(recipe.watching.evaluate_every)
        key = f"{_read_by(recipe)} {sorted(drawn.drawn)} {drawn.negatives} {looks}"
        if key not in self._tokenised:
            retriever = start(recipe, self.folder)
            found = tokenise(recipe, self.folder, retriever, hard_negatives(self.folder, drawn), dev=looks)
            self._tokenised[key] = found
        return self._tokenised[key]

    def learn_text(self, recipe: TextRecipe, out: Path) -> tuple[float, int]:
        """Train a retriever; gives the seconds and the steps of it."""
        report = train_text(recipe, self.folder, out, tokenised=self.tokenised(recipe))
        return report.seconds, report.steps

    def begin_text(self, recipe: TextRecipe, out: Path) -> tuple[float, int]:
        """The retriever as it begins, before it has learned anything."""
        start(recipe, self.folder).save(out)
        return 0.0, 0

    def dev_figures(self, ranked: Ranked) -> dict[str, float]:
        """By measure, where dev's questions are among those ranked for and their gold is known."""
        gold = {_label(one): frozenset(one.gold) for one in self.folder.asked if one.gold}
        run = {label: found for label, found in ranked.run().items() if label in gold}
        return evaluate(run, {label: gold[label] for label in run}).means() if run else {}

    def rank_text(self, recipe: TextRecipe, model: Path, splits: Sequence[str]) -> tuple[Ranked, int]:
        """The best articles for the asked questions, and how many parameters found them."""
        retriever = DenseStatuteRetriever.load(model).to(_device())
        key = _read_by(recipe)
        if key not in self._articles:
            self._articles[key] = rows_of(self.folder.articles, retriever)
        articles = article_vectors(retriever, self.folder.articles, rows=self._articles[key])
        asked = self._asked(splits)
        questions = question_vectors(retriever, [_label(one) for one in asked], [one.text for one in asked])
        parameters = sum(weights.numel() for weights in retriever.parameters())
        return rank(questions, articles, recipe.encoder.similarity, DEPTH), parameters

    def views(self, recipe: GraphRecipe) -> Views:
        """All nodes, and every question that is learned from or asked, as the recipe's retriever sees them. Those of
        the last retriever are kept: jobs come one retriever after the other.
        """
        if self._views is None or self._views[0] != recipe.encoder:
            encoder = node_encoder(recipe.encoder, "encoder")
            kinds = ("gold", "synthetic")
            learned = (pair.question for pair in self.folder.pairs if pair.kind in kinds)
            asked = (one.text for one in self.folder.asked)
            self._views = recipe.encoder, Views(view_of(encoder, law_nodes(self.folder), (*learned, *asked)), ())
        return self._views[1]

    @torch.no_grad()
    def rank_graph(self, recipe: GraphRecipe, model: Path, view: View, splits: Sequence[str]) -> tuple[Ranked, int]:
        """The same by enriched vectors; the parameters are the graph encoder's alone."""
        held = GraphModelFolder.open(model)
        encoder = LegislativeGraphEncoder.from_arrays(held.settings, held.dimension, held.weights).eval().to(_device())
        graph = heard_graph(recipe, self.folder)
        whole = self.folder.graph
        assert whole is not None  # `heard_graph` has refused a folder without
        features = view.features[whole.rows_of((*graph.sections, *graph.articles))]
        edges = {kind: torch.from_numpy(ends.astype(np.int64)).to(_device()) for kind, ends in graph.edges.items()}
        enriched = encoder(_tensor(features), edges, _tensor(graph.degrees.copy()))
        articles = Vectors(tuple(graph.articles), enriched[len(graph.sections) :].float())
        asked = self._asked(splits)
        rows = [view.row_of[same_words(one.text)] for one in asked]
        questions = Vectors(tuple(_label(one) for one in asked), _tensor(view.questions[rows]))
        parameters = sum(weights.numel() for weights in encoder.parameters())
        return rank(questions, articles, view.similarity, DEPTH), parameters

    def _asked(self, splits: Sequence[str]) -> list[Asked]:
        return [one for one in self.folder.asked if not splits or one.split in splits]


def _read_by(recipe: TextRecipe) -> str:
    """What texts become tokens by."""
    return f"{recipe.encoder} {recipe.tokenizer or recipe.start}"


def _label(one: Asked) -> str:
    return f"{one.split} {one.id}"


def _device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def _tensor(array: NDArray[Any]) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(array)).to(_device())
