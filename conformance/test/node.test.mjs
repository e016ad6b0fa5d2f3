import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { buildSchema, isInterfaceType, isObjectType } from 'graphql';
import { ask, post, register, startService } from './service.mjs';

const schema = buildSchema(readFileSync(new URL('../../schema.graphqls', import.meta.url), 'utf8'));
const node = schema.getType('Node');

let service;
before(async () => {
  service = await startService();
});
after(() => service.stop());

test('whatever has an id is a node', () => {
  const others = Object.values(schema.getTypeMap()).filter(
    (type) => (isObjectType(type) || isInterfaceType(type)) && type !== node && !type.name.startsWith('__')
      && type.getFields().id && !type.getInterfaces().includes(node),
  );
  assert.deepEqual(others.map(String), []);
});

/** Where to meet a thing of each type: a path, and its selection. */
const places = {
  User: ['viewer.user', '{ viewer { user { id } } }'],
  Post: ['viewer.user.timeline.posts.edges.0.node', '{ viewer { user { timeline { posts { edges { node { id } } } } } } }'],
  List: ['viewer.lists.edges.0.node', '{ viewer { lists { edges { node { id } } } } }'],
  Tag: ['tag', '{ tag(name: "conformance") { id } }'],
  Session: ['viewer.sessions.0', '{ viewer { sessions { id } } }'],
  Viewer: ['viewer', '{ viewer { id } }'],
  Timeline: ['publicTimeline', '{ publicTimeline { id } }'],
};
const timelines = {
  HOME: ['viewer.homeTimeline', '{ viewer { homeTimeline { id } } }'],
  MENTIONS: ['viewer.mentionsTimeline', '{ viewer { mentionsTimeline { id } } }'],
  PROFILE: ['viewer.user.timeline', '{ viewer { user { timeline { id } } } }'],
  PROFILE_WITH_REPLIES: ['viewer.user.timeline', '{ viewer { user { timeline(includeReplies: true) { id } } } }'],
  LIST: ['viewer.lists.edges.0.node.timeline', '{ viewer { lists { edges { node { timeline { id } } } } } }'],
  TAG: ['tag.timeline', '{ tag(name: "conformance") { timeline { id } } }'],
  PUBLIC: places.Timeline,
};

test('every node can be fetched again by its id, alone and with others', async () => {
  const server = await service.serve();
  const token = await register(server, 'owner');
  await post(server, token, 'a post #conformance');
  await ask(server, 'mutation { createList(input: { name: "a list" }) { list { id } } }', { token });

  const types = schema.getPossibleTypes(node).map(({ name }) => name).sort();
  assert.deepEqual(Object.keys(places).sort(), types, 'say where to meet things of each type');
  const kinds = schema.getType('TimelineKind').getValues().map(({ name }) => name).sort();
  assert.deepEqual(Object.keys(timelines).sort(), kinds, 'say where to meet timelines of each kind');

  const find = async ([path, query]) => path.split('.').reduce((at, key) => at[key], await ask(server, query, { token })).id;
  const want = [];
  for (const [type, place] of Object.entries(places)) want.push({ __typename: type, id: await find(place) });
  for (const [kind, place] of Object.entries(timelines)) want.push({ __typename: 'Timeline', id: await find(place), kind });

  const query = 'query($ids: [ID!]!, $id: ID!) { node(id: $id) { ...it } nodes(ids: $ids) { ...it } } fragment it on Node { __typename id ... on Timeline { kind } }';
  const ids = want.map(({ id }) => id);
  for (const thing of want) {
    const got = await ask(server, query, { token, variables: { id: thing.id, ids } });
    assert.deepEqual(got.node, { ...thing, ...(thing.__typename === 'Timeline' && { kind: thing.kind ?? 'PUBLIC' }) });
    assert.deepEqual(got.nodes.map(({ id }) => id), ids);
  }
  const other = await register(server, 'other');
  const hidden = new Set(['Viewer', 'List', 'Session']);
  for (const thing of want) {
    const { node } = await ask(server, query, { token: other, variables: { id: thing.id, ids } });
    const private_ = hidden.has(thing.__typename) || ['HOME', 'MENTIONS', 'LIST'].includes(thing.kind);
    assert.equal(node === null, private_, `${thing.__typename} ${thing.kind ?? ''} to others`);
  }
  await server.end('SIGTERM');
});
