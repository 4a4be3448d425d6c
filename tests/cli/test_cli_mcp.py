"""`lexarbor mcp`, as an assistant starts it."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult

COMMAND = str(Path(sys.executable).parent / "lexarbor")
QUESTION = "Le voisin doit-il procéder à l'élagage de ses branchages ?"
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


def started(*arguments: str | Path) -> "subprocess.Popen[str]":
    """The command, once it has said that it is ready."""
    pipe = subprocess.PIPE
    process = subprocess.Popen([COMMAND, *map(str, arguments)], stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    assert process.stderr is not None
    assert process.stderr.readline().startswith("serving assistants ")
    return process


def test_an_assistant_starts_the_server_and_looks_the_law_up(index: Path) -> None:
    async def session() -> list[CallToolResult]:
        server = StdioServerParameters(command=COMMAND, args=["mcp"], env={"LEXARBOR_INDEX": str(index)})
        async with Client(server) as client:
            found = await client.call_tool("search_law", {"question": QUESTION, "k": 1})
            assert found.structured_content is not None
            id = found.structured_content["hits"][0]["id"]
            return [
                found,
                await client.call_tool("read_article", {"id": id}),
                await client.call_tool("list_codes", {}),
                await client.call_tool("search_law", {"question": QUESTION, "codes": "Code civil"}),
            ]

    found, article, codes, refused = asyncio.run(session())
    assert found.structured_content["hits"][0]["number"] == "L123-2"
    assert article.structured_content["text"].startswith("Le propriétaire du fonds")
    assert len(codes.structured_content["codes"]) == 2
    assert refused.is_error


def test_another_day_of_an_index_of_ones_own_is_refused_in_words(index: Path) -> None:
    async def session() -> CallToolResult:
        async with Client(StdioServerParameters(command=COMMAND, args=["mcp", "--index", str(index)])) as client:
            return await client.call_tool("search_law", {"question": QUESTION, "as_of": "2021-01-01"})

    result = asyncio.run(session())
    assert result.is_error
    assert "the index is of the law as of 2026-01-01, not of 2021-01-01" in result.content[0].text


def test_the_law_of_another_day_is_that_of_the_cache(lexarbor: Callable[..., Any], tmp_path: Path) -> None:
    lexarbor("index", "--law", "tiny")
    lexarbor("index", "--law", "tiny", "--as-of", "2021-01-01")

    async def session() -> CallToolResult:
        environment = {"LEXARBOR_CACHE": str(tmp_path / "cache")}
        async with Client(StdioServerParameters(command=COMMAND, args=["mcp"], env=environment)) as client:
            return await client.call_tool("search_law", {"question": QUESTION, "as_of": "2021-01-01"})

    assert asyncio.run(session()).structured_content["law_as_of"] == "2021-01-01"


def test_stdout_is_the_protocols_alone_and_the_server_ends_with_its_input(index: Path) -> None:
    process = started("--verbose", "mcp", "--index", index)
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(json.dumps(HELLO) + "\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["result"]["serverInfo"]["name"] == "lexarbor"
    process.stdin.write("what is not JSON\n")
    out, err = process.communicate(timeout=20)
    assert [json.loads(line) for line in out.splitlines()] == []
    assert process.returncode == 0
    assert "Traceback" not in err


@pytest.mark.skipif(os.name == "nt", reason="signals are of POSIX")
def test_an_interrupt_ends_it_at_once(index: Path) -> None:
    process = started("mcp", "--index", index)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == -signal.SIGINT
    assert process.communicate() == ("", "")


def test_a_port_serves_over_http(index: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = started("mcp", "--index", index, "--port", str(port))

    async def session() -> CallToolResult:
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                await asyncio.sleep(0.1)
        async with Client(f"http://127.0.0.1:{port}/mcp") as client:
            return await client.call_tool("search_law", {"question": QUESTION, "k": 1})

    try:
        assert asyncio.run(session()).structured_content["hits"][0]["number"] == "L123-2"
    finally:
        process.terminate()
        out, err = process.communicate(timeout=20)
    assert out == ""
    assert "élagage" not in err


def test_without_an_index_or_the_extra_it_says_what_to_do(
    lexarbor: Callable[..., Any], index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = "nowhere: no index there; build one with `lexarbor index`"
    assert lexarbor("mcp", "--index", "nowhere") == (2, "", f"lexarbor: {nowhere}\n")
    monkeypatch.delitem(sys.modules, "lexarbor.assistants.server", raising=False)
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    install = "serving assistants needs an optional dependency: pip install 'lexarbor[mcp]'"
    assert lexarbor("mcp", "--index", index) == (2, "", f"lexarbor: {install}\n")
