import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { Person } from "./api.ts";
import { frames, loginByForm, postOf, untilLive, visit } from "./browser.ts";
import { browser, server, startForTests } from "./suite.ts";

let page: Page;

// With the cache of pages, which the driver switches off otherwise.
startForTests({ ignoreDefaultArgs: ["--disable-back-forward-cache"] });

const draft = "Half a secret thought";

/** Everything that the browser stores for the site, but for its cookies. */
function stored(): Promise<{ local: Record<string, string>; session: Record<string, string>; databases: unknown[]; cached: string[]; state: string }> {
  return page.evaluate(async () => {
    const cached = [];
    for (const name of await caches.keys()) {
      for (const request of await (await caches.open(name)).keys()) cached.push(new URL(request.url).pathname);
    }
    return {
      local: { ...localStorage },
      session: { ...sessionStorage },
      databases: await indexedDB.databases(),
      cached,
      state: JSON.stringify(history.state),
    };
  });
}

/** A user who has read and written what others must not see: a private list, a draft, a query in the playground. */
async function busyReader(name: string): Promise<Person> {
  const author = await Person.register(server.url, `${name}_author`);
  const reader = await Person.register(server.url, name, "Private Reader");
  await author.postMany(60, (i) => `For ${name}, number ${i}.`);
  await reader.follow(author);
  await expect.poll(() => reader.homeLength()).toBe(60);
  await reader.list("Secret list", author);
  page = await visit(browser, server.url);
  await loginByForm(page, reader);
  await untilLive(page);
  await page.getByLabel("What’s on your mind?").fill(draft);
  await page.evaluate(() => window.scrollTo(0, 3_000));
  await page.getByRole("link", { name: "Lists" }).click();
  await page.getByRole("link", { name: /^Secret list/ }).click();
  await postOf(page, `For ${name}`).first().waitFor();
  await page.evaluate(() => {
    localStorage.setItem("graphiql:tabState", "a query with a secret"); // as the playground does
    dispatchEvent(new PageTransitionEvent("pagehide"));
  });
  return reader;
}

async function logout(): Promise<void> {
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("button", { name: "Log out", exact: true }).click();
  await page.getByRole("button", { name: "Register" }).waitFor();
}

/** Texts that only the reader may see. */
const secrets = /For \w+, number|Secret list|Half a secret|a query with a secret/;

test("after a logout nothing private is left but the draft, which waits for its user", async () => {
  const reader = await busyReader("leaving_one");
  await logout();
  const left = await stored();
  const drafts = Object.entries(left.local).filter(([key]) => key.startsWith("retwis-draft:"));
  expect(drafts.map(([key, value]) => [key, (JSON.parse(value) as { text: string }).text])).toEqual([[`retwis-draft:${reader.id}`, draft]]);
  const others = Object.entries(left.local).filter(([key]) => !key.startsWith("retwis-draft:"));
  expect(others).toEqual([]);
  expect(Object.values(left.session).filter((value) => value !== "[]")).toEqual([]);
  expect(left.databases).toEqual([]);
  expect(left.cached.filter((path) => path !== "/offline")).toEqual([]);
  expect(left.state).not.toMatch(secrets);
  expect(await page.context().cookies()).toEqual([]);
  expect(await page.content()).not.toMatch(secrets);
});

test("Back shows nothing of the session that ended", async () => {
  await busyReader("leaving_two");
  await logout();
  let steps = 0;
  for (;;) {
    await page.goBack({ waitUntil: "commit" });
    if (page.url() === "about:blank") break;
    steps++;
    await page.locator("main").first().waitFor();
    await frames(page, 10);
    expect(await page.locator("body").innerText()).not.toMatch(secrets);
  }
  expect(steps).toBeGreaterThan(1);
});

test("a page that the browser had kept shows nothing of a session that ended meanwhile", async () => {
  const reader = await busyReader("leaving_three");
  await page.evaluate(() => {
    addEventListener("pageshow", ({ persisted }) => {
      if (persisted) document.title = "kept";
    });
  });
  await page.goto("/public"); // another document
  const other = await page.context().newPage();
  await other.goto("/settings");
  await other.getByRole("button", { name: "Log out", exact: true }).click();
  await other.getByRole("button", { name: "Register" }).waitFor();
  await page.goBack({ waitUntil: "commit" });
  await page.getByText("Not found").or(page.getByRole("button", { name: "Register" })).or(page.getByLabel("Username")).first().waitFor();
  expect(await page.locator("body").innerText()).not.toMatch(secrets);
  expect(await reader.homeLength()).toBe(60);
});

test("a draft is never shown to another user, and its user finds it again", async () => {
  const reader = await busyReader("leaving_four");
  const other = await Person.register(server.url, "arriving");
  await logout();
  await loginByForm(page, other);
  const field = page.getByLabel("What’s on your mind?");
  expect(await field.inputValue()).toBe("");
  expect(await page.locator("body").innerText()).not.toMatch(secrets);
  await field.fill("A thought of another");
  await logout();
  await loginByForm(page, reader);
  await expect.poll(() => field.inputValue()).toBe(draft);
});

test("with the account its draft is deleted", async () => {
  await busyReader("leaving_five");
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("button", { name: "Delete account" }).click();
  await page.getByRole("dialog").getByLabel("Your password").fill(Person.password);
  await page.getByRole("dialog").getByRole("button", { name: "Delete account" }).click();
  await page.getByRole("button", { name: "Register" }).waitFor();
  await expect.poll(async () => Object.keys((await stored()).local)).toEqual([]);
});
