"""What the encoder reads of an article or a question: the same for training and for use, without torch or numpy.

A text is tokenized without special tokens; the ids are then cut here, and each piece gets the special token before it
([CLS] or <s>) and the one after it ([SEP] or </s>).
"""

from collections.abc import Sequence

from lexarbor.text.settings import SPECIAL_TOKENS, EncoderSettings


def article_input(headings: Sequence[str], text: str, settings: EncoderSettings) -> str:
    """An article as one string: its headings from the code's title down, joined by " > ", then a new line and its
    text. Without headings, or where the settings leave them out, the text alone.
    """
    return with_headings(headings if settings.headings else (), text)


def with_headings(headings: Sequence[str], text: str) -> str:
    """A text below its headings; without any, the text alone."""
    place = " > ".join(heading for heading in headings if heading)
    return "\n".join(part for part in (place, text) if part)


def cut_article(ids: Sequence[int], settings: EncoderSettings, cls_id: int, sep_id: int) -> list[list[int]]:
    """An article's token ids, without special tokens, as the inputs of the first level.

    `first`: exactly one, the first `max_tokens - 2` ids. `hierarchical`: the first `max_tokens` ids in chunks of
    `chunk_tokens - 2`, each beginning `overlap` ids before the end of the last; there are at most
    `settings.max_chunks`, and no chunk holds only what another one holds. An empty article is one chunk of the two
    special tokens.
    """
    if not settings.hierarchical:
        return [[cls_id, *ids[: settings.max_tokens - SPECIAL_TOKENS], sep_id]]
    read = ids[: settings.max_tokens]
    size, step = settings.chunk_content, settings.chunk_content - settings.overlap
    # the chunk that starts at s repeats up to s + overlap: it is needed only where there is more
    starts = range(0, max(len(read) - settings.overlap, 1), step)
    return [[cls_id, *read[start : start + size], sep_id] for start in starts]


def cut_question(ids: Sequence[int], settings: EncoderSettings, cls_id: int, sep_id: int) -> list[int]:
    """A question's token ids, without special tokens, as the input of the question tower: the first
    `question_tokens - 2`.
    """
    return [cls_id, *ids[: settings.question_tokens - SPECIAL_TOKENS], sep_id]
