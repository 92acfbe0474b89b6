// SDK 2.x, protocol revision 2026-07-28.
// usage: node modern.mjs auto|pin|in-place COMMAND [ARGUMENT...]
//        node modern.mjs auto|pin URL
import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { CAPABILITIES, attend } from './features.mjs';
import { check, patience, run, watched } from './suite.mjs';

const MODERN = '2026-07-28';
const [how, ...command] = process.argv.slice(2);

// The SDK asks server/discover of a process of its own, which it then ends, and gives the calls to a second one that
// is never asked. It does so for exactly its own class; a derived one is asked in place, as by most other clients.
class InPlace extends StdioClientTransport {}

const { mode, Transport } = {
  auto: { mode: 'auto', Transport: StdioClientTransport },
  pin: { mode: { pin: MODERN }, Transport: StdioClientTransport },
  'in-place': { mode: 'auto', Transport: InPlace },
}[how];

const { transport, ends } = watched(command, Transport, StreamableHTTPClientTransport);
const build = capabilities =>
  new Client({ name: `interop-${how}`, version: '1.0.0' }, { versionNegotiation: { mode }, capabilities });
const client = build(CAPABILITIES);
const attended = attend({
  answer: (method, handler) => client.setRequestHandler(method, handler),
  hear: (method, handler) => client.setNotificationHandler(method, handler),
});
const errors = [];
client.onerror = error => errors.push(error);
await check(`connect, ${how}`, () => client.connect(transport(), patience));

await check('the connection is modern', () => assert.equal(client.getProtocolEra(), 'modern'));

await check('server/discover', async () => {
  const found = await client.discover(patience);
  assert.ok(found.supportedVersions.includes(MODERN), JSON.stringify(found));
  assert.ok(found.capabilities.tools, JSON.stringify(found));
  assert.ok(Number.isInteger(found.ttlMs) && found.ttlMs >= 0, JSON.stringify(found));
  assert.match(found.cacheScope, /^(public|private)$/, JSON.stringify(found));
});

await run({
  client,
  callTool: (client, params, options) => client.callTool(params, options),
  expected: MODERN,
  seen: client.getNegotiatedProtocolVersion(),
  errors,
  ends,
  legacy: false,
  attended,
  another: async () => {
    const client = build({});
    await client.connect(transport(), patience);
    return client;
  },
});
