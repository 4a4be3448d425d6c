"""In a real browser: the tree of law beside the results, articles and sections, and the way back."""

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from browser import Visitor

pytestmark = pytest.mark.real
pytest_plugins = ["browser"]

QUESTION = "Ma facture d'eau a explosé à cause d'un tuyau percé, dois-je tout payer ?"
RESULTS = "/recherche?q=facture+d%27eau"
TOWN, FAIRS = "Code communal de Valombre", "Code des fêtes, marchés et jardins de Valombre"
FINES = "/article/VALARTI0031"
"""Cites three articles and is cited by one."""


def test_the_places_of_hits_are_lit(visitor: "Visitor") -> None:
    page = visitor.open(RESULTS)
    tree = page.locator(".tree")
    ranks = tree.locator("a.rank").all_inner_texts()
    assert sorted(map(int, ranks)) == list(range(1, 11))
    place = page.locator("#hit-1 .crumbs li").last.inner_text()
    lit = tree.locator(".lit").filter(has=page.locator("[href='#hit-1']"))
    assert lit.locator("[lang=fr]").inner_text() == place
    assert lit.evaluate("one => getComputedStyle(one).backgroundColor") != "rgba(0, 0, 0, 0)"
    assert tree.locator("details:not([open])").count() == 0
    assert not page.locator(".fold").is_visible()
    pills = [int(pill) for pill in tree.locator(".pill > [aria-hidden]").all_inner_texts()]
    assert max(pills) <= 10


def test_a_rank_leads_to_its_hit(visitor: "Visitor") -> None:
    page = visitor.open(RESULTS)
    address = page.url
    page.locator(".tree [href='#hit-9']").click()
    page.wait_for_url("**#hit-9")
    assert page.url == f"{address}#hit-9"
    assert page.evaluate("document.activeElement.id") == "hit-9"
    page.wait_for_function("Math.abs(document.querySelector('#hit-9').getBoundingClientRect().top) < 600")
    assert page.locator("#hit-9").evaluate("hit => getComputedStyle(hit).boxShadow") != "none"
    assert page.locator(".tree").bounding_box()["y"] >= 0, "the tree stays in sight"


def test_branches_fold_by_keyboard(visitor: "Visitor") -> None:
    page = visitor.open(RESULTS)
    branch = page.locator(".tree details").first
    branch.locator("> summary").focus()
    page.keyboard.press("Enter")
    assert branch.get_attribute("open") is None
    assert not page.locator(".tree .lit").first.is_visible()
    page.keyboard.press("Space")
    assert branch.get_attribute("open") is not None
    assert page.locator(".tree .lit").first.is_visible()


def test_the_tree_leads_to_sections(visitor: "Visitor") -> None:
    page = visitor.open(RESULTS)
    leaf = page.locator(".tree .leaf > a").first
    title = leaf.inner_text()
    visitor.click(leaf)
    assert page.locator("h1").inner_text() == title
    page.go_back()
    visitor.click(page.locator(".tree .others a").first)
    assert page.locator(".rows li").count() >= 2


def test_back_from_an_article_the_results_are_there_again(visitor: "Visitor") -> None:
    page = visitor.open("/")
    visitor.ask(QUESTION)
    results, hits = page.url, visitor.texts(".hits h3")
    visitor.click(page.locator(".hits h3 a").nth(2))
    assert page.locator("h1").inner_text() == hits[2]
    assert urlsplit(page.url).path.startswith("/article/")
    page.go_back()
    assert page.url == results
    assert visitor.texts(".hits h3") == hits
    assert page.locator("#q").input_value() == QUESTION
    answer = page.reload()
    assert answer
    assert answer.request.method == "GET", "nothing is sent a second time"
    assert visitor.texts(".hits h3") == hits
    page.go_forward()
    assert page.locator("h1").inner_text() == hits[2]


def test_an_article_stands_among_others(visitor: "Visitor") -> None:
    page = visitor.open(FINES)
    assert visitor.texts("h1") == ["Article L231-3"]
    assert page.title() == f"Article L231-3 · {TOWN} · Lexarbor"
    assert visitor.texts(".badge") == [TOWN, visitor.t("badge.since", day="1er avril 2018")]
    assert page.locator(".law-text p").count() == 2
    visitor.click("[rel=next]")
    assert visitor.texts("h1") == ["Article L231-4"]
    visitor.click("[rel=prev]")
    visitor.click("[rel=prev]")
    assert visitor.texts("h1") == ["Article L231-2"]


def test_citations_are_drawn_and_listed(visitor: "Visitor") -> None:
    page = visitor.open(FINES)
    graph = page.locator("svg.graph")
    assert graph.locator("a .graph-text").all_text_contents() == ["L112-2", "L112-1", "L113-1", "L122-2"]
    assert visitor.texts("#cites-list + .articles a") == ["L112-1", "L113-1", "L122-2"]
    assert visitor.texts("#cited-list + .articles a") == ["L112-2"]
    boxes = [graph.locator(f"a:has-text('{number}')").bounding_box() for number in ("L112-2", "L112-1")]
    middle = graph.locator(".graph-centre").bounding_box()
    assert boxes[0] and boxes[1] and middle
    assert boxes[0]["x"] + boxes[0]["width"] < middle["x"] < middle["x"] + middle["width"] < boxes[1]["x"]
    visitor.click(graph.locator("a:has-text('L113-1')"))
    assert visitor.texts("h1") == ["Article L113-1"]
    visitor.click("#cited-list + .articles a")
    assert visitor.texts("h1") == ["Article L231-3"]


def test_an_article_tells_its_versions_its_note_its_table_and_its_places(visitor: "Visitor") -> None:
    page = visitor.open("/article/VALARTI0070")
    assert visitor.texts(".versions li > span") == [
        visitor.t("version.since", since="1er juillet 2022"),
        visitor.t("version.between", since="1er janvier 2015", until="1er juillet 2022"),
    ]
    assert visitor.texts(".versions .shown strong") == [visitor.t("version.shown")]
    visitor.open("/article/VALARTI0025")
    assert visitor.texts(".note h2") == [visitor.t("article.note")]
    visitor.open("/article/VALARTI0035")
    assert page.locator(".law-text table tr").count() > 1
    visitor.open("/article/VALARTI0040")
    visitor.click("[aria-labelledby=places-title] .crumbs a >> nth=-1")
    assert visitor.path.startswith("/loi/")
    visitor.open("/article/VALARTI0045")
    assert visitor.texts(".badge.until") == [visitor.t("badge.until", day="1er janvier 2027")]


def test_from_the_codes_down_to_an_article_and_up_again(visitor: "Visitor") -> None:
    page = visitor.open("/")
    visitor.click(".menu a[href='/loi']")
    assert visitor.texts("h1") == [visitor.t("tree.title")]
    assert visitor.texts(".menu [aria-current=page]") == [visitor.t("nav.tree")]
    assert visitor.texts(".rows a") == [TOWN, FAIRS]
    way = [TOWN, "Partie législative", "Titre Ier : Tranquillité et salubrité"]
    for title in way:
        visitor.click(page.locator(".rows").get_by_text(title, exact=True))
        assert visitor.texts("h1") == [title]
    assert visitor.texts("nav .crumbs li") == [visitor.t("tree.title"), *way[:-1]]
    visitor.click(page.locator(".rows a").first)
    visitor.click(page.locator(".rows a").first)
    assert len(visitor.texts(".openings p")) >= 2
    visitor.click(page.get_by_text("Article L111-2", exact=True))
    assert visitor.texts("h1") == ["Article L111-2"]
    assert visitor.texts("nav .crumbs li")[1:4] == way
    visitor.click(page.locator("nav .crumbs").get_by_text(way[1], exact=True))
    assert visitor.texts("h1") == [way[1]]
    visitor.click("nav .crumbs a >> nth=0")
    assert visitor.path == "/loi"


def test_on_an_article_one_can_ask(visitor: "Visitor") -> None:
    page = visitor.open(FINES)
    visitor.ask(QUESTION)
    assert visitor.path.startswith("/recherche/")
    assert page.locator("#q").input_value() == QUESTION


def test_every_page_has_its_json(visitor: "Visitor") -> None:
    page = visitor.open("/")
    for path in ("/", FINES, "/loi", "/loi/VALTEXT01", "/donnees", "/api", "/recherche?q=chien"):
        visitor.open(path)
        answer = visitor.context.request.get(page.locator(".bottom [type='application/json']").get_attribute("href"))
        assert answer.ok
        assert answer.json()
