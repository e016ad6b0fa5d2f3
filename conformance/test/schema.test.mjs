import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { compare } from '../schema/compare.mjs';
import { recommendations, relayFindings } from '../schema/lint.mjs';

const schema = readFileSync(new URL('../../schema.graphqls', import.meta.url), 'utf8');

/** changed returns the schema with something changed, which must be there. */
function changed(pattern, replacement = '') {
  const result = schema.replace(pattern, replacement);
  assert.notEqual(result, schema, `nothing in the schema matches ${pattern}`);
  return result;
}

test('graphql-eslint has nothing to recommend', async () => {
  assert.deepEqual(await recommendations(schema), []);
});

test('graphql-schema-linter finds nothing that Relay could not use', () => {
  assert.deepEqual(relayFindings(schema), []);
});

test('the linters find what is planted', async () => {
  for (const [rule, planted] of [
    ['strict-id-in-types', `${schema}\n"""A thing."""\ntype Thing { x: Int }\nextend type Query { """It.""" thing: Thing }`],
    ['require-description', changed(/"""\nA user account and its public profile.\n"""\n/)],
    ['description-style', changed('"""The time of creation."""', '"The time of creation."')],
    ['no-unreachable-types', `${schema}\n"""A thing."""\ntype Thing { id: ID! }`],
    ['relay-arguments', changed(/newestUsers\([^)]*\)/, 'newestUsers')],
    ['relay-page-info', changed(/hasNextPage: Boolean!/, 'hasNextPage: Boolean')],
    ['relay-connection-types', changed(/  pageInfo: PageInfo!/, '  pageInfo: PageInfo')],
    ['naming-convention', changed(/  bio: String!/, '  Bio: String!')],
  ]) {
    const found = await recommendations(planted);
    assert.ok(found.some((finding) => finding.includes(`@graphql-eslint/${rule})`)), `${rule}: ${found}`);
  }
  for (const [rule, planted] of [
    ['relay-page-info-spec', changed(/hasNextPage: Boolean!/, 'hasNextPage: Boolean')],
    ['relay-connection-arguments-spec', changed(/newestUsers\([^)]*\)/, 'newestUsers')],
    ['relay-connection-types-spec', changed(/  pageInfo: PageInfo!/, '  pageInfo: PageInfo')],
  ]) {
    const found = relayFindings(planted);
    assert.ok(found.some((finding) => finding.includes(`(${rule})`)), `${rule}: ${found}`);
  }
});

test('what breaks clients of a release is found, and nothing else', async () => {
  for (const [what, next] of [
    ['FIELD_REMOVED User.bio', changed(/  bio: String!\n/, '  about: String!\n')],
    ['TYPE_REMOVED TimelineReset', changed(/\btype TimelineReset\b/, 'type TimelineRefetch')],
    ['FIELD_TYPE_CHANGED Post.text', changed(/  text: String!\n/, '  text: String\n')],
    ['ENUM_VALUE_REMOVED UserErrorCode.TAKEN', changed(/  TAKEN\n/, '  NAME_TAKEN\n')],
    ['FIELD_ARGUMENT_REMOVED Query.nodes.ids', changed('ids: [ID!]!', 'all: [ID!]!')],
    ['INPUT_FIELD_ADDED LoginInput.otp', changed('input LoginInput {', 'input LoginInput {\n  """A code."""\n  otp: String!')],
    ['OBJECT_TYPE_INTERFACE_REMOVED List', changed('type List implements Node', 'type List')],
  ]) {
    const { problems } = await compare(schema, next);
    assert.ok(problems.some((problem) => problem.startsWith(`${what}: `)), `${what}: ${problems}`);
    const [type, path] = what.split(' ');
    const breaks = [{ type, path, reason: 'it is planted' }];
    assert.ok(!(await compare(schema, next, breaks)).problems.some((problem) => problem.startsWith(what)), `${what} is not allowed`);
  }
  for (const next of [
    schema,
    changed('type Post implements Node {', 'type Post implements Node {\n  """Its length."""\n  length: Int!'),
    changed('"""The time of creation."""', '"""The time."""'),
  ]) {
    assert.deepEqual((await compare(schema, next)).problems, []);
  }
  const idle = { type: 'FIELD_REMOVED', path: 'User.bio', reason: 'it is not needed' };
  assert.match((await compare(schema, schema, [idle])).problems[0], /there is no such change/);
  const next = changed(/  bio: String!\n/, '  about: String!\n');
  assert.match((await compare(schema, next, [{ ...idle, reason: '' }])).problems[0], /without a reason/);
});

const dir = mkdtempSync(join(tmpdir(), 'rs'));
after(() => rmSync(dir, { recursive: true }));

test('the comparison fails on a break that is not allowed', async () => {
  const run = (...args) =>
    new Promise((resolve) => {
      const script = fileURLToPath(new URL('../schema/compare.mjs', import.meta.url));
      execFile(process.execPath, [script, ...args], (error, stdout, stderr) => resolve({ code: error?.code ?? 0, stdout, stderr }));
    });
  const file = (name, text) => {
    writeFileSync(join(dir, name), text);
    return join(dir, name);
  };
  const next = file('schema', changed(/  bio: String!\n/, '  about: String!\n'));
  const release = file('release', schema);
  const none = file('none', '[]');
  const refused = await run('--release', release, '--schema', next, '--breaks', none);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /FIELD_REMOVED User\.bio/);
  const breaks = file('breaks', JSON.stringify([{ type: 'FIELD_REMOVED', path: 'User.bio', reason: 'it is planted' }]));
  assert.deepEqual(await run('--release', release, '--schema', next, '--breaks', breaks), { code: 0, stdout: '', stderr: '' });
  assert.equal((await run('--release', release, '--schema', release, '--breaks', none)).code, 0);
  assert.equal((await run('--schema', join(dir, 'nothing'))).code, 1);
});
