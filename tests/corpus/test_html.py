import html
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexarbor.corpus.html import text_of

TAGS = "p br div table thead tbody tfoot tr td th caption ul ol li a b i em strong sup sub font center h1 hr".split()
MARKUP = re.compile(rf"</?({'|'.join(TAGS)})\b[^<>]*>", re.IGNORECASE)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("", ""),
        ("<p></p><br/>", ""),
        ("Plain  text,\n\t no markup. ", "Plain text, no markup."),
        ("<p>Un.</p><p>Deux.</p>", "Un.\nDeux."),
        ("<p><br/>Un.<br/>Deux.<br /></p>", "Un.\nDeux."),
        ("<div><p>Un</p>deux</div>trois", "Un\ndeux\ntrois"),
        ("<h1>Titre</h1>Texte<hr>suite", "Titre\nTexte\nsuite"),
        ('<P ALIGN="left">Un.</P\n><BR>Deux', "Un.\nDeux"),
        ("<p>1<sup>er</sup> <b>mai</b>, l'<a href='/x?a=1&b=2'>article L. 1</a>.</p>", "1er mai, l'article L. 1."),
        ("<center>ANNEXE</center>I", "ANNEXE\nI"),
    ],
)
def test_paragraphs_become_lines(source: str, expected: str) -> None:
    assert text_of(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<ul><li>un</li><li>deux</li></ul>fin", "- un\n- deux\nfin"),
        ("<ol><li>un<li>deux</ol>fin", "- un\n- deux\nfin"),
        ("<ul><li><p>un</p></li><li><p>deux</p><p>suite</p></li></ul>", "- un\n- deux\nsuite"),
        ("Soit :<ul> <li> <div>un</div> </li> </ul>", "Soit :\n- un"),
        ("<ul><li>un<ul><li>un bis</li></ul></li><li>deux</li></ul>", "- un\n- un bis\n- deux"),
        ("<ul><li></li></ul>après", "après"),
        ("<ul><li></ul>après", "après"),
    ],
)
def test_list_items_become_dashes(source: str, expected: str) -> None:
    assert text_of(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>", "A | B\n1 | 2"),
        (
            "avant<table><thead><tr><td>A</td></tr></thead><tbody><tr><td>1</td></tr></tbody></table>après",
            "avant\nA\n1\naprès",
        ),
        ("<table><tr> <td><p>un</p><p>deux</p></td> <td><br/>trois<br/></td> </tr></table>", "un deux | trois"),
        ("<table><tr><td>un<ul><li>a</li><li>b</li></ul></td><td>2</td></tr></table>", "un a b | 2"),
        ("<table><tr><td>A</td><td></td><td> </td><td>D</td></tr></table>", "A | | | D"),
        ("<table><tr><td></td><td>B</td></tr><tr><td>C</td><td></td></tr></table>", "| B\nC |"),
        ("<table><tr><td></td><td> </td></tr><tr></tr></table>", ""),
        ("<table><tr><td>1<td>2<tr><td>3<td>4</table>fin", "1 | 2\n3 | 4\nfin"),
        ("<table><caption>Titre</caption><tr><td>1</td></tr></table>", "Titre\n1"),
        ("<tr><td>1</td></tr><p>un</p><p>deux</p>", "1\nun\ndeux"),
        ("<td>seule</td><td>cellule</td>", "seule\ncellule"),
        (
            "<table><tr><td><table><tr><td>a</td><td>b</td></tr></table></td><td>c</td></tr></table>",
            "a | b\nc",
        ),
    ],
)
def test_table_rows_become_lines_of_cells(source: str, expected: str) -> None:
    assert text_of(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<p>a&nbsp;:&#160;b\u00a0;\u202fc</p>", "a : b ; c"),
        ("<p>&nbsp;</p>", ""),
        ("l&#39;&eacute;t&eacute; &amp; l&rsquo;hiver", "l'été & l’hiver"),
        ("&lt;p&gt; n'est pas une balise", "<p> n'est pas une balise"),
        ("&amp;lt;", "&lt;"),
        ("R&D, &inconnue; & seul", "R&D, &inconnue; & seul"),
        ("a&#10;b&#x2028;c", "a b c"),
    ],
)
def test_entities_are_read_once_and_spaces_folded(source: str, expected: str) -> None:
    assert text_of(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("si t < 2,6 alors H > 40", "si t < 2,6 alors H > 40"),
        ("> 25 % et < ou = 50 %", "> 25 % et < ou = 50 %"),
        ("<p>a <3 b</p><p>c</p>", "a <3 b\nc"),
        ("fin <p", "fin <p"),
        ("<<b>x</b>", "<x"),
        ("a<!-- <p>caché</p>\n -->b", "ab"),
        ("a<!-- <script> -->b", "ab"),
        ("a <!-- jamais <p>fermé</p>", "a"),
        ("a" + "<!--" * 20_000, "a"),
        ("a<style>p { color: red }</style>b", "ab"),
        ("a<SCRIPT type='x'>if (a < b) document.write('<p>')</SCRIPT >b", "ab"),
        ("a<script>jamais fermé <p>b</p>", "a"),
    ],
)
def test_stray_signs_stay_and_hidden_parts_go(source: str, expected: str) -> None:
    assert text_of(source) == expected


words = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="<&"), max_size=12)
tags = st.builds(
    "<{}{}{}>".format, st.sampled_from(["", "/"]), st.sampled_from(TAGS), st.sampled_from(["", " a='1'", "/"])
)
broken = st.sampled_from(
    ["<", ">", "</", "<!--", "-->", "<script>", "</script>", "&lt;", "&nbsp;", "&", "&#0;", "&#x110000;"]
)


@settings(deadline=None)
@given(st.lists(st.one_of(words, tags, broken)).map("".join))
def test_anything_gives_clean_lines(source: str) -> None:
    text = text_of(source)
    for line in text.splitlines():
        assert line == " ".join(line.split()) != ""


@settings(deadline=None)
@given(st.lists(st.one_of(words, tags)))
def test_no_tag_is_left_and_no_word_is_lost(pieces: list[str]) -> None:
    text = text_of("".join(pieces))
    assert not MARKUP.search(text)
    letters = "".join("".join(piece.split()) for piece in pieces if not MARKUP.fullmatch(piece))
    added = str.maketrans("", "", "-|")
    assert "".join(text.split()).translate(added) == letters.translate(added)


@settings(deadline=None)
@given(words)
def test_text_without_markup_comes_back_with_its_spaces_folded(text: str) -> None:
    assert text_of(text) == " ".join(text.split())


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=("Cs", "Cc"))))
def test_escaped_text_comes_back_whole(text: str) -> None:
    assert text_of(f"<p>{html.escape(text)}</p>") == " ".join(text.split())


@settings(deadline=None)
@given(st.lists(st.one_of(words, tags)).map("".join))
def test_each_line_of_the_output_stays_as_it_is(source: str) -> None:
    for line in text_of(source).splitlines():
        assert text_of(line) == line
