"""gateways.py: addresses, models and keys, and what is refused."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from jeval.errors import ConfigError
from jeval.judges.address import is_loopback
from jeval.judges.gateways import GATEWAYS, HttpSettings, check_key, http_settings, read_key

CONF = Path(__file__).parent.parent / "conf" / "judge"

ADDRESSES = {
    "jev": "https://api.typesafe.ai/v1/systemone",
    "vercel": "https://ai-gateway.vercel.sh/typesafe/v1/systemone",
    "openrouter": "https://openrouter.ai/api/alpha/decisions",
    "nanogpt": "https://nano-gpt.com/api/v1/systemone",
    "local": "http://127.0.0.1:8000/v1/systemone",
}
KEYS = {
    "jev": "TYPESAFE_API_KEY",
    "vercel": "AI_GATEWAY_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
    "nanogpt": "NANOGPT_API_KEY",
    "local": None,
}


def config(name):
    return yaml.safe_load((CONF / f"{name}.yaml").read_text(encoding="utf-8"))


def settings(**change):
    return HttpSettings(**{"name": "x", "gateway": "x", "base_url": "https://judge.example.com", "model": "m"} | change)


# The gateways


@pytest.mark.parametrize("name", ADDRESSES)
def test_each_config_reaches_its_gateway(name):
    found = http_settings(config(name), {})
    assert (found.name, found.gateway, found.url) == (name, name, ADDRESSES[name])
    assert found.key_env == KEYS[name]


@pytest.mark.parametrize("name", ADDRESSES)
def test_configs_and_the_table_say_the_same(name):
    assert http_settings(config(name), {}) == http_settings(
        {"name": name, "usd_per_million_input": config(name)["usd_per_million_input"]}, {}
    )


@pytest.mark.parametrize("name", ADDRESSES)
def test_each_config_holds_every_key_so_that_each_can_be_overridden(name):
    assert set(config(name)) == {
        "name",
        "gateway",
        "base_url",
        "path",
        "model",
        "key_env",
        "concurrency",
        "timeout_s",
        "max_attempts",
        "budget_s",
        "usd_per_million_input",
        "reuse",
        "repeat",
        "max_usd",
        "max_state_tokens",
    }


def test_every_gateway_has_a_config():
    assert set(GATEWAYS) == {path.stem for path in CONF.glob("*.yaml")} - {"offline"}


def test_typesafe_variables_stand_in_for_what_the_config_leaves_open():
    environ = {"TYPESAFE_BASE_URL": "https://eu.example.com", "TYPESAFE_DEFAULT_MODEL": "jev-1.14.0"}
    found = http_settings(config("jev"), environ)
    assert (found.url, found.model) == ("https://eu.example.com/v1/systemone", "jev-1.14.0")


def test_a_config_counts_before_the_variables_and_they_concern_typesafe_only():
    environ = {"TYPESAFE_BASE_URL": "https://eu.example.com", "TYPESAFE_DEFAULT_MODEL": "jev-1.14.0"}
    found = http_settings(config("jev") | {"base_url": "https://us.example.com", "model": "jev-preview"}, environ)
    assert (found.base_url, found.model) == ("https://us.example.com", "jev-preview")
    assert http_settings(config("vercel"), environ).url == ADDRESSES["vercel"]


def test_an_empty_variable_is_as_good_as_none():
    assert http_settings(config("jev"), {"TYPESAFE_BASE_URL": ""}).url == ADDRESSES["jev"]


def test_a_gateway_of_ones_own_needs_an_address_and_a_model():
    own = {"name": "house", "base_url": "https://judge.example.com", "model": "m"}
    assert http_settings(own, {}).url == "https://judge.example.com/v1/systemone"
    for missing in ("base_url", "model"):
        with pytest.raises(ConfigError, match=rf"judge\.{missing} is not set and gateway 'house'"):
            http_settings(own | {missing: None}, {})


def test_a_key_can_be_done_without_on_purpose():
    assert http_settings(config("jev") | {"key_env": None}, {}).key_env is None


# Addresses


@pytest.mark.parametrize(
    ("base_url", "path", "url"),
    [
        ("https://h.example", "/v1/systemone", "https://h.example/v1/systemone"),
        ("https://h.example/", "/v1/systemone", "https://h.example/v1/systemone"),
        ("https://h.example/v1", "/v1/systemone", "https://h.example/v1/systemone"),
        ("https://h.example/v1/systemone", "/v1/systemone", "https://h.example/v1/systemone"),
        ("https://h.example/v1/systemone/", "/v1/systemone", "https://h.example/v1/systemone"),
        ("https://h.example/api", "/v1/systemone", "https://h.example/api/v1/systemone"),
        ("https://h.example/v1/judge", "/v1/systemone", "https://h.example/v1/judge/v1/systemone"),
        ("http://127.0.0.1:8000", "/v1/systemone", "http://127.0.0.1:8000/v1/systemone"),
        ("http://[::1]:8000", "/v1/systemone", "http://[::1]:8000/v1/systemone"),
        (" https://h.example ", "/decide", "https://h.example/decide"),
    ],
)
def test_an_address_and_a_path_become_one(base_url, path, url):
    assert settings(base_url=base_url, path=path).url == url


segments = st.lists(st.sampled_from(["a", "b", "v1"]), max_size=4)


@given(base=segments, path=segments.filter(bool))
def test_a_path_already_in_the_address_is_not_added_again(base, path):
    whole = settings(base_url="/".join(["https://h.example", *base, *path]), path="/" + "/".join(path)).url
    assert whole == "/".join(["https://h.example", *base, *path])


@pytest.mark.parametrize(
    ("base_url", "message"),
    [
        ("", "must be a text"),
        ("judge.example.com", "=judge.example.com names no host"),
        ("localhost:8000", "=localhost:8000 names no host"),
        ("ftp://judge.example.com", "=ftp://judge.example.com has the scheme 'ftp'"),
        ("file:///etc/passwd", "=file:///etc/passwd names no host"),
        ("https://", "=https:// names no host"),
        ("https://h.example:port", "=https://h.example:port is not an address"),
        ("https://bob:hunter2@h.example:port", "base_url is not an address"),
        ("https://[::1", "not an address"),
        ("https://h.example/?key=hunter2", "=https://h.example/… holds a \\?"),
        ("https://h.example/#hunter2", "a \\?"),
        ("https://h.example/a hunter2", "a space"),
        ("https://h.example/\u00e9", "a space"),
        ("https://bob:hunter2@h.example", "user name or password"),
        (None, "must be a text"),
    ],
)
def test_an_address_of_no_use_is_refused_and_its_secrets_not_shown(base_url, message):
    with pytest.raises(ConfigError, match=message) as caught:
        settings(base_url=base_url)
    assert "judge.base_url" in str(caught.value) and "hunter2" not in str(caught.value)


def test_a_key_does_not_travel_as_plain_text():
    with pytest.raises(ConfigError, match="plain text; use https"):
        settings(base_url="http://judge.example.com", key_env="JUDGE_API_KEY")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "localhost", "judge.localhost", "[::1]"])
def test_but_it_may_to_this_machine(host):
    assert settings(base_url=f"http://{host}:8000", key_env="JUDGE_API_KEY").key_env == "JUDGE_API_KEY"


def test_and_without_a_key_anything_may():
    assert settings(base_url="http://judge.example.com", key_env=None).url.startswith("http://judge")


@pytest.mark.parametrize("host", ["localhost.example.com", "127.0.0.1.example.com", "10.0.0.1", "0.0.0.0", "::2", ""])
def test_names_that_only_look_like_this_machine_are_not(host):
    assert not is_loopback(host)


# Numbers


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("concurrency", 0),
        ("concurrency", 2.5),
        ("concurrency", True),
        ("concurrency", 5000),
        ("concurrency", "64"),
        ("max_attempts", 0),
        ("max_attempts", -1),
        ("timeout_s", 0),
        ("timeout_s", float("nan")),
        ("timeout_s", "10"),
        ("timeout_s", 3600),
        ("budget_s", 0),
        ("budget_s", float("inf")),
        ("usd_per_million_input", -0.1),
        ("path", "v1/systemone"),
        ("path", "/v1?x=1"),
        ("model", ""),
        ("model", "jev\nlatest"),
        ("name", ""),
        ("key_env", ""),
    ],
)
def test_a_setting_out_of_range_is_refused_by_name(name, value):
    with pytest.raises(ConfigError, match=rf"^judge\.{name} is "):
        settings(**{name: value})


# Keys


def test_no_key_is_read_where_none_is_named():
    assert read_key(None, {}) is None


def test_a_key_is_read_from_its_variable():
    assert read_key("JUDGE_API_KEY", {"JUDGE_API_KEY": "ts_live_1-2.3~4+5/6="}) == "ts_live_1-2.3~4+5/6="


@pytest.mark.parametrize(("environ", "state"), [({}, "is not set"), ({"JUDGE_API_KEY": ""}, "is empty")])
def test_a_missing_key_is_named_by_its_variable(environ, state):
    with pytest.raises(ConfigError, match=f"JUDGE_API_KEY {state}") as caught:
        read_key("JUDGE_API_KEY", environ)
    assert caught.value.exit_code == 3


@pytest.mark.parametrize(
    ("key", "trouble"),
    [
        ("hunter2\n", "line break"),
        ("hunter2\r", "line break"),
        (" hunter2", "space"),
        ("hun ter2", "space"),
        ("hunter2\t", "space"),
        ('"hunter2"', "quote"),
        ("'hunter2'", "quote"),
        ("hunter2\u2019", "not ASCII"),
        ("hunter2\u00e9", "not ASCII"),
        ("hunter2\x00", "control character"),
        ("hunter2\x7f", "control character"),
    ],
)
def test_a_key_a_header_cannot_carry_is_refused_and_not_shown(key, trouble):
    with pytest.raises(ConfigError, match=trouble) as caught:
        read_key("JUDGE_API_KEY", {"JUDGE_API_KEY": key})
    assert "JUDGE_API_KEY" in str(caught.value) and "hunter2" not in str(caught.value)


@given(key=st.text(max_size=30))
def test_a_key_is_taken_as_it_is_or_not_at_all(key):
    try:
        assert check_key(key, "it") == key
    except ConfigError as error:
        assert len(key) < 4 or key not in str(error)
    else:
        assert key.isascii() and key.isprintable() and " " not in key
