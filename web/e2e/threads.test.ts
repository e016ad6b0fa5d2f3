import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { Person } from "./api.ts";
import { login, phone, postOf, sent, untilLive, visit } from "./browser.ts";
import { browser, server, startForTests } from "./suite.ts";

startForTests();

/** Opens the thread of a post. */
async function open(page: Page, postId: string): Promise<void> {
  await page.goto(`/post/${postId}`);
  await page.getByRole("heading", { name: "Post" }).waitFor();
}

/** The replies on the page of a post. */
function replies(page: Page) {
  return page.getByRole("region", { name: "Replies" });
}

/** The texts of posts, in their order. */
function texts(of: ReturnType<typeof replies>): Promise<(string | null)[]> {
  return of.locator("article p.post-text").evaluateAll((all) => all.map((element) => element.textContent));
}

/** Writes a reply on the page of a post and sends it. */
async function answer(page: Page, text: string): Promise<void> {
  await page.locator("#reply-composer").fill(text);
  await page.getByRole("button", { name: "Reply", exact: true }).click();
}

test("a reply is written from a timeline, appears at once, and says whom it answers", async () => {
  const author = await Person.register(server.url, "asks", "Asking Person");
  const reader = await Person.register(server.url, "answers");
  await reader.follow(author);
  await author.post("Tea or coffee?");
  await expect.poll(() => reader.homeLength()).toBe(1);
  const page = await visit(browser, server.url);
  await login(page, reader);
  await postOf(page, "Tea or coffee?").getByRole("link", { name: "Reply", exact: true }).click();
  await page.getByRole("heading", { name: "Post" }).waitFor();
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("reply-composer");
  await page.getByLabel(`Reply to @${author.username}`).waitFor();
  await page.keyboard.type("Tea, please.");
  await page.keyboard.press("Control+Enter");
  await replies(page).getByText("Tea, please.").waitFor();
  await page.getByText("1 reply", { exact: true }).waitFor();
  await sent(page, "Tea, please.");
  expect(await page.locator("#reply-composer").inputValue()).toBe("");
  expect(await replies(page).getByText(/Replying to/).count()).toBe(0);

  await page.goBack();
  await untilLive(page);
  const own = postOf(page, "Tea, please.");
  await own.getByText(`Replying to @${author.username}`).waitFor();
  await postOf(page, "Tea or coffee?").getByRole("link", { name: "Reply, 1 reply" }).waitFor();
  expect(await own.getByRole("link", { name: `@${author.username}` }).getAttribute("href")).toBe(`/u/${author.username}`);
  // A profile shows it among the replies only.
  await page.goto(`/u/${reader.username}`);
  await page.getByText(`@${reader.username} has not posted yet.`).waitFor();
  await page.getByRole("link", { name: "Posts and replies" }).click();
  await own.waitFor();
  expect(await page.locator("nav [aria-current=page]").allTextContents()).toEqual(["1 post", "Posts and replies"]);
});

test("a thread has the posts above, deleted ones as placeholders, and the replies in pages", async () => {
  const author = await Person.register(server.url, "threads");
  const other = await Person.register(server.url, "joins_in");
  const root = await author.post("The root");
  const gone = await other.reply(root, "Gone between");
  const middle = await author.reply(gone, "The middle");
  await other.delete(gone);
  for (let i = 1; i <= 21; i++) await other.reply(middle, `Reply ${i}.`);
  await author.reply(middle, "By the author");
  await expect.poll(() => author.replyCount(middle)).toBe(22);
  const page = await visit(browser, server.url, { viewport: phone });
  await open(page, middle);
  const above = page.getByRole("region", { name: "Earlier posts in this thread" });
  await above.getByText("The root").waitFor();
  await above.getByText("This post was deleted.").waitFor();
  const first20 = ["By the author", ...Array.from({ length: 19 }, (_, i) => `Reply ${i + 1}.`)];
  await expect.poll(() => texts(replies(page))).toEqual(first20);
  await page.getByRole("link", { name: "Log in to reply" }).waitFor();
  // The page begins with the post. The posts above are above the screen.
  const top = () => page.getByText("The middle").evaluate((element) => element.getBoundingClientRect().top);
  expect(await top()).toBeGreaterThan(56);
  expect(await top()).toBeLessThan(250);
  await page.getByRole("button", { name: "Show more replies" }).click();
  await expect.poll(() => texts(replies(page))).toEqual([...first20, "Reply 20.", "Reply 21."]);
  await page.getByRole("button", { name: "Newest first" }).click();
  const newest = ["By the author", ...Array.from({ length: 19 }, (_, i) => `Reply ${21 - i}.`)];
  await expect.poll(() => texts(replies(page))).toEqual(newest);

  await replies(page).getByText("Reply 17.").click();
  await above.getByText("The middle").waitFor();
  await page.getByText("No replies yet.").waitFor();
  await page.goBack();
  await expect.poll(() => texts(replies(page))).toEqual(newest);
  expect(await page.getByRole("button", { name: "Newest first" }).getAttribute("aria-pressed")).toBe("true");
});

test("a reply that fails disappears, and its text is kept", async () => {
  const author = await Person.register(server.url, "fails");
  const post = await author.post("Answer me");
  const page = await visit(browser, server.url);
  await login(page, author);
  await open(page, post);
  await page.getByLabel("Continue your thread").waitFor();
  await page.route("**/graphql", async (route) => {
    if (!route.request().postData()?.includes("CreatePost")) return route.continue();
    await route.fulfill({ json: { errors: [{ message: "no", extensions: { code: "INTERNAL_SERVER_ERROR", id: "f00d" } }], data: { createPost: null } } });
  });
  await answer(page, "Will not arrive");
  await page.getByText("The post was not sent.").waitFor();
  expect(await replies(page).getByRole("article").count()).toBe(0);
  expect(await page.locator("#reply-composer").inputValue()).toBe("Will not arrive");
  await page.unroute("**/graphql");

  // The draft belongs to the post, and survives a reload.
  await page.reload();
  await expect.poll(() => page.locator("#reply-composer").inputValue()).toBe("Will not arrive");
  await page.getByRole("link", { name: "Home" }).click();
  expect(await page.getByLabel("What’s on your mind?").inputValue()).toBe("");
  await page.goBack();

  await author.delete(post);
  await page.getByRole("button", { name: "Reply", exact: true }).click();
  await page.getByText("The post that you are replying to was deleted.").waitFor();
  expect(await page.locator("#reply-composer").inputValue()).toBe("Will not arrive");
});

test("a post that is deleted in view leaves a placeholder, and the text of a reply", async () => {
  const author = await Person.register(server.url, "removes");
  const reader = await Person.register(server.url, "in_view");
  await reader.follow(author);
  const post = await author.post("Soon gone");
  await reader.reply(post, "Stays below");
  await expect.poll(() => reader.replyCount(post)).toBe(1);
  const page = await visit(browser, server.url);
  await login(page, reader);
  await untilLive(page);
  await page.getByText("Soon gone").click();
  await replies(page).getByText("Stays below").waitFor();
  await page.locator("#reply-composer").fill("Half a reply");
  await page.locator("[data-connection=live]").waitFor();
  await author.delete(post);
  await page.getByText("This post was deleted.", { exact: true }).waitFor();
  await page.getByText("This post was deleted. You can no longer reply to it.").waitFor();
  expect(await page.locator("#reply-composer").inputValue()).toBe("Half a reply");
  expect(await page.getByRole("button", { name: "Reply", exact: true }).isDisabled()).toBe(true);
  // Its page stays while it has replies.
  await open(page, post);
  await page.getByText("This post was deleted.").first().waitFor();
  await replies(page).getByText("Stays below").waitFor();
  expect(await page.locator("#reply-composer").count()).toBe(0);
  await replies(page).getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText("No replies yet.").waitFor();
  await expect.poll(() => reader.replyCount(post)).toBe(0);
  await page.reload();
  await page.getByText("This post does not exist. It may have been deleted.").waitFor();
});

test("without a mouse: through a thread, and into a reply", async () => {
  const author = await Person.register(server.url, "keyed_thread");
  const root = await author.post("Keyed root");
  const post = await author.reply(root, "Keyed post");
  const first = await author.reply(post, "Keyed reply one");
  await author.reply(post, "Keyed reply two");
  await expect.poll(() => author.replyCount(post)).toBe(2);
  const page = await visit(browser, server.url);
  await login(page, author);
  await open(page, post);
  await replies(page).getByText("Keyed reply two").waitFor();
  const focused = () => page.evaluate(() => document.activeElement?.querySelector("p.post-text")?.textContent ?? document.activeElement?.id);
  await page.locator("#reply-composer").waitFor();
  await page.keyboard.press("j");
  expect(await focused()).toBe("Keyed root");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  expect(await focused()).toBe("Keyed reply two");
  await page.keyboard.press("k");
  expect(await focused()).toBe("Keyed reply one");
  await page.keyboard.press("r");
  await expect.poll(() => page.url()).toContain(first);
  await expect.poll(focused).toBe("reply-composer");
  await page.keyboard.press("Escape");
  await page.keyboard.press("n");
  await page.getByRole("heading", { name: "Home" }).waitFor();
  await expect.poll(focused).toBe("composer");
});
