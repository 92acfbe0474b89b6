"""What a client does beyond tools: the checks of ../contract.md, with the Python SDK."""

import asyncio
import base64
import json
import os
import time

import anyio
import mcp_types as types
from checks import check, same
from mcp import MCPError

CAPABILITIES = types.ClientCapabilities(
    elicitation=types.ElicitationCapability(form=types.FormElicitationCapability(), url=types.UrlElicitationCapability()),
    sampling=types.SamplingCapability(tools=types.SamplingToolsCapability()),
    roots=types.RootsCapability(list_changed=True),
)
LOG_LEVEL = "io.modelcontextprotocol/logLevel"
WATCHED = "test://watched-resource"
ADA = {"username": "ada", "email": "ada@example.com"}
# In seconds: within SOON a notification has come; for QUIET none comes where none may.
SOON, QUIET = 2.0, 0.06


class Attended:
    """The user and the model behind the client: what they are asked, and what they answer."""

    def __init__(self):
        self.asked = []
        self.action = "accept"
        self.thinking = None
        self.roots = [{"uri": "file:///workspace", "name": "Workspace"}]

    async def elicit(self, _context, params):
        self.asked.append(params)
        if self.thinking:
            await self.thinking()
        if self.action != "accept" or params.mode == "url":
            return types.ElicitResult(action=self.action)
        known = {**ADA, "name": "Ada", "color": "blue", "context": "the sea", "ok": True}
        wanted = params.requested_schema["properties"]
        return types.ElicitResult(action="accept", content={key: known[key] for key in wanted})

    async def sample(self, _context, params):
        self.asked.append(params)
        if params.tools:
            use = types.ToolUseContent(id="use-1", name=params.tools[0].name, input={"city": "Paris"})
            return types.CreateMessageResultWithTools(
                role="assistant", content=[use], model="test-model", stop_reason="toolUse"
            )
        content = params.messages[0].content
        text = (content[0] if isinstance(content, list) else content).text
        return types.CreateMessageResult(
            role="assistant",
            content=types.TextContent(text=f"model says: {text}"),
            model="test-model",
            stop_reason="endTurn",
        )

    async def list_roots(self, _context):
        self.asked.append("roots")
        return types.ListRootsResult(roots=[types.Root(**root) for root in self.roots])

    def callbacks(self):
        return {
            "elicitation_callback": self.elicit,
            "sampling_callback": self.sample,
            "sampling_capabilities": CAPABILITIES.sampling,
            "list_roots_callback": self.list_roots,
        }

    def one(self):
        """The one request that has come."""
        same(len(self.asked), 1)
        return self.asked.pop()


def text_of(result):
    assert not result.is_error, result
    return "\n".join(block.text for block in result.content)


async def refused(codes, awaitable):
    try:
        result = await awaitable
    except MCPError as error:
        assert error.code in codes, f"expected one of {codes}, seen {error.code} {error}"
        return error
    raise AssertionError(f"expected an error, seen {result}")


async def pages(list_page, member):
    """Every item of a list, page by page, and how many pages there were."""
    items, count, cursor = [], 0, None
    while True:
        page = await list_page(params=types.PaginatedRequestParams(cursor=cursor))
        items += getattr(page, member)
        count += 1
        cursor = page.next_cursor
        if cursor is None:
            return items, count
        assert count < 100, "the list ends"


class Features:
    """`client` runs input rounds by itself where there are any; `session` is what it stands on."""

    def __init__(self, client, session, expected, seen, attended, legacy, known):
        self.client = client
        self.session = session
        self.expected = expected
        self.seen = seen
        self.attended = attended
        self.legacy = legacy
        # Whether the client has been told what the server can do; one that is pinned has not.
        self.capabilities = client.server_capabilities if known else None

    async def run(self):
        await self.content()
        await self.resources()
        await self.prompts()
        await self.completion()
        await self.logging()
        await self.questions()
        await self.changes()

    async def next(self, method):
        """Waits until a notification has come, and takes what has come out of the list."""
        late = time.monotonic() + SOON
        while True:
            found = [note for note in self.seen.notes if note.method == method]
            if found:
                self.seen.notes.clear()
                return found
            assert time.monotonic() < late, f"{method} within {SOON} s; there was {self.seen.notes}"
            await asyncio.sleep(0.002)

    async def quiet(self):
        await asyncio.sleep(QUIET)
        same(self.seen.notes, [])

    async def text(self, name, arguments=None, **more):
        return text_of(await self.client.call_tool(name, arguments, **more))

    async def content(self):
        async def only(name, kinds):
            result = await self.client.call_tool(name)
            assert not result.is_error, result
            same([block.type for block in result.content], kinds)
            return result.content

        with check("text, without arguments"):
            same(await self.text("test_simple_text"), "This is a simple text response for testing.")
        with check("image"):
            [image] = await only("test_image_content", ["image"])
            same(image.mime_type, "image/png")
            assert base64.b64decode(image.data).startswith(b"\x89PNG"), image
        # Sound came with 2025-03-26, links with 2025-06-18.
        if self.expected >= "2025-03-26":
            with check("audio"):
                [audio] = await only("test_audio_content", ["audio"])
                same(audio.mime_type, "audio/wav")
                assert base64.b64decode(audio.data).startswith(b"RIFF"), audio
        if self.expected >= "2025-06-18":
            with check("resource link"):
                [link] = await only("test_resource_link", ["resource_link"])
                same((link.uri, link.name), ("test://static-text", "static-text"))
        with check("embedded resource, mixed content"):
            [embedded] = await only("test_embedded_resource", ["resource"])
            same(embedded.resource.uri, "test://embedded-resource")
            same(embedded.resource.mime_type, "text/plain")
            same(embedded.resource.text, "This is an embedded resource content.")
            mixed = await only("test_multiple_content_types", ["text", "image", "resource"])
            same(json.loads(mixed[2].resource.text), {"test": "data", "value": 123})

    async def resources(self):
        with check("resources/list"):
            if self.capabilities:
                assert self.capabilities.resources, self.capabilities
            items, _ = await pages(self.session.list_resources, "resources")
            by = {item.uri: item for item in items}
            same(by["test://static-text"].name, "static-text")
            same(by["test://static-text"].mime_type, "text/plain")
            assert {"test://static-binary", WATCHED} <= by.keys(), by
            # Titles came with 2025-06-18.
            if self.expected >= "2025-06-18":
                same(by["test://static-text"].title, "Static text")
        with check("resources/templates/list"):
            items, _ = await pages(self.session.list_resource_templates, "resource_templates")
            assert "test://template/{id}/data" in [item.uri_template for item in items], items
        if size := os.environ.get("PAGE_SIZE"):
            with check(f"lists in pages of {size}"):
                items, count = await pages(self.session.list_tools, "tools")
                same(count, -(-len(items) // int(size)))
                same(len({item.name for item in items}), len(items))
                wrong = types.PaginatedRequestParams(cursor="no-such-cursor")
                await refused([types.INVALID_PARAMS], self.session.list_tools(params=wrong))

        async def read(uri):
            [contents] = (await self.client.read_resource(uri)).contents
            same(contents.uri, uri)
            return contents

        with check("resources/read"):
            text = await read("test://static-text")
            same((text.text, text.mime_type), ("This is the content of the static text resource.", "text/plain"))
            binary = await read("test://static-binary")
            same(binary.mime_type, "image/png")
            assert base64.b64decode(binary.blob).startswith(b"\x89PNG"), binary
        with check("resources/read, of a template"):
            data = await read("test://template/123/data")
            same(json.loads(data.text), {"id": "123", "templateTest": True, "data": "Data for ID: 123"})
        with check("resources/read, of none"):
            # -32602 is the code of 2026-07-28; before, it was -32002, and servers differ.
            codes = [-32002, -32602] if self.legacy else [-32602]
            for uri in ["test://nonexistent-resource", "test://template/missing/data"]:
                await refused(codes, self.client.read_resource(uri))

    async def prompts(self):
        async def get(name, arguments=None):
            return [message.content for message in (await self.client.get_prompt(name, arguments)).messages]

        with check("prompts/list"):
            if self.capabilities:
                assert self.capabilities.prompts, self.capabilities
            items, _ = await pages(self.session.list_prompts, "prompts")
            by = {item.name: item for item in items}
            arguments = by["test_prompt_with_arguments"].arguments
            same([(one.name, one.required) for one in arguments], [("arg1", True), ("arg2", True)])
            assert "test_simple_prompt" in by, by
        with check("prompts/get"):
            same([one.text for one in await get("test_simple_prompt")], ["This is a simple prompt for testing."])
            [said] = await get("test_prompt_with_arguments", {"arg1": "one", "arg2": "t'wo"})
            same(said.text, "Prompt with arguments: arg1='one', arg2='t'wo'")
            same((await get("test_prompt_with_image"))[0].type, "image")
            embedded = (await get("test_prompt_with_embedded_resource", {"resourceUri": "test://any"}))[0].resource
            same((embedded.uri, embedded.text), ("test://any", "Embedded resource content for testing."))
        with check("prompts/get, wrong"):
            await refused([types.INVALID_PARAMS], get("no-such-prompt"))
            await refused([types.INVALID_PARAMS], get("test_prompt_with_arguments", {"arg1": "only one"}))

    async def completion(self):
        async def complete(ref, name, value):
            return (await self.client.complete(ref, {"name": name, "value": value})).completion.values

        with check("completion/complete"):
            # The capability came with 2025-03-26; the method was there before.
            if self.capabilities and self.expected >= "2025-03-26":
                assert self.capabilities.completions, self.capabilities
            prompt = types.PromptReference(name="test_prompt_with_arguments")
            same(await complete(prompt, "arg1", "par"), ["paris", "park", "party"])
            same(await complete(prompt, "arg1", "xyz"), [])
            same(await complete(prompt, "arg2", ""), [])
            template = types.ResourceTemplateReference(uri="test://template/{id}/data")
            same(await complete(template, "id", "12"), ["123", "124"])
        with check("completion/complete, of none"):
            await refused([types.INVALID_PARAMS], complete(types.PromptReference(name="no-such-prompt"), "a", ""))

    async def logging(self):
        lines = ["Tool execution started", "Tool processing data", "Tool execution completed"]

        async def logs(level):
            meta = None
            if self.legacy:
                await self.session.set_logging_level(level)
            elif level:
                meta = {LOG_LEVEL: level}
            await self.text("test_tool_with_logging", meta=meta)
            await asyncio.sleep(QUIET)
            seen = [(note.method, note.params.level, note.params.data) for note in self.seen.notes]
            self.seen.notes.clear()
            return seen

        every = [("notifications/message", "info", line) for line in lines]
        with check("logging/setLevel and messages" if self.legacy else "messages at the level of the request"):
            if self.capabilities:
                assert self.capabilities.logging is not None, self.capabilities
            same(await logs("debug"), every)
            same(await logs("info"), every)
            same(await logs("error"), [])
            if not self.legacy:
                same(await logs(None), [])

    async def questions(self):
        attended = self.attended

        def ask():
            return self.text("test_elicitation", {"message": "Who are you?"})

        formed = self.expected >= "2025-06-18"
        if formed:
            with check("elicitation, accepted"):
                said = await ask()
                prefix = "User response: action=accept, content="
                assert said.startswith(prefix), said
                same(json.loads(said.removeprefix(prefix)), ADA)
                params = attended.one()
                same(params.message, "Who are you?")
                same(params.requested_schema["required"], ["username", "email"])
            for action in ["decline", "cancel"]:
                with check(f"elicitation, {action}"):
                    attended.action = action
                    same(await ask(), f"User response: action={action}")
                    attended.action = "accept"
                    attended.one()
            with check("a call cancelled while it asks"):
                with anyio.CancelScope() as scope:

                    async def think():
                        # Until the call has been given up, and a little longer, so that the answer is late.
                        scope.cancel()
                        await asyncio.sleep(QUIET)

                    attended.thinking = think
                    await ask()
                assert scope.cancelled_caught, "the call did not wait for the answer"
                await asyncio.sleep(2 * QUIET)
                attended.thinking = None
                attended.one()
                assert "action=accept" in await ask()
                attended.one()
            with check("20 elicitations at once"):
                same(len(set(await asyncio.gather(*(ask() for _ in range(20))))), 1)
                same(len(attended.asked), 20)
                attended.asked.clear()
        if self.expected >= "2025-11-25":
            with check("elicitation by URL"):
                same(await self.text("test_elicitation_url"), "URL response: action=accept")
                params = attended.one()
                same((params.mode, params.url), ("url", "https://example.com/authorize?state=1"))
                if self.legacy:
                    # Only this revision has the id, and says when the user is done.
                    [complete] = await self.next("notifications/elicitation/complete")
                    same(complete.params.elicitation_id, params.elicitation_id)
        with check("sampling"):
            same(await self.text("test_sampling", {"prompt": "Say hello"}), "LLM response: model says: Say hello")
            params = attended.one()
            same((params.max_tokens, params.messages[0].role), (100, "user"))
        if self.expected >= "2025-11-25":
            with check("sampling with tools"):
                same(await self.text("test_sampling_with_tools"), 'LLM wants: get_weather {"city":"Paris"}')
                params = attended.one()
                same(params.tools[0].input_schema["properties"]["city"]["type"], "string")
                same(params.tool_choice.mode, "required")
        with check("roots"):
            for more in [[], [{"uri": "file:///elsewhere", "name": "Elsewhere"}]]:
                attended.roots += more
                if more and self.legacy:
                    await self.session.send_roots_list_changed()
                same(json.loads((await self.text("test_list_roots")).removeprefix("Roots: ")), attended.roots)
            assert set(attended.asked) == {"roots"}, attended.asked
            attended.asked.clear()
        if formed:
            with check("several questions, in rounds and at once"):
                same(await self.text("test_two_rounds"), "Ada likes blue")
                same(len(attended.asked), 2)
                said = await self.text("test_three_questions")
                same(said, "model says: Say hello Ada, 2 roots")
                same(len(attended.asked), 5)
                attended.asked.clear()
            with check("a prompt that asks"):
                [message] = (await self.client.get_prompt("test_prompt_that_asks")).messages
                same(message.content.text, "Use this context: the sea")
                attended.one()

        if not self.legacy:
            with check("state that was tampered with is refused"):
                await self.tampered()

    async def tampered(self):
        name = "test_input_required_result_tampered_state"
        same(await self.text(name), "state-ok true")
        self.attended.asked.clear()
        first = await self.session.call_tool(name, allow_input_required=True)
        [key] = first.input_requests
        answers = {key: types.ElicitResult(action="accept", content={"ok": True})}
        state = first.request_state
        for wrong in [f"{state}-TAMPERED", state[:-1], "x", ""]:
            again = self.session.call_tool(name, input_responses=answers, request_state=wrong)
            await refused([types.INVALID_PARAMS], again)
        same(text_of(await self.session.call_tool(name, input_responses=answers, request_state=state)), "state-ok true")

    async def changes(self):
        kinds = {
            "tool": (self.session.list_tools, "tools", "test_dummy_tool"),
            "prompt": (self.session.list_prompts, "prompts", "test_dummy_prompt"),
            "resource": (self.session.list_resources, "resources", "dummy"),
        }

        async def there(kind):
            list_page, member, name = kinds[kind]
            return name in [item.name for item in (await pages(list_page, member))[0]]

        if self.legacy:
            for kind in kinds:
                with check(f"a {kind} comes and goes"):
                    for said, expected in [("added", True), ("removed", False)]:
                        same(await self.text(f"test_trigger_{kind}_change"), said)
                        await self.next(f"notifications/{kind}s/list_changed")
                        same(await there(kind), expected)
            with check("resources/subscribe, unsubscribe"):
                await self.text("test_update_resource")
                await self.quiet()
                await self.session.subscribe_resource(WATCHED)
                for _ in range(2):
                    version = await self.text("test_update_resource")
                    [note] = await self.next("notifications/resources/updated")
                    same(note.params.uri, WATCHED)
                    same((await self.client.read_resource(WATCHED)).contents[0].text, version)
                await self.session.unsubscribe_resource(WATCHED)
                await self.text("test_update_resource")
                await self.quiet()
            return

        with check("no change is announced unless asked for"):
            for kind in kinds:
                same(await self.text(f"test_trigger_{kind}_change"), "added")
                same(await self.text(f"test_trigger_{kind}_change"), "removed")
            await self.text("test_update_resource")
            await self.quiet()
        every = {"tools_list_changed": True, "prompts_list_changed": True, "resources_list_changed": True}
        with check("subscriptions/listen, lists"):
            async with self.client.listen(**every) as stream:
                same(stream.honored.model_dump(exclude_none=True), every)
                for kind in kinds:
                    for said, expected in [("added", True), ("removed", False)]:
                        same(await self.text(f"test_trigger_{kind}_change"), said)
                        event = await asyncio.wait_for(anext(stream), SOON)
                        same(type(event).__name__.lower(), f"{kind}slistchanged")
                        same(await there(kind), expected)
        with check("subscriptions/listen, a resource"):
            async with self.client.listen(resource_subscriptions=[WATCHED]) as stream:
                same(stream.honored.resource_subscriptions, [WATCHED])
                for _ in range(2):
                    version = await self.text("test_update_resource")
                    event = await asyncio.wait_for(anext(stream), SOON)
                    same(event.uri, WATCHED)
                    same((await self.client.read_resource(WATCHED)).contents[0].text, version)
        with check("streams that were closed are silent"):
            self.seen.notes.clear()
            for kind in kinds:
                await self.text(f"test_trigger_{kind}_change")
                await self.text(f"test_trigger_{kind}_change")
            await self.text("test_update_resource")
            await self.quiet()


async def undeclared(client, legacy):
    """With a client that has declared no capability."""
    with check("a client that declared nothing is asked nothing"):
        for name, arguments, needed in [
            ("test_elicitation", {"message": "Who are you?"}, "elicitation"),
            ("test_sampling", {"prompt": "Say hello"}, "sampling"),
            ("test_list_roots", {}, "roots"),
        ]:
            if legacy:
                # These revisions do not say how a server tells: servers differ.
                try:
                    result = await client.call_tool(name, arguments)
                    assert result.is_error, result
                except MCPError:
                    pass
            else:
                error = await refused([-32021], client.call_tool(name, arguments))
                assert needed in error.data["requiredCapabilities"], error.data
