"""`lexarbor augment`: questions that a model makes up about the articles of a law."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from lexarbor.cli.corpus import LAW, LAW_FORMAT
from lexarbor.cli.output import FORMAT, Format, counting, needing_train, print_pairs, say, working
from lexarbor.errors import TrainingError

if TYPE_CHECKING:
    from lexarbor.supervision.augmentation import Augmented
    from lexarbor.supervision.folder import Passage

MODEL = "doc2query/msmarco-french-mt5-base-v1"
"""What the paper's authors asked."""
_OWN = "as the model was trained, unless given."


def augment(
    model: str = typer.Option(MODEL, "--model", "-m", help="A seq2seq model: its name on the hub, or its folder."),
    law: str | None = LAW,
    law_format: str | None = LAW_FORMAT,
    data: Path | None = typer.Option(None, "--data", "-d", help="A supervision folder whose articles to take instead."),
    out: Path = typer.Option(..., "--out", "-o", help="The JSONL file to write, with .settings.json beside it."),
    questions: int = typer.Option(5, "--questions", help="How many of each article."),
    top_k: int = typer.Option(50, "--top-k", help="Draw among the likeliest so many tokens; 0 for all."),
    top_p: float = typer.Option(0.95, "--top-p", help="Of those, among the likeliest with this probability together."),
    temperature: float = typer.Option(1.0, "--temperature", help="Below 1 the likely is drawn more often, above less."),
    seed: int = typer.Option(0, "--seed", help="Of what is drawn."),
    batch_size: int = typer.Option(16, "--batch-size", help="Articles at once: part of what decides what is drawn."),
    prefix: str | None = typer.Option(None, "--prefix", help=f"Words before each article; {_OWN}"),
    headings: bool | None = typer.Option(None, "--headings/--no-headings", help=f"Headings above the text; {_OWN}"),
    input_tokens: int | None = typer.Option(None, "--input-tokens", help=f"What is read of an article; {_OWN}"),
    question_tokens: int | None = typer.Option(None, "--question-tokens", help=f"The longest question; {_OWN}"),
    limit: int | None = typer.Option(None, "--limit", min=1, help="Only the first so many articles, to try it out."),
    resume: bool = typer.Option(False, "--resume", help="Go on with a file that a stopped run began."),
    form: Format = FORMAT,
) -> None:
    """Ask a model for questions about every article in force of a law. A run that was stopped can be resumed."""
    with needing_train("augment"):
        from lexarbor.training import stages
    from lexarbor.supervision.sampling import Sampling

    sampling = Sampling(questions, top_k, top_p, temperature, seed)
    given = {"prefix": prefix, "headings": headings, "input_tokens": input_tokens, "question_tokens": question_tokens}
    changes = {name: value for name, value in given.items() if value is not None}
    articles = _articles(law, law_format, data)[:limit]
    steps: list[int] = []
    with counting("articles") as advance:

        def count(done: int, total: int) -> None:
            steps.append(done)
            advance(done, total)

        result = stages.augment(
            model, articles, out, sampling, settings=changes, batch_size=batch_size, resume=resume, on_step=count
        )
    print_pairs("augment", {"model": model, **result._asdict(), "out": str(out)}, form)
    _tell(result, steps[0])


def _articles(law: str | None, law_format: str | None, data: Path | None) -> "list[Passage]":
    """The articles of a supervision folder, or those in force of a law, by id."""
    from lexarbor.corpus.sources import DEFAULT_LAW, read_law
    from lexarbor.supervision.folder import Passage, SupervisionFolder

    if data is not None:
        if law is not None or law_format is not None:
            raise TrainingError("--data has articles of its own: leave --law and --law-format out, or --data")
        return SupervisionFolder.open(data).articles
    source = DEFAULT_LAW if law is None else law
    with working(f"reading {source}"):
        tree = read_law(source, format=law_format)
        return [Passage(article.id, article.text, tree.headings(article)) for article in tree.current()]


def _tell(result: "Augmented", known: int) -> None:
    """What is not in the file but good to know."""
    if result.empty:
        say(f"{result.empty:,} {'article' if result.empty == 1 else 'articles'} without text passed over")
    if known == result.articles:
        say("all of it was asked before: nothing was asked again")
    elif known:
        say(f"{known:,} of {result.articles:,} articles were kept from before")
