import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { compile } from '../relay/compile.mjs';

const schema = readFileSync(new URL('../../schema.graphqls', import.meta.url), 'utf8');
const dir = mkdtempSync(join(tmpdir(), 'rr'));
after(() => rmSync(dir, { recursive: true }));

test('relay-compiler makes pages, prepended edges and refetches of the schema', async () => {
  const artifacts = compile(schema, join(dir, 'good'));
  for (const name of [
    'feedPageQuery', // of a timeline, by node(id)
    'feedNewerQuery', // backward
    'peopleFollowersPageQuery',
    'peopleFollowingPageQuery',
    'peopleCommonPageQuery',
    'peopleKnownPageQuery',
    'peopleNewestPageQuery', // of the root
    'peopleFoundPageQuery',
    'peopleListsPageQuery', // of the viewer
    'peopleMembersPageQuery',
    'feedPostMutation',
    'feedEventsSubscription',
    'feedMarkMutation',
  ]) {
    assert.ok(artifacts.includes(`${name}.graphql.js`), `${name} is missing in ${artifacts}`);
  }
});

test('relay-compiler refuses what Relay could not use', () => {
  for (const [planted, complaint] of [
    [schema.replaceAll('implements Node', ''), /Invalid use of @refetchable/],
    [schema.replace('type PageInfo {', 'type PageInfo {\n  x: Int\n}\ntype Elsewhere {'), /@connection used on invalid field/],
  ]) {
    assert.throws(() => compile(planted, join(dir, 'bad')), (error) => complaint.test(error.stdout + error.stderr));
  }
});
