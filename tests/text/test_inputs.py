"""What the encoder reads: headings before text, and ids cut as the settings say."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexarbor.text.inputs import article_input, cut_article, cut_question
from lexarbor.text.settings import EncoderSettings

CLS, SEP = -1, -2
HEADINGS = ("Code du travail", "Rupture du contrat")


def hierarchical(max_tokens: int, chunk_tokens: int, overlap: int = 0) -> EncoderSettings:
    return EncoderSettings("hierarchical", max_tokens=max_tokens, chunk_tokens=chunk_tokens, overlap=overlap)


def test_headings_stand_before_the_text() -> None:
    text = article_input(HEADINGS, "Le préavis…", EncoderSettings())
    assert text == "Code du travail > Rupture du contrat\nLe préavis…"


@pytest.mark.parametrize("headings", [(), ("",)])
def test_without_headings_there_is_the_text_alone(headings: tuple[str, ...]) -> None:
    assert article_input(headings, "Le préavis…", EncoderSettings()) == "Le préavis…"


def test_headings_can_be_left_out() -> None:
    assert article_input(HEADINGS, "Le préavis…", EncoderSettings(headings=False)) == "Le préavis…"


def test_an_article_without_text_is_its_headings() -> None:
    assert article_input(HEADINGS, "", EncoderSettings()) == "Code du travail > Rupture du contrat"


def test_one_pass_reads_the_first_tokens_special_ones_counted() -> None:
    settings = EncoderSettings(max_tokens=5, chunk_tokens=4)
    assert cut_article(range(9), settings, CLS, SEP) == [[CLS, 0, 1, 2, SEP]]
    assert cut_article(range(2), settings, CLS, SEP) == [[CLS, 0, 1, SEP]]


def test_chunks_follow_each_other() -> None:
    chunks = cut_article(range(99), hierarchical(max_tokens=7, chunk_tokens=5), CLS, SEP)
    assert chunks == [[CLS, 0, 1, 2, SEP], [CLS, 3, 4, 5, SEP], [CLS, 6, SEP]]


def test_chunks_repeat_the_end_of_the_one_before() -> None:
    settings = hierarchical(max_tokens=7, chunk_tokens=5, overlap=1)
    assert cut_article(range(99), settings, CLS, SEP) == [[CLS, 0, 1, 2, SEP], [CLS, 2, 3, 4, SEP], [CLS, 4, 5, 6, SEP]]
    assert cut_article(range(5), settings, CLS, SEP) == [[CLS, 0, 1, 2, SEP], [CLS, 2, 3, 4, SEP]]
    assert cut_article(range(3), settings, CLS, SEP) == [[CLS, 0, 1, 2, SEP]]


@pytest.mark.parametrize("settings", [EncoderSettings(), hierarchical(1024, 128, 12)])
def test_an_empty_article_is_one_chunk_of_special_tokens(settings: EncoderSettings) -> None:
    assert cut_article([], settings, CLS, SEP) == [[CLS, SEP]]


def test_the_papers_chunks() -> None:
    assert [len(ids) for ids in cut_article(range(5000), hierarchical(1024, 128, 12), CLS, SEP)] == [128] * 8 + [114]


@given(
    st.integers(0, 200),
    st.integers(5, 20).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 3))),
    st.integers(0, 80),
)
def test_chunks_hold_what_is_read_once_and_are_never_too_many(length: int, cut: tuple[int, int], more: int) -> None:
    size, overlap = cut
    settings = hierarchical(size - 2 + more, size, overlap)
    contents = [ids[1:-1] for ids in cut_article(range(length), settings, CLS, SEP)]
    joined = contents[0] + [id for content in contents[1:] for id in content[overlap:]]
    assert joined == list(range(min(length, settings.max_tokens)))
    assert all(content[overlap:] for content in contents[1:]), "a chunk of repeats only"
    assert all(len(content) <= settings.chunk_content for content in contents)
    assert len(contents) <= settings.max_chunks
    if length >= settings.max_tokens:
        assert len(contents) == settings.max_chunks


def test_a_question_is_cut_with_its_special_tokens_counted() -> None:
    settings = EncoderSettings(question_tokens=4)
    assert cut_question(range(9), settings, CLS, SEP) == [CLS, 0, 1, SEP]
    assert cut_question([], settings, CLS, SEP) == [CLS, SEP]


def test_inputs_need_neither_torch_nor_numpy() -> None:
    code = "import sys, lexarbor.text.inputs; print(*sorted(name.split('.')[0] for name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert not {"numpy", "torch", "transformers"} & set(done.stdout.split())
