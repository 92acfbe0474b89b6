// SDK 2.x, the initialize handshake.
// usage: node legacy2.mjs REVISION COMMAND [ARGUMENT...]
//        node legacy2.mjs REVISION URL
import assert from 'node:assert/strict';
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { CAPABILITIES, attend } from './features.mjs';
import { check, patience, run, watched } from './suite.mjs';

const [revision, ...command] = process.argv.slice(2);

// The first revision has a transport of its own.
const Http = revision === '2024-11-05' ? SSEClientTransport : StreamableHTTPClientTransport;
const { transport, ends } = watched(command, StdioClientTransport, Http);
const build = capabilities =>
  new Client(
    { name: `interop-${revision}`, version: '1.0.0' },
    // One revision only: it is offered, and no other answer is taken.
    { versionNegotiation: { mode: 'legacy' }, supportedProtocolVersions: [revision], capabilities },
  );
const client = build(CAPABILITIES);
const attended = attend({
  answer: (method, handler) => client.setRequestHandler(method, handler),
  hear: (method, handler) => client.setNotificationHandler(method, handler),
});
const errors = [];
client.onerror = error => errors.push(error);
await check(`connect, ${revision}`, () => client.connect(transport(), patience));

await check('the connection is legacy', () => assert.equal(client.getProtocolEra(), 'legacy'));

await run({
  client,
  callTool: (client, params, options) => client.callTool(params, options),
  expected: revision,
  seen: client.getNegotiatedProtocolVersion(),
  errors,
  ends,
  legacy: true,
  attended,
  another: async () => {
    const client = build({});
    await client.connect(transport(), patience);
    return client;
  },
});
