"""What is checked: a rubric is one narrow check with a stable id and version. Reads no files."""

from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Field, StrictBool, StringConstraints, model_serializer

from jeval.case import TEXT_CAP, Id, Text, _Model
from jeval.fingerprint import sha256
from jeval.rules import Broken, Ruled

__all__ = ["KINDS", "Applicability", "Outcomes", "Params", "Rubric", "SuccessWhen", "Thresholds"]

Kind = Literal["policy-compliance", "claim-support", "tool-claim", "escalation", "custom", "grounded-values"]
Evidence = Literal["policy", "context", "toolEvents", "messages"]
Probability = Annotated[float, Field(ge=0, le=1, strict=True, allow_inf_nan=False)]

# What each kind cannot do without, and the params it understands (required ones first).
KINDS: dict[str, tuple[tuple[Evidence, ...], tuple[str, ...], tuple[str, ...]]] = {
    "policy-compliance": (("policy",), (), ("readers",)),
    "claim-support": (("context",), (), ("claim", "uncovered_is", "granularity", "readers")),
    "tool-claim": (("toolEvents",), ("tool_name", "action"), ("success_when",)),
    "escalation": (("policy", "toolEvents"), ("tool_name",), ("action", "success_when")),
    "custom": ((), (), ("readers",)),
    "grounded-values": ((), (), ()),
}


def _not_exclusive(given: Any) -> Iterator[Broken]:
    if given.pass_ is None or given.fail is None:
        return
    try:
        _check_exclusive(given.pass_, given.fail)
    except ValueError as error:
        yield ("pass_", "fail"), str(error)


def _check_exclusive(pass_: float, fail: float, whose: str = "") -> None:
    if not pass_ + fail > 1:
        raise ValueError(f"{whose}pass {pass_:g} + fail {fail:g} must exceed 1, or both rules could fire at once")


class Thresholds(_Model, Ruled):
    """Where probabilities become statuses: fail at p(unacceptable) ≥ fail, else pass at p(acceptable) ≥ pass.

    pass + fail must exceed 1, so that the two rules can never both hold.
    """

    pass_: Probability = Field(default=0.75, validation_alias=AliasChoices("pass", "pass_"), serialization_alias="pass")
    """The least probability of the acceptable outcome that passes, 0 to 1."""
    fail: Probability = 0.5
    """The least probability of the unacceptable outcome that fails, 0 to 1."""

    @classmethod
    def broken(cls, given: Any) -> Iterator[Broken]:
        """Whether both rules could fire at once."""
        yield from _not_exclusive(given)

    @property
    def permissive(self) -> bool:
        """Whether a distribution led by the insufficient outcome could pass or fail."""
        return self.pass_ < 0.5 or self.fail < 0.5


class RubricThresholds(_Model, Ruled):
    """A rubric's own thresholds; what it leaves out comes from the run's profile. A threshold of 0 is 0."""

    pass_: Probability | None = Field(
        default=None, validation_alias=AliasChoices("pass", "pass_"), serialization_alias="pass"
    )
    """The least probability of the acceptable outcome that passes, 0 to 1."""
    fail: Probability | None = None
    """The least probability of the unacceptable outcome that fails, 0 to 1."""

    @classmethod
    def broken(cls, given: Any) -> Iterator[Broken]:
        """Whether both rules could fire at once."""
        yield from _not_exclusive(given)


class Outcomes(_Model):
    """What each outcome means, as the judge reads it."""

    acceptable: Text | None = None
    """When the output is acceptable."""
    unacceptable: Text | None = None
    """When it is not."""
    insufficient: Text | None = Field(
        default=None,
        validation_alias=AliasChoices("insufficient", "insufficientContext", "insufficient_context"),
    )
    """When the evidence does not tell."""


class SuccessWhen(_Model):
    """An exact comparison on a tool's output that decides whether a success really was one."""

    path: Annotated[str, StringConstraints(min_length=1, strict=True)]
    """A dotted path into the output; list positions are numbers (`items.0.status`)."""
    equals: Any
    """The JSON value that must stand there."""

    @model_serializer
    def _whole(self) -> dict[str, Any]:
        # `equals: null` says something, so it must outlive a dump that leaves out what is None.
        return {"path": self.path, "equals": self.equals}


class Params(_Model):
    """Settings of one kind; which kind understands which is in `KINDS`."""

    claim: Annotated[str, StringConstraints(min_length=1, max_length=TEXT_CAP, strict=True)] | None = None
    """claim-support: the one claim to check, instead of all."""
    uncovered_is: Literal["review", "fail"] | None = None
    """claim-support: what a claim not covered by the references becomes; review by default."""
    granularity: Literal["response", "sentence"] | None = None
    """claim-support: one question for the whole response (default) or one for every sentence."""
    readers: Literal[1, 2] | None = None
    """Ask once (default) or twice in independent wording, averaging and reviewing disagreement."""
    tool_name: Annotated[str, StringConstraints(min_length=1, strict=True)] | None = None
    """tool-claim, escalation: the tool whose last event decides."""
    action: Annotated[str, StringConstraints(min_length=1, strict=True)] | None = None
    """tool-claim: the action in words, as in "booking the appointment"."""
    success_when: SuccessWhen | None = None
    """tool-claim, escalation: what the output of a successful event must hold."""


class Applicability(_Model):
    """When a rubric applies."""

    requires: tuple[Evidence, ...] = ()
    """Evidence that must exist, beyond what the kind needs; where it is missing the check is for review."""
    only_when_metadata: dict[str, Any] | None = None
    """Metadata that must match, each key its value or one of a list; otherwise the check is skipped."""


class Rubric(_Model, Ruled):
    """One narrow check."""

    id: Id
    """Stable: results are compared and labels aligned by it."""
    version: Annotated[str, StringConstraints(min_length=1, max_length=50, strict=True)]
    """Raised whenever the criterion changes; results of different versions are never compared."""
    kind: Kind
    """What is asked and how answers become a status."""
    severity: Literal["critical", "major", "minor"] = "major"
    """Critical failures are counted apart, so that no average hides them."""
    required: StrictBool = True
    """Whether gates count it; optional checks are reported only."""
    description: Text | None = None
    """For people; never sent."""
    criterion: Annotated[str, StringConstraints(max_length=20_000, strict=True)] = ""
    """One specific condition, read literally by the judge."""
    applicability: Applicability = Applicability()
    thresholds: RubricThresholds = RubricThresholds()
    """This rubric's own thresholds, over the run's."""
    outcomes: Outcomes = Outcomes()
    """What the outcomes mean; required for custom."""
    params: Params = Params()

    @classmethod
    def broken(cls, given: Any) -> Iterator[Broken]:
        """What a rubric's kind needs and understands, and which params go together."""
        params, kind = given.params, given.kind
        needs: tuple[str, ...]
        if params.readers == 2 and params.granularity == "sentence":
            needs = ("params.readers", "params.granularity")
            yield needs, "params.readers: 2 and params.granularity: sentence cannot be combined"
        if params.claim is not None and params.granularity == "sentence":
            needs = ("params.claim", "params.granularity")
            yield needs, "params.claim and params.granularity: sentence cannot be combined"
        if kind not in KINDS:
            return
        _, required, optional = KINDS[kind]
        known = (*required, *optional)
        for name in required:
            if getattr(params, name) is None:
                yield ("kind", f"params.{name}"), f"kind {kind} needs params.{_camel(name)}"
        for name in sorted(Params.model_fields.keys() - {*known}):
            if getattr(params, name) is not None:
                allowed = ", ".join(map(_camel, known)) or "none"
                text = f"kind {kind} does not use params.{_camel(name)}; it understands: {allowed}"
                yield ("kind", f"params.{name}"), text
        if kind in ("custom", "policy-compliance") and not given.criterion.strip():
            yield ("kind", "criterion"), f"kind {kind} needs a criterion"
        if kind == "custom" and not (given.outcomes.acceptable and given.outcomes.unacceptable):
            needs = ("kind", "outcomes.acceptable", "outcomes.unacceptable")
            yield needs, "kind custom needs outcomes.acceptable and outcomes.unacceptable"

    @cached_property
    def requires(self) -> tuple[Evidence, ...]:
        """All evidence that must exist: the kind's and the rubric's own."""
        return tuple(dict.fromkeys((*KINDS[self.kind][0], *self.applicability.requires)))

    @cached_property
    def sha256(self) -> str:
        """Hash of all that can change a check: everything but the description."""
        return sha256(self.definition(description=False))

    def definition(self, *, description: bool = True) -> dict[str, Any]:
        """The rubric as on disk, without what is left at its default."""
        exclude = None if description else {"description"}
        return self.model_dump(by_alias=True, exclude_none=True, exclude_defaults=True, mode="json", exclude=exclude)

    def effective(self, profile: Thresholds) -> Thresholds:
        """The profile with this rubric's own thresholds over it. Raises ValueError where they cannot go together."""
        own = self.thresholds
        if own.pass_ is None and own.fail is None:
            return profile
        pass_ = profile.pass_ if own.pass_ is None else own.pass_
        fail = profile.fail if own.fail is None else own.fail
        # Before pydantic does, whose error is not one line.
        _check_exclusive(pass_, fail, f"with rubric {self.id}'s own thresholds ")
        return Thresholds(pass_=pass_, fail=fail)


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.title() for part in rest)
