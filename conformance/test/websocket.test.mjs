import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { resumesElsewhere } from './resume.mjs';
import { Reader, post, register, startService, until } from './service.mjs';

let service;
before(async () => {
  service = await startService();
});
after(() => service.stop());

/** connect makes a client that takes whichever server is named at the time. */
function connect(where, token, options = {}) {
  const closes = [];
  let waits = 0;
  const client = createClient({
    url: () => where.server.socketURL,
    webSocketImpl: WebSocket,
    connectionParams: token && { authorization: `Bearer ${token}` },
    retryAttempts: Infinity,
    // The client takes 4403 for something that may pass; a token that is no good will not.
    shouldRetry: (problem) => problem?.code !== 4403,
    retryWait: async () => {
      waits++;
      await new Promise((resolve) => setTimeout(resolve, 20));
    },
    on: { closed: (event) => closes.push(event.code) },
    ...options,
  });
  return { client, closes, waits: () => waits };
}

test('queries, mutations and several subscriptions on one socket', async () => {
  const server = await service.serve();
  const token = await register(server, 'several');
  let opened = 0;
  const { client } = connect({ server }, token, { on: { opened: () => opened++ } });
  const readers = [new Reader(), new Reader()];
  const ends = readers.map((r) => client.subscribe(r.payload, r.sink));
  await until(() => readers.every((r) => r.caughtUp === 1));
  const results = [];
  for (const query of [
    '{ viewer { user { username } } }',
    'mutation { createPost(input: { text: "over the socket" }) { userErrors { code } } }',
  ]) {
    for await (const result of client.iterate({ query })) results.push(result);
  }
  assert.deepEqual(results, [
    { data: { viewer: { user: { username: 'several' } } } },
    { data: { createPost: { userErrors: [] } } },
  ]);
  await until(() => readers.every((r) => r.texts.length === 1));
  ends[0]();
  await post(server, token, 'for one');
  await until(() => readers[1].texts.length === 2);
  assert.deepEqual(readers[0].texts, ['over the socket']);
  assert.deepEqual(readers[1].texts, ['over the socket', 'for one']);
  assert.equal(opened, 1);
  await client.dispose();
  await server.end('SIGTERM');
});

for (const [how, signal, code] of [
  ['is drained', 'SIGTERM', 1012],
  ['dies', 'SIGKILL', 1006],
]) {
  test(`a process ${how}: the client backs off, comes back elsewhere and misses nothing`, async () => {
    let seen;
    await resumesElsewhere(service, signal, (where, token) => {
      seen = connect(where, token);
      return seen.client;
    });
    assert.equal(seen.closes[0], code);
    assert.ok(seen.waits() > 0);
  });
}

test('a bad token is not tried again', async () => {
  const server = await service.serve();
  const { client, closes, waits } = connect({ server }, 'nonsense');
  const reader = new Reader();
  client.subscribe(reader.payload, reader.sink);
  await reader.done;
  assert.deepEqual(closes, [4403]);
  assert.equal(reader.errors[0].code, 4403);
  assert.equal(waits(), 0);
  await server.end('SIGTERM');
});

test('the end of a session ends its sockets', async () => {
  const server = await service.serve();
  const token = await register(server, 'leaving');
  const { client, closes } = connect({ server }, token);
  const reader = new Reader();
  client.subscribe(reader.payload, reader.sink);
  await until(() => reader.caughtUp === 1);
  for await (const result of client.iterate({ query: 'mutation { logout { userErrors { code } } }' })) {
    assert.deepEqual(result.data, { logout: { userErrors: [] } });
  }
  await reader.done;
  assert.deepEqual(closes, [4403]);
  await server.end('SIGTERM');
});

test('what is wrong with an operation is told, and the socket stays', async () => {
  const server = await service.serve();
  const { client, closes } = connect({ server });
  for (const [query, code] of [
    ['subscription { timelineEvents { cursor } }', 'UNAUTHENTICATED'],
    ['{ nothing }', 'GRAPHQL_VALIDATION_FAILED'],
  ]) {
    const errors = await new Promise((resolve) => client.subscribe({ query }, { next() {}, error: resolve, complete() {} }));
    assert.equal(errors[0].extensions.code, code);
  }
  assert.deepEqual(closes, []);
  await client.dispose();
  await server.end('SIGTERM');
});
