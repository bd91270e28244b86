"""jeval doctor: one line for each thing, what to do about what is wrong, no key shown, nothing changed."""

import json
import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jeval.app import doctor, doctor_project
from jeval.app.doctor import Item, installation
from jeval.app.doctor_network import certificate_items, key_items, proxy_items
from jeval.app.settings import JudgeSettings
from jeval.errors import StoreError
from jeval.question import Answer
from jeval.store.connect import open_store
from jeval.store.health import store_health
from jeval.store.schema import VERSION
from tests.judges import ScriptedJudge
from tests.judging import after, hashed, judging
from tests.running import Ran, jeval
from tests.servers import reply
from tests.stores import add_run, new_store

SECRET = "sk-zq-secret-4f1c"


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder, and none of this machine's proxies and certificates."""
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.upper().endswith(("_PROXY", "_CA_BUNDLE")) or name.startswith("SSL_CERT"):
            monkeypatch.delenv(name)


def items(*arguments: str) -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit code and the items by name."""
    ran = jeval("doctor", *arguments, "--json")
    assert ran.json["exit_code"] == ran.code and SECRET not in ran.out + ran.err
    for item in ran.json["items"]:
        assert (item["remedy"] is not None) is (item["state"] in ("warning", "bad")), item
    return ran.code, {item["name"]: item for item in ran.json["items"]}


def test_an_empty_folder_is_fine() -> None:
    code, found = items()
    assert code == 0
    assert {name: found[name]["state"] for name in ("python", "jeval", "sqlite", "store", "conf", "run", "disk")} == {
        "python": "fine", "jeval": "fine", "sqlite": "fine", "store": "none", "conf": "none", "run": "fine",
        "disk": "fine",
    }  # fmt: skip
    assert "is not there yet" in found["store"]["text"] and not Path("jeval.db").exists()


def test_people_read_a_line_an_item_with_its_sign_and_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("SSL_CERT_FILE", "/nope.pem")
    ran = jeval("doctor")
    lines = ran.out.splitlines()
    assert ran.code == 3 and ran.err == ""
    assert lines[0] == "installation" and lines[1].startswith("  ✓ python              3.")
    assert "  ✗ SSL_CERT_FILE       /nope.pem is no file; correct it, or unset it" in lines
    assert "  – TYPESAFE_API_KEY    not set (judge=jev)" in lines
    assert lines[-1] == "1 thing is wrong"
    monkeypatch.delenv("SSL_CERT_FILE")
    monkeypatch.setenv("CURL_CA_BUNDLE", "x")
    ran = jeval("doctor")
    assert ran.code == 0 and ran.out.endswith("\n1 thing to look at\n")
    assert "  ! CURL_CA_BUNDLE      is set, but jeval does not read it; set SSL_CERT_FILE" in ran.out


# The installation.


def test_packages_are_held_against_what_is_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    installed = {"jeval": doctor.__version__, "right": "1.4.2", "old": "0.9", "new": "2.0.0", "next": "1.0.0rc1"}
    declared = [
        "right>=1.4,<2",
        "old>=1",
        "new<2,>=1",
        "next<1.0a0,>=0.6",
        "gone<2",
        "extra>=1; extra == 'dev'",
        "elsewhere>=1; sys_platform != 'win32'",
    ]
    monkeypatch.setattr(doctor, "requires", lambda name: declared)
    monkeypatch.setattr(doctor, "_installed", installed.get)
    found = {item.name: item for item in installation(sys.stdout)}
    assert found["packages"].state == "bad"
    faults = [fault.split()[0] for fault in found["packages"].text.split("; ")]
    assert faults == ["old", "new", "next", "gone"]
    assert found["uvloop"].state == "warning" and found["joblib"].state == "none"
    monkeypatch.setattr(doctor, "requires", lambda name: declared[:1])
    assert doctor._packages().state == "fine"


def test_a_sqlite_that_is_too_old_or_cannot_index_words_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "has_full_text", lambda: False)
    assert doctor._sqlite().state == "warning"
    monkeypatch.setattr(doctor.sqlite3, "sqlite_version_info", (3, 36, 0))
    assert doctor._sqlite().state == "bad"


def test_an_output_that_lacks_our_signs_is_told(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w", encoding="ascii") as stream:
        assert {item.name: item.state for item in installation(stream)}["output"] == "warning"


# The project.


def write(file: str, text: str) -> None:
    path = Path(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_what_in_a_conf_is_not_what_it_looks_like_is_told() -> None:
    write("conf/thresholds/mine.yaml", "name: mine\npass: 0.8\nfail: 0.5\n")
    write("conf/thresholds/strict.yaml", "name: strict\npass: 0.8\nfail: 0.5\n")
    write("conf/judge/ours.yml", "name: ours\n")
    write("conf/threshold/other.yaml", "name: other\n")
    write("conf/gate/broken.yaml", "name: [unclosed\n")
    ran = jeval("doctor", "--json")
    told = {item["text"]: item for item in ran.json["items"] if item["name"] == "conf"}
    assert ran.code == 3 and len(told) == 5 and any("3 options in" in text for text in told)
    strict = told["conf/thresholds/strict.yaml is used in place of the one that comes with jeval"]
    assert strict["state"] == "warning"
    assert told["conf/judge/ours.yml is not read, for it ends in .yml"]["remedy"] == "rename it to .yaml"
    assert told["conf/threshold is no group of options"]["remedy"] == "rename it to thresholds"
    (broken,) = (item for text, item in told.items() if text.startswith("conf/gate/broken.yaml is not YAML: "))
    assert broken["state"] == "bad" and "on line" in broken["text"]


def test_a_run_that_cannot_be_composed_is_told_in_the_words_of_run() -> None:
    code, found = items("thresholds=nope")
    assert code == 3 and found["run"]["state"] == "bad" and "nope" in found["run"]["text"]
    assert found["judge"]["state"] == "none"
    code, found = items("dataset.path=gone.jsonl", "rubrics=shop")
    assert code == 3 and "gone.jsonl: no such file" in found["run"]["text"]


def test_the_store_is_looked_at_and_left_as_it_is(tmp_path: Path) -> None:
    with closing(new_store(tmp_path)) as connection:
        add_run(connection, "run-1", {("pear", "sweet"): "pass"})
    before = Path("jeval.db").read_bytes()
    code, found = items()
    assert code == 0 and "1 run, 0 judgments, 0 labels" in found["store"]["text"]
    assert found["integrity"]["state"] == "fine"
    assert Path("jeval.db").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["jeval.db"]


def test_an_older_store_stays_older() -> None:
    open_store(Path("jeval.db")).close()
    with closing(sqlite3.connect("jeval.db")) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION - 1}")
    code, found = items()
    assert code == 0 and f"schema {VERSION - 1}, {VERSION} once a command opens it" in found["store"]["text"]
    assert store_health(Path("jeval.db")).version == VERSION - 1


def test_a_store_that_cannot_be_used_is_bad() -> None:
    write("text.db", "no store at all " * 100)
    with closing(sqlite3.connect("foreign.db")) as connection:
        connection.execute("CREATE TABLE t (x)")
    open_store(Path("newer.db")).close()
    with closing(sqlite3.connect("newer.db")) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    for name, words in (("text.db", "not a database"), ("foreign.db", "something else"), ("newer.db", "schema")):
        code, found = items("--store", name)
        assert code == 3 and found["store"]["state"] == "bad" and words in found["store"]["text"], name
    code, found = items("store=nowhere/jeval.db")
    assert code == 3 and found["store folder"]["state"] == "bad"


def test_damage_is_found(tmp_path: Path) -> None:
    with closing(new_store(tmp_path)) as connection:
        add_run(connection, "run-1", {(f"case-{n}", "sweet"): "pass" for n in range(300)})
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("DELETE FROM rubrics")
    assert "refers to one of rubrics that is not there" in store_health(Path("jeval.db")).faults[0]
    data = bytearray(Path("jeval.db").read_bytes())
    data[8192:20480] = os.urandom(12288)
    Path("jeval.db").write_bytes(data)
    code, found = items()
    assert code == 3 and found["integrity"]["state"] == "bad"


@pytest.mark.parametrize("name", ["check_rows", "tallies", "labels", "runs", "rubrics", "judgment_rows"])
def test_a_table_that_is_missing_is_named(tmp_path: Path, name: str) -> None:
    with closing(new_store(tmp_path)) as connection:
        add_run(connection, "run-1", {("pear", "sweet"): "pass"})
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute(f"DROP TABLE {name}")
    code, found = items()
    assert code == 3 and found["integrity"]["state"] == "bad"
    assert found["integrity"]["text"] == f"tables or views of schema {VERSION} are missing: {name}"


def test_views_that_are_missing_are_named() -> None:
    with closing(open_store(Path("jeval.db"))) as connection:
        connection.execute("DROP VIEW checks")
        connection.execute("DROP VIEW explanations")
    assert store_health(Path("jeval.db")).missing == ("checks", "explanations")


def test_an_empty_file_lacks_nothing() -> None:
    Path("jeval.db").touch()
    assert store_health(Path("jeval.db")).missing == ()


def test_a_full_disk_and_a_log_without_end_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new_store(tmp_path).close()
    for free, state in ((50 * 2**20, "bad"), (500 * 2**20, "warning"), (5 * 2**30, "fine")):
        usage = SimpleNamespace(free=free)
        monkeypatch.setattr(doctor_project.shutil, "disk_usage", lambda folder, usage=usage: usage)
        assert doctor_project._disk(tmp_path).state == state
    health = store_health(Path("jeval.db"))._replace(log_bytes=2**30)
    monkeypatch.setattr(doctor_project, "store_health", lambda path: health)
    found = {item.name: item for item in doctor_project.store_items(tmp_path / "jeval.db")}
    assert found["log"].state == "warning" and "1.0 GB" in found["log"].text


# Keys: named, never shown.


@pytest.mark.parametrize(
    ("key", "state"),
    [
        (SECRET, "fine"), (f"{SECRET}\n", "bad"), (f'"{SECRET}"', "bad"), (f"{SECRET}é", "bad"), (f"a {SECRET}", "bad"),
        ("", "none"),
    ],
)  # fmt: skip
def test_a_key_is_set_or_not_or_cannot_be_one_and_is_never_shown(
    monkeypatch: pytest.MonkeyPatch, key: str, state: str
) -> None:
    monkeypatch.setenv("TYPESAFE_API_KEY", key)
    code, found = items()
    assert found["TYPESAFE_API_KEY"]["state"] == state and code == (3 if state == "bad" else 0)
    code, found = items("judge=jev")
    assert code == (0 if state == "fine" else 3)
    assert found["TYPESAFE_API_KEY"]["state"] == ("fine" if state == "fine" else "bad")
    assert found["judge=jev"]["state"] == "none"


def test_a_key_in_the_place_of_its_variables_name_is_not_shown() -> None:
    write(
        "conf/judge/ours.yaml",
        f"name: ours\ngateway: ours\nbase_url: https://ours.invalid\nmodel: m\nkey_env: {SECRET}\n",
    )
    for arguments in ((), ("judge=ours",), (f"judge.key_env={SECRET}", "judge=jev")):
        ran = jeval("doctor", *arguments)
        assert ran.code == 3 and SECRET not in ran.out + ran.err
        assert "may be the key itself" in " ".join(ran.out.split())


def test_keys_of_ones_own_judges_are_looked_at_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write("conf/judge/ours.yaml", "name: ours\nkey_env: OURS_API_KEY\n")
    found = {item.name: item for item in key_items(tmp_path, {"OURS_API_KEY": SECRET}, None)}
    assert found["OURS_API_KEY"] == Item("keys", "OURS_API_KEY", "fine", "set (judge=ours)")
    judge = JudgeSettings(name="typed", gateway="typed", key_env="TYPED_KEY")
    found = {item.name: item for item in key_items(tmp_path, {}, judge)}
    assert found["TYPED_KEY"].state == "bad" and "judge=typed needs it" in found["TYPED_KEY"].text


# Proxies and certificates.


def proxies(**environ: str) -> list[tuple[str, str, str]]:
    return [(item.name, item.state, item.text) for item in proxy_items(environ)]


def test_a_proxy_is_shown_without_its_password() -> None:
    assert proxies(HTTPS_PROXY=f"http://user:{SECRET}@proxy.example:3128", NO_PROXY="127.0.0.1,.example") == [
        ("HTTPS_PROXY", "fine", "http://proxy.example:3128"),
        ("NO_PROXY", "fine", "127.0.0.1,.example"),
    ]
    assert proxies(http_proxy="proxy:80") == [("http_proxy", "fine", "http://proxy:80")]
    assert proxies() == [("proxy", "none", "none is set")]


def test_a_proxy_that_cannot_be_one_and_two_that_differ_are_told() -> None:
    for address in ("socks5://proxy:1080", "http://", f"http://{SECRET}:port"):
        ((name, state, text),) = proxies(ALL_PROXY=address)
        assert (name, state) == ("ALL_PROXY", "bad") and SECRET not in text
    assert proxies(HTTP_PROXY="http://one", http_proxy="http://two")[0][1] == "warning"


def test_certificates_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    write("text.pem", "no certificate")
    states = {
        item.name: item.state
        for item in certificate_items({"SSL_CERT_FILE": "text.pem", "SSL_CERT_DIR": str(tmp_path)})
    }
    assert states == {"SSL_CERT_FILE": "bad", "SSL_CERT_DIR": "fine"}
    assert [item.state for item in certificate_items({})] == ["none"]
    assert [item.state for item in certificate_items({"SSL_CERT_DIR": "gone"})] == ["bad"]


# The judge.


def online(url: str, *arguments: str) -> tuple[int, dict[str, Any]]:
    code, found = items("judge=local", f"judge.base_url={url}", "--online", *arguments)
    return code, found["judge=local"]


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedJudge]:
    judge = ScriptedJudge()
    monkeypatch.setattr("jeval.app.doctor_network.make_judge", lambda *_: judge)
    yield judge


def test_without_online_nobody_is_asked() -> None:
    with judging() as server:
        code, found = items("judge=local", f"judge.base_url={server.url}")
        assert code == 0 and found["judge=local"]["state"] == "none" and "--online" in found["judge=local"]["text"]
        assert server.bodies == []


def test_online_asks_one_tiny_question_and_tells_who_answered_and_how_fast() -> None:
    with judging() as server:
        code, item = online(server.url)
        (body,) = server.bodies
    sent = json.loads(body)
    assert sent["state"] == {"user_input": "Hello!"} and len(sent["questions"]) == 1 and len(body) < 1000
    assert code == 0 and item["state"] in ("fine", "warning")
    assert item["text"].startswith("jev-1.13.0 answered in ") and "tokens in" in item["text"]


def test_an_odd_answer_is_told(scripted: ScriptedJudge) -> None:
    assert items("judge=local", "--online")[1]["judge=local"]["state"] == "fine"
    scripted.script = lambda question: Answer({"true": 0.02})
    code, found = items("judge=local", "--online")
    assert code == 0 and found["judge=local"]["state"] == "warning"
    assert found["judge=local"]["remedy"] == "check judge.model"
    assert scripted.closed


def test_a_judge_that_is_not_there_or_refuses_is_bad_with_what_to_do() -> None:
    code, item = online("http://127.0.0.1:9")
    assert code == 3 and item["state"] == "bad" and "is the server running" in item["remedy"]
    with judging(reply(401, {"error": {"message": "no such key"}})) as server:
        code, item = online(server.url)
        assert code == 3 and "401" in item["text"] and len(server.bodies) == 1
    with judging(after(5, hashed)) as server:
        code, item = online(server.url, "judge.timeout_s=0.2")
        assert code == 3 and "no answer within 0.2 s" in item["text"] and len(server.bodies) == 1


def test_the_offline_judge_needs_nobody() -> None:
    assert items("--online")[1]["judge=offline"]["state"] == "fine"


def test_hostile_names_are_shown_as_text() -> None:
    write("conf/thresh\x1b[31m/x.yaml", "name: x\n")
    ran: Ran = jeval("doctor", "name=\x1b[31mred")
    assert "\x1b" not in ran.out and "\\x1b[31m" in ran.out


def test_health_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="does not exist"):
        store_health(tmp_path / "gone.db")
