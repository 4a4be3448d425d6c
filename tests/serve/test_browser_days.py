"""In a real browser: the law of another day."""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from browser import Visiting, Visitor

pytestmark = pytest.mark.real
pytest_plugins = ["browser"]

QUESTION = "L113-2 du code communal de Valombre"
"""An article that has had two versions."""


def choose(visitor: "Visitor", day: date) -> None:
    visitor.open("/")
    visitor.page.locator(".filters > summary").click()
    visitor.page.get_by_label(visitor.t("filters.day")).fill(str(day))
    visitor.ask(QUESTION)


def test_a_day_is_chosen_kept_and_left(visiting: "Visiting", dated: str, earlier: date) -> None:
    visitor = visiting(dated)
    choose(visitor, earlier)
    page, told = visitor.page, visitor.t("law.other_day", day="1er mars 2021")
    assert visitor.texts(".day strong") == [told]
    assert page.locator("#as-of").input_value() == str(earlier)
    assert str(earlier) not in page.url
    visitor.click(".hits h3 a >> nth=0")
    assert visitor.path == "/article/VALARTI0010"
    assert visitor.texts(".day strong") == [told]
    visitor.click("nav .crumbs a >> nth=-1")
    assert visitor.texts(".day strong") == [told]
    visitor.ask(QUESTION)
    assert visitor.texts(".day strong") == [told]
    visitor.click(".switch")
    assert page.locator("#as-of").input_value() == str(earlier)
    visitor.click(".back button")
    assert page.locator("#as-of").input_value() == ""
    visitor.click(".hits h3 a >> nth=0")
    assert visitor.path == "/en/article/VALARTI0070"


def test_an_article_of_another_day_leads_to_today(visiting: "Visiting", dated: str, earlier: date) -> None:
    visitor = visiting(dated)
    visitor.open(f"/article/VALARTI0031?as_of={earlier}")
    visitor.click(f".day >> text={visitor.t('law.back_to_now')}")
    assert visitor.path == "/article/VALARTI0031"
    assert visitor.texts(".day strong") == [visitor.t("law.day", day="1er janvier 2026")]


def test_that_a_day_can_be_chosen_is_told_where_it_can(visiting: "Visiting", dated: str) -> None:
    several, one = visiting(dated), visiting()
    for visitor in (several, one):
        visitor.open("/donnees")
    assert several.t("data.days") in several.texts("main p")
    assert one.t("data.days") not in one.texts("main p")


def test_a_day_out_of_bounds(visiting: "Visiting", dated: str) -> None:
    visitor = visiting(dated)
    bounds = visitor.open("/").locator("#as-of").evaluate("box => [box.min, box.max]")
    assert bounds == ["2020-03-20", "2026-03-27"]
    visitor.open("/loi?as_of=1999-01-01", 404)
    told = visitor.t("error.day_not_held", first="20 mars 2020", last="27 mars 2026")
    assert visitor.texts(".lead") == [told]


def test_a_day_is_waited_for(
    visiting: "Visiting", dated: str, days_folder: Path, indexed: Callable[[Path, date], None]
) -> None:
    day = date(2023, 5, 9)
    visitor = visiting(dated)
    visitor.refused.add(503)
    page = visitor.page
    page.clock.install()
    choose(visitor, day)
    assert visitor.texts("h1") == [visitor.t("preparing.heading")]
    assert visitor.texts(".lead") == [visitor.t("preparing.lead", day="9 mai 2023")]
    with visitor.going():
        page.clock.fast_forward(15_000)
    assert visitor.texts("h1") == [visitor.t("preparing.heading")], "it is asked for again by itself"
    indexed(days_folder / f"index-{day}", day)
    visitor.click("button.go")
    assert visitor.texts(".day strong") == [visitor.t("law.other_day", day="9 mai 2023")]
    assert page.locator("#q").input_value() == QUESTION
    assert page.locator("#as-of").input_value() == str(day)
