// The official package for tasks, `ext-tasks`, on the TypeScript SDK 2.x: calls that become tasks, in both forms.
// usage: node tasks.mjs REVISION COMMAND [ARGUMENT...]
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createTaskSessionFromClient, resultFromTaskOutcome } from '@modelcontextprotocol/ext-tasks/client';
import { check, patience, watched } from './suite.mjs';

const TASKS = 'io.modelcontextprotocol/tasks';
const [revision, ...command] = process.argv.slice(2);
const modern = revision === '2026-07-28';
const clientInfo = { name: 'interop-tasks', version: '1.0.0' };
const capabilities = { elicitation: { form: {} }, extensions: { [TASKS]: {} } };

// It is asked in place: a task belongs to the process that runs it.
class InPlace extends StdioClientTransport {}
const transport = watched(command, InPlace).transport();

const client = new Client(clientInfo, {
  versionNegotiation: { mode: modern ? { pin: revision } : 'legacy' },
  supportedProtocolVersions: [revision],
  capabilities,
});
client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { confirm: true } }));
await check(`connect, ${revision}`, async () => {
  await client.connect(transport, patience);
  assert.equal(client.getNegotiatedProtocolVersion(), revision);
});

// The SDK's own codecs know no results that are tasks: such calls go past them.
const pending = new Map();
const theirs = transport.onmessage;
transport.onmessage = (message, extra) => {
  const settle = pending.get(message.id);
  if (!settle || message.method) return theirs(message, extra);
  pending.delete(message.id);
  settle(message.error ? { kind: 'error', error: message.error } : { kind: 'result', result: message.result });
};
let ids = 0;
const rawDispatch = request => {
  const id = `raw-${++ids}`;
  const answered = new Promise(resolve => pending.set(id, resolve));
  return transport.send({ jsonrpc: '2.0', ...request, id }).then(() => answered);
};

let session;
await check('a session with tasks', () => {
  session = createTaskSessionFromClient(client, {
    endpointId: 'interop',
    onInputRequest: async () => ({ action: 'accept', content: { confirm: true } }),
    ...(modern && {
      rawDispatch,
      v2RequestFraming: { protocolVersion: revision, clientInfo, clientCapabilities: capabilities },
    }),
  });
});

const settled = async (name, args) => {
  const execution = await session.callTool(name, args);
  const { outcome } = await execution.settle();
  return outcome;
};

await check('a tool that is no task', async () => {
  const result = resultFromTaskOutcome(await settled('greet', { name: 'Ada' }));
  assert.equal(result.content[0].text, 'Hello, Ada!');
});

await check('a task is polled to its result', async () => {
  const result = resultFromTaskOutcome(await settled('slow_compute', { seconds: 0.5, label: 'interop' }));
  assert.equal(result.content[0].text, 'interop: computed for 0.5 s');
});

await check('a task asks, and goes on with the answer', async () => {
  const result = resultFromTaskOutcome(await settled('confirm_delete', { filename: 'a.txt' }));
  assert.equal(result.content[0].text, 'deleted a.txt');
});

await check('a task whose tool fails', async () => {
  const outcome = await settled('failing_job', {});
  // Of 2025-11-25, such a task has failed, and the package has no result of it.
  if (!modern) return void assert.equal(outcome.status, 'failed');
  const result = resultFromTaskOutcome(outcome);
  assert.equal(result.isError, true);
  assert.match(result.content[0].text, /always fails/);
});

await check('a task that fails', async () => {
  await assert.rejects(async () => resultFromTaskOutcome(await settled('protocol_error_job', {})), /cannot be done/);
});

await session.close();
await client.close();
