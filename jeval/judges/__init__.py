"""Judges: whoever answers questions about a state. Over HTTP, the pieces are

- `gateways`: the doors a judge is reached by, their settings, and keys from the environment; `address`: where they are
- `wire`: the bytes of a request and the answers in a reply; `chat` and `percentages`: the same of a chat model
- `transport`: one HTTP exchange, and what can go wrong with it; `faults`: what a refusal says
- `retry`: what is tried again, after how long, how often
- `pace`: how fast to ask
- `http`: `HttpJudge`, which puts them together

Only this folder imports httpx, aiohttp and tenacity, and only once a judge over HTTP is wanted.
"""
