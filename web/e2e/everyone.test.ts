import axe from "axe-core";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Person } from "./api.ts";
import { allRules, colourRules, violations, watchShifts } from "./audit.ts";
import { choose, launch, login, openReposts, phone, problems, untilLive, visit } from "./browser.ts";
import { newcomers, texts } from "./samples.ts";
import { startServer, type Server } from "./server.ts";

/** Where to put a picture of every page, if anywhere. */
const pictures = process.env["SCREENSHOTS"];

let server: Server;
let browser: Browser;
let reader: Person;
let threadId: string;
let deletedId: string;
let listId: string;

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer(), launch()]);
  reader = await Person.register(server.url, "mira", "Mira Holm");
  const others = [
    await Person.register(server.url, "jonas", "Jonas Weil"),
    await Person.register(server.url, "tove_a", "Tove Abel"),
    await Person.register(server.url, "sam", "Sam Oduya"),
  ];
  for (const other of others) {
    await reader.follow(other);
    await other.follow(reader);
  }
  const stranger = await Person.register(server.url, "ida_b", "Ida Brandt");
  const ferry = await stranger.post("The ferry leaves at nine, whether the fog does or not.");
  const kingfisher = await stranger.post("A kingfisher, twice.");
  for (const [i, text] of texts.entries()) await others[i % others.length]!.post(text);
  await others[0]!.post("Has @mira seen this? And you, @tove_a? #Frost");
  await others[1]!.follow(others[0]!);
  listId = await reader.list("Gardeners", others[0]!, others[2]!);
  await reader.list("People I met on the night train to Narvik");
  const tea = await reader.post("Tea, a window, rain. Nothing else planned. https://example.com/weather");
  deletedId = await others[1]!.reply(tea, "Which tea?");
  threadId = await others[0]!.reply(deletedId, "And which window? There are two, as far as I remember.");
  await others[1]!.delete(deletedId);
  await others[0]!.reply(threadId, "The one to the yard, of course.");
  const answer = await reader.reply(threadId, "The other one: it shows the street, the tram and, on Thursdays, the market.");
  await others[2]!.reply(answer, "And on Fridays?");
  await others[2]!.reply(threadId, "A bicycle, before the frost.");
  await reader.like(threadId);
  await others[1]!.like(threadId);
  await others[2]!.quote(threadId, "Two windows, and she looks out of the one to the yard.");
  const withdrawn = await others[2]!.post("I take this back.");
  await others[0]!.quote(withdrawn, "Before it is gone:");
  await others[2]!.delete(withdrawn);
  await others[2]!.repost(ferry);
  await reader.repost(kingfisher);
  await vi.waitFor(async () => expect(await reader.replyCount(threadId)).toBe(3), { timeout: 30_000 });
  await vi.waitFor(async () => expect(await reader.quoteCount(threadId)).toBe(1), { timeout: 30_000 });
  if (pictures && !existsSync(pictures)) mkdirSync(pictures, { recursive: true });
});
afterAll(async () => {
  await browser.close();
  await server.stop();
});

let registered = 0;

/** What a reader opens on a page: axe looks at this part alone, because the rest of the page is as before. */
interface Part {
  name: string;
  /** What is new on the page. */
  within: string;
  open: (page: Page) => Promise<unknown>;
  /** Closes it again, for the next part. */
  close?: (page: Page) => Promise<unknown>;
}

interface Look {
  name: string;
  path: string;
  ready: (page: Page) => Promise<unknown>;
  parts?: Part[];
}

const dialog = "dialog[open]";

/** Closes a dialog. */
async function closeDialog(page: Page): Promise<void> {
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "hidden" });
}

/** Waits until a list of people is shown, which may be below the fold. */
async function untilPeople(page: Page): Promise<void> {
  await page.locator("main section").waitFor({ state: "attached" });
  await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
  await page.locator("main section [data-follow]").first().waitFor();
}

/** Waits until the last reply of a thread is shown. */
function untilThread(page: Page): Promise<void> {
  return page.getByText("A bicycle, before the frost.").waitFor();
}

const anonymous: Look[] = [
  {
    name: "welcome",
    path: "/",
    ready: (page) => page.getByRole("button", { name: "Register" }).waitFor(),
    parts: [
      {
        name: "register",
        within: "main",
        open: async (page) => {
          await page.getByRole("button", { name: "Register" }).click();
          await page.getByRole("button", { name: "Create account" }).click();
          await page.locator("[aria-invalid=true]").first().waitFor();
        },
      },
    ],
  },
  { name: "public", path: "/public", ready: untilLive },
  { name: "new-people", path: "/public/people", ready: (page) => page.getByRole("main").getByText(/^@/).first().waitFor() },
  { name: "find-page", path: "/find", ready: (page) => page.getByRole("combobox").waitFor() },
  { name: "mentions-visitor", path: "/mentions", ready: (page) => page.getByLabel("Username").waitFor() },
  { name: "profile-visitor", path: "/u/jonas", ready: untilLive },
  { name: "tag", path: "/tag/frost", ready: untilLive },
  { name: "tag-empty", path: "/tag/nothing", ready: (page) => page.getByText("No posts with #nothing yet.").waitFor() },
  { name: "thread-visitor", path: "thread", ready: untilThread },
  { name: "not-found", path: "/nowhere", ready: (page) => page.getByRole("heading", { name: "Not found" }).waitFor() },
];
const loggedIn: Look[] = [
  {
    name: "home",
    path: "/",
    ready: untilLive,
    parts: [
      {
        name: "mention-menu",
        within: "main form",
        open: async (page) => {
          await page.getByLabel("What’s on your mind?").pressSequentially("Good morning @to");
          await page.getByRole("option").first().waitFor();
        },
        close: (page) => page.getByLabel("What’s on your mind?").fill(""),
      },
      {
        name: "repost-menu",
        within: "[role=menu]",
        open: (page) => openReposts(page.getByRole("article").first()),
        close: (page) => page.keyboard.press("Escape"),
      },
      {
        name: "compose-quote",
        within: "main form",
        open: async (page) => {
          await openReposts(page.getByRole("article").first());
          await choose(page, "Quote");
          await page.getByRole("button", { name: "Do not quote the post" }).waitFor();
        },
        close: (page) => page.getByRole("button", { name: "Do not quote the post" }).click(),
      },
      {
        name: "home-new-posts",
        within: "[data-new-posts]",
        open: async (page) => {
          const [name, displayName, text] = newcomers[registered % newcomers.length]!;
          const other = await Person.register(server.url, `${name}${registered++}`, displayName);
          await reader.follow(other);
          await other.post(text);
          await page.getByRole("button", { name: /new post/ }).waitFor();
        },
      },
    ],
  },
  {
    name: "profile",
    path: "/u/jonas",
    ready: untilLive,
    parts: [
      {
        name: "profile-menu",
        within: "[role=menu]",
        open: async (page) => {
          await page.getByRole("button", { name: "Options for Jonas Weil" }).click();
          await page.getByRole("menuitem", { name: "Hide reposts" }).waitFor();
        },
        close: (page) => page.keyboard.press("Escape"),
      },
      {
        name: "add-to-list",
        within: dialog,
        open: async (page) => {
          await page.getByRole("button", { name: "Add to a list" }).click();
          await page.getByRole("checkbox", { checked: true }).waitFor();
        },
      },
    ],
  },
  { name: "own-profile", path: "/u/mira/replies", ready: untilLive },
  { name: "followers", path: "/u/mira/followers", ready: untilPeople },
  { name: "following", path: "/u/mira/following", ready: untilPeople },
  { name: "followers-known", path: "/u/jonas/followers/known", ready: untilPeople },
  { name: "followers-common", path: "/u/jonas/followers/common", ready: untilPeople },
  { name: "mentions", path: "/mentions", ready: untilLive },
  { name: "lists", path: "/lists", ready: (page) => page.getByRole("link", { name: /Gardeners/ }).waitFor() },
  {
    name: "list",
    path: "list",
    ready: untilLive,
    parts: [
      {
        name: "list-delete",
        within: dialog,
        open: async (page) => {
          await page.getByRole("button", { name: "Delete", exact: true }).first().click();
          await page.getByRole("dialog").waitFor();
        },
        close: closeDialog,
      },
      {
        name: "list-rename",
        within: "main form",
        open: async (page) => {
          await page.getByRole("button", { name: "Rename" }).click();
          await page.getByLabel("Name of the list").waitFor();
        },
      },
    ],
  },
  {
    name: "list-members",
    path: "members",
    ready: (page) => page.getByRole("button", { name: "Remove" }).first().waitFor(),
    parts: [
      {
        name: "list-add",
        within: "main form",
        open: async (page) => {
          await page.getByLabel("Add a person by name or username").fill("to");
          await page.getByRole("option").first().waitFor();
        },
      },
    ],
  },
  { name: "thread", path: "thread", ready: untilThread },
  { name: "quotes", path: "quotes", ready: (page) => page.locator("blockquote").waitFor() },
  { name: "likers", path: "likers", ready: untilPeople },
  { name: "liked-posts", path: "/likes", ready: (page) => page.getByRole("button", { name: "Like, 2 likes" }).waitFor() },
  { name: "thread-deleted", path: "deleted", ready: (page) => page.getByText("This post was deleted.").waitFor() },
  {
    name: "settings",
    path: "/settings",
    ready: (page) => page.getByText("This session").waitFor(),
    parts: [
      {
        name: "shortcuts",
        within: dialog,
        open: async (page) => {
          await page.keyboard.press("?");
          await page.getByRole("dialog").waitFor();
        },
        close: closeDialog,
      },
      {
        name: "find",
        within: dialog,
        open: async (page) => {
          await page.keyboard.press("/");
          await page.getByRole("dialog").getByLabel("Username").fill("j");
          await page.getByRole("option").first().waitFor();
        },
        close: async (page) => {
          await page.keyboard.press("Escape");
          await closeDialog(page);
        },
      },
      {
        name: "delete-account",
        within: dialog,
        open: async (page) => {
          await page.getByRole("button", { name: "Delete account" }).click();
          await page.getByRole("dialog").getByLabel("Your password").waitFor();
        },
      },
    ],
  },
];

function addressOf(path: string): string {
  const list = `/lists/${encodeURIComponent(listId)}`;
  return { thread: `/post/${threadId}`, likers: `/post/${threadId}/likes`, quotes: `/post/${threadId}/quotes`, deleted: `/post/${deletedId}`, list, members: `${list}/members` }[path] ?? path;
}

// The pages of one width are loaded once; the theme changes on the loaded page.
test.concurrent.each([
  ["wide", { width: 1200, height: 800 }],
  ["phone", phone],
  // What remains of a window of 1280 × 800 at 200 %.
  ["zoomed", { width: 640, height: 400 }],
] as const)("every page is for everybody: %s", async (width, viewport) => {
  const page = await visit(browser, server.url, { viewport, reducedMotion: width === "phone" ? "reduce" : "no-preference" });
  await page.addInitScript(watchShifts);
  const inBothThemes = async (name: string, within?: string) => {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await violations(page, colorScheme === "light" ? allRules : colourRules, within), `${name}, ${colorScheme}`).toEqual([]);
      if (pictures) await page.screenshot({ path: join(pictures, `${name}-${colorScheme}-${width}.png`) });
    }
  };
  const look = async ({ name, path, ready, parts = [] }: Look) => {
    await page.emulateMedia({ colorScheme: "light" });
    await page.goto(addressOf(path));
    await ready(page);
    await page.evaluate(() => document.fonts.ready);
    await page.evaluate(axe.source);
    await inBothThemes(name);
    // Before any part opens: what a part moves follows a click, and counts as a shift if its content takes half a second.
    expect(await page.evaluate(() => (window as never as { shifted: number }).shifted), `${name} shifts`).toBeLessThan(0.02);
    for (const part of parts) {
      await part.open(page);
      await inBothThemes(part.name, part.within);
      await part.close?.(page);
    }
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflow, `${name} scrolls sideways`).toBeLessThanOrEqual(0);
  };
  for (const one of anonymous) await look(one);
  await login(page, reader);
  for (const one of loggedIn) await look(one);
  expect(problems.get(page.context())).toEqual([]);
  await page.context().close();
}, 600_000);

test("axe finds what it is there to find", async () => {
  const page = await visit(browser, server.url, { colorScheme: "dark" });
  await page.goto("/public");
  await page.getByRole("article").first().waitFor();
  await page.evaluate(axe.source);
  await page.evaluate(() => {
    const button = document.createElement("button");
    const faint = document.createElement("p");
    faint.append("Faint");
    faint.style.cssText = "color: #777; background: #888";
    document.querySelector("main")?.append(button, faint);
  });
  expect((await violations(page, allRules)).join()).toContain("button-name");
  expect((await violations(page, colourRules)).join()).toContain("color-contrast");
  await page.context().close();
});

test("text never becomes markup", async () => {
  const page = await visit(browser, server.url);
  let dialogs = 0;
  page.on("dialog", (dialog) => {
    dialogs++;
    void dialog.dismiss();
  });
  await page.goto("/u/jonas"); // his posts are few, so that all are rendered
  await page.getByText("<script>alert('markup')</script>").first().waitFor();
  expect(await page.locator("article script, article img").count()).toBe(0);
  expect(dialogs).toBe(0);
  await page.context().close();
});

test("an injected script does not run", async () => {
  const page = await visit(browser, server.url);
  await page.goto("/public");
  await page.getByRole("article").first().waitFor();
  const ran = await page.evaluate(() => {
    const script = document.createElement("script");
    try {
      script.textContent = "window.injected = true";
      document.body.append(script);
    } catch {
      // refused by trusted types before it came so far
    }
    return "injected" in window;
  });
  expect(ran).toBe(false);
  await page.context().close();
});

test("the first paint does not wait for the socket", async () => {
  const page = await visit(browser, server.url);
  await page.routeWebSocket("**/graphql", () => {}); // accepts, and never says a word
  await page.goto("/public");
  await page.getByRole("article").first().waitFor();
  expect(await page.locator("[data-connection]").getAttribute("data-connection")).not.toBe("live");
  await page.context().close();
});
