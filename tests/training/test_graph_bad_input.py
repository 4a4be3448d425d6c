"""What the stage `graph` cannot train is refused before long work, in one sentence that says what to do."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from tiny_graph import encoder, folds, recipe, tiny_law, tiny_views
from tiny_supervision import recipe as text_recipe
from tiny_supervision import refused_by

from lexarbor.errors import TrainingError
from lexarbor.supervision.answers import same_words
from lexarbor.supervision.folder import Pair, Passage, write_supervision
from lexarbor.training import node_encoders
from lexarbor.training.graph import train_graph
from lexarbor.training.graph_objective import GraphObjective
from lexarbor.training.graph_views import Views, checked_encoders, prepare_views
from lexarbor.training.recipes import parse_recipe, read_recipe, write_recipe

refused = partial(refused_by, train_graph)


@pytest.fixture(autouse=True)
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is encoded before what is wrong is told."""
    tiny_views()  # made before, and kept

    def begun(*_: Any) -> None:
        raise AssertionError("long work began")

    for kind in (node_encoders.TrainedEncoder, node_encoders.ExportedEncoder):
        monkeypatch.setattr(kind, "vectors", begun)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"folds": ["one"]}, "folds names one retriever, 'one': name one for each of 2 parts or more, or none"),
        ({"supervision": {"fold": 1, "folds": 4}}, "name the retrievers that left one out each in `folds`"),
        ({"negatives": "some"}, "negatives is 'some': choose one of all, batch"),
        ({"supervision": {"in_batch": False}}, "supervision.in_batch is false, but negatives is 'all'"),
        ({"supervision": {"negatives": "mined.jsonl"}}, "names the file mined.jsonl, but negatives is 'all'"),
        ({"optimisation": {"steps": 1, "mini_batch": 4}}, "optimisation.mini_batch is for the stage text"),
        ({"graph": {"layer": "gatv3"}}, "layer is 'gatv3': did you mean 'gatv2'?"),
        ({"graph": {"edges": ["contain"]}}, "unknown kind 'contain'; did you mean 'contains'?"),
        ({"graph": {"layrs": 3}}, "unknown key 'graph.layrs': did you mean 'layers'?"),
        ({"folds": "models/fold1"}, "folds is 'models/fold1': expected"),
    ],
)
def test_recipes_that_cannot_be_meant(tmp_path: Path, changes: dict[str, Any], told: str) -> None:
    written = {"stage": "graph", "encoder": "models/text", **changes}
    (tmp_path / "recipe.yaml").write_text(yaml.safe_dump(written))
    with pytest.raises(TrainingError) as caught:
        read_recipe(tmp_path / "recipe.yaml")
    assert str(caught.value).startswith(f"{tmp_path / 'recipe.yaml'}: ")
    assert told in str(caught.value)


def test_a_recipe_without_an_encoder() -> None:
    with pytest.raises(TrainingError, match="'encoder' is missing: say which retriever's vectors are enriched"):
        parse_recipe({"stage": "graph"})


def test_retrievers_that_are_not_there_or_do_not_fit(tmp_path: Path) -> None:
    out = tmp_path / "out"
    missing = "encoder: there is no retriever in '/no/where'; give the folder of a trained retriever or of its export"
    assert refused(recipe(encoder="/no/where"), tiny_law(), out).startswith(missing)
    one = recipe(folds=[encoder(), "/no/where"])
    assert refused(one, tiny_law(), out).startswith("folds: there is no retriever in '/no/where'")
    apart = recipe(encoder=encoder(9, similarity="euclidean"))
    assert "compares by euclidean distance" in refused(apart, tiny_law(), out)
    raw = encoder(9, similarity="dot")
    assert "graph.normalise brings them to length 1" in refused(recipe(encoder=raw), tiny_law(), out)
    assert checked_encoders(recipe(encoder=raw, graph={"normalise": False}))[0].name == raw
    other = recipe(folds=[encoder(), encoder(9, max_tokens=40)])
    told = refused(other, tiny_law(), out)
    assert f"has other settings than the encoder {encoder()}, max_tokens is 40 and not 48: give" in told
    heads = recipe(graph={"layer": "gatv2", "heads": 3, "width": 12})
    assert "3 heads cannot share the 32 numbers of a vector" in refused(heads, tiny_law(), out)
    assert not list(tmp_path.iterdir())


def test_a_folds_retriever_of_another_width(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    narrow = folds()[1]
    whole = node_encoders.TrainedEncoder.__init__

    def made(self: node_encoders.TrainedEncoder, name: str) -> None:
        whole(self, name)
        self.dimension = 24 if name == narrow else self.dimension

    monkeypatch.setattr(node_encoders.TrainedEncoder, "__init__", made)
    told = refused(recipe(folds=folds()), tiny_law(), tmp_path / "out")
    assert f"{narrow} has vectors of 24 numbers, the encoder {encoder()} has 32" in told


def with_recipe(retriever: str, folder: Path, **supervision: int) -> str:
    """The same retriever in another folder, as its own recipe would have trained it."""
    folder.mkdir()
    for held in Path(retriever).iterdir():
        (folder / held.name).symlink_to(held)
    write_recipe(text_recipe(supervision=supervision), folder / "recipe.yaml")
    return str(folder)


def test_folds_out_of_their_order(tmp_path: Path) -> None:
    """A retriever's own recipe tells which part it left out."""
    one, two = (with_recipe(folds()[part], tmp_path / f"fold{part}", folds=2, fold=part) for part in (1, 2))
    assert len(checked_encoders(recipe(folds=[one, two]))) == 3
    told = refused(recipe(folds=[two, one]), tiny_law(), tmp_path / "out")
    assert f"{two} left out part 2 of 2, but stands where part 1 of 2 is seen" in told
    assert f"{one} left out part 1 of 2" in refused(recipe(folds=[one, encoder(5), two]), tiny_law(), tmp_path / "out")
    whole = with_recipe(folds()[0], tmp_path / "whole")
    told = refused(recipe(folds=[one, whole]), tiny_law(), tmp_path / "out")
    assert told.startswith(f"folds: {whole} left nothing out, but stands where part 2 of 2 is seen by it: name")
    told = refused(recipe(encoder=one), tiny_law(), tmp_path / "out")
    assert told.startswith(f"encoder: {one} left out part 1 of 2: name the retriever that learned from all parts")
    assert checked_encoders(recipe(encoder=whole))[0].left_out == (0, 0)


@pytest.mark.parametrize("fold", ["null", "one", "1.5", "true", "[1]"])
def test_a_retrievers_odd_recipe_tells_nothing(tmp_path: Path, fold: str) -> None:
    odd = with_recipe(encoder(), tmp_path / "odd")
    (tmp_path / "odd" / "recipe.yaml").write_text(f"supervision: {{fold: {fold}, folds: 2}}\n")
    assert checked_encoders(recipe(encoder=odd))[0].left_out is None


def test_one_retriever_in_two_places(tmp_path: Path) -> None:
    one, two, _ = folds()
    again = with_recipe(one, tmp_path / "again", folds=3, fold=3)
    told = refused(recipe(folds=[one, two, again]), tiny_law(), tmp_path / "out")
    assert told.startswith(f"folds: {again}, where part 3 is seen by it, is the same retriever as {one}: name")
    told = refused(recipe(folds=[one, encoder()]), tiny_law(), tmp_path / "out")
    assert told.startswith(f"folds: {encoder()}, where part 2 is seen by it, is the same retriever as the encoder ")


def test_supervision_that_lacks_what_the_recipe_names(tmp_path: Path) -> None:
    law, out = tiny_law(), tmp_path / "out"
    gilded = recipe(supervision={"kinds": {"gilded": 1}})
    assert "has no pairs of the kind 'gilded': choose among gold, headings" in refused(gilded, law, out)
    sheet = Pair("sheet", "Le moulin", ("F1-0",))
    more = replace(law, pairs=[*law.pairs, sheet], passages=[Passage("F1-0", "Il tourne.")])
    told = refused(recipe(supervision={"kinds": {"gold": 1, "sheet": 1}}), more, out)
    assert told.startswith("supervision.kinds names 'sheet', which is answered by 'F1-0', no article of the law")
    unnamed = replace(law, pairs=[replace(pair, source="") for pair in law.pairs])
    assert "names the sources of 0 gold pairs" in refused(recipe(folds=folds()), unnamed, out)
    no_dev = replace(law, asked=[])
    assert "no dev questions to look at" in refused(recipe(watching={"evaluate_every": 1}), no_dev, out)
    label = recipe(supervision={"unit": "label", "positives": 2})
    assert "positives is 2, but a unit 'label'" in refused(label, law, out)
    mined = recipe(negatives="batch", supervision={"negatives": str(tmp_path / "none.jsonl")})
    assert "no such file of mined negatives" in refused(mined, law, out)


def test_questions_taken_from_what_a_node_holds(tmp_path: Path) -> None:
    law, out = tiny_law(), tmp_path / "out"
    article = law.articles[0]
    sentence = Pair("sentence", article.text[:9], (article.id,), left_out=article.text[:9])
    more = replace(law, pairs=[*law.pairs, sentence])
    told = refused(recipe(supervision={"kinds": {"gold": 1, "sentence": 1}}), more, out)
    assert told.startswith("supervision.kinds names 'sentence', whose questions were taken from the text of the art")
    assert "a node's vector holds what the question was taken from" in told
    kinds = {"kinds": {"gold": 1, "headings": 1}}
    reading = recipe(encoder=encoder(9, headings=True), supervision=kinds)
    told = refused(reading, law, out)
    assert told.startswith("supervision.kinds names 'headings', whose questions were taken from the headings of the")
    seen = Views(replace(tiny_views().encoder, headings=True), ())
    assert "taken from the headings" in refused(recipe(supervision=kinds), law, out, views=seen)
    with pytest.raises(AssertionError, match="long work began"):
        train_graph(recipe(supervision=kinds), law, out)


def test_a_kind_without_a_question_in_a_batch(tmp_path: Path) -> None:
    plan = recipe(supervision={"kinds": {"gold": 99, "headings": 1}})
    told = refused(plan, tiny_law(), tmp_path / "out")
    assert told.startswith("supervision.kinds gives 'headings' less than one question of a batch of 6")
    apart = recipe(supervision={"kinds": {"gold": 99, "headings": 1}}, folds=folds())  # each alone in its batches
    with pytest.raises(AssertionError, match="long work began"):
        train_graph(apart, tiny_law(), tmp_path / "out")


def test_nothing_to_tell_apart(tmp_path: Path) -> None:
    plan = recipe(negatives="batch", supervision={"kinds": {"headings": 1}, "in_batch": False})
    told = refused(plan, tiny_law(), tmp_path / "out")
    assert "no pair of the kinds headings has hard negatives, and in_batch is false" in told


def test_supervision_without_a_graph(tmp_path: Path) -> None:
    law = tiny_law()
    bare = replace(law, graph=None, sections=[])
    assert "holds no graph of the law" in refused(recipe(), bare, tmp_path / "out")
    early = write_supervision(bare, tmp_path / "early")
    told = refused(recipe(), early, tmp_path / "out")
    assert told.startswith(f"{early.path}: was written without graph.json.xz, as by an earlier version; write it again")
    fewer = replace(law, articles=law.articles[1:])
    told = refused(recipe(), fewer, tmp_path / "out")
    assert f"the supervision folder's articles ({len(fewer.articles)}) are not those of its graph" in told
    turned = replace(law, sections=law.sections[::-1])
    assert "folder's sections (" in refused(recipe(), turned, tmp_path / "out")
    assert law.graph is not None
    lacking = replace(law, graph=law.graph.only(["contains"]))
    assert "hears edges of the kind 'within'" in refused(recipe(), lacking, tmp_path / "out")


def test_views_of_something_else(tmp_path: Path) -> None:
    law, out, views = tiny_law(), tmp_path / "out", tiny_views()
    told = refused(recipe(encoder=folds()[0]), law, out, views=views)
    assert told == f"the views are those of {encoder()}, the recipe names {folds()[0]}: prepare them with this recipe"
    assert "prepare them with this recipe" in refused(recipe(folds=folds()), law, out, views=views)
    short = Views(replace(views.encoder, features=views.encoder.features[1:]), ())
    assert "has 92 nodes, the supervision folder's graph 93" in refused(recipe(), law, out, views=short)
    few = Views(replace(views.encoder, row_of={}), ())
    told = refused(recipe(), replace(law, asked=[]), out, views=few)
    assert told.startswith("the views were prepared without the kind 'gold', or with other folds")
    gold = {same_words(pair.question) for pair in law.pairs if pair.kind == "gold"}
    only = {words: row for words, row in views.encoder.row_of.items() if words in gold}
    told = refused(recipe(), law, out, views=Views(replace(views.encoder, row_of=only), ()))
    assert told.startswith("the views were prepared without dev's questions, or with other folds: prepare them")
    apart = Views(replace(views.encoder, similarity="euclidean"), ())
    assert "compares by euclidean distance" in refused(recipe(), law, out, views=apart)


def test_a_run_is_not_resumed_by_another_recipe(tmp_path: Path) -> None:
    saving = recipe(watching={"save_every": 1})
    with pytest.raises(AssertionError, match="long work began"):
        train_graph(saving, tiny_law(), tmp_path / "out")
    changed = recipe(graph={"layers": 1}, watching={"save_every": 1})
    assert "was begun with another graph" in refused(changed, tiny_law(), tmp_path / "out", resume=True)
    assert "save_every is 0" in refused(recipe(), tiny_law(), tmp_path / "new", resume=True)
    assert "is not empty" in refused(saving, tiny_law(), tmp_path / "out")


def test_a_batch_that_does_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("lexarbor.training.graph_objective.GraphObjective.forward", full)
    told = refused(recipe(), tiny_law(), tmp_path / "out", views=tiny_views())
    assert told == "a batch of 6 questions does not fit in this memory: lower batch_size and raise accumulation"


@pytest.mark.parametrize(
    ("factor", "dev", "told"),
    [
        (100.0, True, "train it at a lower rate"),  # still finite, but too large for the 16 bits that are written
        (100.0, False, "train it at a lower rate"),
        (1e15, False, "train it at a lower rate"),
        (1e15, True, "the weights have grown without bound: lower optimisation.learning_rate"),
    ],
)
@pytest.mark.parametrize("every", [0, 4])
def test_weights_that_grew_without_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, factor: float, dev: bool, told: str, every: int
) -> None:
    """They are not written, nor ranked by."""
    whole = GraphObjective.forward

    def growing(self: GraphObjective, *batch: Any, **named: Any) -> torch.Tensor:
        with torch.no_grad():
            for weight in self.encoder.parameters():
                weight *= factor
        return whole(self, *batch, **named)

    monkeypatch.setattr(GraphObjective, "forward", growing)
    law = tiny_law() if dev else replace(tiny_law(), asked=[])
    plan = recipe(watching={"evaluate_every": every if dev else 0})
    assert refused(plan, law, tmp_path / "out", views=tiny_views()).endswith(told)
    assert not (tmp_path / "out" / "weights.npz").exists()


@pytest.mark.parametrize("which", ["nodes", "questions"])
def test_a_retriever_whose_vectors_are_not_finite(monkeypatch: pytest.MonkeyPatch, which: str) -> None:
    def wild(self: node_encoders.TrainedEncoder, nodes: list[Any], asked: list[str]) -> tuple[Any, Any]:
        found = {"nodes": np.zeros((len(nodes), 32), np.float32), "questions": np.zeros((len(asked), 32), np.float32)}
        if self.name == folds()[1]:
            found[which][-1, -1] = np.nan
        return found["nodes"], found["questions"]

    monkeypatch.setattr(node_encoders.TrainedEncoder, "vectors", wild)
    told = refused_by(prepare_views, recipe(folds=folds()), tiny_law())
    assert told.startswith(f"{folds()[1]} gives vectors that are not finite")


def test_views_are_encoded_where_all_is_well() -> None:
    with pytest.raises(AssertionError, match="long work began"):
        prepare_views(recipe(), tiny_law())
