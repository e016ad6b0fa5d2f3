import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { Person } from "./api.ts";
import { compose, login, phone, pill, postOf, scrollTo, sent, untilLive, visit } from "./browser.ts";
import { Proxy } from "./proxy.ts";
import { browser, server, startForTests } from "./suite.ts";

startForTests();

/** An author, and a reader who follows them and has read so many of their posts. */
async function pair(name: string, posts: number): Promise<[author: Person, reader: Person]> {
  const author = await Person.register(server.url, `${name}_author`);
  const reader = await Person.register(server.url, `${name}_reader`);
  await reader.follow(author);
  await author.postMany(posts, (i) => `${name} read ${i}.`);
  await expect.poll(() => reader.homeLength()).toBe(posts);
  return [author, reader];
}

/** Opens the home timeline and waits until it is marked as read. */
async function readHome(reader: Person, url = server.url): Promise<Page> {
  const page = await visit(browser, url);
  await login(page, reader);
  await untilLive(page);
  await expect.poll(() => reader.unreadInHome()).toBe(0);
  return page;
}

/** The link in the navigation to a page with so many unread posts. */
function link(page: Page, name: string, unread: number) {
  return page.getByRole("link", { name: unread === 0 ? name : new RegExp(`^${name}\\W+${unread} unread$`), exact: true });
}

const line = (page: Page) => page.locator("[data-last-visit]");

/** The texts of the posts right above and below the line. */
function besideLine(page: Page): Promise<(string | null)[]> {
  return page.evaluate(() => {
    const parts = [...document.querySelectorAll("article, [data-last-visit]")];
    const at = parts.findIndex((part) => part.matches("[data-last-visit]"));
    return [parts[at - 1], parts[at + 1]].map((post) => post?.querySelector("p.post-text")?.textContent ?? null);
  });
}

test("mentions that were not seen are counted beside the link, on all devices", async () => {
  const person = await Person.register(server.url, "counted");
  const author = await Person.register(server.url, "mentioning");
  const [page, other] = [await visit(browser, server.url), await visit(browser, server.url, { viewport: phone })];
  await Promise.all([login(page, person), login(other, person)]);
  await author.post(`One for @${person.username}.`);
  await Promise.all([link(page, "Mentions", 1).waitFor(), link(other, "Mentions", 1).waitFor()]);
  await author.post(`Another for @${person.username}.`);
  await Promise.all([link(page, "Mentions", 2).waitFor(), link(other, "Mentions", 2).waitFor()]);
  await page.reload();
  await link(page, "Mentions", 2).click();
  await postOf(page, "Another for").waitFor();
  await Promise.all([link(page, "Mentions", 0).waitFor(), link(other, "Mentions", 0).waitFor()]);
  await page.reload();
  await author.post(`A third for @${person.username}.`);
  await link(other, "Mentions", 1).waitFor();
});

test("unread posts of the home and of lists are counted in the navigation and the title, until one device has shown them", async () => {
  const [author, reader] = await pair("numbers", 2);
  await reader.list("Few", author);
  const page = await readHome(reader);
  const other = await visit(browser, server.url, { viewport: phone });
  await login(other, reader);
  await other.getByRole("link", { name: "Settings" }).click();
  await link(other, "Lists", 2).click();
  await other.getByRole("link", { name: /^Few\W+2 unread/ }).click();
  await untilLive(other);
  await Promise.all([link(page, "Lists", 0).waitFor(), link(other, "Lists", 0).waitFor()]);
  await other.getByRole("link", { name: "Settings" }).click();

  await author.postMany(3, (i) => `numbers new ${i}.`);
  for (const name of ["Home", "Lists"]) await Promise.all([link(page, name, 3).waitFor(), link(other, name, 3).waitFor()]);
  await expect.poll(() => page.title()).toBe("(3) Home — Retwis");
  expect(await other.title()).toBe("Settings — Retwis");
  await pill(page).click();
  await Promise.all([link(page, "Home", 0).waitFor(), link(other, "Home", 0).waitFor()]);
  await expect.poll(() => page.title()).toBe("Home — Retwis");
  await link(page, "Lists", 3).waitFor();

  // Own posts are read as soon as they are written.
  await compose(page, "numbers own.");
  await sent(page, "numbers own.");
  await expect.poll(() => reader.unreadInHome()).toBe(0);
});

test("a line shows what is new since the last visit, and stays where it is", async () => {
  const [author, reader] = await pair("line", 5);
  const before = await readHome(reader);
  expect(await line(before).count()).toBe(0); // everything was new
  await before.close();
  await author.postMany(3, (i) => `line new ${i}.`);
  await expect.poll(() => reader.homeLength()).toBe(8);

  const page = await visit(browser, server.url);
  await login(page, reader);
  await untilLive(page);
  await line(page).filter({ hasText: "New since your last visit" }).waitFor();
  expect(await besideLine(page)).toEqual(["line new 1.", "line read 5."]);
  await expect.poll(() => reader.unreadInHome()).toBe(0);
  const place = await line(page).boundingBox();
  await author.postMany(2, (i) => `line newest ${i}.`);
  await page.getByRole("button", { name: "2 new posts" }).waitFor();
  expect(await line(page).boundingBox()).toEqual(place);
  await pill(page).click();
  await postOf(page, "line newest 2.").waitFor();
  expect(await besideLine(page)).toEqual(["line new 1.", "line read 5."]);
  await link(page, "Home", 0).waitFor();
  await page.reload();
  await postOf(page, "line newest 2.").waitFor();
  expect(await line(page).count()).toBe(0);
});

test("the line is found below many new posts", async () => {
  const [author, reader] = await pair("deep", 3);
  const before = await readHome(reader);
  await before.close();
  await author.postMany(35, (i) => `deep new ${i}.`);
  await expect.poll(() => reader.homeLength()).toBe(38);
  const page = await visit(browser, server.url);
  await login(page, reader);
  await untilLive(page);
  await scrollTo(page, postOf(page, "deep read 3."), 900);
  await line(page).waitFor();
  expect(await besideLine(page)).toEqual(["deep new 1.", "deep read 3."]);
});

test("posts that are not on the screen, or in a hidden tab, stay unread", async () => {
  const [author, reader] = await pair("unseen", 40);
  const page = await readHome(reader);
  await scrollTo(page, postOf(page, "unseen read 20."), 300);
  await author.post("unseen new 1.");
  await link(page, "Home", 1).waitFor();
  await setVisibility(page, "hidden");
  await pill(page).click();
  await postOf(page, "unseen new 1.").waitFor();
  await author.post("unseen new 2.");
  await link(page, "Home", 2).waitFor();
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 1_000))); // longer than a visible post needs
  expect(await reader.unreadInHome()).toBe(2);
  await pill(page).click();
  await setVisibility(page, "visible");
  await link(page, "Home", 0).waitFor();
  expect(await reader.unreadInHome()).toBe(0);
});

test("a mark that fails is undone, and repeated", async () => {
  const [author, reader] = await pair("failing", 2);
  const page = await readHome(reader);
  let failures = 0;
  const numbers: string[] = [];
  await page.exposeFunction("note", (text: string) => numbers.push(text));
  await page.evaluate(() => {
    const nav = document.querySelector("nav a")!;
    new MutationObserver(() => void (window as never as { note: (text: string) => void }).note(nav.textContent ?? "")).observe(nav, {
      childList: true,
      subtree: true,
      characterData: true,
    });
  });
  await page.route("**/graphql", async (route) => {
    if (!route.request().postData()?.includes("MarkTimelineRead") || failures >= 2) return route.fallback();
    failures++;
    const error = { message: "internal error", extensions: { code: "INTERNAL_SERVER_ERROR", id: "f00d" } };
    await route.fulfill({ json: { errors: [error], data: null } });
  });
  await author.post("failing new.");
  await link(page, "Home", 1).waitFor();
  await pill(page).click();
  await expect.poll(() => failures).toBe(2);
  await expect.poll(() => reader.unreadInHome()).toBe(0);
  await link(page, "Home", 0).waitFor();
  // The number went away at once, and came back with each failure.
  const shown = numbers.map((text) => /1 unread/.test(text)).filter((now, i, all) => now !== all[i - 1]);
  expect(shown).toEqual([true, false, true, false, true, false]);
});

test("what another device reads while the network is cut is read after it is back", async () => {
  const [author, reader] = await pair("apart", 2);
  const proxy = await Proxy.to(server.url);
  const page = await readHome(reader, proxy.url);
  await page.getByRole("link", { name: "Settings" }).click();
  await author.post("apart new 1.");
  await link(page, "Home", 1).waitFor();
  proxy.cut();
  await page.getByText("Reconnecting").waitFor();
  const other = await readHome(reader);
  expect(await link(page, "Home", 1).count()).toBe(1);
  proxy.restore();
  await link(page, "Home", 0).waitFor();

  // What comes while the network is cut is read here when it is back.
  await other.close();
  await page.getByRole("link", { name: "Home" }).click();
  await untilLive(page);
  proxy.cut();
  await page.getByText("Reconnecting").waitFor();
  await author.post("apart new 2.");
  proxy.restore();
  await page.getByRole("button", { name: "2 new posts" }).click();
  await expect.poll(() => reader.unreadInHome()).toBe(0);
  await link(page, "Home", 0).waitFor();
  proxy.stop();
});

/** Makes a page believe that its tab is visible or hidden. Headless browsers hide no tabs. */
async function setVisibility(page: Page, state: DocumentVisibilityState): Promise<void> {
  await page.evaluate((state) => {
    Object.defineProperty(document, "visibilityState", { configurable: true, get: () => state });
    document.dispatchEvent(new Event("visibilitychange"));
  }, state);
}
