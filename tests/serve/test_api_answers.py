"""What the API answers is what the law holds, in the shapes that OpenAPI tells."""

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from pydantic import BaseModel

from lexarbor import __version__
from lexarbor.corpus.law import Article, Code, Section, Version
from lexarbor.corpus.tree import LawTree
from lexarbor.search import Engine
from lexarbor.search.building import build_index
from lexarbor.search.lexical import tuned
from lexarbor.search.outside import Outside
from lexarbor.search.store import open_index
from lexarbor.serve.api import models, telling
from lexarbor.serve.laws import Laws
from serving import refused, shaped
from toy_encoder import Toy

QUESTION = "Le voisin doit-il procéder à l'élagage de ses branchages ?"
COMMUNAL, FAIRS = "Code communal de Valombre", "Code des fêtes, marchés et jardins de Valombre"
INVENTED = "this is the tiny law of an invented commune: it is no real law"
Serving = Callable[..., TestClient]


@pytest.fixture(scope="session")
def french(tmp_path_factory: pytest.TempPathFactory) -> Laws:
    """A little of the French codes."""
    folder = tmp_path_factory.mktemp("french") / "index"
    social, rural = "LEGITEXT000006073189", "LEGITEXT000006071367"
    nodes = [
        Code(social, "Code de la sécurité sociale"),
        Code(rural, "Code rural et de la pêche maritime"),
        Section("LEGISCTA1", "Assurance maladie", 1, social),
        Article(
            "LEGIARTI2", "L1", social, "L'assurance maladie.", ("LEGISCTA1",), start=date(2024, 1, 1),
            status="VIGUEUR", cid="LEGIARTI1", note="Applicable aux congés.",
        ),
        Article("LEGIARTI3", "L2", rural, "L'assurance des récoltes, voir l'article L1.", (), date(2020, 1, 1)),
    ]  # fmt: skip
    history = {
        "LEGIARTI1": [
            Version("LEGIARTI1", date(2019, 1, 1), date(2024, 1, 1)),
            Version("LEGIARTI2", date(2024, 1, 1), None),
        ]
    }
    law = LawTree(nodes, date=date(2026, 1, 1), history=history, name="own")
    build_index(law, folder, source="own", settings=tuned("headings+text"))
    return Laws(folder)


def numbers(told: dict[str, Any]) -> list[str]:
    return [hit["number"] for hit in told["hits"]]


def ids(told: list[dict[str, Any]]) -> list[str]:
    return [one["id"] for one in told]


@pytest.mark.parametrize(
    ("path", "model"),
    [
        (f"/api/search?q={QUESTION}", models.AnswerTold),
        (f"/api/search?q={QUESTION}&explain=true&k=3", models.AnswerTold),
        ("/api/search?q=L999-9 du code communal de Valombre", models.AnswerTold),
        ("/api/articles/VALARTI0070", models.ArticleTold),
        ("/api/articles/VALARTI0029/related", models.RelatedTold),
        ("/api/tree", models.CodesTold),
        ("/api/tree/VALTEXT01", models.BranchTold),
        ("/api/tree/VALSCTA0105", models.BranchTold),
        ("/api/health", models.HealthTold),
        ("/api/version", models.VersionOfServer),
    ],
)
def test_every_answer_has_the_shape_that_is_told_of_it(client: TestClient, path: str, model: type[BaseModel]) -> None:
    told = shaped(model, client.get(path))
    assert told.get("warning", INVENTED) == INVENTED


def test_every_shape_is_told_whole_by_some_answer(
    serving: Serving, hybrid: Path, everyday: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy = Laws(tiny)
    toy.present = Engine(open_index(everyday), encoder=Toy())  # type: ignore[arg-type]
    whole, homely = serving(Laws(hybrid)), serving(toy)
    asked = [
        whole.post("/api/search", json={"questions": [QUESTION, "Mon voisin a un chien bruyant"], "explain": True}),
        homely.post("/api/search", json={"questions": ["Mon toutou s'est fait la malle"]}),
    ]
    monkeypatch.setattr("lexarbor.search.engine.judged", lambda *_: Outside(0.9, ("Code civil",)))
    asked.append(whole.post("/api/search", json={"questions": ["Comment divorcer ?"], "k": 1}))
    answers: list[BaseModel] = [models.AnswersTold(**shaped(models.AnswersTold, response)) for response in asked]
    for path, model in (
        ("articles/VALARTI0070", models.ArticleTold),
        ("articles/VALARTI0029/related", models.RelatedTold),
        ("articles/VALARTI0030/related", models.RelatedTold),
        ("tree", models.CodesTold),
        ("tree/VALTEXT01", models.BranchTold),
        ("tree/VALSCTA0105", models.BranchTold),
        ("health", models.HealthTold),
        ("version", models.VersionOfServer),
    ):
        answers.append(model(**shaped(model, whole.get(f"/api/{path}"))))
    for path in ("search", "articles/VALARTI0010"):
        answers.append(models.Error(**whole.get(f"/api/{path}").json()))
    seen: dict[type[BaseModel], set[str]] = {}
    for read in parts(answers):
        seen.setdefault(type(read), set()).update(read.model_fields_set)
    assert seen == {model: set(model.model_fields) for model in described()}


def described() -> set[type[BaseModel]]:
    """The shapes of answers."""
    found = {one for one in vars(models).values() if isinstance(one, type) and issubclass(one, BaseModel)}
    return {one for one in found if not issubclass(one, models._Taken)} - {models.Dated, BaseModel}


def parts(value: Any) -> Iterator[BaseModel]:
    """All that stands in some answers."""
    if isinstance(value, BaseModel):
        yield value
        value = [getattr(value, name) for name in type(value).model_fields]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from parts(one)


def test_an_answer_is_the_engines(client: TestClient, laws: Laws) -> None:
    told = shaped(models.AnswerTold, client.get("/api/search", params={"q": QUESTION, "k": 3}))
    assert told == {"warning": INVENTED} | laws.present.search(QUESTION, 3).as_dict()
    assert told["law_as_of"] == "2026-01-01"
    assert numbers(told)[0] == "L123-2"
    assert len(numbers(client.get("/api/search", params={"q": "le maire"}).json())) == 10


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"k": 3},
        {"codes": [COMMUNAL]},
        {"codes": ["VALTEXT01", "VALTEXT02"], "k": 100},
        {"under": ["tranquillité publique", "VALSCTA0106"]},
        {"as_of": "2026-01-01"},
        {"explain": True, "k": 2},
        {"k": 4, "codes": ["VALTEXT01"], "under": ["titre ier > salubrité"], "explain": True, "as_of": "2026-01-01"},
    ],
)
def test_both_ways_of_asking_give_one_answer(client: TestClient, how: dict[str, Any]) -> None:
    query = {"code" if name == "codes" else name: value for name, value in how.items()}
    asked = client.get("/api/search", params={"q": QUESTION, **query})
    told = shaped(models.AnswerTold, asked)
    assert shaped(models.AnswerTold, client.post("/api/search", json={"question": QUESTION, **how})) == told
    batch = shaped(models.AnswersTold, client.post("/api/search", json={"questions": [QUESTION], **how}))
    assert batch == {"answers": [told]}
    assert told["hits"]


def test_many_questions_are_answered_in_their_order(client: TestClient) -> None:
    questions = [QUESTION, "les canidés", "une amende pour nuisances sonores", QUESTION, "xylophone"]
    told = shaped(models.AnswersTold, client.post("/api/search", json={"questions": questions, "k": 2}))["answers"]
    assert [answer["question"] for answer in told] == questions
    assert told == [client.get("/api/search", params={"q": question, "k": 2}).json() for question in questions]


@pytest.mark.parametrize("named", [COMMUNAL, COMMUNAL.upper(), "VALTEXT01"])
def test_a_code_is_named_by_its_title_or_id(client: TestClient, named: str) -> None:
    everywhere = client.get("/api/search", params={"q": "le maire de la commune", "k": 100}).json()["hits"]
    assert {hit["code"] for hit in everywhere} == {COMMUNAL, FAIRS}
    told = client.get("/api/search", params={"q": "le maire de la commune", "k": 100, "code": named}).json()["hits"]
    assert ids(told) == [hit["id"] for hit in everywhere if hit["code"] == COMMUNAL]


def test_a_code_is_named_by_its_short_name(serving: Serving, french: Laws) -> None:
    client = serving(french)
    assert numbers(client.get("/api/search?q=assurance").json()) == ["L1", "L2"]
    assert numbers(client.get("/api/search?q=assurance&code=CSS").json()) == ["L1"]
    assert numbers(client.get("/api/search?q=assurance&code=CSS&code=code rural").json()) == ["L1", "L2"]
    error = refused(client.get("/api/search?q=assurance&code=CSS&code=Code civil"), "code")
    assert error["message"].endswith("held are Code de la sécurité sociale, Code rural et de la pêche maritime")


def test_headings_narrow_a_search(client: TestClient) -> None:
    told = client.get("/api/search", params={"q": "le maire", "k": 100, "under": "tranquillité publique"}).json()
    assert told["hits"]
    assert all("Chapitre Ier : Tranquillité publique" in hit["path"] for hit in told["hits"])
    by_id = client.get("/api/search", params={"q": "le maire", "k": 100, "under": "VALSCTA0105"}).json()["hits"]
    assert set(ids(by_id)) < set(ids(told["hits"]))
    refused(client.get("/api/search", params={"q": "le maire", "under": "xylophone"}), "heading")


def test_an_explained_hit_has_its_text_and_surroundings(client: TestClient, law: LawTree) -> None:
    plain, explained = (
        client.get(
            "/api/search", params={"q": "L231-1 du code communal de Valombre", "k": 1, "explain": explain}
        ).json()["hits"][0]
        for explain in ("false", "true")
    )
    around = {name: explained.pop(name) for name in ("before", "after", "cites", "cited_by")}
    assert explained.pop("text") == law.articles[plain["id"]].text
    assert explained == plain
    related = client.get(f"/api/articles/{plain['id']}/related").json()
    for name in ("cites", "cited_by"):
        assert ids(around[name]) == ids(related[name])
    for name in ("before", "after"):
        assert ids(around[name]) == ids([related[name]] if related[name] else [])


def test_what_is_asked_may_be_at_the_limits(client: TestClient) -> None:
    assert client.get("/api/search", params={"q": "é" * 2000, "k": 1}).status_code == 200
    assert client.get("/api/search", params={"q": QUESTION, "k": 100}).status_code == 200
    told = client.post("/api/search", json={"questions": ["le maire"] * 32, "k": 1})
    assert len(told.json()["answers"]) == 32


def test_an_article_is_told_whole(client: TestClient, law: LawTree) -> None:
    article = law.articles["VALARTI0070"]
    told = shaped(models.ArticleTold, client.get("/api/articles/VALARTI0070"))
    assert told == {
        "law_as_of": "2026-01-01",
        "warning": INVENTED,
        "id": "VALARTI0070",
        "cid": "VALARTI0010",
        "number": "L113-2",
        "code": COMMUNAL,
        "above": [{"id": id, "title": law.title(id)} for id in law.ancestors("VALARTI0070")],
        "start": "2022-07-01",
        "end": None,
        "status": article.status,
        "url": None,
        "text": article.text,
        "note": article.note,
        "versions": [
            {"id": "VALARTI0070", "start": "2022-07-01", "end": None, "held": True, "url": None},
            {"id": "VALARTI0010", "start": "2015-01-01", "end": "2022-07-01", "held": False, "url": None},
        ],
    }
    assert told["above"][0] == {"id": "VALTEXT01", "title": COMMUNAL}
    for id in law.articles:
        shaped(models.ArticleTold, client.get(f"/api/articles/{id}"))


def test_an_article_of_the_french_codes_has_its_links_and_note(serving: Serving, french: Laws) -> None:
    client, link = serving(french), "https://www.legifrance.gouv.fr/codes/article_lc/LEGIARTI"
    told = shaped(models.ArticleTold, client.get("/api/articles/LEGIARTI2"))
    assert (told["url"], told["note"]) == (f"{link}2", "Applicable aux congés.")
    assert [version["url"] for version in told["versions"]] == [f"{link}2", f"{link}1"]
    assert client.get("/api/search?q=maladie").json()["hits"][0]["url"] == f"{link}2"
    (code,) = client.get("/api/articles/LEGIARTI3").json()["above"]
    assert code == {"id": "LEGITEXT000006071367", "title": "Code rural et de la pêche maritime"}


@pytest.mark.parametrize(("old", "now"), [("VALARTI0010", "VALARTI0070"), ("VALARTI0098", "VALARTI0030")])
def test_of_a_version_that_is_no_longer_in_force_the_one_now_is_told(client: TestClient, old: str, now: str) -> None:
    for path in (f"/api/articles/{old}", f"/api/articles/{old}/related"):
        assert refused(client.get(path), "article_not_held")["now"] == now
    assert client.get(f"/api/articles/{now}").status_code == 200
    assert "now" not in refused(client.get("/api/articles/VALARTI9999"), "article_not_held")


def test_what_is_related_is_what_the_law_says(client: TestClient, law: LawTree) -> None:
    for id in law.articles:
        told = shaped(models.RelatedTold, client.get(f"/api/articles/{id}/related"))
        assert ids(told["cites"]) == list(law.citations.cites(id))
        assert set(ids(told["cited_by"])) == set(law.citations.cited_by(id))
        assert ids(told["siblings"]) == list(law.siblings(id))
        beside = [one for one in law.children(law.articles[id].parent) if one in law.articles]
        at = beside.index(id)
        assert told["before"] == (None if at == 0 else named(law, beside[at - 1]))
        assert told["after"] == (None if at == len(beside) - 1 else named(law, beside[at + 1]))


def named(law: LawTree, id: str) -> dict[str, Any]:
    article = law.articles[id]
    return {"id": id, "number": article.number, "code": law.codes[article.code].title, "url": None}


def test_the_tree_adds_up(client: TestClient, law: LawTree) -> None:
    told = shaped(models.CodesTold, client.get("/api/tree"))
    assert [(code["id"], code["title"]) for code in told["codes"]] == [("VALTEXT01", COMMUNAL), ("VALTEXT02", FAIRS)]
    assert told["source"] == "tiny"
    assert sum(code["articles"] for code in told["codes"]) == client.get("/api/health").json()["articles"] == len(law)
    assert sum(code["sections"] for code in told["codes"]) == len(law.sections)
    for code in told["codes"]:
        found = walked(client, law, code["id"])
        assert len(found) == code["articles"]
        assert found == {id for id, article in law.articles.items() if article.code == code["id"]}


def walked(client: TestClient, law: LawTree, id: str) -> set[str]:
    """The articles in a branch and below, as the API tells them."""
    told = shaped(models.BranchTold, client.get(f"/api/tree/{id}"))
    assert (told["id"], told["title"]) == (id, law.title(id))
    assert ids(told["above"]) == list(law.ancestors(id))
    assert (*ids(told["sections"]), *ids(told["articles"])) == law.children(id)
    found = set(ids(told["articles"]))
    for section in told["sections"]:
        below = walked(client, law, section["id"])
        assert len(below) == section["articles"]
        found |= below
    return found


def test_a_section_that_is_not_held_is_refused(client: TestClient) -> None:
    for id in ("VALSCTA9999", "VALARTI0070"):
        refused(client.get(f"/api/tree/{id}"), "section_not_held")


def test_every_question_about_the_law_takes_its_day(client: TestClient) -> None:
    for path in ("articles/VALARTI0070", "articles/VALARTI0070/related", "tree", "tree/VALTEXT01", "search?q=maire"):
        join = "&" if "?" in path else "?"
        same = client.get(f"/api/{path}{join}as_of=2026-01-01")
        assert same.json() == client.get(f"/api/{path}").json()
        error = refused(client.get(f"/api/{path}{join}as_of=2021-01-01"), "one_day")
        assert error["message"] == "the law of one day alone is held here, that of 2026-01-01"
        refused(client.get(f"/api/{path}{join}as_of=2021-02-30"), "invalid")


def test_old_law_comes_with_a_warning(serving: Serving, french: Laws, monkeypatch: pytest.MonkeyPatch) -> None:
    client = serving(french)

    def warnings(year: int, month: int, day: int) -> set[str | None]:
        class Calendar(date):
            @classmethod
            def today(cls) -> "Calendar":
                return cls(year, month, day)

        monkeypatch.setattr(telling, "date", Calendar)
        paths = ("search?q=assurance", "articles/LEGIARTI2", "articles/LEGIARTI2/related", "tree", "tree/LEGISCTA1")
        return {client.get(f"/api/{path}").json().get("warning") for path in paths}

    assert warnings(2026, 4, 1) == {None}
    assert warnings(2026, 4, 2) == {"this law is 91 days old: the official site tells what has changed since"}


def test_health_and_version_tell_what_is_running(client: TestClient, serving: Serving, hybrid: Path) -> None:
    assert client.get("/api/health").json() == {"status": "ok", "law_as_of": "2026-01-01", "articles": 61}
    told = client.get("/api/version").json()
    bare = {"lexarbor": __version__, "source": "tiny", "law_as_of": "2026-01-01", "days": []}
    assert told == bare | {"legs": ["bm25"], "encoder": None}
    whole = Laws(hybrid)
    assert whole.present.index.encoder is not None
    told = shaped(models.VersionOfServer, serving(whole).get("/api/version"))
    assert told == bare | {"legs": ["dense", "bm25", "memory"], "encoder": whole.present.index.encoder.checksum}


def test_openapi_tells_of_every_address_and_of_its_errors(client: TestClient) -> None:
    told = client.get("/api/openapi.json").json()
    assert {(method, path) for path, methods in told["paths"].items() for method in methods} == {
        ("get", "/api/search"), ("post", "/api/search"), ("get", "/api/articles/{id}"),
        ("get", "/api/articles/{id}/related"), ("get", "/api/tree"), ("get", "/api/tree/{section}"),
        ("get", "/api/health"), ("get", "/api/version"),
    }  # fmt: skip
    for methods in told["paths"].values():
        for operation in methods.values():
            assert operation["description"]
            assert operation["responses"]["200"]["content"]["application/json"]["schema"]
            for status, response in operation["responses"].items():
                if status != "200":
                    schema = response["content"]["application/json"]["schema"]
                    assert schema == {"$ref": "#/components/schemas/Error"}
            for parameter in operation.get("parameters", ()):
                assert parameter["description"]
    assert "HTTPValidationError" not in told["components"]["schemas"]
    body = told["paths"]["/api/search"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert [one["$ref"].rsplit("/", 1)[1] for one in body["oneOf"]] == ["OneQuestion", "ManyQuestions"]
    taken = told["components"]["schemas"]["OneQuestion"]
    example = {"question": taken["properties"]["question"]["examples"][0], "k": taken["properties"]["k"]["examples"][0]}
    assert client.post("/api/search", json=example).status_code == 200
