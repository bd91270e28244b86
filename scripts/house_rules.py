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
IMPURE_MODULES = set(
    "glob os pathlib random secrets shutil socket sqlite3 subprocess tempfile time uuid"
    " aiohttp datasette httpx hydra omegaconf requests rich sqlite_utils tenacity uvicorn uvloop".split()
)
IMPURE_CALLS = {"open", "input", "print"}
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


def is_pure(name: str) -> bool:
    parts = Path(name).parts
    return parts[0] == "jeval" and parts[1] not in EDGES and parts[-1] != "__main__.py"


def check_purity(name: str, tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        imported: list[str] = []
        if isinstance(node, ast.Import):
            imported = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            imported = [node.module or ""]
        for module in imported:
            if module.split(".")[0] in IMPURE_MODULES:
                yield f"{name}:{node.lineno}: a pure module imports {module}; pass in what it needs from it"
        if isinstance(node, ast.Call):
            called = node.func
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
            if is_pure(name):
                yield from check_purity(name, tree)


def main() -> int:
    problems = [problem for name in files() for problem in check_file(name)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
