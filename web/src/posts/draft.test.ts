import { expect, test } from "vitest";
import { draftKey, Drafts, emptyDraft } from "./draft.ts";

test("a draft is restored for its author", () => {
  localStorage.clear();
  const draft = emptyDraft("Half a thought");
  new Drafts(() => localStorage).write("me", draft);
  expect(new Drafts(() => localStorage).read("me")).toEqual(draft);
  expect(new Drafts(() => localStorage).read("you").text).toBe("");
});

test("each post answered has a draft of its own", () => {
  localStorage.clear();
  const drafts = new Drafts(() => localStorage);
  drafts.write(draftKey("me", "post"), emptyDraft("A reply"));
  expect(drafts.read(draftKey("me")).text).toBe("");
  expect(drafts.read(draftKey("me", "other")).text).toBe("");
  expect(new Drafts(() => localStorage).read(draftKey("me", "post")).text).toBe("A reply");
});

test("an empty draft is not stored", () => {
  localStorage.clear();
  const drafts = new Drafts(() => localStorage);
  drafts.write("me", emptyDraft("x"));
  drafts.write("me", emptyDraft());
  expect(localStorage.length).toBe(0);
});

test("a post that is being sent is a draft only after a reload", () => {
  localStorage.clear();
  const drafts = new Drafts(() => localStorage);
  const draft = emptyDraft("Off it goes");
  drafts.write("me", draft);
  drafts.send("me", draft);
  expect(drafts.read("me").text).toBe("");
  expect(new Drafts(() => localStorage).read("me")).toEqual(draft);
  drafts.sent("me", draft);
  expect(localStorage.length).toBe(0);
});

test("a post that was sent removes no other draft", () => {
  localStorage.clear();
  const drafts = new Drafts(() => localStorage);
  const [first, second] = [emptyDraft("First"), emptyDraft("Second")];
  drafts.send("me", first);
  drafts.send("me", second);
  drafts.sent("me", first);
  expect(new Drafts(() => localStorage).read("me")).toEqual(second);
});

test("a post that was not sent returns before a draft begun meanwhile", () => {
  localStorage.clear();
  const drafts = new Drafts(() => localStorage);
  const draft = emptyDraft("First");
  drafts.send("me", draft);
  drafts.returned("me", draft);
  expect(drafts.read("me")).toEqual(draft);
  drafts.send("me", draft);
  drafts.write("me", emptyDraft("Second"));
  drafts.returned("me", draft);
  expect(drafts.read("me").text).toBe("First\n\nSecond");
  expect(drafts.read("me").key).not.toBe(draft.key);
  expect(new Drafts(() => localStorage).read("me")).toEqual(drafts.read("me"));
});

test("a draft keeps the post that it quotes, also without a text", () => {
  localStorage.clear();
  const drafts = new Drafts(() => localStorage);
  drafts.write("me", emptyDraft("", "quoted"));
  expect(new Drafts(() => localStorage).read("me").quotedPostId).toBe("quoted");
  const quote = emptyDraft("A quote", "quoted");
  drafts.send("me", quote);
  expect(drafts.read("me").quotedPostId).toBeUndefined();
  drafts.returned("me", quote);
  expect(drafts.read("me")).toEqual(quote);
  // A quote that was begun meanwhile keeps the post that it quotes.
  drafts.send("me", quote);
  drafts.write("me", emptyDraft("", "another"));
  drafts.returned("me", quote);
  expect(drafts.read("me")).toMatchObject({ text: "A quote", quotedPostId: "another" });
});

test("keys are printable and differ", () => {
  const keys = Array.from({ length: 50 }, () => emptyDraft("x").key);
  expect(new Set(keys).size).toBe(50);
  for (const key of keys) expect(key).toMatch(/^[0-9a-f]{32}$/);
});

test("an unreadable draft is empty", () => {
  localStorage.setItem("retwis-draft:me", "{");
  expect(new Drafts(() => localStorage).read("me").text).toBe("");
  const broken = {
    getItem: () => {
      throw new Error("forbidden");
    },
    setItem: () => {
      throw new Error("full");
    },
    removeItem: () => {},
  };
  expect(new Drafts(() => broken).read("me").text).toBe("");
  new Drafts(() => broken).write("me", emptyDraft("x"));
  const none = new Drafts(() => {
    throw new Error("forbidden");
  });
  none.write("me", emptyDraft("x"));
  expect(none.read("me").text).toBe("x");
});
