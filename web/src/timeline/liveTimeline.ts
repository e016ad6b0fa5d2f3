import type { AppClient } from "../api/client.ts";
import { hasCode } from "../api/errors.ts";
import { TimelineEventsDocument, type TimelineEventsSubscription } from "../api/generated.ts";
import type { OwnPosts } from "./ownPosts.ts";
import { prependPosts, readAround, readHead, readWindow, type NewEdge } from "./window.ts";

type TimelineEvent = TimelineEventsSubscription["timelineEvents"];

/** What a feed shows of a timeline besides its posts. */
export interface LiveView {
  /** Posts that have arrived and wait to be shown. */
  readonly hidden: ReadonlySet<string>;
  /** Posts have arrived that are not even in the window. Means nothing once the window is at the head. */
  readonly beyond: boolean;
  /** Everything up to now has been told. */
  readonly current: boolean;
}

/** Where the reader is, as a feed knows it. */
export interface Reader {
  /** The cursor of the first post in view, if there is any. */
  cursorInView(): string | undefined;
}

const gather = 40; // ms: a replay of many events is one change of the list
const firstPause = 1_000;
const longestPause = 30_000;

/**
 * A timeline as one follows it live: its events go into the cache, and posts by others
 * wait behind the pill. It outlives the feed that shows it. Whoever comes back resumes
 * where the events broke off.
 */
export class LiveTimeline {
  readonly id: string;
  private readonly client: AppClient;
  private readonly own: OwnPosts;
  private view: LiveView = { hidden: new Set(), beyond: false, current: false };
  private readonly listeners = new Set<() => void>();
  private position: string | undefined;
  private queue: TimelineEvent[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly readers = new Set<Reader>();
  private close: (() => void) | undefined;

  constructor(client: AppClient, own: OwnPosts, id: string) {
    this.client = client;
    this.own = own;
    this.id = id;
  }

  readonly getView = (): LiveView => this.view;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Whether somebody follows it now. */
  get followed(): boolean {
    return this.readers.size > 0;
  }

  /** Follows the timeline until the returned function is called. The window has to be in the cache. */
  follow(reader: Reader): () => void {
    this.readers.add(reader);
    this.close ??= this.open();
    return () => {
      this.readers.delete(reader);
      if (this.readers.size > 0) return;
      this.close?.();
      this.close = undefined;
    };
  }

  /** Shows the posts that wait. */
  async reveal(): Promise<void> {
    if (readWindow(this.client, this.id)?.pageInfo.hasPreviousPage) await readHead(this.client, this.id);
    this.change({ hidden: new Set(), beyond: false });
  }

  /** The connection was lost: what is shown may be out of date. */
  readonly interrupted = (): void => this.change({ current: false });

  private open(): () => void {
    let stopped = false;
    let pause = firstPause;
    let retry: ReturnType<typeof setTimeout> | undefined;
    let subscription: { unsubscribe(): void } | undefined;
    const start = () => {
      this.position ??= readWindow(this.client, this.id)?.liveCursor;
      subscription = this.client
        .subscribe({
          query: TimelineEventsDocument,
          variables: { timelineId: this.id, after: this.position ?? null },
          errorPolicy: "none",
        })
        .subscribe({
          next: ({ data, error }) => {
            if (error) return again(error);
            pause = firstPause;
            if (data) this.receive(data.timelineEvents);
          },
          error: again,
          complete: () => again(undefined),
        });
    };
    // The link restores lost connections. This is for a server that ends the subscription.
    const again = (error: unknown) => {
      if (stopped) return;
      this.change({ current: false });
      subscription?.unsubscribe();
      clearTimeout(retry);
      if (hasCode(error, "NOT_FOUND")) return; // it was deleted, with its list or its owner
      if (hasCode(error, "BAD_USER_INPUT")) this.position = undefined;
      retry = setTimeout(start, pause * (0.5 + Math.random() / 2));
      pause = Math.min(pause * 2, longestPause);
    };
    start();
    const unwatch = this.own.onSettled(() => {
      this.flush();
      // A post whose answers were all lost came as an event; sent again, it turned out to be ours.
      const hidden = new Set([...this.view.hidden].filter((id) => !this.own.has(id)));
      if (hidden.size < this.view.hidden.size) this.change({ hidden });
    });
    return () => {
      stopped = true;
      clearTimeout(retry);
      subscription?.unsubscribe();
      unwatch();
      this.flush();
      this.change({ current: false });
    };
  }

  private receive(event: TimelineEvent): void {
    this.queue.push(event);
    this.timer ??= setTimeout(() => this.flush(), gather);
  }

  /** Applies the events that have gathered, in their order, as one change. */
  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const events = this.queue;
    const until = this.own.busy ? events.findIndex((event) => isBy(event, this.own.author)) : -1;
    this.queue = until < 0 ? [] : events.slice(until);
    const ready = until < 0 ? events : events.slice(0, until);
    if (ready.length === 0) return;

    const added: NewEdge[] = [];
    const removed: string[] = [];
    let reset = false;
    let current = this.view.current;
    for (const event of ready) {
      this.position = event.cursor;
      switch (event.__typename) {
        case "PostAdded":
          added.push({ cursor: event.edge.cursor, postId: event.edge.node.id });
          break;
        case "PostRemoved":
          removed.push(event.postId);
          break;
        case "TimelineCaughtUp":
          current = true;
          break;
        case "TimelineReset":
          reset = true;
          break;
      }
    }
    this.apply(added, removed, current);
    if (reset) void this.refetch();
  }

  private apply(added: NewEdge[], removed: string[], current: boolean): void {
    const window = readWindow(this.client, this.id);
    const known = new Set(window?.edges.map((edge) => edge.node.id));
    const hidden = new Set(this.view.hidden);
    let { beyond } = this.view;
    for (const { postId } of added) {
      if (known.has(postId) || removed.includes(postId)) continue;
      if (window?.pageInfo.hasPreviousPage) beyond = true;
      else if (!this.own.has(postId)) hidden.add(postId);
    }
    for (const postId of removed) hidden.delete(postId);
    // First what is hidden, then the posts: in the other order they would show for a moment.
    this.change({ hidden, beyond, current });
    this.client.cache.batch({
      update: (cache) => {
        prependPosts(cache, this.id, added);
        for (const postId of removed) this.client.cache.bury(postId);
      },
    });
  }

  /** Reads the window again where the reader is. What was not seen before waits, as ever. */
  private async refetch(): Promise<void> {
    const before = readWindow(this.client, this.id);
    const [reader] = this.readers;
    try {
      await readAround(this.client, this.id, reader?.cursorInView());
    } catch {
      // Out of reach: subscribing from the old position again asks for the same reset.
      this.close?.();
      this.position = before?.liveCursor;
      this.close = this.readers.size > 0 ? this.open() : undefined;
      return;
    }
    const after = readWindow(this.client, this.id);
    if (before === undefined || after === undefined) return;
    const seen = new Set(before.edges.map((edge) => edge.node.id));
    const hidden = new Set([...this.view.hidden].filter((id) => after.edges.some((edge) => edge.node.id === id)));
    for (const { node } of after.edges) {
      if (seen.has(node.id)) break; // from here on it is history that changed, not news
      if (!this.own.has(node.id)) hidden.add(node.id);
    }
    if (hidden.size === after.edges.length) hidden.clear();
    this.change({ hidden, beyond: this.view.beyond || after.pageInfo.hasPreviousPage });
  }

  private change(part: Partial<LiveView>): void {
    this.view = { ...this.view, ...part };
    for (const listener of this.listeners) listener();
  }
}

function isBy(event: TimelineEvent, userId: string | undefined): boolean {
  return event.__typename === "PostAdded" && event.edge.node.author.id === userId;
}
