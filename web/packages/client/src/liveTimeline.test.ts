import { beforeEach, describe, expect, test, vi } from "vitest";
import { PostLikesFragmentDoc, TimelinePageDocument, TimelineUnreadFragmentDoc } from "./generated.ts";
import { added, asked, caughtUp, changed, client, entries, hidden, live, own, page, receive, removed, reader, reset, server, serverHolds, settle, startTimelineForTests, subscribedAfter } from "./testing/timeline.ts";

startTimelineForTests();

/** The ids of the entries in the window, one letter each. */
function window(): string {
  return entries().join("");
}

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
    serverHolds("dcba");
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
    serverHolds("hgfedcba");
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
    serverHolds("dcba");
    receive(reset);
    await settle();
    expect(asked.at(-1)).toEqual({ id: "t", last: 30 });
    expect([window(), hidden()]).toEqual(["dcba", "d"]);
  });

  test("hides posts that were not shown before", async () => {
    live.follow(reader("at c"));
    serverHolds("dcba");
    receive(reset);
    await settle();
    expect([window(), hidden()]).toEqual(["dcba", "d"]);
  });
});
