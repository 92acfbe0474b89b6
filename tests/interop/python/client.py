#!/usr/bin/env python3
"""The official Python SDK as a client of a server on stdio, or at a URL.

usage: client.py auto|pin|REVISION COMMAND [ARGUMENT...]
       client.py auto|pin|REVISION URL

auto      server/discover first, then the calls, in one process
pin       calls of 2026-07-28 at once, without server/discover
REVISION  the initialize handshake, asking for this revision
"""

import asyncio
import json
import logging
import os
import sys
import tempfile
import warnings
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import mcp_types as types
from checks import check, same
from features import CAPABILITIES, Attended, Features, pages, undeclared
from mcp import Client, ClientSession, MCPError, StdioServerParameters, stdio_client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION

WATCH = Path(__file__).parent.parent / "watch.py"
TOOLS = {"add", "echo", "fail", "slow"}
ECHOES = {
    "plain": "hello",
    "empty": "",
    "non-ascii": "Grüße, 世界, مرحبا, 🦀 and e\u0301",
    "newlines": "one\ntwo\r\nthree\n",
    "escapes and separators": '"quoted" \\ back\\slash \t \u0001 \u2028 \u2029 </script>',
    "like a frame": '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    "200 KiB": "x" * (200 * 1024),
}
INFO = types.Implementation(name="interop", version="1.0.0")
# For every request, in seconds.
PATIENCE = 15.0


def text_of(result):
    same([block.type for block in result.content], ["text"])
    return result.content[0].text


class Seen(logging.Handler):
    """What reaches the client outside of its calls: notifications and what the SDK logs as a fault."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.notes = []
        self.faults = []

    async def message(self, message):
        (self.faults if isinstance(message, Exception) else self.notes).append(message)

    def emit(self, record):
        self.faults.append(record.getMessage())


@asynccontextmanager
async def connected(how, server, seen, attended=None):
    """A client in the way asked for: an SDK Client, or for a chosen revision the ClientSession beneath it.

    It has a user and a model behind it, and says so, if `attended` is given.
    """
    capabilities = CAPABILITIES if attended else types.ClientCapabilities()
    options = attended.callbacks() if attended else {}
    options |= {"client_info": INFO, "message_handler": seen.message, "read_timeout_seconds": PATIENCE}
    if how in ("auto", "pin"):
        mode = LATEST_MODERN_VERSION if how == "pin" else "auto"
        client = Client(server, mode=mode, **options)
        with check(f"connect, {how}"):
            await client.__aenter__()
        try:
            yield client
        finally:
            await client.__aexit__(None, None, None)
        return
    if isinstance(server, StdioServerParameters):
        transport = stdio_client(server)
    elif how == "2024-11-05":
        # The first revision has a transport of its own.
        transport = sse_client(server)
    else:
        transport = streamable_http_client(server)
    async with transport as (read, write):
        async with ClientSession(read, write, **options) as session:
            with check(f"connect, {how}"):
                # What ClientSession.initialize does, with a revision of our choice.
                params = types.InitializeRequestParams(
                    protocol_version=how, capabilities=capabilities, client_info=INFO
                )
                session.adopt(await session.send_request(types.InitializeRequest(params=params), types.InitializeResult))
                await session.send_notification(types.InitializedNotification())
            yield session


async def discover(session):
    with check("server/discover"):
        found = await session.send_discover(LATEST_MODERN_VERSION)
        assert LATEST_MODERN_VERSION in found["supportedVersions"], found
        same(found["resultType"], "complete")
        assert isinstance(found["ttlMs"], int) and found["ttlMs"] >= 0, found
        assert found["cacheScope"] in ("public", "private"), found
        types.DiscoverResult.model_validate(found)


async def run(client, expected, seen, legacy, features):
    with check(f"negotiated {expected}"):
        same(client.protocol_version, expected)

    with check("tools/list"):
        tools, _ = await pages(features.session.list_tools, "tools")
        names = [tool.name for tool in tools]
        assert set(names) >= TOOLS, names
        same(len(set(names)), len(names))

    with check("tools/list schemas"):
        by = {tool.name: tool for tool in tools}
        same(by["echo"].input_schema["properties"]["text"]["type"], "string")
        same(by["echo"].input_schema["required"], ["text"])
        same(by["add"].input_schema["properties"]["a"]["type"], "integer")
        # Output schemas came with 2025-06-18; the checks of `add` below rest on the same date.
        if expected >= "2025-06-18":
            same(by["add"].output_schema["properties"]["sum"]["type"], "integer")

    for name, text in ECHOES.items():
        with check(f"echo {name}"):
            result = await client.call_tool("echo", {"text": text})
            assert not result.is_error, result
            same(text_of(result), text)

    with check("add"):
        for a, b in [(2, 3), (-2, 44), (0, 0), (2**40, 1)]:
            result = await client.call_tool("add", {"a": a, "b": b})
            assert not result.is_error, result
            if expected >= "2025-06-18":
                same(result.structured_content, {"sum": a + b})
            same(json.loads(text_of(result)), {"sum": a + b})

    with check("add with invalid arguments is a tool error"):
        for wrong in [{"a": "two", "b": 3}, {"a": 2}, {}, None]:
            result = await client.call_tool("add", wrong)
            assert result.is_error, f"{wrong}: {result}"
            assert text_of(result), "a text that says why"

    with check("fail"):
        result = await client.call_tool("fail", {"message": "as asked"})
        assert result.is_error, result
        assert "as asked" in text_of(result), result
        assert (await client.call_tool("fail", {})).is_error

    with check("unknown tool is error -32602"):
        try:
            result = await client.call_tool("no-such-tool", {})
        except MCPError as error:
            same(error.code, types.INVALID_PARAMS)
        else:
            raise AssertionError(f"expected an error, seen {result}")

    with check("slow without a progress token"):
        same(text_of(await client.call_tool("slow", {"steps": 2, "delay_ms": 5})), "done after 2 steps")
        await asyncio.sleep(0.02)
        same(seen.notes, [])

    with check("slow with progress"):
        steps = 5
        progress = []

        async def on_progress(at, total, _message):
            progress.append((at, total))

        result = await client.call_tool("slow", {"steps": steps, "delay_ms": 40}, progress_callback=on_progress)
        same(progress, [(at + 1, steps) for at in range(steps)])
        same(text_of(result), f"done after {steps} steps")

    with check("50 calls at once"):
        texts = [f"call {at} ü" for at in range(50)]
        results = await asyncio.gather(*(client.call_tool("echo", {"text": text}) for text in texts))
        same([text_of(result) for result in results], texts)

    with check("a fast call overtakes a slow one"):
        order = []

        async def call(name, arguments):
            await client.call_tool(name, arguments)
            order.append(name)

        await asyncio.gather(call("slow", {"steps": 4, "delay_ms": 50}), call("echo", {"text": "fast"}))
        same(order, ["echo", "slow"])

    with check("a cancelled call ends, the connection goes on"):
        with anyio.CancelScope() as scope:

            async def stop(_at, _total, _message):
                scope.cancel()

            await client.call_tool("slow", {"steps": 1000, "delay_ms": 20}, progress_callback=stop)
        assert scope.cancelled_caught, "the call did not wait for its 1000 steps"
        same(text_of(await client.call_tool("echo", {"text": "still here"})), "still here")
        # What was under way when the cancellation was sent may still come; later than that, nothing may.
        await asyncio.sleep(0.05)
        seen.notes.clear()
        await asyncio.sleep(0.1)
        same(seen.notes, [])

    await features.run()

    if legacy:
        with check("ping"):
            same((await client.send_ping()).model_dump(exclude_none=True), {})

    with check("nothing the client objects to"):
        same(seen.faults, [])


async def main(how, command):
    warnings.simplefilter("ignore")
    seen = Seen()
    logging.getLogger().addHandler(seen)
    with tempfile.TemporaryDirectory(prefix="mcp-interop-") as folder:
        status = Path(folder) / "status"
        transcript = os.environ.get("TRANSCRIPT") or "-"
        over_http = command[0].startswith("http")
        server = command[0] if over_http else StdioServerParameters(
            command=sys.executable, args=[str(WATCH), str(status), transcript, *command]
        )
        attended = Attended()
        async with connected(how, server, seen, attended) as client:
            if how != "pin":
                # A pinned client has asked nothing, so it knows neither of these.
                with check("server says who it is"):
                    assert client.server_info and client.server_info.name and client.server_info.version, (
                        client.server_info
                    )
                    assert client.server_capabilities.tools, client.server_capabilities
            modern = how in ("auto", "pin")
            # Asked for a revision that never was, a server offers the latest that it can speak by this handshake.
            legacy = LATEST_HANDSHAKE_VERSION if how == "2001-01-01" else how
            expected = LATEST_MODERN_VERSION if modern else legacy
            session = client.session if modern else client
            features = Features(client, session, expected, seen, attended, not modern, known=how != "pin")
            await run(client, expected, seen, not modern, features)
            if modern:
                await discover(session)
        async with connected(how, server, Seen()) as client:
            await undeclared(client, not modern)
        if over_http:
            return
        with check("server exits by itself when its input ends"):
            same(status.read_text().splitlines(), ["exit 0", "exit 0"])


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2:]))
