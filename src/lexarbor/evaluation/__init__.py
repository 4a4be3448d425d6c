"""Evaluation: measures, strata, significance, tables and figures, over ids and numbers only.

rankings      what is scored: runs and judgements, and how ties are broken
measures      recall, average precision, R-precision, nDCG, for one question
scores        a whole run scored: every question by every measure
strata        seen, unseen and partial questions
significance  bootstrap intervals, the paired test, Holm's correction
comparison    two systems on the same questions: interval and test together
runs          TREC run and qrels files
tables        tables of results, and `rendering`: text, Markdown, LaTeX, JSON
figures       recall curves and heat maps (needs the extra `figures`)
drawings      histograms, maps of points, likeness of many (the same)
"""

from lexarbor.evaluation.comparison import Comparison, compare
from lexarbor.evaluation.figures import check_drawing, heat_map, recall_figure
from lexarbor.evaluation.measures import (
    MEASURES,
    Measure,
    average_precision,
    ndcg,
    r_precision,
    recall,
)
from lexarbor.evaluation.rankings import Judgements, Rankings, Run, ScoredArticle, gold_ranks, order
from lexarbor.evaluation.rendering import Format, render
from lexarbor.evaluation.runs import read_qrels, read_run, write_qrels, write_run
from lexarbor.evaluation.scores import Scores, evaluate, recall_curve
from lexarbor.evaluation.significance import (
    Interval,
    bootstrap_interval,
    holm,
    paired_interval,
    randomisation_test,
)
from lexarbor.evaluation.strata import STRATA, Stratum, means_by_stratum, strata, stratum
from lexarbor.evaluation.tables import Cell, Results, Table, results_table

__all__ = [
    "MEASURES",
    "STRATA",
    "Cell",
    "Comparison",
    "Format",
    "Interval",
    "Judgements",
    "Measure",
    "Rankings",
    "Results",
    "Run",
    "ScoredArticle",
    "Scores",
    "Stratum",
    "Table",
    "average_precision",
    "bootstrap_interval",
    "check_drawing",
    "compare",
    "evaluate",
    "gold_ranks",
    "heat_map",
    "holm",
    "means_by_stratum",
    "ndcg",
    "order",
    "paired_interval",
    "r_precision",
    "randomisation_test",
    "read_qrels",
    "read_run",
    "recall",
    "recall_curve",
    "recall_figure",
    "render",
    "results_table",
    "strata",
    "stratum",
    "write_qrels",
    "write_run",
]
