// What a client does beyond tools: the checks of ../contract.md that every TypeScript client runs.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { check, patience } from './suite.mjs';

/** What the client of these checks declares. */
export const CAPABILITIES = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {} },
  roots: { listChanged: true },
};
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
const WATCHED = 'test://watched-resource';
const ADA = { username: 'ada', email: 'ada@example.com' };
/** In milliseconds: within this, a notification has come. And for that long, none comes where none may. */
const SOON = 2000;
const QUIET = 60;

/**
 * The user and the model behind the client: what they are asked, and what they answer.
 *
 * `answer(method, handler)` and `hear(method, handler)` register with the client, whose SDKs differ in how.
 */
export function attend({ answer, hear }) {
  const attended = {
    asked: [],
    heard: [],
    roots: [{ uri: 'file:///workspace', name: 'Workspace' }],
    action: 'accept',
    /** Waits until a notification has come, and takes what has come out of the list. */
    async next(method) {
      const late = Date.now() + SOON;
      while (!attended.heard.some(note => note.method === method)) {
        assert.ok(Date.now() < late, `${method} within ${SOON} ms; there was ${JSON.stringify(attended.heard)}`);
        await sleep(2);
      }
      return attended.heard.splice(0).filter(note => note.method === method);
    },
    async quiet() {
      await sleep(QUIET);
      assert.deepEqual(attended.heard.splice(0), []);
    },
    /** The one request that has come. */
    one() {
      const asked = attended.asked.splice(0);
      assert.equal(asked.length, 1, `one request in ${JSON.stringify(asked)}`);
      return asked[0];
    },
  };
  answer('elicitation/create', async ({ params }) => {
    attended.asked.push({ method: 'elicitation/create', params });
    await attended.thinking?.();
    if (attended.action !== 'accept') return { action: attended.action };
    if (params.mode === 'url') return { action: 'accept' };
    const wanted = Object.keys(params.requestedSchema.properties);
    const known = { ...ADA, name: 'Ada', color: 'blue', context: 'the sea', ok: true };
    return { action: 'accept', content: Object.fromEntries(wanted.map(key => [key, known[key]])) };
  });
  answer('sampling/createMessage', ({ params }) => {
    attended.asked.push({ method: 'sampling/createMessage', params });
    if (params.tools) {
      const { name } = params.tools[0];
      const content = [{ type: 'tool_use', id: 'use-1', name, input: { city: 'Paris' } }];
      return { role: 'assistant', content, model: 'test-model', stopReason: 'toolUse' };
    }
    const { text } = [params.messages[0].content].flat()[0];
    return {
      role: 'assistant',
      content: { type: 'text', text: `model says: ${text}` },
      model: 'test-model',
      stopReason: 'endTurn',
    };
  });
  answer('roots/list', () => {
    attended.asked.push({ method: 'roots/list' });
    return { roots: attended.roots };
  });
  for (const method of [
    'notifications/message',
    'notifications/resources/updated',
    'notifications/resources/list_changed',
    'notifications/tools/list_changed',
    'notifications/prompts/list_changed',
    'notifications/elicitation/complete',
  ]) {
    hear(method, ({ params }) => void attended.heard.push({ method, params }));
  }
  return attended;
}

function textOf(result) {
  assert.ok(!result.isError, JSON.stringify(result));
  return result.content.map(block => block.text).join('\n');
}

async function code(promise) {
  try {
    await promise;
  } catch (error) {
    return error.code;
  }
  return 'no error';
}

/** Every page of a list, and how many there were. */
export async function pages(list, member) {
  const items = [];
  let cursor;
  let count = 0;
  do {
    const page = await list(cursor === undefined ? undefined : { cursor });
    items.push(...page[member]);
    cursor = page.nextCursor;
    count += 1;
    assert.ok(count < 100, 'the list ends');
  } while (cursor !== undefined);
  return { items, count };
}

/** `api`: see `run` in suite.mjs. */
export async function features(api) {
  await content(api);
  await resources(api);
  await prompts(api);
  await completion(api);
  await logging(api);
  await questions(api);
  await undeclared(api);
  await changes(api);
}

async function content({ call, expected }) {
  const only = async (name, type) => {
    const { content, isError } = await call({ name });
    assert.ok(!isError);
    assert.deepEqual(content.map(block => block.type), type);
    return content;
  };
  await check('text, without arguments', async () => {
    assert.equal((await only('test_simple_text', ['text']))[0].text, 'This is a simple text response for testing.');
  });
  await check('image', async () => {
    const [image] = await only('test_image_content', ['image']);
    assert.equal(image.mimeType, 'image/png');
    assert.match(Buffer.from(image.data, 'base64').toString('latin1'), /^.PNG/s);
  });
  // Sound came with 2025-03-26, links with 2025-06-18.
  if (expected >= '2025-03-26') {
    await check('audio', async () => {
      const [audio] = await only('test_audio_content', ['audio']);
      assert.equal(audio.mimeType, 'audio/wav');
      assert.match(Buffer.from(audio.data, 'base64').toString('latin1'), /^RIFF/);
    });
  }
  if (expected >= '2025-06-18') {
    await check('resource link', async () => {
      const [link] = await only('test_resource_link', ['resource_link']);
      assert.equal(link.uri, 'test://static-text');
      assert.equal(link.name, 'static-text');
    });
  }
  await check('embedded resource, mixed content', async () => {
    const [{ resource }] = await only('test_embedded_resource', ['resource']);
    assert.deepEqual(resource, {
      uri: 'test://embedded-resource',
      mimeType: 'text/plain',
      text: 'This is an embedded resource content.',
    });
    const mixed = await only('test_multiple_content_types', ['text', 'image', 'resource']);
    assert.deepEqual(JSON.parse(mixed[2].resource.text), { test: 'data', value: 123 });
  });
}

async function resources({ client, expected, tools }) {
  await check('resources/list', async () => {
    assert.ok(client.getServerCapabilities().resources);
    const { items } = await pages(params => client.listResources(params, patience), 'resources');
    const text = items.find(resource => resource.uri === 'test://static-text');
    assert.equal(text?.name, 'static-text');
    assert.equal(text.mimeType, 'text/plain');
    assert.ok(items.some(resource => resource.uri === 'test://static-binary'));
    assert.ok(items.some(resource => resource.uri === WATCHED));
    // Titles came with 2025-06-18.
    if (expected >= '2025-06-18') assert.equal(text.title, 'Static text');
  });
  await check('resources/templates/list', async () => {
    const list = params => client.listResourceTemplates(params, patience);
    const { items } = await pages(list, 'resourceTemplates');
    assert.ok(items.some(template => template.uriTemplate === 'test://template/{id}/data'), JSON.stringify(items));
  });
  const { PAGE_SIZE: size } = process.env;
  if (size) {
    await check(`lists in pages of ${size}`, async () => {
      // With a cursor, this SDK too gets one page only; without, SDK 2.x gets all of them.
      const list = params => client.listTools(params, patience);
      const whole = await pages(list, 'tools');
      const first = await client.request({ method: 'tools/list' }, ...tools);
      assert.equal(first.tools.length, Number(size));
      assert.ok(first.nextCursor);
      const rest = await pages(params => list(params ?? { cursor: first.nextCursor }), 'tools');
      assert.deepEqual(
        [...first.tools, ...rest.items].map(tool => tool.name),
        whole.items.map(tool => tool.name),
      );
      assert.equal(await code(list({ cursor: 'no-such-cursor' })), -32602);
    });
  }
  const read = async uri => {
    const { contents } = await client.readResource({ uri }, patience);
    assert.equal(contents.length, 1);
    assert.equal(contents[0].uri, uri);
    return contents[0];
  };
  await check('resources/read', async () => {
    const text = await read('test://static-text');
    assert.equal(text.text, 'This is the content of the static text resource.');
    assert.equal(text.mimeType, 'text/plain');
    const binary = await read('test://static-binary');
    assert.equal(binary.mimeType, 'image/png');
    assert.match(Buffer.from(binary.blob, 'base64').toString('latin1'), /^.PNG/s);
  });
  await check('resources/read, of a template', async () => {
    const { text } = await read('test://template/123/data');
    assert.deepEqual(JSON.parse(text), { id: '123', templateTest: true, data: 'Data for ID: 123' });
  });
  await check('resources/read, of none', async () => {
    // -32602 is the code of 2026-07-28; before, it was -32002, and servers differ.
    const allowed = expected >= '2026-07-28' ? [-32602] : [-32002, -32602];
    for (const uri of ['test://nonexistent-resource', 'test://template/missing/data']) {
      const seen = await code(client.readResource({ uri }, patience));
      assert.ok(allowed.includes(seen), `${uri}: ${seen}`);
    }
  });
}

async function prompts({ client }) {
  const get = async (name, arguments_) =>
    (await client.getPrompt({ name, ...(arguments_ && { arguments: arguments_ }) }, patience)).messages;
  await check('prompts/list', async () => {
    assert.ok(client.getServerCapabilities().prompts);
    const { items } = await pages(params => client.listPrompts(params, patience), 'prompts');
    const prompt = items.find(prompt => prompt.name === 'test_prompt_with_arguments');
    assert.deepEqual(
      prompt.arguments.map(argument => [argument.name, argument.required]),
      [['arg1', true], ['arg2', true]],
    );
    assert.ok(items.some(prompt => prompt.name === 'test_simple_prompt'));
  });
  await check('prompts/get', async () => {
    assert.deepEqual(await get('test_simple_prompt'), [
      { role: 'user', content: { type: 'text', text: 'This is a simple prompt for testing.' } },
    ]);
    const [{ content }] = await get('test_prompt_with_arguments', { arg1: 'one', arg2: "t'wo" });
    assert.equal(content.text, "Prompt with arguments: arg1='one', arg2='t'wo'");
    const [{ content: image }] = await get('test_prompt_with_image');
    assert.equal(image.type, 'image');
    const [{ content: embedded }] = await get('test_prompt_with_embedded_resource', { resourceUri: 'test://any' });
    assert.equal(embedded.resource.uri, 'test://any');
    assert.equal(embedded.resource.text, 'Embedded resource content for testing.');
  });
  await check('prompts/get, wrong', async () => {
    assert.equal(await code(get('no-such-prompt')), -32602);
    assert.equal(await code(get('test_prompt_with_arguments', { arg1: 'only one' })), -32602);
  });
}

async function completion({ client, expected }) {
  const complete = async (ref, name, value) =>
    (await client.complete({ ref, argument: { name, value } }, patience)).completion.values;
  const prompt = { type: 'ref/prompt', name: 'test_prompt_with_arguments' };
  await check('completion/complete', async () => {
    // The capability came with 2025-03-26; the method was there before.
    if (expected >= '2025-03-26') assert.ok(client.getServerCapabilities().completions);
    assert.deepEqual(await complete(prompt, 'arg1', 'par'), ['paris', 'park', 'party']);
    assert.deepEqual(await complete(prompt, 'arg1', 'xyz'), []);
    assert.deepEqual(await complete(prompt, 'arg2', ''), []);
    const template = { type: 'ref/resource', uri: 'test://template/{id}/data' };
    assert.deepEqual(await complete(template, 'id', '12'), ['123', '124']);
  });
  await check('completion/complete, of none', async () => {
    assert.equal(await code(complete({ type: 'ref/prompt', name: 'no-such-prompt' }, 'a', '')), -32602);
  });
}

async function logging({ client, call, attended, legacy }) {
  const lines = ['Tool execution started', 'Tool processing data', 'Tool execution completed'];
  const logs = async level => {
    if (legacy) await client.setLoggingLevel(level, patience);
    const params = { name: 'test_tool_with_logging' };
    if (!legacy && level) params._meta = { [LOG_LEVEL]: level };
    textOf(await call(params));
    await sleep(QUIET);
    return attended.heard.splice(0).map(({ method, params }) => [method, params.level, params.data]);
  };
  const all = lines.map(line => ['notifications/message', 'info', line]);
  await check(legacy ? 'logging/setLevel and messages' : 'messages at the level of the request', async () => {
    assert.ok(client.getServerCapabilities().logging);
    assert.deepEqual(await logs('debug'), all);
    assert.deepEqual(await logs('info'), all);
    assert.deepEqual(await logs('error'), []);
    if (!legacy) assert.deepEqual(await logs(undefined), [], 'nobody asked');
  });
}

async function questions({ client, call, attended, expected, legacy }) {
  attended.asked.length = 0;
  const formed = expected >= '2025-06-18';
  const ask = () => call({ name: 'test_elicitation', arguments: { message: 'Who are you?' } });
  if (formed) {
    await check('elicitation, accepted', async () => {
      const [said, content] = textOf(await ask()).split(', content=');
      assert.equal(said, 'User response: action=accept');
      assert.deepEqual(JSON.parse(content), ADA);
      const { method, params } = attended.one();
      assert.equal(method, 'elicitation/create');
      assert.equal(params.message, 'Who are you?');
      assert.deepEqual(params.requestedSchema.required, ['username', 'email']);
      assert.equal(params.requestedSchema.properties.username.type, 'string');
    });
    for (const action of ['decline', 'cancel']) {
      await check(`elicitation, ${action}`, async () => {
        attended.action = action;
        assert.equal(textOf(await ask()), `User response: action=${action}`);
        attended.action = 'accept';
        attended.one();
      });
    }
    await check('a call cancelled while it asks', async () => {
      const stop = new AbortController();
      // Until the call has been given up, and a little longer, so that the answer is late.
      attended.thinking = async () => {
        stop.abort();
        await sleep(QUIET);
      };
      const params = { name: 'test_elicitation', arguments: { message: 'Who are you?' } };
      await assert.rejects(call(params, { signal: stop.signal }));
      await sleep(2 * QUIET);
      delete attended.thinking;
      attended.one();
      assert.match(textOf(await ask()), /action=accept/);
      attended.one();
    });
    await check('20 elicitations at once', async () => {
      const results = await Promise.all(Array.from({ length: 20 }, ask));
      assert.equal(new Set(results.map(textOf)).size, 1);
      assert.equal(attended.asked.splice(0).length, 20);
    });
  }
  if (expected >= '2025-11-25') {
    await check('elicitation by URL', async () => {
      assert.equal(textOf(await call({ name: 'test_elicitation_url' })), 'URL response: action=accept');
      const { params } = attended.one();
      assert.equal(params.mode, 'url');
      assert.equal(params.url, 'https://example.com/authorize?state=1');
      if (!legacy) return;
      // Only this revision has the id, and says when the user is done.
      const [complete] = await attended.next('notifications/elicitation/complete');
      assert.equal(complete.params.elicitationId, params.elicitationId);
    });
  }
  await check('sampling', async () => {
    const result = await call({ name: 'test_sampling', arguments: { prompt: 'Say hello' } });
    assert.equal(textOf(result), 'LLM response: model says: Say hello');
    const { method, params } = attended.one();
    assert.equal(method, 'sampling/createMessage');
    assert.equal(params.maxTokens, 100);
    assert.equal(params.messages[0].role, 'user');
  });
  if (expected >= '2025-11-25') {
    await check('sampling with tools', async () => {
      const result = await call({ name: 'test_sampling_with_tools' });
      assert.equal(textOf(result), 'LLM wants: get_weather {"city":"Paris"}');
      const { params } = attended.one();
      assert.equal(params.tools[0].inputSchema.properties.city.type, 'string');
      assert.deepEqual(params.toolChoice, { mode: 'required' });
    });
  }
  await check('roots', async () => {
    const roots = async () => JSON.parse(textOf(await call({ name: 'test_list_roots' })).replace(/^Roots: /, ''));
    assert.deepEqual(await roots(), attended.roots);
    attended.roots = [...attended.roots, { uri: 'file:///elsewhere', name: 'Elsewhere' }];
    if (legacy) await client.sendRootsListChanged();
    assert.deepEqual(await roots(), attended.roots);
    assert.deepEqual([...new Set(attended.asked.splice(0).map(({ method }) => method))], ['roots/list']);
  });
  if (formed) {
    await check('several questions, in rounds and at once', async () => {
      assert.equal(textOf(await call({ name: 'test_two_rounds' })), 'Ada likes blue');
      assert.equal(attended.asked.splice(0).length, 2);
      const result = textOf(await call({ name: 'test_three_questions' }));
      assert.equal(result, 'model says: Say hello Ada, 2 roots');
      assert.deepEqual(
        attended.asked.splice(0).map(({ method }) => method).sort(),
        ['elicitation/create', 'roots/list', 'sampling/createMessage'],
      );
    });
    await check('a prompt that asks', async () => {
      const { messages } = await client.getPrompt({ name: 'test_prompt_that_asks' }, patience);
      assert.equal(messages[0].content.text, 'Use this context: the sea');
      attended.one();
    });
  }
  if (!legacy) await check('state that was tampered with is refused', () => tampered(call));
}

async function undeclared({ bare, legacy }) {
  await check('a client that declared nothing is asked nothing', async () => {
    const { client, call } = await bare();
    for (const [name, arguments_, needed] of [
      ['test_elicitation', { message: 'Who are you?' }, 'elicitation'],
      ['test_sampling', { prompt: 'Say hello' }, 'sampling'],
      ['test_list_roots', {}, 'roots'],
    ]) {
      const asked = call({ name, arguments: arguments_ });
      if (legacy) {
        // These revisions do not say how a server tells: servers differ.
        const result = await asked.catch(error => ({ isError: true, error }));
        assert.ok(result.isError, JSON.stringify(result));
      } else {
        await assert.rejects(asked, error => {
          assert.equal(error.code, -32021, String(error));
          assert.ok(error.data.requiredCapabilities[needed], JSON.stringify(error.data));
          return true;
        });
      }
    }
    await client.close();
  });
}

async function tampered(call) {
  const name = 'test_input_required_result_tampered_state';
  assert.equal(textOf(await call({ name })), 'state-ok true');
  const first = await call({ name }, { allowInputRequired: true });
  assert.equal(first.resultType, 'input_required');
  const [key] = Object.keys(first.inputRequests);
  const again = (requestState, to = name) =>
    call({
      name: to,
      inputResponses: { [key]: { action: 'accept', content: { ok: true } } },
      requestState,
    });
  for (const wrong of [`${first.requestState}-TAMPERED`, first.requestState.slice(0, -1), 'x', '']) {
    assert.equal(await code(again(wrong)), -32602, JSON.stringify(wrong));
  }
  assert.equal(textOf(await again(first.requestState)), 'state-ok true');
}

async function changes(api) {
  const { client, call, attended, legacy } = api;
  // Nobody has asked for any of these in 2026-07-28, so none may come.
  const filter = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
  const kinds = {
    tool: [params => client.listTools(params, patience), 'test_dummy_tool'],
    prompt: [params => client.listPrompts(params, patience), 'test_dummy_prompt'],
    resource: [params => client.listResources(params, patience), 'dummy'],
  };
  const trigger = async kind => textOf(await call({ name: `test_trigger_${kind}_change` }));
  let stream;
  if (!legacy) {
    await check('no change is announced unless asked for', async () => {
      for (const kind of Object.keys(kinds)) {
        assert.equal(await trigger(kind), 'added');
        assert.equal(await trigger(kind), 'removed');
      }
      textOf(await call({ name: 'test_update_resource' }));
      await attended.quiet();
    });
    await check('subscriptions/listen, lists', async () => {
      stream = await client.listen(filter, patience);
      assert.deepEqual(stream.honoredFilter, filter);
    });
  }
  for (const [kind, [list, name]] of Object.entries(kinds)) {
    await check(`a ${kind} comes and goes`, async () => {
      for (const [said, there] of [['added', true], ['removed', false]]) {
        assert.equal(await trigger(kind), said);
        await attended.next(`notifications/${kind}s/list_changed`);
        const { items } = await pages(list, `${kind}s`);
        assert.equal(items.some(one => one.name === name), there);
      }
    });
  }
  await check(legacy ? 'resources/subscribe, unsubscribe' : 'subscriptions/listen, a resource', () =>
    updates(api, stream),
  );
  if (legacy) return;
  await check('a stream that was closed is silent', async () => {
    await stream.close();
    for (const kind of Object.keys(kinds)) {
      await trigger(kind);
      await trigger(kind);
    }
    await attended.quiet();
  });
}

async function updates({ client, call, attended, legacy }) {
  const method = 'notifications/resources/updated';
  const update = async () => textOf(await call({ name: 'test_update_resource' }));
  const read = async () => (await client.readResource({ uri: WATCHED }, patience)).contents[0].text;
  await update();
  await attended.quiet();
  const stream = legacy ? undefined : await client.listen({ resourceSubscriptions: [WATCHED] }, patience);
  if (legacy) assert.deepEqual(await client.subscribeResource({ uri: WATCHED }, patience), {});
  else assert.deepEqual(stream.honoredFilter, { resourceSubscriptions: [WATCHED] });
  for (let times = 0; times < 2; times += 1) {
    const version = await update();
    const [note] = await attended.next(method);
    assert.equal(note.params.uri, WATCHED);
    assert.equal(await read(), version);
  }
  if (legacy) assert.deepEqual(await client.unsubscribeResource({ uri: WATCHED }, patience), {});
  else await stream.close();
  await update();
  await attended.quiet();
}
