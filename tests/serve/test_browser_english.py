"""In a real browser: every page in English, the same page in French and back."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from browser import Visiting, Visitor

pytestmark = pytest.mark.real
pytest_plugins = ["browser"]

PAGES = {
    "/": "/en/", "/loi": "/en/law", "/loi/VALTEXT01": "/en/law/VALTEXT01",
    "/article/VALARTI0031": "/en/article/VALARTI0031", "/donnees": "/en/data", "/confidentialite": "/en/privacy",
    "/aide": "/en/help", "/api": "/en/api",
}  # fmt: skip


def test_each_page_leads_to_itself_in_the_other_language(visitor: "Visitor") -> None:
    page = visitor.page
    for paths in PAGES.items():
        for lang, path, other in zip(("fr", "en"), paths, reversed(paths), strict=True):
            visitor.open(path)
            assert page.locator("html").get_attribute("lang") == lang
            for link in (".switch", ".bottom [hreflang]"):
                assert page.locator(link).get_attribute("href") == other
    visitor.click(".switch")
    assert visitor.path == "/api"
    assert visitor.texts(".switch") == ["English"]


def test_the_question_its_filter_and_its_results_are_kept(visitor: "Visitor") -> None:
    page = visitor.open("/")
    page.locator(".filters > summary").click()
    page.locator("[name=code]").first.check()
    visitor.ask("Combien coûte une place au marché ?")
    visitor.click(".more button")
    hits = visitor.texts(".hits > li .passage")
    assert len(hits) == 20
    visitor.click(".switch")
    assert visitor.path.startswith("/en/search/")
    assert page.locator("#q").input_value() == "Combien coûte une place au marché ?"
    assert page.locator("[name=code]").first.is_checked()
    assert visitor.texts(".hits > li .passage") == hits
    visitor.click(".switch")
    assert visitor.path.startswith("/recherche/")
    assert visitor.texts(".hits > li .passage") == hits


def test_the_page_speaks_english_and_the_law_french(visiting: "Visiting") -> None:
    visitor = visiting(lang="en")
    page = visitor.open("/en/")
    assert visitor.texts("h1") == [visitor.t("home.heading")]
    visitor.ask("Combien coûte une place au marché ?")
    assert visitor.path.startswith("/en/search/")
    assert visitor.texts("#found-title") == [visitor.t("results.heading.many", count=10)]
    for selector in (".passage", ".hits .crumbs", ".hits .badge.code", ".tree .lit [lang]"):
        assert page.locator(selector).first.evaluate("one => one.closest('[lang]').lang") == "fr", selector
    for selector in ("#found-title", ".hits .badge:not(.code)", ".why", ".tree h2"):
        assert page.locator(selector).first.evaluate("one => one.closest('[lang]').lang") == "en", selector
    visitor.click(".hits h3 a >> nth=0")
    assert visitor.path.startswith("/en/article/")
    assert page.locator(".law-text").get_attribute("lang") == "fr"
    visitor.click("nav .crumbs a >> nth=-1")
    assert visitor.path.startswith("/en/law/")
    visitor.open("/en/nothing", 404)
    assert visitor.texts("h1") == [visitor.t("error.404.title")]
    assert page.locator("html").get_attribute("lang") == "en"
