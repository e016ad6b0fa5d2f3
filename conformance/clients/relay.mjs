// An app with Relay, of the artifacts that relay-compiler makes of ../relay, but without React.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import relay from 'relay-runtime';
import { compile } from '../relay/compile.mjs';
import { openSocket } from './socket.mjs';
import { quotedBy, textOf } from './documents.mjs';
import { importExample } from '../docs/examples.mjs';

const { resume } = await importExample('resume.mjs');
const { ConnectionHandler, Environment, Network, Observable, RecordSource, Store, commitMutation, createOperationDescriptor, fetchQuery, getSingularSelector, requestSubscription } = relay;

const build = new URL('../build/relay/', import.meta.url);
compile(readFileSync(new URL('../../schema.graphqls', import.meta.url), 'utf8'), build.pathname);
const require = createRequire(build);
const artifact = (name) => require(`./__generated__/${name}.graphql.js`);
const profile = artifact('feedProfileQuery');
const home = artifact('feedHomeQuery');
const timeline = artifact('feed_timeline');
const post = artifact('feed_post');
const talk = artifact('feedThreadQuery');
const replies = artifact('feed_replies');
const moreReplies = artifact('feedRepliesPageQuery');
const nextPage = artifact('feedPageQuery');
const login = artifact('peopleLoginMutation');
const follow = artifact('peopleFollowMutation');
const create = artifact('feedPostMutation');
const like = artifact('feedLikeMutation');
const repost = artifact('feedRepostMutation');
const mark = artifact('feedMarkMutation');
const unread = artifact('feedUnreadQuery');
const marked = artifact('feed_unread');
const watch = artifact('feedEventsSubscription');

export class RelayApp {
  #token = '';
  #ends = [];

  constructor(server, pageSize) {
    this.pageSize = pageSize;
    this.socket = openSocket(server, () => this.#token);
    this.environment = new Environment({
      network: Network.create(
        async ({ text, name }, variables) => {
          const response = await fetch(server.url, {
            method: 'POST',
            headers: { 'content-type': 'application/json', ...(this.#token && { authorization: `Bearer ${this.#token}` }) },
            body: JSON.stringify({ query: text, operationName: name, variables }),
          });
          return response.json();
        },
        ({ text, name }, variables) => Observable.create((sink) => resume(this.socket, { query: text, operationName: name, variables }, sink)),
      ),
      store: new Store(new RecordSource()),
    });
  }

  async login(username, password) {
    const { login: session } = await this.#mutate(login, { input: { username, password } });
    this.#token = session.token;
    this.viewer = { id: session.user.id, username };
  }

  readProfile(username) {
    return this.#readOn(profile, { username, count: this.pageSize }, (data) => data.user.timeline);
  }

  readHome() {
    return this.#readOn(home, { count: this.pageSize }, (data) => data.viewer.homeTimeline);
  }

  async readThread(postId) {
    await this.#fetch(talk, { postId, count: this.pageSize });
    for (;;) {
      const { pageInfo } = this.#replies(postId).replies;
      if (!pageInfo.hasNextPage) return this.thread(postId);
      await this.#fetch(moreReplies, { id: postId, count: this.pageSize, cursor: pageInfo.endCursor, order: 'OLDEST' });
    }
  }

  /** What the app shows of a thread now. */
  thread(postId) {
    const { ancestors } = this.#read(talk, { postId, count: this.pageSize }).thread;
    const { likeCount, viewerHasLiked, viewerHasReposted, replyCount, replies, quotedPost } = this.#replies(postId);
    return { likes: [likeCount, viewerHasLiked], reposted: viewerHasReposted, quoted: quotedBy({ quotedPost }), replyCount, above: ancestors.map(({ post: above }) => above && this.#lookup(post, above).text), replies: this.#textsOf(replies) };
  }

  /** Likes the post of a thread. The like is shown at once, and disappears again if it is refused. */
  async like(postId) {
    const post = { id: postId, likeCount: this.#replies(postId).likeCount + 1, viewerHasLiked: true };
    const { likePost } = await this.#mutate(like, { input: { postId } }, { optimisticResponse: { likePost: { post, userErrors: [] } } });
    return likePost.userErrors.map(({ code }) => code);
  }

  /** Reposts the post of a thread. That is shown at once, and undone if it is refused. */
  async repost(postId) {
    const post = { id: postId, viewerHasReposted: true };
    const { repostPost } = await this.#mutate(repost, { input: { postId } }, { optimisticResponse: { repostPost: { post, userErrors: [] } } });
    return repostPost.userErrors.map(({ code }) => code);
  }

  /** Answers a post. The reply is shown at once, and disappears again if it is refused. */
  async reply(postId, text) {
    const node = { id: `pending:${text}`, text, createdAt: new Date().toISOString(), author: this.viewer, mentions: [] };
    const count = (store, { createPost }) => {
      if (!createPost.edge) return;
      const answered = store.get(postId);
      answered.setValue(answered.getValue('replyCount') + 1, 'replyCount');
    };
    const optimisticResponse = { createPost: { edge: { cursor: '', entryId: node.id, reason: null, node }, userErrors: [] } };
    const { createPost } = await this.#mutate(
      create,
      { input: { text, inReplyToId: postId, idempotencyKey: crypto.randomUUID() }, connections: [this.#replies(postId).replies.__id] },
      { optimisticResponse, optimisticUpdater: (store) => count(store, optimisticResponse), updater: count },
    );
    return createPost.userErrors.map(({ code }) => code);
  }

  #replies(postId) {
    return this.#lookup(replies, this.#read(talk, { postId, count: this.pageSize }).thread.post);
  }

  async #fetch(query, variables) {
    this.environment.retain(createOperationDescriptor(query, variables));
    await fetchQuery(this.environment, query, variables).toPromise();
  }

  async #readOn(query, variables, timelineOf) {
    await this.#fetch(query, variables);
    for (;;) {
      const { id, posts } = this.#lookup(timeline, timelineOf(this.#read(query, variables)));
      if (!posts.pageInfo.hasNextPage) return this.#textsOf(posts);
      const more = { id, count: this.pageSize, cursor: posts.pageInfo.endCursor };
      await this.#fetch(nextPage, more);
    }
  }

  async follow(username) {
    const variables = { username, count: this.pageSize };
    await this.#mutate(follow, { input: { userId: this.#read(profile, variables).user.id } });
    return this.#read(profile, variables).user;
  }

  async post(text) {
    await this.#mutate(create, { input: { text, idempotencyKey: crypto.randomUUID() }, connections: [this.#home().posts.__id] });
  }

  /** Watches the home timeline from where it was read, and keeps it current. */
  watch(told) {
    const { id, posts } = this.#home();
    const { dispose } = requestSubscription(this.environment, {
      subscription: watch,
      variables: { timelineId: id, after: posts.liveCursor },
      updater: (store) => applyEvent(store, posts.__id),
      onNext: ({ timelineEvents: event }) => {
        if (event.__typename === 'TimelineCaughtUp') this.#compareMarker(event.marker);
        told(event);
      },
      onError: (error) => told({ error }),
    });
    this.#ends.push(dispose);
  }

  /** What the app shows of the home timeline now. */
  home() {
    return this.#textsOf(this.#home().posts);
  }

  /** Marks the home timeline as read up to a cursor. */
  async mark(cursor) {
    await this.#mutate(mark, { input: { timelineId: this.#home().id, cursor } });
  }

  /** What the app shows as the number of unread posts of the home timeline. */
  unread() {
    return this.#unread().unreadCount;
  }

  /** Reads the number again if the marker has moved while the app was away. */
  #compareMarker(marker) {
    if (marker !== this.#unread().marker) void fetchQuery(this.environment, unread, { id: this.#home().id }).toPromise();
  }

  #unread() {
    return this.#lookup(marked, this.#read(home, { count: this.pageSize }).viewer.homeTimeline);
  }

  #home() {
    return this.#lookup(timeline, this.#read(home, { count: this.pageSize }).viewer.homeTimeline);
  }

  #textsOf(posts) {
    return posts.edges.map(({ node, reason }) => textOf({ node: this.#lookup(post, node), reason }));
  }

  #read(query, variables) {
    const { data, isMissingData } = this.environment.lookup(createOperationDescriptor(query, variables).fragment);
    if (isMissingData) throw new Error('the store does not have it');
    return data;
  }

  #lookup(fragment, reference) {
    const { data, isMissingData } = this.environment.lookup(getSingularSelector(fragment, reference));
    if (isMissingData) throw new Error('the store does not have it');
    return data;
  }

  #mutate(mutation, variables, config = {}) {
    return new Promise((resolve, reject) => {
      commitMutation(this.environment, {
        mutation,
        variables,
        ...config,
        onCompleted: (data, errors) => (errors?.length ? reject(new Error(JSON.stringify(errors))) : resolve(data)),
        onError: reject,
      });
    });
  }

  async close() {
    for (const end of this.#ends) end();
    await this.socket.dispose();
  }
}

/** applyEvent changes a connection as an event says. The directives of Relay would keep one edge of each post. */
function applyEvent(store, connectionId) {
  const connection = store.get(connectionId);
  const event = store.getRootField('timelineEvents');
  const entries = connection.getLinkedRecords('edges');
  switch (event.getType()) {
    case 'PostAdded': {
      const edge = event.getLinkedRecord('edge');
      if (entries.some((entry) => entry.getValue('entryId') === edge.getValue('entryId'))) return;
      ConnectionHandler.insertEdgeBefore(connection, ConnectionHandler.buildConnectionEdge(store, connection, edge));
      return;
    }
    case 'PostRemoved': {
      const isKept = (entry) => entry.getValue('entryId') !== event.getValue('entryId') && entry.getLinkedRecord('node').getDataID() !== event.getValue('postId');
      connection.setLinkedRecords(entries.filter(isKept), 'edges');
    }
  }
}
