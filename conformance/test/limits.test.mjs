import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Lexer, Source, TokenKind } from 'graphql';
import { examples, points } from '../docs/limits.mjs';
import { post, register, startService } from './service.mjs';

let service;
let server;
let token;
before(async () => {
  service = await startService();
  server = await service.serve({ flags: [] });
  token = await register(server, 'ann');
  for (let i = 0; i < 30; i++) await post(server, token, `post ${i} of @ann, see https://example.com/${i}`);
});
after(() => service.stop());

/** run runs an operation and returns its data and its final cost. */
async function run(query) {
  const response = await fetch(server.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query, extensions: { cost: true } }),
  });
  const { data, errors, extensions } = await response.json();
  assert.equal(errors, undefined, query);
  return { data, cost: extensions.cost };
}

const queries = examples.filter(({ query }) => query.startsWith('{'));

test('the prices of the examples are those of the service', async () => {
  assert.ok(examples.length >= 8);
  for (const { query, price } of examples) {
    const { cost } = await run(query);
    assert.equal(cost.price, price, query);
    if (query.startsWith('mutation')) token = await login(); // the example logs out
  }
});

test('rateLimit.cost is the price before the operation runs', async () => {
  for (const { query, price } of queries) {
    const { data, cost } = await run(query.replace('{', '{ rateLimit { cost }'));
    assert.equal(data.rateLimit.cost, price + 2, query); // two fields more
    assert.equal(cost.price, price + 2, query);
  }
});

test('the final cost is the work by the published weights', async () => {
  for (const { query } of queries) {
    if (query.includes('__schema')) continue; // due in full
    const { cost } = await run(query);
    assert.equal(cost.total, cost.document + cost.price + cost.beyond - cost.refunded, query);
    assert.equal(cost.total - cost.document, points(cost.work), query);
  }
});

test('a document is charged by its size once', async () => {
  const query = `query Priced { ...Timeline publicTimeline { posts(first: 1) { edges { node { text } } } } }
    fragment Timeline on Query { publicTimeline { kind } }`;
  const read = (text) => 1 + Math.floor(Buffer.byteLength(text) / 256);
  assert.equal((await run(query)).cost.document, read(query) + 20 + Math.floor(tokens(query) / 2) + 2 * 10);
  assert.equal((await run(query)).cost.document, 0);
  const spaced = query.replaceAll(' ', '   ');
  assert.equal((await run(spaced)).cost.document, read(spaced)); // its tokens are known
});

function tokens(text) {
  const lexer = new Lexer(new Source(text));
  let n = 0;
  while (lexer.advance().kind !== TokenKind.EOF) n++;
  return n;
}

async function login() {
  const response = await fetch(server.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: 'mutation { login(input: { username: "ann", password: "a long password" }) { token } }' }),
  });
  return (await response.json()).data.login.token;
}
