import { expect, test } from "vitest";
import { Person } from "./api.ts";
import { choose, login, openReposts, postOf, sent, settled, untilLive, visit } from "./browser.ts";
import { browser, server, startForTests } from "./suite.ts";

startForTests();

const removal = "Do not quote the post";

test("a post is quoted from a timeline, counted, listed, and a placeholder once it is deleted", async () => {
  const author = await Person.register(server.url, "quoted", "Quoted Person");
  const reader = await Person.register(server.url, "quotes_it");
  const follower = await Person.register(server.url, "sees_quotes");
  await reader.follow(author);
  await follower.follow(reader);
  const original = await author.post("An original @quotes_it");
  await expect.poll(() => reader.homeLength()).toBe(1);
  const page = await visit(browser, server.url);
  const other = await visit(browser, server.url);
  await login(other, follower);
  await untilLive(other);
  await login(page, reader);
  await openReposts(postOf(page, "An original"));
  await choose(page, "Quote");
  const form = page.locator("main form");
  await form.locator("blockquote").getByText("An original").waitFor();
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("composer");
  await page.keyboard.type("Worth reading.");
  await page.keyboard.press("Control+Enter");
  const quote = postOf(page, "Worth reading.");
  await quote.locator("blockquote").getByText("An original").waitFor();
  await sent(page, "Worth reading.");
  expect(await form.locator("blockquote").count()).toBe(0);

  // Events bring the id of the original alone. It is read once the quote is shown.
  let asked = 0;
  other.on("request", (request) => void (asked += request.postData()?.includes("MissingPostDetails") ? 1 : 0));
  await other.getByRole("button", { name: "1 new post" }).click();
  await postOf(other, "Worth reading.").locator("blockquote").getByText("An original").waitFor();
  expect(asked).toBe(1);

  await quote.getByRole("link", { name: "Quoted post by Quoted Person" }).click();
  await page.getByRole("heading", { name: "Post" }).waitFor();
  await expect.poll(() => author.quoteCount(original)).toBe(1);
  await page.reload();
  await page.getByRole("link", { name: "1 quote", exact: true }).click();
  await page.getByRole("heading", { name: "Quotes" }).waitFor();
  await quote.locator("blockquote").getByText("An original").waitFor();

  await author.delete(original);
  await page.goto("/");
  await quote.getByText("The quoted post was deleted.").waitFor();
  await page.getByText("Worth reading.").click();
  await page.getByRole("heading", { name: "Post" }).waitFor();
  await quote.getByText("The quoted post was deleted.").waitFor();
});

test("a quote that fails disappears, its draft keeps the original, and the keyboard suffices", async () => {
  const person = await Person.register(server.url, "quote_fails");
  await person.post("Quoted in vain");
  await person.post("Another post");
  await expect.poll(() => person.homeLength()).toBe(2); // later posts would wait behind "new posts"
  const page = await visit(browser, server.url);
  await login(page, person);
  await untilLive(page);
  await postOf(page, "Quoted in vain").waitFor(); // the keys do nothing before
  await settled(page);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("q");
  const form = page.locator("main form");
  await form.locator("blockquote").getByText("Quoted in vain").waitFor();
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("composer");
  await page.keyboard.type("Will not arrive");
  await page.route("**/graphql", async (route) => {
    if (!route.request().postData()?.includes("CreatePost")) return route.continue();
    await route.fulfill({ json: { errors: [{ message: "no", extensions: { code: "INTERNAL_SERVER_ERROR", id: "f00d" } }], data: { createPost: null } } });
  });
  await page.keyboard.press("Control+Enter");
  await page.getByText("The post was not sent.").waitFor();
  expect(await postOf(page, "Will not arrive").count()).toBe(0);
  await page.unroute("**/graphql");
  await page.reload();
  await form.locator("blockquote").getByText("Quoted in vain").waitFor();
  expect(await page.locator("#composer").inputValue()).toBe("Will not arrive");
  await form.getByRole("button", { name: removal }).focus();
  await page.keyboard.press("Enter");
  await form.locator("blockquote").waitFor({ state: "detached" });
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("composer");
  await page.keyboard.press("Control+Enter");
  await sent(page, "Will not arrive");
  expect(await postOf(page, "Will not arrive").locator("blockquote").count()).toBe(0);
});
