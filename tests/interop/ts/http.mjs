// A server of the official TypeScript SDK 2.x over HTTP, both eras at one URL: its handler for modern requests, and sessions
// with its transport for the others.
import { WebStandardStreamableHTTPServerTransport, createMcpHandler, isLegacyRequest } from '@modelcontextprotocol/server';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';

/** Serves what `build` makes: once for each modern request, and for each session. Gives what tells subscribers. */
export function serveHttp(build, port) {
  const modern = createMcpHandler(build, { legacy: 'reject' });
  const sessions = new Map();

  async function legacy(request) {
    const known = sessions.get(request.headers.get('mcp-session-id'));
    if (known) return known.handleRequest(request);
    if (request.method !== 'POST') return new Response(null, { status: 405 });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: id => void sessions.set(id, transport),
      onsessionclosed: id => void sessions.delete(id),
    });
    await build().connect(transport);
    return transport.handleRequest(request);
  }

  createServer(async (incoming, outgoing) => {
    const gone = new AbortController();
    outgoing.on('close', () => gone.abort());
    const { method, headers } = incoming;
    const body = method === 'GET' || method === 'DELETE' ? undefined : Readable.toWeb(incoming);
    const url = `http://${headers.host}${incoming.url}`;
    const request = new Request(url, { method, headers, body, duplex: 'half', signal: gone.signal });
    const old = method !== 'POST' || (await isLegacyRequest(request.clone()));
    const response = await (old ? legacy(request) : modern.fetch(request));
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.flushHeaders();
    if (!response.body) return void outgoing.end();
    Readable.fromWeb(response.body).on('error', () => outgoing.destroy()).pipe(outgoing);
  }).listen(port, '127.0.0.1');
  return modern.notify;
}
