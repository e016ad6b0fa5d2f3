import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createClient } from 'graphql-sse';
import { resumesElsewhere } from './resume.mjs';
import { Reader, post, register, startService, watchHome } from './service.mjs';

let service;
before(async () => {
  service = await startService();
});
after(() => service.stop());

function connect(where, token) {
  return createClient({
    url: () => where.server.url,
    headers: token && { authorization: `Bearer ${token}` },
    retryAttempts: Infinity,
    retry: () => new Promise((resolve) => setTimeout(resolve, 20)),
  });
}

test('a query and a mutation', async () => {
  const server = await service.serve();
  const token = await register(server, 'single');
  const client = connect({ server }, token);
  const results = [];
  for (const query of [
    '{ viewer { user { username } } }',
    'mutation { createPost(input: { text: "by event" }) { userErrors { code } } }',
    '{ nothing }',
  ]) {
    for await (const result of client.iterate({ query })) results.push(result);
  }
  assert.deepEqual(results.slice(0, 2), [
    { data: { viewer: { user: { username: 'single' } } } },
    { data: { createPost: { userErrors: [] } } },
  ]);
  assert.equal(results[2].errors[0].extensions.code, 'GRAPHQL_VALIDATION_FAILED');
  client.dispose();
  await server.end('SIGTERM');
});

for (const signal of ['SIGTERM', 'SIGKILL']) {
  test(`a stream that ${signal} ends is resumed elsewhere`, () => resumesElsewhere(service, signal, connect));
}

test('the id of an event is its cursor, and Last-Event-ID resumes there', async () => {
  const server = await service.serve();
  const token = await register(server, 'plain');
  const open = async (headers) => {
    const response = await fetch(`${server.url}?query=${encodeURIComponent(watchHome)}`, {
      headers: { accept: 'text/event-stream', authorization: `Bearer ${token}`, ...headers },
    });
    assert.equal(response.status, 200);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    return {
      async event() {
        while (!text.includes('\n\n')) text += (await reader.read()).value;
        const [event] = text.split('\n\n', 1);
        text = text.slice(event.length + 2);
        const fields = Object.fromEntries(event.split('\n').map((line) => /^(\w+): ?(.*)$/.exec(line).slice(1)));
        return { ...fields, data: JSON.parse(fields.data).data.timelineEvents };
      },
      close: () => reader.cancel(),
    };
  };
  const first = await open({});
  const caughtUp = await first.event();
  assert.equal(caughtUp.event, 'next');
  assert.equal(caughtUp.id, caughtUp.data.cursor);
  await first.close();
  await post(server, token, 'missed');
  const second = await open({ 'last-event-id': caughtUp.id });
  assert.equal((await second.event()).data.edge.node.text, 'missed');
  assert.equal((await second.event()).data.replayed, 1);
  await second.close();
  await server.end('SIGTERM');
});

test('a bad token is refused', async () => {
  const server = await service.serve();
  const client = createClient({ url: server.url, headers: { authorization: 'Bearer nonsense' }, retryAttempts: 0 });
  const reader = new Reader();
  client.subscribe(reader.payload, reader.sink);
  await reader.done;
  assert.equal(reader.errors[0].response.status, 401);
  await server.end('SIGTERM');
});
