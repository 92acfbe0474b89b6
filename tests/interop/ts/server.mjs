// The contract of ../contract.md on the official TypeScript SDK 2.x: a peer for our client, and the stand-in on which
// the checks of the official clients are tried out.
// usage: node server.mjs
//        node server.mjs PORT    over HTTP
import {
  McpServer,
  ResourceNotFoundError,
  ResourceTemplate,
  acceptedContent,
  completable,
  createRequestStateCodec,
  inputRequired,
  inputResponse,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { serveHttp } from './http.mjs';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==';
const WATCHED = 'test://watched-resource';
const WORDS = ['paris', 'park', 'party', 'rome'];
const IDS = ['123', '124', '200'];
const startingWith = (values, start) => values.filter(value => value.startsWith(start));

const text = said => ({ content: [{ type: 'text', text: said }] });
const failed = said => ({ ...text(said), isError: true });
const from = (uri, contents) => ({ contents: [{ uri: String(uri), ...contents }] });
const user = content => ({ role: 'user', content });

const confirmSchema = z.object({ ok: z.boolean() });
const codec = createRequestStateCodec({ key: randomBytes(32) });

function build() {
  const server = new McpServer(
    { name: 'interop-peer', title: 'Interop peer', version: '1.0.0' },
    {
      capabilities: {
        logging: {},
        completions: {},
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
      },
      instructions: 'A peer for interoperability tests.',
      requestState: { verify: codec.verify },
    },
  );
  tools(server);
  elicitations(server);
  changes(server);
  resources(server);
  prompts(server);
  return server;
}

function tools(server) {
  const tool = (name, description, schema, run, more) =>
    server.registerTool(name, { description, inputSchema: z.object(schema), ...more }, run);

  tool('test_simple_text', 'Says one line', {}, () => text('This is a simple text response for testing.'));
  tool('echo', 'Says the text again', { text: z.string() }, args => text(args.text));
  tool(
    'add',
    'Adds two integers',
    { a: z.int(), b: z.int() },
    ({ a, b }) => ({ ...text(JSON.stringify({ sum: a + b })), structuredContent: { sum: a + b } }),
    { outputSchema: z.object({ sum: z.int() }) },
  );
  tool('fail', 'Fails, always', { message: z.string().optional() }, args =>
    failed(args.message ?? 'this tool always fails'),
  );
  tool(
    'slow',
    'Takes its time and reports progress',
    { steps: z.int().default(5), delay_ms: z.int().default(100) },
    async ({ steps, delay_ms }, ctx) => {
      const progressToken = ctx.mcpReq._meta?.progressToken;
      for (let progress = 1; progress <= steps; progress += 1) {
        if (progressToken !== undefined) {
          await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: steps } });
        }
        await sleep(delay_ms, undefined, { signal: ctx.mcpReq.signal });
      }
      return text(`done after ${steps} steps`);
    },
  );

  const image = { type: 'image', data: PNG, mimeType: 'image/png' };
  const embedded = (uri, mimeType, said) => ({ type: 'resource', resource: { uri, mimeType, text: said } });
  tool('test_image_content', 'An image', {}, () => ({ content: [image] }));
  tool('test_audio_content', 'A sound', {}, () => ({
    content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }],
  }));
  tool('test_embedded_resource', 'A resource in the result', {}, () => ({
    content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  }));
  tool('test_multiple_content_types', 'Text, image and resource', {}, () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      image,
      embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  }));
  tool('test_resource_link', 'A link to a resource', {}, () => ({
    content: [{ type: 'resource_link', uri: 'test://static-text', name: 'static-text', mimeType: 'text/plain' }],
  }));
  tool('test_tool_with_logging', 'Three lines at level info', {}, async (_args, ctx) => {
    for (const line of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await ctx.mcpReq.log('info', line, 'interop');
      await sleep(20);
    }
    return text('logged');
  });
}

/** The tools that ask the client something. The SDK turns each into a real request where the era has those. */
function elicitations(server) {
  const asking = (name, description, schema, key, request, answered) =>
    server.registerTool(name, { description, inputSchema: z.object(schema) }, async (args, ctx) => {
      const answer = inputResponse(ctx.mcpReq.inputResponses, key);
      if (answer.kind === 'missing') return inputRequired({ inputRequests: { [key]: request(args) } });
      return text(await answered(answer, ctx));
    });

  asking(
    'test_elicitation',
    'Asks for a user name and an address',
    { message: z.string() },
    'user',
    ({ message }) =>
      inputRequired.elicit({
        message,
        requestedSchema: {
          type: 'object',
          properties: {
            username: { type: 'string', description: "User's name" },
            email: { type: 'string', description: "User's address" },
          },
          required: ['username', 'email'],
        },
      }),
    ({ action, content }) =>
      `User response: action=${action}` + (content ? `, content=${JSON.stringify(content)}` : ''),
  );
  const visit = { message: 'Please authorize', url: 'https://example.com/authorize?state=1' };
  server.registerTool(
    'test_elicitation_url',
    { description: 'Asks to visit an address', inputSchema: z.object({}) },
    async (_args, { mcpReq }) => {
      let answer = inputResponse(mcpReq.inputResponses, 'visit');
      if (answer.kind === 'missing') {
        if (mcpReq.envelope) return inputRequired({ inputRequests: { visit: inputRequired.elicitUrl(visit) } });
        // What the SDK does of itself for 2025-11-25 leaves out the notification that this revision has.
        const elicitationId = randomUUID();
        answer = await mcpReq.elicitInput({ mode: 'url', elicitationId, ...visit });
        if (answer.action === 'accept') await server.server.createElicitationCompletionNotifier(elicitationId)();
      }
      return text(`URL response: action=${answer.action}`);
    },
  );
  asking(
    'test_sampling',
    'Asks the model of the client',
    { prompt: z.string() },
    'sample',
    ({ prompt }) =>
      inputRequired.createMessage({ messages: [user({ type: 'text', text: prompt })], maxTokens: 100 }),
    ({ result }) => `LLM response: ${[result.content].flat()[0].text}`,
  );
  asking(
    'test_sampling_with_tools',
    'Lets the model of the client choose a tool',
    {},
    'sample',
    () =>
      inputRequired.createMessage({
        messages: [user({ type: 'text', text: 'What is the weather in Paris?' })],
        maxTokens: 100,
        tools: [
          {
            name: 'get_weather',
            description: 'The weather of a city',
            inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          },
        ],
        toolChoice: { mode: 'required' },
      }),
    ({ result }) => {
      const { name, input } = [result.content].flat().find(block => block.type === 'tool_use');
      return `LLM wants: ${name} ${JSON.stringify(input)}`;
    },
  );
  asking(
    'test_list_roots',
    'Says which roots the client has',
    {},
    'roots',
    () => inputRequired.listRoots(),
    ({ roots }) => `Roots: ${JSON.stringify(roots.map(({ uri, name }) => ({ uri, name })))}`,
  );

  const step = (key, property) =>
    inputRequired.elicit({
      message: `Round ${key}`,
      requestedSchema: { type: 'object', properties: { [property]: { type: 'string' } }, required: [property] },
    });
  server.registerTool(
    'test_two_rounds',
    { description: 'Asks twice, one after the other', inputSchema: z.object({}) },
    async (_args, ctx) => {
      const { mcpReq } = ctx;
      const known = mcpReq.requestState() ?? {};
      const name = known.name ?? acceptedContent(mcpReq.inputResponses, 'step1')?.name;
      if (name === undefined) {
        return inputRequired({
          inputRequests: { step1: step('step1', 'name') },
          requestState: await codec.mint({ round: 1 }, ctx),
        });
      }
      const color = acceptedContent(mcpReq.inputResponses, 'step2')?.color;
      if (color === undefined) {
        return inputRequired({
          inputRequests: { step2: step('step2', 'color') },
          requestState: await codec.mint({ round: 2, name }, ctx),
        });
      }
      return text(`${name} likes ${color}`);
    },
  );
  server.registerTool(
    'test_three_questions',
    { description: 'Asks three things at once', inputSchema: z.object({}) },
    (_args, { mcpReq }) => {
      const name = acceptedContent(mcpReq.inputResponses, 'user_name')?.name;
      const greeting = inputResponse(mcpReq.inputResponses, 'greeting');
      const roots = inputResponse(mcpReq.inputResponses, 'client_roots');
      if (name === undefined || greeting.kind !== 'sampling' || roots.kind !== 'roots') {
        return inputRequired({
          inputRequests: {
            user_name: step('user_name', 'name'),
            greeting: inputRequired.createMessage({
              messages: [user({ type: 'text', text: 'Say hello' })],
              maxTokens: 50,
            }),
            client_roots: inputRequired.listRoots(),
          },
        });
      }
      return text(`${[greeting.result.content].flat()[0].text} ${name}, ${roots.roots.length} roots`);
    },
  );
  server.registerTool(
    'test_input_required_result_tampered_state',
    { description: 'Asks once, and checks its state', inputSchema: z.object({}) },
    async (_args, ctx) => {
      if (ctx.mcpReq.requestState() === undefined) {
        return inputRequired({
          inputRequests: { confirm: inputRequired.elicit({ message: 'Go on?', requestedSchema: confirmSchema }) },
          requestState: await codec.mint({ round: 1 }, ctx),
        });
      }
      return text(`state-ok ${acceptedContent(ctx.mcpReq.inputResponses, 'confirm', confirmSchema)?.ok}`);
    },
  );
}

/** What the server announces, and the tools that make it do so. */
let version = 1;
/** What has come and not gone again. Over HTTP there is an instance for each request or session, and this is one for all. */
const present = { tool: false, prompt: false, resource: false };
/** Over HTTP: tells those who listen. */
let notify;

function changes(server) {
  const dummy = {
    tool: server.registerTool('test_dummy_tool', { description: 'Comes and goes' }, () => text('here')),
    prompt: server.registerPrompt('test_dummy_prompt', { description: 'Comes and goes' }, () => ({
      messages: [user({ type: 'text', text: 'here' })],
    })),
    resource: server.registerResource('dummy', 'test://dummy-resource', { description: 'Comes and goes' }, uri =>
      from(uri, { text: 'here' }),
    ),
  };
  for (const [kind, registered] of Object.entries(dummy)) {
    if (!present[kind]) registered.disable();
    server.registerTool(
      `test_trigger_${kind}_change`,
      { description: `Adds or removes a ${kind}`, inputSchema: z.object({}) },
      () => {
        present[kind] = !present[kind];
        present[kind] ? registered.enable() : registered.disable();
        notify?.[`${kind}sChanged`]();
        return text(present[kind] ? 'added' : 'removed');
      },
    );
  }

  const subscribed = new Set();
  server.server.setRequestHandler('resources/subscribe', ({ params }) => {
    subscribed.add(params.uri);
    return {};
  });
  server.server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    subscribed.delete(params.uri);
    return {};
  });
  server.registerTool(
    'test_update_resource',
    { description: 'Changes the watched resource', inputSchema: z.object({}) },
    async (_args, ctx) => {
      version += 1;
      // Where there are subscriptions/listen, the SDK knows who wants it; elsewhere it tells everybody.
      if (notify && ctx.mcpReq.envelope) notify.resourceUpdated(WATCHED);
      else if (ctx.mcpReq.envelope || subscribed.has(WATCHED)) await server.server.sendResourceUpdated({ uri: WATCHED });
      return text(`version ${version}`);
    },
  );
}

function resources(server) {
  server.registerResource(
    'static-text',
    'test://static-text',
    { title: 'Static text', description: 'Never changes', mimeType: 'text/plain' },
    uri => from(uri, { mimeType: 'text/plain', text: 'This is the content of the static text resource.' }),
  );
  server.registerResource(
    'static-binary',
    'test://static-binary',
    { description: 'One pixel', mimeType: 'image/png' },
    uri => from(uri, { mimeType: 'image/png', blob: PNG }),
  );
  server.registerResource('watched', WATCHED, { description: 'Can be subscribed to', mimeType: 'text/plain' }, uri =>
    from(uri, { mimeType: 'text/plain', text: `version ${version}` }),
  );
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', {
      list: undefined,
      complete: { id: value => startingWith(IDS, value) },
    }),
    { description: 'Data by id', mimeType: 'application/json' },
    (uri, { id }) => {
      if (id === 'missing') throw new ResourceNotFoundError(String(uri));
      const data = { id, templateTest: true, data: `Data for ID: ${id}` };
      return from(uri, { mimeType: 'application/json', text: JSON.stringify(data) });
    },
  );
}

function prompts(server) {
  const say = (...content) => ({ messages: content.map(user) });
  server.registerPrompt('test_simple_prompt', { description: 'One message' }, () =>
    say({ type: 'text', text: 'This is a simple prompt for testing.' }),
  );
  server.registerPrompt(
    'test_prompt_with_arguments',
    {
      description: 'Says its arguments',
      argsSchema: z.object({
        arg1: completable(z.string().describe('The first'), value => startingWith(WORDS, value)),
        arg2: z.string().describe('The second'),
      }),
    },
    ({ arg1, arg2 }) => say({ type: 'text', text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` }),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'A resource in a message', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) =>
      say(
        {
          type: 'resource',
          resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
        },
        { type: 'text', text: 'Please process the embedded resource above.' },
      ),
  );
  server.registerPrompt('test_prompt_with_image', { description: 'An image in a message' }, () =>
    say({ type: 'image', data: PNG, mimeType: 'image/png' }, { type: 'text', text: 'Please analyze the image above.' }),
  );
  server.registerPrompt('test_prompt_that_asks', { description: 'Asks before it answers' }, ({ mcpReq }) => {
    const context = acceptedContent(mcpReq.inputResponses, 'user_context')?.context;
    if (context !== undefined) return say({ type: 'text', text: `Use this context: ${context}` });
    return inputRequired({
      inputRequests: {
        user_context: inputRequired.elicit({
          message: 'What context?',
          requestedSchema: { type: 'object', properties: { context: { type: 'string' } }, required: ['context'] },
        }),
      },
    });
  });
}

const port = process.argv[2];
if (port) notify = serveHttp(build, Number(port));
else serveStdio(build);
