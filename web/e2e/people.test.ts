import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { Person } from "./api.ts";
import { compose, login, phone, pill, postOf, untilLive, visit } from "./browser.ts";
import { browser, server, startForTests } from "./suite.ts";

startForTests();

function open(options: Parameters<typeof visit>[2] = {}): Promise<Page> {
  return visit(browser, server.url, options);
}

test("a list is made, filled, read live, renamed and deleted", async () => {
  const owner = await Person.register(server.url, "keeper");
  const author = await Person.register(server.url, "listed", "Listed Author");
  await author.post("From the listed one");
  const page = await open();
  await login(page, owner);
  await page.getByRole("link", { name: "Lists" }).click();
  await page.getByText("No lists yet").waitFor();
  await page.getByLabel("Name of the new list").fill("Gardeners");
  await page.getByRole("button", { name: "New list" }).click();
  await page.getByRole("link", { name: /Gardeners/ }).click();
  await page.getByText("Nobody is on this list yet.").waitFor();

  await page.getByRole("link", { name: "0 people" }).click();
  const field = page.getByRole("combobox", { name: "Add a person by name or username" });
  await field.fill(author.username.slice(0, -2).toUpperCase());
  await page.getByRole("option", { name: "Listed Author" }).waitFor();
  await field.press("ArrowDown");
  await expect.poll(() => page.getByRole("option", { selected: true }).count()).toBe(1);
  await field.press("Enter");
  await page.getByRole("main").getByRole("link", { name: "Listed Author" }).waitFor();
  await field.fill("nobody_at_all");
  await field.press("Enter");
  await page.getByText("No user named @nobody_at_all.").waitFor();

  await page.getByRole("link", { name: "Posts", exact: true }).click();
  await postOf(page, "From the listed one").waitFor();
  await untilLive(page);
  await author.post("Live on the list");
  await pill(page).click();
  await postOf(page, "Live on the list").waitFor();

  await page.getByRole("button", { name: "Rename" }).click();
  await page.getByLabel("Name of the list").fill("Botanists");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Botanists" }).waitFor();

  await page.getByRole("link", { name: "1 person" }).click();
  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByText("Nobody is on this list yet.").waitFor();
  await page.getByRole("link", { name: "0 people" }).waitFor();

  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("heading", { name: "Lists" }).waitFor();
  await page.getByText("No lists yet").waitFor();
});

test("somebody is put on a list from their profile, and taken off", async () => {
  const owner = await Person.register(server.url, "collector");
  const other = await Person.register(server.url, "collected");
  await owner.list("Full of them", other);
  await owner.list("Without them");
  const page = await open();
  await login(page, owner);
  await page.goto(`/u/${other.username}`);
  const opening = page.getByRole("button", { name: "Add to a list" });
  await opening.click();
  const full = page.getByRole("checkbox", { name: "Full of them" });
  const without = page.getByRole("checkbox", { name: "Without them" });
  await full.waitFor();
  expect([await full.isChecked(), await without.isChecked()]).toEqual([true, false]);
  await without.click();
  await expect.poll(() => without.isChecked()).toBe(true);
  await full.click();
  await expect.poll(() => full.isChecked()).toBe(false);
  await page.reload();
  await opening.click();
  await full.waitFor();
  expect([await full.isChecked(), await without.isChecked()]).toEqual([false, true]);
});

test("a mention is completed by keys, linked, and found by who is mentioned", async () => {
  const author = await Person.register(server.url, "mentioner");
  const named = await Person.register(server.url, "named_one", "The Named");
  const begun = `@${named.username.slice(0, -2)}`;
  const writing = await open();
  const reading = await open();
  await Promise.all([login(writing, author), login(reading, named)]);
  await reading.getByRole("link", { name: "Mentions" }).click();
  await reading.getByText("Nobody has mentioned you yet.").waitFor();
  await untilLive(reading);

  const field = writing.getByLabel("What’s on your mind?");
  await field.pressSequentially(`Good morning ${begun}`);
  await writing.getByRole("option", { name: "The Named" }).waitFor();
  await field.press("Escape");
  await writing.getByRole("option").waitFor({ state: "detached" });
  await field.pressSequentially("n");
  expect(await field.inputValue()).toBe(`Good morning ${begun}n`);
  await field.press("Backspace");
  await field.pressSequentially(` ${begun}`);
  await writing.getByRole("option", { name: "The Named" }).waitFor();
  await field.press("Enter");
  await expect.poll(() => field.inputValue()).toBe(`Good morning ${begun} @${named.username} `);
  await field.pressSequentially("and all");
  await field.press("Control+Enter");
  const post = postOf(writing, "and all");
  await post.getByRole("link", { name: `@${named.username}` }).waitFor();

  await pill(reading).click();
  await postOf(reading, "Good morning").waitFor();
  await post.getByRole("link", { name: `@${named.username}` }).click();
  await writing.getByRole("heading", { name: "The Named" }).waitFor();
});

test("people are found by words of their usernames and display names", async () => {
  const first = await Person.register(server.url, "findable_1", "First Find");
  await Person.register(server.url, "findable_2", "Second Find");
  const page = await open();
  await page.goto("/public");
  await page.getByRole("heading", { name: "Everyone" }).waitFor();
  await page.keyboard.press("/");
  const field = page.getByRole("combobox", { name: "Name or username" });
  await field.fill("find second");
  await page.getByText("1 match").waitFor();
  await page.getByRole("option", { name: "Second Find" }).waitFor();
  await field.fill("");
  await field.pressSequentially(first.username.slice(0, -2));
  await page.getByRole("option", { name: "Second Find" }).waitFor();
  await page.getByText("2 matches").waitFor();
  await field.press("ArrowDown");
  await field.press("ArrowDown");
  await expect.poll(() => field.getAttribute("aria-activedescendant")).toBe(await page.getByRole("option", { name: "Second Find" }).getAttribute("id"));
  await field.press("Enter");
  await page.getByRole("heading", { name: "Second Find" }).waitFor();
});

test("a profile tells whom one knows among the followers", async () => {
  const star = await Person.register(server.url, "star");
  const reader = await Person.register(server.url, "knowing");
  const known = await Person.register(server.url, "known_one");
  const common = await Person.register(server.url, "common_one");
  const stranger = await Person.register(server.url, "stranger");
  for (const person of [known, common, stranger]) await person.follow(star);
  await reader.follow(known);
  await common.follow(reader);
  const page = await open();
  await login(page, reader);
  await page.goto(`/u/${star.username}`);
  await page.getByRole("link", { name: `Followed by ${known.username}, whom you follow` }).click();
  const main = page.getByRole("main");
  await main.getByText(`@${known.username}`).waitFor();
  expect(await main.getByText(`@${stranger.username}`).count()).toBe(0);
  await page.getByRole("link", { name: "Also follow you" }).click();
  await main.getByText(`@${common.username}`).waitFor();
  expect(await main.getByText(`@${known.username}`, { exact: true }).count()).toBe(0);
  await page.getByRole("link", { name: "All", exact: true }).click();
  await main.getByText(`@${stranger.username}`).waitFor();
});

test("who joined last is shown beside everybody's posts, and on phones behind a tab", async () => {
  const newest = await Person.register(server.url, "just_joined");
  const page = await open();
  await page.goto("/public");
  await page.getByRole("complementary", { name: "New people" }).getByText(`@${newest.username}`).waitFor();
  const small = await open({ viewport: phone });
  await small.goto("/public");
  await small.getByRole("link", { name: "New people" }).click();
  await small.getByRole("main").getByText(`@${newest.username}`).waitFor();
  expect(await small.getByRole("complementary").count()).toBe(0);
});

test("a session elsewhere is ended from the settings", async () => {
  const person = await Person.register(server.url, "two_places");
  const page = await open();
  await login(page, person);
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByText("This session").waitFor();
  const end = page.locator("[data-session]");
  expect(await end.count()).toBe(1);
  await end.click();
  await end.waitFor({ state: "detached" });
  expect(await person.loggedIn()).toBe(false);
  await page.reload();
  await page.getByText("This session").waitFor();
  expect(await end.count()).toBe(0);
});

test("an account is deleted by who knows its password", async () => {
  const person = await Person.register(server.url, "leaving");
  const page = await open();
  await login(page, person);
  await compose(page, "My last words");
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("button", { name: "Delete account" }).click();
  const field = page.getByRole("dialog").getByLabel("Your password");
  const go = page.getByRole("dialog").getByRole("button", { name: "Delete account" });
  await field.fill("not the password");
  await go.click();
  await expect.poll(() => field.getAttribute("aria-invalid")).toBe("true");
  await field.fill(Person.password);
  await go.click();
  await page.getByRole("button", { name: "Register" }).waitFor();
  await page.getByLabel("Username").fill(person.username);
  await page.getByLabel("Password").fill(Person.password);
  await page.locator("form").getByRole("button", { name: "Log in" }).click();
  await page.getByRole("alert").waitFor();
});

test("the colours that were chosen are there from the first frame, in every tab", async () => {
  const page = await open({ colorScheme: "light" });
  await page.goto("/public");
  const paper = (of: Page) => of.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await paper(page);
  const other = await page.context().newPage();
  await other.goto("/public");
  const button = page.getByRole("button", { name: /^Theme/ });
  await button.click();
  await button.click();
  await page.getByRole("button", { name: "Theme: dark" }).waitFor();
  const dark = await paper(page);
  expect(dark).not.toBe(light);
  await expect.poll(() => paper(other)).toBe(dark);

  await page.addInitScript(() => {
    requestAnimationFrame(() => {
      (window as never as { first: string }).first = getComputedStyle(document.documentElement).colorScheme;
    });
  });
  await page.reload();
  await page.getByRole("button", { name: "Theme: dark" }).waitFor();
  expect(await page.evaluate(() => (window as never as { first: string }).first)).toBe("dark");
  expect(await paper(page)).toBe(dark);
  await button.click();
  await page.getByRole("button", { name: "Theme: system" }).waitFor();
  expect(await paper(page)).toBe(light);
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await paper(page)).toBe(dark);
});
