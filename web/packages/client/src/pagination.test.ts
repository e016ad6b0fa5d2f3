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

describe("pages make one list", () => {
  test("the first page is the list", () => {
    expect(mergePages(undefined, page("cba"), null)).toEqual(page("cba"));
  });

  test("a page after the end is added there", () => {
    const list = mergePages(page("fed", { older: true }), page("cba"), { after: "at d" });
    expect(list).toEqual(page("fedcba"));
  });

  test("a page before the start is added there", () => {
    const list = mergePages(page("cba", { newer: true }), page("fed", { newer: true }), { before: "at c" });
    expect(list).toEqual(page("fedcba", { newer: true }));
  });

  test("an empty page only says that there is no more", () => {
    expect(mergePages(page("cba", { older: true }), page(""), { after: "at a" })).toEqual(page("cba"));
  });

  test("nothing is there twice", () => {
    expect(mergePages(page("fed", { older: true }), page("dcb"), { after: "at d" }).edges).toEqual(page("fedcb").edges);
  });

  test("a page for a list that has been replaced meanwhile is dropped", () => {
    expect(mergePages(page("zyx"), page("cba"), { after: "at d" })).toEqual(page("zyx"));
  });

  test("a page without a place replaces the list", () => {
    expect(mergePages(page("cba"), page("fed", { older: true }), { first: 3 })).toEqual(page("fed", { older: true }));
  });
});
