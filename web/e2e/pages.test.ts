import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { Person } from "./api.ts";
import { compose, login, loginByForm, postOf, sent, untilLive, visit } from "./browser.ts";
import { browser, server, startForTests } from "./suite.ts";

let page: Page;

startForTests();

test("somebody registers, posts, logs out and logs in again", async () => {
  const name = `ada${Math.random().toString(36).slice(2, 10)}`;
  page = await visit(browser, server.url);
  await page.goto("/");
  await page.getByRole("button", { name: "Register" }).click();
  await page.getByLabel("Username").fill(name);
  await page.getByLabel("Display name").fill("Ada L.");
  await page.getByLabel("Password").fill(Person.password);
  await page.getByRole("button", { name: "Create account" }).click();
  await page.getByRole("heading", { name: "Home" }).waitFor();
  await page.getByText("Posts from you and people you follow will appear here.").waitFor();

  await compose(page, "The engine weaves patterns");
  await sent(page, "The engine weaves patterns");

  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("button", { name: "Log out", exact: true }).click();
  await page.getByRole("button", { name: "Register" }).waitFor();
  await page.getByRole("link", { name: "Settings" }).waitFor({ state: "detached" });

  await loginByForm(page, { username: name.toUpperCase() });
  await postOf(page, "The engine weaves patterns").waitFor();
});

test("mistakes are explained where they were made", async () => {
  const { username } = await Person.register(server.url, "taken");
  page = await visit(browser, server.url);
  await page.goto("/");
  await page.getByLabel("Username").fill(username);
  await page.getByLabel("Password").fill("not the password");
  await page.locator("form").getByRole("button", { name: "Log in" }).click();
  await page.getByRole("alert").waitFor();

  await page.getByRole("button", { name: "Register" }).click();
  await page.getByLabel("Username").fill(username);
  await page.getByLabel("Password").fill(Person.password);
  await page.getByRole("button", { name: "Create account" }).click();
  await expect.poll(() => page.getByLabel("Username").getAttribute("aria-invalid")).toBe("true");
  await page.getByLabel("Username").fill("someone_fresh");
  await page.getByLabel("Password").fill("short");
  await page.getByRole("button", { name: "Create account" }).click();
  await expect.poll(() => page.getByLabel("Password").getAttribute("aria-invalid")).toBe("true");
});

test("everybody's posts and a single post are there without a login", async () => {
  const person = await Person.register(server.url, "openly");
  await person.post("Written in the open");
  page = await visit(browser, server.url);
  await page.goto("/public");
  await postOf(page, "Written in the open").first().locator("[data-permalink]").click();
  await page.getByRole("heading", { name: "Post" }).waitFor();
  await postOf(page, "Written in the open").waitFor();
  expect(await page.getByRole("main").getByRole("button", { name: /follow/i }).count()).toBe(0);
});

test("the page of a post shows its text large, and leads to its author", async () => {
  const person = await Person.register(server.url, "one_post", "Author Of One");
  await person.post("To be read by itself");
  page = await visit(browser, server.url);
  await page.goto(`/u/${person.username}`);
  const size = () => page.getByText("To be read by itself").evaluate((element) => parseFloat(getComputedStyle(element).fontSize));
  let inList = NaN; // until the list has replaced the posts of the first paint
  await expect.poll(async () => (inList = await size())).toBeGreaterThan(0);
  await page.getByText("To be read by itself").click();
  await page.getByRole("heading", { name: "Post" }).waitFor();
  await expect.poll(size).toBeGreaterThan(inList);
  await page.getByRole("main").getByRole("link", { name: "Author Of One", exact: true }).click();
  await page.getByRole("heading", { name: "Author Of One" }).waitFor();
});

test("a click on a post's text opens it, and selecting the text does not", async () => {
  const person = await Person.register(server.url, "clicked");
  await person.post("Text to click on");
  page = await visit(browser, server.url);
  await page.goto(`/u/${person.username}`);
  const text = page.getByText("Text to click on");
  await text.waitFor();
  await untilLive(page);
  const box = (await text.boundingBox())!;
  await page.mouse.move(box.x + 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + 60, box.y + box.height / 2, { steps: 5 });
  await page.mouse.up();
  expect(await page.evaluate(() => String(getSelection()))).not.toBe("");
  expect(new URL(page.url()).pathname).toBe(`/u/${person.username}`);
  await text.click();
  await page.getByRole("heading", { name: "Post" }).waitFor();
});

test("a profile shows posts, people and a button to follow", async () => {
  const author = await Person.register(server.url, "author_1", "An Author");
  const reader = await Person.register(server.url, "reader_1", "A Reader");
  await author.post("From the author");
  page = await visit(browser, server.url);
  await login(page, reader);
  await page.keyboard.press("/");
  await page.getByRole("dialog").getByLabel("Username").fill(author.username);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "An Author" }).waitFor();
  await postOf(page, "From the author").waitFor();

  const follow = page.getByRole("main").locator("[data-follow]");
  await page.getByRole("main").getByRole("button", { name: "Follow An Author" }).click();
  await page.getByRole("main").getByRole("button", { name: "Following An Author" }).waitFor();
  await page.getByRole("link", { name: "1 follower" }).click();
  await page.getByRole("main").getByRole("link", { name: "A Reader" }).waitFor();
  await page.getByRole("link", { name: "0 following" }).click();
  await page.getByText("Not following anyone yet.").waitFor();

  await page.getByRole("link", { name: "Home" }).click();
  await postOf(page, "From the author").waitFor();

  await page.goto(`/u/${author.username}`);
  await follow.click();
  await page.getByRole("main").getByRole("button", { name: "Follow An Author" }).waitFor();
  await page.getByRole("link", { name: "0 followers" }).waitFor();
});

test("settings change the profile and the password", async () => {
  const person = await Person.register(server.url, "changing");
  page = await visit(browser, server.url);
  await login(page, person);
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByLabel("Display name").fill("Changed Name");
  await page.getByLabel("Bio").fill("Something <b>about</b> me");
  await page.getByRole("button", { name: "Save profile" }).click();
  await page.getByText("Saved.").waitFor();

  await page.getByLabel("Current password").fill("wrong password");
  await page.getByLabel("New password").fill("another password");
  await page.getByRole("button", { name: "Change password" }).click();
  await expect.poll(() => page.getByLabel("Current password").getAttribute("aria-invalid")).toBe("true");
  await page.getByLabel("New password").fill("short");
  await page.getByRole("button", { name: "Change password" }).click();
  await page.getByText("Use at least 8 characters.").waitFor();
  expect(await page.getByText("Wrong password.").count()).toBe(1); // both at once
  await page.getByLabel("New password").fill("another password");
  await page.getByLabel("Current password").fill(Person.password);
  await page.getByRole("button", { name: "Change password" }).click();
  await page.getByText("Password changed.").waitFor();

  await page.getByRole("link", { name: "Profile" }).click();
  await page.getByRole("heading", { name: "Changed Name" }).waitFor();
  await page.getByText("Something <b>about</b> me").waitFor();
  await untilLive(page);
  await page.reload();
  await page.getByRole("link", { name: "Settings" }).waitFor();
});

test("what is not there is said not to be there", async () => {
  page = await visit(browser, server.url);
  for (const path of ["/nowhere/at/all", "/u/nobody_here", "/post/none", "/u/nobody_here/followers"]) {
    await page.goto(path);
    await page.getByRole("heading", { name: "Not found" }).waitFor();
  }
});

test("an author deletes a post, from the list and from its page", async () => {
  const person = await Person.register(server.url, "deleter");
  await person.post("Stays");
  await person.post("Goes first");
  await person.post("Goes second");
  page = await visit(browser, server.url);
  await login(page, person);
  const first = postOf(page, "Goes first");
  await first.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await first.waitFor({ state: "detached" });
  await postOf(page, "Goes second").locator("[data-permalink]").click();
  await page.getByRole("heading", { name: "Post" }).waitFor();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("heading", { name: "Home" }).waitFor();
  await postOf(page, "Stays").waitFor();
  expect(await page.getByRole("article").count()).toBe(1);
});
