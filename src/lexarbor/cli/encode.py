"""`lexarbor encode`: the articles of a law as vectors."""

import time
from pathlib import Path

import typer

from lexarbor.cli.corpus import LAW, LAW_FORMAT
from lexarbor.cli.output import counting, say, working
from lexarbor.errors import ModelError
from lexarbor.files import check_folder


def encode(
    law: str | None = LAW,
    law_format: str | None = LAW_FORMAT,
    out: Path = typer.Option(..., "--out", "-o", help="Folder to write to: vectors.npy, ids.json, manifest.json."),
    model: Path | None = typer.Option(None, "--model", "-m", help="The folder of an exported model; else the shipped."),
    graph: str | None = typer.Option(
        None, "--graph", "-g", help="Let articles hear those around them: a graph encoder's folder, or 'shipped'."
    ),
    cache: Path | None = typer.Option(
        None, "--cache", help="Where finished vectors are kept, to go on from; else a folder in the cache."
    ),
    threads: int | None = typer.Option(None, "--threads", min=1, help="How many articles at once; 2 unless given."),
) -> None:
    """Encode every article in force of a law. A run that was stopped goes on where it was."""
    from lexarbor.corpus.packages import cache_folder
    from lexarbor.corpus.sources import DEFAULT_LAW, read_law
    from lexarbor.graph.enrichment import Enricher, enrich_law
    from lexarbor.graph.shipped import shipped_graph_model
    from lexarbor.text.corpus_vectors import encode_law
    from lexarbor.text.encoder import TextEncoder
    from lexarbor.text.shipped import shipped_model
    from lexarbor.text.vectors_folder import write_vectors

    kept = cache or cache_folder() / "vectors"
    for folder in (out, kept):
        check_folder(folder)
    encoder = TextEncoder.open(model or shipped_model(), threads)
    enricher = None
    if graph is not None:
        enricher = Enricher.open(shipped_graph_model() if graph == "shipped" else Path(graph))
        enricher.check_encoder(encoder.checksum)
    source = DEFAULT_LAW if law is None else law
    with working(f"reading {source}"):
        tree = read_law(source, format=law_format)
        held = tree.as_of(tree.date) if tree.date else tree
    if not held.articles:
        raise ModelError(f"the law '{held.name}' holds no article in force: nothing to encode")
    steps: list[tuple[int, int]] = []
    began = time.perf_counter()
    what = "articles" if enricher is None else "articles and headings"
    with counting(what) as advance:

        def count(done: int, total: int) -> None:
            steps.append((done, total))
            advance(done, total)

        if enricher is None:
            found = encode_law(encoder, held, kept, count)
        else:
            found = enrich_law(enricher, encoder, held, kept, count)
    seconds = time.perf_counter() - began
    facts = {"law": held.name, "source": source, "law_as_of": held.date.isoformat() if held.date else None}
    if enricher is not None:
        facts["graph"] = enricher.checksum
    write_vectors(found, out, model=encoder.checksum, facts=facts)
    typer.echo(out)
    say(_summary(what, *steps[0], seconds))


def _summary(what: str, known: int, total: int, seconds: float) -> str:
    """What was done; the rate is that of the texts that were not known from before."""
    told = f"{total:,} {what}, {known:,} of them kept from before" if known else f"{total:,} {what}"
    if known == total:
        return f"{told}: nothing to encode"
    return f"{told}: {seconds:.1f} s, {(total - known) / seconds:,.1f} {what} a second"
