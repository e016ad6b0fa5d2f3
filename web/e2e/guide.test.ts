import { createServer, type Server as HttpServer } from "node:http";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Person } from "./api.ts";
import { launch, problems, visit } from "./browser.ts";
import { Proxy } from "./proxy.ts";
import { startServer, type Server } from "./server.ts";

const web = join(import.meta.dirname, "..");

let app: HttpServer;
let server: Server;
let proxy: Proxy;
let browser: Browser;
let directory: string;
let files: Map<string, string | Uint8Array>;

beforeAll(async () => {
  // Below web, the app finds the packages of web.
  mkdirSync(join(web, "node_modules/.guide"), { recursive: true });
  directory = mkdtempSync(join(web, "node_modules/.guide/"));
  app = createServer((request, response) => {
    const path = request.url === "/" ? "index.html" : (request.url ?? "").slice(1);
    response.setHeader("content-type", path.endsWith(".js") ? "text/javascript" : "text/html");
    response.end(files.get(path) ?? "");
  });
  app.listen(0, "127.0.0.1");
  await once(app, "listening");
  [server, browser] = await Promise.all([startServer("--allowed-origins", origin()), launch()]);
  proxy = await Proxy.to(server.url);
  files = await buildGuide(proxy.url);
});
afterAll(async () => {
  await browser.close();
  proxy.stop();
  app.close();
  await server.stop();
  rmSync(directory, { recursive: true });
});

function origin(): string {
  return `http://127.0.0.1:${(app.address() as AddressInfo).port}`;
}

/** Builds the app of docs/react.md, for a server at another address. */
async function buildGuide(url: string): Promise<Map<string, string | Uint8Array>> {
  const guide = readFileSync(join(web, "../docs/react.md"), "utf8");
  for (const [, name = "", code = ""] of guide.matchAll(/```tsx\n\/\/ (\S+)\n(.*?)```/gs)) {
    writeFileSync(join(directory, name), code.replace("https://example.com", url));
  }
  writeFileSync(join(directory, "index.html"), '<!doctype html><div id="root"></div><script type="module" src="./main.tsx"></script>');
  const result = await build({ root: directory, configFile: false, logLevel: "error", build: { write: false, modulePreload: false } });
  const output = Array.isArray(result) ? result : "output" in result ? [result] : [];
  return new Map(output.flatMap(({ output }) => output).map((file) => [file.fileName, file.type === "chunk" ? file.code : file.source]));
}

test("the app of the guide reads, follows, writes, deletes and resumes", async () => {
  const reader = await Person.register(server.url, "guided");
  const author = await Person.register(server.url, "guide_author");
  await reader.follow(author);
  const [quoted = ""] = await author.postMany(40, (i) => `Guide ${i}.`);
  await expect.poll(() => reader.homeLength()).toBe(40);

  const page = await visit(browser, origin());
  await page.goto("/");
  await page.getByLabel("Username").fill(reader.username);
  await page.getByLabel("Password").fill(Person.password);
  await page.getByRole("button", { name: "Log in" }).click();
  const posts = page.getByRole("article");
  await posts.filter({ hasText: "Guide 40." }).waitFor();
  expect(await posts.count()).toBe(30);
  await expect.poll(() => reader.unreadInHome()).toBe(0);
  await page.getByText("0 unread posts, 0 unread mentions").waitFor();
  await page.getByRole("button", { name: "Older posts" }).click();
  await expect.poll(() => posts.count()).toBe(40);

  await page.locator("[data-live=true]").waitFor();
  const doomed = await author.quote(quoted, "Guide 41.");
  await page.getByText("1 unread posts").waitFor();
  await page.getByRole("button", { name: "1 new" }).click();
  await page.getByText("0 unread posts").waitFor();
  await posts.filter({ hasText: "Guide 41." }).locator("blockquote").getByText("guide_author: Guide 1.").waitFor();
  await author.delete(doomed);
  await posts.filter({ hasText: "Guide 41." }).waitFor({ state: "detached" });

  proxy.cut();
  await page.locator("[data-live=false]").waitFor();
  await author.postMany(3, (i) => `Meanwhile ${i}.`);
  await page.getByLabel("Text").fill("Written while the network was gone.");
  await page.getByRole("button", { name: "Post" }).click();
  const own = posts.filter({ hasText: "Written while the network was gone." });
  await own.waitFor();
  proxy.restore();
  await page.getByRole("button", { name: "3 new" }).click();
  await page.locator("[data-live=true]").waitFor();
  await expect.poll(() => posts.count()).toBe(44);
  await expect.poll(() => reader.homeLength()).toBe(44);
  await own.getByRole("button", { name: "Delete", exact: true }).click();
  await own.waitFor({ state: "detached" });

  const answered = posts.filter({ hasText: "Guide 40." });
  await answered.getByRole("button", { name: "0 replies" }).click();
  await expect.poll(() => posts.count()).toBe(1);
  await page.getByLabel("Text").fill("Guided reply.");
  await page.getByRole("button", { name: "Reply" }).click();
  await posts.filter({ hasText: `replies to @${author.username}` }).filter({ hasText: "Guided reply." }).waitFor();
  await expect.poll(() => reader.homeLength()).toBe(44);
  await page.getByRole("button", { name: "Back" }).click();
  await answered.getByRole("button", { name: "1 replies" }).waitFor();
  await answered.getByRole("button", { name: "♡ 0" }).click();
  await answered.getByRole("button", { name: "♥ 1" }).waitFor();
  const stranger = await Person.register(server.url, "guide_stranger");
  await author.repost(await stranger.post("Guided repost."));
  await page.getByRole("button", { name: "1 new" }).click();
  const reposted = posts.filter({ hasText: "guide_author reposted" });
  // The second click has to win, also if its request would be faster than the first one.
  const undone = page.waitForResponse((response) => response.request().postData()?.includes("UndoRepost") ?? false);
  let send = () => {};
  const held = new Promise<void>((resolve) => (send = resolve));
  await page.route("**/graphql", async (route) => {
    if (route.request().postData()?.includes("RepostPost")) await held;
    await route.continue();
  });
  await reposted.getByRole("button", { name: "⟳ 1", pressed: false }).click();
  await reposted.getByRole("button", { name: "⟳ 2", pressed: true }).click();
  await reposted.getByRole("button", { name: "⟳ 1", pressed: false }).waitFor();
  send();
  await undone;
  await reposted.getByRole("button", { name: "⟳ 1", pressed: false }).waitFor();

  await posts.filter({ hasText: "Guide 20." }).scrollIntoViewIfNeeded();
  const before = await posts.filter({ hasText: "Guide 20." }).boundingBox();
  // A request that is on its way while the session ends would be refused.
  const counted = page.waitForResponse((response) => response.request().postData()?.includes("UnreadCounts") ?? false);
  await page.reload();
  const target = posts.filter({ hasText: "Guide 20." });
  await target.waitFor();
  await expect.poll(async () => Math.abs((await target.boundingBox())!.y - before!.y)).toBeLessThanOrEqual(2);

  await counted;
  await page.getByRole("button", { name: "Log out" }).click();
  await page.getByRole("button", { name: "Log in" }).waitFor();
  expect(await posts.count()).toBe(0);
  expect(problems.get(page.context())).toEqual([]);
  await page.context().close();
});
