import { describe, expect, test } from "vitest";
import { mergePages, type StoredConnection } from "./pagination.ts";

/** A connection of posts that are named by letters, newest first. */
function page(letters: string, more: { newer?: boolean; older?: boolean } = {}): StoredConnection {
  return {
    edges: [...letters].map((letter) => ({ cursor: `at ${letter}`, node: { __ref: `Post:${letter}` } })),
    pageInfo: {
      hasPreviousPage: more.newer ?? false,
      hasNextPage: more.older ?? false,
      startCursor: letters === "" ? null : `at ${letters[0]}`,
      endCursor: letters === "" ? null : `at ${letters.at(-1)}`,
    },
  };
}

describe("mergePages", () => {
  test("takes the first page as the list", () => {
    expect(mergePages(undefined, page("cba"), null)).toEqual(page("cba"));
  });

  test("appends a page after the end", () => {
    const list = mergePages(page("fed", { older: true }), page("cba"), { after: "at d" });
    expect(list).toEqual(page("fedcba"));
  });

  test("prepends a page before the start", () => {
    const list = mergePages(page("cba", { newer: true }), page("fed", { newer: true }), { before: "at c" });
    expect(list).toEqual(page("fedcba", { newer: true }));
  });

  test("takes from an empty page that there is no more", () => {
    expect(mergePages(page("cba", { older: true }), page(""), { after: "at a" })).toEqual(page("cba"));
  });

  test("lists nothing twice", () => {
    expect(mergePages(page("fed", { older: true }), page("dcb"), { after: "at d" }).edges).toEqual(page("fedcb").edges);
  });

  test("lists a node for each of its entries", () => {
    const reposted = { cursor: "at r", node: { __ref: "Post:d" }, entryId: "r" };
    const list = { ...page("fed", { older: true }), edges: page("fed").edges.map((edge, i) => ({ ...edge, entryId: String(i) })) };
    const older = { ...page("cb"), edges: [reposted, { ...reposted, entryId: "2" }] };
    expect(mergePages(list, older, { after: "at d" }).edges).toEqual([...list.edges, reposted]);
  });

  test("drops a page of a list that was replaced meanwhile", () => {
    expect(mergePages(page("zyx"), page("cba"), { after: "at d" })).toEqual(page("zyx"));
  });

  test("replaces the list by a page without a cursor", () => {
    expect(mergePages(page("cba"), page("fed", { older: true }), { first: 3 })).toEqual(page("fed", { older: true }));
  });
});
