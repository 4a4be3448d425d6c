"""Questions in addresses: opened by the server that closed them, and by nobody else."""

import base64
import re
import string
import zlib
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from cryptography.fernet import Fernet
from fastapi.testclient import TestClient
from hypothesis import given, settings
from hypothesis import strategies as st

from lexarbor.serve.asking import Asked
from lexarbor.serve.failures import Refusal
from lexarbor.serve.pages.sealed import LONGEST, Seal

SEAL = Seal("a secret")
ASKED = Asked("Xanthocanari : puis-je être licencié ?", 20, ("VALTEXT01",), as_of=date(2021, 1, 1))
words = st.text(st.characters(exclude_categories=()), max_size=300)


def test_what_is_closed_is_opened_again() -> None:
    assert SEAL.open(SEAL.close(ASKED)) == ASKED
    assert Seal("a secret").open(SEAL.close(ASKED)) == ASKED  # another worker of the same server


@settings(deadline=None)
@given(
    question=words,
    k=st.integers(0, 10**6),
    codes=st.lists(words, max_size=3).map(tuple),
    as_of=st.none() | st.dates(),
)
def test_anything_that_can_be_asked_can_be_closed(
    question: str, k: int, codes: tuple[str, ...], as_of: date | None
) -> None:
    asked = Asked(question, k, codes, as_of=as_of)
    sealed = SEAL.close(asked)
    assert SEAL.open(sealed) == asked
    assert re.fullmatch(r"[\w-]+", sealed, re.ASCII)


def refused(seal: Seal, sealed: str) -> None:
    with pytest.raises(Refusal) as refusal:
        seal.open(sealed)
    assert refusal.value.code == "expired"
    assert refusal.value.status == 410


def test_another_server_cannot_open_it() -> None:
    refused(Seal("another secret"), SEAL.close(ASKED))


def test_a_seal_that_was_changed_at_any_place_is_refused() -> None:
    sealed = SEAL.close(ASKED)
    whole = base64.urlsafe_b64decode(sealed + "=" * (-len(sealed) % 4))
    for at in range(len(whole)):
        changed = bytearray(whole)
        changed[at] ^= 1
        refused(SEAL, base64.urlsafe_b64encode(changed).decode().rstrip("="))
    for wrong in (sealed[:-1], sealed[1:], sealed[:-4], sealed + "A", sealed + "AAAA", sealed + sealed):
        refused(SEAL, wrong)


@settings(deadline=None)
@given(st.text(max_size=200) | st.text(string.ascii_letters + string.digits + "-_=", max_size=200))
def test_what_is_no_seal_is_refused(sealed: str) -> None:
    refused(SEAL, sealed)


def test_what_is_longer_than_any_seal_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any) -> bytes:
        raise AssertionError("it was looked at")

    monkeypatch.setattr(Fernet, "decrypt", never)
    refused(SEAL, "A" * (LONGEST + 1))


def test_no_word_can_be_read_in_it() -> None:
    for asked in (ASKED, Asked("Xanthocanari " * 100)):
        sealed = SEAL.close(asked)
        inside = base64.urlsafe_b64decode(sealed + "=" * (-len(sealed) % 4))
        assert b"anthocanari" not in sealed.encode() + inside
        with pytest.raises(zlib.error):
            zlib.decompress(inside[25:])
    assert SEAL.close(ASKED) != SEAL.close(ASKED)  # nor that the same was asked twice


def test_an_address_is_no_longer_than_browsers_and_proxies_take() -> None:
    french = "Mon employeur peut-il me licencier pendant un arrêt maladie alors que je suis enceinte ? " * 23
    assert len(SEAL.close(Asked(french[:2000], 10, ("VALTEXT01",)))) < 500
    worst = "".join(chr(0x10000 + at * 7919 % 0xFFFFF) for at in range(2000))
    assert len(SEAL.close(Asked(worst))) < LONGEST / 2


def test_names_of_codes_that_no_address_can_hold_are_refused(client: TestClient) -> None:
    names = "".join(chr(0x4E00 + at * 7919 % 20000) for at in range(20_000))
    with pytest.raises(Refusal) as refusal:
        SEAL.close(Asked("maire", codes=(names,)))
    assert refusal.value.code == "too_large"
    response = client.post("/recherche", data={"q": "maire", "code": names})
    assert response.status_code == 413
    assert "location" not in response.headers


def test_the_form_leads_to_an_address_without_words(client: TestClient, serving: Callable[..., TestClient]) -> None:
    for path in ("/recherche", "/en/search"):
        response = client.post(path, data={"q": "Xanthocanari maire", "code": "VALTEXT01", "k": "3"})
        assert response.status_code == 303
        address = response.headers["location"]
        assert re.fullmatch(rf"{path}/[\w-]+", address, re.ASCII)
        page = client.get(address)
        assert page.status_code == 200
        assert "Xanthocanari" in page.text
        assert serving().get(address).status_code == 410  # started anew, with another key
    assert client.post("/recherche", data={"q": " "}).headers["location"] == "/"
    assert client.post("/en/search", data={}).headers["location"] == "/en/"
