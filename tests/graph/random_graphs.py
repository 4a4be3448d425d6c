"""Random graphs of law for property tests: a forest of sections, articles at one place or more, any citations."""

from hypothesis import strategies as st

from lexarbor.graph.edges import edge_list, mirrored
from lexarbor.graph.legislation import EDGE_KINDS, MIRRORED, LegislativeGraph


@st.composite
def graphs(draw: st.DrawFn, *, kinds: bool = True) -> LegislativeGraph:
    """With some kinds of edges, or with all."""
    s, a = draw(st.integers(1, 6)), draw(st.integers(0, 8))
    above = [draw(st.none() | st.integers(0, row - 1)) if row else None for row in range(s)]
    contains = [(parent, row) for row, parent in enumerate(above) if parent is not None]
    rows = range(s, s + a)
    for row in rows:
        contains += [(parent, row) for parent in draw(st.sets(st.integers(0, s - 1), min_size=1, max_size=2))]
    between = st.lists(st.tuples(st.sampled_from(rows), st.sampled_from(rows)), max_size=20) if a else st.just([])
    edges = {}
    for (kind, other), pairs in zip(MIRRORED, (contains, draw(between), draw(between)), strict=True):
        edges[kind] = edge_list(pairs)
        edges[other] = mirrored(edges[kind])
    whole = LegislativeGraph(tuple(f"s{row}" for row in range(s)), tuple(f"x{row:02}" for row in range(a)), edges)
    return whole.only(draw(st.sets(st.sampled_from(EDGE_KINDS)))) if kinds else whole
