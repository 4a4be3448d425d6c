"""Small laws for properties of what writes and reads one."""

from typing import Any

from hypothesis import strategies as st

from lexarbor.corpus.law import Article, Code, Section, Version
from lexarbor.corpus.tree import LawTree

days = st.none() | st.dates()
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=8)


@st.composite
def trees(draw: st.DrawFn) -> LawTree:
    """Small trees in the order of the law, some articles at two places, some with versions that are not held."""
    history: dict[str, list[Version]] = {}
    nodes: list[Code | Section | Article] = []
    paths: list[tuple[str, ...]] = []

    def below(code: str, path: tuple[str, ...]) -> None:
        paths.append(path)
        for _ in range(draw(st.integers(0, 3))):
            id = f"{code}.{len(nodes)}"
            if len(path) < 3 and draw(st.booleans()):
                nodes.append(Section(id, draw(texts), len(path) + 1, path[-1] if path else code, draw(texts)))
                below(code, (*path, id))
            else:
                nodes.append(an_article(id, code, path))

    def an_article(id: str, code: str, path: tuple[str, ...]) -> Article:
        others = [other for other in paths if other != path]
        also = tuple(draw(st.lists(st.sampled_from(others), unique=True, max_size=2))) if others else ()
        cid = draw(st.sampled_from(["", "X", "Y"]))
        for number in range(draw(st.integers(0, 2))):
            history.setdefault(cid or id, []).append(Version(f"{id}v{number}", draw(days), draw(days)))
        return Article(
            id, draw(texts), code, draw(texts), path, draw(days), draw(days), draw(texts), cid, draw(texts), also
        )

    for code in ("C1", "C2"):
        nodes.append(Code(code, draw(texts)))
        paths.clear()
        below(code, ())
    return LawTree(nodes, date=draw(days), history=history, name=draw(texts))


def content(tree: LawTree) -> tuple[Any, ...]:
    children = {id: tree.children(id) for id in tree.walk()}
    return tree.name, tree.date, list(tree.nodes()), children, tree.history
