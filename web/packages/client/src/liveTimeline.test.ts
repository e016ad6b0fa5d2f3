import { ApolloClient, ApolloLink } from "@apollo/client";
import { OperationTypeNode } from "graphql";
import { Observable, type Subscriber } from "rxjs";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { RetwisApolloClient } from "./apolloClient.ts";
import { RetwisCache } from "./cache.ts";
import { timelineDocuments } from "./documents.ts";
import { PostLikesFragmentDoc, PostRepostsFragmentDoc, TimelinePageDocument, TimelineUnreadFragmentDoc, type TimelinePageQuery } from "./generated.ts";
import { LiveTimeline } from "./liveTimeline.ts";
import { OwnPosts } from "./ownPosts.ts";

let client: RetwisApolloClient;
let own: OwnPosts;
let live: LiveTimeline;
let server: Subscriber<ApolloLink.Result>;
let subscribedAfter: unknown[];
let asked: Record<string, unknown>[];
/** What the server's timeline holds, newest first. */
let posts: string;

beforeEach(() => {
  vi.useFakeTimers();
  subscribedAfter = [];
  asked = [];
  posts = "cba";
  client = new ApolloClient({
    cache: new RetwisCache(),
    dataMasking: true,
    link: new ApolloLink(
      (operation) =>
        new Observable<ApolloLink.Result>((subscriber) => {
          if (operation.operationType === OperationTypeNode.SUBSCRIPTION) {
            subscribedAfter.push(operation.variables["after"]);
            server = subscriber;
            return;
          }
          asked.push(operation.variables);
          subscriber.next({ data: page(operation.variables) });
          subscriber.complete();
        }),
    ),
  }) as RetwisApolloClient;
  client.cache.writeQuery({ query: TimelinePageDocument, variables: { id: "t" }, data: page({}) });
  own = new OwnPosts();
  live = new LiveTimeline(client, timelineDocuments(), own, "t");
});
afterEach(() => {
  vi.useRealTimers();
});

/** The edge of a post; with a reposter that of a repost, whose id is the letter twice. */
function edge(letter: string, author = "somebody", reposter?: string) {
  return {
    __typename: "PostEdge" as const,
    cursor: `at ${letter}`,
    entryId: reposter === undefined ? letter : letter + letter,
    reason: reposter === undefined ? null : { __typename: "Repost" as const, user: user(reposter), createdAt: "2026-01-02T00:00:00.000Z" },
    node: {
      __typename: "Post" as const,
      id: letter,
      text: letter,
      createdAt: "2026-01-01T00:00:00.000Z",
      author: user(author),
      entities: [], replyCount: 0, likeCount: 0, viewerHasLiked: false, repostCount: 0, viewerHasReposted: false, inReplyToId: null, inReplyToUser: null, quotedPostId: null, quotedPost: null,
    },
  };
}

function user(id: string) {
  return { __typename: "User" as const, id, username: id, displayName: id };
}

/** A page of the server's timeline, two posts long where a place is named. */
function page({ after, before }: Record<string, unknown>): TimelinePageQuery {
  const place = String(after ?? before ?? "").at(-1) ?? "";
  const at = posts.indexOf(place);
  const letters = after ? posts.slice(at + 1, at + 3) : before ? posts.slice(Math.max(at - 2, 0), at) : posts;
  return {
    node: {
      __typename: "Timeline",
      id: "t",
      posts: {
        __typename: "PostConnection",
        edges: [...letters].map((letter) => edge(letter)),
        liveCursor: `live ${posts[0]}`,
        pageInfo: {
          __typename: "PageInfo",
          hasPreviousPage: posts.indexOf(letters[0] ?? "") > 0,
          hasNextPage: !letters.endsWith("a"),
          startCursor: `at ${letters[0]}`,
          endCursor: `at ${letters.at(-1)}`,
        },
      },
    },
  };
}

function receive(event: object): void {
  server.next({ data: { timelineEvents: event } });
}
const added = (letter: string, author?: string) => ({ __typename: "PostAdded", cursor: `after ${letter}`, edge: edge(letter, author) });
const reposted = (letter: string, reposter: string, author?: string) => ({
  __typename: "PostAdded", cursor: `after repost of ${letter}`, edge: edge(letter, author, reposter),
});
const removed = (entryId: string) => ({ __typename: "PostRemoved", cursor: `after removal of ${entryId}`, entryId });
const changed = (letter: string, likeCount: number) => ({
  __typename: "PostChanged", cursor: `after change of ${letter}`, post: { __typename: "Post", id: letter, likeCount },
});
const caughtUp = { __typename: "TimelineCaughtUp", cursor: "caught up", replayed: 0, marker: null };
const reset = { __typename: "TimelineReset", cursor: "reset", reason: "HISTORY_CHANGED" };

async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(100);
}
function window(): string {
  return entries().join("");
}
function entries(): string[] {
  return live.window.read()?.edges.map(({ entryId }) => entryId) ?? [];
}
function hidden(): string {
  return [...live.getView().hidden].join("");
}
const reader = (cursor?: string) => ({ cursorInView: () => cursor });

describe("posts by others", () => {
  test("stay hidden until they are asked for", async () => {
    live.follow(reader());
    receive(added("d"));
    receive(added("e"));
    await settle();
    expect([window(), hidden()]).toEqual(["edcba", "de"]);
    await live.showNewPosts();
    expect([window(), hidden()]).toEqual(["edcba", ""]);
    expect(asked).toEqual([]);
  });

  test("that are received twice are listed once", async () => {
    live.follow(reader());
    for (const letter of ["d", "c", "d"]) receive(added(letter));
    await settle();
    expect([window(), hidden()]).toEqual(["dcba", "d"]);
  });

  test("disappear when they are deleted, hidden or not", async () => {
    live.follow(reader());
    receive(added("d"));
    receive(added("e"));
    await settle();
    receive(removed("d"));
    receive(removed("b"));
    receive(added("f"));
    receive(removed("f"));
    await settle();
    expect([window(), hidden()]).toEqual(["eca", "e"]);
  });

  test("show a number of likes that changed", async () => {
    live.follow(reader());
    receive(changed("b", 7));
    receive(added("d"));
    await settle();
    receive(changed("d", 1));
    await settle();
    const likes = live.window.read()?.edges.map(({ node }) => client.readFragment({
      from: { __typename: "Post", id: node.id }, fragment: PostLikesFragmentDoc, fragmentName: "PostLikes",
    })?.likeCount);
    expect([window(), hidden(), likes]).toEqual(["dcba", "d", [1, 0, 7, 0]]);
  });

  test("that were deleted do not return with a page that arrives later", async () => {
    live.follow(reader());
    receive(removed("b"));
    await settle();
    client.cache.writeQuery({ query: TimelinePageDocument, variables: { id: "t" }, data: page({}) });
    expect(window()).toBe("ca");
  });
});

describe("posts created in this tab", () => {
  test("are shown at once", async () => {
    own.add("d");
    live.follow(reader());
    receive(added("d", "me"));
    await settle();
    expect([window(), hidden()]).toEqual(["dcba", ""]);
  });

  test("hold back their events, and later ones, while they are being sent", async () => {
    live.follow(reader());
    let answer = () => {};
    const sent = own.send("me", () => new Promise<void>((resolve) => (answer = resolve)));
    receive(added("d"));
    receive(added("e", "me"));
    receive(added("f"));
    await settle();
    expect(window()).toBe("dcba");
    own.add("e");
    answer();
    await sent;
    await settle();
    expect([window(), hidden()]).toEqual(["fedcba", "df"]);
  });

  test("are shown after a retry reveals that they were created", async () => {
    live.follow(reader());
    await own.send("me", async () => {});
    receive(added("d", "me"));
    await settle();
    expect(hidden()).toBe("d");
    await own.send("me", async () => own.add("d"));
    expect([window(), hidden()]).toEqual(["dcba", ""]);
  });

  test("in another tab are hidden like those of others", async () => {
    live.follow(reader());
    receive(added("d", "me"));
    await settle();
    expect(hidden()).toBe("d");
  });
});

describe("reposts", () => {
  test("are entries of their own beside the post", async () => {
    live.follow(reader());
    receive(reposted("b", "fan"));
    receive(reposted("b", "fan"));
    await settle();
    expect([entries(), hidden()]).toEqual([["bb", "c", "b", "a"], "bb"]);
    expect(live.window.read()?.edges[0]?.reason).toMatchObject({ user: user("fan") });
    await live.showNewPosts();
    expect(hidden()).toBe("");
  });

  test("disappear when they are undone, and leave the post", async () => {
    live.follow(reader());
    receive(reposted("b", "fan"));
    await settle();
    receive(removed("bb"));
    await settle();
    expect(entries()).toEqual(["c", "b", "a"]);
    // A page that was read before arrives.
    const before = page({});
    const { posts } = before.node as Extract<typeof before.node, { __typename: "Timeline" }>;
    posts.edges = [edge("b", "somebody", "fan"), ...posts.edges];
    client.cache.writeQuery({ query: TimelinePageDocument, variables: { id: "t" }, data: before });
    expect(entries()).toEqual(["c", "b", "a"]);
  });

  test("disappear with the post, also if both are in one batch", async () => {
    live.follow(reader());
    receive(reposted("b", "fan"));
    await settle();
    receive(removed("b"));
    await settle();
    expect(entries()).toEqual(["c", "a"]);
    receive(added("d"));
    receive(reposted("d", "fan"));
    receive(removed("d"));
    await settle();
    expect([entries(), hidden()]).toEqual([["c", "a"], ""]);
  });

  test("by the user of this tab are shown at once, and wait for no post", async () => {
    live.follow(reader());
    own.noteRepost("b", "me", true);
    receive(reposted("b", "me"));
    await settle();
    expect([entries(), hidden()]).toEqual([["bb", "c", "b", "a"], ""]);
    void own.send("me", () => new Promise(() => {}));
    receive(reposted("c", "fan", "me"));
    await settle();
    expect([entries(), hidden()]).toEqual([["cc", "bb", "c", "b", "a"], "cc"]);
  });

  test("of posts that no page has brought do not say whether the viewer likes or has reposted them", async () => {
    live.follow(reader());
    for (const event of [added("d"), reposted("b", "fan"), reposted("z", "fan")]) {
      const { viewerHasLiked, viewerHasReposted, repostCount, quotedPost, ...node } = event.edge.node;
      receive({ ...event, edge: { ...event.edge, node } });
    }
    await settle();
    const known = ["d", "b", "z"].map((id) => {
      const from = { __typename: "Post" as const, id };
      const likes = client.cache.readFragment({ fragment: PostLikesFragmentDoc, from });
      return [likes?.viewerHasLiked, client.cache.readFragment({ fragment: PostRepostsFragmentDoc, from })?.viewerHasReposted];
    });
    expect(known).toEqual([[false, false], [false, false], [null, null]]);
  });
});

describe("the subscription", () => {
  test("begins after the page, and later after the last event", async () => {
    const stop = live.follow(reader());
    receive(added("d"));
    await settle();
    stop();
    live.follow(reader());
    expect(subscribedAfter).toEqual(["live c", "after d"]);
  });

  test("is opened again when the server ends it", async () => {
    live.follow(reader());
    receive(caughtUp);
    await settle();
    expect(live.getView().current).toBe(true);
    server.error(new Error("ended"));
    expect(live.getView().current).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(subscribedAfter).toEqual(["live c", "caught up"]);
  });

  test("is not opened again without readers", async () => {
    const stop = live.follow(reader());
    server.error(new Error("ended"));
    stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(subscribedAfter).toHaveLength(1);
  });
});

describe("a timeline without a window", () => {
  beforeEach(() => {
    client.cache.evict({ id: "Timeline:t" });
  });

  test("is followed from now on, hides nothing, and reads nothing on a reset", async () => {
    const events: string[][] = [];
    live.onEvents((batch) => events.push(batch.map(({ __typename }) => __typename)));
    live.follow(reader());
    receive(added("d"));
    receive(reset);
    await settle();
    expect(subscribedAfter).toEqual([null]);
    expect(events).toEqual([["PostAdded", "TimelineReset"]]);
    expect([hidden(), asked]).toEqual(["", []]);
  });

  test("is followed after its window once that is read", async () => {
    live.follow(reader());
    receive(added("d"));
    await settle();
    posts = "dcba";
    client.cache.writeQuery({ query: TimelinePageDocument, variables: { id: "t" }, data: page({}) });
    live.follow(reader());
    live.follow(reader());
    expect(subscribedAfter).toEqual([null, "live d"]);
  });
});

describe("the number of unread posts", () => {
  const unread = () => client.cache.readFragment({ fragment: TimelineUnreadFragmentDoc, from: { __typename: "Timeline", id: "t" } })?.unreadCount;
  const know = (unreadCount: number | null) =>
    client.cache.writeFragment({ fragment: TimelineUnreadFragmentDoc, data: { __typename: "Timeline", id: "t", marker: "m", unreadCount } });

  test("grows with posts of others, up to 99", async () => {
    know(97);
    own.add("e");
    live.follow(reader());
    for (const letter of ["d", "c", "e"]) receive(added(letter));
    await settle();
    expect(unread()).toBe(98);
    for (const letter of ["f", "g"]) receive(added(letter));
    await settle();
    expect(unread()).toBe(99);
  });

  test("stays unknown, or null, where there is none", async () => {
    live.follow(reader());
    receive(added("d"));
    await settle();
    expect(unread()).toBeUndefined();
    know(null);
    receive(added("e"));
    await settle();
    expect(unread()).toBeNull();
  });
});

describe("a reset", () => {
  test("reads the timeline again around the reader's place", async () => {
    posts = "hgfedcba";
    live.follow(reader("at b"));
    receive(reset);
    await settle();
    expect(asked).toEqual([
      { id: "t", first: 30, after: "at b" },
      { id: "t", last: 30, before: "at a" },
    ]);
    expect(window()).toBe("cba");
    expect(live.getView().beyond).toBe(true);
    await live.showNewPosts();
    expect([window(), live.getView().beyond]).toEqual(["hgfedcba", false]);
  });

  test("reads the end of the timeline for a reader at the last post", async () => {
    live.follow(reader("at a"));
    posts = "dcba";
    receive(reset);
    await settle();
    expect(asked.at(-1)).toEqual({ id: "t", last: 30 });
    expect([window(), hidden()]).toEqual(["dcba", "d"]);
  });

  test("hides posts that were not shown before", async () => {
    live.follow(reader("at c"));
    posts = "dcba";
    receive(reset);
    await settle();
    expect([window(), hidden()]).toEqual(["dcba", "d"]);
  });
});
