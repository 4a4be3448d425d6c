"""What is counted, as Prometheus reads it: requests by route, never by what was asked."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families

from lexarbor.search import Engine
from lexarbor.serve.failures import KINDS
from lexarbor.serve.laws import Laws
from lexarbor.serve.pages.links import PATHS
from serving import CANARY

ROUTES = {
    *("/api/search", "/api/articles/{id}", "/api/articles/{id}/related", "/api/tree", "/api/tree/{section}"),
    *("/api/health", "/api/version", "/api/openapi.json", "/metrics", "/en", "other"),
    *(path for both in PATHS.values() for path in both),
}
"""All that may stand as a route."""
Counted = dict[tuple[str, frozenset[tuple[str, str]]], float]


def counted(client: TestClient) -> Counted:
    response = client.get("/metrics")
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return {(name, frozenset(labels.items())): value for name, labels, value in samples(response.text)}


def samples(text: str) -> Iterator[tuple[str, dict[str, str], float]]:
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            yield sample.name, sample.labels, sample.value


def grown(before: Counted, after: Counted, name: str) -> dict[Any, float]:
    """What has become more, by its labels."""
    return {
        tuple(sorted(dict(labels).items())): value - before.get((found, labels), 0.0)
        for (found, labels), value in after.items()
        if found == name and value != before.get((found, labels), 0.0)
    }


def test_requests_are_counted_by_the_pattern_of_their_route(client: TestClient) -> None:
    before = counted(client)
    for path in (
        *("/api/articles/VALARTI0070", "/api/articles/VALARTI0029", f"/api/articles/{CANARY}"),
        *(f"/api/search?q={CANARY}", f"/{CANARY}", f"/recherche/{CANARY}", f"/static/{CANARY}", f"/api/{CANARY}"),
    ):
        client.get(path)
    client.put("/api/search")
    client.request(CANARY, "/api/search")
    after = counted(client)
    found = grown(before, after, "lexarbor_requests_total")
    told = {tuple(value for _, value in labels): value for labels, value in found.items()}  # method, route, status
    assert told == {
        ("GET", "/api/articles/{id}", "200"): 2,
        ("GET", "/api/articles/{id}", "404"): 1,
        ("GET", "/api/search", "200"): 1,
        ("GET", "/recherche/{sealed}", "410"): 1,
        ("GET", "other", "404"): 3,
        ("PUT", "/api/search", "405"): 1,
        ("other", "/api/search", "405"): 1,
        ("GET", "/metrics", "200"): 1,
    }
    seconds = grown(before, after, "lexarbor_request_seconds_count")
    assert seconds[("route", "/api/articles/{id}"),] == 3
    assert grown(before, after, "lexarbor_refusals_total") == {
        (("code", "article_not_held"),): 1,
        (("code", "expired"),): 1,
        (("code", "not_found"),): 3,
        (("code", "method_not_allowed"),): 2,
    }


def test_no_label_is_a_word_of_the_asker(serving: Callable[..., TestClient]) -> None:
    client = serving(rate=0.001, burst=100)
    for path in (
        *(f"/api/search?q={CANARY}", f"/api/search?{CANARY}=1", f"/recherche?q={CANARY}", f"/{CANARY}"),
        *(f"/loi/{CANARY}", f"/api/tree/{CANARY}", f"/api/search?q=a&code={CANARY}", f"/en/search/{CANARY}"),
        *(f"/static/{CANARY}", f"/loi?as_of={CANARY}", f"/api/articles/{CANARY}/related"),
    ):
        client.get(path, headers={"User-Agent": CANARY, "Referer": CANARY, "X-API-Key": CANARY})
        client.request(CANARY, path, content=CANARY)
    text = client.get("/metrics").text
    assert CANARY.lower() not in text.lower()
    for name, labels, _ in samples(text):
        if name.startswith("lexarbor_"):
            assert labels.get("route", "other") in ROUTES
            assert labels.get("code", "failed") in KINDS
            assert labels.get("method", "GET") in {"GET", "HEAD", "POST", "OPTIONS", "PUT", "DELETE", "PATCH", "other"}


def test_questions_in_the_engine_are_counted_and_timed(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting: list[float | None] = []
    search = Engine.search

    def watched(self: Engine, *asked: Any, **more: Any) -> Any:
        waiting.append(REGISTRY.get_sample_value("lexarbor_waiting"))
        return search(self, *asked, **more)

    monkeypatch.setattr(Engine, "search", watched)
    before = counted(client)
    client.post("/api/search", json={"questions": ["maire", "chien"]})
    after = counted(client)
    assert waiting == [1.0, 1.0]
    assert grown(before, after, "lexarbor_search_seconds_count") == {(): 2}
    assert grown(before, after, "lexarbor_waiting") == {}
    assert after["lexarbor_waiting", frozenset()] == 0


def test_the_day_of_the_law_is_told(serving: Callable[..., TestClient], tiny: Path) -> None:
    found = counted(serving(Laws(tiny)))
    assert found["lexarbor_articles", frozenset()] == 61
    assert abs(found["lexarbor_law_timestamp_seconds", frozenset()] - 1767225600) < 86400  # 2026-01-01
