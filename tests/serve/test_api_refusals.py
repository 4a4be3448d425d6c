"""What is refused is told in one shape, and never repeats a word of what was asked."""

import asyncio
import json
import logging
from typing import Any

import pytest
from fastapi.testclient import TestClient

from lexarbor.search import Engine
from lexarbor.serve import app as application
from lexarbor.serve.app import build_app
from lexarbor.serve.failures import BY_STATUS, KINDS, Refusal
from lexarbor.serve.laws import Laws
from lexarbor.serve.settings import ServeSettings
from serving import CANARY, JSON, QUESTION, refused, refused_page


def test_each_kind_of_refusal_has_a_status_and_says_what_to_do() -> None:
    for code, kind in KINDS.items():
        values = {"most": 1, "first": "a", "last": "b", "held": "c", "seconds": 2, "only": "d"}
        refusal = Refusal(code, **values)
        assert refusal.status == kind.status >= 400
        assert "{" not in refusal.message
        assert refusal.as_dict() == {"error": {"code": code, "message": refusal.message}}
        assert ("Retry-After" in refusal.headers) == (refusal.status == 503)
    assert all(KINDS[code].status == status for status, code in BY_STATUS.items())


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/api/", "not_found"),
        (f"/api/{CANARY}", "not_found"),
        (f"/api/search/{CANARY}", "not_found"),
        (f"/api/articles/{CANARY}", "article_not_held"),
        (f"/api/articles/{CANARY}/related", "article_not_held"),
        (f"/api/tree/{CANARY}", "section_not_held"),
        (f"/api/articles/{CANARY * 20}", "invalid"),
        (f"/api/tree/{CANARY * 20}", "invalid"),
        ("/api/search", "invalid"),
        ("/api/search?q=", "question_empty"),
        ("/api/search?q=%20%0a%20", "question_empty"),
        (f"/api/search?q={CANARY * 200}", "question_long"),
        (f"/api/search?q={CANARY}&k=0", "k"),
        (f"/api/search?q={CANARY}&k=-1", "k"),
        (f"/api/search?q={CANARY}&k=101", "k"),
        (f"/api/search?q={CANARY}&k={10**30}", "k"),
        (f"/api/search?q={CANARY}&k=10.5", "invalid"),
        (f"/api/search?q={CANARY}&k={CANARY}", "invalid"),
        (f"/api/search?q={CANARY}&explain={CANARY}", "invalid"),
        (f"/api/search?q={CANARY}&as_of={CANARY}", "invalid"),
        (f"/api/search?q={CANARY}&as_of=2021-02-30", "invalid"),
        (f"/api/search?q={CANARY}&as_of=2021-01-01", "one_day"),
        (f"/api/search?q={CANARY}&code={CANARY}", "code"),
        (f"/api/search?q={CANARY}&under={CANARY}", "heading"),
        (f"/api/search?q={CANARY}&under=>", "heading"),
        (f"/api/search?q={CANARY}&q={CANARY}&{CANARY}=1", "invalid"),
        (f"/api/search?{CANARY}", "invalid"),
        (f"/api/search?q=a&{CANARY}={CANARY}", "invalid"),
        (f"/api/search?q={CANARY}&codes=VALTEXT01", "invalid"),
        (f"/api/search?q={CANARY}&{'&'.join(['code=VALTEXT01'] * 21)}", "invalid"),
        (f"/api/search?q={CANARY}&{'&'.join(['under=VALTEXT01'] * 21)}", "invalid"),
        (f"/api/tree?as_of={CANARY}", "invalid"),
        (f"/api/tree?{CANARY}=1", "invalid"),
        (f"/api/tree/VALTEXT01?asof={CANARY}", "invalid"),
        (f"/api/articles/VALARTI0070?asof={CANARY}", "invalid"),
        (f"/api/articles/VALARTI0070/related?asof={CANARY}", "invalid"),
    ],
)
def test_what_cannot_be_asked_is_refused_without_its_words(client: TestClient, path: str, code: str) -> None:
    response = client.get(path)
    refused(response, code)
    assert CANARY not in f"{response.text}{response.headers}"


@pytest.mark.parametrize(
    "body",
    [
        f'{{"{CANARY}',
        f'"{CANARY}"',
        f'["{CANARY}"]',
        CANARY,
        "",
        "null",
        f'{{"question": "{CANARY}", "{CANARY}": 1}}',
        f'{{"question": {{"{CANARY}": "{CANARY}"}}}}',
        f'{{"question": ["{CANARY}"]}}',
        f'{{"question": "{CANARY}", "questions": ["{CANARY}"]}}',
        f'{{"questions": "{CANARY}"}}',
        f'{{"questions": [{{"{CANARY}": 1}}]}}',
        '{"questions": []}',
        json.dumps({"questions": [CANARY] * 33}),
        f'{{"question": "{CANARY}", "k": "{CANARY}"}}',
        f'{{"question": "{CANARY}", "k": 1e400}}',
        f'{{"question": "{CANARY}", "k": NaN}}',
        f'{{"question": "{CANARY}", "codes": "{CANARY}"}}',
        f'{{"question": "{CANARY}", "codes": [1]}}',
        f'{{"question": "{CANARY}", "under": {{"{CANARY}": 1}}}}',
        f'{{"question": "{CANARY}", "as_of": "{CANARY}"}}',
        f'{{"question": "{CANARY}", "explain": "{CANARY}"}}',
        f'{{"q": "{CANARY}"}}',
    ],
)
def test_a_body_that_is_wrong_is_told_by_its_place_alone(client: TestClient, body: str) -> None:
    for headers in (JSON, {"content-type": "application/vnd.api+json"}):
        response = client.post("/api/search", content=body, headers=headers)
        error = refused(response, "invalid")
        assert CANARY not in f"{response.text}{response.headers}"
        assert error["fields"]
        assert all(field["problem"] for field in error["fields"])


def test_the_place_of_what_is_wrong_is_told(client: TestClient) -> None:
    def fields(response: Any) -> list[tuple[list[str | int], str]]:
        return [(field["where"], field["problem"]) for field in refused(response, "invalid")["fields"]]

    assert fields(client.get("/api/search")) == [(["query", "q"], "Field required")]
    assert fields(client.get(f"/api/search?q=a&{CANARY}=1")) == [(["query", "?"], "Extra inputs are not permitted")]
    assert fields(client.post("/api/search", content='{"question":', headers=JSON)) == [
        (["body", 12], "JSON decode error")
    ]
    many = client.post("/api/search", json={"questions": [CANARY] * 33})
    assert fields(many) == [(["body", "questions"], "List should have at most 32 items after validation, not 33")]
    wrong = client.post("/api/search", json={"questions": ["a", 1]})
    assert (["body", "questions", 1], "Input should be a valid string") in fields(wrong)
    long = fields(client.get(f"/api/articles/{CANARY * 20}"))
    assert long == [(["path", "id"], "String should have at most 200 characters")]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'"\xff' + CANARY.encode(), "bad_request"),
        (b"[" * 100_000, "bad_request"),
        (b'{"question": "a", "k": ' + b"9" * 5000 + b"}", "bad_request"),
        (b'{"question": "\\ud800"}', "question_unreadable"),
        (b'{"questions": ["a", " "]}', "question_empty"),
        (b'{"questions": ["a", "' + b"a" * 2001 + b'"]}', "question_long"),
        (b'{"questions": ["a"], "k": 0}', "k"),
        (b'{"questions": ["a"], "codes": ["Code civil"]}', "code"),
        (b'{"questions": ["a"], "under": ["xylophone"]}', "heading"),
    ],
)
def test_what_is_no_question_is_refused(client: TestClient, body: bytes, code: str) -> None:
    response = client.post("/api/search", content=body, headers=JSON)
    refused(response, code)
    assert CANARY not in response.text


def test_long_names_of_codes_and_headings_do_not_keep_the_server_busy(client: TestClient) -> None:
    for name in ("codes", "under"):
        for words in (f"a{' ' * 50_000}a", "> " * 100_000, f"{CANARY} " * 15_000):
            response = client.post("/api/search", json={"question": QUESTION, name: [words]})
            refused(response, "invalid")
            assert CANARY not in response.text


@pytest.mark.parametrize(("method", "path"), [("PUT", "/api/search"), ("DELETE", "/api/tree"), ("POST", "/api/health")])
def test_a_wrong_method_is_told(client: TestClient, method: str, path: str) -> None:
    response = client.request(method, path, content=QUESTION)
    refused(response, "method_not_allowed")
    assert (
        response.headers["allow"] == {"/api/search": "GET, POST", "/api/tree": "GET", "/api/health": "GET, HEAD"}[path]
    )
    refused(client.request(CANARY, path), "method_not_allowed")


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", f"/{CANARY}", "not_found"),
        ("GET", f"/en/{CANARY}", "not_found"),
        ("GET", f"/article/{CANARY}", "article_not_held"),
        ("GET", f"/en/article/{CANARY}", "article_not_held"),
        ("GET", f"/loi/{CANARY}", "section_not_held"),
        ("GET", f"/loi?as_of={CANARY}", "day"),
        ("GET", f"/loi/VALTEXT01?as_of={CANARY}", "day"),
        ("GET", f"/article/VALARTI0070?as_of={CANARY}", "day"),
        ("GET", f"/recherche/{CANARY}", "expired"),
        ("GET", f"/recherche?q={CANARY}&k={CANARY}", "k"),
        ("GET", f"/recherche?q={CANARY}&as_of={CANARY}", "day"),
        ("GET", f"/recherche?q={CANARY}&as_of=2021-01-01", "one_day"),
        ("GET", f"/recherche?q={CANARY}&code={CANARY}", "code"),
        ("GET", f"/recherche?q={CANARY * 200}", "question_long"),
        ("PUT", f"/recherche?q={CANARY}", "method_not_allowed"),
        ("GET", f"/static/{CANARY}", "not_found"),
        ("GET", f"/static/%00{CANARY}", "not_found"),
        ("GET", "/static/..%2fapp.py", "not_found"),
        ("POST", "/static/style.css", "method_not_allowed"),
    ],
)
def test_people_are_told_on_a_page(client: TestClient, method: str, path: str, code: str) -> None:
    response = client.request(method, path)
    page = refused_page(response, code)
    assert CANARY not in f"{page}{response.headers}"
    assert ('lang="en"' in page[:200]) == path.startswith("/en/")


@pytest.mark.parametrize("day", ["1704067200", "20240101", "2024-W01-1", "2024-1-1", "2024-01-01T00:00:00"])
def test_a_day_is_written_in_one_way(client: TestClient, day: str) -> None:
    refused(client.get(f"/api/search?q=a&as_of={day}"), "invalid")
    refused_page(client.get(f"/recherche?q=a&as_of={day}"), "day")


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that fails and says what it was asked."""

    def search(self: Engine, question: str, *others: Any, **more: Any) -> None:
        raise RuntimeError(question)

    monkeypatch.setattr(Engine, "search", search)


@pytest.mark.usefixtures("broken")
def test_what_breaks_is_told_and_logged_without_the_question(
    client: TestClient, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    sealed = client.post("/recherche", data={"q": QUESTION})
    answers = [
        client.get("/api/search", params={"q": QUESTION}),
        client.post("/api/search", json={"question": QUESTION}),
        client.post("/api/search", json={"questions": [QUESTION]}),
    ]
    pages = [client.get("/recherche", params={"q": QUESTION}), client.get(sealed.headers["location"])]
    for response in answers:
        error = refused(response, "failed")
        assert error["message"] == "Lexarbor failed; the server's log tells where, and not what was asked"
    for response in pages:
        assert CANARY not in refused_page(response, "failed")
    for response in answers + pages:
        assert CANARY not in f"{response.text}{response.headers}"
    ours = [record for record in caplog.records if record.name.startswith("lexarbor")]
    assert len(ours) == len(answers) + len(pages)
    for record in ours:
        assert record.getMessage().startswith(f"RuntimeError at {__file__}, line ")
        assert record.exc_info is None
    assert CANARY not in "".join(record.getMessage() for record in caplog.records if record.name != "httpx2")
    assert CANARY not in "".join(capfd.readouterr())


def test_where_even_the_page_of_a_failure_breaks_something_is_answered(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any) -> None:
        raise KeyError(QUESTION)

    monkeypatch.setattr(application.pages, "refused", fail)
    response = client.get(f"/{CANARY}")
    assert response.status_code == 500
    assert "content-security-policy" in response.headers
    assert CANARY not in f"{response.text}{response.headers}"
    assert f"KeyError at {__file__}, line " in caplog.text
    assert CANARY not in "".join(record.getMessage() for record in caplog.records if record.name != "httpx2")


def test_what_is_no_request_is_not_answered(laws: Laws, tiny: Any) -> None:
    async def unused(*_: Any) -> None:
        raise AssertionError("nothing is said")

    app = build_app(laws, ServeSettings(index=tiny))
    asyncio.run(app({"type": "websocket", "path": "/"}, unused, unused))  # type: ignore[arg-type]
