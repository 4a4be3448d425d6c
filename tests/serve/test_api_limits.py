"""How much may be asked, how long it may take and how often: what is beyond is refused."""

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient
from prometheus_client import REGISTRY

from lexarbor.search import Engine
from serving import CANARY, JSON, Serving, refused, refused_page


@pytest.mark.parametrize("path", ["/api/search", "/recherche"])
def test_a_body_that_is_too_large_is_refused(serving: Serving, path: str) -> None:
    client = serving(largest_body=1000)
    form = {"content-type": "application/x-www-form-urlencoded"} if path == "/recherche" else JSON
    told = client.post(path, content=b"x" * 1001, headers=form)
    pieces = (CANARY.encode() for _ in range(100))
    chunked = client.post(path, content=pieces, headers=form)
    for response in (told, chunked):
        if path == "/recherche":
            refused_page(response, "too_large")
        else:
            error = refused(response, "too_large")
            assert error["message"] == "the request is larger than 1000 bytes: send less"
        assert CANARY not in response.text
        assert response.headers["connection"] == "close"  # what is left of it is not waited for


def test_a_body_within_the_limit_is_read(serving: Serving) -> None:
    body = json.dumps({"question": "le maire", "k": 1}).encode()
    client = serving(largest_body=len(body))
    assert client.post("/api/search", content=body, headers=JSON).status_code == 200
    assert client.post("/api/search", content=iter([body[:9], body[9:]]), headers=JSON).status_code == 200
    refused(client.post("/api/search", content=body + b" ", headers=JSON), "too_large")


async def stopping() -> AsyncIterator[bytes]:
    yield b'{"question": "'
    await asyncio.sleep(5)
    yield CANARY.encode()


async def dripping() -> AsyncIterator[bytes]:
    for _ in range(500):
        yield b" "
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("path", ["/api/search", "/recherche"])
@pytest.mark.parametrize("slowly", [stopping, dripping])
def test_a_body_that_comes_too_slowly_is_refused(
    serving: Serving, path: str, slowly: Callable[[], AsyncIterator[bytes]]
) -> None:
    began = time.monotonic()
    form = {"content-type": "application/x-www-form-urlencoded"} if path == "/recherche" else JSON
    (response,) = at_once(serving(body_seconds=0.05), ("POST", path, {"content": slowly(), "headers": form}))
    assert time.monotonic() - began < 4.5
    if path == "/recherche":
        refused_page(response, "too_slow")
    else:
        refused(response, "too_slow")
    assert response.headers["connection"] == "close"


def at_once(
    client: TestClient, *requests: tuple[str, str, dict[str, Any]], until: int = 0, free: threading.Event | None = None
) -> list[httpx.Response]:
    """The answers to requests that are sent together. `free` is set when there are as many answers as `until`."""

    async def sent() -> list[httpx.Response]:
        transport = httpx.ASGITransport(client.app)  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as asking:
            answers = [asyncio.create_task(asking.request(method, path, **more)) for method, path, more in requests]
            while sum(answer.done() for answer in answers) < until:
                await asyncio.sleep(0.005)
            if free is not None:
                free.set()
            return await asyncio.gather(*answers)

    return asyncio.run(sent())


@pytest.fixture
def stuck(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """An engine that does not answer until it is told to, on questions alone."""
    free, search = threading.Event(), Engine.search

    def slow(self: Engine, question: str, *others: Any, **more: Any) -> Any:
        free.wait(10)
        return search(self, question, *others, **more)

    monkeypatch.setattr(Engine, "search", slow)
    return free


def test_an_answer_that_takes_too_long_is_given_up(serving: Serving, stuck: threading.Event) -> None:
    page, answer, batch = at_once(
        serving(search_seconds=0.05),
        ("GET", f"/recherche?q={CANARY}", {}),
        ("GET", f"/api/search?q={CANARY}", {}),
        ("POST", "/api/search", {"json": {"questions": [CANARY]}}),
        until=3,
        free=stuck,
    )
    for response in (answer, batch):
        refused(response, "timeout")
    for response in (answer, batch, page):
        assert response.headers["retry-after"] == "2"
    assert CANARY not in refused_page(page, "timeout")
    assert REGISTRY.get_sample_value("lexarbor_waiting") == 0


def test_too_many_who_wait_are_asked_to_come_back(serving: Serving, stuck: threading.Event) -> None:
    client = serving(waiting=3, threads=2)
    responses = at_once(client, *[("GET", f"/api/search?q={CANARY}&k=1", {})] * 5, until=2, free=stuck)
    assert sorted(response.status_code for response in responses) == [200, 200, 200, 503, 503]
    for response in responses:
        if response.status_code == 503:
            refused(response, "busy")
            assert response.headers["retry-after"] == "2"
            assert CANARY not in response.text
    assert client.get("/api/search?q=maire").status_code == 200


def test_who_waits_keeps_nobody_from_what_needs_no_engine(serving: Serving, stuck: threading.Event) -> None:
    asked = [
        ("GET", f"/api/search?q={CANARY}", {}),
        ("GET", "/api/health", {}),
        ("GET", "/", {}),
        ("GET", "/api/x", {}),
    ]
    answers = at_once(serving(threads=1, waiting=1), *asked, until=3, free=stuck)
    assert [answer.status_code for answer in answers] == [200, 200, 200, 404]


def test_too_many_requests_are_told_when_to_come_back(serving: Serving) -> None:
    client = serving(rate=0.5, burst=3)
    assert [client.get("/api/tree").status_code for _ in range(4)] == [200, 200, 200, 429]
    response = client.get(f"/api/search?q={CANARY}")
    error = refused(response, "too_many")
    assert response.headers["retry-after"] == "2"
    assert error["message"] == "too many requests in a short time: wait 2 s"
    page = client.get(f"/recherche?q={CANARY}")
    assert CANARY not in refused_page(page, "too_many")
    assert page.headers["retry-after"] == "2"
    for free in ("/api/health", "/static/style.css"):
        assert client.get(free).status_code == 200
    for paid in ("/metrics", "/api/healthy", "/static"):  # keys must not be guessed for nothing
        assert client.get(paid).status_code == 429


def test_an_address_with_many_parameters_is_refused(client: TestClient) -> None:
    many = "&".join(f"{CANARY}{at}" for at in range(200))
    response = client.get(f"/api/search?q=a&{many}")
    refused(response, "bad_request")
    assert CANARY not in response.text


def test_of_many_wrong_fields_few_are_told(client: TestClient) -> None:
    body = {"question": "a"} | {f"{CANARY}{at}": 1 for at in range(30)}
    assert len(refused(client.post("/api/search", json=body), "invalid")["fields"]) == 20
    body |= {f"{CANARY}{at}": 1 for at in range(9000)}
    assert len(refused(client.post("/api/search", json=body), "invalid")["fields"]) == 1


def test_a_batch_costs_as_much_as_its_questions(serving: Serving) -> None:
    client = serving(rate=0.001, burst=5)
    assert client.post("/api/search", json={"questions": ["le maire"] * 3, "k": 1}).status_code == 200
    response = client.post("/api/search", json={"questions": ["le maire"] * 3, "k": 1})
    assert refused(response, "too_many")["message"] == "too many requests in a short time: wait 2000 s"
    assert client.post("/api/search", json={"questions": ["le maire"], "k": 1}).status_code == 200
    refused(client.get("/api/tree"), "too_many")


def test_a_batch_larger_than_the_bucket_takes_all_of_it(serving: Serving) -> None:
    client = serving(rate=0.001, burst=5)
    assert client.post("/api/search", json={"questions": ["le maire"] * 9, "k": 1}).status_code == 200
    refused(client.get("/api/tree"), "too_many")
