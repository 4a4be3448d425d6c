"""An API that needs a key is shut to those who have none; what people and monitors need stays open."""

from collections.abc import Callable

import pytest
from fastapi.testclient import TestClient

from lexarbor.serve.settings import digest
from serving import refused

KEY, OTHER = "3f2a9c1b7d5e4f60", "clé-très-secrète-0123456789"
SHUT = (
    *("/api/search?q=maire", "/api/articles/VALARTI0070", "/api/articles/VALARTI0070/related"),
    *("/api/tree", "/api/tree/VALTEXT01", "/metrics"),
)
OPEN = (
    *("/api/health", "/api/version", "/api/openapi.json", "/", "/en/", "/recherche?q=maire", "/loi", "/loi/VALTEXT01"),
    *("/article/VALARTI0070", "/donnees", "/confidentialite", "/aide", "/api", "/static/style.css"),
)


@pytest.fixture
def shut(serving: Callable[..., TestClient]) -> TestClient:
    return serving(keys=(digest(KEY), digest(OTHER)))


def test_without_keys_all_is_open(client: TestClient) -> None:
    for path in SHUT + OPEN:
        assert client.get(path).status_code == 200, path
        assert client.get(path, headers={"X-API-Key": "any"}).status_code == 200


def test_with_keys_the_api_is_shut_and_the_pages_are_open(shut: TestClient) -> None:
    for path in SHUT:
        response = shut.get(path)
        refused(response, "key_needed")
        assert response.headers["www-authenticate"] == "Bearer"
    refused(shut.post("/api/search", json={"question": "maire"}), "key_needed")
    refused(shut.get("/api/nowhere"), "key_needed")
    refused(shut.delete("/api/tree"), "key_needed")
    for path in OPEN:
        assert shut.get(path).status_code == 200, path


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": f"Bearer {KEY}"},
        {"Authorization": f"bearer   {KEY} "},
        {"X-API-Key": KEY},
        {"x-api-key": f" {KEY} "},
        {"Authorization": b"Bearer " + OTHER.encode()},
        {"X-API-Key": OTHER.encode()},
        {"Authorization": "Basic dXNlcjpwYXNz", "X-API-Key": KEY},  # the one is for a proxy
    ],
)
def test_each_key_opens_it_in_either_way(shut: TestClient, headers: dict[str, str | bytes]) -> None:
    for path in SHUT:
        assert shut.get(path, headers=headers).status_code == 200, path
    assert shut.post("/api/search", json={"question": "maire"}, headers=headers).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer "},
        {"Authorization": KEY},
        {"Authorization": f"Basic {KEY}"},
        {"Authorization": f"Bearer {KEY}x"},
        {"Authorization": f"Bearer {KEY[:-1]}"},
        {"Authorization": f"Bearer {KEY.upper()}"},
        {"Authorization": f"Bearer {digest(KEY)}"},
        {"Authorization": f"Bearer {KEY}, Bearer {OTHER}".encode()},
        {"Authorization": b"Bearer \xff\xfe"},
        {"X-API-Key": ""},
        {"X-API-Key": digest(KEY)},
        {"Cookie": f"X-API-Key={KEY}"},
    ],
)
def test_what_is_no_key_opens_nothing(shut: TestClient, headers: dict[str, str | bytes]) -> None:
    response = shut.get("/api/tree", headers=headers)
    refused(response, "key_needed")
    assert KEY not in response.text


def test_a_key_in_the_address_opens_nothing(shut: TestClient) -> None:
    for name in ("key", "api_key", "X-API-Key", "Authorization"):
        refused(shut.get("/api/tree", params={name: KEY}), "key_needed")


def test_who_guesses_keys_is_held_back(serving: Callable[..., TestClient]) -> None:
    client = serving(keys=(digest(KEY),), rate=0.001, burst=3)
    guessed = [client.get("/api/tree", headers={"X-API-Key": str(guess)}).status_code for guess in range(5)]
    assert guessed == [401, 401, 401, 429, 429]


@pytest.mark.parametrize(
    "path", ["/api/healthy/../tree", "//api/tree", "/api//tree", "/API/tree", "/api/tree/", "/api%2ftree"]
)
def test_no_other_spelling_of_an_address_leads_around_the_key(shut: TestClient, path: str) -> None:
    response = shut.get(f"http://testserver{path}")
    assert response.status_code in (401, 404)
    assert "VALTEXT01" not in response.text or response.headers["content-type"].startswith("text/html")
