"""OFFER_LOAD: events in, commands out."""

from __future__ import annotations

import pytest
from tests.policy.machines.hosting import Heard, Hosted

from australis.errors import PolicyError
from australis.policy.machines import Say as Send
from australis.policy.machines import Started, Wake
from australis.policy.trade.contract import Contract, Task, fixed
from australis.policy.trade.cost import CostCurve
from australis.policy.trade.holding import Settings
from australis.policy.trade.messages import (
    Accepted,
    Agreed,
    Asked,
    Came,
    Ended,
    Gave,
    Gone,
    Installed,
    Message,
    Moved,
    Offer,
    Rejected,
    Relieved,
    Take,
    Taken,
    Terminated,
    Withdrawn,
    Woke,
)
from australis.policy.trade.participant import Participant

COST = CostCurve(slopes=(10, 20, 30, 40, 50, 60))
A, B, C, D, E = (Task(name) for name in "abcde")
OFFER = Woke("offer")
INSTALLED = {Take: lambda take: Installed(take.giver, take.serial)}


def giver(*contracts: Contract, tasks: tuple[Task, ...] = (A, B, C, D, E), **settings: int | bool) -> Hosted:
    """One with five tasks, whose first round has begun at 2000."""
    given = Settings(**{"period": 2000, **settings})  # type: ignore[arg-type]
    made = Hosted(Participant("g", COST, contracts, tasks, given), INSTALLED)
    assert made.handle(Started(), 0) == [Wake(2000, OFFER)]
    return made


def heard(sender: str, message: Message) -> Heard:
    return Heard(sender, message)


def test_what_costs_more_than_the_price_is_offered() -> None:
    assert giver(fixed("g", "t", 35)).handle(OFFER, 2000) == [Send("t", Offer(1, 35, (A, B)))]


def test_what_costs_just_the_price_is_not() -> None:
    assert giver(fixed("g", "t", 50)).handle(OFFER, 2000) == []


def test_a_contract_of_others_is_refused() -> None:
    with pytest.raises(PolicyError, match="h-t: is none of g's; expected g as giver or taker"):
        Participant("g", COST, [fixed("h", "t", 35)])


@pytest.mark.parametrize("name", ["period", "phase", "patience", "retry", "fee"])
def test_settings_that_make_no_sense_are_refused(name: str) -> None:
    with pytest.raises(PolicyError, match=f"settings.{name}: is -1"):
        Settings(**{name: -1})


def test_without_contracts_nothing_is_planned() -> None:
    assert Hosted(Participant("g", COST, [], [A, B])).handle(Started(), 0) == []


def test_the_cheapest_partner_is_asked_first_then_the_next() -> None:
    one = giver(fixed("g", "dear", 45), fixed("g", "cheap", 35), fixed("g", "dearer", 49))
    assert one.handle(OFFER, 2000) == [Send("cheap", Offer(1, 35, (A, B)))]
    assert one.handle(heard("cheap", Rejected(1)), 2010) == [Send("dear", Offer(2, 45, (A,)))]
    assert one.handle(heard("dear", Rejected(2)), 2020) == [Send("dearer", Offer(3, 49, (A,)))]
    assert one.handle(heard("dearer", Rejected(3)), 2030) == [Wake(4030, OFFER)]


def test_what_is_accepted_is_moved_and_paid_and_the_round_is_over() -> None:
    one = giver(fixed("g", "t", 35), fixed("g", "u", 36))
    one.handle(OFFER, 2000)
    moved = Moved(1, 35, (B,))
    assert one.handle(heard("t", Accepted(1, ("b",))), 2010) == [Gave("t", (B,), 35, 50), Send("t", moved)]
    assert (one.holding.balance, one.holding.load, list(one.holding.tasks)) == (-35, 4, ["a", "c", "d", "e"])
    assert one.handle(heard("t", Taken(1)), 2090) == [Wake(4090, OFFER)]
    assert one.handle(OFFER, 4090) == [Send("t", Offer(2, 35, (A,)))]


def test_a_partner_that_asks_for_more_is_asked_again_when_no_other_is_cheaper() -> None:
    one = giver(Contract("g", "t", 25, 45), Contract("g", "u", 30, 45))
    assert one.handle(OFFER, 2000) == [Send("t", Offer(1, 25, (A, B, C)))]
    assert one.handle(heard("t", Asked(1, 41)), 2010) == [Send("u", Offer(2, 30, (A, B)))]
    assert one.handle(heard("u", Asked(2, 42)), 2020) == [Send("t", Offer(3, 41, (A,)))]
    assert one.handle(heard("t", Rejected(3)), 2030) == [Send("u", Offer(4, 42, (A,)))]


def test_a_price_that_nothing_is_worth_ends_the_talk() -> None:
    one = giver(Contract("g", "t", 25, 70))
    one.handle(OFFER, 2000)
    assert one.handle(heard("t", Asked(1, 51)), 2010) == [Wake(4010, OFFER)]


def test_a_price_above_the_contract_ends_the_talk() -> None:
    one = giver(Contract("g", "t", 25, 30))
    one.handle(OFFER, 2000)
    assert one.handle(heard("t", Asked(1, 31)), 2010) == [Wake(4010, OFFER)]


def test_a_smaller_task_is_suggested_at_the_most_that_it_is_worth() -> None:
    one = giver(Contract("g", "t", 25, 70), tasks=(Task("large", 4), Task("small", 1)))
    assert one.handle(OFFER, 2000) == [Send("t", Offer(1, 25, (Task("large", 4),)))]
    small = Offer(2, 49, (Task("small", 1),))
    assert one.handle(heard("t", Asked(1, 55)), 2010) == [Send("t", small)]
    assert one.handle(heard("t", Asked(2, 54)), 2020) == [Wake(4020, OFFER)]


def test_fewer_tasks_are_suggested_at_the_most_that_they_are_worth() -> None:
    one = giver(Contract("g", "t", 5, 70))
    assert one.handle(OFFER, 2000) == [Send("t", Offer(1, 5, (A, B, C, D, E)))]
    assert one.handle(heard("t", Asked(1, 51)), 2010) == [Send("t", Offer(2, 49, (A,)))]
    assert one.handle(heard("t", Asked(2, 50)), 2020) == [Wake(4020, OFFER)]


def test_a_smaller_task_that_is_worth_no_more_is_not_suggested() -> None:
    large, small = Task("large", 4), Task("small", 1)
    one = Hosted(
        Participant("g", CostCurve((20, 26)), [Contract("g", "t", 25, 70)], [large, small], Settings(2000))
    )
    one.handle(Started(), 0)
    assert one.handle(OFFER, 2000) == [Send("t", Offer(1, 25, (large,)))]
    assert one.handle(heard("t", Asked(1, 27)), 2010) == [Wake(4010, OFFER)]


def test_what_may_not_go_there_is_not_offered() -> None:
    secret, abroad, plain = Task("s", 1, "secret"), Task("h", 1, "", frozenset({"u"})), Task("p", 1)
    contract = Contract("g", "t", 5, 5, kinds=frozenset({""}))
    one = giver(contract, tasks=(secret, abroad, plain))
    assert one.handle(OFFER, 2000) == [Send("t", Offer(1, 5, (plain,)))]


def test_what_came_by_a_contract_that_forbids_it_is_not_moved_on() -> None:
    one = giver(fixed("g", "t", 5), Contract("x", "g", 70, 70, moves_on=False), tasks=(A, B))
    one.handle(heard("x", Moved(1, 70, (C,))), 100)
    assert one.handle(OFFER, 2000) == [Send("t", Offer(1, 5, (A, B)))]


def test_a_contract_counts_in_its_period() -> None:
    one = giver(Contract("g", "t", 5, 5, begin=3000, end=5000))
    assert one.handle(OFFER, 2000) == []
    assert one.handle(Came(Task("f")), 2500) == [Wake(4000, OFFER)]
    assert len(one.handle(OFFER, 4000)) == 1
    one.handle(heard("t", Rejected(1)), 4010)
    assert one.handle(OFFER, 6010) == []


def test_a_move_must_be_worth_its_fee() -> None:
    assert giver(fixed("g", "t", 35), fee=5).handle(OFFER, 2000) == [Send("t", Offer(1, 35, (A,)))]
    assert giver(fixed("g", "t", 35), fee=15).handle(OFFER, 2000) == []


def test_a_partner_gets_nothing_that_was_not_offered_and_nothing_twice() -> None:
    secret = Task("s", 1, "secret")
    one = giver(Contract("g", "t", 5, 5, kinds=frozenset({""})), tasks=(secret, A, B))
    assert one.handle(OFFER, 2000) == [Send("t", Offer(1, 5, (A, B)))]
    said = one.handle(heard("t", Accepted(1, ("s", "b", "b"))), 2010)
    assert said == [Gave("t", (B,), 5, 30), Send("t", Moved(1, 5, (B,)))]
    assert (one.holding.balance, list(one.holding.tasks)) == (-5, ["s", "a"])


def test_load_that_went_meanwhile_is_not_paid_for() -> None:
    one = giver(fixed("g", "t", 35))
    one.handle(OFFER, 2000)
    for task in ("c", "d"):
        one.handle(Ended(task), 2005)
    withdrawn: list[object] = [Send("t", Withdrawn(1)), Wake(4010, OFFER)]
    assert one.handle(heard("t", Accepted(1, ("a", "b"))), 2010) == withdrawn
    assert one.holding.balance == 0


def test_more_load_begins_a_round_at_the_next_moment_and_only_one() -> None:
    one = Hosted(Participant("g", COST, [fixed("g", "t", 35)], [A], Settings(period=1000, phase=500)))
    assert one.handle(Started(), 0) == [Wake(500, OFFER)]
    assert one.handle(OFFER, 500) == []
    assert one.handle(Came(B), 700) == [Wake(1500, OFFER)]
    assert one.handle(Came(C), 800) == []


def test_new_contracts_are_looked_at() -> None:
    one = giver(fixed("g", "t", 50))
    assert one.handle(OFFER, 2000) == []
    assert one.handle(Agreed(fixed("g", "t", 45)), 2100) == [Wake(4000, OFFER)]
    assert one.handle(OFFER, 4000) == [Send("t", Offer(1, 45, (A,)))]
    one.handle(Terminated("g", "t"), 4005)
    assert one.handle(heard("t", Rejected(1)), 4010) == [Wake(6010, OFFER)]
    assert one.handle(OFFER, 6010) == []


def test_a_notified_giver_begins_as_soon_as_it_may() -> None:
    one = giver(fixed("g", "t", 35), notify=True, retry=60_000)
    one.handle(OFFER, 2000)
    assert one.handle(heard("t", Rejected(1)), 2010) == [Wake(62_010, OFFER)]
    assert one.handle(heard("t", Relieved()), 3000) == [Wake(4010, OFFER)]
    assert len(one.handle(OFFER, 4010)) == 1
    assert one.handle(heard("t", Rejected(2)), 4020) == [Wake(64_020, OFFER)]
    assert one.handle(OFFER, 62_010) == [], "that was for a round which came sooner"
    assert len(one.handle(OFFER, 64_020)) == 1


def test_a_giver_notified_in_a_round_asks_again_in_it() -> None:
    one = giver(fixed("g", "t", 35), fixed("g", "u", 36), notify=True, retry=60_000)
    one.handle(OFFER, 2000)
    assert one.handle(heard("t", Rejected(1)), 2010) == [Send("u", Offer(2, 36, (A, B)))]
    assert one.handle(heard("t", Relieved()), 2020) == []
    assert one.handle(heard("u", Relieved()), 2020) == [], "it has not even answered"
    assert one.handle(heard("u", Rejected(2)), 2030) == [Send("t", Offer(3, 35, (A, B)))]
    assert one.handle(heard("t", Rejected(3)), 2040) == [Wake(62_040, OFFER)]


def test_without_an_answer_the_offer_is_withdrawn() -> None:
    one = giver(fixed("g", "t", 35), fixed("g", "u", 36), patience=500)
    asked = [Send("t", Offer(1, 35, (A, B))), Wake(2500, Woke("patience", 1))]
    assert one.handle(OFFER, 2000) == asked
    assert one.handle(Woke("patience", 1), 2500)[:2] == [
        Send("t", Withdrawn(1)),
        Send("u", Offer(2, 36, (A, B))),
    ]
    assert one.handle(heard("t", Accepted(1, ("a",))), 2600) == [Send("t", Withdrawn(1))]
    assert one.holding.balance == 0


def test_a_movement_is_sent_until_it_is_confirmed() -> None:
    one = giver(fixed("g", "t", 35), patience=500)
    one.handle(OFFER, 2000)
    one.handle(heard("t", Accepted(1, ("a",))), 2010)
    moved = Moved(1, 35, (A,))
    assert one.handle(Woke("patience", 1), 2510) == [Send("t", moved), Wake(3010, Woke("patience", 1))]
    assert one.handle(heard("t", Accepted(1, ("a",))), 2600) == [Send("t", moved)]
    one.handle(heard("t", Taken(1)), 2700)
    assert one.handle(Woke("patience", 1), 3010) == []
    assert one.handle(heard("t", Taken(1)), 3020) == []
    assert one.holding.balance == -35


def test_old_answers_and_those_of_others_count_for_nothing() -> None:
    one = giver(fixed("g", "t", 35), fixed("g", "u", 36))
    one.handle(OFFER, 2000)
    assert one.handle(heard("u", Rejected(1)), 2010) == []
    assert one.handle(heard("t", Asked(7, 40)), 2010) == []
    assert one.handle(heard("t", Taken(1)), 2010) == []


def test_a_partner_that_is_gone_is_not_waited_for() -> None:
    one = giver(fixed("g", "t", 35), fixed("g", "u", 36))
    one.handle(OFFER, 2000)
    assert one.handle(Gone("t"), 2100) == [Send("u", Offer(2, 36, (A, B)))]
    assert one.handle(Gone("t"), 2200) == []


def test_a_giver_tries_again_soon_after_a_movement_and_later_after_a_rejection() -> None:
    one = giver(fixed("g", "t", 35), retry=60_000)
    one.handle(OFFER, 2000)
    one.handle(heard("t", Accepted(1, ("a",))), 2010)
    assert one.handle(heard("t", Taken(1)), 2100) == [Wake(4100, OFFER)]
    one.handle(OFFER, 4100)
    assert one.handle(heard("t", Rejected(2)), 4110) == [Wake(64_110, OFFER)]
    assert one.handle(Came(Task("f")), 4200) == [Wake(6110, OFFER)]


def test_what_goes_to_a_partner_that_is_gone_is_not_waited_for() -> None:
    one = giver(fixed("g", "t", 35), fixed("g", "u", 36))
    one.handle(OFFER, 2000)
    one.handle(heard("t", Accepted(1, ("a",))), 2010)
    assert one.handle(Gone("t"), 2100) == [Wake(4100, OFFER)]
    assert one.holding.load == 4


def test_a_contract_that_ends_while_prices_are_talked_about_is_over() -> None:
    one = giver(Contract("g", "t", 25, 45, end=2500))
    assert len(one.handle(OFFER, 2000)) == 1
    assert one.handle(heard("t", Asked(1, 41)), 2600) == [Wake(4600, OFFER)]
