"""In a real browser: what goes wrong is told kindly, with a way on."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from browser import Visiting, Visitor

pytestmark = pytest.mark.real
pytest_plugins = ["browser"]

REFUSED = [
    ("/article/RIEN", 404, "error.article_not_held"),
    ("/article/%3Cscript%3Ealert(1)%3C%5Cscript%3E", 404, "error.article_not_held"),
    ("/loi/RIEN", 404, "error.section_not_held"),
    ("/recherche?q=chien&code=Code+civil", 422, "error.code"),
    ("/recherche?q=chien&k=1000", 422, "error.k"),
    ("/loi?as_of=2020-13-45", 422, "error.day"),
    ("/recherche?q=chien&as_of=hier", 422, "error.day"),
    ("/recherche?q=" + 2001 * "a", 422, "error.question_long"),
]


def goes_on(visitor: "Visitor") -> None:
    """From a page that tells an error one can ask, and go home."""
    error = visitor.page.url
    visitor.click(f".ways >> text={visitor.t('error.home')}")
    assert visitor.path == "/"
    visitor.page.goto(error)
    visitor.ask("Combien coûte une place au marché ?")
    assert visitor.page.locator(".hits > li").count() == 10


def test_nothing_at_an_address(visitor: "Visitor") -> None:
    visitor.open("/rien", 404)
    assert visitor.texts("h1") == [visitor.t("error.404.title")]
    assert visitor.texts(".status") == [visitor.t("error.status", status=404)]
    goes_on(visitor)


def test_what_cannot_be_had(visitor: "Visitor") -> None:
    for path, status, message in REFUSED:
        page = visitor.open(path, status)
        assert visitor.texts(".lead") == [visitor.t(message, most=2_000 if "long" in message else 100)]
        assert visitor.texts(".status") == [visitor.t("error.status", status=status)]
        assert page.locator("main script").count() == 0
        assert page.locator("#q").is_visible()


def test_a_day_that_is_not_held(visitor: "Visitor") -> None:
    visitor.open("/article/VALARTI0031?as_of=2020-01-01", 404)
    assert visitor.texts(".lead") == [visitor.t("error.one_day", only="1er janvier 2026")]
    goes_on(visitor)


def test_a_version_that_is_no_longer_in_force_leads_to_the_one_that_is(visitor: "Visitor") -> None:
    visitor.open("/article/VALARTI0010", 404)
    visitor.click("a.go")
    assert visitor.path == "/article/VALARTI0070"


def test_a_search_of_another_run_has_expired(visiting: "Visiting", dated: str) -> None:
    """Each start of a server has its own key."""
    before = visiting(dated)
    before.open("/")
    before.ask("chien")
    visitor = visiting()
    visitor.open(before.path, 410)
    assert visitor.texts("h1") == [visitor.t("error.410.title")]
    assert visitor.texts(".lead") == [visitor.t("error.410.message")]
    goes_on(visitor)
