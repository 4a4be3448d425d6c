"""What is counted, for Prometheus: requests by route, never by what was asked."""

import os

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram, generate_latest, multiprocess

SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 1.0, 2.5, 10.0)

requests = Counter("lexarbor_requests_total", "Requests answered.", ("route", "method", "status"))
refusals = Counter("lexarbor_refusals_total", "Requests refused, by the code of the refusal.", ("code",))
request_seconds = Histogram(
    "lexarbor_request_seconds", "From a request's head to its answer.", ("route",), buckets=SECONDS
)
search_seconds = Histogram("lexarbor_search_seconds", "One question in the engine.", buckets=SECONDS)
waiting = Gauge("lexarbor_waiting", "Questions in the engine or waiting for it.", multiprocess_mode="livesum")
law_day = Gauge("lexarbor_law_timestamp_seconds", "The day of the law as it stands.", multiprocess_mode="livemin")
articles = Gauge("lexarbor_articles", "Articles in force in the law as it stands.", multiprocess_mode="livemin")
swaps = Counter("lexarbor_index_swaps_total", "Times a new index was taken up.", ("outcome",))


def exposition() -> bytes:
    """All of it, of all workers, as Prometheus reads it."""
    registry = REGISTRY
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        registry = CollectorRegistry()
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry)
