"""Every answer, of whatever kind, carries the headers that protect people; bait in a request comes out inert."""

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from lexarbor.search import Engine
from lexarbor.serve.settings import digest

EXPECTED = {
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), browsing-topics=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}
LASTING = "public, max-age=31536000, immutable"


def check(response: Any, cache: str = "no-store") -> None:
    headers = response.headers
    for name, value in (EXPECTED | {"cache-control": cache}).items():
        assert headers.get_list(name) == [value], name
    (policy,) = headers.get_list("content-security-policy")
    assert dict(part.split(maxsplit=1) for part in policy.split("; ")) == POLICY
    assert "unsafe" not in policy and "*" not in policy and "http" not in policy
    for absent in ("set-cookie", "server", "x-powered-by", "access-control-allow-origin"):
        assert absent not in headers


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/search?q=maire", 200),
        ("GET", "/api/articles/VALARTI0070", 200),
        ("GET", "/api/tree", 200),
        ("GET", "/api/health", 200),
        ("GET", "/api/openapi.json", 200),
        ("GET", "/metrics", 200),
        ("GET", "/", 200),
        ("HEAD", "/", 200),
        ("GET", "/en/", 200),
        ("GET", "/recherche?q=maire", 200),
        ("GET", "/article/VALARTI0070", 200),
        ("GET", "/loi/VALTEXT01", 200),
        ("GET", "/en", 308),
        ("GET", "/recherche", 303),
        ("POST", "/recherche", 303),
        ("GET", "/recherche/AAAA", 410),
        ("GET", "/nowhere", 404),
        ("GET", "/api/nowhere", 404),
        ("GET", "/api/articles/nowhere", 404),
        ("GET", "/static/nowhere", 404),
        ("GET", "/api/search", 422),
        ("GET", "/recherche?q=maire&k=0", 422),
        ("POST", "/api/search", 422),
        ("PUT", "/api/search", 405),
        ("OPTIONS", "/api/search", 405),
        ("HEAD", "/api/search", 405),
        ("TRACE", "/", 405),
        ("POST", "/static/style.css", 405),
    ],
)
def test_the_headers_are_on_every_answer(client: TestClient, method: str, path: str, status: int) -> None:
    response = client.request(method, path)
    assert response.status_code == status
    check(response)


def test_they_are_on_what_the_guard_refuses_and_on_what_breaks(
    serving: Callable[..., TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    shut = serving(keys=(digest("a key"),), rate=0.001, burst=4, largest_body=10)
    form = {"content-type": "application/x-www-form-urlencoded"}
    large, endless = ({"content": content, "headers": form} for content in (b"x" * 11, iter([b"x"] * 11)))
    asked: list[tuple[str, str, dict[str, Any]]] = [
        ("GET", "/api/tree", {}), ("POST", "/recherche", large), ("POST", "/recherche", endless),
        ("GET", "/", {}), ("GET", "/", {}), ("GET", "/api/tree", {}),
    ]  # fmt: skip
    found = [shut.request(method, path, **more) for method, path, more in asked]
    assert [response.status_code for response in found] == [401, 413, 413, 200, 429, 429]

    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr(Engine, "search", fail)
    broken = serving()
    found += [broken.get("/api/search?q=maire"), broken.get("/recherche?q=maire")]
    assert [response.status_code for response in found[-2:]] == [500, 500]
    for response in found:
        check(response)


def test_static_files_may_be_kept_and_their_errors_not(client: TestClient) -> None:
    whole = client.get("/static/style.css")
    check(whole, LASTING)
    same = client.get("/static/style.css", headers={"If-None-Match": whole.headers["etag"]})
    assert same.status_code == 304
    check(same, LASTING)
    part = client.get("/static/style.css", headers={"Range": "bytes=0-9"})
    assert (part.status_code, part.content) == (206, whole.content[:10])
    check(part, LASTING)
    for wrong, status in (("bytes=99999999-", 416), ("Xanthocanari", 400)):
        response = client.get("/static/style.css", headers={"Range": wrong})
        assert response.status_code == status
        check(response)
        assert "Xanthocanari" not in f"{response.text}{response.headers}"


def test_pages_hold_no_script_or_style_of_their_own_and_nothing_from_elsewhere(client: TestClient) -> None:
    for path in ("/", "/en/", "/recherche?q=maire", "/article/VALARTI0070", "/loi", "/api", "/nowhere"):
        page = client.get(path).text
        assert "<style" not in page and " style=" not in page and "javascript:" not in page
        assert page.count("<script") == page.count('<script src="/static/') + page.count('<script defer src="/static/')
        for event in ("onclick", "onload", "onerror", "onsubmit"):
            assert f" {event}=" not in page
        assert 'src="http' not in page and 'src="//' not in page


BAIT = "x\r\nSet-Cookie: stolen=1\r\nX-Injected: yes\r\n\r\n<script>alert(1)</script>"


@pytest.mark.parametrize(
    ("method", "path", "more"),
    [
        ("GET", "/api/search", {"params": {"q": BAIT}}),
        ("GET", "/api/search", {"params": {"q": "maire", "as_of": BAIT}}),
        ("GET", "/api/search", {"params": {"q": "maire", "code": BAIT}}),
        ("GET", "/api/search", {"params": {"q": "maire", BAIT: "1"}}),
        ("POST", "/api/search", {"json": {"question": BAIT}}),
        ("POST", "/api/search", {"json": {"question": "maire", BAIT: 1}}),
        ("POST", "/api/search", {"json": {"questions": [BAIT], "as_of": BAIT}}),
        ("GET", "/recherche", {"params": {"q": BAIT}}),
        ("GET", "/recherche", {"params": {"q": "maire", "as_of": BAIT}}),
        ("GET", "/recherche", {"params": {"q": "maire", "code": BAIT}}),
        ("POST", "/recherche", {"data": {"q": BAIT}}),
        ("POST", "/recherche", {"data": {"q": "maire", "code": BAIT}}),
        ("POST", "/recherche", {"data": {"q": "maire", "as_of": BAIT}}),
        ("POST", "/recherche", {"data": {BAIT: "maire"}}),
        *(
            ("GET", f"{path}x%0d%0aSet-Cookie:%20stolen=1%0d%0a%0d%0a%3Cscript%3Ealert(1)%3C/script%3E", {})
            for path in (
                *("/", "/en/", "/recherche/", "/article/", "/loi/", "/static/", "/api/", "/api/articles/"),
                *("/api/tree/", "/loi?as_of=", "/article/VALARTI0070?as_of=", "/en?"),
            )
        ),
    ],
)
def test_bait_for_headers_and_pages_comes_out_inert(
    client: TestClient, method: str, path: str, more: dict[str, Any]
) -> None:
    response = client.request(method, path, **more)
    check(response)
    for name, value in response.headers.items():
        assert "\r" not in value and "\n" not in value
        assert "stolen" not in name + value and "x-injected" not in name.lower()
    if response.headers.get("content-type", "").startswith("text/html"):
        assert "<script>" not in response.text
    if "location" in response.headers:
        assert response.headers["location"].startswith("/") and response.headers["location"][1:2] != "/"
    assert response.status_code < 500
