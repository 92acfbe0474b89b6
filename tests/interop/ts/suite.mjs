// The checks that every TypeScript client runs, whatever its SDK version and era.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { features, pages } from './features.mjs';

const WATCH = join(dirname(fileURLToPath(import.meta.url)), '..', 'watch.py');
const TOOLS = ['add', 'echo', 'fail', 'slow'];
const INVALID_PARAMS = -32602;
/** For every request, in milliseconds: the SDKs wait a minute, longer than a check that has gone wrong is worth. */
export const patience = { timeout: 15_000 };

const ECHOES = {
  plain: 'hello',
  empty: '',
  'non-ascii': 'Grüße, 世界, مرحبا, 🦀 and e\u0301',
  newlines: 'one\ntwo\r\nthree\n',
  'escapes and separators': '"quoted" \\ back\\slash \t \u0001 \u2028 \u2029 </script>',
  'like a frame': '{"jsonrpc":"2.0","id":1,"method":"ping"}',
  '200 KiB': 'x'.repeat(200 * 1024),
};

/** Runs one check: a line of transcript if it holds, else what was expected and seen, and (by default) the end. */
export async function check(name, body) {
  try {
    await body();
    console.log(`ok ${name}`);
  } catch (error) {
    console.log(`not ok ${name}`);
    console.log(`  ${String(error?.stack ?? error).replaceAll('\n', '\n  ')}`);
    if (!process.env.KEEP_GOING) process.exit(1);
    process.exitCode = 1;
  }
}

/**
 * The server: its command, wrapped so that the way it ended can be read afterwards, or the URL where it is served, of
 * which nothing is read. `Stdio` and `Http` are the transports of the SDK, `Http` takes a URL.
 */
export function watched(command, Stdio, Http) {
  if (/^https?:/.test(command[0])) return { transport: () => new Http(new URL(command[0])) };
  const folder = mkdtempSync(join(tmpdir(), 'mcp-interop-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const status = join(folder, 'status');
  const parameters = { command: 'python3', args: [WATCH, status, process.env.TRANSCRIPT || '-', ...command] };
  return {
    transport: () => new Stdio(parameters),
    /** One line for each server process that has ended, oldest first. */
    ends: () => readFileSync(status, 'utf8').trimEnd().split('\n'),
  };
}

function textOf(result) {
  assert.equal(result.content?.length, 1, `one content block in ${JSON.stringify(result)}`);
  assert.equal(result.content[0].type, 'text');
  return result.content[0].text;
}

/**
 * All checks on a connected client.
 *
 * `client` is the SDK's, `callTool(params, options)` its callTool without the parameters that differ between SDK
 * versions, `expected` the version that must have been negotiated, `seen` the version that was, `errors` what the
 * client's onerror has been given so far, `ends` comes from `watched` (none over HTTP), `attended` from `attend`;
 * `another()` connects one more client, which declares no capability. `schemas` is what the SDK wants besides the
 * request `tools/list`, if it wants any.
 */
export async function run({ client, callTool, expected, seen, errors, ends, legacy, attended, another, schemas = [] }) {
  const calling = client => (params, options) => callTool(client, params, { ...patience, ...options });
  const call = calling(client);
  const bare = async () => {
    const client = await another();
    return { client, call: calling(client) };
  };

  await check(`negotiated ${expected}`, () => assert.equal(seen, expected));

  await check('server says who it is', () => {
    const server = client.getServerVersion();
    assert.ok(server?.name, `a name in ${JSON.stringify(server)}`);
    assert.ok(server?.version, `a version in ${JSON.stringify(server)}`);
    assert.ok(client.getServerCapabilities()?.tools, 'the tools capability');
  });

  let tools;
  await check('tools/list', async () => {
    tools = (await pages(params => client.listTools(params, patience), 'tools')).items;
    const names = tools.map(tool => tool.name);
    for (const name of TOOLS) assert.ok(names.includes(name), `${name} in ${names}`);
    assert.equal(new Set(names).size, names.length, 'each once');
  });

  await check('tools/list schemas', () => {
    const by = Object.fromEntries(tools.map(tool => [tool.name, tool]));
    assert.equal(by.echo.inputSchema.properties?.text?.type, 'string');
    assert.deepEqual(by.echo.inputSchema.required, ['text']);
    assert.equal(by.add.inputSchema.properties?.a?.type, 'integer');
    // Output schemas came with 2025-06-18; the checks of `add` below rest on the same date.
    if (expected >= '2025-06-18') assert.equal(by.add.outputSchema?.properties?.sum?.type, 'integer');
  });

  for (const [name, text] of Object.entries(ECHOES)) {
    await check(`echo ${name}`, async () => {
      const result = await call({ name: 'echo', arguments: { text } });
      assert.ok(!result.isError, JSON.stringify(result));
      assert.equal(textOf(result), text);
    });
  }

  await check('add', async () => {
    for (const [a, b] of [[2, 3], [-2, 44], [0, 0], [2 ** 40, 1]]) {
      const result = await call({ name: 'add', arguments: { a, b } });
      assert.ok(!result.isError, JSON.stringify(result));
      if (expected >= '2025-06-18') assert.deepEqual(result.structuredContent, { sum: a + b });
      assert.deepEqual(JSON.parse(textOf(result)), { sum: a + b });
    }
  });

  await check('add with invalid arguments is a tool error', async () => {
    for (const wrong of [{ a: 'two', b: 3 }, { a: 2 }, {}]) {
      const result = await call({ name: 'add', arguments: wrong });
      assert.equal(result.isError, true, `isError for ${JSON.stringify(wrong)} in ${JSON.stringify(result)}`);
      assert.ok(textOf(result).length > 0, 'a text that says why');
    }
  });

  await check('fail', async () => {
    const result = await call({ name: 'fail', arguments: { message: 'as asked' } });
    assert.equal(result.isError, true, JSON.stringify(result));
    assert.match(textOf(result), /as asked/);
    assert.equal((await call({ name: 'fail', arguments: {} })).isError, true);
  });

  await check('unknown tool is error -32602', async () => {
    await assert.rejects(call({ name: 'no-such-tool', arguments: {} }), error => {
      assert.equal(error.code, INVALID_PARAMS, `code of ${error}`);
      return true;
    });
  });

  await check('slow without a progress token', async () => {
    const before = errors.length;
    assert.equal(textOf(await call({ name: 'slow', arguments: { steps: 2, delay_ms: 5 } })), 'done after 2 steps');
    // A notification nobody asked for would have reached onerror.
    assert.deepEqual(errors.slice(before), []);
  });

  await check('slow with progress', async () => {
    const steps = 5;
    const before = errors.length;
    const progress = [];
    const onprogress = note => progress.push(note);
    const result = await call({ name: 'slow', arguments: { steps, delay_ms: 40 } }, { onprogress });
    const settled = progress.length;
    assert.ok(settled > 0, 'progress before the result');
    // These SDKs hand a notification over one turn later than a response. So when notifications are read together
    // with the result, they meet a call that is already settled and go to onerror. Where the result stood among them
    // cannot be told from here; the Python client, which keeps the order, checks that.
    for (const error of errors.splice(before)) {
      const late = /unknown token: (\{.*\})$/s.exec(error.message);
      assert.ok(late, `only late progress in ${error}`);
      progress.push(JSON.parse(late[1]).params);
    }
    assert.deepEqual(progress.map(note => note.progress), Array.from({ length: steps }, (_, at) => at + 1));
    assert.ok(progress.every(note => note.total === steps), `total ${steps} in ${JSON.stringify(progress)}`);
    assert.equal(textOf(result), `done after ${steps} steps`);
  });

  await check('50 calls at once', async () => {
    const texts = Array.from({ length: 50 }, (_, at) => `call ${at} ü`);
    const results = await Promise.all(texts.map(text => call({ name: 'echo', arguments: { text } })));
    assert.deepEqual(results.map(textOf), texts);
  });

  await check('a fast call overtakes a slow one', async () => {
    const order = [];
    await Promise.all([
      call({ name: 'slow', arguments: { steps: 4, delay_ms: 50 } }).then(() => order.push('slow')),
      call({ name: 'echo', arguments: { text: 'fast' } }).then(() => order.push('echo')),
    ]);
    assert.deepEqual(order, ['echo', 'slow']);
  });

  await check('a cancelled call ends, the connection goes on', async () => {
    const before = errors.length;
    const stop = new AbortController();
    const arguments_ = { steps: 1000, delay_ms: 20 };
    const cancelled = call({ name: 'slow', arguments: arguments_ }, { signal: stop.signal, onprogress: () => stop.abort() });
    await assert.rejects(cancelled);
    assert.equal(textOf(await call({ name: 'echo', arguments: { text: 'still here' } })), 'still here');
    // What was under way when the cancellation was sent may still come; later than that, nothing may.
    await new Promise(resolve => setTimeout(resolve, 50));
    errors.splice(before);
    await new Promise(resolve => setTimeout(resolve, 100));
    assert.deepEqual(errors.slice(before), []);
  });

  await features({ client, call, attended, expected, legacy, tools: schemas, bare });

  if (legacy) {
    await check('ping', async () => assert.deepEqual(await client.ping(patience), {}));
  }

  await check('nothing the client objects to', () => assert.deepEqual(errors, []));

  if (!ends) return check('the client closes', () => client.close());
  await check('server exits by itself when its input ends', async () => {
    await client.close();
    assert.equal(ends().at(-1), 'exit 0');
  });
}
