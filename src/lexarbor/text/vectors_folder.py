"""The vectors of a law on disk, for other programs too.

manifest.json   the format, which model read which law, a checksum for each file
vectors.npy     one row for each article, 32-bit floats
ids.json        the articles' ids, in the order of the rows
"""

import json
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from lexarbor import __version__
from lexarbor.files import folder_at, replacing, sha256
from lexarbor.text.corpus_vectors import LawVectors

FORMAT = "lexarbor-vectors/1"
MANIFEST, VECTORS, IDS = "manifest.json", "vectors.npy", "ids.json"


def write_vectors(found: LawVectors, folder: Path, *, model: str, facts: Mapping[str, Any]) -> None:
    """Write the folder; `model` is the encoder's checksum, `facts` what else is known: the law, its date.

    All is written before the first file takes its place, and the manifest comes last: after a crash the old files are
    there, or the checksums do not fit.
    """
    count, dimension = found.vectors.shape
    folder_at(folder)
    with ExitStack() as last_in_first_out:
        manifest, ids, vectors = (
            last_in_first_out.enter_context(replacing(folder / name)) for name in (MANIFEST, IDS, VECTORS)
        )
        with vectors.open("wb") as file:  # numpy would add an ending to a name that has none
            np.save(file, found.vectors.astype(np.float32, copy=False), allow_pickle=False)
        ids.write_text(json.dumps(found.ids, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
        told = {
            "format": FORMAT,
            "lexarbor": __version__,
            "model": model,
            **facts,
            "articles": count,
            "dimension": dimension,
            "files": {VECTORS: sha256(vectors), IDS: sha256(ids)},
        }
        manifest.write_text(json.dumps(told, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
