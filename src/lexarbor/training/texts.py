"""Every text that a model may read before it is asked anything."""

from lexarbor.supervision.folder import Passage, SupervisionFolder


def all_texts(data: SupervisionFolder) -> list[str]:
    """The law's articles and all other passages, each below its headings, then the further texts; each text once."""
    passages = (_with_headings(passage) for passage in (*data.articles, *data.passages))
    return [text for text in dict.fromkeys((*passages, *data.texts)) if text.strip()]


def _with_headings(passage: Passage) -> str:
    return "\n".join(part for part in (" > ".join(passage.headings), passage.text) if part)
