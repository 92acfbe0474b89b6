// SDK 1.x, which knows only the initialize handshake.
// usage: node legacy.mjs REVISION COMMAND [ARGUMENT...]
//        node legacy.mjs REVISION URL
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as types from '@modelcontextprotocol/sdk/types.js';
import { CAPABILITIES, attend } from './features.mjs';
import { check, patience, run, watched } from './suite.mjs';

const [revision, ...command] = process.argv.slice(2);

// This SDK always asks for its latest revision. Another one is put in its place on the way out; the client takes
// whichever revision it knows in the answer, and goes by it.
const asking = Transport =>
  class extends Transport {
    send(message, options) {
      if (message.method === 'initialize') {
        message = { ...message, params: { ...message.params, protocolVersion: revision } };
      }
      return super.send(message, options);
    }

    // The client tells its transport what was agreed on, if it wants to know.
    setProtocolVersion(version) {
      this.agreed = version;
      super.setProtocolVersion?.(version);
    }
  };

// The first revision has a transport of its own.
const Http = revision === '2024-11-05' ? SSEClientTransport : StreamableHTTPClientTransport;
const { transport: open, ends } = watched(command, asking(StdioClientTransport), asking(Http));
const build = capabilities => new Client({ name: `interop-${revision}`, version: '1.0.0' }, { capabilities });
const client = build(CAPABILITIES);
// This SDK knows methods by their schemas.
const methods = new Map(
  Object.entries(types)
    .filter(([name]) => /(Request|Notification)Schema$/.test(name))
    .map(([, schema]) => [schema.shape?.method?.value, schema]),
);
const attended = attend({
  answer: (method, handler) => client.setRequestHandler(methods.get(method), handler),
  hear: (method, handler) => client.setNotificationHandler(methods.get(method), handler),
});
const errors = [];
client.onerror = error => errors.push(error);
const transport = open();
await check(`connect, ${revision}`, () => client.connect(transport, patience));

await run({
  client,
  callTool: (client, params, options) => client.callTool(params, undefined, options),
  // Asked for a revision that never was, a server offers the latest that it can speak by this handshake.
  expected: revision === '2001-01-01' ? types.LATEST_PROTOCOL_VERSION : revision,
  seen: transport.agreed,
  errors,
  ends,
  legacy: true,
  attended,
  another: async () => {
    const client = build({});
    await client.connect(open(), patience);
    return client;
  },
  schemas: [types.ListToolsResultSchema],
});
