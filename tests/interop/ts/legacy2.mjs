// SDK 2.x, the initialize handshake.
// usage: node legacy2.mjs REVISION COMMAND [ARGUMENT...]
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { check, patience, run, watched } from './suite.mjs';

const [revision, ...command] = process.argv.slice(2);

const { parameters, ends } = watched(command);
const client = new Client(
  { name: `interop-${revision}`, version: '1.0.0' },
  // One revision only: it is offered, and no other answer is taken.
  { versionNegotiation: { mode: 'legacy' }, supportedProtocolVersions: [revision] },
);
const errors = [];
client.onerror = error => errors.push(error);
await check(`connect, ${revision}`, () => client.connect(new StdioClientTransport(parameters), patience));

await check('the connection is legacy', () => assert.equal(client.getProtocolEra(), 'legacy'));

await run({
  client,
  callTool: (params, options) => client.callTool(params, options),
  expected: revision,
  seen: client.getNegotiatedProtocolVersion(),
  errors,
  ends,
  legacy: true,
});
