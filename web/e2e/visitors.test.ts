import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { Person } from "./api.ts";
import { login, phone, pill, postOf, scrollTo, untilLive, visit } from "./browser.ts";
import { browser, server, startForTests } from "./suite.ts";

startForTests();

function open(options: Parameters<typeof visit>[2] = {}): Promise<Page> {
  return visit(browser, server.url, options);
}

test("after a deep reload, the link to the page leads to its head at once", async () => {
  const person = await Person.register(server.url, "deep_home");
  await person.postMany(150, (i) => `Deep ${i}.`);
  const page = await open();
  await login(page, person);
  await untilLive(page);
  await scrollTo(page, postOf(page, "Deep 30."), 900);
  await page.reload();
  await postOf(page, "Deep 30.").waitFor();
  await untilLive(page);
  await page.getByRole("link", { name: /^Home\b/ }).click();
  await postOf(page, "Deep 150.").waitFor();
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(0);

  await scrollTo(page, postOf(page, "Deep 30."), 900);
  await page.reload();
  await postOf(page, "Deep 30.").waitFor();
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("heading", { name: "Settings" }).waitFor();
  await page.getByRole("link", { name: /^Home\b/ }).click();
  await postOf(page, "Deep 150.").waitFor();
  expect(await page.evaluate(() => scrollY)).toBe(0);
});

test("Enter in Find takes the first match, or the person whose username fits exactly", async () => {
  await Person.register(server.url, "finder", "Short Finder");
  await Person.register(server.url, "finder_longer", "Long Finder");
  const page = await open();
  await page.goto("/public");
  await page.getByRole("heading", { name: "Everyone" }).waitFor();
  const find = async (text: string, name: string) => {
    await page.getByRole("button", { name: "Find" }).click();
    await page.getByRole("combobox").fill(text);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name }).waitFor();
  };
  await find("finder_lon", "Long Finder");
  await find("FINDER", "Short Finder");
  await find("nobody_like_this", "Not found");
});

test("visitors see what an account would add", async () => {
  const person = await Person.register(server.url, "invited", "Invited Person");
  const page = await open();
  await page.goto(`/u/${person.username}`);
  await page.getByRole("link", { name: "Register to follow" }).click();
  await page.getByRole("button", { name: "Create account" }).waitFor();
  for (const [path, text] of [
    ["/mentions", "Log in to see your mentions"],
    ["/lists", "Log in to see your lists"],
    ["/settings", "Log in to change your settings"],
  ] as const) {
    await page.goto(path);
    await page.getByText(text).waitFor();
  }
  await page.getByLabel("Username").fill(person.username);
  await page.getByLabel("Password").fill(Person.password);
  await page.locator("form").getByRole("button", { name: "Log in" }).click();
  await page.getByLabel("Display name").waitFor();
});

test("a new account is offered people to follow, and not itself", async () => {
  await Person.register(server.url, "suggested", "Suggested Person");
  const person = await Person.register(server.url, "newcomer", "New Comer");
  const page = await open({ viewport: phone });
  await login(page, person);
  const main = page.getByRole("main");
  await main.getByRole("button", { name: "Follow Suggested Person" }).waitFor();
  expect(await main.getByRole("link", { name: "New Comer" }).count()).toBe(0);
  await page.setViewportSize({ width: 1280, height: 800 });
  const aside = page.getByRole("complementary");
  await aside.getByRole("button", { name: "Follow Suggested Person" }).click();
  await aside.getByRole("button", { name: "Following Suggested Person" }).waitFor();
  expect(await aside.getByText("New Comer").count()).toBe(0);
});

test("on a scrolled phone a button leads to the composer", async () => {
  const person = await Person.register(server.url, "phone_writer");
  await person.postMany(40, (i) => `Phone ${i}.`);
  const page = await open({ viewport: phone, hasTouch: true });
  await login(page, person);
  await untilLive(page);
  const write = page.getByRole("link", { name: "Write a post" });
  expect(await write.count()).toBe(0);
  await page.evaluate(() => window.scrollTo(0, 1_500));
  await write.click();
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("composer");
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(0);
  await page.getByRole("link", { name: "Profile" }).click();
  await page.getByRole("heading", { name: person.username }).waitFor();
  await write.click();
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("composer");
});

test("new posts are counted in the title, and their button covers no post", async () => {
  const author = await Person.register(server.url, "titled");
  await author.post("First of all.");
  const page = await open();
  await page.goto(`/u/${author.username}`);
  await untilLive(page);
  await author.post("Second.");
  await pill(page).waitFor();
  await expect.poll(() => page.title()).toBe(`(1) @${author.username} — Retwis`);
  const button = (await pill(page).boundingBox())!;
  const header = (await postOf(page, "First of all.").getByRole("link").first().boundingBox())!;
  expect(button.y + button.height).toBeLessThanOrEqual(header.y);
  await pill(page).click();
  await expect.poll(() => page.title()).toBe(`@${author.username} — Retwis`);
});

test("texts show at most one blank line in a row, and lists that fit have no foot", async () => {
  const author = await Person.register(server.url, "blank_lines");
  await author.post("Above.\n\n\n \n\n\n\nBelow.");
  const page = await open();
  await page.goto(`/u/${author.username}`);
  await untilLive(page);
  expect(await postOf(page, "Above.").locator("p.post-text").textContent()).toBe("Above.\n\nBelow.");
  await page.locator("[data-end-reached]").waitFor({ state: "attached" });
  expect(await page.getByText("You’ve reached the end.").count()).toBe(0);
});

test("links in posts and bios lead to their addresses, mentions to profiles", async () => {
  const author = await Person.register(server.url, "linking");
  const other = await Person.register(server.url, "linked");
  await author.tellAboutThemselves(`Writes at https://example.com/é, with @${other.username}.`);
  await author.post(`👋 @${other.username} (https://example.com/a_(b)?c=d&e#f) <https://user@example.org> javascript:alert(1)`);
  const page = await open();
  await page.goto(`/u/${author.username}`);
  await untilLive(page);
  const links = (text: string) =>
    page
      .locator("p.post-text")
      .filter({ hasText: text })
      .getByRole("link")
      .evaluateAll((all) => all.map((a) => [a.textContent, a.getAttribute("href"), a.getAttribute("rel")]));
  const mention = [`@${other.username}`, `/u/${other.username}`, null];
  expect(await links("Writes at")).toEqual([["https://example.com/é", "https://example.com/é", "nofollow noopener ugc"], mention]);
  expect(await links("👋")).toEqual([
    mention,
    ["https://example.com/a_(b)?c=d&e#f", "https://example.com/a_(b)?c=d&e#f", "nofollow noopener ugc"],
  ]);
});

test("at 200 % zoom every item of the navigation can be reached", async () => {
  const person = await Person.register(server.url, "zoomed");
  const page = await open({ viewport: { width: 640, height: 400 } });
  await login(page, person);
  for (const name of ["Settings", "Profile"]) {
    const link = page.getByRole("navigation", { name: "Main" }).getByRole("link", { name });
    await link.focus();
    const box = (await link.boundingBox())!;
    expect(box.y).toBeGreaterThanOrEqual(0);
    expect(box.y + box.height).toBeLessThanOrEqual(400);
  }
  await page.getByRole("button", { name: /^Theme/ }).scrollIntoViewIfNeeded();
  await page.getByRole("button", { name: /^Theme/ }).click();
});

test("a modal dialog darkens the whole window", async () => {
  const page = await open({ colorScheme: "light" });
  await page.goto("/public");
  await page.getByRole("heading", { name: "Everyone" }).waitFor();
  const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await background();
  await page.getByRole("button", { name: "Find" }).click();
  await page.getByRole("dialog").waitFor();
  expect(await background()).not.toBe(light);
});
