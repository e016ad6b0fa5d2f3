import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { Person } from "./api.ts";
import { login, phone, postOf, untilLive, visit } from "./browser.ts";
import { browser, server, startForTests } from "./suite.ts";

let page: Page;

startForTests();

/** Holds the scripts of the app back until they are released. */
async function holdScripts(): Promise<{ release: () => void }> {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route("**/assets/*.js", async (route) => {
    await released;
    await route.continue();
  });
  return { release };
}

/** Where the texts of the first posts are, what they answer, and the links to reply. */
function places(): Promise<[text: string, top: number, left: number, width: number][]> {
  return page.locator("article p:not(.flex), article [data-reply], article [data-early-part=reply]").evaluateAll((all) =>
    all.slice(0, 16).map((element) => {
      const { top, left, width } = element.getBoundingClientRect();
      return [element.textContent ?? "", Math.round(top), Math.round(left), Math.round(width)];
    }),
  );
}

test.each([
  ["/", phone],
  ["/", { width: 1200, height: 800 }],
  ["/public", phone],
])("the newest posts of %s are shown before the app runs, at their place", async (path, viewport) => {
  const person = await Person.register(server.url, `early_${viewport.width}${path.length}`, "Early Person");
  const other = await Person.register(server.url, `early_other_${viewport.width}${path.length}`);
  const reposter = await Person.register(server.url, `early_reposter_${viewport.width}${path.length}`, "Reposting Person");
  const stranger = await Person.register(server.url, `early_stranger_${viewport.width}${path.length}`);
  await person.follow(reposter);
  const [first = "", second = ""] = await stranger.postMany(2, (i) => `Reposted early ${i}.`);
  const ids = await person.postMany(19, (i) => `Early ${i}.${"\n".repeat(i % 5)}With @${person.username} and https://example.com/`);
  // The public timeline shows no replies to others.
  const answered = path === "/" && viewport === phone ? await other.post("Early question.") : ids[18]!;
  await person.reply(answered, "Early 20.");
  const gone = await other.post("Early and gone.");
  for (const [quoted, text] of [[ids[0]!, "Early 21."], [gone, "Early 22."]] as const) await person.quote(quoted, text);
  await reposter.repost(first);
  await expect.poll(() => person.homeLength()).toBe(23); // before the own repost, which is there at once
  await person.repost(second);
  await other.delete(gone);
  await expect.poll(() => person.replyCount(answered)).toBe(1);
  const reposts = path === "/" ? ["You reposted", "Reposting Person reposted"] : [];
  await expect.poll(() => person.homeLength()).toBe(24);
  page = await visit(browser, server.url, { viewport });
  await login(page, person);
  const held = await holdScripts();
  await page.goto(path, { waitUntil: "commit" });
  await postOf(page, "Early 20.").waitFor();
  expect(await page.locator("blockquote").count()).toBe(2);
  expect(await page.getByText(/ reposted$/).allTextContents()).toEqual(reposts);
  expect(await page.locator("[data-connection]").count()).toBe(0);
  expect(await page.locator("[data-early-rows]").count()).toBe(0);
  const early = await places();
  expect(early.length).toBe(16);
  expect(await page.locator("article a").first().getAttribute("href")).toBe(`/u/${person.username}`);
  held.release();
  await untilLive(page);
  expect(await page.locator("[data-early-posts]").count()).toBe(0);
  expect(await places()).toEqual(early);
  expect(await page.getByText(/ reposted$/).allTextContents()).toEqual(reposts);
});

test("the line above what was read is shown before the app runs, at its place", async () => {
  const person = await Person.register(server.url, "early_line");
  await person.postMany(3, (i) => `Early read ${i}.`);
  page = await visit(browser, server.url);
  await login(page, person);
  await expect.poll(() => person.unreadInHome()).toBe(0);
  await page.goto("/settings");
  await person.postMany(2, (i) => `Early new ${i}.`);
  const held = await holdScripts();
  await page.goto("/", { waitUntil: "commit" });
  const line = page.locator("[data-last-visit]");
  await line.waitFor();
  const early = [await line.boundingBox(), await postOf(page, "Early new 1.").boundingBox(), await postOf(page, "Early read 3.").boundingBox()];
  held.release();
  await untilLive(page);
  expect(await page.locator("[data-early-posts]").count()).toBe(0);
  expect([await line.boundingBox(), await postOf(page, "Early new 1.").boundingBox(), await postOf(page, "Early read 3.").boundingBox()]).toEqual(early);
});

test("between the early posts and those of the app there are no placeholders", async () => {
  const person = await Person.register(server.url, "no_flash");
  await person.postMany(3, (i) => `Steady ${i}.`);
  page = await visit(browser, server.url);
  await login(page, person);
  const held = await holdScripts();
  await page.goto("/", { waitUntil: "commit" });
  await postOf(page, "Steady 3.").waitFor();
  await page.evaluate(() => {
    const seen = window as never as { fewest: number };
    seen.fewest = Infinity;
    const count = () => {
      seen.fewest = Math.min(seen.fewest, document.querySelectorAll("article").length);
      requestAnimationFrame(count);
    };
    count();
  });
  held.release();
  await untilLive(page);
  expect(await page.evaluate(() => (window as never as { fewest: number }).fewest)).toBe(3);
});

test("the responses of the API are compressed", async () => {
  const person = await Person.register(server.url, "compressed");
  await person.postMany(20, (i) => `Compressed ${i}.`);
  page = await visit(browser, server.url);
  await login(page, person);
  const response = page.waitForResponse((response) => response.request().postData()?.includes("HomePage") ?? false);
  await page.goto("/");
  expect((await (await response).allHeaders())["content-encoding"]).toMatch(/^(gzip|zstd|br)$/);
});

test("visitors see the welcome page at once, and nothing of Home before it", async () => {
  page = await visit(browser, server.url);
  const held = await holdScripts();
  await page.goto("/", { waitUntil: "commit" });
  await page.getByRole("button", { name: "Register" }).waitFor();
  expect(await page.getByText("Home", { exact: true }).count()).toBe(0);
  expect(await page.locator("[data-early-rows], [role=feed], article").count()).toBe(0);
  const words = await page.locator("#root").innerText();
  held.release();
  // A click before the app runs has no effect.
  const chooseRegister = async () => {
    await page.getByRole("button", { name: "Register" }).click();
    return page.getByRole("button", { name: "Create account" }).count();
  };
  await expect.poll(chooseRegister).toBe(1);
  await page.getByRole("button", { name: "Log in" }).first().click();
  // The link to the playground is for browsers that run scripts.
  expect((await page.locator("#root").innerText()).replace(/\s*API playground$/, "")).toBe(words.trimEnd());
});

test("on a slow connection every page begins with its frame", async () => {
  page = await visit(browser, server.url);
  const held = await holdScripts();
  for (const path of ["/find", "/u/nobody", "/settings"]) {
    await page.goto(path, { waitUntil: "commit" });
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Everyone" }).waitFor();
    await page.locator("[data-early-rows]").waitFor();
  }
  held.release();
});
