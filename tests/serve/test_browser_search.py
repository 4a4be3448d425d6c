"""In a real browser: questions asked, results read, filtered and shared."""

import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest

if TYPE_CHECKING:
    from browser import Visiting, Visitor

pytestmark = pytest.mark.real
pytest_plugins = ["browser"]

QUESTION = "Ma facture d'eau a explosé à cause d'un tuyau percé, dois-je tout payer ?"
"""One that the index remembers."""
TOWN, FAIRS = "Code communal de Valombre", "Code des fêtes, marchés et jardins de Valombre"
COLOUR = "place => getComputedStyle(place).backgroundColor"
BAIT = """<img src=x onerror="alert('bruit')"><script>alert(2)</script></textarea><b>chien</b> "' {{ 7*7 }} &lt;"""


def test_a_question_finds_articles(visitor: "Visitor") -> None:
    page = visitor.open("/")
    visitor.ask(QUESTION)
    assert visitor.texts("h1") == [visitor.t("title.results")]
    assert page.locator("#q").input_value() == QUESTION
    assert visitor.texts("#found-title") == [visitor.t("results.heading.many", count=10)]
    assert page.locator(".hits > li").count() == 10
    hit = page.locator(".hits > li").first
    assert hit.locator("h3").inner_text() == "Article R212-2"
    assert hit.locator(".badge").all_inner_texts() == [TOWN, visitor.t("badge.since", day="1er janvier 2015")]
    assert hit.locator(".crumbs li").all_inner_texts()[:2] == [TOWN, "Partie réglementaire"]
    marks = hit.locator(".passage mark")
    assert "paiement" in marks.all_inner_texts()
    assert marks.first.evaluate(COLOUR) != hit.evaluate(COLOUR)


def test_a_hit_says_why_it_is_there(visitor: "Visitor") -> None:
    page = visitor.open("/")
    visitor.ask(QUESTION)
    why = page.locator(".why").first
    reasons = why.locator("li")
    assert not reasons.first.is_visible()
    why.locator("summary").click()
    told = visitor.texts(".why li")
    assert visitor.t("why.memory.own", question=QUESTION) in told
    assert visitor.t("why.bm25", rank=1) in told


def test_the_address_and_the_title_hold_no_word_of_the_question(visitor: "Visitor") -> None:
    page = visitor.open("/")
    visitor.ask("chien sauvé")
    assert re.fullmatch(r"/recherche/[\w-]{40,}", visitor.path)
    assert not urlsplit(page.url).query
    for told in (page.url, page.title()):
        assert "chien" not in told
        assert "sauv" not in told


def test_shift_and_enter_make_a_line(visitor: "Visitor") -> None:
    page = visitor.open("/")
    page.locator("#q").press_sequentially("chien")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("perdu")
    assert page.locator("#q").input_value() == "chien\nperdu"
    with visitor.going():
        page.keyboard.press("Enter")
    assert page.locator("#q").input_value() == "chien\nperdu"


def test_no_question_asks_nothing(visitor: "Visitor") -> None:
    page = visitor.open("/")
    page.locator("#q").press("Enter")
    page.locator(".go").click()
    assert visitor.path == "/"
    assert page.locator("#q:invalid").count() == 1
    visitor.ask("   ")
    assert visitor.path == "/"
    assert page.locator(".hero").is_visible()


def test_an_example_is_asked(visitor: "Visitor") -> None:
    page = visitor.open("/")
    example = page.locator(".examples button").nth(1)
    question = example.inner_text()
    visitor.click(example)
    assert page.locator("#q").input_value() == question
    assert page.locator(".hits > li").count() == 10


def test_more_articles_come_where_one_was(visitor: "Visitor") -> None:
    page = visitor.open("/")
    visitor.ask(QUESTION)
    first = visitor.texts(".hits h3")
    visitor.click(".more button")
    assert page.locator(".hits > li").count() == 20
    assert visitor.texts(".hits h3")[:10] == first
    assert urlsplit(page.url).fragment == "hit-11"
    page.wait_for_function("Math.abs(document.querySelector('#hit-11').getBoundingClientRect().top) < 100")


def test_codes_can_be_chosen(visitor: "Visitor") -> None:
    page = visitor.open("/")
    page.locator(".filters > summary").click()
    page.get_by_label(FAIRS).check()
    visitor.ask(QUESTION)
    assert set(visitor.texts(".hits .badge.code")) == {FAIRS}
    assert page.get_by_label(FAIRS).is_checked()
    assert not page.get_by_label(TOWN).is_checked()
    assert visitor.texts(".filters .pill") == [visitor.t("filters.set")]

    page.get_by_label(FAIRS).uncheck()
    page.get_by_label(TOWN).check()
    visitor.click(".fields button")
    assert set(visitor.texts(".hits .badge.code")) == {TOWN}
    assert page.locator("#q").input_value() == QUESTION

    visitor.click(".more button")
    assert set(visitor.texts(".hits .badge.code")) == {TOWN}
    assert page.get_by_label(TOWN).is_checked()


def test_where_one_day_is_held_none_is_to_be_chosen(visitor: "Visitor") -> None:
    page = visitor.open("/")
    assert visitor.texts(".filters > summary") == [visitor.t("filters.title_codes")]
    page.locator(".filters > summary").click()
    assert page.locator(".fields").is_visible()
    assert page.locator("[name=as_of]").count() == 0


def test_nothing_found_is_said_kindly(visitor: "Visitor") -> None:
    page = visitor.open("/")
    visitor.ask("?!…")
    assert visitor.texts(".empty h2") == [visitor.t("results.none")]
    assert page.locator(".hits, .tree, .share").count() == 0
    assert page.locator("#q").input_value() == "?!…"
    visitor.click(".empty a >> nth=0")
    assert visitor.path == "/loi"


def test_an_article_that_is_not_held_is_told(visitor: "Visitor") -> None:
    page = visitor.open("/")
    visitor.ask("Que dit l'article L999-9 ?")
    assert page.get_by_role("note").locator("[lang=fr]").inner_text() == "L999-9"
    assert visitor.texts("[role=note] p") == [
        f"{visitor.t('results.not_held')} L999-9", visitor.t("results.not_held_more")
    ]  # fmt: skip


def test_that_the_answer_is_in_other_law_is_said_kindly(visiting: "Visiting", dated: str) -> None:
    visitor = visiting(dated)
    page = visitor.open("/")
    visitor.ask("Où trouver une place en crèche ?")
    assert visitor.texts(".outside h2") == [visitor.t("outside.title")]
    assert visitor.texts(".outside .named li") == ["Code civil", "Code de la route"]
    assert visitor.t("outside.chance", percent=83) in visitor.texts(".outside p")
    assert visitor.texts("#found-title") == [visitor.t("results.nearest")]
    assert page.locator(".outside .out").count() == 2
    visitor.click(".outside .ways a >> nth=0")
    assert visitor.path == "/aide"


def test_the_words_that_were_added_are_told(visitor: "Visitor") -> None:
    page = visitor.open("/")
    visitor.ask("mon proprio me vire")
    assert visitor.texts(".read-as")[0].startswith(visitor.t("results.added"))
    assert "bailleur" in page.locator(".read-as q").inner_text()


def test_bait_is_shown_as_typed_and_does_nothing(visitor: "Visitor") -> None:
    page = visitor.open("/")
    visitor.ask(BAIT)
    assert page.locator("#q").input_value() == BAIT
    assert page.locator("main img, main script, main b").count() == 0
    visitor.click(".switch")
    assert page.locator("#q").input_value() == BAIT
    shared = page.locator("[data-open]").get_attribute("href")
    assert shared
    visitor.open(shared)
    assert page.locator("#q").input_value() == BAIT
    assert page.locator("main img, main script, main b").count() == 0


def test_a_slash_goes_to_the_box(visitor: "Visitor") -> None:
    for path in ("/", "/article/VALARTI0031", "/recherche?q=chien"):
        page = visitor.open(path)
        box = page.locator("[data-slash]")
        box.fill("et/ou")
        box.blur()
        page.keyboard.press("/")
        assert box.evaluate("box => box === document.activeElement")
        page.keyboard.type("24/24")
        assert box.input_value() == "24/24"


def test_the_link_that_is_copied_opens_the_same_results(visiting: "Visiting") -> None:
    visitor = visiting(permissions=["clipboard-read", "clipboard-write"])
    page = visitor.open("/")
    page.locator(".filters > summary").click()
    page.get_by_label(TOWN).check()
    visitor.ask(QUESTION)
    assert not page.locator("[data-open]").is_visible()
    page.locator("[data-copy]").click()
    page.get_by_role("status").filter(has_text=visitor.t("share.done")).wait_for(state="attached")
    assert visitor.texts("[data-copy]") == [visitor.t("share.done")]
    copied = page.evaluate("navigator.clipboard.readText()")
    assert urlsplit(copied).path == "/recherche"
    assert parse_qs(urlsplit(copied).query) == {"q": [QUESTION], "code": ["VALTEXT01"]}

    friend = visiting()
    friend.open(copied)
    assert friend.page.locator("#q").input_value() == QUESTION
    assert friend.page.get_by_label(TOWN).is_checked()
    assert friend.texts(".hits h3") == visitor.texts(".hits h3")
    assert friend.texts(".passage") == visitor.texts(".passage")


def test_where_copying_fails_that_is_said(visitor: "Visitor") -> None:
    visitor.context.add_init_script("navigator.clipboard.writeText = () => Promise.reject()")
    page = visitor.open("/")
    visitor.ask(QUESTION)
    page.locator("[data-copy]").click()
    page.get_by_role("status").filter(has_text=visitor.t("share.failed")).wait_for(state="attached")
