"""A client's bucket of tokens: counted by a clock of our own."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexarbor.serve import limits
from lexarbor.serve.limits import TokenBuckets


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_burst_is_given_at_once_and_then_the_rate(clock: Clock) -> None:
    buckets = TokenBuckets(2.0, 3, clock)
    assert [buckets.take("a") for _ in range(5)] == [0, 0, 0, 1, 1]
    clock.now += 0.25
    assert buckets.take("a") == 1  # half a token
    clock.now += 0.25
    assert [buckets.take("a") for _ in range(2)] == [0, 1]
    clock.now += 1000
    assert [buckets.take("a") for _ in range(4)] == [0, 0, 0, 1]  # it holds no more than a burst


def test_the_time_to_wait_is_enough(clock: Clock) -> None:
    buckets = TokenBuckets(0.3, 5, clock)
    assert buckets.take("a", 5) == 0
    seconds = buckets.take("a", 4)
    assert seconds == math.ceil(4 / 0.3) == 14
    clock.now += seconds
    assert buckets.take("a", 4) == 0


def test_what_is_refused_costs_nothing(clock: Clock) -> None:
    buckets = TokenBuckets(1.0, 10, clock)
    assert buckets.take("a", 8) == 0
    assert [buckets.take("a", 5) for _ in range(3)] == [3, 3, 3]
    assert buckets.take("a", 2) == 0
    assert buckets.take("a") == 1


def test_what_costs_more_than_a_bucket_holds_costs_a_full_one(clock: Clock) -> None:
    buckets = TokenBuckets(1.0, 10, clock)
    assert buckets.take("a", 99) == 0
    assert buckets.take("a", 99) == 10
    clock.now += 10
    assert buckets.take("a", 99) == 0


def test_what_was_paid_before_is_part_of_the_cost(clock: Clock) -> None:
    buckets = TokenBuckets(1.0, 10, clock)
    assert buckets.take("a") == 0
    assert buckets.take("a", 10, paid=1) == 0  # ten in all
    assert buckets.take("a") == 1
    clock.now += 5
    assert buckets.take("a") == 0
    assert buckets.take("a", 8, paid=1) == 4  # and the one is gone
    assert buckets.take("a", 4) == 0
    clock.now += 10
    assert buckets.take("a") == 0
    assert buckets.take("a", 99, paid=1) == 0


@pytest.mark.parametrize("rate", [0.1, 1.0, 3.0])
def test_who_waits_as_told_gets_through(clock: Clock, rate: float) -> None:
    buckets = TokenBuckets(rate, 10, clock)
    assert buckets.take("a", 9) == 0
    for _ in range(3):
        assert buckets.take("a") == 0
        seconds = buckets.take("a", 8, paid=1)
        if not seconds:
            break
        clock.now += seconds
    else:
        pytest.fail("it was told again and again to wait")


def test_clients_do_not_share(clock: Clock) -> None:
    buckets = TokenBuckets(1.0, 1, clock)
    assert [buckets.take(client) for client in ("192.0.2.1", "192.0.2.2", "192.0.2.1", "", "unix:")] == [0, 0, 1, 0, 0]


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("2001:db8::1", "2001:db8::ffff:2", True),
        ("2001:db8:0:0:a::", "2001:db8::", True),
        ("2001:DB8::1", "2001:db8:0::1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("fe80::1%eth0", "fe80::2%eth0", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("not an address", "nor this", False),
    ],
)
def test_an_ipv6_client_is_its_network(clock: Clock, one: str, other: str, shared: bool) -> None:
    buckets = TokenBuckets(1.0, 1, clock)
    assert buckets.take(one) == 0
    assert (buckets.take(other) > 0) == shared


def test_no_more_clients_are_kept_than_may_be(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_CLIENTS", 3)
    buckets = TokenBuckets(1.0, 1, clock)
    assert [buckets.take(client) for client in "abcd"] == [0, 0, 0, 0]
    assert len(buckets._buckets) == 3
    assert [buckets.take(client) for client in "bcd"] == [1, 1, 1]
    assert buckets.take("a") == 0  # the one unheard of for the longest was forgotten
    assert len(buckets._buckets) == 3
    for client in range(100):
        buckets.take(str(client))
    assert len(buckets._buckets) == 3


def test_no_address_is_kept(clock: Clock) -> None:
    buckets, others = TokenBuckets(1.0, 1, clock), TokenBuckets(1.0, 1, clock)
    for one in (buckets, others):
        one.take("192.0.2.1")
    assert b"192.0.2.1" not in b"".join(buckets._buckets)
    assert set(buckets._buckets).isdisjoint(others._buckets)  # each has a key of its own


def test_without_a_rate_there_is_no_limit(clock: Clock) -> None:
    buckets = TokenBuckets(0.0, 1, clock)
    assert not any(buckets.take("a", 99) for _ in range(100))
    assert not buckets._buckets


times = st.lists(st.tuples(st.floats(0, 5), st.integers(1, 12), st.booleans()), min_size=1, max_size=60)


@settings(deadline=None)
@given(asked=times, rate=st.floats(0.05, 20), burst=st.integers(1, 10))
def test_never_more_than_the_burst_and_the_rate_in_any_time(
    asked: Sequence[tuple[float, int, bool]], rate: float, burst: int
) -> None:
    clock = Clock()
    buckets = TokenBuckets(rate, burst, clock)
    taken: list[tuple[float, int]] = []
    for passed, cost, batch in asked:
        clock.now += passed
        if batch:  # one first, the others when it is known how many there are
            if not buckets.take("a") and not buckets.take("a", cost, paid=1):
                taken.append((clock.now, min(cost, burst)))
        elif not buckets.take("a", cost):
            taken.append((clock.now, min(cost, burst)))
    for first, (began, _) in enumerate(taken):
        total = 0
        for now, cost in taken[first:]:
            total += cost
            assert total <= burst + rate * (now - began) + 1e-6


@settings(deadline=None)
@given(rate=st.floats(0.05, 20), burst=st.integers(1, 10), costs=st.lists(st.integers(1, 12), max_size=20))
def test_the_wait_that_is_told_is_long_enough_and_no_second_longer(rate: float, burst: int, costs: list[int]) -> None:
    clock = Clock()
    buckets = TokenBuckets(rate, burst, clock)
    for cost in costs:
        seconds = buckets.take("a", cost)
        if seconds > 1:
            clock.now += seconds - 1 - 1e-3
            assert buckets.take("a", cost)
            clock.now += 1 + 2e-3
        elif seconds:
            clock.now += seconds + 1e-3
        if seconds:
            assert buckets.take("a", cost) == 0
