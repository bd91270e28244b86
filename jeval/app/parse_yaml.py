"""YAML, read so that nothing changes silently.

Duplicate keys, numbers that no float holds, half characters and every unquoted word that some readers take for a
truth value are faults. Plain words are read by YAML 1.2's rules.
"""

import re
from typing import Any, ClassVar

from jeval.app.parse import DEEPEST, BadText, decode_text, read_float, read_int, refuse_deep_and_halves

__all__ = ["parse_yaml", "read_yaml"]

# What aliases may repeat, in characters and list items; each of those counts as so many characters. A file of aliases
# of aliases of lists is a page long and would not fit into any memory once it is written out.
_MOST_REPEATED, _NODE = 10_000_000, 100

# YAML 1.1 reads these as truth values, YAML 1.2 as words: whoever writes one unquoted may mean either.
_TRAPS = re.compile(r"^(?:yes|no|on|off|y|n)$", re.I)


class Unread(str):
    """What is written where a value stands that cannot be read: a word for which its fault is told already."""

    told = True


def parse_yaml(data: bytes) -> Any:
    """The YAML value in `data`, by YAML 1.2's rules for plain words. Raises BadText, the first fault there is."""
    value, faults = read_yaml(data)
    if faults:
        raise faults[0]
    return value


def read_yaml(data: bytes) -> tuple[Any, list[BadText]]:
    """The YAML value in `data` and the faults of single values in it, in whose places stands an `Unread` text.

    Raises BadText where the text as a whole cannot be read.
    """
    import yaml

    text = decode_text(data)
    loader = _loader()
    try:
        _refuse_endless(text, loader)
        reader = loader(text)
        reader.faults = []
        try:
            return refuse_deep_and_halves(reader.get_single_data(), text), reader.faults
        finally:
            reader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = mark.line + 1 if mark else None
        if "nesting depth" in str(error.problem):
            raise BadText("is nested too deeply", "flatten it", line=line) from error
        if "Unicode character escape" in str(error.problem):
            raise BadText(
                "holds half a character (a lone surrogate)", "write the whole character", line=line
            ) from error
        raise BadText(
            f"is not YAML: {error.problem}", "check the indentation and the quotes there", line=line
        ) from error
    except yaml.YAMLError as error:
        raise BadText(f"is not YAML: {str(error).splitlines()[0]}", "check the characters there") from error
    except RecursionError as error:
        raise BadText("is nested too deeply", "flatten it") from error


def _refuse_endless(text: str, loader: Any) -> None:
    # What is read event by event needs no stack; what builds the value would end the process, not raise.
    import yaml

    within: list[tuple[str | None, int]] = []  # anchors, and how much there was before what they name
    sizes: dict[str | None, int] = {}
    size = repeated = 0  # of all so far with its aliases written out, and of these alone
    for event in yaml.parse(text, Loader=loader):
        line = event.start_mark.line + 1 if event.start_mark else None
        if isinstance(event, yaml.CollectionStartEvent):
            within.append((event.anchor, size))
            size += _NODE
            if len(within) > DEEPEST:
                raise BadText(f"is nested more than {DEEPEST} deep", "flatten it", line=line)
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = within.pop()
            sizes[anchor] = size - before
        elif isinstance(event, yaml.ScalarEvent):
            sizes[event.anchor] = _NODE + len(event.value)
            size += sizes[event.anchor]
        elif isinstance(event, yaml.AliasEvent):
            if any(event.anchor == anchor for anchor, _ in within):
                raise BadText("names what it is a part of", "write it out", value=f"*{event.anchor}", line=line)
            size += sizes.get(event.anchor, 0)
            repeated += sizes.get(event.anchor, 0)
            if repeated > _MOST_REPEATED:
                remedy = "write out what it repeats, or repeat less"
                raise BadText("repeats too much", remedy, value=f"*{event.anchor}", line=line)


# What JSON has; dates, sets, bytes and the like are not read.
_TAGS = [f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float", "str", "seq", "map")]


_LOADERS: list[Any] = []


def _loader() -> Any:
    """A SafeLoader that resolves only null, true, false and numbers, and refuses what changes silently."""
    if _LOADERS:
        return _LOADERS[0]
    import yaml

    # libyaml's parser where PyYAML was built with it, for Python's takes no "?," inside braces.
    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(base):
        yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}
        yaml_constructors: ClassVar[dict[Any, Any]] = {tag: yaml.SafeLoader.yaml_constructors[tag] for tag in _TAGS}

    for tag, pattern, first in (
        ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
        ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
        ("int", r"^[-+]?(?:0|[1-9][0-9]*)$", list("-+0123456789")),
        ("float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", list("-+.0123456789")),
        ("merge", r"^<<$", ["<"]),
    ):
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), first)
    for name, construct in (
        ("str", _yaml_str),
        ("int", lambda node: _yaml_number(node, read_int)),
        ("float", lambda node: _yaml_number(node, read_float)),
        ("bool", _yaml_bool),
    ):
        Loader.add_constructor(f"tag:yaml.org,2002:{name}", _collected(construct))
    Loader.add_constructor(None, _collected(_yaml_tagged))
    Loader.add_constructor("tag:yaml.org,2002:map", _yaml_map)
    _LOADERS.append(Loader)
    return Loader


def _collected(construct: Any) -> Any:
    """A constructor that notes what is wrong with a value and goes on with the text of it."""

    def constructed(loader: Any, node: Any) -> Any:
        try:
            if construct is not _yaml_tagged and not isinstance(node.value, str):  # !!str [a]
                return _yaml_tagged(node)
            return construct(node)
        except BadText as bad:
            bad.line = node.start_mark.line + 1
            loader.faults.append(bad)
            return Unread(node.value if isinstance(node.value, str) else "")

    return constructed


def _yaml_str(node: Any) -> str:
    if not node.style and _TRAPS.match(node.value):
        word = node.value
        raise BadText(
            f"the unquoted word {word} is true or false to some readers",
            f'write "{word}" for the word, or true / false',
            value=word,
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
    try:
        plain = read(node.value)
    except BadText:
        raise
    except ValueError as error:  # a tag that does not fit: !!int x
        raise BadText("is tagged a number and is none", "drop the tag", value=node.value) from error
    if len(node.value) > 1 and node.value.lstrip("+-")[:1] == "0" and node.value.lstrip("+-")[1:2].isdecimal():
        raise BadText(
            "a number with a leading zero",
            f'write "{node.value}" for the text, or drop the zero',
            value=node.value,
        )
    value: Any = (_WrittenInt if isinstance(plain, int) else _WrittenFloat)(plain)
    value.written = node.value
    return value


def _yaml_bool(node: Any) -> bool:
    word = node.value
    if word.lower() not in ("true", "false"):  # !!bool yes
        raise BadText("is tagged a truth value and is none", "write true or false", value=word)
    return bool(word.lower() == "true")


def _yaml_tagged(node: Any) -> Any:
    tag = node.tag.replace("tag:yaml.org,2002:", "!!")
    raise BadText(f"the tag {tag} is not read", "drop the tag, or write a text")


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
            loader.faults.append(
                BadText("the key is not a text", f'write "{shown:.60}" in quotes', value=shown[:60], line=line)
            )
            key = Unread(shown)
        if key in written:
            loader.faults.append(BadText("the key is written twice", "keep one of the two", field=key, line=line))
            continue
        if position >= first_own:
            written.add(key)
        found[key] = loader.construct_object(value_node, deep=True)
    return found
