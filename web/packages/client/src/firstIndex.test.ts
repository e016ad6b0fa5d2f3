import { describe, expect, test } from "vitest";
import { renumber } from "./firstIndex.ts";

const before = { ids: ["d", "c", "b", "a"], first: 100 };

describe("the post in view keeps its number", () => {
  const cases: [name: string, ids: string[], anchor: string | undefined, first: number][] = [
    ["when nothing changes", ["d", "c", "b", "a"], "c", 100],
    ["when posts come above it", ["f", "e", "d", "c", "b", "a"], "d", 98],
    ["when posts come below it", ["d", "c", "b", "a", "z"], "b", 100],
    ["when a post above it goes", ["d", "b", "a"], "b", 101],
    ["when a post below it goes", ["d", "c", "b"], "c", 100],
    ["when it goes itself, by the next one", ["d", "b", "a"], "c", 101],
    ["when one comes and one goes above it", ["e", "d", "b", "a"], "a", 100],
  ];
  test.each(cases)("%s", (_, ids, anchor, first) => {
    expect(renumber(before, ids, anchor)).toEqual({ ids, first });
  });

  test("new posts at the head move the others for a reader there", () => {
    expect(renumber(before, ["e", "d", "c", "b", "a"], undefined).first).toBe(100);
  });

  test("a list of other posts keeps the first number", () => {
    expect(renumber(before, ["x", "y"], "b").first).toBe(100);
  });
});
