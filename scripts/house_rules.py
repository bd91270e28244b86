"""The rules of this house that no off-the-shelf linter knows. Prints `path:line: what, and what to do`.

Sizes, names, purity and markup are read from the syntax tree of `jeval/`; characters from every text file.
"""

import ast
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODULE_LINES = 300
FUNCTION_LINES = 45  # without its docstring: what it does should fit on a screen, what it says may not
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "shared", "tools"}

# Folders that touch the world. All else in jeval/ is pure: it is handed the time, the files, the randomness.
EDGES = {"app", "browse", "imports", "judges", "store"}
WORLDLY = set("glob os pathlib random secrets shutil socket subprocess tempfile time uuid".split())
# Each heavy package has its rooms, so that what it costs, and what changes with it, stays in one place.
ROOMS = {
    package: set(rooms.split())
    for packages, rooms in {
        "aiohttp httpx httpx_aiohttp tenacity": "judges",
        "hydra omegaconf rich uvloop": "app",
        "datasette uvicorn": "browse",
        "jinja2 markupsafe": "browse report",
        "sqlite3": "store browse app",  # app hands connections on; it runs no SQL
        "sqlite_utils": "store browse",
    }.items()
    for package in packages.split()
}
IMPURE_CALLS = {"open", "input", "print"}
SQL_CALLS = {"execute", "executemany", "executescript"}
CLOCK_CALLS = {"now", "today", "utcnow"}

# Characters that hide or reorder text are the subject of some cases and tests, and a mistake elsewhere.
UNSEEN = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}
MAY_HOLD_ANYTHING = ("datasets/", "tests/")
TEXT_SUFFIXES = set(".cfg .css .html .ini .js .json .jsonl .md .py .sh .svg .toml .txt .yaml .yml".split())


def files() -> list[str]:
    """Paths from the repository, tracked or new but not ignored; every file where there is no git."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, capture_output=True, check=True, text=True).stdout.split("\0")
    except (OSError, subprocess.CalledProcessError):
        listed = [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*")]
        listed = [name for name in listed if not name.startswith((".venv/", ".git/"))]
    return sorted(name for name in set(listed) if name and (ROOT / name).is_file())


def check_sizes(name: str, source: str, tree: ast.Module) -> Iterator[str]:
    lines = source.count("\n")
    if lines > MODULE_LINES:
        yield f"{name}:1: {lines} lines, over {MODULE_LINES}; split it by noun"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            if ast.get_docstring(node, clean=False) is not None and len(node.body) > 1:
                first = node.body[1]
            length = (node.end_lineno or 0) - first.lineno + 1
            if length > FUNCTION_LINES:
                yield f"{name}:{node.lineno}: {node.name} has {length} lines, over {FUNCTION_LINES}; split it"


def check_name(name: str) -> Iterator[str]:
    vague = VAGUE_NAMES.intersection(Path(name).with_suffix("").parts)
    if vague:
        yield f"{name}:1: {min(vague)!r} says nothing of what is inside; name the file for its noun"


def imported_by(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and top-level name of every absolute import, wherever in the module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name.partition(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.lineno, (node.module or "").partition(".")[0]


def check_imports(name: str, tree: ast.Module) -> Iterator[str]:
    room = Path(name).parts[1]
    for line, package in imported_by(tree):
        if room not in EDGES and package in WORLDLY:
            yield f"{name}:{line}: a pure module imports {package}; pass in what it needs from it"
        if package in ROOMS and room not in ROOMS[package]:
            rooms = " or ".join(f"jeval/{home}" for home in sorted(ROOMS[package]))
            yield f"{name}:{line}: imports {package}, which belongs in {rooms}"


def check_calls(name: str, tree: ast.Module) -> Iterator[str]:
    room = Path(name).parts[1]
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Attribute) and called.attr in SQL_CALLS and room not in ROOMS["sqlite_utils"]:
            yield f"{name}:{node.lineno}: runs SQL; give the query a name in jeval/store"
        if room in EDGES:
            continue
        if isinstance(called, ast.Name) and called.id in IMPURE_CALLS:
            yield f"{name}:{node.lineno}: a pure module calls {called.id}(); leave that to an edge"
        if isinstance(called, ast.Attribute) and called.attr in CLOCK_CALLS:
            yield f"{name}:{node.lineno}: a pure module reads the clock; pass the time in"


def check_markup(name: str, tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.JoinedStr):
            called = node.func
            title = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
            if title == "Markup":
                yield (
                    f"{name}:{node.lineno}: Markup of an f-string escapes nothing;"
                    " write Markup('<b>{}</b>').format(value)"
                )


def check_characters(name: str, source: str) -> Iterator[str]:
    for number, line in enumerate(source.split("\n"), start=1):
        for character in line:
            if character != "\t" and unicodedata.category(character) in UNSEEN:
                code = f"U+{ord(character):04X}"
                yield f"{name}:{number}: holds {code}, which cannot be seen; write it as an escape"


def check_file(name: str) -> Iterator[str]:
    path = ROOT / name
    is_text = path.suffix in TEXT_SUFFIXES or name.startswith(("scripts/", ".ci/")) or "." not in path.name
    if not is_text:
        return
    try:
        source = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        if not name.startswith(MAY_HOLD_ANYTHING):
            yield f"{name}:1: is not UTF-8 ({error.reason} at byte {error.start}); save it as UTF-8"
        return
    if not name.startswith(MAY_HOLD_ANYTHING):
        yield from check_characters(name, source)
    if path.suffix == ".py":
        tree = ast.parse(source, name)
        yield from check_markup(name, tree)
        if name.startswith("jeval/"):
            yield from check_name(name)
            yield from check_sizes(name, source, tree)
            yield from check_imports(name, tree)
            yield from check_calls(name, tree)


def main() -> int:
    problems = [problem for name in files() for problem in check_file(name)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
