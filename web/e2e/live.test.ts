import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { Person } from "./api.ts";
import { compose, frames, holdAnswers, login, loginByForm, pill, postOf, scrollTo, sent, settled, untilLive, visit } from "./browser.ts";
import { Proxy } from "./proxy.ts";
import { browser, server, startForTests } from "./suite.ts";

startForTests();

function open(url = server.url): Promise<Page> {
  return visit(browser, url);
}

/** Somebody, and a reader who follows them and has so many of their posts. */
async function pair(name: string, posts: number): Promise<[author: Person, reader: Person]> {
  const author = await Person.register(server.url, `${name}_author`);
  const reader = await Person.register(server.url, `${name}_reader`);
  await reader.follow(author);
  await author.postMany(posts, (i) => `${name} old ${i}.`);
  await expect.poll(() => reader.homeLength()).toBe(posts);
  return [author, reader];
}

test("one posts in one browser, and another sees it in another", async () => {
  const [author, reader] = await pair("two", 1);
  const writing = await open();
  const reading = await open();
  await Promise.all([login(writing, author), login(reading, reader)]);
  await untilLive(reading);
  await compose(writing, "Straight from the other browser");
  await pill(reading).click();
  await postOf(reading, "Straight from the other browser").waitFor();
  expect(await pill(reading).count()).toBe(0);
});

test("exactly what was posted while the network was cut appears, once", async () => {
  const [author, reader] = await pair("cut", 3);
  const proxy = await Proxy.to(server.url);
  const page = await open(proxy.url);
  await login(page, reader);
  await untilLive(page);

  proxy.cut();
  await page.getByText("Reconnecting").waitFor();
  const cutFor = new Promise((resolve) => setTimeout(resolve, 5_000));
  await author.postMany(30, (i) => `While away ${i}.`);
  await cutFor;
  expect(await pill(page).count()).toBe(0);
  proxy.restore();

  await page.getByRole("button", { name: "30 new posts" }).click();
  await page.getByText("Live", { exact: true }).waitFor();
  await postOf(page, "While away 30.").waitFor();
  const seen = await everyPost(page);
  expect(seen).toEqual([
    ...Array.from({ length: 30 }, (_, i) => `While away ${30 - i}.`),
    ...Array.from({ length: 3 }, (_, i) => `cut old ${3 - i}.`),
  ]);
  proxy.stop();
});

test("posts of oneself appear at once and never twice", async () => {
  const [author] = await pair("own", 1);
  const page = await open();
  const told = new Promise<void>((resolve) =>
    page.on("websocket", (socket) => socket.on("framereceived", ({ payload }) => String(payload).includes("Only once") && resolve())),
  );
  await login(page, author);
  await untilLive(page);
  // The answer is held back, so that the event comes first.
  const held = await holdAnswers(page, "CreatePost");
  await page.evaluate(watchMost, "Only once");
  await compose(page, "Only once");
  await postOf(page, "Only once").waitFor();
  await told;
  await frames(page, 20);
  expect(await postOf(page, "Only once").count()).toBe(1);
  held.release();
  await sent(page, "Only once");
  await frames(page, 20);
  expect(await page.evaluate(() => (window as never as { most: number }).most)).toBe(1);
  expect(await pill(page).count()).toBe(0);
  await page.reload();
  await untilLive(page);
  await sent(page, "Only once");
  expect(await postOf(page, "Only once").count()).toBe(1);
});

test("an answer that was lost makes no second post, and no lost one", async () => {
  const [author] = await pair("lost", 1);
  const page = await open();
  await login(page, author);
  await untilLive(page);
  let failures = 0;
  await page.route("**/graphql", async (route) => {
    if (!route.request().postData()?.includes("CreatePost") || failures++ >= 2) return route.continue();
    await route.fetch(); // the server has it
    await route.abort();
  });
  await compose(page, "Said with a bad line");
  await expect.poll(() => failures).toBe(3);
  await sent(page, "Said with a bad line");
  expect(await postOf(page, "Said with a bad line").count()).toBe(1);
  expect(await author.homeLength()).toBe(2);
});

test("deleted posts vanish, also from behind the pill", async () => {
  const [author, reader] = await pair("gone", 0);
  const visible = await author.post("Visible and gone");
  const page = await open();
  await expect.poll(() => reader.homeLength()).toBe(1);
  await login(page, reader);
  await untilLive(page);
  const waiting = await author.post("Hidden and gone");
  await author.post("Hidden and kept");
  await page.getByRole("button", { name: "2 new posts" }).waitFor();
  await author.delete(waiting);
  await page.getByRole("button", { name: "1 new post" }).waitFor();
  await author.delete(visible);
  await postOf(page, "Visible and gone").waitFor({ state: "detached" });
  await pill(page).click();
  await postOf(page, "Hidden and kept").waitFor();
  expect(await page.getByRole("article").count()).toBe(1);
});

test("a hundred live posts move nothing of what is read", async () => {
  const [author, reader] = await pair("still", 90);
  const page = await open();
  await login(page, reader);
  await untilLive(page);
  const middle = postOf(page, "still old 70.");
  await scrollTo(page, middle, 300);
  const before = await middle.boundingBox();
  const height = await page.evaluate(() => scrollY);

  await author.postMany(100, (i) => `still new ${i}.`);
  await page.getByRole("button", { name: "100 new posts" }).waitFor();
  expect(await page.evaluate(() => scrollY)).toBe(height);
  expect(await middle.boundingBox()).toEqual(before);

  await pill(page).click();
  await postOf(page, "still new 100.").waitFor();
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(0);
});

test("a post deleted above what is read moves nothing", async () => {
  const author = await Person.register(server.url, "above_author");
  const ids = await author.postMany(60, (i) => `above ${i}.`);
  const page = await open();
  await page.goto(`/u/${author.username}`);
  await untilLive(page);
  const middle = postOf(page, "above 40.");
  await scrollTo(page, middle, 300);
  const before = await middle.boundingBox();
  await author.delete(ids[57]!);
  await author.delete(ids[51]!);
  const deleted = await author.post("above last.");
  await pill(page).waitFor();
  await settled(page);
  expect(Math.abs((await middle.boundingBox())!.y - before!.y)).toBeLessThanOrEqual(1);
  await author.delete(deleted);
});

test("a changed history is read again without losing the place", async () => {
  const [author, reader] = await pair("reset", 80);
  const other = await Person.register(server.url, "reset_other");
  await other.postMany(5, (i) => `from the other ${i}.`);
  const page = await open();
  await login(page, reader);
  await untilLive(page);
  const middle = postOf(page, "reset old 50.");
  await scrollTo(page, middle, 300);
  const before = await middle.boundingBox();
  await reader.follow(other);
  await pill(page).waitFor();
  await settled(page);
  expect(Math.abs((await middle.boundingBox())!.y - before!.y)).toBeLessThanOrEqual(1);
  await pill(page).click();
  await postOf(page, "from the other 5.").waitFor();
  await author.post("reset new.");
  await page.getByRole("button", { name: "1 new post" }).waitFor();
});

test("what was missed on another page is there on the way back", async () => {
  const [author, reader] = await pair("away", 2);
  const page = await open();
  await login(page, reader);
  await untilLive(page);
  await page.getByRole("link", { name: "Settings" }).click();
  await author.postMany(3, (i) => `Meanwhile ${i}.`);
  await page.getByRole("link", { name: "Home" }).click();
  await page.getByRole("button", { name: "3 new posts" }).click();
  await postOf(page, "Meanwhile 3.").waitFor();
  expect(await everyPost(page)).toEqual(["Meanwhile 3.", "Meanwhile 2.", "Meanwhile 1.", "away old 2.", "away old 1."]);
});

test("logging out in one tab logs out the other, and elsewhere too", async () => {
  const [author] = await pair("tabs", 1);
  const page = await open();
  await loginByForm(page, author);
  const other = await page.context().newPage();
  await other.goto("/");
  await other.getByRole("heading", { name: "Home" }).waitFor();
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("button", { name: "Log out", exact: true }).click();
  await other.getByRole("button", { name: "Register" }).waitFor();
  expect(await other.getByRole("article").count()).toBe(0);

  await loginByForm(page, author);
  await untilLive(page);
  await other.getByRole("heading", { name: "Home" }).waitFor();
  await author.logoutEverywhere();
  await page.getByRole("button", { name: "Register" }).waitFor();
});

test("a session that ended while the network was gone leads to the login", async () => {
  const [author] = await pair("ended", 1);
  const proxy = await Proxy.to(server.url);
  const page = await open(proxy.url);
  await login(page, author);
  await untilLive(page);
  proxy.cut();
  await page.getByText("Reconnecting").waitFor();
  await author.logoutEverywhere();
  proxy.restore();
  await page.getByRole("button", { name: "Register" }).waitFor();
  expect(await page.getByRole("article").count()).toBe(0);
  proxy.stop();
});

/** The texts of all posts, from the top to the end of the list, in the order they stand. */
async function everyPost(page: Page): Promise<string[]> {
  await page.evaluate(() => window.scrollTo(0, 0));
  await page.mouse.move(700, 400);
  const texts = new Map<number, string>();
  for (let still = 0; still < 3; ) {
    const before = texts.size;
    const shown = await page
      .getByRole("article")
      .evaluateAll((all) => all.map((a) => [Number(a.ariaPosInSet), a.querySelector("p.post-text")?.textContent ?? ""] as const));
    for (const [position, text] of shown) texts.set(position, text);
    // Another page may be on its way: only the end of the list says that there is no more.
    const ended = (await page.locator("[data-end-reached]").count()) > 0;
    still = ended && texts.size === before ? still + 1 : 0;
    await page.mouse.wheel(0, 500);
    await frames(page, 3);
  }
  return [...texts].sort(([a], [b]) => a - b).map(([, text]) => text);
}

/** Notes how many posts with a text there are at most at once, from frame to frame. Runs in the page. */
function watchMost(text: string): void {
  const page = window as never as { most: number };
  page.most = 0;
  const look = () => {
    page.most = Math.max(page.most, [...document.querySelectorAll("article")].filter((a) => a.textContent?.includes(text)).length);
    requestAnimationFrame(look);
  };
  look();
}
