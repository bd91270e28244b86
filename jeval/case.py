"""What is evaluated: a case, its evidence and its labels. Reads no files.

Keys are camelCase on disk and snake_case in Python; both are accepted on input.
"""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic.alias_generators import to_camel

from jeval.rules import refusal

__all__ = ["Case", "ContextItem", "Label", "Message", "ToolEvent"]

TEXT_CAP = 200_000
POLICY_CAP = 100_000

Text = Annotated[str, StringConstraints(max_length=TEXT_CAP, strict=True)]
Id = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]*$", min_length=1, max_length=200, strict=True)
]
ItemId = Annotated[str, StringConstraints(min_length=1, max_length=200, strict=True)]


def _distinct(items: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    try:
        found = handler(items)
    except ValidationError as error:
        # An id that occurs twice is told beside what else is wrong in the list.
        twice = _twice(item.get("id") for item in items if isinstance(item, dict)) if isinstance(items, list) else None
        if twice is None:
            raise
        raise refusal(error.title, items, [f"the id {twice!r} occurs twice in this list"], error) from None
    if found is not None and (twice := _twice(item.id for item in found)) is not None:
        raise ValueError(f"the id {twice!r} occurs twice in this list")
    return found


def _twice(ids: Iterable[Any]) -> str | None:
    seen: set[str] = set()
    for one in ids:
        if isinstance(one, str):
            if one in seen:
                return one
            seen.add(one)
    return None


class _Model(BaseModel):
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        use_attribute_docstrings=True,
        protected_namespaces=(),
    )


class Message(_Model):
    """One turn of a transcript."""

    id: ItemId
    """Stable within the case; evidence refers to it."""
    role: Literal["system", "user", "assistant", "tool"]
    """Who spoke."""
    content: Text
    """What was said, at most 200,000 characters."""


class ContextItem(_Model):
    """One passage of reference material: retrieved text or ground truth."""

    id: ItemId
    """Stable within the case; evidence refers to it."""
    content: Text
    """The passage, at most 200,000 characters."""
    title: Text | None = None
    """What the passage is called."""
    source: Text | None = None
    """Where the passage is from, for people; the judge sees it too."""


class ToolEvent(_Model):
    """One recorded tool call. Exact checks read these fields."""

    id: ItemId
    """Stable within the case; evidence refers to it."""
    name: Annotated[str, StringConstraints(min_length=1, max_length=200, strict=True)]
    """The tool's name, as rubrics refer to it."""
    status: Literal["success", "failure"]
    """Whether the call succeeded."""
    input: JsonValue = None
    """The call's arguments, any JSON."""
    output: JsonValue = None
    """What it returned, any JSON."""
    error: JsonValue = None
    """What went wrong: a text or any JSON."""


class Label(_Model):
    """The right status of one check, by whom. Never shown to the judge."""

    status: Literal["pass", "fail", "review", "skipped"]
    """The status a careful person would give."""
    source: Literal["synthetic", "human", "imported"] = "human"
    """Where the label is from."""
    reviewer: Text | None = None
    """Who gave it."""
    note: Text | None = None
    """Why."""


class Case(_Model):
    """One output to evaluate and the evidence needed to judge it."""

    id: Id
    """Stable and unique in a dataset: runs are compared and labels aligned by it."""
    input: Text
    """The user's turn that the output responds to."""
    output: Text
    """The text under evaluation."""
    messages: Annotated[tuple[Message, ...], Field(max_length=500), WrapValidator(_distinct)] | None = None
    """The full transcript, at most 500 messages."""
    context: Annotated[tuple[ContextItem, ...], Field(max_length=200), WrapValidator(_distinct)] | None = None
    """Reference material, at most 200 passages."""
    policy: Annotated[str, StringConstraints(max_length=POLICY_CAP, strict=True)] | None = None
    """The instructions the assistant had to follow, at most 100,000 characters."""
    tool_events: Annotated[tuple[ToolEvent, ...], Field(max_length=500), WrapValidator(_distinct)] | None = None
    """Recorded tool calls, at most 500. An empty list says that no tool was called; a missing one says nothing."""
    metadata: dict[str, JsonValue] | None = None
    """Free-form grouping data, never shown to the judge."""
    expected: dict[str, Label] | None = None
    """Labels by rubric id, never shown to the judge."""
    scenario: Text | None = None
    """What the conversation is about, for conversational metrics."""
    expected_outcome: Text | None = None
    """How the conversation should end, for conversational metrics."""
    chatbot_role: Text | None = None
    """Whom the assistant plays, for conversational metrics."""
