"""Finding articles: BM25, question memory, the index on disk, the engine over them."""

from lexarbor.search.engine import Engine
from lexarbor.search.filters import Filters
from lexarbor.search.hits import Answer, Hit

__all__ = ["Answer", "Engine", "Filters", "Hit"]
