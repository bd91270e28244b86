"""The floor: the same requests by a bare aiohttp loop that stores nothing. Prints the seconds it took."""

import asyncio
import json
import sys
import time

import aiohttp
import uvloop


async def ask(url: str, bodies: list[bytes], concurrency: int) -> None:
    remaining = iter(bodies)
    connector = aiohttp.TCPConnector(limit=concurrency)
    headers = {"authorization": "Bearer bench", "content-type": "application/json"}
    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:

        async def work() -> None:
            for body in remaining:
                async with session.post(f"{url}/v1/systemone", data=body) as response:
                    json.loads(await response.read())

        await asyncio.gather(*(work() for _ in range(concurrency)))


def main() -> None:
    url, cases, concurrency = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    question = {
        "type": "choice",
        "instructions": "z " * 200,
        "criteria": {"yes": "a", "no": "b", "unknown": "c"},
    }
    questions = json.dumps({f"q{i}": question for i in range(5)})
    state = "x " * 500
    bodies = [
        f'{{"model":"m","state":{{"n":{i},"text":"{state}"}},"questions":{questions}}}'.encode() for i in range(cases)
    ]
    started = time.perf_counter()
    uvloop.run(ask(url, bodies, concurrency))
    print(time.perf_counter() - started)


if __name__ == "__main__":
    main()
