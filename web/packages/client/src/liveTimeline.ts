import type { RetwisApolloClient } from "./apolloClient.ts";
import type { TimelineDocuments } from "./documents.ts";
import { hasCode } from "./errors.ts";
import type { TimelineEventsSubscription } from "./generated.ts";
import type { OwnPosts } from "./ownPosts.ts";
import { markUnknown } from "./postDetails.ts";
import { addUnread } from "./unread.ts";
import { prependEntries, TimelineWindow, type NewEntry } from "./window.ts";

/** An event of a timeline. */
export type TimelineEvent = TimelineEventsSubscription["timelineEvents"];

/** What is shown of a timeline besides its posts. */
export interface LiveView {
  /** The ids of new entries that are not shown yet. */
  readonly hidden: ReadonlySet<string>;
  /** New posts exist beyond the window. Only meaningful while the window does not begin at the head. */
  readonly beyond: boolean;
  /** Every event up to now has been received. */
  readonly current: boolean;
}

/** A reader of the timeline. */
export interface Reader {
  /** Returns the cursor of the first post in view; undefined if the reader sees none. */
  cursorInView(): string | undefined;
}

// All in milliseconds.
const batchDelay = 40; // a replay of many events is one change of the list
const firstPause = 1_000;
const longestPause = 30_000;

/**
 * A timeline and its events. Events change the cache; new posts by others stay hidden until
 * the reader asks for them. It outlives the component that shows it: the next one resumes
 * after the last event.
 */
export class LiveTimeline {
  readonly id: string;
  readonly window: TimelineWindow;
  private readonly client: RetwisApolloClient;
  private readonly documents: TimelineDocuments;
  private readonly own: OwnPosts;
  private view: LiveView = { hidden: new Set(), beyond: false, current: false };
  private readonly listeners = new Set<() => void>();
  private readonly eventListeners = new Set<(events: readonly TimelineEvent[]) => void>();
  private position: string | undefined;
  /** The subscription began without a window, so that `position` says nothing about a window that is read later. */
  private windowless = false;
  private queue: TimelineEvent[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly readers = new Set<Reader>();
  private close: (() => void) | undefined;

  constructor(client: RetwisApolloClient, documents: TimelineDocuments, own: OwnPosts, id: string) {
    this.client = client;
    this.documents = documents;
    this.own = own;
    this.id = id;
    this.window = new TimelineWindow(client, documents, id);
  }

  readonly getView = (): LiveView => this.view;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Calls a listener after each batch of events, until the returned function is called. */
  readonly onEvents = (listener: (events: readonly TimelineEvent[]) => void): (() => void) => {
    this.eventListeners.add(listener);
    return () => this.eventListeners.delete(listener);
  };

  /** Reports whether the timeline has readers. */
  get followed(): boolean {
    return this.readers.size > 0;
  }

  /** Follows the events until the returned function is called: from those after the window on, or from now on without one. */
  follow(reader: Reader): () => void {
    if (this.windowless && this.window.read()) {
      this.close?.();
      this.close = undefined;
      this.position = undefined;
      this.windowless = false;
    }
    this.readers.add(reader);
    this.close ??= this.open();
    return () => {
      this.readers.delete(reader);
      if (this.readers.size > 0) return;
      this.close?.();
      this.close = undefined;
    };
  }

  /** Shows the hidden posts. Reads the head first if the window does not begin there. */
  async showNewPosts(): Promise<void> {
    if (this.window.read()?.pageInfo.hasPreviousPage) await this.window.readHead();
    this.change({ hidden: new Set(), beyond: false });
  }

  /** Marks the view as out of date after the connection was lost. */
  readonly interrupted = (): void => this.change({ current: false });

  private open(): () => void {
    let stopped = false;
    let pause = firstPause;
    let retry: ReturnType<typeof setTimeout> | undefined;
    let subscription: { unsubscribe(): void } | undefined;
    const start = () => {
      this.position ??= this.window.read()?.liveCursor;
      this.windowless ||= this.position === undefined;
      subscription = this.client
        .subscribe({
          query: this.documents.events,
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
    // The link restores lost connections. This handles a server that ends the subscription.
    const again = (error: unknown) => {
      if (stopped) return;
      this.change({ current: false });
      subscription?.unsubscribe();
      clearTimeout(retry);
      if (hasCode(error, "NOT_FOUND")) return; // the list or the account was deleted
      if (hasCode(error, "BAD_USER_INPUT")) this.position = undefined;
      retry = setTimeout(start, pause * (0.5 + Math.random() / 2));
      pause = Math.min(pause * 2, longestPause);
    };
    start();
    const unsubscribeOwn = this.own.onSettled(() => {
      this.flush();
      // A post whose answers were all lost arrived as an event. The retry revealed that it is ours.
      const own = new Set(this.window.read()?.edges.filter((edge) => this.own.has(edge)).map(({ entryId }) => entryId));
      const hidden = new Set([...this.view.hidden].filter((id) => !own.has(id)));
      if (hidden.size < this.view.hidden.size) this.change({ hidden });
    });
    return () => {
      stopped = true;
      clearTimeout(retry);
      subscription?.unsubscribe();
      unsubscribeOwn();
      this.flush();
      this.change({ current: false });
    };
  }

  private receive(event: TimelineEvent): void {
    this.queue.push(event);
    this.timer ??= setTimeout(() => this.flush(), batchDelay);
  }

  /** Applies the queued events in their order, as one change. */
  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const events = this.queue;
    const until = this.own.busy ? events.findIndex((event) => isBy(event, this.own.author)) : -1;
    this.queue = until < 0 ? [] : events.slice(until);
    const ready = until < 0 ? events : events.slice(0, until);
    if (ready.length === 0) return;

    const added: NewEntry[] = [];
    const removed = new Set<string>();
    let reset = false;
    let current = this.view.current;
    for (const event of ready) {
      this.position = event.cursor;
      switch (event.__typename) {
        case "PostAdded":
          added.push(event.edge);
          break;
        case "PostRemoved":
          removed.add(event.entryId);
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
    for (const listener of this.eventListeners) listener(ready);
    if (reset && this.window.read()) void this.readAgain();
  }

  private apply(added: NewEntry[], removed: ReadonlySet<string>, current: boolean): void {
    const window = this.window.read();
    const known = new Set(window?.edges.map((edge) => edge.entryId));
    const hidden = new Set(this.view.hidden);
    let { beyond } = this.view;
    let unread = 0;
    for (const entry of added) {
      const { entryId, node } = entry;
      if (known.has(entryId) || removed.has(entryId) || removed.has(node.id)) continue;
      const own = this.own.has(entry);
      if (window?.pageInfo.hasPreviousPage) beyond = true;
      else if (window && !own) hidden.add(entryId);
      if (!own) unread++;
    }
    for (const { entryId, node } of window?.edges ?? []) {
      if (removed.has(entryId) || removed.has(node.id)) hidden.delete(entryId);
    }
    // Hide the posts before they are in the list: in the other order they would flash.
    this.change({ hidden, beyond, current });
    this.client.cache.batch({
      update: (cache) => {
        for (const { node, reason } of added) if (reason) markUnknown(cache, node.id);
        prependEntries(cache, this.id, added);
        addUnread(cache, this.id, unread);
        for (const id of removed) this.client.cache.removePost(id);
      },
    });
  }

  /** Reads the window again around the reader's place. Posts that were not shown before stay hidden. */
  private async readAgain(): Promise<void> {
    const before = this.window.read();
    const cursors = [...this.readers].map((reader) => reader.cursorInView());
    try {
      await this.window.readAround(cursors.find((cursor) => cursor !== undefined));
    } catch {
      // The server is unreachable. Subscribing from the old position brings the same reset again.
      this.close?.();
      this.position = before?.liveCursor;
      this.close = this.readers.size > 0 ? this.open() : undefined;
      return;
    }
    const after = this.window.read();
    if (before === undefined || after === undefined) return;
    const seen = new Set(before.edges.map((edge) => edge.entryId));
    const hidden = new Set([...this.view.hidden].filter((id) => after.edges.some((edge) => edge.entryId === id)));
    for (const edge of after.edges) {
      if (seen.has(edge.entryId)) break; // posts below it are changed history, not new posts
      if (!this.own.has(edge)) hidden.add(edge.entryId);
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
  return event.__typename === "PostAdded" && event.edge.reason === null && event.edge.node.author.id === userId;
}
