"""How a table is drawn, to the character."""

import json

import pytest

from lexarbor.errors import EvaluationError
from lexarbor.evaluation import Table, render

TABLE = Table(
    "Test & dev",
    ["Stratum", "System", "n", "R@100"],
    [
        ["all", "bm25_x", 12, 0.493],
        ["all", "g|dsr", 12, 0.843],
        ["seen", "bm25_x", 3, 1.0],
        ["seen", "g|dsr", 3, None],
    ],
    ["100 % of\nquestions."],
    group="Stratum",
)


def test_text_is_aligned_figures_to_the_right() -> None:
    assert render(TABLE).split("\n") == [
        "Test & dev",
        "Stratum  System   n  R@100",
        "--------------------------",
        "all      bm25_x  12   49.3",
        "all      g|dsr   12   84.3",
        "--------------------------",
        "seen     bm25_x   3  100.0",
        "seen     g|dsr    3      –",
        "100 % of questions.",
    ]


def test_markdown_is_escaped_and_the_best_is_bold() -> None:
    assert render(TABLE, "markdown", bold_best=True).split("\n") == [
        "**Test & dev**",
        "",
        "| Stratum | System | n | R@100 |",
        "| :--- | :--- | ---: | ---: |",
        r"| all | bm25\_x | 12 | 49.3 |",
        r"| all | g\|dsr | 12 | **84.3** |",
        r"| seen | bm25\_x | 3 | 100.0 |",
        r"| seen | g\|dsr | 3 | – |",
        "",
        "100 % of questions.",
    ]


def test_latex_is_escaped_and_the_best_is_bold() -> None:
    assert render(TABLE, "latex", bold_best=True).split("\n") == [
        r"% needs \usepackage{booktabs, graphicx}",
        r"\begin{table}[t]",
        r"\centering",
        r"\caption{Test \& dev}",
        r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        r"\begin{tabular}{llrr}",
        r"\toprule",
        r"Stratum & System & n & R@100 \\",
        r"\midrule",
        r"all & bm25\_x & 12 & 49.3 \\",
        r"all & g\textbar{}dsr & 12 & \textbf{84.3} \\",
        r"\midrule",
        r"seen & bm25\_x & 3 & 100.0 \\",
        r"seen & g\textbar{}dsr & 3 & -- \\",
        r"\bottomrule",
        r"\end{tabular}}",
        r"\par\smallskip{\footnotesize 100 \% of questions.}",
        r"\end{table}",
    ]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (r"a\b", r"a\textbackslash{}b"),
        ("#1 {x} $2", r"\#1 \{x\} \$2"),
        ("~^<>", r"\textasciitilde{}\textasciicircum{}\textless{}\textgreater{}"),
        ("[1] *", "{[}1] {*}"),
        ("– --only ---", "-- -{}-only -{}-{}-"),
    ],
)
def test_every_character_that_latex_would_take_for_itself(words: str, expected: str) -> None:
    assert rf"{expected} \\" in render(Table("t", ["x"], [[words]]), "latex").split("\n")


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_nothing_is_bold_unless_asked(form: str) -> None:
    drawn = render(TABLE, form)  # type: ignore[arg-type]
    assert "**84" not in drawn
    assert "textbf" not in drawn


def test_json_keeps_the_figures_whole() -> None:
    assert json.loads(render(TABLE, "json", bold_best=True)) == {
        "title": "Test & dev",
        "columns": ["Stratum", "System", "n", "R@100"],
        "rows": [
            ["all", "bm25_x", 12, 0.493],
            ["all", "g|dsr", 12, 0.843],
            ["seen", "bm25_x", 3, 1],
            ["seen", "g|dsr", 3, None],
        ],
        "notes": ["100 % of\nquestions."],
    }


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "json"])
def test_a_table_without_rows_is_still_a_table(form: str) -> None:
    assert "R@100" in render(Table("t", ["System", "R@100"], []), form)  # type: ignore[arg-type]


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(EvaluationError, match="unknown format 'html'; expected one of: text, markdown, latex, json"):
        render(TABLE, "html")  # type: ignore[arg-type]


def test_a_wide_table_stands_over_the_whole_page() -> None:
    narrow, wide = (Table("t", ["Model", "R@100"], [["m" * length, 0.5]]) for length in (45, 46))
    for table, place in ((narrow, "table"), (wide, "table*")):
        lines = render(table, "latex").splitlines()
        assert (lines[1], lines[-1]) == (rf"\begin{{{place}}}[t]", rf"\end{{{place}}}")
