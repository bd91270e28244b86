"""One small request to each real gateway whose key is set.

JEVAL_LIVE=1 pytest -m live tests/test_judge_live.py
"""

import asyncio
import os

import pytest

from jeval.judges.gateways import GATEWAYS, http_settings, read_key
from jeval.judges.http import HttpJudge
from jeval.question import choice, noul, score
from jeval.state import state_of

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(os.environ.get("JEVAL_LIVE") != "1", reason="set JEVAL_LIVE=1 to spend real requests"),
]

STATE = state_of(
    {"user_input": "When do you close on Fridays?", "assistant_response": "We close at 18:00 on Fridays."},
    10_000,
)
QUESTIONS = {
    "time": choice(
        "Does assistant_response name a closing time?",
        {"yes_it_does": "it names one", "no_it_does_not": None},
    ),
    "short": noul("assistant_response is a single sentence."),
    "tone": score("How polite is assistant_response?", ("Rude", "Neutral", "Polite")),
}


@pytest.mark.parametrize("name", [name for name, gateway in GATEWAYS.items() if gateway.key_env and gateway.model])
def test_a_real_gateway_answers_every_type_of_question(name):
    settings = http_settings({"name": name}, os.environ)
    if not os.environ.get(settings.key_env or ""):
        pytest.skip(f"{settings.key_env} is not set")

    async def main():
        judge = HttpJudge(settings, key=read_key(settings.key_env, os.environ))
        try:
            return await judge.ask(STATE, QUESTIONS)
        finally:
            await judge.close()

    reply = asyncio.run(main())
    assert list(reply.answers) == list(QUESTIONS)
    assert reply.model
    assert reply.answers["time"].leader == "yes_it_does"
