"""The server for assistants, over the Model Context Protocol. Needs the extra `mcp`.

What is asked is nobody's business: no question is logged, not even where something breaks.
"""

import inspect
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from lexarbor import __version__
from lexarbor.assistants.lookup import MOST_HITS, Lookup
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import LexarborError, place_of

_READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
_AsOf = Annotated[date | None, Field(description="The law in force on this day, YYYY-MM-DD; else as it stands.")]
_Some = str | list[str] | None

_log = logging.getLogger(__name__)


def build_server(lookup: Lookup) -> MCPServer[Any]:
    """A server with three tools, to be `run()`."""
    server: MCPServer[Any] = MCPServer(
        "lexarbor", version=__version__, instructions=_instructions(lookup.law), log_level="WARNING"
    )

    def search_law(
        question: Annotated[str, Field(description="In French and in everyday words, or an article by its number.")],
        k: Annotated[int, Field(description=f"How many articles, 1 to {MOST_HITS}.")] = 10,
        codes: Annotated[_Some, Field(description="Look in these codes alone, by title, short name or id.")] = None,
        under: Annotated[
            _Some,
            Field(description="Look under these headings alone, by words of them: 'congés payés', 'travail > repos'."),
        ] = None,
        as_of: _AsOf = None,
    ) -> dict[str, Any]:
        """Find the articles of French law that govern a question, best first.

        Each hit has what a citation needs: number, code, place (the headings above it), url on Légifrance, the day
        since which it is in force; and the passage nearest to the question, with the reasons for its rank. A passage
        is a part: read the article whole before you rely on it. `not_held` names references in the question to
        articles that are not in force in these codes. `outside` says that the answer is probably in other law, and in
        which codes: tell so before you cite anything. `read_as` is the question as it was understood. Repeat a
        `warning`.
        """
        with _telling():
            return lookup.search_law(question, k, codes, under, as_of)

    def read_article(
        id: Annotated[str, Field(description="As search_law gave it, e.g. LEGIARTI000006901112.")], as_of: _AsOf = None
    ) -> dict[str, Any]:
        """Read one article whole: its text, place, url and dates, the articles before and after it, those that it
        cites and those that cite it.
        """
        with _telling():
            return lookup.read_article(id, as_of)

    def list_codes() -> dict[str, Any]:
        """Tell which codes of law are held, how many articles of each are in force, and as of which day."""
        with _telling():
            return lookup.list_codes()

    for tool, title in (
        (search_law, "Search the law"),
        (read_article, "Read an article"),
        (list_codes, "List the codes of law"),
    ):
        server.add_tool(tool, title=title, description=inspect.getdoc(tool), annotations=_READS)
    return server


def _instructions(law: LawTree) -> str:
    codes = ", ".join(code.title for code in law.codes.values())
    return (
        f"Look statutory law up before you answer a legal question. Held are, as of {law.date or 'an unknown date'}: "
        f"{codes}. Other law is not held. Search, read whole the articles that matter, and cite each by its number, "
        "code and url, with the day of the law. What ranks first need not be what governs: say so where you doubt. "
        "This is information, not legal advice."
    )


@contextmanager
def _telling() -> Iterator[None]:
    """What is refused reaches the assistant as one line. Of what breaks it learns the kind alone, and so does the log:
    the rest might hold words of the question.
    """
    try:
        yield
    except (LexarborError, OSError) as error:
        raise ToolError(" ".join(str(error).split())) from None
    except Exception as error:
        _log.error("%s", place_of(error))
        raise ToolError(f"Lexarbor failed ({type(error).__name__}); its log tells where") from None
