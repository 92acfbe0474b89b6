#!/usr/bin/env python3
"""The contract of ../contract.md on the official Python SDK: a peer for our client. Its lists come in pages.

usage: server.py
       server.py PORT    over HTTP
"""

import asyncio
import base64
import json
import sys
import uuid
import warnings

import mcp_types as types
import uvicorn
from mcp import MCPError, stdio_server
from mcp.server import NotificationOptions
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ToolsListChanged,
)

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA=="
WATCHED = "test://watched-resource"
TEMPLATE = "test://template/{id}/data"
MISSING_CAPABILITY = -32021
PAGE = 4
LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]


def obj(**properties):
    """An object schema; a property whose name ends in `_` is optional."""
    required = [name for name in properties if not name.endswith("_")]
    return {
        "type": "object",
        "properties": {name.rstrip("_"): {"type": kind} for name, kind in properties.items()},
        "required": required,
    }


def compact(value):
    return json.dumps(value, separators=(",", ":"))


def text(said):
    return types.TextContent(text=said)


def embedded(uri, mime_type, said):
    return types.EmbeddedResource(resource=types.TextResourceContents(uri=uri, mime_type=mime_type, text=said))


class NeedsInput(Exception):
    def __init__(self, requests, state):
        super().__init__()
        self.result = types.InputRequiredResult(input_requests=requests, request_state=state)


class Call:
    """A request that may ask the client something, in the way of its era."""

    def __init__(self, ctx, params):
        self.ctx = ctx
        self.arguments = params.arguments or {}
        self.answers = params.input_responses or {}
        self.state = params.request_state
        self.legacy = ctx.protocol_version < "2026-07-28"

    async def ask(self, requests, state=None):
        capabilities = self.ctx.session.client_capabilities
        for request in requests.values():
            needed = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}
            name = needed[request.method]
            if capabilities is None or getattr(capabilities, name) is None:
                if self.legacy:
                    raise ValueError(f"the client has not declared {name}")
                raise MCPError(MISSING_CAPABILITY, "missing capability", {"requiredCapabilities": {name: {}}})
        if self.legacy:
            kinds = {
                "elicitation/create": types.ElicitResult,
                "sampling/createMessage": types.CreateMessageResultWithTools,
                "roots/list": types.ListRootsResult,
            }
            return {
                key: await self.ctx.session.send_request(request, kinds[request.method])
                for key, request in requests.items()
            }
        if not requests.keys() <= self.answers.keys():
            raise NeedsInput(requests, state)
        return self.answers

    async def elicit(self, key, message, schema, state=None):
        params = types.ElicitRequestFormParams(message=message, requested_schema=schema)
        return (await self.ask({key: types.ElicitRequest(params=params)}, state))[key]


def sampling(prompt, max_tokens, **more):
    message = types.SamplingMessage(role="user", content=text(prompt))
    params = types.CreateMessageRequestParams(messages=[message], max_tokens=max_tokens, **more)
    return types.CreateMessageRequest(params=params)


def said(answer):
    return (answer.content[0] if isinstance(answer.content, list) else answer.content).text


class Peer:
    def __init__(self):
        self.level = "debug"
        self.subscribed = set()
        self.version = 1
        self.present = {"tool": False, "prompt": False, "resource": False}
        self.bus = InMemorySubscriptionBus()
        self.tools = {
            "test_simple_text": (obj(), self.simple_text),
            "echo": (obj(text="string"), self.echo),
            "add": (obj(a="integer", b="integer"), self.add),
            "fail": (obj(message_="string"), self.fail),
            "slow": (obj(steps_="integer", delay_ms_="integer"), self.slow),
            "test_image_content": (obj(), self.image),
            "test_audio_content": (obj(), self.audio),
            "test_embedded_resource": (obj(), self.embedded),
            "test_multiple_content_types": (obj(), self.mixed),
            "test_resource_link": (obj(), self.link),
            "test_tool_with_logging": (obj(), self.log),
            "test_elicitation": (obj(message="string"), self.elicitation),
            "test_elicitation_url": (obj(), self.elicitation_url),
            "test_sampling": (obj(prompt="string"), self.sampling),
            "test_sampling_with_tools": (obj(), self.sampling_with_tools),
            "test_list_roots": (obj(), self.roots),
            "test_two_rounds": (obj(), self.multi_round),
            "test_three_questions": (obj(), self.multiple),
            "test_input_required_result_tampered_state": (obj(), self.tampered),
            "test_trigger_tool_change": (obj(), lambda call: self.toggle(call, "tool")),
            "test_trigger_prompt_change": (obj(), lambda call: self.toggle(call, "prompt")),
            "test_trigger_resource_change": (obj(), lambda call: self.toggle(call, "resource")),
            "test_update_resource": (obj(), self.update),
        }

    # Lists

    async def list_tools(self, _ctx, params):
        names = [*self.tools, *(["test_dummy_tool"] if self.present["tool"] else [])]
        output = {"add": obj(sum="integer")}
        tools = [
            types.Tool(
                name=name,
                description=name.replace("_", " "),
                input_schema=self.tools[name][0] if name in self.tools else obj(),
                output_schema=output.get(name),
            )
            for name in names
        ]
        return self.page(tools, params, types.ListToolsResult, "tools")

    async def list_resources(self, _ctx, params):
        resources = [
            types.Resource(uri="test://static-text", name="static-text", title="Static text", mime_type="text/plain"),
            types.Resource(uri="test://static-binary", name="static-binary", mime_type="image/png"),
            types.Resource(uri=WATCHED, name="watched", mime_type="text/plain"),
            *(types.Resource(uri=f"test://more/{number}", name=f"more {number}") for number in range(8)),
        ]
        if self.present["resource"]:
            resources.append(types.Resource(uri="test://dummy-resource", name="dummy"))
        return self.page(resources, params, types.ListResourcesResult, "resources")

    async def list_templates(self, _ctx, params):
        templates = [types.ResourceTemplate(uri_template=TEMPLATE, name="template", mime_type="application/json")]
        return self.page(templates, params, types.ListResourceTemplatesResult, "resource_templates")

    async def list_prompts(self, _ctx, params):
        def prompt(name, *arguments):
            wanted = [types.PromptArgument(name=argument, required=True) for argument in arguments]
            return types.Prompt(name=name, description=name.replace("_", " "), arguments=wanted or None)

        prompts = [
            prompt("test_simple_prompt"),
            prompt("test_prompt_with_arguments", "arg1", "arg2"),
            prompt("test_prompt_with_embedded_resource", "resourceUri"),
            prompt("test_prompt_with_image"),
            prompt("test_prompt_that_asks"),
        ]
        if self.present["prompt"]:
            prompts.append(prompt("test_dummy_prompt"))
        return self.page(prompts, params, types.ListPromptsResult, "prompts")

    def page(self, items, params, kind, member):
        start = 0
        if params is not None and params.cursor is not None:
            try:
                start = int(base64.b64decode(params.cursor, validate=True))
            except ValueError as error:
                raise MCPError(types.INVALID_PARAMS, "no such cursor") from error
        more = start + PAGE < len(items)
        cursor = base64.b64encode(str(start + PAGE).encode()).decode() if more else None
        return kind(**{member: items[start : start + PAGE]}, next_cursor=cursor)

    # Tools

    async def call_tool(self, ctx, params):
        if params.name not in self.tools:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
        call = Call(ctx, params)
        schema, run = self.tools[params.name]
        try:
            for name in schema["required"]:
                if name not in call.arguments:
                    raise ValueError(f"{name} is missing")
            result = await run(call)
        except NeedsInput as needs:
            return needs.result
        except ValueError as error:
            return types.CallToolResult(content=[text(str(error))], is_error=True)
        if isinstance(result, types.CallToolResult):
            return result
        return types.CallToolResult(content=result if isinstance(result, list) else [text(result)])

    async def simple_text(self, _call):
        return "This is a simple text response for testing."

    async def echo(self, call):
        return call.arguments["text"]

    async def add(self, call):
        a, b = call.arguments["a"], call.arguments["b"]
        if not (isinstance(a, int) and isinstance(b, int)):
            raise ValueError("not integers")
        total = {"sum": a + b}
        return types.CallToolResult(content=[text(compact(total))], structured_content=total)

    async def fail(self, call):
        raise ValueError(call.arguments.get("message", "this tool always fails"))

    async def slow(self, call):
        steps, delay = call.arguments.get("steps", 5), call.arguments.get("delay_ms", 100)
        for step in range(1, steps + 1):
            await call.ctx.session.report_progress(step, steps)
            await asyncio.sleep(delay / 1000)
        return f"done after {steps} steps"

    async def image(self, _call):
        return [types.ImageContent(data=PNG, mime_type="image/png")]

    async def audio(self, _call):
        return [types.AudioContent(data=WAV, mime_type="audio/wav")]

    async def embedded(self, _call):
        return [embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")]

    async def mixed(self, call):
        return [
            text("Multiple content types test:"),
            *await self.image(call),
            embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
        ]

    async def link(self, _call):
        return [types.ResourceLink(uri="test://static-text", name="static-text", mime_type="text/plain")]

    async def log(self, call):
        for line in ["Tool execution started", "Tool processing data", "Tool execution completed"]:
            # Where a request says its level, the SDK goes by it.
            if not call.legacy or LEVELS.index(self.level) <= LEVELS.index("info"):
                await call.ctx.session.send_log_message("info", line, "interop", related_request_id=call.ctx.request_id)
            await asyncio.sleep(0.02)
        return "logged"

    async def elicitation(self, call):
        answer = await call.elicit("user", call.arguments["message"], obj(username="string", email="string"))
        content = "" if answer.content is None else f", content={compact(answer.content)}"
        return f"User response: action={answer.action}{content}"

    async def elicitation_url(self, call):
        params = types.ElicitRequestURLParams(
            message="Please authorize",
            url="https://example.com/authorize?state=1",
            elicitation_id=str(uuid.uuid4()) if call.legacy else None,
        )
        answer = (await call.ask({"visit": types.ElicitRequest(params=params)}))["visit"]
        if call.legacy and answer.action == "accept":
            await call.ctx.session.send_elicit_complete(params.elicitation_id)
        return f"URL response: action={answer.action}"

    async def sampling(self, call):
        answer = (await call.ask({"sample": sampling(call.arguments["prompt"], 100)}))["sample"]
        return f"LLM response: {said(answer)}"

    async def sampling_with_tools(self, call):
        weather = types.Tool(name="get_weather", description="The weather of a city", input_schema=obj(city="string"))
        more = {"tools": [weather], "tool_choice": types.ToolChoice(mode="required")}
        content = (await call.ask({"sample": sampling("What is the weather in Paris?", 100, **more)}))["sample"].content
        use = content[0] if isinstance(content, list) else content
        return f"LLM wants: {use.name} {compact(use.input)}"

    async def roots(self, call):
        answer = (await call.ask({"roots": types.ListRootsRequest()}))["roots"]
        return f"Roots: {compact([{'uri': str(root.uri), 'name': root.name} for root in answer.roots])}"

    async def multi_round(self, call):
        name = (await self.step(call, "step1", obj(name="string"), "round 1"))["name"]
        color = (await self.step(call, "step2", obj(color="string"), f"round 2: {name}"))["color"]
        return f"{name} likes {color}"

    async def step(self, call, key, schema, state):
        if key == "step1" and call.state and call.state.startswith("round 2: "):
            return {"name": call.state.removeprefix("round 2: ")}
        return (await call.elicit(key, f"Round {key}", schema, state)).content

    async def multiple(self, call):
        form = types.ElicitRequestFormParams(message="Who?", requested_schema=obj(name="string"))
        answers = await call.ask(
            {
                "user_name": types.ElicitRequest(params=form),
                "greeting": sampling("Say hello", 50),
                "client_roots": types.ListRootsRequest(),
            }
        )
        name, roots = answers["user_name"].content["name"], answers["client_roots"].roots
        return f"{said(answers['greeting'])} {name}, {len(roots)} roots"

    async def tampered(self, call):
        answer = await call.elicit("confirm", "Go on?", obj(ok="boolean"), "round 1")
        if not call.legacy and call.state is None:
            raise NeedsInput({}, "round 1")
        return f"state-ok {compact(answer.content['ok'])}"

    # Changes

    async def toggle(self, call, kind):
        self.present[kind] = not self.present[kind]
        if call.legacy:
            await getattr(call.ctx.session, f"send_{kind}_list_changed")()
        else:
            event = {"tool": ToolsListChanged, "prompt": PromptsListChanged, "resource": ResourcesListChanged}
            await self.bus.publish(event[kind]())
        return "added" if self.present[kind] else "removed"

    async def update(self, call):
        self.version += 1
        if not call.legacy:
            await self.bus.publish(ResourceUpdated(uri=WATCHED))
        elif WATCHED in self.subscribed:
            await call.ctx.session.send_resource_updated(WATCHED)
        return f"version {self.version}"

    async def subscribe(self, _ctx, params):
        self.subscribed.add(str(params.uri))
        return types.EmptyResult()

    async def unsubscribe(self, _ctx, params):
        self.subscribed.discard(str(params.uri))
        return types.EmptyResult()

    # The rest

    async def read(self, ctx, params):
        uri = str(params.uri)
        start, end = TEMPLATE.split("{id}")
        if uri == "test://static-binary":
            contents = types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PNG)
        else:
            kind = "text/plain"
            if uri == "test://static-text":
                said = "This is the content of the static text resource."
            elif uri == WATCHED:
                said = f"version {self.version}"
            elif uri.startswith(start) and uri.endswith(end) and uri != f"{start}missing{end}":
                number, kind = uri[len(start) : -len(end)], "application/json"
                said = compact({"id": number, "templateTest": True, "data": f"Data for ID: {number}"})
            else:
                code = -32602 if ctx.protocol_version >= "2026-07-28" else -32002
                raise MCPError(code, "Resource not found", {"uri": uri})
            contents = types.TextResourceContents(uri=uri, mime_type=kind, text=said)
        return types.ReadResourceResult(contents=[contents])

    async def get_prompt(self, ctx, params):
        call = Call(ctx, params)

        def wanted(name):
            if name not in call.arguments:
                raise MCPError(types.INVALID_PARAMS, f"{name} is missing")
            return call.arguments[name]

        name = params.name
        try:
            if name == "test_simple_prompt":
                content = [text("This is a simple prompt for testing.")]
            elif name == "test_prompt_with_arguments":
                content = [text(f"Prompt with arguments: arg1='{wanted('arg1')}', arg2='{wanted('arg2')}'")]
            elif name == "test_prompt_with_embedded_resource":
                resource = embedded(wanted("resourceUri"), "text/plain", "Embedded resource content for testing.")
                content = [resource, text("Please process the embedded resource above.")]
            elif name == "test_prompt_with_image":
                content = [types.ImageContent(data=PNG, mime_type="image/png"), text("Please analyze the image above.")]
            elif name == "test_prompt_that_asks":
                answer = await call.elicit("user_context", "What context?", obj(context="string"))
                content = [text(f"Use this context: {answer.content['context']}")]
            else:
                raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {name}")
        except NeedsInput as needs:
            return needs.result
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=one) for one in content])

    async def complete(self, _ctx, params):
        known = {
            ("test_prompt_with_arguments", "arg1"): ["paris", "park", "party", "rome"],
            ("test_prompt_with_arguments", "arg2"): [],
            (TEMPLATE, "id"): ["123", "124", "200"],
        }
        subject = params.ref.name if params.ref.type == "ref/prompt" else str(params.ref.uri)
        if (subject, params.argument.name) not in known:
            raise MCPError(types.INVALID_PARAMS, "nothing to complete")
        values = [one for one in known[subject, params.argument.name] if one.startswith(params.argument.value)]
        return types.CompleteResult(completion=types.Completion(values=values, total=len(values), has_more=False))

    async def set_level(self, _ctx, params):
        self.level = params.level
        return types.EmptyResult()


async def main():
    warnings.simplefilter("ignore")
    peer = Peer()
    server = Server(
        "interop-peer",
        version="1.0.0",
        title="Interop peer",
        instructions="A peer for interoperability tests.",
        on_list_tools=peer.list_tools,
        on_call_tool=peer.call_tool,
        on_list_resources=peer.list_resources,
        on_list_resource_templates=peer.list_templates,
        on_read_resource=peer.read,
        on_subscribe_resource=peer.subscribe,
        on_unsubscribe_resource=peer.unsubscribe,
        on_subscriptions_listen=ListenHandler(peer.bus),
        on_list_prompts=peer.list_prompts,
        on_get_prompt=peer.get_prompt,
        on_completion=peer.complete,
        on_set_logging_level=peer.set_level,
    )
    server.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience="interop-peer"))
    options = server.create_initialization_options(
        NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)
    )
    if len(sys.argv) > 1:
        # Over HTTP nobody but the SDK asks for these.
        server.create_initialization_options = lambda *_, **__: options
        app = server.streamable_http_app()
        await uvicorn.Server(uvicorn.Config(app, port=int(sys.argv[1]), log_level="error")).serve()
        return
    async with stdio_server() as (read, write):
        await server.run(read, write, options)


if __name__ == "__main__":
    asyncio.run(main())
