// What auditors such as graphql-cop look for, asked in their way. Where the answer depends
// on whether clients may read the schema, both ways of serving are asked.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ask, register, startService } from './service.mjs';

let service;
let open;
let closed;
before(async () => {
  service = await startService();
  open = await service.serve();
  closed = await service.serve({ flags: ['--no-introspection'] });
});
after(() => service?.stop());

async function send(server, body, headers = { 'content-type': 'application/json' }) {
  const response = await fetch(server.url, { method: 'POST', headers, body });
  return { status: response.status, text: await response.text() };
}

const query = (server, text) => send(server, JSON.stringify({ query: text }));

/** refused checks that an answer has one error, with the code, no data, and few words. */
function refused({ text }, code) {
  const { data, errors } = JSON.parse(text);
  assert.equal(data, undefined);
  assert.deepEqual(errors.map(({ extensions }) => extensions.code), [code]);
  assert.ok(text.length < 4096, `${text.length} bytes`);
}

test('aliases: 101 of one field are refused', async () => {
  const aliases = Array.from({ length: 101 }, (_, i) => `alias${i}: __typename`).join('\n');
  for (const server of [open, closed]) refused(await query(server, `query { ${aliases} }`), 'COMPLEXITY_LIMIT_EXCEEDED');
});

test('batches: an array of requests is refused', async () => {
  for (const server of [open, closed]) {
    const answer = await send(server, JSON.stringify(Array.from({ length: 10 }, () => ({ query: 'query { __typename }' }))));
    assert.equal(answer.status, 400);
    refused(answer, 'BAD_USER_INPUT');
  }
});

test('repeated fields: 500 are refused', async () => {
  for (const server of [open, closed]) {
    refused(await query(server, `query { ${'__typename \n'.repeat(500)} }`), 'COMPLEXITY_LIMIT_EXCEEDED');
  }
});

test('directives: many on one field are refused', async () => {
  for (const server of [open, closed]) {
    refused(await query(server, `query { __typename ${'@aa'.repeat(200)} }`), 'COMPLEXITY_LIMIT_EXCEEDED');
    refused(await query(server, `query { __typename ${'@include(if: true)'.repeat(51)} }`), 'COMPLEXITY_LIMIT_EXCEEDED');
  }
});

test('circles: a schema is not walked round and round', async () => {
  let circle = 'name';
  for (let i = 0; i < 4; i++) circle = `fields { type { ${circle} } }`;
  refused(await query(open, `query { __schema { types { ${circle} } } }`), 'GRAPHQL_VALIDATION_FAILED');
  assert.equal(JSON.parse((await query(closed, `query { __schema { types { ${circle} } } }`)).text).data, undefined);
});

test('introspection: off when it is switched off', async () => {
  for (const text of ['{ __schema { queryType { name } } }', '{ __type(name: "User") { name } }', '{ a: __schema { types { name } } }']) {
    assert.ok(JSON.parse((await query(open, text)).text).data);
    const { text: answer } = await query(closed, text);
    const { data, errors } = JSON.parse(answer);
    assert.ok(errors.length > 0);
    assert.ok(!data || Object.values(data).every((value) => value === null), answer);
  }
});

test('suggestions: none when introspection is switched off', async () => {
  for (const text of ['{ __schema { directive } }', '{ viewr { id } }', 'mutation { logn { token } }', '{ user(usernme: "x") { id } }', '{ node(id: "x") { ... on Usr { id } } }']) {
    const { text: answer } = await query(closed, text);
    assert.ok(JSON.parse(answer).errors.length > 0);
    assert.doesNotMatch(answer, /did you mean/i);
  }
});

test('tools: no page to try queries when introspection is switched off', async () => {
  const playground = await fetch(new URL('/playground', open.url));
  assert.match(await playground.text(), /playground/i, 'the program was built without the web app: run `make web` first');
  assert.equal((await fetch(new URL('/playground', closed.url))).status, 404);
  for (const path of ['/graphiql', '/playground', '/console', '/graphql', '/playground.html']) {
    const page = await (await fetch(new URL(path, closed.url), { headers: { accept: 'text/html' } })).text();
    assert.doesNotMatch(page, /graphiql|playground/i, path);
  }
});

test('traces: answers tell nothing of the inside', async () => {
  for (const server of [open, closed]) {
    for (const text of ['query { __typename }', 'qwerty cop { abc }', '{', '{ node(id: "\\u0000") { id } }', '{ nothing }']) {
      const { text: answer } = await query(server, text);
      assert.doesNotMatch(answer, /tracing|stacktrace|exception|goroutine|\.go\b|redis/i);
      const { extensions } = JSON.parse(answer);
      assert.equal(extensions, undefined);
    }
  }
});

test('GET: mutations are not run', async () => {
  const mutations = ['mutation { __typename }', 'mutation { logout { userErrors { code } } }', 'query Q { __typename } mutation M { logout { userErrors { code } } }'];
  const token = await register(open, 'getter');
  for (const server of [open, closed]) {
    for (const text of mutations) {
      const names = text.startsWith('query') ? { operationName: 'M' } : {};
      const response = await fetch(`${server.url}?${new URLSearchParams({ query: text, ...names })}`, { headers: { authorization: `Bearer ${token}` } });
      assert.equal(response.status, 405);
      assert.equal(response.headers.get('allow'), 'POST');
    }
  }
  assert.notEqual((await ask(open, '{ viewer { id } }', { token })).viewer, null);
});

// Queries are, by design: they change nothing, and pages of other origins learn nothing.
test('GET: what queries answer is not for other origins', async () => {
  for (const server of [open, closed]) {
    const response = await fetch(`${server.url}?query={__typename}`, { headers: { origin: 'https://elsewhere.example' } });
    assert.equal(response.headers.get('access-control-allow-origin'), null);
    assert.equal(response.headers.get('cross-origin-resource-policy'), 'same-origin');
  }
});

test('forms: what a page of another origin can send without asking is refused', async () => {
  for (const server of [open, closed]) {
    for (const type of ['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/plain', 'application/graphql', '']) {
      for (const body of ['query=query { __typename }', '{"query": "query { __typename }"}']) {
        const { status, text } = await send(server, new TextEncoder().encode(body), type ? { 'content-type': type } : {});
        assert.equal(status, 415, type);
        assert.equal(JSON.parse(text).data, undefined);
      }
    }
  }
});
