"""`lexarbor round-trip`: of synthetic questions, those whose article comes back."""

from pathlib import Path

import typer

from lexarbor.cli.corpus import LAW, LAW_FORMAT
from lexarbor.cli.output import FORMAT, Format, counting, print_pairs, say, working
from lexarbor.errors import TrainingError
from lexarbor.files import check_file


def round_trip(
    questions: Path = typer.Argument(..., help="A file of questions, as `lexarbor augment` writes it."),
    law: str | None = LAW,
    law_format: str | None = LAW_FORMAT,
    out: Path = typer.Option(..., "--out", "-o", help="The JSONL file to write, packed where it ends in .xz."),
    depth: int = typer.Option(10, "--depth", min=1, help="How far down the article may stand."),
    legs: str = typer.Option("bm25,dense", "--legs", help="What searches, joined by commas; one that finds is enough."),
    form: Format = FORMAT,
) -> None:
    """Keep the synthetic questions for which a search brings back the article they were made from."""
    from lexarbor.corpus.sources import DEFAULT_LAW, read_law
    from lexarbor.supervision.round_trip import check_legs, round_trip
    from lexarbor.supervision.synthetic import read_synthetic, write_synthetic

    chosen = check_legs([name.strip() for name in legs.split(",") if name.strip()])
    check_file(out)
    if out.exists():
        raise TrainingError(f"{out}: is there already; give another file")
    asked = read_synthetic(questions)
    source = DEFAULT_LAW if law is None else law
    with working(f"reading {source}"):
        tree = read_law(source, format=law_format)
    with counting("questions") as advance:
        found = round_trip(asked, tree, depth=depth, legs=chosen, on_step=advance)
    write_synthetic(found.kept, out)
    print_pairs(questions.name, {"law": tree.name, "depth": depth, **found.report}, form)
    say(f"written to {out}")
