"""What is shipped: the dependency ranges, a cheap import, and a wheel that works without the repository."""

import ast
import importlib
import json
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import jeval

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
SHIPPED = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
HEAVY = "aiohttp datasette httpx httpx_aiohttp hydra omegaconf pydantic rich sqlite_utils tenacity uvloop yaml"

# Settled by experiment: outside these ranges something was seen to break, or nothing was tried.
SETTLED = {
    "hydra-core": ">=1.3.2,<1.4",
    "omegaconf": ">=2.3,<2.4",
    "datasette": ">=0.65.1,<1.0a0",
    "sqlite-utils": ">=4,<5",
    "httpx": ">=0.27,<1",
    "httpx-aiohttp": ">=0.2,<0.3",
    "pydantic": ">=2.9,<3",
    "tenacity": ">=9,<10",
}


def loaded_by(statement: str) -> set[str]:
    """Top-level modules that a fresh interpreter holds after `statement`."""
    code = f"{statement}\nimport sys, json; print(json.dumps(sorted({{m.split('.')[0] for m in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def imported_by(folder: Path) -> set[str]:
    """Top-level modules that the source files under `folder` import, wherever in them."""
    found: set[str] = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found.update(alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                found.add((node.module or "").partition(".")[0])
    return found


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize(("package", "ranges"), SETTLED.items())
def test_a_settled_range_stays_as_it_is(package, ranges):
    assert f"{package}{ranges}" in PROJECT["dependencies"]


def test_every_dependency_has_a_lower_and_an_upper_end():
    for requirement in PROJECT["dependencies"]:
        ranges = requirement.partition(";")[0]
        assert ">=" in ranges and ",<" in ranges, requirement


def test_every_package_that_jeval_imports_is_a_declared_dependency():
    declared = {canonical(re.split(r"[<>=!~;\[ ]", line)[0]) for line in PROJECT["dependencies"]}
    homes = packages_distributions()
    undeclared = {
        name
        for name in imported_by(ROOT / "jeval") - sys.stdlib_module_names - {"jeval"}
        if declared.isdisjoint(canonical(home) for home in homes.get(name, ()))
    }
    assert undeclared == set()


def test_every_folder_that_a_config_names_as_bundled_is_shipped():
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "conf").rglob("*.yaml"))
    named = {"conf", *re.findall(r"bundled:(\w+)/", text)}
    assert {top: f"jeval/_{top}" for top in named} == SHIPPED


def test_the_version_is_the_same_everywhere():
    assert PROJECT["version"] == jeval.__version__


def test_the_package_says_that_it_is_typed():
    assert (ROOT / "jeval" / "py.typed").is_file()


def test_importing_jeval_loads_nothing_heavy():
    assert loaded_by("import jeval").isdisjoint(HEAVY.split())


def test_the_command_line_loads_nothing_heavy_before_it_knows_the_command():
    assert loaded_by("import jeval.app.cli").isdisjoint(HEAVY.split())


def test_every_public_name_is_there():
    missing = [name for name in jeval.__all__ if not hasattr(jeval, name)]
    assert missing == []


def test_the_console_script_points_at_a_function():
    module, _, function = PROJECT["scripts"]["jeval"].partition(":")
    assert callable(getattr(importlib.import_module(module), function))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    [built] = folder.glob("jeval-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel alone in its own environment, which borrows this one's dependencies; its `bin` folder."""
    home = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True, timeout=300)
    python = home / "bin" / "python"
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "--no-deps",
        "--no-index",
        str(wheel),
    ]
    subprocess.run(pip, check=True, capture_output=True, timeout=300)
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = subprocess.run([str(python), "-c", ask], check=True, capture_output=True, text=True).stdout.strip()
    # A folder named in a .pth file has its own .pth files left unread, so our editable install stays out.
    (Path(site) / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return home / "bin"


def run_in(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in an empty folder, without this process's own environment but for PATH."""
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(folder), "NO_COLOR": "1"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
@pytest.mark.parametrize(("top", "inside"), SHIPPED.items())
def test_the_wheel_ships_each_file_of(wheel, top, inside):
    listed = subprocess.run(
        ["git", "ls-files", "-z", top], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout
    expected = {name.replace(top, inside, 1) for name in listed.split("\0") if name}
    if not expected:
        pytest.skip(f"git lists no file under {top}/ here")
    with zipfile.ZipFile(wheel) as archive:
        assert expected <= set(archive.namelist())


@pytest.mark.slow
def test_the_wheel_ships_no_test_and_no_store(wheel):
    with zipfile.ZipFile(wheel) as archive:
        strangers = [n for n in archive.namelist() if not n.startswith("jeval") or n.endswith((".db", ".pyc"))]
    assert strangers == []


@pytest.mark.slow
def test_the_installed_package_is_the_wheels_not_the_repositorys(installed, tmp_path):
    done = run_in(tmp_path, str(installed / "python"), "-c", "import jeval; print(jeval.__file__)")
    assert Path(done.stdout.strip()).is_relative_to(installed.parent), done.stdout + done.stderr


@pytest.mark.slow
def test_the_installed_command_says_how_it_is_used(installed, tmp_path):
    done = run_in(tmp_path, str(installed / "jeval"), "--help")
    assert done.returncode == 0, done.stderr
    assert "run" in done.stdout


@pytest.mark.slow
def test_the_installed_command_runs_the_bundled_data_from_an_empty_folder(installed, tmp_path):
    done = run_in(tmp_path, str(installed / "jeval"), "run", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["simulated"] is True
    assert (tmp_path / "jeval.db").is_file()
