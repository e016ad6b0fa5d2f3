// Apollo Client's automatic persisted queries, by POST and by GET: the first request names
// a document that nobody knows, later ones are understood, by every process.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { ApolloClient, ApolloLink, HttpLink, InMemoryCache, gql } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { startService } from './service.mjs';

let service;
let servers;
before(async () => {
  service = await startService();
  servers = [await service.serve(), await service.serve()];
});
after(() => service?.stop());

const query = gql`
  query Kind {
    publicTimeline {
      id
      kind
    }
  }
`;

/** read returns the kind of the public timeline, and what was sent to find out. */
async function read(server, useGETForHashedQueries) {
  const requests = [];
  const http = new HttpLink({
    uri: server.url,
    fetch: (uri, init) => {
      requests.push(`${init.method} ${init.body?.includes('"query":') ? 'whole' : 'named'}`);
      return fetch(uri, init);
    },
  });
  const sha256 = (text) => createHash('sha256').update(text).digest('hex');
  const link = ApolloLink.from([new PersistedQueryLink({ sha256, useGETForHashedQueries }), http]);
  const client = new ApolloClient({ link, cache: new InMemoryCache() });
  const { data } = await client.query({ query });
  return { kind: data.publicTimeline.kind, requests };
}

test('Apollo Client sends a document once', async () => {
  const [one, other] = servers;
  assert.deepEqual(await read(one, false), { kind: 'PUBLIC', requests: ['POST named', 'POST whole'] });
  for (const server of [one, other]) {
    assert.deepEqual(await read(server, false), { kind: 'PUBLIC', requests: ['POST named'] });
    assert.deepEqual(await read(server, true), { kind: 'PUBLIC', requests: ['GET named'] });
  }
});
