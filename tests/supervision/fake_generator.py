"""A generator of questions without a model, and articles to ask it about."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lexarbor.supervision.augmentation import Augmented, augment
from lexarbor.supervision.folder import Passage
from lexarbor.supervision.sampling import GeneratorSettings, Sampled, Sampling

ARTICLES = [
    Passage("A5", "La pêche est libre.", ("Code", "Livre I")),
    Passage("A1", "Le port ferme à minuit."),
    Passage("A9", "Abrogé."),
    Passage("A0", " \n"),
    Passage("A3", "La chasse est ouverte en octobre."),
    Passage("A4", "Le chien est tenu en laisse."),
    Passage("A2", "Le port ouvre à six heures."),
    Passage("A7", "Néant."),
    Passage("A8", "Article"),
]
WORK_ORDER = ["A3", "A4", "A2", "A1", "A5", "A8", "A9", "A7"]
SAMPLING = Sampling(questions=3, seed=7)


class FakeGenerator:
    """Asks what depends on the article, the seed and its place in the batch; nothing about short articles, and two
    questions about some.
    """

    name = "fake/mt5"
    fingerprint = "5e" * 32
    settings = GeneratorSettings(prefix="Demande : ")

    def __init__(self, stop_at: int | None = None) -> None:
        self.stop_at = stop_at
        self.asked: list[tuple[tuple[int, ...], list[str]]] = []

    def ask(self, articles: Sequence[Passage], sampling: Sampling, *, seed: Sequence[int]) -> list[list[Sampled]]:
        if seed[1] == self.stop_at:
            raise KeyboardInterrupt
        self.asked.append((tuple(seed), [article.id for article in articles]))
        return [self._about(article, sampling, seed, place) for place, article in enumerate(articles)]

    def _about(self, article: Passage, sampling: Sampling, seed: Sequence[int], place: int) -> list[Sampled]:
        if len(article.text) < 8:
            return []
        count = sampling.questions - ("port" in article.text)
        drawn = [hashlib.sha256(f"{article} {seed} {place} {at}".encode()).hexdigest() for at in range(count)]
        return [Sampled(f"Où est « {word[:4]} » ?", -int(word[:6], 16) / 1e6) for word in drawn]


def asked(out: Path, generator: FakeGenerator | None = None, **options: Any) -> Augmented:
    return augment(generator or FakeGenerator(), ARTICLES, out, SAMPLING, **{"batch_size": 2, **options})


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
