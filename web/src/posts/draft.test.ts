import { expect, test } from "vitest";
import { Drafts, emptyDraft } from "./draft.ts";

test("a draft is there again, for the one who wrote it", () => {
  localStorage.clear();
  const draft = emptyDraft("Half a thought");
  new Drafts(localStorage).write("me", draft);
  expect(new Drafts(localStorage).read("me")).toEqual(draft);
  expect(new Drafts(localStorage).read("you").text).toBe("");
});

test("an empty draft leaves nothing behind", () => {
  localStorage.clear();
  const drafts = new Drafts(localStorage);
  drafts.write("me", emptyDraft("x"));
  drafts.write("me", emptyDraft());
  expect(localStorage.length).toBe(0);
});

test("keys are printable and differ", () => {
  const keys = Array.from({ length: 50 }, () => emptyDraft("x").key);
  expect(new Set(keys).size).toBe(50);
  for (const key of keys) expect(key).toMatch(/^[0-9a-f]{32}$/);
});

test("what is not a draft, or cannot be read, is an empty one", () => {
  localStorage.setItem("retwis-draft:me", "{");
  expect(new Drafts(localStorage).read("me").text).toBe("");
  const broken = {
    getItem: () => {
      throw new Error("forbidden");
    },
    setItem: () => {
      throw new Error("full");
    },
    removeItem: () => {},
  };
  expect(new Drafts(broken).read("me").text).toBe("");
  new Drafts(broken).write("me", emptyDraft("x"));
});
