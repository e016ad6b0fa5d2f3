// An app with Apollo Client and two modules of the client package of the web app.
import { ApolloClient, ApolloLink, HttpLink, InMemoryCache, gql } from '@apollo/client';
import { SetContextLink } from '@apollo/client/link/context';
import { OperationTypeNode } from 'graphql';
import { filter, firstValueFrom } from 'rxjs';
import { parsed, quotedBy, textOf } from './documents.mjs';
import { openSocket } from './socket.mjs';
import { importWeb } from './web.mjs';

const { ResumingLink } = await importWeb('resumingLink.ts');
const { mergePages } = await importWeb('pagination.ts');

const pages = { keyArgs: false, merge: (existing, incoming, { args }) => mergePages(existing, incoming, args) };

const { create, follow, home, like, login, mark, profile, repost, thread, unread, watch } = parsed(gql);

export class ApolloApp {
  #token = '';

  constructor(server, pageSize) {
    this.variables = { first: pageSize };
    this.socket = openSocket(server, () => this.#token);
    this.client = new ApolloClient({
      cache: new InMemoryCache({
        possibleTypes: {
          Node: ['User', 'Post', 'Timeline', 'List', 'Session', 'Viewer'],
          TimelineEvent: ['PostAdded', 'PostRemoved', 'TimelineMarkerMoved', 'TimelineCaughtUp', 'TimelineAdvanced', 'TimelineReset'],
        },
        typePolicies: {
          Timeline: { fields: { posts: pages } },
          Thread: { keyFields: ['postId'], fields: { replies: pages } },
        },
      }),
      link: ApolloLink.split(
        ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
        new ResumingLink(this.socket),
        ApolloLink.from([
          new SetContextLink(() => ({ headers: this.#token ? { authorization: `Bearer ${this.#token}` } : {} })),
          new HttpLink({ uri: server.url }),
        ]),
      ),
    });
  }

  async login(username, password) {
    const { data } = await this.client.mutate({ mutation: login, variables: { input: { username, password } } });
    this.#token = data.login.token;
    this.viewer = { __typename: 'User', id: data.login.user.id, username };
  }

  readProfile(username) {
    return this.#readOn(profile, { username, ...this.variables }, (data) => data.user.timeline.posts);
  }

  readHome() {
    return this.#readOn(home, this.variables, (data) => data.viewer.homeTimeline.posts);
  }

  async readThread(postId) {
    await this.#readOn(thread, { postId, ...this.variables }, (data) => data.thread.replies);
    return this.thread(postId);
  }

  /** What the app shows of a thread now. */
  thread(postId) {
    const options = { query: thread, variables: { postId, ...this.variables } };
    const { post, replyCount, ancestors, replies } = this.client.readQuery(options, true).thread;
    return { likes: [post.likeCount, post.viewerHasLiked], reposted: post.viewerHasReposted, quoted: quotedBy(post), replyCount, above: ancestors.map(({ post }) => post?.text ?? null), replies: textsOf(replies) };
  }

  /** Likes the post of a thread. The like is shown at once, and disappears again if it is refused. */
  async like(postId) {
    const [likes] = this.thread(postId).likes;
    const post = { __typename: 'Post', id: postId, likeCount: likes + 1, viewerHasLiked: true };
    const { data } = await this.client.mutate({
      mutation: like,
      variables: { input: { postId } },
      optimisticResponse: { likePost: { __typename: 'LikePayload', post, userErrors: [] } },
    });
    return data.likePost.userErrors.map(({ code }) => code);
  }

  /** Reposts the post of a thread. That is shown at once, and undone if it is refused. */
  async repost(postId) {
    const post = { __typename: 'Post', id: postId, viewerHasReposted: true };
    const { data } = await this.client.mutate({
      mutation: repost,
      variables: { input: { postId } },
      optimisticResponse: { repostPost: { __typename: 'RepostPayload', post, userErrors: [] } },
    });
    return data.repostPost.userErrors.map(({ code }) => code);
  }

  /** Answers a post. The reply is shown at once, and disappears again if it is refused. */
  async reply(postId, text) {
    const node = { __typename: 'Post', id: `pending:${text}`, text, author: this.viewer };
    const { data } = await this.client.mutate({
      mutation: create,
      variables: { input: { text, inReplyToId: postId, idempotencyKey: crypto.randomUUID() } },
      optimisticResponse: {
        createPost: { __typename: 'CreatePostPayload', edge: { __typename: 'PostEdge', cursor: '', entryId: node.id, reason: null, node }, userErrors: [] },
      },
      update: (cache, { data: { createPost } }) => {
        if (!createPost.edge) return;
        cache.updateQuery({ query: thread, variables: { postId, ...this.variables } }, (data) => {
          const { replyCount, replies } = data.thread;
          return { thread: { ...data.thread, replyCount: replyCount + 1, replies: { ...replies, edges: [createPost.edge, ...replies.edges] } } };
        });
      },
    });
    return data.createPost.userErrors.map(({ code }) => code);
  }

  async #readOn(query, variables, postsOf) {
    const observable = this.client.watchQuery({ query, variables });
    const shown = observable.subscribe(() => {});
    try {
      let posts = postsOf((await firstValueFrom(observable.pipe(filter(({ loading }) => !loading)))).data);
      while (posts.pageInfo.hasNextPage) {
        await observable.fetchMore({ variables: { after: posts.pageInfo.endCursor } });
        posts = postsOf(this.client.readQuery({ query, variables }));
      }
      return textsOf(posts);
    } finally {
      shown.unsubscribe();
    }
  }

  async follow(username) {
    const variables = { username, ...this.variables };
    const { user } = this.client.readQuery({ query: profile, variables });
    await this.client.mutate({ mutation: follow, variables: { input: { userId: user.id } } });
    return this.client.readQuery({ query: profile, variables }).user;
  }

  async post(text) {
    const { data } = await this.client.mutate({ mutation: create, variables: { input: { text, idempotencyKey: crypto.randomUUID() } } });
    this.#prepend(data.createPost.edge);
  }

  /** Watches the home timeline from where it was read, and keeps it current. */
  watch(told) {
    const { id, posts } = this.#home();
    this.client.subscribe({ query: watch, variables: { timelineId: id, after: posts.liveCursor } }).subscribe({
      next: ({ data, error }) => {
        if (error) return told({ error });
        const event = data.timelineEvents;
        if (event.__typename === 'PostAdded') this.#prepend(event.edge);
        if (event.__typename === 'TimelineCaughtUp') this.#compareMarker(event.marker);
        if (event.__typename === 'PostRemoved') this.#change((edges) => edges.filter(({ entryId, node }) => entryId !== event.entryId && node.id !== event.postId));
        told(event);
      },
      error: (error) => told({ error }),
    });
  }

  /** Marks the home timeline as read up to a cursor. */
  async mark(cursor) {
    await this.client.mutate({ mutation: mark, variables: { input: { timelineId: this.#home().id, cursor } } });
  }

  /** What the app shows as the number of unread posts of the home timeline. */
  unread() {
    return this.#home().unreadCount;
  }

  /** Reads the number again if the marker has moved while the app was away. */
  #compareMarker(marker) {
    const { id, marker: known } = this.#home();
    if (marker !== known) void this.client.query({ query: unread, variables: { timelineId: id }, fetchPolicy: 'network-only' });
  }

  #home() {
    return this.client.readQuery({ query: home, variables: this.variables }).viewer.homeTimeline;
  }

  #prepend(edge) {
    this.#change((edges) => (edges.some(({ entryId }) => entryId === edge.entryId) ? edges : [edge, ...edges]));
  }

  #change(change) {
    this.client.cache.updateQuery({ query: home, variables: this.variables }, (data) => {
      const { posts } = data.viewer.homeTimeline;
      return { viewer: { ...data.viewer, homeTimeline: { ...data.viewer.homeTimeline, posts: { ...posts, edges: change(posts.edges) } } } };
    });
  }

  /** What the app shows of the home timeline now. */
  home() {
    return textsOf(this.#home().posts);
  }

  async close() {
    await this.socket.dispose();
    this.client.stop();
  }
}

function textsOf(posts) {
  return posts.edges.map(textOf);
}
