import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexarbor.corpus.html import text_of
from lexarbor.serve.pages.body import blocks, opening
from lexarbor.serve.pages.views import Block


def paragraph(text: str) -> Block:
    return Block("paragraph", ((text,),))


def items(*texts: str) -> Block:
    return Block("list", tuple((text,) for text in texts))


def table(*rows: tuple[str, ...]) -> Block:
    return Block("table", rows)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        (" \n\n", ()),
        ("Un.\nDeux.", (paragraph("Un."), paragraph("Deux."))),
        ("  Un. \r\n\r\nDeux.", (paragraph("Un."), paragraph("Deux."))),
        ("Soit :\n- un\n- deux\nfin", (paragraph("Soit :"), items("un", "deux"), paragraph("fin"))),
        ("- un\n\n- deux", (items("un"), items("deux"))),
        ("- - un\n-\n-deux", (items("- un"), paragraph("-"), paragraph("-deux"))),
        ("A | B\n1 | 2", (table(("A", "B"), ("1", "2")),)),
        ("Dit\nA | B | C\n1 | 2\nfin", (paragraph("Dit"), table(("A", "B", "C"), ("1", "2", "")), paragraph("fin"))),
        ("A | B\n\n1 | 2\n3 | 4", (paragraph("A | B"), table(("1", "2"), ("3", "4")))),
        ("| B\nC |\nA | | | D", (table(("", "B", "", ""), ("C", "", "", ""), ("A", "", "", "D")),)),
        ("|\n| |\na|b\nc|d", tuple(map(paragraph, ("|", "| |", "a|b", "c|d")))),
        ("seule | ligne", (paragraph("seule | ligne"),)),
        ("- un\n- a | b\n- deux", (items("un", "a | b", "deux"),)),
        ("- pneus | 2\n- roues | 4", (table(("- pneus", "2"), ("- roues", "4")),)),
        ("<b>gras</b> & co", (paragraph("<b>gras</b> & co"),)),
    ],
)
def test_lines_become_blocks(text: str, expected: tuple[Block, ...]) -> None:
    assert blocks(text) == expected


def test_the_structure_of_html_is_found_again() -> None:
    rows = "<tr><td>A</td><td>B</td><td></td></tr><tr><td></td><td>2</td><td>3</td></tr>"
    html = f"<p>Soit :</p><ul><li>un</li><li>deux</li></ul><table>{rows}</table><p>fin</p>"
    assert blocks(text_of(html)) == (
        paragraph("Soit :"),
        items("un", "deux"),
        table(("A", "B", ""), ("", "2", "3")),
        paragraph("fin"),
    )


lawlike = st.lists(st.sampled_from(["a", "mot", "-", "- ", "|", " | ", " ", "\n", "\n- ", "\r\n", "\u2028", "…"])).map(
    "".join
)
texts = st.text() | lawlike


def written_again(block: Block) -> list[str]:
    """The words of a block as they were in the text, but for the bars between cells."""
    if block.kind == "list":
        return [word for (item,) in block.rows for word in ("-", *item.split())]
    return [word for row in block.rows for cell in row for word in cell.split()]


@given(texts)
def test_no_word_is_lost_or_invented(text: str) -> None:
    found = blocks(text)
    words = [word for block in found for word in written_again(block)]
    assert [word for word in words if word != "|"] == [word for word in text.split() if word != "|"]
    if not any(block.kind == "table" for block in found):
        assert words == text.split()


@given(texts)
def test_blocks_have_their_shape(text: str) -> None:
    for block in blocks(text):
        widths = {len(row) for row in block.rows}
        if block.kind == "table":
            assert len(block.rows) > 1
            assert len(widths) == 1 and widths.pop() > 1
            assert all(any(row) for row in block.rows)
        else:
            assert block.kind == "list" or (block.kind == "paragraph" and len(block.rows) == 1)
            assert widths == {1}
            assert all(row[0] for row in block.rows)


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [
        ("", 10, ""),
        (" Un\n deux ", 10, "Un deux"),
        ("Un deux tr", 10, "Un deux tr"),
        ("Un deux trois", 10, "Un deux …"),
        ("Un deuxtr trois", 10, "Un …"),
        ("Un deuxt trois", 10, "Un deuxt …"),
        ("Un deux ; trois", 10, "Un deux …"),
        ("anticonstitutionnellement", 10, "anticons …"),
        (", , , , , , ,", 6, ", , …"),
    ],
)
def test_the_opening_is_cut_at_a_word(text: str, most: int, expected: str) -> None:
    assert opening(text, most) == expected


@given(texts, st.integers(3, 40))
def test_the_opening_begins_the_text(text: str, most: int) -> None:
    line = " ".join(text.split())
    cut = opening(text, most)
    assert len(cut) <= most
    assert cut == line or (cut.endswith(" …") and line.startswith(cut[:-2]) and len(line) > most)
