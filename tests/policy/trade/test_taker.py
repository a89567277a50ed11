"""ACCEPT_LOAD: events in, commands out."""

from __future__ import annotations

from tests.policy.machines.hosting import Heard, Hosted

from australis.policy.machines import Say as Send
from australis.policy.machines import Wake
from australis.policy.trade.contract import Contract, Task, fixed
from australis.policy.trade.cost import CostCurve
from australis.policy.trade.holding import Settings
from australis.policy.trade.messages import (
    Accepted,
    Agreed,
    Asked,
    Ended,
    Gone,
    Installed,
    Moved,
    Offer,
    Rejected,
    Relieved,
    Take,
    Taken,
    Took,
    Withdrawn,
    Woke,
)
from australis.policy.trade.participant import Participant

COST = CostCurve(slopes=(10, 20, 30, 40, 50, 60))
A, B, C, D = (Task(name) for name in "abcd")
ANSWER = Woke("answer")
INSTALLED = {Take: lambda take: Installed(take.giver, take.serial)}


def taker(*contracts: Contract, load: int = 0, **settings: int | bool) -> Hosted:
    """One with as many tasks of its own."""
    own = [Task(f"own{number}") for number in range(load)]
    given = Settings(**{"period": 2000, **settings})  # type: ignore[arg-type]
    return Hosted(Participant("t", COST, contracts, own, given), INSTALLED)


def test_offers_are_collected_and_answered_together_the_best_paid_first() -> None:
    one = taker(fixed("g", "t", 25), fixed("h", "t", 35))
    assert one.handle(Heard("g", Offer(1, 25, (A, B))), 100) == [Wake(2000, ANSWER)]
    assert one.handle(Heard("h", Offer(8, 35, (C, D))), 1900) == []
    answers = [Send("h", Accepted(8, ("c", "d"))), Send("g", Rejected(1))]
    assert one.handle(ANSWER, 2000) == answers


def test_what_costs_just_what_is_paid_is_not_accepted() -> None:
    one = taker(fixed("g", "t", 20))
    one.handle(Heard("g", Offer(1, 20, (A, B))), 100)
    assert one.handle(ANSWER, 2000) == [Send("g", Accepted(1, ("a",)))]


def test_what_is_moved_is_taken_with_its_money_and_confirmed() -> None:
    one = taker(fixed("g", "t", 25), load=1)
    one.handle(Heard("g", Offer(1, 25, (A, B))), 100)
    assert one.handle(ANSWER, 2000) == [Send("g", Accepted(1, ("a",)))]
    took = [Took("g", (A,), 25, 20), Send("g", Taken(1))]
    assert one.handle(Heard("g", Moved(1, 25, (A,))), 2100) == took
    assert (one.holding.balance, one.holding.load) == (25, 2)


def test_what_comes_twice_counts_once() -> None:
    one = taker(fixed("g", "t", 25))
    one.handle(Heard("g", Offer(1, 25, (A,))), 100)
    one.handle(ANSWER, 2000)
    one.handle(Heard("g", Moved(1, 25, (A,))), 2100)
    assert one.handle(Heard("g", Moved(1, 25, (A,))), 2200) == [Send("g", Taken(1))]
    assert (one.holding.balance, one.holding.load) == (25, 1)


def test_nothing_is_answered_while_something_promised_is_on_its_way() -> None:
    one = taker(fixed("g", "t", 25), fixed("h", "t", 25))
    one.handle(Heard("g", Offer(1, 25, (A, B))), 100)
    one.handle(ANSWER, 2000)
    assert one.handle(Heard("h", Offer(1, 25, (C,))), 2100) == [Wake(4000, ANSWER)]
    assert one.handle(ANSWER, 4000) == []
    assert one.handle(Heard("h", Offer(2, 25, (C,))), 4010) == []
    assert one.handle(Heard("g", Moved(1, 25, (A,))), 4100)[2:] == [Send("h", Accepted(2, ("c",)))]


def test_what_is_withdrawn_makes_room() -> None:
    one = taker(fixed("g", "t", 25), fixed("h", "t", 25))
    one.handle(Heard("g", Offer(1, 25, (A, B))), 100)
    one.handle(ANSWER, 2000)
    one.handle(Heard("h", Offer(1, 25, (C, D))), 2100)
    one.handle(ANSWER, 4000)
    assert one.handle(Heard("g", Withdrawn(1)), 4100) == [Send("h", Accepted(1, ("c", "d")))]


def test_an_offer_that_its_withdrawal_has_overtaken_is_void() -> None:
    one = taker(fixed("g", "t", 25))
    assert one.handle(Heard("g", Withdrawn(1)), 90) == []
    assert one.handle(Heard("g", Offer(1, 25, (A,))), 100) == []
    one.handle(Heard("g", Offer(2, 25, (A,))), 200)
    one.handle(Heard("g", Withdrawn(2)), 300)
    assert one.handle(ANSWER, 2000) == []


def test_a_later_offer_ends_an_earlier_promise() -> None:
    one = taker(fixed("g", "t", 25))
    one.handle(Heard("g", Offer(1, 25, (A, B))), 100)
    one.handle(ANSWER, 2000)
    one.handle(Heard("g", Offer(2, 25, (C, D))), 2100)
    assert one.handle(ANSWER, 4000) == [Send("g", Accepted(2, ("c", "d")))]


def test_the_price_that_half_of_them_are_worth_is_asked_for() -> None:
    one = taker(Contract("g", "t", 15, 45), load=2)
    one.handle(Heard("g", Offer(1, 15, (A, B, C, D))), 100)
    assert one.handle(ANSWER, 2000) == [Send("g", Asked(1, 41))]
    one.handle(Heard("g", Offer(2, 41, (A, B, C))), 2100)
    assert one.handle(ANSWER, 4000) == [Send("g", Accepted(2, ("a", "b")))]


def test_no_more_than_the_contract_has_is_asked_for() -> None:
    one = taker(Contract("g", "t", 15, 35), load=2)
    one.handle(Heard("g", Offer(1, 15, (A, B, C, D))), 100)
    assert one.handle(ANSWER, 2000) == [Send("g", Asked(1, 35))]


def test_where_no_price_will_do_the_offer_is_rejected() -> None:
    one = taker(Contract("g", "t", 15, 45), load=4)
    one.handle(Heard("g", Offer(1, 15, (A,))), 100)
    assert one.handle(ANSWER, 2000) == [Send("g", Rejected(1))]


def test_offers_outside_of_contracts_are_rejected() -> None:
    one = taker(
        fixed("g", "t", 25),
        Contract("h", "t", 5, 25, end=1000),
        Contract("k", "t", 25, 25, kinds=frozenset("x")),
        Contract("m", "t", 20, 25),
    )
    assert one.handle(Heard("stranger", Offer(3, 25, (A,))), 100) == []
    assert one.refused == {"stranger": 1}
    one.handle(Heard("g", Offer(1, 99, (A,))), 100)
    one.handle(Heard("h", Offer(1, 25, (B,))), 100)
    one.handle(Heard("k", Offer(1, 25, (C,))), 100)
    one.handle(Heard("m", Offer(1, 19, (D,))), 100)
    answers = [Send(giver, Rejected(1)) for giver in "ghkm"]
    assert one.handle(ANSWER, 2000) == answers


def test_a_promise_is_repeated_until_something_is_heard() -> None:
    one = taker(fixed("g", "t", 25), patience=500)
    one.handle(Heard("g", Offer(1, 25, (A,))), 100)
    again = Woke("promise", 1, "g")
    assert one.handle(ANSWER, 2000) == [Send("g", Accepted(1, ("a",))), Wake(2500, again)]
    assert one.handle(again, 2500) == [Send("g", Accepted(1, ("a",))), Wake(3000, again)]
    one.handle(Heard("g", Moved(1, 25, (A,))), 2600)
    assert one.handle(again, 3000) == []


def test_a_partner_that_is_gone_is_promised_nothing() -> None:
    one = taker(fixed("g", "t", 25), fixed("h", "t", 25))
    one.handle(Heard("g", Offer(1, 25, (A, B))), 100)
    one.handle(ANSWER, 2000)
    one.handle(Gone("g"), 2100)
    one.handle(Heard("h", Offer(1, 25, (C, D))), 2200)
    assert one.handle(ANSWER, 4000) == [Send("h", Accepted(1, ("c", "d")))]


def test_a_rejected_giver_hears_of_room() -> None:
    one = taker(fixed("g", "t", 25), load=3, notify=True)
    one.handle(Heard("g", Offer(1, 25, (A,))), 100)
    assert one.handle(ANSWER, 2000) == [Send("g", Rejected(1))]
    assert one.handle(Ended("own0"), 2100) == []
    assert one.handle(Ended("own1"), 2200) == [Send("g", Relieved())]
    assert one.handle(Ended("own2"), 2300) == []


def test_a_higher_price_is_room_too() -> None:
    one = taker(fixed("g", "t", 25), load=3, notify=True)
    one.handle(Heard("g", Offer(1, 25, (A,))), 100)
    one.handle(ANSWER, 2000)
    assert one.handle(Agreed(fixed("g", "t", 45)), 2100) == [Send("g", Relieved())]


def test_a_taker_that_does_not_notify_stays_silent() -> None:
    one = taker(fixed("g", "t", 25), load=3)
    one.handle(Heard("g", Offer(1, 25, (A,))), 100)
    one.handle(ANSWER, 2000)
    assert [one.handle(Ended(f"own{number}"), 2100) for number in range(3)] == [[], [], []]


def test_a_giver_that_gave_something_after_all_waits_for_no_room() -> None:
    one = taker(Contract("g", "t", 15, 35), load=2, notify=True)
    one.handle(Heard("g", Offer(1, 35, (Task("large", 3),))), 100)
    assert one.handle(ANSWER, 2000) == [Send("g", Rejected(1))]
    one.handle(Heard("g", Offer(2, 35, (A,))), 2100)
    assert one.handle(ANSWER, 4000) == [Send("g", Accepted(2, ("a",)))]
    one.handle(Heard("g", Moved(2, 35, (A,))), 4100)
    assert [one.handle(Ended(task), 4200) for task in ("a", "own0", "own1")] == [[], [], []]


def test_a_giver_that_was_gone_is_not_notified_of_room_when_it_is_back() -> None:
    one = taker(fixed("g", "t", 25), load=3, notify=True)
    one.handle(Heard("g", Offer(1, 25, (A,))), 100)
    one.handle(ANSWER, 2000)
    one.handle(Gone("g"), 2100)
    assert one.handle(Agreed(fixed("g", "t", 45)), 2200) == []


def test_only_the_promise_that_stands_is_repeated() -> None:
    one = taker(fixed("g", "t", 25), patience=5000)
    one.handle(Heard("g", Offer(1, 25, (A,))), 100)
    one.handle(ANSWER, 2000)
    one.handle(Heard("g", Offer(2, 25, (B,))), 2100)
    one.handle(ANSWER, 4000)
    assert one.handle(Woke("promise", 1, "g"), 7000) == []
    assert one.handle(Woke("promise", 2, "g"), 9000)[0] == Send("g", Accepted(2, ("b",)))
