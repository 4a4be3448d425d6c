"""The rooms import one way only: read from the import statements, those inside functions too."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import lexarbor

SOURCE = Path(lexarbor.__file__).parent
MAY_IMPORT = {
    "errors": set(),
    "files": {"errors"},
    "corpus": {"errors", "files"},
    "evaluation": {"errors", "files"},
    "text": {"errors", "files", "corpus"},
    "graph": {"errors", "files", "corpus", "text"},
    "search": {"errors", "files", "corpus", "text", "graph"},
    "assistants": {"errors", "corpus", "search"},
    "serve": {"errors", "corpus", "search"},
    "supervision": {"errors", "files", "corpus", "search", "text", "graph"},
    "training": {"errors", "files", "corpus", "search", "text", "graph", "supervision", "evaluation"},
    "experiments": {"errors", "files", "corpus", "search", "text", "graph", "supervision", "training", "evaluation"},
    "cli": {
        "errors", "files", "corpus", "search", "text", "graph", "supervision", "training", "evaluation", "experiments",
        "assistants", "serve",
    },
}  # fmt: skip
"""As CONTRIBUTING.md says. `lexarbor` itself (its version) may be imported by all."""
HEAVY = {"torch", "transformers", "sentence_transformers", "torch_geometric", "onnx", "yaml"}
TRAINING_HALF = {
    "experiments/job_trainer.py",
    "experiments/objectives.py",
    "graph/encoder.py",
    "text/export.py",
    "text/hierarchical.py",
    "text/quantisation.py",
    "text/retriever.py",
    "text/similarity.py",
    "text/towers.py",
}
"""Modules of other rooms that only training, and experiments that train, import; all of the room `training` is such."""


def rooms() -> set[str]:
    return {path.stem if path.suffix == ".py" else path.name for path in SOURCE.iterdir() if _is_room(path)}


def _is_room(path: Path) -> bool:
    return (path.suffix == ".py" and path.stem != "__init__") or (path / "__init__.py").is_file()


def modules() -> list[Path]:
    return [path for path in sorted(SOURCE.rglob("*.py")) if path != SOURCE / "__init__.py"]


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write imports in full"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_every_room_is_in_the_table() -> None:
    assert rooms() == set(MAY_IMPORT)


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_a_module_imports_only_what_its_room_may(path: Path) -> None:
    room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    used = {name.split(".")[1] for name in imported(path) if name.startswith("lexarbor.")} & set(MAY_IMPORT)
    assert used <= MAY_IMPORT[room] | {room}


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_no_module_grows_past_400_lines(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


def test_no_test_or_benchmark_does_either() -> None:
    root = Path(__file__).parents[1]
    paths = [path for folder in ("tests", "benchmarks") for path in (root / folder).rglob("*.py")]
    assert [path.name for path in paths if len(path.read_text(encoding="utf-8").splitlines()) > 400] == []


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_only_the_training_half_needs_torch(path: Path) -> None:
    place = path.relative_to(SOURCE).as_posix()
    if place.startswith("training/") or place in TRAINING_HALF:
        return
    used = set(imported(path))
    assert not {name.split(".")[0] for name in used} & HEAVY
    if not place.startswith(("cli/", "experiments/")):  # those reach it inside functions, when it is asked for
        half = {"lexarbor." + module.removesuffix(".py").replace("/", ".") for module in TRAINING_HALF}
        assert not used & half


def test_the_table_is_the_one_that_contributors_read() -> None:
    text = (SOURCE.parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for room in ("corpus", "evaluation", "text", "graph", "search", "serve", "supervision", "training", "experiments"):
        row = next(line for line in text.splitlines() if line.startswith(f"| `{room}` |"))
        told = {name.strip() for name in row.split("|")[2].split(",")}
        assert told <= MAY_IMPORT[room]
        assert MAY_IMPORT[room] - told <= {"errors", "files"}
