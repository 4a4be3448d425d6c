"""docs/paper-map.md is whole and true: each part of the paper is in it, and all that it names is there.

Code is looked up in the source, not imported: the page names half of what needs torch.
"""

import ast
import importlib
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer

from paper_parts import HYPERPARAMETERS, LABELS, PAPER, SPACES

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "lexarbor"
PAGE = (ROOT / "docs" / "paper-map.md").read_text(encoding="utf-8")
TOLD = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
LONGEST = 150
HEADER = ["here", "test", "command", "result"]
NOTHING = "–"


class Row(NamedTuple):
    """A row of the page; one without a first cell has the name of the row above."""

    section: str
    name: str
    cells: list[str]


def cells_of(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]


def spans(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def rows() -> Iterator[Row]:
    section = name = ""
    for line in PAGE.splitlines():
        if heading := re.match(r"#+ ([^(]+)", line):
            section, name = heading[1].strip(), ""
        elif line.startswith("|") and cells_of(line)[1:] != HEADER and not line.startswith("|---"):
            cells = cells_of(line)
            name = re.sub(r"`[^`]+`", "", cells[0].partition(": ")[0]).strip() or name
            yield Row(section, name, cells)


ROWS = list(rows())


def named(column: str) -> list[str]:
    """What stands in code spans of a column, each once."""
    place = HEADER.index(column) + 1
    return sorted({span for row in ROWS for span in spans(row.cells[place])})


def table(written: str) -> list[list[str]]:
    return [cells_of(line) for line in written.strip().splitlines()]


def rows_of(name: str) -> list[Row]:
    return [row for row in ROWS if row.name == name]


# what is named is there


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def defined(body: list[ast.stmt]) -> dict[str, ast.stmt]:
    """What a module or class gives names to."""
    found: dict[str, ast.stmt] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = node
        elif isinstance(node, ast.Assign):
            names = (name for target in node.targets for name in ast.walk(target))
            found |= {name.id: node for name in names if isinstance(name, ast.Name)}
    return found


def is_code(name: str) -> bool:
    """Whether a dotted name below `lexarbor` is a module, or something that one defines."""
    place, parts = SOURCE, name.split(".")
    while parts and (place / parts[0] / "__init__.py").is_file():
        place /= parts.pop(0)
    if parts and (place / f"{parts[0]}.py").is_file():
        body = tree_of(place / f"{parts.pop(0)}.py").body
    else:
        body = tree_of(place / "__init__.py").body
    for part in parts:
        node = defined(body).get(part)
        if node is None:
            return False
        body = node.body if isinstance(node, ast.ClassDef) else []
    return True


def recipe_value(named: str) -> Any:
    """The value that `recipe:key` names; a `KeyError` where the recipe does not have it."""
    recipe, _, key = named.partition(":")
    value = yaml.safe_load((ROOT / "recipes" / f"{recipe}.yaml").read_text(encoding="utf-8"))
    for part in key.split("."):
        value = value[part]
    return value


@pytest.mark.parametrize("name", named("here"))
def test_what_stands_for_it_exists(name: str) -> None:
    if name.endswith(".yaml"):
        folder = SOURCE / "experiments" if name.startswith("scales/") else ROOT / "recipes"
        assert (folder / name).is_file()
    elif ":" in name:
        key, _, value = name.partition("=")
        found = recipe_value(key)
        assert not value or found == yaml.safe_load(value)
    else:
        assert is_code(name)


@cache
def files_of_tests() -> Mapping[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for path in (ROOT / "tests").rglob("test_*.py"):
        found.setdefault(path.name, []).append(path)
    return found


@pytest.mark.parametrize("name", named("test"))
def test_the_test_exists(name: str) -> None:
    file, _, function = name.partition("::")
    (path,) = files_of_tests().get(file, [None])
    assert path, f"no tests/**/{file}"
    known = {test for test in defined(tree_of(path).body) if test.startswith("test_")}
    assert function in known if function else known


@cache
def command_line() -> Any:
    from lexarbor.cli.app import app

    return typer.main.get_command(app)


def experiments() -> set[str]:
    return set(importlib.import_module("lexarbor.experiments.catalogue").EXPERIMENTS)


def fault(command: str, *, whole: bool = False) -> str | None:
    """What is wrong with a command's words, `lexarbor` left out; where it is `whole`, nothing needed may be missing."""
    node, words, given, arguments = command_line(), command.split(), set(), []
    while words and words[0] in getattr(node, "commands", {}):
        node = node.commands[words.pop(0)]
    if getattr(node, "commands", None):
        return f"no command: {' '.join(words)}"
    options = {name: one for one in node.params for name in (*one.opts, *one.secondary_opts)}
    while words:
        word = words.pop(0)
        if not word.startswith("-"):
            arguments.append(word)
        elif word not in options:
            return f"no option {word}"
        else:
            given.add(options[word].name)
            value = "" if options[word].is_flag else words.pop(0)
            if word == "--recipe" and not (ROOT / value).is_file():
                return f"no recipe {value}"
    if len(arguments) > sum(one.param_type_name == "argument" for one in node.params):
        return f"more than it takes: {arguments}"
    if node.name == "experiment" and not set(arguments) <= experiments():
        return f"no experiment {arguments}"
    missing = {one.name for one in node.params if one.required and one.param_type_name == "option"} - given
    return f"without {missing}" if whole and missing else None


@pytest.mark.parametrize("command", named("command"))
def test_the_command_exists(command: str) -> None:
    assert fault(command) is None


@pytest.mark.parametrize("line", sorted(set(re.findall(r"^lexarbor (.+?)(?: +#.*)?$", PAGE + TOLD, re.M))))
def test_what_is_shown_in_a_shell_is_whole(line: str) -> None:
    assert fault(line, whole=True) is None


@pytest.mark.parametrize("change", re.findall(r"`--set '?([\w.]+)=", " ".join(TOLD.split())))
def test_what_differs_can_be_set(change: str) -> None:
    """Each key that docs/reproduction.md sets is one of the scale that its figures were made at."""
    assert "." in change
    value = yaml.safe_load((SOURCE / "experiments" / "scales" / "small.yaml").read_text(encoding="utf-8"))
    for part in change.split("."):
        value = value[part]


LINKS = dict(re.findall(r"^\[([\w-]+)\]: (.+)$", PAGE, re.M))


@pytest.mark.parametrize("name", LINKS)
def test_the_result_exists(name: str) -> None:
    assert LINKS[name].startswith("../results/")
    assert (ROOT / "docs" / LINKS[name]).is_file()


# nothing is missing


def test_every_row_has_its_cells() -> None:
    assert len(ROWS) > 150
    for row in ROWS:
        assert len(row.cells) == 5 and all(row.cells[1:]) and row.name, row
        for place, cell in enumerate(row.cells[2:], start=2):  # remarks stand in the first two
            left = re.sub(r"\[[\w-]+\]" if place == 4 else r"`[^`]+`", "", cell)
            assert left.strip(", ") in ("", NOTHING), row


def test_every_link_is_told_and_used() -> None:
    assert {name for row in ROWS for name in re.findall(r"\[([\w-]+)\]", row.cells[4])} == set(LINKS)


@pytest.mark.parametrize("section", PAPER)
def test_every_part_of_the_paper_is_in_its_section(section: str) -> None:
    assert section in re.findall(r"^#+ ([^(\n]+?)(?: \(|$)", PAGE, re.M)
    wanted = {part.strip() for part in PAPER[section].split("|")} - {""}
    assert wanted <= {row.name for row in ROWS if row.section == section}


def test_the_sections_come_in_the_order_of_the_paper() -> None:
    headings = re.findall(r"^#+ ([^(\n]+?)(?: \(|$)", PAGE, re.M)
    assert [heading for heading in headings if heading in PAPER] == list(PAPER)


def test_every_label_of_the_paper_is_told() -> None:
    places = [*re.findall(r"^#.*", PAGE, re.M), *(row.cells[0] for row in ROWS)]
    assert sorted(span for place in places for span in spans(place)) == sorted(LABELS)


@pytest.mark.parametrize(("name", "dsr", "lge", "key"), table(HYPERPARAMETERS))
def test_the_hyper_parameters_are_the_papers(name: str, dsr: str, lge: str, key: str) -> None:
    for model, value in (("DSR", dsr), ("LGE", lge)):
        if value != "-":
            recipe = f"paper-{model.lower()}:{key}"
            assert recipe_value(recipe) == yaml.safe_load(value)
            (row,) = rows_of(f"{name}, {model}")
            assert spans(row.cells[1]) == [f"{recipe}={value}"]


def test_the_table_of_hyper_parameters_is_whole() -> None:
    named = {f"{name}, {model}" for name, *values, _ in table(HYPERPARAMETERS) for model, value in
             zip(("DSR", "LGE"), values, strict=True) if value != "-"}  # fmt: skip
    assert {row.name for row in ROWS if row.section == "Table 5"} == named | {"Similarity, LGE"}


@pytest.mark.parametrize(("model", "name", "values", "key"), table(SPACES))
def test_the_search_spaces_are_the_papers(model: str, name: str, values: str, key: str) -> None:
    (row,) = rows_of(f"{model} space, {name}")
    assert spans(row.cells[1]) == ["experiments.spaces", f"paper-{model.lower()}:{key}"]
    space = importlib.import_module("lexarbor.experiments.spaces").SPACES[model.lower()]
    written = {yaml.safe_load(value) for value in values.split(",")} - ({0} if name == "temperature" else set())
    assert set(space.choices[key]) == written
    assert space.papers[key] == recipe_value(f"paper-{model.lower()}:{key}")


def test_every_experiment_is_in_the_map() -> None:
    assert experiments() == {command.split()[1] for command in named("command") if command.startswith("experiment ")}


def test_lines_are_short() -> None:
    assert [line for line in (PAGE + TOLD).splitlines() if len(line) > LONGEST] == []


# and what is not there is found out


@pytest.mark.parametrize(
    "name", ["nowhere", "text.nowhere", "text.similarity.sine", "text.similarity.cosine.more", "graph.forest.Edges.no"]
)
def test_code_that_is_not_there_is_noticed(name: str) -> None:
    assert not is_code(name)


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("train", "no command"),
        ("train nothing", "no command"),
        ("train text --recipe recipes/nothing.yaml", "no recipe"),
        ("train text --recipes recipes/dsr.yaml", "no option"),
        ("train text more", "more than it takes"),
        ("experiment nothing", "no experiment"),
        ("train text --recipe recipes/dsr.yaml --data here", "without {'out'}"),
    ],
)
def test_commands_that_are_none_are_noticed(command: str, found: str) -> None:
    assert (fault(command, whole=True) or "").startswith(found)


def test_a_key_that_a_recipe_does_not_have_is_noticed() -> None:
    with pytest.raises(KeyError):
        recipe_value("paper-dsr:optimisation.batches")
