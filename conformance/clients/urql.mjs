// An app with urql and its normalised cache.
import { readFileSync } from 'node:fs';
import { cacheExchange } from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';
import { buildSchema, introspectionFromSchema } from 'graphql';
import { Client, fetchExchange, gql, subscriptionExchange } from 'urql';
import { parsed, quotedBy, textOf } from './documents.mjs';
import { openSocket } from './socket.mjs';
import { importExample } from '../docs/examples.mjs';

const { resume } = await importExample('resume.mjs');

const schema = introspectionFromSchema(buildSchema(readFileSync(new URL('../../schema.graphqls', import.meta.url), 'utf8')));

const { create, follow, home, like, login, mark, profile, repost, thread, unread, watch } = parsed(gql);

const count = gql`
  fragment ReplyCount on Thread {
    postId
    replyCount
  }
`;

/** pagesOf returns the keys of the pages of a connection in the cache, the first one first. */
function pagesOf(cache, owner, connection) {
  return cache
    .inspectFields(owner)
    .filter(({ fieldName }) => fieldName === connection)
    .sort((a, b) => Boolean(a.arguments.after) - Boolean(b.arguments.after))
    .map(({ fieldKey }) => cache.resolve(owner, fieldKey));
}

function prepend(cache, owner, connection, edge) {
  const pages = pagesOf(cache, owner, connection);
  if (pages.some((of) => cache.resolve(of, 'edges').some((e) => entryOf(cache, e) === edge.entryId))) return;
  const first = pages[0];
  cache.link(first, 'edges', [cache.keyOfEntity({ __typename: 'PostEdge', cursor: edge.cursor }), ...cache.resolve(first, 'edges')]);
}

function remove(cache, timeline, { postId, entryId }) {
  for (const of of pagesOf(cache, timeline, 'posts')) {
    cache.link(of, 'edges', cache.resolve(of, 'edges').filter((e) => entryOf(cache, e) !== entryId && nodeOf(cache, e) !== postId));
  }
}

/** entryOf returns the identity of an edge: of replies, that of the post. */
function entryOf(cache, edge) {
  return cache.resolve(edge, 'entryId') ?? nodeOf(cache, edge);
}

function nodeOf(cache, edge) {
  return cache.resolve(cache.resolve(edge, 'node'), 'id');
}

const partOfAnother = () => null;

export class UrqlApp {
  /** The app shows one edge of each post: relayPagination drops further ones. */
  static onePerPost = true;

  #token = '';
  #home = '';
  #ends = [];

  constructor(server, pageSize) {
    this.variables = { first: pageSize };
    this.socket = openSocket(server, () => this.#token);
    this.client = new Client({
      url: server.url,
      fetchOptions: () => (this.#token ? { headers: { authorization: `Bearer ${this.#token}` } } : {}),
      exchanges: [
        cacheExchange({
          schema,
          keys: {
            PostEdge: ({ cursor }) => cursor,
            PostConnection: partOfAnother,
            Repost: partOfAnother,
            PageInfo: partOfAnother,
            Thread: ({ postId }) => postId,
            Ancestor: partOfAnother,
            QuotedPost: partOfAnother,
            ReplyConnection: partOfAnother,
            PostAdded: partOfAnother,
            PostRemoved: partOfAnother,
            TimelineMarkerMoved: partOfAnother,
            TimelineCaughtUp: partOfAnother,
            TimelineReset: partOfAnother,
          },
          resolvers: { Timeline: { posts: relayPagination() }, Thread: { replies: relayPagination() } },
          optimistic: {
            likePost: ({ input: { postId } }, cache) => {
              const post = { __typename: 'Post', id: postId };
              return {
                __typename: 'LikePayload',
                post: { ...post, likeCount: cache.resolve(post, 'likeCount') + 1, viewerHasLiked: true },
                userErrors: [],
              };
            },
            repostPost: ({ input: { postId } }) => ({
              __typename: 'RepostPayload',
              post: { __typename: 'Post', id: postId, viewerHasReposted: true },
              userErrors: [],
            }),
            createPost: ({ input: { text } }) => ({
              __typename: 'CreatePostPayload',
              edge: {
                __typename: 'PostEdge',
                cursor: `pending:${text}`,
                entryId: `pending:${text}`,
                reason: null,
                node: { __typename: 'Post', id: `pending:${text}`, text, author: this.viewer },
              },
              userErrors: [],
            }),
          },
          updates: {
            Mutation: {
              createPost: ({ createPost }, { input }, cache) => {
                if (!createPost?.edge) return;
                if (input.inReplyToId === undefined) return prepend(cache, this.#timeline(), 'posts', createPost.edge);
                const answered = { __typename: 'Thread', postId: input.inReplyToId };
                prepend(cache, answered, 'replies', createPost.edge);
                cache.writeFragment(count, { ...answered, replyCount: cache.resolve(answered, 'replyCount') + 1 });
              },
            },
            Subscription: {
              timelineEvents: ({ timelineEvents: event }, _, cache) => {
                if (event.__typename === 'PostAdded') prepend(cache, this.#timeline(), 'posts', event.edge);
                if (event.__typename === 'PostRemoved') remove(cache, this.#timeline(), event);
              },
            },
          },
        }),
        fetchExchange,
        subscriptionExchange({
          forwardSubscription: (request) => ({
            subscribe: (sink) => ({ unsubscribe: resume(this.socket, request, sink) }),
          }),
        }),
      ],
    });
  }

  #timeline() {
    return { __typename: 'Timeline', id: this.#home };
  }

  async login(username, password) {
    const { data } = await this.#ask(this.client.mutation(login, { input: { username, password } }));
    this.#token = data.login.token;
    this.viewer = { __typename: 'User', id: data.login.user.id, username };
  }

  readProfile(username) {
    return this.#readOn(profile, { username, ...this.variables }, (data) => data.user.timeline.posts);
  }

  async readHome() {
    const texts = await this.#readOn(home, this.variables, (data) => data.viewer.homeTimeline.posts);
    this.#home = this.#read(home, this.variables).viewer.homeTimeline.id;
    return texts;
  }

  async readThread(postId) {
    await this.#readOn(thread, { postId, ...this.variables }, (data) => data.thread.replies);
    return this.thread(postId);
  }

  /** What the app shows of a thread now. */
  thread(postId) {
    const { post, replyCount, ancestors, replies } = this.#read(thread, { postId, ...this.variables }).thread;
    return { likes: [post.likeCount, post.viewerHasLiked], reposted: post.viewerHasReposted, quoted: quotedBy(post), replyCount, above: ancestors.map(({ post }) => post?.text ?? null), replies: textsOf(replies) };
  }

  /** Likes the post of a thread. The like is shown at once, and disappears again if it is refused. */
  async like(postId) {
    const { data } = await this.#ask(this.client.mutation(like, { input: { postId } }));
    return data.likePost.userErrors.map(({ code }) => code);
  }

  /** Reposts the post of a thread. That is shown at once, and undone if it is refused. */
  async repost(postId) {
    const { data } = await this.#ask(this.client.mutation(repost, { input: { postId } }));
    return data.repostPost.userErrors.map(({ code }) => code);
  }

  /** Answers a post. The reply is shown at once, and disappears again if it is refused. */
  async reply(postId, text) {
    const { data } = await this.#ask(this.client.mutation(create, { input: { text, inReplyToId: postId, idempotencyKey: crypto.randomUUID() } }));
    return data.createPost.userErrors.map(({ code }) => code);
  }

  async #readOn(query, variables, postsOf) {
    let { data } = await this.#ask(this.client.query(query, variables));
    while (postsOf(data).pageInfo.hasNextPage) {
      ({ data } = await this.#ask(this.client.query(query, { ...variables, after: postsOf(data).pageInfo.endCursor })));
    }
    return textsOf(postsOf(this.#read(query, variables)));
  }

  async follow(username) {
    const variables = { username, ...this.variables };
    await this.#ask(this.client.mutation(follow, { input: { userId: this.#read(profile, variables).user.id } }));
    return this.#read(profile, variables).user;
  }

  async post(text) {
    await this.#ask(this.client.mutation(create, { input: { text, idempotencyKey: crypto.randomUUID() } }));
  }

  /** Watches the home timeline from where it was read, and keeps it current. */
  watch(told) {
    const { id, posts } = this.#read(home, this.variables).viewer.homeTimeline;
    const { unsubscribe } = this.client
      .subscription(watch, { timelineId: id, after: posts.liveCursor })
      .subscribe(({ data, error }) => {
        if (data?.timelineEvents.__typename === 'TimelineCaughtUp') this.#compareMarker(data.timelineEvents.marker);
        told(error ? { error } : data.timelineEvents);
      });
    this.#ends.push(unsubscribe);
  }

  /** What the app shows of the home timeline now. */
  home() {
    return textsOf(this.#read(home, this.variables).viewer.homeTimeline.posts);
  }

  /** Marks the home timeline as read up to a cursor. */
  async mark(cursor) {
    await this.#ask(this.client.mutation(mark, { input: { timelineId: this.#home, cursor } }));
  }

  /** What the app shows as the number of unread posts of the home timeline. */
  unread() {
    return this.#read(home, this.variables).viewer.homeTimeline.unreadCount;
  }

  /** Reads the number again if the marker has moved while the app was away. */
  #compareMarker(marker) {
    if (marker === this.#read(home, this.variables).viewer.homeTimeline.marker) return;
    void this.client.query(unread, { timelineId: this.#home }, { requestPolicy: 'network-only' }).toPromise();
  }

  async #ask(operation) {
    const result = await operation.toPromise();
    if (result.error) throw result.error;
    return result;
  }

  #read(query, variables) {
    const result = this.client.readQuery(query, variables, { requestPolicy: 'cache-only' });
    if (!result?.data) throw new Error('the cache does not have it');
    return result.data;
  }

  async close() {
    for (const end of this.#ends) end();
    await this.socket.dispose();
  }
}

function textsOf(posts) {
  return posts.edges.map(textOf);
}
