import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { nameOf, Person } from "./api.ts";
import { login, postOf, sent, untilLive, visit } from "./browser.ts";
import { browser, server, startForTests } from "./suite.ts";

let page: Page;

startForTests();

/** What has the focus: the text of a post, or the accessible name or text of a control. */
function focused(): Promise<string | null> {
  return page.evaluate(() => {
    const element = document.activeElement;
    const post = element?.matches("article") ? element.querySelector("p.post-text") : undefined;
    const label = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement ? element.labels?.[0] : undefined;
    return (post ?? label ?? element)?.textContent ?? null;
  });
}

/** Presses Tab until a control has the focus. */
async function tabTo(name: string): Promise<void> {
  for (let i = 0; i < 40; i++) {
    if ((await focused())?.trim() === name || (await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))) === name) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab never reached ${name}`);
}

test("after a deletion the next post has the focus", async () => {
  const person = await Person.register(server.url, "focus_delete");
  await person.postMany(3, (i) => `Focus ${i}.`);
  page = await visit(browser, server.url);
  await login(page, person);
  await untilLive(page);
  const remove = async (text: string) => {
    await postOf(page, text).getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("dialog").waitFor();
    expect(await focused()).toBe("Cancel");
    await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
    await postOf(page, text).waitFor({ state: "detached" });
  };
  await remove("Focus 3.");
  await expect.poll(focused).toBe("Focus 2.");
  await remove("Focus 1.");
  await expect.poll(focused).toBe("Focus 2.");
  await postOf(page, "Focus 2.").getByRole("button", { name: "Delete", exact: true }).click();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await postOf(page, "Focus 2.").waitFor();
  expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Delete");
  await remove("Focus 2.");
  await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe("MAIN");
});

test("a dialog that is opened as soon as it closed stays open", async () => {
  const person = await Person.register(server.url, "focus_again");
  page = await visit(browser, server.url);
  await login(page, person);
  await page.goto("/settings");
  const button = page.getByRole("main").getByRole("button", { name: "Log out everywhere" }).first();
  await button.click();
  await page.getByRole("dialog").waitFor();
  // The focus returns before the browser reports that the dialog is closed.
  await button.evaluate((element) => {
    const again = () => {
      (element as HTMLElement).click();
      document.body.dataset["again"] = "";
    };
    element.addEventListener("focus", again, { once: true });
  });
  await page.keyboard.press("Escape");
  await page.locator("body[data-again]").waitFor();
  await expect.poll(focused).toBe("Cancel");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });

  // The same with two dialogs: one is opened before the other reports that it is closed.
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  await page.evaluate(() => {
    const help = document.querySelector("dialog[open]")!;
    const press = () => document.dispatchEvent(new KeyboardEvent("keydown", { key: "/" }));
    new MutationObserver(() => press()).observe(help, { attributes: true, attributeFilter: ["open"] });
  });
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").getByLabel("Username").fill("j");
});

test("Back returns the focus to the post that was opened", async () => {
  const person = await Person.register(server.url, "focus_back");
  await person.postMany(20, (i) => `Back ${i}.`);
  page = await visit(browser, server.url);
  await page.goto(`/u/${person.username}`);
  await untilLive(page);
  for (let i = 0; i < 4; i++) await page.keyboard.press("j");
  await expect.poll(focused).toBe("Back 17.");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Post" }).waitFor();
  await page.goBack();
  await expect.poll(focused).toBe("Back 17.");
});

test("a refused form focuses the first invalid field", async () => {
  const { username } = await Person.register(server.url, "focus_form");
  page = await visit(browser, server.url);
  await page.goto("/");
  await page.getByRole("button", { name: "Register" }).click();
  await page.getByRole("button", { name: "Create account" }).click();
  await expect.poll(focused).toBe("Username");
  await page.getByText("Enter a username.").waitFor();
  await page.getByText("Enter a password.").waitFor();
  await page.getByLabel("Username").fill(username);
  await page.getByLabel("Password").fill("short");
  await page.getByRole("button", { name: "Create account" }).click();
  await page.getByText("Use at least 8 characters.").waitFor();
  await expect.poll(focused).toBe("Password");
  await page.getByLabel("Username").fill("no spaces");
  await page.getByLabel("Password").fill(Person.password);
  await page.getByRole("button", { name: "Create account" }).click();
  await page.getByText("Use only letters, digits and underscores.").waitFor();
  await page.getByLabel("Username").fill(username);
  await page.getByRole("button", { name: "Create account" }).click();
  await page.getByText("That username is taken.").waitFor();
});

test("without a mouse: register, post, follow, delete, lists, settings", async () => {
  const author = await Person.register(server.url, "by_keys", "Keyed Author");
  await author.post("Follow me by keys.");
  page = await visit(browser, server.url);
  await page.goto("/");
  const keys = page.keyboard;
  await tabTo("Register");
  await keys.press("Enter");
  await tabTo("Username");
  await keys.type(nameOf("keyboarder"));
  await tabTo("Password");
  await keys.type(Person.password);
  await keys.press("Enter");
  await page.getByRole("heading", { name: "Home" }).waitFor();
  await untilLive(page);

  await keys.press("n");
  await keys.type("Posted by keys.");
  await keys.press("Control+Enter");
  await sent(page, "Posted by keys.");
  await keys.press("Escape");

  await keys.press("/");
  await page.getByRole("combobox").waitFor();
  await keys.type(author.username);
  await page.getByRole("option", { name: `@${author.username}` }).waitFor();
  await keys.press("Enter");
  await page.getByRole("heading", { name: "Keyed Author" }).waitFor();
  await tabTo("Follow Keyed Author");
  await keys.press("Enter");
  await page.getByRole("main").getByRole("button", { name: "Following Keyed Author" }).waitFor();

  await tabTo("Add to a list");
  await keys.press("Enter");
  await page.getByRole("dialog").getByText("You have no lists yet.").waitFor();
  await tabTo("My lists");
  await keys.press("Enter");
  await page.getByRole("heading", { name: "Lists" }).waitFor();
  await tabTo("Name of the new list");
  await keys.type("Keyed");
  await keys.press("Enter");
  await page.getByRole("main").getByRole("link", { name: /^Keyed/ }).waitFor();
  await page.getByRole("main").getByRole("link", { name: /^Keyed/ }).focus();
  await keys.press("Enter");
  await page.getByRole("button", { name: "Delete", exact: true }).waitFor();
  await tabTo("Delete");
  await keys.press("Enter");
  await page.getByRole("dialog").waitFor();
  expect(await focused()).toBe("Cancel");
  await keys.press("Tab");
  await keys.press("Enter");
  await page.getByText("No lists yet.").waitFor();

  await page.getByRole("link", { name: "Home" }).focus();
  await keys.press("Enter");
  await page.getByRole("heading", { name: "Home" }).waitFor();
  await postOf(page, "Posted by keys.").focus();
  await tabTo("Delete");
  await keys.press("Enter");
  await page.getByRole("dialog").waitFor();
  await keys.press("Tab");
  await keys.press("Enter");
  await postOf(page, "Posted by keys.").waitFor({ state: "detached" });

  await page.getByRole("link", { name: "Settings" }).focus();
  await keys.press("Enter");
  await page.getByLabel("Bio").waitFor();
  await tabTo("Bio");
  await keys.type("Has no mouse.");
  await tabTo("Save profile");
  await keys.press("Enter");
  await page.getByText("Saved.").waitFor();
  await tabTo("Log out everywhere");
  await keys.press("Enter");
  await page.getByRole("dialog").waitFor();
  expect(await focused()).toBe("Cancel");
  await keys.press("Escape");
  await expect.poll(focused).toBe("Log out everywhere");
  await keys.press("Enter");
  await expect.poll(focused).toBe("Cancel");
  await keys.press("Tab");
  await keys.press("Enter");
  await page.getByRole("button", { name: "Register" }).waitFor();
});

test("a reader is still asked about a post when the list replaces the first posts", async () => {
  const person = await Person.register(server.url, "focus_ask");
  await person.postMany(3, (i) => `Ask ${i}.`);
  page = await visit(browser, server.url);
  let deliverList = () => {};
  const asked = new Promise<void>((resolve) => (deliverList = resolve));
  await page.route("**/assets/VirtualPosts*.js", async (route) => {
    await asked;
    await route.continue();
  });
  await login(page, person);
  await postOf(page, "Ask 2.").getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("dialog").waitFor();
  const first = await postOf(page, "Ask 2.").elementHandle();
  deliverList();
  await expect.poll(() => first?.evaluate((post) => post.isConnected)).toBe(false);
  await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await postOf(page, "Ask 2.").waitFor({ state: "detached" });
  await expect.poll(focused).toBe("Ask 1.");
});

test("a reader who leaves a page is not asked about its posts any more", async () => {
  const person = await Person.register(server.url, "focus_leave");
  await person.post("Left behind");
  page = await visit(browser, server.url);
  await login(page, person);
  await postOf(page, "Left behind").locator("[data-permalink]").click();
  await page.getByRole("heading", { name: "Post", exact: true }).waitFor();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("dialog").waitFor();
  await page.goBack();
  await page.getByRole("heading", { name: "Home" }).waitFor();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await postOf(page, "Left behind").waitFor();
});
