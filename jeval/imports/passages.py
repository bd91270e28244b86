"""Retrieved passages, in the shapes in which retrievers give them."""

from collections.abc import Iterable, Mapping
from typing import Any

from jeval.imports.draft import Draft, json_or_text, shown_text

__all__ = ["add_passages", "documents_in"]

_TEXTS = ("content", "text", "page_content", "pageContent", "document.content", "document", "passage", "chunk")
_SOURCES = ("source", "document_id", "document.id", "id")
_LISTS = ("documents", "results", "passages", "contexts", "chunks", "matches", "output")


def documents_in(value: Any) -> list[Any]:
    """The documents in what a retriever returned."""
    value = json_or_text(value)
    if isinstance(value, dict):
        value = next((value[key] for key in _LISTS if isinstance(value.get(key), list)), [value])
    return value if isinstance(value, list) else [] if value is None else [value]


def add_passages(draft: Draft, found: Iterable[Any]) -> None:
    """Put these into the draft's context, each once; one without a text is noted."""
    passages: list[dict[str, Any]] = []
    for item in found:
        passage = _passage(item)
        if passage is None:
            draft.count("a retrieved passage without a text left out")
        elif passage not in passages:
            passages.append(passage)
    if passages:
        draft.body["context"] = [{"id": f"c{number}", **passage} for number, passage in enumerate(passages, 1)]


def _passage(item: Any) -> dict[str, Any] | None:
    item = json_or_text(item)
    if isinstance(item, str):
        return {"content": item} if item else None
    if not isinstance(item, dict):
        return None
    if isinstance(item.get("kwargs"), dict) and item.get("lc"):
        item = item["kwargs"]
    if isinstance(item.get("document"), dict):
        item = item["document"]
    text = next((item[key] for key in _TEXTS if item.get(key) not in (None, "")), None)
    if text is None:
        return None
    metadata = json_or_text(item.get("metadata", item.get("document.metadata")))
    metadata = metadata if isinstance(metadata, dict) else {}
    title = _text(item, ("title",)) or _text(metadata, ("title",))
    source = _text(item, _SOURCES[:1]) or _text(metadata, ("source", "url", "doc_uri")) or _text(item, _SOURCES[1:])
    return {
        "content": shown_text(text),
        **({"title": title} if title else {}),
        **({"source": source} if source else {}),
    }


def _text(values: Mapping[str, Any], names: Iterable[str]) -> str | None:
    return next((values[name] for name in names if isinstance(values.get(name), str) and values[name]), None)
