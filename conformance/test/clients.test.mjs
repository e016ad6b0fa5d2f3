import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ApolloApp } from '../clients/apollo.mjs';
import { RelayApp } from '../clients/relay.mjs';
import { UrqlApp } from '../clients/urql.mjs';
import { textOf } from '../clients/documents.mjs';
import { ask, freePort, post, register, startService, until } from './service.mjs';

const pageSize = 30;
let service, upstream, author, host;
const written = []; // by the author, newest first

before(async () => {
  service = await startService();
  upstream = await service.serve();
  author = await register(upstream, 'author');
  host = await register(upstream, 'host');
  for (let i = 1; i <= 200; i++) written.unshift(await post(upstream, author, `post ${i}`));
});
after(() => service.stop());

async function write(text) {
  written.unshift(await post(upstream, author, text));
}

async function erase(text) {
  const { user } = await ask(upstream, '{ user(username: "author") { timeline { posts(first: 100) { edges { node { id text } } } } } }');
  const { id } = user.timeline.posts.edges.find(({ node }) => node.text === text).node;
  await remove(author, id);
  written.splice(written.indexOf(text), 1);
}

/** answer writes a post of the host that answers another one, or none, and may quote one, and returns its id. */
async function answer(inReplyToId, text, quotedPostId = null) {
  const create = 'mutation($input: CreatePostInput!) { createPost(input: $input) { edge { node { id } } } }';
  const { createPost } = await ask(upstream, create, { token: host, variables: { input: { text, inReplyToId, quotedPostId } } });
  return createPost.edge.node.id;
}

async function remove(token, id) {
  await ask(upstream, 'mutation($id: ID!) { deletePost(input: { postId: $id }) { deletedPostId } }', { token, variables: { id } });
}

/** repost has the author repost one of the oldest posts, or undo that. It returns what timelines show. */
async function repost(mutation, text) {
  const { user } = await ask(upstream, '{ user(username: "author") { timeline { posts(last: 20) { edges { node { id text } } } } } }');
  const { id } = user.timeline.posts.edges.find(({ node }) => node.text === text).node;
  await ask(upstream, `mutation($id: ID!) { ${mutation}(input: { postId: $id }) { userErrors { code } } }`, { token: author, variables: { id } });
  return `author reposted ${text}`;
}

/** shownBy returns which entries an app shows: all, or the first one of each post. */
function shownBy({ onePerPost }, entries) {
  const posts = entries.map((entry) => entry.replace(/^author reposted /, ''));
  return onePerPost ? entries.filter((_, i) => posts.indexOf(posts[i]) === i) : entries;
}

async function replyCount(postId) {
  const { thread } = await ask(upstream, 'query($postId: ID!) { thread(postId: $postId) { replyCount } }', { variables: { postId } });
  return thread.replyCount;
}

/** homeOf reads the home timeline with no client at all. */
async function homeOf(server, token) {
  const texts = [];
  for (let after = null; ; ) {
    const { viewer } = await ask(
      server,
      'query($after: Cursor) { viewer { homeTimeline { posts(first: 100, after: $after) { edges { node { text } reason { user { username } } } pageInfo { hasNextPage endCursor } } } } }',
      { token, variables: { after } },
    );
    const { edges, pageInfo } = viewer.homeTimeline.posts;
    texts.push(...edges.map(textOf));
    if (!pageInfo.hasNextPage) return texts;
    after = pageInfo.endCursor;
  }
}

/** markElsewhere marks the home timeline as read with no client at all, as on another device. */
async function markElsewhere(server, token) {
  const { viewer } = await ask(server, '{ viewer { homeTimeline { id posts(first: 1) { liveCursor } } } }', { token });
  const input = { timelineId: viewer.homeTimeline.id, cursor: viewer.homeTimeline.posts.liveCursor };
  const mark = 'mutation($input: MarkTimelineReadInput!) { markTimelineRead(input: $input) { userErrors { code } } }';
  const { markTimelineRead } = await ask(server, mark, { token, variables: { input } });
  assert.deepEqual(markTimelineRead.userErrors, []);
}

for (const [name, App] of [
  ['Apollo Client', ApolloApp],
  ['urql', UrqlApp],
  ['Relay', RelayApp],
]) {
  test(`${name} logs in, reads 200 posts, follows, posts, counts unread posts, is live and resumes`, async (t) => {
    const reader = name.toLowerCase().replace(' ', '_');
    const port = await freePort(); // where another process goes on
    let server = await service.serve({ port });
    const token = await register(server, reader);
    const app = new App(server, pageSize);
    t.after(async () => {
      await app.close();
      await server.end('SIGTERM');
    });
    await app.login(reader, 'a long password');

    assert.deepEqual(await app.readProfile('author'), written);
    const { viewerFollows, followerCount } = await app.follow('author');
    assert.equal(viewerFollows, true);
    assert.ok(followerCount > 0);

    await until(async () => (await homeOf(server, token)).length === written.length);
    assert.deepEqual(await app.readHome(), written);
    assert.equal(app.unread(), 99);
    const { viewer } = await ask(server, '{ viewer { homeTimeline { posts(first: 8) { edges { cursor } } } } }', { token });
    await app.mark(viewer.homeTimeline.posts.edges[7].cursor);
    assert.equal(app.unread(), 7);

    const added = [];
    const others = [];
    app.watch((event) => {
      if (event.__typename === 'PostAdded') added.push(textOf(event.edge));
      else others.push(event.error ?? event.__typename);
    });
    const caughtUp = () => others.filter((what) => what === 'TimelineCaughtUp').length;
    await until(() => caughtUp() === 1);
    const own = `by ${name}`;
    await app.post(own);
    await write(`${name}: live`);
    await until(() => added.length === 2);
    const head = [`${name}: live`, own];
    assert.deepEqual(app.home(), [...head, ...written.slice(1)]);

    // The post is far below, so the timeline has two edges of it.
    const reposted = await repost('repostPost', 'post 1');
    await until(() => app.home()[0] === reposted);
    assert.deepEqual(app.home(), shownBy(App, [reposted, ...head, ...written.slice(1)]));
    await repost('undoRepost', 'post 1');
    await until(() => app.home()[0] === head[0]);
    assert.deepEqual(app.home(), [...head, ...written.slice(1)]);

    await markElsewhere(upstream, token);
    await until(() => others.includes('TimelineMarkerMoved'));
    assert.equal(app.unread(), 0);

    await server.end('SIGKILL');
    for (let i = 1; i <= 5; i++) await write(`${name}: meanwhile ${i}`);
    await erase(`${name}: meanwhile 2`);
    await erase(`${name}: live`);
    const meanwhile = await repost('repostPost', 'post 2');
    await until(async () => (await homeOf(upstream, token))[0] === meanwhile);
    await markElsewhere(upstream, token);
    await write(`${name}: unread`);
    await until(async () => (await homeOf(upstream, token))[0] === `${name}: unread`);
    server = await service.serve({ port });
    await until(() => caughtUp() === 2);
    await until(() => app.unread() === 1);
    await write(`${name}: after`);
    await until(() => app.home()[0] === `${name}: after`);

    const since = ['meanwhile 1', 'meanwhile 3', 'meanwhile 4', 'meanwhile 5'].map((text) => `${name}: ${text}`);
    assert.deepEqual(added, [...head.reverse(), reposted, ...since, meanwhile, `${name}: unread`, `${name}: after`]);
    assert.deepEqual(others.filter((what) => !['PostRemoved', 'TimelineMarkerMoved'].includes(what)), ['TimelineCaughtUp', 'TimelineCaughtUp']);
    assert.deepEqual(app.home(), shownBy(App, await homeOf(server, token)));
    await repost('undoRepost', 'post 2');
    await until(() => !app.home().includes(meanwhile));
    assert.deepEqual(app.home().filter((text) => text !== own), written);
  });

  test(`${name} reads a thread with a quote in pages, replies, and undoes a refused reply, like and repost`, async (t) => {
    const talker = `${name.toLowerCase().replace(' ', '_')}_talks`;
    await register(upstream, talker);
    const app = new App(upstream, 10);
    t.after(() => app.close());
    await app.login(talker, 'a long password');

    const original = await answer(null, `${name}: original`);
    const lost = await answer(null, `${name}: lost`);
    const root = await answer(null, `${name}: root`, lost);
    const gone = await answer(root, `${name}: gone`);
    const post = await answer(gone, `${name}: answer me`, original);
    await remove(host, gone);
    await remove(host, lost);
    const replies = [];
    for (let i = 1; i <= 25; i++) {
      replies.push(`${name}: reply ${i}`);
      await answer(post, replies.at(-1));
    }
    await until(async () => (await replyCount(post)) === 25);
    const above = [`${name}: root`, null];
    const quoted = `${name}: original`;
    assert.deepEqual(await app.readThread(post), { likes: [0, false], reposted: false, quoted, replyCount: 25, above, replies });

    const taken = app.reply(post, `${name}: mine`);
    const withMine = { likes: [0, false], reposted: false, quoted, replyCount: 26, above, replies: [`${name}: mine`, ...replies] };
    assert.deepEqual(app.thread(post), withMine);
    assert.deepEqual(await taken, []);
    assert.deepEqual(app.thread(post), withMine);
    await until(async () => (await replyCount(post)) === 26);

    await remove(host, post);
    const refused = app.reply(post, `${name}: too late`);
    assert.deepEqual(app.thread(post), { likes: [0, false], reposted: false, quoted, replyCount: 27, above, replies: [`${name}: too late`, ...withMine.replies] });
    assert.deepEqual(await refused, ['NOT_FOUND']);
    assert.deepEqual(app.thread(post), withMine);

    const unlikable = app.like(post);
    assert.deepEqual(app.thread(post).likes, [1, true]);
    assert.deepEqual(await unlikable, ['NOT_FOUND']);
    assert.deepEqual(app.thread(post).likes, [0, false]);
    const refusedRepost = app.repost(post);
    assert.equal(app.thread(post).reposted, true);
    assert.deepEqual(await refusedRepost, ['NOT_FOUND']);
    assert.equal(app.thread(post).reposted, false);
    assert.equal((await app.readThread(root)).quoted, 'DELETED');
    assert.deepEqual(await app.repost(root), []);
    assert.equal(app.thread(root).reposted, true);
    const taking = app.like(root);
    assert.deepEqual(app.thread(root).likes, [1, true]);
    assert.deepEqual(await taking, []);
    assert.deepEqual(app.thread(root).likes, [1, true]);
  });
}
