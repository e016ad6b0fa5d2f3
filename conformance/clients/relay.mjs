// An app with Relay, of the artifacts that relay-compiler makes of ../relay, but without React.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import relay from 'relay-runtime';
import { compile } from '../relay/compile.mjs';
import { openSocket } from './socket.mjs';
import { importExample } from '../docs/examples.mjs';

const { resume } = await importExample('resume.mjs');
const { Environment, Network, Observable, RecordSource, Store, commitMutation, createOperationDescriptor, fetchQuery, getSingularSelector, requestSubscription } = relay;

const build = new URL('../build/relay/', import.meta.url);
compile(readFileSync(new URL('../../schema.graphqls', import.meta.url), 'utf8'), build.pathname);
const require = createRequire(build);
const artifact = (name) => require(`./__generated__/${name}.graphql.js`);
const profile = artifact('feedProfileQuery');
const home = artifact('feedHomeQuery');
const timeline = artifact('feed_timeline');
const post = artifact('feed_post');
const nextPage = artifact('feedPageQuery');
const login = artifact('peopleLoginMutation');
const follow = artifact('peopleFollowMutation');
const create = artifact('feedPostMutation');
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
  }

  readProfile(username) {
    return this.#readOn(profile, { username, count: this.pageSize }, (data) => data.user.timeline);
  }

  readHome() {
    return this.#readOn(home, { count: this.pageSize }, (data) => data.viewer.homeTimeline);
  }

  async #readOn(query, variables, timelineOf) {
    const operation = createOperationDescriptor(query, variables);
    this.environment.retain(operation);
    await fetchQuery(this.environment, query, variables).toPromise();
    for (;;) {
      const { id, posts } = this.#lookup(timeline, timelineOf(this.#read(query, variables)));
      if (!posts.pageInfo.hasNextPage) return this.#textsOf(posts);
      const more = { id, count: this.pageSize, cursor: posts.pageInfo.endCursor };
      this.environment.retain(createOperationDescriptor(nextPage, more));
      await fetchQuery(this.environment, nextPage, more).toPromise();
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
      variables: { timelineId: id, after: posts.liveCursor, connections: [posts.__id] },
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
    return posts.edges.map(({ node }) => this.#lookup(post, node).text);
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

  #mutate(mutation, variables) {
    return new Promise((resolve, reject) => {
      commitMutation(this.environment, {
        mutation,
        variables,
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
