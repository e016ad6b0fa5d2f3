import { ApolloClient, ApolloLink } from "@apollo/client";
import { OperationTypeNode } from "graphql";
import { Observable, type Subscriber } from "rxjs";
import { afterEach, beforeEach, vi } from "vitest";
import type { RetwisApolloClient } from "../apolloClient.ts";
import { RetwisCache } from "../cache.ts";
import { timelineDocuments } from "../documents.ts";
import { TimelinePageDocument, type TimelinePageQuery } from "../generated.ts";
import { LiveTimeline } from "../liveTimeline.ts";
import { OwnPosts } from "../ownPosts.ts";

export let client: RetwisApolloClient;
export let own: OwnPosts;
export let live: LiveTimeline;
export let server: Subscriber<ApolloLink.Result>;
export let subscribedAfter: unknown[];
export let asked: Record<string, unknown>[];
/** What the server's timeline holds, newest first. */
let posts: string;

/** Before each test it starts a timeline "t", which knows the posts c, b and a, against a server that the test plays. */
export function startTimelineForTests(): void {
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
}

/** Replaces what the server's timeline holds. */
export function serverHolds(letters: string): void {
  posts = letters;
}

/** The edge of a post; with a reposter that of a repost, whose id is the letter twice. */
export function edge(letter: string, author = "somebody", reposter?: string) {
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

export function user(id: string) {
  return { __typename: "User" as const, id, username: id, displayName: id };
}

/** A page of the server's timeline, two posts long where a place is named. */
export function page({ after, before }: Record<string, unknown>): TimelinePageQuery {
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

/** Sends an event. */
export function receive(event: object): void {
  server.next({ data: { timelineEvents: event } });
}
export const added = (letter: string, author?: string) => ({ __typename: "PostAdded", cursor: `after ${letter}`, edge: edge(letter, author) });
export const reposted = (letter: string, reposter: string, author?: string) => ({
  __typename: "PostAdded", cursor: `after repost of ${letter}`, edge: edge(letter, author, reposter),
});
export const removed = (entryId: string) => ({ __typename: "PostRemoved", cursor: `after removal of ${entryId}`, entryId });
export const changed = (letter: string, likeCount: number) => ({
  __typename: "PostChanged", cursor: `after change of ${letter}`, post: { __typename: "Post", id: letter, likeCount },
});
export const caughtUp = { __typename: "TimelineCaughtUp", cursor: "caught up", replayed: 0, marker: null };
export const reset = { __typename: "TimelineReset", cursor: "reset", reason: "HISTORY_CHANGED" };

/** Waits until the events that were sent are applied. */
export async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(100);
}
/** The ids of the entries in the window. */
export function entries(): string[] {
  return live.window.read()?.edges.map(({ entryId }) => entryId) ?? [];
}
/** The ids of the entries that are not shown yet. */
export function hidden(): string {
  return [...live.getView().hidden].join("");
}
export const reader = (cursor?: string) => ({ cursorInView: () => cursor });
