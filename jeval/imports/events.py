"""Tool calls of a trace, paired with their results, as a case's tool events."""

from typing import Any

from jeval.imports.draft import Draft, Options, failed, json_or_text

__all__ = ["Events"]

LONGEST_ID = 200


class Events:
    """Collects calls in the order in which they were made, and their results as they come."""

    def __init__(self, options: Options, draft: Draft) -> None:
        self._options, self._draft = options, draft
        self._events: list[dict[str, Any]] = []
        self._open: dict[str, dict[str, Any]] = {}
        self.seen = False

    def call(self, name: Any, arguments: Any, call_id: Any = None) -> None:
        """A call whose result is still to come."""
        self.seen = True
        event: dict[str, Any] = {
            "id": self._id(call_id),
            "name": str(name or "unnamed")[:200],
            "status": None,
        }
        if arguments is not None and arguments != "":
            event["input"] = json_or_text(arguments)
        self._events.append(event)
        self._open[str(call_id) if call_id else f"by name: {name}"] = event

    def result(self, value: Any, call_id: Any = None, name: Any = None, *, failure: bool | None = None) -> None:
        """The result of a call, found by its id or, where it has none, by its name.

        `failure` is what the trace says about success; where it says nothing the result itself is looked at.
        """
        self.seen = True
        event = self._open.pop(str(call_id), None) or self._open.pop(f"by name: {name}", None)
        if event is None:
            if not name:
                self._draft.count("tool result that belongs to no call left out")
                return
            event = {"id": self._id(call_id), "name": str(name)[:200]}
            self._events.append(event)
            self._draft.count("tool result without a call")
        self._outcome(event, json_or_text(value), failure=failure)

    def whole(
        self,
        name: Any,
        arguments: Any,
        output: Any,
        *,
        error: Any = None,
        call_id: Any = None,
        known: bool = False,
    ) -> None:
        """A call together with its outcome. `known` says that the absence of an error means success."""
        self.call(name, arguments, call_id)
        event = self._events[-1]
        self._open = {key: one for key, one in self._open.items() if one is not event}
        output = json_or_text(output)
        if error:
            event.update(status="failure", error=json_or_text(error))
            if output is not None:
                event["output"] = output
            return
        if output is None and not known:
            event["status"] = "success"
            self._draft.count("tool success assumed, for neither a result nor an error is recorded")
            return
        self._outcome(event, output, failure=False if known else None)

    def _outcome(self, event: dict[str, Any], value: Any, *, failure: bool | None) -> None:
        if failure is None:
            failure = failed(value, self._options)
            how = "failure told by" if failure else "success assumed from"
            self._draft.count(f"tool {how} the text of its result")
        event["status"] = "failure" if failure else "success"
        if value is not None:
            event["error" if failure else "output"] = value

    def finished(self) -> list[dict[str, Any]] | None:
        """The events; None where the trace does not tell whether a tool was called.

        A call without a result has neither succeeded nor failed: it is left out and kept in the metadata.
        """
        lost = [event for event in self._events if event["status"] is None]
        if lost:
            self._draft.note("tool call without a result left out", len(lost))
            kept = [{key: value for key, value in event.items() if key != "status"} for event in lost]
            self._draft.body.setdefault("metadata", {}).setdefault("callsWithoutResult", kept)
        if not self.seen and not self._options.recorded:
            return None
        return [event for event in self._events if event["status"] is not None]

    def _id(self, call_id: Any) -> str:
        taken = {event["id"] for event in self._events}
        if isinstance(call_id, str) and 0 < len(call_id) <= LONGEST_ID and call_id not in taken:
            return call_id
        number = len(self._events) + 1
        while f"t{number}" in taken:
            number += 1
        return f"t{number}"
