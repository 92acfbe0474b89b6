"""When the events of a stream arrive.

usage: events.py URL

Calls `slow`, which reports progress every 300 ms, once in each era; opens a `subscriptions/listen`, and a GET stream of a
session, and has a list change. Each event has to come when it happens, not with others.
"""

import http.client
import json
import sys
import time
from urllib.parse import urlsplit

STEP = 0.3
MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
ACCEPT = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
url = urlsplit(sys.argv[1])


def send(method, message=None, headers=None):
    """Sends a request on a connection of its own. The response's body is not read."""
    for _ in range(50):
        connection = http.client.HTTPConnection(url.hostname, url.port, timeout=10)
        try:
            connection.request(method, url.path, message and json.dumps(message), ACCEPT | (headers or {}))
            response = connection.getresponse()
        except (ConnectionRefusedError, http.client.RemoteDisconnected):
            response = None
        # 502: the proxy is there before the server is.
        if response and response.status != 502:
            return response
        time.sleep(0.1)
    raise SystemExit("nobody answers")


def events(response):
    """The messages of a stream, each with the time it came."""
    assert response.status == 200, response.read()
    assert response.getheader("Content-Type") == "text/event-stream", response.getheaders()
    while line := response.readline():
        data = line.removeprefix(b"data:").strip()
        if line.startswith(b"data:") and data:
            yield time.monotonic(), json.loads(data)


def modern(method, params, name=None, id=1):
    meta = {META + "protocolVersion": MODERN, META + "clientCapabilities": {}, "progressToken": "t"}
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method} | ({"Mcp-Name": name} if name else {})
    message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params | {"_meta": meta}}
    return send("POST", message, headers)


def spread(what, response):
    """Progress comes a step apart, and the result after it."""
    came = list(events(response))
    assert [message.get("method") for _, message in came] == ["notifications/progress"] * 4 + [None], came
    gaps = [later - earlier for (earlier, _), (later, _) in zip(came, came[1:])]
    assert all(gap > STEP / 2 for gap in gaps), f"{what}: events came together: {gaps}"
    print(f"ok {what}: events {', '.join(f'{gap * 1000:.0f}' for gap in gaps)} ms apart")


def told(what, stream, change):
    """A change is told within a step of being made, while the stream stays open."""
    made = time.monotonic()
    change()
    came, message = next(stream)
    assert message["method"] == "notifications/tools/list_changed", message
    assert came - made < STEP, f"{what}: told after {came - made:.3f} s"
    print(f"ok {what}: told after {(came - made) * 1000:.0f} ms")


def change():
    modern("tools/call", {"name": "test_trigger_tool_change", "arguments": {}}, "test_trigger_tool_change").read()


slow = {"name": "slow", "arguments": {"steps": 4, "delay_ms": int(STEP * 1000)}}
spread(MODERN, modern("tools/call", slow, "slow"))
listening = events(modern("subscriptions/listen", {"notifications": {"toolsListChanged": True}}))
_, first = next(listening)
assert first["method"] == "notifications/subscriptions/acknowledged", first
told(f"{MODERN}, subscriptions/listen", listening, change)

info = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "nginx", "version": "1"}}
opened = send("POST", {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": info})
opened.read()
session = {"Mcp-Session-Id": opened.getheader("Mcp-Session-Id"), "MCP-Protocol-Version": "2025-11-25"}
assert send("POST", {"jsonrpc": "2.0", "method": "notifications/initialized"}, session).status == 202
call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": slow | {"_meta": {"progressToken": "t"}}}
spread("2025-11-25", send("POST", call, session))
told("2025-11-25, GET", events(send("GET", headers=session)), change)
