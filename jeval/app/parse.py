"""JSON and YAML, read so that nothing changes silently.

Stricter than the libraries' own defaults: a key written twice, NaN and numbers too large for a float are
faults; in YAML so is every unquoted word that some readers take for a truth value.
"""

import json
import math
import re
from typing import Any, ClassVar

__all__ = ["BadText", "is_no_text", "parse_json", "parse_yaml"]


class BadText(ValueError):
    """Text that is not what it should be; `line` counts from 1 where there are several and it is known."""

    def __init__(
        self, message: str, remedy: str, *, value: str | None = None, field: str = "", line: int | None = None
    ) -> None:
        super().__init__(message)
        self.message, self.remedy, self.value, self.field, self.line = message, remedy, value, field, line


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise BadText("the key is written twice in one object", "keep one of the two", field=twice)
    return found


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise BadText("the number is too large", "write a number below 1.8e308, or a text", value=text)
    return value


def _constant(text: str) -> Any:
    raise BadText(f"{text} is no JSON number", "write null, a number or a text", value=text)


def _int(text: str) -> int:
    if len(text) > 1_000:
        raise BadText("the number has too many digits", "write it as a text", value=f"{text[:20]}…")
    return int(text)


_UTF16, _GZIP = (b"\xff\xfe", b"\xfe\xff"), b"\x1f\x8b"
_decode = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_float=_float, parse_constant=_constant, parse_int=_int
).decode


def is_no_text(data: bytes) -> bool:
    """Whether a file that begins like this is in another encoding, or packed, as a whole."""
    return data[:2] in (*_UTF16, _GZIP)


def _text(data: bytes) -> str:
    if data[:2] in _UTF16:
        raise BadText("the file is UTF-16", "save it as UTF-8")
    if data[:2] == _GZIP:
        raise BadText("the file is compressed", "unpack it first")
    try:
        return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        around = data[max(0, error.start - 8) : error.start + 8]
        raise BadText(f"byte {error.start + 1} is not UTF-8", "save the file as UTF-8", value=f"{around!r}") from error


# YAML has a long escape, too.
_HALF = re.compile(r"\\(?:u|U0000)[dD]")


# Deeper than any evidence people write; what reads JSON in C gives up at a few hundred.
_DEEPEST = 100


def _depth(value: Any) -> int:
    """How deep lists and objects are nested in a value, counted level by level so that no stack is needed."""
    depth, level = 0, [value]
    while level:
        level = [
            inner
            for one in level
            if isinstance(one, list | dict)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
        depth += 1
    return depth


def _whole(value: Any, text: str) -> Any:
    if text.count("[") + text.count("{") + text.count("- ") > _DEEPEST and _depth(value) > _DEEPEST:
        raise BadText(f"is nested more than {_DEEPEST} deep", "flatten it")
    # Only an escape can smuggle in half a character; looking for one is cheaper than encoding everything.
    if _HALF.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            half = f"\\u{ord(error.object[error.start]):04x}"
            raise BadText(
                "holds half a character (a lone surrogate)", "write the whole character", value=half
            ) from error
    return value


def parse_json(data: bytes) -> Any:
    """The JSON value in `data` (UTF-8, a byte order mark allowed). Raises BadText."""
    text = _text(data)
    try:
        return _whole(_decode(text), text)
    except json.JSONDecodeError as error:
        if error.pos and text[error.pos - 1] == "0" and text[error.pos : error.pos + 1].isdecimal():
            number = re.match(r"\d+", text[error.pos - 1 :])
            value = number.group() if number else "0"
            remedy = f'write "{value}" for the text, or drop the zero'
            raise BadText("a number with a leading zero", remedy, value=value) from error
        raise _not_json(error, text) from error
    except RecursionError as error:
        raise BadText("is nested too deeply", "flatten it") from error


def _not_json(error: json.JSONDecodeError, text: str) -> BadText:
    several = "\n" in text.strip()
    if not several and error.msg == "Extra data" and text[error.pos :].strip() == ",":
        return BadText("ends with a comma", "remove the comma at the end of the line")
    if text.lstrip()[:1] == "[" and not several:
        remedy = "write one object a line, without brackets and commas around them"
    else:
        remedy = "check the quotes, commas and brackets there"
    ends = error.pos >= len(text.rstrip())
    place = "its end" if ends else f"column {error.colno}"
    near = text[max(0, error.pos - 10) : error.pos + 20].strip()
    line = min(error.lineno, text.rstrip().count("\n") + 1) if several else None
    return BadText(f"is not JSON at {place}: {error.msg}", remedy, value=repr(near), line=line)


# YAML 1.1 reads these as truth values, YAML 1.2 as words: whoever writes one unquoted may mean either.
_TRAPS = re.compile(r"^(?:yes|no|on|off|y|n)$", re.I)


def parse_yaml(data: bytes) -> Any:
    """The YAML value in `data`, by YAML 1.2's rules for plain words. Raises BadText."""
    import yaml

    text = _text(data)
    try:
        return _whole(yaml.load(text, Loader=_loader()), text)  # noqa: S506 - a SafeLoader of our own
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = mark.line + 1 if mark else None
        raise BadText(
            f"is not YAML: {error.problem}", "check the indentation and the quotes there", line=line
        ) from error
    except yaml.YAMLError as error:
        raise BadText(f"is not YAML: {str(error).splitlines()[0]}", "check the characters there") from error
    except RecursionError as error:
        raise BadText("is nested too deeply", "flatten it") from error


# What JSON has; dates, sets, bytes and the like are not read.
_TAGS = [f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float", "str", "seq", "map")]


_LOADERS: list[Any] = []


def _loader() -> Any:
    """A SafeLoader that resolves only null, true, false and numbers, and refuses what changes silently."""
    if _LOADERS:
        return _LOADERS[0]
    import yaml

    class Loader(yaml.SafeLoader):
        yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}  # type: ignore[misc]
        yaml_constructors: ClassVar[dict[Any, Any]] = {tag: yaml.SafeLoader.yaml_constructors[tag] for tag in _TAGS}

    for tag, pattern, first in (
        ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
        ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
        ("int", r"^[-+]?(?:0|[1-9][0-9]*)$", list("-+0123456789")),
        ("float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", list("-+.0123456789")),
        ("merge", r"^<<$", ["<"]),
    ):
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), first)
    Loader.add_constructor("tag:yaml.org,2002:str", _yaml_str)
    Loader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: _yaml_number(node, _int))
    Loader.add_constructor("tag:yaml.org,2002:float", lambda loader, node: _yaml_number(node, _float))
    Loader.add_constructor("tag:yaml.org,2002:bool", _yaml_bool)
    Loader.add_constructor(None, _yaml_tagged)
    Loader.add_constructor("tag:yaml.org,2002:map", _yaml_map)
    _LOADERS.append(Loader)
    return Loader


def _yaml_str(loader: Any, node: Any) -> str:
    if node.style is None and _TRAPS.match(node.value):
        word = node.value
        raise BadText(
            f"the unquoted word {word} is true or false to some readers",
            f'write "{word}" for the word, or true / false',
            value=word,
            line=node.start_mark.line + 1,
        )
    return str(node.value)


class _Written:
    """A number that remembers how it was written, so that an error can show `1.10` and not 1.1."""

    written: str


class _WrittenInt(_Written, int):
    pass


class _WrittenFloat(_Written, float):
    pass


def _yaml_number(node: Any, read: Any) -> Any:
    line = node.start_mark.line + 1
    try:
        plain = read(node.value)
    except BadText as bad:
        bad.line = line
        raise
    except ValueError as error:  # a tag that does not fit: !!int x
        raise BadText("is tagged a number and is none", "drop the tag", value=node.value, line=line) from error
    if len(node.value) > 1 and node.value.lstrip("+-")[:1] == "0" and node.value.lstrip("+-")[1:2].isdecimal():
        raise BadText(
            "a number with a leading zero",
            f'write "{node.value}" for the text, or drop the zero',
            value=node.value,
            line=line,
        )
    value: Any = (_WrittenInt if isinstance(plain, int) else _WrittenFloat)(plain)
    value.written = node.value
    return value


def _yaml_bool(loader: Any, node: Any) -> bool:
    word = node.value
    if word.lower() not in ("true", "false"):  # !!bool yes
        raise BadText(
            "is tagged a truth value and is none",
            "write true or false",
            value=word,
            line=node.start_mark.line + 1,
        )
    return bool(word.lower() == "true")


def _yaml_tagged(loader: Any, node: Any) -> Any:
    tag = node.tag.replace("tag:yaml.org,2002:", "!!")
    raise BadText(f"the tag {tag} is not read", "drop the tag, or write a text", line=node.start_mark.line + 1)


def _yaml_map(loader: Any, node: Any) -> Any:
    own = len([key for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"])
    loader.flatten_mapping(node)  # puts what is merged in before the node's own keys, which shadow it
    found: dict[Any, Any] = {}
    written: set[str] = set()
    first_own = len(node.value) - own
    for position, (key_node, value_node) in enumerate(node.value):
        key = loader.construct_object(key_node, deep=True)
        line = key_node.start_mark.line + 1
        if not isinstance(key, str):
            shown = key_node.value if isinstance(key_node.value, str) else repr(key)
            raise BadText("the key is not a text", f'write "{shown}" in quotes', value=shown, line=line)
        if key in written:
            raise BadText("the key is written twice", "keep one of the two", field=key, line=line)
        if position >= first_own:
            written.add(key)
        found[key] = loader.construct_object(value_node, deep=True)
    return found
