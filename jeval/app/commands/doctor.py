"""jeval doctor: what is wrong around a run, and what to do about it."""

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from jeval.app.doctor import Item
    from jeval.app.painter import Painter

__all__ = ["raw"]

_SIGNS = {"fine": ("✓", "green"), "none": ("–", "bright_black"), "warning": ("!", "yellow"), "bad": ("✗", "red")}

# Columns of an item's name.
_MARGIN = 20

_EPILOG = """\
Looks at the installation, the project and its store, keys, proxies and certificates. Nothing is changed, nothing is
sent, and no key is shown. With --online the configured judge is asked one tiny question:

  jeval doctor judge=jev --online

Exit codes: 0 fine; 3 where something is ✗.
"""


def raw(arguments: Sequence[str]) -> int:
    """Look at everything; 3 where something is bad. Overrides may stand between flags, as with `jeval run`."""
    parser = argparse.ArgumentParser(
        prog="jeval doctor",
        description="Check the installation, the keys and the store.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("overrides", metavar="OVERRIDE", nargs="*", help="as for jeval run: judge=NAME, store=FILE, …")
    parser.add_argument("--online", action="store_true", help="ask the judge one tiny question")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument("--store", metavar="FILE", help="the store to look at, instead of the configured one")
    return _main(parser.parse_intermixed_args(arguments))


def _main(args: argparse.Namespace) -> int:
    import json
    import os
    import sys

    from jeval.app.painter import Painter
    from jeval.app.places import project_root

    found: list[Item] = []
    painter = Painter(sys.stdout, os.environ)
    for item in _items(args, project_root()):
        if not args.json:
            _print(painter, item, found[-1].section if found else "")
        found.append(item)
    bad = sum(item.state == "bad" for item in found)
    code = 3 if bad else 0
    if args.json:
        print(
            json.dumps({"exit_code": code, "items": [item._asdict() for item in found]}, ensure_ascii=False), flush=True
        )
        return code
    warned = sum(item.state == "warning" for item in found)
    painter.line()
    painter.line(_verdict(painter, bad, warned))
    return code


def _items(args: argparse.Namespace, root: "Path") -> Iterator["Item"]:
    import os
    import sys

    from jeval.app.doctor import Item, installation
    from jeval.app.places import store_path

    yield from installation(sys.stdout)
    from jeval.app.doctor_network import certificate_items, judge_item, key_items, proxy_items
    from jeval.app.doctor_project import conf_items, run_item, store_items

    yield from conf_items(root)
    run, settings = run_item(args.overrides, root)
    yield run
    yield from store_items(store_path(args.store or (settings.store if settings else None), root))
    keys = list(key_items(root, os.environ, settings.judge if settings else None))
    yield from keys
    yield from proxy_items(os.environ)
    yield from certificate_items(os.environ)
    if settings is None:
        yield Item("judge", "judge", "none", "not known, for the run cannot be composed")
    elif any(item.state == "bad" and item.name == settings.judge.key_env for item in keys):
        yield Item("judge", f"judge={settings.judge.name}", "none", "cannot be asked without its key")
    else:
        yield judge_item(settings.judge, os.environ, online=args.online)


def _print(painter: "Painter", item: "Item", section: str) -> None:
    from jeval.app.columns import wrapped

    if item.section != section:
        if section:
            painter.line()
        painter.line(painter.paint(item.section, "bold"))
    sign, colour = _SIGNS[item.state]
    text = item.text + (f"; {item.remedy}" if item.remedy else "")
    name = wrapped(item.name, 60, 1)[0]
    indent = max(_MARGIN, len(name) + 2)
    first, *rest = wrapped(text, max(20, painter.width - indent - 4))
    painter.line(f"  {painter.paint(sign, colour)} {name:<{indent}}{first}")
    for line in rest:
        painter.line(" " * (indent + 4) + line)


def _verdict(painter: "Painter", bad: int, warned: int) -> str:
    from jeval.counted import counted

    noticed = f"{counted(warned, 'thing')} to look at" if warned else ""
    if bad:
        text = f"{counted(bad, 'thing is', 'things are')} wrong" + (f", {noticed}" if noticed else "")
        return painter.paint(text, "red")
    return painter.paint(noticed, "yellow") if noticed else painter.paint("all is well", "green")
