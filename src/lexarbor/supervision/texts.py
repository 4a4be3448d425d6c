"""Every text that a model may read before it is asked anything."""

from lexarbor.supervision.folder import Supervised
from lexarbor.text.inputs import with_headings


def all_texts(data: Supervised) -> list[str]:
    """The law's articles and all other passages, each below its headings, then the further texts; each text once."""
    passages = (with_headings(passage.headings, passage.text) for passage in (*data.articles, *data.passages))
    return [text for text in dict.fromkeys((*passages, *data.texts)) if text.strip()]
