"""Verbs of actions, and what a rubric's description of an action asks for."""

from functools import lru_cache
from typing import NamedTuple

from jeval.judges.phrasing import bases, word_list
from jeval.judges.terms import STOP_WORDS

__all__ = ["DEEDS", "Action", "action_of"]

# Verbs that may stand for one another.
_GROUPS = tuple(
    frozenset(line.split())
    for line in (
        "book reserve schedule arrange secure",
        "move reschedule shift postpone rebook change",
        "cancel revoke",
        "refund reimburse credit repay",
        "issue process make complete grant approve",
        "send email mail dispatch ship deliver post text",
        "update change amend modify edit correct adjust",
        "create open raise file log submit register lodge",
        "transfer hand pass escalate forward refer connect route redirect",
        "page alert notify inform tell call ring message",
        "pay charge bill debit",
        "delete remove erase close deactivate",
        "reset unlock restore",
        "block freeze suspend lock",
        "activate enable start renew",
        "order place purchase buy",
        "repair fix replace exchange",
        "save store record note add",
        "apply waive extend upgrade",
    )
)
# Deeds that "done" may be about; messages sent along with one are not.
DEEDS = frozenset().union(*(group for group in _GROUPS if not group & {"send", "page", "save", "transfer"}))
# These say little without what they are done to: "issued" of a refund, not of a statement.
_WEAK = frozenset(
    """add apply call change complete create file fix grant hand issue log make note open pass place process
    raise record ring save send set start store submit tell text update""".split()
)


class Action(NamedTuple):
    """What an action's description asks for: verbs that name it by themselves, those that need its objects
    beside them, and these objects."""

    strong: frozenset[str]
    near: frozenset[str]
    objects: frozenset[str]


@lru_cache(maxsize=256)
def action_of(description: str) -> Action:
    """The action that words like "booking the appointment" describe."""
    names = [one for one in word_list(description) if one not in STOP_WORDS]
    verbs = [one for one in names if one.endswith("ing") and len(one) > 4] or names[:1]
    objects = frozenset(one for one in names if one not in verbs)
    # "issuing the refund" is done where something "was refunded".
    deeds = {one for one in objects if one not in _WEAK and any(one in group for group in _GROUPS)}
    forms = [bases(one) for one in verbs]
    strong = frozenset(deeds).union(*(one for one in forms if not one & _WEAK))
    near = strong.union(*forms)
    near = near.union(*(group for group in _GROUPS if group & near))
    # "booking the appointment" is done where "the booking is confirmed".
    return Action(strong, near, objects.union(verbs, strong))
