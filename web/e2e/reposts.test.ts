import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { Person } from "./api.ts";
import { choose, holdAnswers, login, openReposts, pill, postOf, scrollTo, settled, untilLive, visit } from "./browser.ts";
import { browser, server, startForTests } from "./suite.ts";

startForTests();

/** An author, somebody who reposts, and a reader who follows the second one alone. */
async function three(name: string): Promise<[author: Person, fan: Person, reader: Person]> {
  const author = await Person.register(server.url, `${name}_author`, "Author");
  const fan = await Person.register(server.url, `${name}_fan`, "Fan");
  const reader = await Person.register(server.url, `${name}_reader`, "Reader");
  await reader.follow(fan);
  return [author, fan, reader];
}

/** The post or control that has the focus: the text of a post, or the accessible name. */
function focused(page: Page): Promise<string | null> {
  return page.evaluate(() => {
    const { activeElement } = document;
    if (activeElement?.matches("article")) return activeElement.querySelector("p.post-text")?.textContent ?? null;
    return activeElement?.getAttribute("aria-label") ?? activeElement?.textContent ?? null;
  });
}

test("a repost arrives at a follower with the reason, and leaves when it is undone", async () => {
  const [author, fan, reader] = await three("live");
  await author.post("Worth reposting");
  const reposting = await visit(browser, server.url);
  const reading = await visit(browser, server.url);
  await Promise.all([login(reposting, fan), login(reading, reader)]);
  await untilLive(reading);
  await reposting.goto(`/u/${author.username}`);
  await openReposts(postOf(reposting, "Worth reposting"));
  await choose(reposting, "Repost");
  await postOf(reposting, "Worth reposting").getByRole("button", { name: "Reposted, 1 repost" }).waitFor();
  expect(await focused(reposting)).toBe("Reposted, 1 repost");

  await pill(reading).click();
  const arrived = postOf(reading, "Worth reposting");
  await arrived.getByText("Fan reposted").waitFor();
  await arrived.getByRole("link", { name: "Author", exact: true }).waitFor();
  // The event does not bring the number.
  await arrived.getByRole("button", { name: "Repost, 1 repost" }).waitFor();
  await arrived.getByRole("link", { name: "Fan" }).click();
  await reading.getByRole("heading", { name: "Fan" }).waitFor();
  await postOf(reading, "Worth reposting").getByText("Fan reposted").waitFor();
  await reading.goBack();
  await arrived.waitFor();
  await openReposts(postOf(reposting, "Worth reposting"));
  await choose(reposting, "Undo repost");
  await reposting.getByRole("button", { name: "Repost", exact: true }).waitFor();
  await arrived.waitFor({ state: "detached" });
  await postOf(reposting, "Worth reposting").waitFor();
});

test("the viewer's repost is on top of the own timelines, and the focus moves on when it is undone", async () => {
  const [author, fan] = await three("own");
  await fan.post("Own post");
  await author.post("Mine by repost");
  await author.post("Kept by repost");
  const page = await visit(browser, server.url);
  await login(page, fan);
  await untilLive(page);
  await page.goto(`/u/${author.username}`);
  for (const text of ["Kept by repost", "Mine by repost"]) {
    await openReposts(postOf(page, text));
    await choose(page, "Repost");
    await postOf(page, text).getByRole("button", { name: "Reposted, 1 repost" }).waitFor();
  }
  await page.getByRole("link", { name: "Home" }).click();
  await postOf(page, "Mine by repost").getByText("You reposted").waitFor();
  expect(await pill(page).count()).toBe(0);
  const texts = () => page.locator("p.post-text").allInnerTexts();
  expect(await texts()).toEqual(["Mine by repost", "Kept by repost", "Own post"]);
  await page.getByRole("link", { name: "Profile" }).click();
  await page.getByRole("heading", { name: "Fan" }).waitFor();
  await untilLive(page);
  expect(await texts()).toEqual(["Mine by repost", "Kept by repost", "Own post"]);
  await page.getByText("1 post", { exact: true }).waitFor();
  await openReposts(postOf(page, "Mine by repost"));
  await choose(page, "Undo repost");
  await postOf(page, "Mine by repost").waitFor({ state: "detached" });
  await expect.poll(() => focused(page)).toBe("Kept by repost");
  await page.getByRole("link", { name: "Home" }).click();
  await postOf(page, "Kept by repost").waitFor();
  await untilLive(page);
  expect(await texts()).toEqual(["Kept by repost", "Own post"]);
});

test("the keyboard suffices", async () => {
  const person = await Person.register(server.url, "repost_keys");
  await person.post("By keyboard");
  const page = await visit(browser, server.url);
  await login(page, person);
  await untilLive(page);
  await settled(page);
  await page.keyboard.press("j");
  for (let i = 0; i < 10 && (await focused(page)) !== "Repost"; i++) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect.poll(() => focused(page)).toBe("Repost");
  const menu = page.getByRole("menu");
  await menu.waitFor();
  await page.keyboard.press("ArrowUp");
  expect(await focused(page)).toBe("Quote");
  await page.keyboard.press("ArrowDown");
  expect(await focused(page)).toBe("Repost");
  await page.keyboard.press("End");
  expect(await focused(page)).toBe("Quote");
  await page.keyboard.press("Escape");
  await menu.waitFor({ state: "detached" });
  expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-haspopup"))).toBe("menu");
  await page.keyboard.press("ArrowDown");
  await menu.waitFor();
  await page.keyboard.press("Tab");
  await menu.waitFor({ state: "detached" });
  expect(await focused(page)).toBe("Like");
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Enter");
  await menu.waitFor();
  await page.keyboard.press("Home");
  const held = await holdAnswers(page, "RepostPost");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Reposted, 1 repost" }).waitFor();
  await expect.poll(() => focused(page)).toBe("Reposted, 1 repost");
  // What is chosen before the answer arrives follows after it.
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Undo repost" }).waitFor();
  await page.keyboard.press("Enter");
  held.release();
  await page.getByRole("button", { name: "Repost", exact: true }).waitFor();
  await page.mouse.click(600, 700);
  await openReposts(postOf(page, "By keyboard"));
  await page.mouse.click(600, 700);
  await menu.waitFor({ state: "detached" });
});

test("a repost that fails is undone, with a message", async () => {
  const [author, fan] = await three("fails");
  await author.post("Not to be reposted");
  const page = await visit(browser, server.url);
  await login(page, fan);
  await page.goto(`/u/${author.username}`);
  await untilLive(page);
  let answer = () => {};
  const held = new Promise<void>((resolve) => (answer = resolve));
  await page.route("**/graphql", async (route) => {
    if (!route.request().postData()?.includes("RepostPost")) return route.continue();
    await held;
    await route.fulfill({ json: { errors: [{ message: "no", extensions: { code: "INTERNAL_SERVER_ERROR", id: "f00d" } }], data: { repostPost: null } } });
  });
  await openReposts(postOf(page, "Not to be reposted"));
  await choose(page, "Repost");
  await page.getByRole("button", { name: "Reposted, 1 repost" }).waitFor();
  answer();
  await postOf(page, "Not to be reposted").getByText("Something went wrong on the server (f00d). Try again.").waitFor();
  await page.getByRole("button", { name: "Repost", exact: true }).waitFor();
});

test("an original takes its reposts along, also if it is deleted from one of them", async () => {
  const [author, fan, reader] = await three("original");
  const gone = await author.post("Gone with its reposts");
  await fan.repost(gone);
  await fan.post("Left alone");
  await expect.poll(() => reader.homeLength()).toBe(2);
  const page = await visit(browser, server.url);
  await login(page, reader);
  await untilLive(page);
  await postOf(page, "Gone with its reposts").getByText("Fan reposted").waitFor();
  expect(await postOf(page, "Gone with its reposts").getByRole("button", { name: "Delete" }).count()).toBe(0);
  await author.delete(gone);
  await postOf(page, "Gone with its reposts").waitFor({ state: "detached" });
  expect(await page.getByRole("article").count()).toBe(1);

  const again = await author.post("Deleted from a repost");
  await fan.repost(again);
  await page.context().clearCookies();
  await login(page, author);
  await page.goto(`/u/${fan.username}`);
  await untilLive(page);
  await postOf(page, "Deleted from a repost").getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await postOf(page, "Deleted from a repost").waitFor({ state: "detached" });
  await expect.poll(() => focused(page)).toBe("Left alone");
  await expect.poll(() => reader.homeLength()).toBe(1);
});

test("the post and a repost of it are entries of their own on one page", async () => {
  const [author, fan, reader] = await three("twice");
  await reader.follow(author);
  const original = await author.post("Here twice");
  await fan.postMany(101, (i) => `Between ${i}.`);
  await fan.repost(original);
  await expect.poll(() => reader.homeLength()).toBe(100);
  const page = await visit(browser, server.url);
  await login(page, reader);
  await untilLive(page);
  await postOf(page, "Here twice").getByText("Fan reposted").waitFor();
  await page.keyboard.press("j");
  expect(await focused(page)).toBe("Here twice");
  const itself = postOf(page, "Here twice").filter({ hasNotText: "Fan reposted" });
  await scrollTo(page, itself, 1_000);
  await fan.undoRepost(original);
  await fan.post("Last of all");
  await pill(page).waitFor();
  expect(await itself.count()).toBe(1);
  await pill(page).click();
  await postOf(page, "Between 101.").waitFor();
  await postOf(page, "Last of all").waitFor();
  await expect.poll(() => postOf(page, "Here twice").count()).toBe(0);
});

test("reposts of somebody who is followed are hidden from the home, and shown again", async () => {
  const [author, fan, reader] = await three("hides");
  await fan.repost(await author.post("Hidden on request"));
  await fan.post("Shown in any case");
  await expect.poll(() => reader.homeLength()).toBe(2);
  const page = await visit(browser, server.url);
  await login(page, reader);
  await postOf(page, "Hidden on request").waitFor();
  const change = async (item: string, hidden: boolean) => {
    await page.goto(`/u/${fan.username}`);
    await page.getByRole("button", { name: "Options for Fan" }).click();
    await choose(page, item);
    await page.locator(`[data-hides-reposts=${hidden}]`).waitFor();
    await page.getByRole("link", { name: "Home" }).click();
    await postOf(page, "Shown in any case").waitFor();
    await untilLive(page);
  };
  await change("Hide reposts", true);
  await expect.poll(() => postOf(page, "Hidden on request").count()).toBe(0);
  await change("Show reposts", false);
  await postOf(page, "Hidden on request").waitFor();
  await page.goto(`/u/${fan.username}`);
  await page.getByRole("main").getByRole("button", { name: "Following Fan" }).click();
  await page.getByRole("button", { name: "Options for Fan" }).waitFor({ state: "detached" });
});
