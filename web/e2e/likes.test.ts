import { expect, test } from "vitest";
import { Person } from "./api.ts";
import { login, postOf, untilLive, visit } from "./browser.ts";
import { browser, server, startForTests } from "./suite.ts";

startForTests();

test("a like shows at once, is undone if it fails, and is found again", async () => {
  const author = await Person.register(server.url, "liked_author");
  const reader = await Person.register(server.url, "likes_it", "Liking Person");
  await reader.follow(author);
  const watched = await author.post("Watched");
  await author.post("To be liked");
  await expect.poll(() => reader.homeLength()).toBe(2);
  const page = await visit(browser, server.url);
  await login(page, reader);
  await untilLive(page);
  for (const fan of [author, await Person.register(server.url, "also_likes_it")]) {
    await fan.like(watched); // an event of the first moments of a subscription may be lost, but not the next one
    if (await postOf(page, "Watched").getByRole("button", { name: /^Like, \d/ }).isVisible()) break;
  }
  await postOf(page, "Watched").getByRole("button", { name: /^Like, \d likes?$/, pressed: false }).waitFor();

  const liked = postOf(page, "To be liked");
  const button = liked.getByRole("button", { name: /^Like/ });
  await button.click();
  await liked.getByRole("button", { name: "Like, 1 like", pressed: true }).waitFor();

  await page.route("**/graphql", async (route) => {
    if (!route.request().postData()?.includes("UnlikePost")) return route.continue();
    await route.fulfill({ json: { errors: [{ message: "no", extensions: { code: "INTERNAL_SERVER_ERROR", id: "f00d" } }], data: { unlikePost: null } } });
  });
  await button.click();
  await liked.getByText("Something went wrong on the server (f00d). Try again.").waitFor();
  await liked.getByRole("button", { name: "Like, 1 like", pressed: true }).waitFor();
  await page.unroute("**/graphql");

  await page.goto("/likes");
  await page.getByRole("heading", { name: "Liked posts" }).waitFor();
  await postOf(page, "To be liked").waitFor();
  expect(await page.getByRole("article").count()).toBe(1);
  await page.getByText("To be liked").click();
  await page.getByRole("link", { name: "1 like", exact: true }).click();
  await page.getByRole("main").getByRole("link", { name: "Liking Person" }).waitFor();
  await page.goBack();
  await page.getByRole("button", { name: "Like, 1 like", pressed: true }).click();
  await page.getByRole("button", { name: "Like", exact: true, pressed: false }).waitFor();
  await page.reload();
  await page.getByRole("button", { name: "Like", exact: true, pressed: false }).waitFor();
  await page.goto("/likes");
  await page.getByText("Posts that you like will appear here.").waitFor();
});
