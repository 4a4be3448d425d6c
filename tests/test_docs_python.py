"""What docs/python.md shows runs; recipes for other packages run where these are installed."""

import asyncio
import importlib.util
import json
import re
import sys
from pathlib import Path

import pytest

from lexarbor.search import Engine

PAGE = (Path(__file__).parent.parent / "docs" / "python.md").read_text(encoding="utf-8")
OPTIONAL = {"langchain_core", "haystack"}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from lexarbor.corpus import read_law
    from lexarbor.search.building import build_index
    from lexarbor.search.lexical import BM25Settings

    folder = tmp_path_factory.mktemp("docs") / "index"
    build_index(read_law("tiny"), folder, source="tiny", settings=BM25Settings())
    return folder


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def needs(block: str) -> str | None:
    """The package that a recipe is for."""
    return next(iter(OPTIONAL & set(re.findall(r"^from (\w+)", block, re.M))), None)


def test_the_engine_from_python(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = [block for block in blocks("python") if not needs(block)]
    assert len(own) == 5
    names: dict[str, object] = {}  # one reads the page from top to bottom
    for block in own:
        exec(block.replace("/path/to/index", str(index)), names)
    told = capsys.readouterr().out
    assert "law as of 2026-01-01" in told
    assert "the code 'Code de la route' is not held" in told


@pytest.mark.parametrize("package", sorted(OPTIONAL))
def test_the_recipe_for(package: str, index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = (block for block in blocks("python") if needs(block) == package)
    if not importlib.util.find_spec(package):
        compile(block, package, "exec")
        pytest.skip(f"{package} is not installed")
    exec(block.replace("/path/to/index", str(index)), {"__name__": "recipe"})
    found = Engine.open(index).search("Mon voisin fait du bruit la nuit", k=5).hits
    assert found
    assert capsys.readouterr().out == "".join(f"{hit.article.number} None {hit.article.text}\n" for hit in found)


def test_the_configuration_for_assistants_starts_the_server(index: Path) -> None:
    from mcp import Client, StdioServerParameters

    (block,) = blocks("json")
    command = str(Path(sys.executable).parent / "lexarbor")
    servers = json.loads(block.replace("/path/to/lexarbor", command))
    settings = StdioServerParameters(**servers["mcpServers"]["lexarbor"], env={"LEXARBOR_INDEX": str(index)})

    async def session() -> dict[str, list[str]]:
        async with Client(settings) as client:
            return {tool.name: list(tool.input_schema["properties"]) for tool in (await client.list_tools()).tools}

    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", PAGE, re.M)
    assert asyncio.run(session()) == {tool: re.findall(r"`(\w+)`", takes) for tool, takes in rows}
