// The audits of the graphql-http package: the GraphQL-over-HTTP specification, rule by
// rule. Every one of them has to pass: those that it has to, should and may keep to.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { serverAudits } from 'graphql-http';
import { startService } from './service.mjs';

let service;
let server;
before(async () => {
  service = await startService();
  server = await service.serve();
});
after(() => service?.stop());

test('graphql-http finds nothing to say', async (t) => {
  const audits = serverAudits({ url: () => server.url, fetchFn: fetch });
  assert.ok(audits.length > 50, `there are ${audits.length} audits`);
  for (const { id, name, fn } of audits) {
    await t.test(`${id}: ${name}`, async () => {
      const { status, reason } = await fn();
      assert.equal(status, 'ok', reason);
    });
  }
});
