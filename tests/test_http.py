"""http.py: the judge over HTTP, put together. Time is virtual where no socket is involved."""

import asyncio
import gc
import importlib.util
import json
import logging
import subprocess
import sys
import urllib.request
import warnings
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from jeval.errors import ConfigError, JudgeError, JudgeRefused, MalformedAnswer
from jeval.judges.gateways import HttpSettings, http_settings
from jeval.judges.http import HttpJudge
from jeval.question import Judge, choice, noul, score
from jeval.state import state_of
from tests.scripted import Script
from tests.servers import answer, answers, cut_off, drip, drop, hang, reply, serving
from tests.virtual_time import run_virtually

STATE = state_of({"user_input": "Are you open?", "assistant_response": "Yes, until six."}, 10_000)
QUESTIONS = {
    "fit": choice("Is it fine?", {"fine": "it is", "wrong": None, "unsure": "cannot tell"}),
    "true": noul("Every figure occurs."),
    "level": score("How good?", ("Bad", "Fair", "Good")),
}
KEY = "ts_live_9f8e7d6c5b4a3210"
MOCK = Path(__file__).parents[2] / "shared" / "tools" / "mock_systemone.py"


def settings(**change):
    fixed = {"name": "jev", "gateway": "jev", "base_url": "https://judge.example.com", "model": "jev-latest"}
    return HttpSettings(**fixed | change)


def good(request, **headers):
    return httpx.Response(200, json=answers(request.content), headers=headers)


def virtual_judge(script, key=None, random=lambda: 0.0, **change):
    """A judge whose network is `script` and whose time is the running loop's."""
    return HttpJudge(
        settings(**change),
        key=key,
        transport=httpx.MockTransport(script),
        clock=asyncio.get_running_loop().time,
        random=random,
    )


def ask(*replies, **more):
    """What one ask brings, and the script afterwards."""
    script = Script(*replies)

    async def main():
        return await ask_and_close(virtual_judge(script, **more))

    return run_virtually(main()), script


def fail(*replies, **more):
    script = Script(*replies)
    with pytest.raises(JudgeError) as caught:

        async def main():
            await virtual_judge(script, **more).ask(STATE, QUESTIONS)

        run_virtually(main())
    return caught.value, script


def refusal(status, detail="no", **headers):
    return httpx.Response(status, json={"detail": detail}, headers=headers)


# What is sent and what comes back


def test_it_is_a_judge():
    judge: Judge = HttpJudge(settings(), key=None)
    assert (judge.name, judge.gateway, judge.model, judge.simulated) == ("jev", "jev", "jev-latest", False)


def test_every_question_is_answered_under_its_key():
    found, script = ask(lambda request: good(request, **{"x-typesafe-request-id": "req_5"}))
    assert list(found.answers) == list(QUESTIONS)
    assert found.answers["fit"].leader == "fine" and found.answers["level"].score == pytest.approx(0.15)
    assert (found.model, found.input_tokens, found.output_tokens) == ("jev-1.13.0", 1000, 10)
    assert (found.request_id, found.attempts, found.cost_usd) == ("req_5", 1, None)
    assert len(script.requests) == 1


def test_a_request_goes_to_the_gateways_address_with_the_key_as_a_bearer():
    _, script = ask(good, key=KEY)
    request = script.requests[0]
    assert (request.method, str(request.url)) == ("POST", "https://judge.example.com/v1/systemone")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["content-type"] == "application/json"
    assert request.headers["accept-encoding"] == "identity"
    assert request.headers["user-agent"].startswith("jeval")


def test_a_server_that_wants_no_key_gets_a_placeholder():
    _, script = ask(good)
    assert script.requests[0].headers["authorization"] == "Bearer local"


def test_the_body_is_model_state_and_questions():
    _, script = ask(good)
    body = json.loads(script.requests[0].content)
    assert list(body) == ["model", "state", "questions"]
    assert body["model"] == "jev-latest" and list(body["questions"]) == list(QUESTIONS)
    assert body["state"] == json.loads(STATE.json)


def test_the_price_makes_the_cost():
    found, _ = ask(good, usd_per_million_input=0.042)
    assert found.cost_usd == pytest.approx(1000 * 0.042 / 1e6)


# Paying for what is of no use


PAID_IN_VAIN = ("NaN", "7.5", "an answer missing", "no model")


@pytest.mark.parametrize("bad", PAID_IN_VAIN)
def test_an_answer_of_no_use_is_paid_for_with_the_good_one_after_it(bad):
    found, _ = ask(BAD_REPLIES[bad], refusal(500), good, usd_per_million_input=0.5)
    assert (found.attempts, found.input_tokens, found.output_tokens) == (3, 2000, 20)
    assert found.cost_usd == pytest.approx(2000 * 0.5 / 1e6)


@pytest.mark.parametrize("bad", PAID_IN_VAIN)
def test_an_error_says_what_answers_of_no_use_took(bad):
    error, _ = fail(BAD_REPLIES[bad], max_attempts=3, usd_per_million_input=0.5)
    assert (error.kind, error.input_tokens, error.output_tokens) == ("malformed", 3000, 30)
    assert error.cost_usd == pytest.approx(3000 * 0.5 / 1e6)


def test_a_refusal_says_what_answers_of_no_use_before_it_took():
    error, _ = fail(BAD_REPLIES["NaN"], refusal(401), usd_per_million_input=0.5)
    assert isinstance(error, JudgeRefused)
    assert (error.input_tokens, error.output_tokens, error.cost_usd) == (1000, 10, pytest.approx(0.0005))


def test_a_chat_model_that_declines_or_writes_no_answer_is_paid_for():
    usage = {"prompt_tokens": 700, "completion_tokens": 30}
    blank = {"choices": [{"message": {"content": ""}}], "usage": usage}
    declined = {"choices": [{"message": {"refusal": "No."}}], "usage": usage | {"cost": 0.25}}
    replies = [httpx.Response(200, json=body) for body in (blank, declined)]
    error, _ = fail(*replies, protocol="chat", usd_per_million_input=1.0, usd_per_million_output=10.0)
    assert (error.kind, error.input_tokens, error.output_tokens) == ("declined", 1400, 60)
    assert error.cost_usd == pytest.approx(0.25 + (700 + 300) / 1e6)


@pytest.mark.parametrize(
    "content",
    [
        b"<html>",
        b"[" * 100_000,
        b'{"usage":{"input_tokens":NaN,"output_tokens":-1,"cost":Infinity}}',
        b'{"usage":{"cost":1' + b"0" * 5000 + b"}}",
        b'{"usage":[]}',
        b"\xff",
    ],
    ids=["page", "deep", "NaN", "long", "list", "not UTF-8"],
)
def test_what_a_reply_does_not_say_it_took_is_unknown_and_not_zero(content):
    error, _ = fail(httpx.Response(200, content=content), max_attempts=2, usd_per_million_input=0.5)
    assert (error.input_tokens, error.output_tokens, error.cost_usd) == (None, None, None)
    assert ask(httpx.Response(200, content=content), good)[0].input_tokens == 1000


# Trying again


BAD_REPLIES = {
    "a page": httpx.Response(200, html="<html>Hello</html>"),
    "a list": httpx.Response(200, json=[]),
    "nothing": httpx.Response(200, content=b""),
    "cut off": lambda request: httpx.Response(200, content=good(request).content[:60]),
    "NaN": lambda request: httpx.Response(200, content=good(request).content.replace(b'"noul":0.9', b'"noul":NaN')),
    "7.5": lambda request: httpx.Response(200, content=good(request).content.replace(b'"noul":0.9', b'"noul":7.5')),
    "an answer missing": lambda request: httpx.Response(
        200, content=good(request).content.replace(b'"true"', b'"else"')
    ),
    "no model": lambda request: httpx.Response(200, json=answers(request.content, model="")),
    "an error inside": httpx.Response(200, json={"error": {"code": 502, "message": "upstream"}}),
    "500": refusal(500),
    "529": refusal(529),
    "429": refusal(429),
    "408": refusal(408),
    "no connection": httpx.ConnectError("refused"),
    "no answer": httpx.ReadTimeout("late"),
    "half an answer": httpx.RemoteProtocolError("cut"),
}


@pytest.mark.parametrize("bad", BAD_REPLIES.values(), ids=BAD_REPLIES)
def test_what_may_pass_by_itself_is_asked_again_and_counted(bad):
    found, script = ask(bad, bad, good)
    assert found.attempts == 3 and len(script.requests) == 3
    assert found.latency_ms == pytest.approx(1500)
    assert script.times == pytest.approx([0.0, 0.5, 1.5])


@pytest.mark.parametrize("bad", BAD_REPLIES.values(), ids=BAD_REPLIES)
def test_what_got_a_reply_is_counted_apart_from_what_got_none(bad):
    got_one = 0 if isinstance(bad, Exception) else 1
    assert ask(bad, bad, good)[0].replies == 2 * got_one + 1
    assert fail(bad, max_attempts=3)[0].replies == 3 * got_one


def test_the_very_same_bytes_are_sent_again():
    _, script = ask(refusal(500), good)
    assert script.requests[0].content == script.requests[1].content


@pytest.mark.parametrize("bad", BAD_REPLIES.values(), ids=BAD_REPLIES)
def test_it_gives_up_after_so_many_attempts(bad):
    error, script = fail(bad, max_attempts=3)
    assert error.attempts == 3 and len(script.requests) == 3
    assert error.latency_ms == pytest.approx(1500)
    assert "3 attempts" in str(error)


def test_what_stays_malformed_is_a_malformed_answer():
    error, _ = fail(BAD_REPLIES["7.5"])
    assert isinstance(error, MalformedAnswer)
    assert str(error) == (
        "judge jev (https://judge.example.com/v1/systemone, 5 attempts): "
        "the answer to true: noul is 7.5, outside 0 to 1"
    )


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (refusal(422, [{"loc": ["body"], "msg": "wrong", "input": STATE.json}]), "bad_request"),
        (refusal(400, {"error_type": "max_tokens_exceeded"}), "too_large"),
    ],
)
def test_what_is_wrong_with_one_case_is_that_cases_error_and_not_asked_again(reply, kind):
    error, script = fail(reply)
    assert (error.kind, error.attempts) == (kind, 1) and not isinstance(error, JudgeRefused)
    assert len(script.requests) == 1 and "Are you open" not in str(error)


@pytest.mark.parametrize(
    ("reply", "kind", "remedy"),
    [
        (refusal(401, "invalid API key"), "auth", "check the key in JEV_TEST_KEY"),
        (
            refusal(403, {"error_type": "authentication_error", "message": "missing API key"}),
            "auth",
            "JEV_TEST_KEY",
        ),
        (
            httpx.Response(403, json={"message": "verify", "error_type": "customer_verification_required"}),
            "forbidden",
            "customer_verification_required",
        ),
        (httpx.Response(402, json={"error": {"code": 402, "message": "no credit"}}), "payment", "credit"),
        (httpx.Response(200, json={"error": {"code": 401, "message": "no key"}}), "auth", "JEV_TEST_KEY"),
        (refusal(404), "not_found", "judge.base_url"),
        (refusal(400, "unknown model 'jev-latest'"), "unknown_model", "set judge.model"),
        (
            httpx.Response(308, headers={"location": "https://elsewhere.example"}),
            "redirect",
            "elsewhere.example",
        ),
    ],
)
def test_what_every_request_would_meet_is_refused_at_once_with_a_remedy(reply, kind, remedy):
    error, script = fail(reply, key_env="JEV_TEST_KEY")
    assert isinstance(error, JudgeRefused) and error.kind == kind
    assert remedy in str(error) and len(script.requests) == 1


def test_a_wait_the_judge_asks_for_is_kept_milliseconds_first():
    _, script = ask(
        refusal(429, **{"retry-after-ms": "1250", "retry-after": "9"}),
        refusal(503, **{"retry-after": "2"}),
        good,
    )
    assert script.times == pytest.approx([0.0, 1.25, 3.25])


def test_jitter_shortens_the_wait_by_a_quarter_at_most():
    _, script = ask(refusal(500), good, random=lambda: 0.999999)
    assert script.times[1] == pytest.approx(0.375, abs=1e-3)


def test_a_wait_past_the_budget_is_not_begun():
    error, script = fail(refusal(503, **{"retry-after": "50"}), budget_s=40.0)
    assert error.kind == "server_error" and not isinstance(error, JudgeRefused)
    assert len(script.requests) == 1 and error.latency_ms == 0.0


def test_a_judge_that_asks_for_an_hours_wait_is_left_for_today():
    error, script = fail(refusal(429, **{"retry-after": "3600"}))
    assert isinstance(error, JudgeRefused) and error.kind == "rate_limited"
    assert "it asks to wait 3600 s: run again after that" in str(error)
    assert len(script.requests) == 1


def test_an_answer_too_late_is_a_timeout_and_asked_again():
    script = Script(good)

    async def main():
        slow = 2

        async def handler(request):
            nonlocal slow
            if slow:
                slow -= 1
                await asyncio.sleep(3600)
            return await script(request)

        return await virtual_judge(handler, timeout_s=10.0).ask(STATE, QUESTIONS)

    found = run_virtually(main())
    assert found.attempts == 3 and found.latency_ms == pytest.approx(21_500)


def test_an_attempt_lasts_no_longer_than_the_budget_has_left():
    async def never(request):
        await asyncio.sleep(3600)

    async def main():
        await virtual_judge(never, timeout_s=10.0, budget_s=15.0).ask(STATE, QUESTIONS)

    with pytest.raises(JudgeError) as caught:
        run_virtually(main())
    assert caught.value.kind == "timeout" and caught.value.latency_ms == pytest.approx(15_000)


# Many at once


class Limited:
    """Lets through so many requests in any second."""

    def __init__(self, limit, latency=0.05):
        self.limit, self.latency = limit, latency
        self.passed, self.refused, self.under_way, self.most = [], 0, 0, 0

    async def __call__(self, request):
        now = asyncio.get_running_loop().time()
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            self.passed = [then for then in self.passed if now - then < 1]
            if len(self.passed) >= self.limit:
                self.refused += 1
                wait_ms = 1000 * (1 - (now - self.passed[0])) + 1
                return refusal(429, **{"retry-after-ms": f"{wait_ms:.0f}"})
            self.passed.append(now)
            await asyncio.sleep(self.latency)
            return good(request)
        finally:
            self.under_way -= 1


def ask_many(server, asks, workers=64, **more):
    """(seconds, errors, replies) of so many asks."""

    async def main():
        loop = asyncio.get_running_loop()
        judge, todo, errors, replies = virtual_judge(server, **more), iter(range(asks)), [], []

        async def work():
            for _ in todo:
                try:
                    replies.append(await judge.ask(STATE, QUESTIONS))
                except JudgeError as error:
                    errors.append(error)

        await asyncio.gather(*(work() for _ in range(workers)))
        return loop.time(), errors, replies

    return run_virtually(main())


def test_a_limited_judge_answers_everything_at_nearly_its_own_pace():
    server = Limited(20)
    seconds, errors, replies = ask_many(server, 400)
    assert not errors and len(replies) == 400
    assert 400 / seconds > 0.7 * 20
    assert server.refused < 120


def test_waiting_for_the_pace_uses_up_neither_the_budget_nor_the_latency():
    seconds, errors, replies = ask_many(Limited(20), 300, budget_s=5.0)
    assert not errors and seconds > 10
    assert max(found.latency_ms for found in replies) < 5000


def test_no_more_are_under_way_than_allowed():
    server = Limited(10_000)
    ask_many(server, 200, workers=50, concurrency=7)
    assert server.most == 7


def test_a_judge_that_is_out_for_minutes_is_given_up_for_all():
    async def out(request):
        return refusal(503)

    async def main():
        judge, errors = virtual_judge(out), []

        async def work():
            while len(errors) < 200 and not any(isinstance(error, JudgeRefused) for error in errors):
                try:
                    await judge.ask(STATE, QUESTIONS)
                except JudgeError as error:
                    errors.append(error)

        # Two at a time, out of step as in a run: while one waits, the other asks.
        await asyncio.gather(work(), asyncio.sleep(1), work())
        return errors

    errors = run_virtually(main())
    refused = [error for error in errors if isinstance(error, JudgeRefused)]
    assert refused and "nothing has worked for" in str(refused[0])
    assert 10 < len(errors) < 100


def storm(server, workers=64):
    """(seconds, errors, replies) of as many asks at once as there are workers."""
    return ask_many(server, workers, workers=workers)


@pytest.mark.parametrize("status", [429, 529])
def test_a_judge_that_turns_everything_away_is_given_up_for_all_within_minutes(status):
    async def shut(request):
        return refusal(status)

    seconds, errors, replies = storm(shut)
    assert not replies and len(errors) == 64 and seconds < 200
    refused = [error for error in errors if isinstance(error, JudgeRefused)]
    assert refused and all("nothing has worked for" in str(error) for error in refused)


@pytest.mark.parametrize("status", [429, 529])
def test_a_judge_that_opens_again_after_a_while_is_waited_for(status):
    async def shut_at_first(request):
        return refusal(status) if asyncio.get_running_loop().time() < 100 else good(request)

    _, errors, replies = storm(shut_at_first)
    assert not any(isinstance(error, JudgeRefused) for error in errors)
    assert len(replies) > 32


def test_an_answer_that_takes_minutes_by_itself_is_still_asked_for_again():
    async def slow_at_first(request):
        await asyncio.sleep(1000 if asyncio.get_running_loop().time() < 100 else 1)
        return good(request)

    async def main():
        return await virtual_judge(slow_at_first, timeout_s=150, budget_s=600).ask(STATE, QUESTIONS)

    assert run_virtually(main()).attempts == 2


# Real sockets


def real(*acts, **change):
    """What one ask to a real server on this machine brings."""

    async def main():
        async with serving(*acts) as server:
            return await ask_and_close(HttpJudge(settings(base_url=server.url, **change), key=None))

    return asyncio.run(main())


async def ask_and_close(judge):
    try:
        return await judge.ask(STATE, QUESTIONS)
    finally:
        await judge.close()


@pytest.mark.parametrize(
    "act", [drop, cut_off, reply(500, b""), reply(200, b"<html>")], ids=["drop", "cut", "500", "page"]
)
def test_a_real_server_that_fails_once_is_asked_again(act):
    assert real(act, answer).attempts == 2


@pytest.mark.parametrize("act", [hang, drip], ids=lambda act: act.__name__)
def test_a_real_server_that_does_not_end_is_a_timeout(act):
    with pytest.raises(JudgeError, match=r"no answer within 0\.2 s") as caught:
        real(act, timeout_s=0.2, max_attempts=1)
    assert caught.value.kind == "timeout"


def test_after_a_hung_connection_the_next_attempt_gets_a_new_one():
    assert real(hang, answer, timeout_s=0.3).attempts == 2


def test_a_server_that_is_not_there_is_refused_for_the_whole_run():
    async def main():
        async with serving(answer) as server:
            url = server.url
        await ask_and_close(HttpJudge(settings(base_url=url, max_attempts=2), key=None))

    with pytest.raises(JudgeRefused, match=r"is the server running, and is judge\.base_url right") as caught:
        asyncio.run(main())
    assert (caught.value.kind, caught.value.attempts) == ("connection", 2)


def test_a_server_that_goes_away_later_costs_its_cases_only():
    async def main():
        async with serving(answer, drop) as server:
            judge = HttpJudge(settings(base_url=server.url, max_attempts=1), key=None)
            await judge.ask(STATE, QUESTIONS)
            try:
                await judge.ask(STATE, QUESTIONS)
            finally:
                await judge.close()

    with pytest.raises(JudgeError) as caught:
        asyncio.run(main())
    assert caught.value.kind == "connection" and not isinstance(caught.value, JudgeRefused)


def test_one_judge_serves_one_event_loop_after_another_and_leaves_nothing_open():
    gc.collect()  # what other tests left is not to be blamed on this one
    with background_mock() as url, warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        judge = HttpJudge(settings(base_url=url), key=None)
        assert [asyncio.run(ask_and_close(judge)).attempts for _ in range(3)] == [1, 1, 1]
        gc.collect()


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_an_event_loop_that_ended_without_close_does_no_harm_to_the_next():
    with background_mock() as url:
        judge = HttpJudge(settings(base_url=url), key=None)
        for _ in range(3):
            assert asyncio.run(judge.ask(STATE, QUESTIONS)).attempts == 1
            assert len(judge._lanes) == 1
    # A loop that has ended lets nobody close its connections; the collector does, here and not in a later test.
    del judge
    gc.collect()


def test_a_closed_judge_opens_again_when_asked():
    async def main(judge):
        return [(await ask_and_close(judge)).attempts for _ in range(2)]

    with background_mock() as url:
        assert asyncio.run(main(HttpJudge(settings(base_url=url), key=None))) == [1, 1]


def test_cancelling_leaves_nothing_behind():
    async def main():
        async with serving(hang) as server:
            judge = HttpJudge(settings(base_url=server.url), key=None)
            tasks = [asyncio.ensure_future(judge.ask(STATE, QUESTIONS)) for _ in range(20)]
            await asyncio.sleep(0.1)
            for task in tasks:
                task.cancel()
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
            await judge.close()
            for _ in range(100):
                if not server.open:
                    break
                await asyncio.sleep(0.02)
            return outcomes, server.open

    outcomes, left = asyncio.run(main())
    assert all(isinstance(outcome, asyncio.CancelledError) for outcome in outcomes) and left == 0


def test_cancelling_one_who_waits_between_attempts_ends_it_at_once():
    async def main():
        loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(virtual_judge(Script(refusal(503, **{"retry-after": "30"}))).ask(STATE, QUESTIONS))
        await asyncio.sleep(1)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return loop.time()

    assert run_virtually(main()) == 1


# The key


@pytest.mark.parametrize("status", [200, 302, 400, 401, 403, 422, 429, 500])
def test_the_key_appears_in_no_error_representation_or_log(status, caplog):
    caplog.set_level(logging.DEBUG)
    echo = {"detail": f"key {KEY} and {KEY[:16]}", "error": {"message": KEY}, "model": KEY, "answers": {}}
    reply = httpx.Response(status, json=echo, headers={"location": f"https://{KEY}@elsewhere.example/?k={KEY}"})
    error, script = fail(reply, key=KEY, max_attempts=1)
    judge = HttpJudge(settings(), key=KEY)
    shown = [error, vars(error), judge, judge.settings, script.requests[0], caplog.text]
    assert KEY[:12] not in f"{shown!r} {error} {judge}"
    assert error.__cause__ is None and error.__suppress_context__


def test_a_key_does_not_travel_as_plain_text():
    with pytest.raises(ConfigError, match="plain text"):
        HttpJudge(settings(base_url="http://judge.example.com"), key=KEY)
    assert HttpJudge(settings(base_url="http://127.0.0.1:8000"), key=KEY).name == "jev"


def test_an_address_httpx_cannot_use_is_a_config_error():
    with pytest.raises(ConfigError, match=r"judge\.base_url"):
        HttpJudge(settings(base_url="https://1.2.3.999"), key=None)


def test_a_key_a_header_cannot_carry_is_refused():
    with pytest.raises(ConfigError, match="line break"):
        HttpJudge(settings(), key=f"{KEY}\n")


# Against servers that are not ours


@contextmanager
def background_mock(*options):
    if not MOCK.exists():
        pytest.skip("the shared stand-in server is not beside this repository")
    command = [sys.executable, str(MOCK), "--max-seconds", "120", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
            process.wait(10)


def ask_each(url, count, workers=32, **change):
    """Outcomes of asks about so many different states."""
    states = [state_of({"user_input": f"Question {n}?", "assistant_response": "Yes."}, 10_000) for n in range(count)]

    async def main():
        judge = HttpJudge(settings(base_url=url, **change), key="any")
        slots = asyncio.Semaphore(workers)

        async def one(state):
            async with slots:
                return await judge.ask(state, QUESTIONS)

        try:
            return await asyncio.gather(*(one(state) for state in states), return_exceptions=True)
        finally:
            await judge.close()

    return asyncio.run(main())


def stats(url):
    with urllib.request.urlopen(f"{url}/stats", timeout=5) as found:
        return json.load(found)


@pytest.mark.parametrize(
    "detail",
    ["list", *(pytest.param(shape, marks=pytest.mark.slow) for shape in ("string", "typed", "bare"))],
)
def test_the_stand_in_fails_in_every_way_and_every_case_is_answered(detail):
    kinds = "429,500,529,malformed,missing,nan,close"
    options = ["--fail-rate", "0.15", "--fail-kinds", kinds, "--detail", detail, "--seed", "3"]
    with background_mock(*options) as url:
        outcomes = ask_each(url, 60, max_attempts=8)
        seen = stats(url)
    assert [type(outcome).__name__ for outcome in outcomes] == ["Reply"] * 60
    assert seen["ok"] == seen["distinct_bodies"] == 60
    assert sum(outcome.attempts for outcome in outcomes) == seen["requests"] > 60


def test_the_stand_in_hangs_and_every_case_is_answered():
    with background_mock("--fail-rate", "0.2", "--fail-kinds", "hang,slow,close") as url:
        outcomes = ask_each(url, 30, timeout_s=0.4, max_attempts=8)
    assert [type(outcome).__name__ for outcome in outcomes] == ["Reply"] * 30


def test_the_stand_in_wants_a_key_and_gets_one():
    with background_mock() as url:
        assert ask_each(url, 1)[0].attempts == 1
        assert stats(url)["unauthorized"] == 0


@pytest.mark.slow
def test_the_stand_in_allows_forty_a_second_and_gets_nearly_that():
    with background_mock("--rate", "40", "--latency-ms", "50") as url:
        outcomes = ask_each(url, 240, workers=64)
        seen = stats(url)
    assert all(type(outcome).__name__ == "Reply" for outcome in outcomes)
    assert seen["throttled"] < 150


def test_a_third_partys_server_of_the_protocol_answers():
    if importlib.util.find_spec("sparrow_decider") is None:
        pytest.skip("sparrow-decider is not installed: pip install jeval[sparrow]")
    with serving_sparrow() as url:
        judge = HttpJudge(http_settings({"name": "local", "base_url": url}, {}), key=None)
        found = asyncio.run(ask_and_close(judge))
    assert list(found.answers) == list(QUESTIONS) and found.model


@contextmanager
def serving_sparrow():
    import socket
    import time

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "sparrow_decider.cli", "serve", "--port", str(port)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(200):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(10)
