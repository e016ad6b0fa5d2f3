// The documents of a Relay app, named beforehand by the file that relay-compiler writes, and
// no others.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { openSocket } from '../clients/socket.mjs';
import { compile } from '../relay/compile.mjs';
import { post, register, startService, until } from './service.mjs';

const build = new URL('../build/trusted/', import.meta.url);
const require = createRequire(build);
const idOf = (name) => require(`./__generated__/${name}.graphql.js`).params.id;

let service;
let open;
let trusting;
before(async () => {
  compile(readFileSync(new URL('../../schema.graphqls', import.meta.url), 'utf8'), build.pathname, 'documents.json');
  service = await startService();
  open = await service.serve();
  const flags = ['--rate-limits', 'off', '--trusted-documents', new URL('documents.json', build).pathname, '--trusted-only'];
  trusting = await service.serve({ flags });
});
after(() => service?.stop());

async function send(token, body) {
  const response = await fetch(trusting.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });
  return response.json();
}

test('an app runs on the documents of its manifest, and nothing else does', async (t) => {
  const token = await register(open, 'trusted');
  const { data } = await send(token, { documentId: idOf('feedHomeQuery'), variables: { count: 2 } });
  const { id, posts } = data.viewer.homeTimeline;
  const [connections, input] = [[], { text: 'by its id' }];
  const created = await send(token, { documentId: idOf('feedPostMutation'), variables: { connections, input } });
  assert.deepEqual(created.data.createPost.userErrors, []);

  for (const body of [
    { query: '{ __typename }' },
    { query: '{ __schema { queryType { name } } }' },
    { query: 'query feedHomeQuery { viewer { id } }' },
  ]) {
    assert.equal((await send(token, body)).errors[0].extensions.code, 'FORBIDDEN');
  }
  const unknown = await send(token, { documentId: 'sha256:' + '0'.repeat(64) });
  assert.equal(unknown.errors[0].extensions.code, 'PERSISTED_QUERY_NOT_FOUND');

  const socket = openSocket(trusting, () => token);
  t.after(() => socket.dispose());
  const texts = [];
  const errors = [];
  const variables = { timelineId: id, after: posts.liveCursor };
  socket.subscribe(
    { query: '', documentId: idOf('feedEventsSubscription'), variables }, // graphql-ws insists on a query
    { next: ({ data }) => texts.push(data?.timelineEvents.edge?.node.text), error: (error) => errors.push(error), complete() {} },
  );
  await post(open, token, 'seen live');
  await until(() => texts.includes('seen live') || errors.length > 0);
  assert.deepEqual(errors, []);
  assert.deepEqual(texts.filter(Boolean), ['by its id', 'seen live']);
});
