"""The tokenizer of our own: any text can be read, spellings of one thing are one, numbers are cut, files are stable."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from lexarbor.corpus.sources import read_tiny
from lexarbor.errors import ModelError, TrainingError
from lexarbor.text.vocabulary import SPECIAL, learn_vocabulary, read_vocabulary, save_vocabulary

LAW = read_tiny()
TEXTS = [" > ".join(LAW.headings(article)) + "\n" + article.text for article in LAW.articles.values()]
LEARNED = learn_vocabulary(TEXTS, 1000)


def tokens(text: str) -> list[str]:
    found: list[str] = LEARNED.encode(text, add_special_tokens=False).tokens
    return found


@given(st.text())
def test_any_text_is_read_without_an_unknown_piece(text: str) -> None:
    for name in SPECIAL:
        text = text.replace(name, "")  # written out, a special token is itself
    found = LEARNED.encode(text)
    assert found.tokens[0] == "[CLS]"
    assert found.tokens[-1] == "[SEP]"
    assert not set(found.tokens[1:-1]) & set(SPECIAL)
    assert LEARNED.decode(found.ids) == LEARNED.decode(LEARNED.encode(LEARNED.decode(found.ids)).ids)


@pytest.mark.parametrize(
    "text",
    [
        "le maire peut-il fermer l'étang ? oui (article 12-3), s'il gèle.",
        "jusqu'au 31 décembre 2020, sous-section 4 : « redevance » de 12,50 € ; œuvre d'été",
        "😀 ça coûte 100 % !",
    ],
)
def test_what_is_decoded_is_the_text_again_in_small_letters_and_plain_signs(text: str) -> None:
    plain = text.replace("«", '"').replace("»", '"').replace("œ", "oe")
    assert LEARNED.decode(LEARNED.encode(text).ids).replace('" ', '"') == plain.replace('" ', '"')


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("L'INDEMNITÉ DE CONGÉ", "l’indemnité de congé"),
        ("de\u00a0l’article", "de l'article"),
        ("e\u0301tang", "étang"),
        ("« main-d’œuvre »", '" main‑d\'oeuvre "'),
        ("  deux\n\nlignes ", "deux lignes"),
        ("contre\u00adsens", "contresens"),
    ],
)
def test_spellings_of_one_thing_are_the_same_pieces(one: str, other: str) -> None:
    assert tokens(one) == tokens(other)


def test_accents_tell_words_apart() -> None:
    assert tokens("congés") != tokens("conges")


@pytest.mark.parametrize("before", ["l'", "(", "vice-", "d’"])
def test_a_word_is_the_same_after_a_space_an_elision_a_bracket_a_hyphen(before: str) -> None:
    assert tokens(before + "article")[-len(tokens("article")) :] == tokens("article")


def test_numbers_are_read_two_digits_at_a_time() -> None:
    learned = learn_vocabulary(["article L1234-9 du 17 mai 2020"] * 50, 1000)
    pieces = [piece.lstrip("Ġ") for piece in learned.get_vocab() if piece.lstrip("Ġ").isdigit()]
    assert max(map(len, pieces)) == 2
    assert learned.encode("L1234-9", add_special_tokens=False).tokens == ["Ġl", "12", "34", "-", "9"]


def test_two_texts_are_one_input_with_types() -> None:
    found = LEARNED.encode("un", "deux")
    assert found.tokens.count("[SEP]") == 2
    assert found.type_ids[0] == 0
    assert found.type_ids[-1] == 1


def test_the_same_texts_give_the_same_file_in_another_process(tmp_path: Path) -> None:
    save_vocabulary(LEARNED, tmp_path / "here")
    code = (
        "import json, sys; from pathlib import Path; from lexarbor.text.vocabulary import *;"
        "save_vocabulary(learn_vocabulary(json.load(sys.stdin), 1000), Path(sys.argv[1]))"
    )
    there = tmp_path / "there"
    subprocess.run([sys.executable, "-c", code, str(there)], input=json.dumps(TEXTS), text=True, check=True)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        assert (tmp_path / "here" / name).read_bytes() == (there / name).read_bytes()


def test_the_folder_is_read_by_tokenizers_and_by_transformers(tmp_path: Path) -> None:
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    save_vocabulary(LEARNED, tmp_path, longest=128)
    text = "L'étang de la commune, article 12"
    wanted = LEARNED.encode(text).ids
    assert Tokenizer.from_file(str(tmp_path / "tokenizer.json")).encode(text).ids == wanted
    assert read_vocabulary(tmp_path).encode(text).ids == wanted
    for kind in (AutoTokenizer, PreTrainedTokenizerFast):
        loaded = kind.from_pretrained(tmp_path)
        assert loaded(text)["input_ids"] == wanted
        assert loaded.model_max_length == 128
        assert [loaded.pad_token, loaded.unk_token, loaded.cls_token, loaded.sep_token, loaded.mask_token] == [*SPECIAL]


def test_special_tokens_have_the_first_ids() -> None:
    assert [LEARNED.token_to_id(name) for name in SPECIAL] == [0, 1, 2, 3, 4]
    assert LEARNED.get_vocab_size() <= 1000


def test_a_vocabulary_smaller_than_its_bytes_is_refused() -> None:
    with pytest.raises(TrainingError, match="261 or more"):
        learn_vocabulary(TEXTS, 260)


def test_a_folder_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"tokenizer\.json"):
        read_vocabulary(tmp_path)
