import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Person } from "./api.ts";
import { launch, login, pill, settled, untilLive, visit } from "./browser.ts";
import { startServer, type Server } from "./server.ts";

let server: Server;
let browser: Browser;

beforeAll(async () => {
  // A budget that hardly refills: what is missing was used.
  [server, browser] = await Promise.all([startServer("--rate-limits", "on", "--limit-reads", "40000/24h"), launch()]);
});
afterAll(async () => {
  await browser.close();
  await server.stop();
});

interface Points {
  /** Of the network: files, and requests before their session is known. */
  network: number;
  /** Of the user: operations. */
  user: number;
}

/** What a visit costs, without the price of asking. */
async function costOf(person: Person, visited: () => Promise<void>): Promise<Points> {
  const left = async (): Promise<Points> => ({ network: await Person.points(server.url), user: await person.points() });
  const [first, second] = [await left(), await left()];
  await visited();
  const last = await left();
  const used = (of: keyof Points) => second[of] - last[of] - (first[of] - second[of]);
  return { network: used("network"), user: used("user") };
}

/** Opens a page until it is live and asks for nothing more. */
async function open(page: Page, go: () => Promise<unknown>): Promise<void> {
  await go();
  await untilLive(page);
  await page.waitForLoadState("networkidle");
  await settled(page);
}

test("home costs less than the documents say, and its reload less", async () => {
  const person = await Person.register(server.url, "points");
  const [first = ""] = await person.postMany(30, (i) => `Point ${i}.`);
  await person.quote(first, "A quote.");
  await expect.poll(() => person.homeLength()).toBe(31);
  const page = await visit(browser, server.url);
  await login(page, person);
  // The server then knows the documents, and there is nothing to mark as read.
  await untilLive(page);
  await expect.poll(() => person.unreadInHome()).toBe(0);
  const fresh = await visit(browser, server.url, { storageState: await page.context().storageState() });
  await page.context().close();
  const load = await costOf(person, () => open(fresh, () => fresh.goto("/")));
  const reload = await costOf(person, () => open(fresh, () => fresh.reload()));
  console.info(`load: ${load.network} points of files, ${load.user} of operations; reload: ${reload.network} and ${reload.user}`);
  expect(load.network).toBeGreaterThan(100);
  expect(load.network).toBeLessThan(700);
  expect(reload.network).toBeLessThan(400);
  expect(load.user).toBeGreaterThan(100);
  expect(load.user).toBeLessThan(700);
  expect(reload.user).toBeLessThan(700);
});

test("50 visitors of one network load the app, reload it twice and watch it live for the budget that is there at once", async () => {
  const person = await Person.register(server.url, "watched");
  await person.postMany(30, (i) => `Public ${i}.`);
  const network = async (visited: () => Promise<void>) => (await costOf(person, visited)).network;
  const pages: Page[] = [];
  const enter = async (): Promise<void> => {
    const page = await visit(browser, server.url);
    await open(page, () => page.goto("/public"));
    pages.push(page);
  };
  const posts = 10;
  const watch = async (name: string): Promise<void> => {
    await person.postMany(posts, (i) => `${name} ${i}.`);
    for (const page of pages) await pill(page).filter({ hasText: `${posts} ` }).waitFor();
  };
  // What the first visitor pays for, the others do not: documents, and the rendering of live posts.
  await enter();
  const one = (await network(() => watch("One"))) / posts;
  await open(pages[0]!, () => pages[0]!.reload());
  const more = 3;
  const load = (await network(async () => {
    while (pages.length <= more) await enter();
  })) / more;
  const all = (await network(() => watch("All"))) / posts;
  const reload = (await network(async () => {
    for (const page of pages) await open(page, () => page.reload());
  })) / pages.length;
  const live = (all - one) / more;
  console.info(`a visitor: load ${load}, reload ${reload} points; a live post: ${one} for one visitor, ${live} for each further one`);
  expect(load).toBeGreaterThan(100);
  const seen = 30;
  expect(50 * (load + 2 * reload) + seen * (one + 49 * live)).toBeLessThan(120_000);
}, 300_000);
