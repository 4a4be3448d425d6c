"""A real client speaks to the server: its tools, their answers, and what they refuse."""

import asyncio
import json
import logging
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from mcp import Client
from mcp.types import CallToolResult, TextContent, Tool

from lexarbor.assistants import Lookup
from lexarbor.assistants.server import build_server
from lexarbor.search import Engine

QUESTION = "Le voisin doit-il procéder à l'élagage de ses branchages ?"
Call = Callable[..., CallToolResult]


@pytest.fixture
def call(library: Lookup) -> Call:
    """One tool called in a session of its own."""

    def call(tool: str, **arguments: Any) -> CallToolResult:
        async def session() -> CallToolResult:
            async with Client(build_server(library)) as client:
                return await client.call_tool(tool, arguments)

        return asyncio.run(session())

    return call


def refused(result: CallToolResult) -> str:
    """What an assistant is told of an error."""
    assert result.is_error
    (content,) = result.content
    assert isinstance(content, TextContent)
    assert "Traceback" not in content.text
    return content.text


def test_the_server_says_what_it_holds_and_its_tools_what_they_take(library: Lookup) -> None:
    async def session() -> tuple[str | None, list[Tool]]:
        async with Client(build_server(library)) as client:
            return client.instructions, (await client.list_tools()).tools

    instructions, tools = asyncio.run(session())
    assert instructions is not None
    assert "as of 2026-01-01: Code communal de Valombre, Code des fêtes" in instructions
    assert "not legal advice" in instructions
    takes = {tool.name: list(tool.input_schema["properties"]) for tool in tools}
    assert takes == {
        "search_law": ["question", "k", "codes", "under", "as_of"],
        "read_article": ["id", "as_of"],
        "list_codes": [],
    }
    for tool in tools:
        assert tool.title and tool.description
        assert "\n   " not in tool.description
        assert tool.annotations is not None and tool.annotations.read_only_hint
        assert all(taken["description"] for taken in tool.input_schema["properties"].values())


def test_an_assistant_searches_reads_and_lists(call: Call, library: Lookup) -> None:
    found = call("search_law", question=QUESTION, k=2)
    assert not found.is_error
    assert found.structured_content == library.search_law(QUESTION, 2)
    assert isinstance(found.content[0], TextContent)
    assert json.loads(found.content[0].text) == found.structured_content
    best = found.structured_content["hits"][0]["id"]
    assert call("read_article", id=best).structured_content == library.read_article(best)
    assert call("list_codes").structured_content == library.list_codes()


def test_filters_and_days_reach_the_engine(call: Call, library: Lookup) -> None:
    day = date(2016, 5, 1)
    found = call("search_law", question="le maire", codes="VALTEXT01", under=["plantations"], as_of="2016-05-01")
    expected = library.search_law("le maire", 10, ["VALTEXT01"], ["plantations"], day)
    assert found.structured_content == expected
    assert expected["law_as_of"] == "2016-05-01"
    assert call("read_article", id="VALARTI0010", as_of="2016-05-01").structured_content == library.read_article(
        "VALARTI0010", day
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"question": "  "}, "search_law: the question is empty: ask something like"),
        ({"question": "x" * 10_001}, "search_law: the question has 10,001 characters, more than 10,000"),
        ({"question": QUESTION, "k": 0}, "search_law: k is 0: ask for 1 to 100 articles"),
        ({"question": QUESTION, "k": 10**30}, ": ask for 1 to 100 articles"),
        ({"question": QUESTION, "k": "many"}, "k\n  Input should be a valid integer"),
        ({"question": QUESTION, "codes": ["Code civil"]}, "the code 'Code civil' is not held; held are Code communal"),
        ({"question": QUESTION, "under": ">"}, "'>' names no heading"),
        ({"question": QUESTION, "as_of": "hier"}, "as_of\n  Input should be a valid date"),
        ({}, "question\n  Field required"),
    ],
)
def test_what_cannot_be_asked_is_told_in_words(call: Call, arguments: dict[str, Any], message: str) -> None:
    assert message in refused(call("search_law", **arguments))


def test_an_unknown_article_is_told_in_words(call: Call) -> None:
    assert "no article in force on 2026-01-01 has the id 'LEGIARTI0'" in refused(call("read_article", id="LEGIARTI0"))


def test_an_index_that_cannot_be_read_is_told_in_words(engines: dict[date | None, Engine]) -> None:
    def open_engine(day: date | None) -> Engine:
        if day:
            raise OSError(28, "No space left on device")
        return engines[None]

    async def session() -> CallToolResult:
        async with Client(build_server(Lookup(open_engine))) as client:
            return await client.call_tool("search_law", {"question": QUESTION, "as_of": "2020-01-01"})

    assert "No space left on device" in refused(asyncio.run(session()))


def test_calls_at_once_get_each_its_own_answer(library: Lookup) -> None:
    questions = [QUESTION, "une amende pour nuisances sonores", "les canidés", "le marché"] * 5

    async def session() -> list[CallToolResult]:
        async with Client(build_server(library)) as client:
            calls = (client.call_tool("search_law", {"question": question}) for question in questions)
            return await asyncio.gather(*calls)

    found = [result.structured_content for result in asyncio.run(session())]
    assert found == [library.search_law(question) for question in questions]


def test_no_question_is_logged(
    call: Call, library: Lookup, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    call("search_law", question=f"{QUESTION} secret")
    call("search_law", question=f"{QUESTION} secret", codes="Code civil")
    call("search_law", question=f"{QUESTION} secret", k="many")

    def fail(question: str, *others: object) -> None:
        raise KeyError(question)

    monkeypatch.setattr(library, "search_law", fail)
    told = refused(call("search_law", question=f"{QUESTION} secret"))
    assert told == "Error executing tool search_law: Lexarbor failed (KeyError); its log tells where"
    assert "KeyError at " in caplog.text
    assert f"{__file__}, line " in caplog.text
    assert "secret" not in caplog.text
    assert "Traceback" not in caplog.text
