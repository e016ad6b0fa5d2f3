import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { Person } from "./api.ts";
import { compose, frames, holdAnswers, login, pill, postOf, scrollTo, sent, settled, untilLive, visit } from "./browser.ts";
import { Proxy } from "./proxy.ts";
import { browser, server, startForTests } from "./suite.ts";

/** Enough for 30 pages; more take long to write. */
const many = process.env["RETWIS_SOAK"] ? 5_000 : 900;

let page: Page;
let writer: Person;

startForTests();
beforeAll(async () => {
  writer = await Person.register(server.url, "writer");
  await writer.postMany(200, (i) => `Number ${i}.`);
});

test("scrolling goes on to the very first post", async () => {
  page = await visit(browser, server.url);
  await page.goto("/u/writer");
  const last = postOf(page, "Number 1.");
  await expect
    .poll(
      async () => {
        await page.mouse.move(600, 400);
        await page.mouse.wheel(0, 3_000);
        return last.count();
      },
      { timeout: 60_000 },
    )
    .toBe(1);
  await page.locator("[data-end-reached]").waitFor();
  // Virtualised: of 200 posts a few are in the page.
  expect(await page.getByRole("article").count()).toBeLessThan(60);
});

test("back returns to the place", async () => {
  page = await visit(browser, server.url);
  await page.goto("/u/writer");
  const target = postOf(page, "Number 120.");
  await scrollTo(page, target, 500);
  const before = await target.boundingBox();
  await postOf(page, "Number 118.").locator("[data-permalink]").click();
  await page.getByRole("heading", { name: "Post" }).waitFor();
  expect(await page.evaluate(() => scrollY)).toBe(0);
  await page.goBack();
  await target.waitFor();
  await settled(page);
  expect(Math.abs((await target.boundingBox())!.y - before!.y)).toBeLessThanOrEqual(2);
});

test("a reload comes back to the place, and at the head to the news", async () => {
  const person = await Person.register(server.url, "reloading");
  await person.postMany(120, (i) => `Line ${i}.`);
  page = await visit(browser, server.url);
  await page.goto(`/u/${person.username}`);
  await untilLive(page);
  // One is among the posts that a page begins with, the other far below.
  for (const text of ["Line 100.", "Line 30."]) {
    const post = postOf(page, text);
    await scrollTo(page, post, 400);
    const before = await post.boundingBox();
    await page.reload();
    await post.waitFor();
    await settled(page);
    expect(Math.abs((await post.boundingBox())!.y - before!.y)).toBeLessThanOrEqual(2);
  }
  await scrollTo(page, postOf(page, "Line 1."), 400);
  expect(await numbers(page)).toEqual(downFrom((await numbers(page))[0]!));
  await person.post("Line 121.");
  await pill(page).waitFor();
  await scrollTo(page, postOf(page, "Line 121."), -400);
  expect(await numbers(page)).toEqual(downFrom(121).slice(0, (await numbers(page)).length));
  await page.evaluate(() => window.scrollTo(0, 0));
  await person.post("Line 122.");
  await pill(page).waitFor();
  await page.reload();
  await postOf(page, "Line 122.").waitFor();
  await settled(page);
  expect(await page.evaluate(() => scrollY)).toBe(0);
});

test("scrolling goes on to newer posts too, and holds the place while they come", async () => {
  const person = await Person.register(server.url, "upwards");
  const other = await Person.register(server.url, "upwards_other");
  await other.post("From the other.");
  await person.follow(writer);
  await expect.poll(() => person.homeLength()).toBe(100);
  page = await visit(browser, server.url);
  await login(page, person);
  await untilLive(page);
  const deep = postOf(page, "Number 60.");
  await scrollTo(page, deep, 500);
  // With another history the list begins anew around the place, and both ends are open.
  await person.follow(other);
  await pill(page).waitFor();
  await deep.waitFor();
  await scrollTo(page, postOf(page, "Number 95."), -400);
  const middle = postOf(page, "Number 94.");
  const before = await middle.boundingBox();
  await frames(page, 30);
  expect(Math.abs((await middle.boundingBox())!.y - before!.y)).toBeLessThanOrEqual(1);
  await scrollTo(page, postOf(page, "From the other."), -400);
  const shown = await page.getByRole("article").evaluateAll((list) => list.map((a) => a.querySelector("p.post-text")?.textContent));
  expect(shown).toEqual(shown.map((_, i) => (i === 0 ? "From the other." : `Number ${201 - i}.`)));
  await pill(page).waitFor({ state: "detached" });
});

test("a draft survives a reload, and is gone once it is sent", async () => {
  const person = await Person.register(server.url, "drafting");
  page = await visit(browser, server.url);
  await login(page, person);
  const field = page.getByLabel("What’s on your mind?");
  await field.fill("Half a thought");
  await page.reload();
  await expect.poll(() => field.inputValue()).toBe("Half a thought");
  await compose(page, "A whole thought");
  await postOf(page, "A whole thought").waitFor();
  expect(await field.inputValue()).toBe("");
  await sent(page, "A whole thought");
  await page.reload();
  await postOf(page, "A whole thought").waitFor();
  expect(await field.inputValue()).toBe("");
});

test("what was sent by somebody who went on to another page is no draft any more", async () => {
  const person = await Person.register(server.url, "hasty");
  page = await visit(browser, server.url);
  await login(page, person);
  await untilLive(page);
  const held = await holdAnswers(page, "CreatePost");
  await compose(page, "On my way out");
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("heading", { name: "Settings" }).waitFor();
  await page.getByRole("link", { name: "Home" }).click();
  await postOf(page, "On my way out").waitFor();
  const field = page.getByLabel("What’s on your mind?");
  expect(await field.inputValue()).toBe("");
  held.release();
  await sent(page, "On my way out");
  await page.reload();
  await sent(page, "On my way out");
  expect(await field.inputValue()).toBe("");
});

test("the counter counts what a reader calls a character", async () => {
  const person = await Person.register(server.url, "counting");
  page = await visit(browser, server.url);
  await login(page, person);
  const field = page.getByLabel("What’s on your mind?");
  const post = page.getByRole("button", { name: "Post", exact: true });
  await field.fill("👨‍👩‍👧‍👦é🇬🇧");
  await page.getByText("277 characters left").waitFor();
  await field.fill("a".repeat(281));
  await page.getByText("-1 characters left").waitFor();
  expect(await post.isDisabled()).toBe(true);
  await field.fill("   ");
  expect(await post.isDisabled()).toBe(true);
});

test("a post written without a network waits, and is sent once when the network is back", async () => {
  const person = await Person.register(server.url, "offline");
  const proxy = await Proxy.to(server.url);
  page = await visit(browser, proxy.url);
  await login(page, person);
  await untilLive(page);
  proxy.cut();
  await compose(page, "Into the void");
  await postOf(page, "Into the void").getByText("Waiting for the connection").waitFor();
  await page.locator("[data-offline-banner]").waitFor();
  expect(await page.getByLabel("What’s on your mind?").inputValue()).toBe("");
  // Long enough for all attempts that do not wait for the network.
  await new Promise((resolve) => setTimeout(resolve, 8_000));
  await postOf(page, "Into the void").getByText("Waiting for the connection").waitFor();
  expect(await person.homeLength()).toBe(0);
  proxy.restore();
  await sent(page, "Into the void");
  await page.locator("[data-offline-banner]").waitFor({ state: "detached" });
  expect(await person.homeLength()).toBe(1);
  await page.reload();
  await sent(page, "Into the void");
  expect(await page.getByRole("article").count()).toBe(1);
  proxy.stop();
});

test("a page whose code cannot be loaded appears when the network is back", async () => {
  const proxy = await Proxy.to(server.url);
  page = await visit(browser, proxy.url);
  await page.goto("/public");
  await page.getByRole("article").first().waitFor();
  proxy.cut();
  await page.getByRole("link", { name: "New people", exact: true }).click();
  await page.getByRole("main").getByText("Loading", { exact: true }).waitFor();
  proxy.restore();
  await page.getByRole("main").getByRole("heading", { name: "New people" }).waitFor();
  proxy.stop();
});

test("a page that cannot be read says so, and can be read again", async () => {
  const proxy = await Proxy.to(server.url);
  page = await visit(browser, proxy.url);
  const { username } = await Person.register(server.url, "not_read");
  await page.goto("/u/writer"); // loads the code of profiles
  await page.getByRole("article").first().waitFor();
  await page.getByRole("link", { name: "Everyone" }).click();
  await page.getByRole("heading", { name: "Everyone" }).waitFor();
  await page.getByRole("button", { name: "Find" }).click();
  await page.getByRole("dialog").getByLabel("Username").waitFor();
  proxy.cut();
  await page.getByRole("dialog").getByLabel("Username").fill(username);
  await page.keyboard.press("Enter");
  await page.getByRole("alert").waitFor();
  proxy.restore();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { name: username }).waitFor();
  proxy.stop();
});

test("the keyboard walks through posts, opens one, and writes", async () => {
  const person = await Person.register(server.url, "typist");
  await person.follow(writer);
  await expect.poll(() => person.homeLength()).toBe(100);
  page = await visit(browser, server.url);
  await login(page, person);
  await untilLive(page);
  const focused = () => page.evaluate(() => document.activeElement?.querySelector("p.post-text")?.textContent);
  await page.keyboard.press("j");
  await expect.poll(focused).toBe("Number 200.");
  for (let i = 0; i < 20; i++) await page.keyboard.press("j");
  await expect.poll(focused).toBe("Number 180.");
  await page.keyboard.press("k");
  await expect.poll(focused).toBe("Number 181.");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Post" }).waitFor();

  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await page.keyboard.press("Escape");
  // Nothing is waited for: not a letter is lost, nor taken for a shortcut.
  await page.keyboard.press("n");
  await page.keyboard.type("Written by keys, j and n and all");
  await page.keyboard.press("Control+Enter");
  await postOf(page, "Written by keys, j and n and all").waitFor();
});

test("a great many posts stay smooth", async () => {
  const prolific = await Person.register(server.url, "prolific");
  await Promise.all(Array.from({ length: 10 }, () => prolific.postMany(many / 10, (i) => `Post ${i} of a great many, with some words to fill it.`)));
  page = await visit(browser, server.url);
  await page.goto(`/u/${prolific.username}`);
  await untilLive(page);
  // Down to the end, each page as fast as it comes.
  await page.evaluate(async () => {
    const end = () => document.querySelector("[data-end-reached]") !== null;
    while (!end()) {
      window.scrollTo(0, document.documentElement.scrollHeight);
      await new Promise(requestAnimationFrame);
    }
  });
  expect(await page.getByRole("article").count()).toBeLessThan(60);
  // Then through the middle: a frame takes as long as it takes to render a few posts.
  const slow = await page.evaluate(async () => {
    window.scrollTo(0, document.documentElement.scrollHeight / 2);
    const frames: number[] = [];
    let last = performance.now();
    for (let i = 0; i < 120; i++) {
      window.scrollBy(0, 120);
      await new Promise(requestAnimationFrame);
      frames.push(performance.now() - last);
      last = performance.now();
    }
    return frames.sort((a, b) => a - b)[Math.floor(frames.length / 2)];
  });
  console.info(`median frame among ${many} posts: ${slow?.toFixed(1)} ms`);
  await prolific.post("One more.");
  await page.getByRole("button", { name: "1 new post" }).click();
  await postOf(page, "One more.").waitFor();
}, 300_000);

/** The numbers in the posts on the page, from top to bottom. */
function numbers(page: Page): Promise<number[]> {
  return page.getByRole("article").evaluateAll((all) => all.map((a) => Number(/\d+/.exec(a.querySelector("p.post-text")?.textContent ?? "")?.[0])));
}

/** A number and those below it, down to 1. */
function downFrom(number: number): number[] {
  return Array.from({ length: number }, (_, i) => number - i);
}
