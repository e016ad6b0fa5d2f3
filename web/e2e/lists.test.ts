import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { Person } from "./api.ts";
import { frames, login, postOf, visit } from "./browser.ts";
import { browser, server, startForTests } from "./suite.ts";

const crowd = 40;

let page: Page;
let reader: Person;
let star: Person;
let listId: string;
let postId: string;

startForTests();
beforeAll(async () => {
  reader = await Person.register(server.url, "reader_f");
  star = await Person.register(server.url, "star_f");
  const followers = [];
  for (let i = 0; i < crowd; i++) {
    const follower = await Person.register(server.url, `crowd_${i}`);
    followers.push(follower);
    await follower.follow(star);
    await follower.follow(reader);
    await reader.follow(follower);
  }
  await reader.follow(star);
  await star.postMany(49, (i) => `Number ${i}.`);
  await star.post("Hello, @reader_f.");
  postId = await star.post("On its own page.");
  for (let i = 1; i <= 50; i++) await reader.list(`List ${i}`);
  listId = await reader.list("Newest", star, ...followers);
});

/** Has an operation fail on the server, until it is mended. `when` says for which variables. */
async function failing(operation: string, when: (variables: Record<string, unknown>) => boolean = () => true): Promise<{ mend: () => void }> {
  let broken = true;
  await page.route("**/graphql", async (route) => {
    const asked = route.request().postDataJSON() as { operationName: string; variables: Record<string, unknown> };
    if (!broken || asked.operationName !== operation || !when(asked.variables)) return route.fallback();
    const error = { message: "internal error", extensions: { code: "INTERNAL_SERVER_ERROR", id: "f00d" } };
    await route.fulfill({ json: { errors: [error], data: null } });
  });
  return {
    mend: () => {
      broken = false;
    },
  };
}

const failure = () => page.getByRole("alert").filter({ hasText: "Something went wrong on the server (f00d). Try again." });
const again = () => failure().locator("..").getByRole("button", { name: "Try again" });

test("every page that cannot be read says so, and can be read again", async () => {
  const list = `/lists/${encodeURIComponent(listId)}`;
  const main = () => page.getByRole("main");
  const pages: [operation: string, path: string, what: () => ReturnType<typeof main>][] = [
    ["HomePage", "/", () => postOf(page, "On its own page.")],
    ["PublicPage", "/public", () => postOf(page, "On its own page.")],
    ["MentionsPage", "/mentions", () => postOf(page, "Hello, @reader_f.")],
    ["ThreadPage", `/post/${postId}`, () => postOf(page, "On its own page.")],
    ["LikersPage", `/post/${postId}/likes`, () => main().getByText("No likes yet.")],
    ["LikedPostsPage", "/likes", () => main().getByText("Posts that you like will appear here.")],
    ["ProfilePage", "/u/star_f", () => postOf(page, "On its own page.")],
    ["FollowersPage", "/u/star_f/followers", () => main().getByText("@crowd_").first()],
    ["FollowersYouKnowPage", "/u/star_f/followers/known", () => main().getByText("@crowd_").first()],
    ["CommonFollowersPage", "/u/star_f/followers/common", () => main().getByText("@crowd_").first()],
    ["FollowingPage", "/u/reader_f/following", () => main().getByText("@star_f")],
    ["NewestUsersPage", "/public/people", () => main().getByText("@crowd_").first()],
    ["ListsPage", "/lists", () => main().getByRole("link", { name: /^Newest/ })],
    ["ListPage", list, () => postOf(page, "On its own page.")],
    ["ListMembersPage", `${list}/members`, () => main().getByRole("button", { name: "Remove" }).first()],
    ["SettingsPage", "/settings", () => page.getByLabel("Display name")],
    ["Sessions", "/settings", () => page.getByText("This session")],
  ];
  page = await visit(browser, server.url);
  await login(page, reader);
  for (const [operation, path, what] of pages) {
    const { mend } = await failing(operation);
    await page.goto(path);
    await failure().waitFor();
    mend();
    await again().click();
    await what().waitFor();
    await failure().waitFor({ state: "detached" });
  }
});

test("a next page that cannot be read says so, and can be read again", async () => {
  const lists: [operation: string, path: string, last: string][] = [
    ["TimelinePage", "/u/star_f", "Number 1."],
    ["FollowersPage", "/u/star_f/followers", "@crowd_0"],
    ["ListMembersPage", `/lists/${encodeURIComponent(listId)}/members`, "@star_f"],
  ];
  page = await visit(browser, server.url);
  await login(page, reader);
  for (const [operation, path, last] of lists) {
    const { mend } = await failing(operation, ({ after }) => after != null);
    await page.goto(path);
    await toTheEnd(() => failure().count());
    mend();
    // Scrolling on is another try too: it may have come first, and the button be gone.
    await again().evaluateAll((buttons: HTMLElement[]) => buttons.forEach((button) => button.click()));
    await toTheEnd(() => page.getByRole("main").getByText(last, { exact: true }).count());
    await page.locator("[data-end-reached]").waitFor();
  }
  const { mend } = await failing("ListsPage", ({ after }) => after != null);
  await page.goto("/lists");
  await page.getByRole("button", { name: "More lists" }).click();
  await failure().waitFor();
  mend();
  await again().click();
  await page.getByRole("link", { name: /^List 1\b/ }).waitFor();
});

test("a search that fails says so, and goes on with the next letter", async () => {
  page = await visit(browser, server.url);
  await page.goto("/public");
  await page.getByRole("heading", { name: "Everyone" }).waitFor();
  const { mend } = await failing("FindUsers");
  await page.getByRole("button", { name: "Find" }).click();
  const field = page.getByRole("combobox", { name: "Name or username" });
  await field.fill("star");
  await page.getByRole("dialog").getByText("Something went wrong on the server").waitFor();
  mend();
  await field.fill("star_");
  await page.getByRole("option", { name: "star_f" }).waitFor();
});

test("what is known stays when it cannot be read anew", async () => {
  page = await visit(browser, server.url);
  await login(page, reader);
  await page.getByRole("link", { name: "Lists" }).click();
  const newest = page.getByRole("link", { name: /^Newest/ });
  await newest.waitFor();
  await page.getByRole("link", { name: "Home" }).click();
  await postOf(page, "On its own page.").waitFor();
  const { mend } = await failing("ListsPage");
  await page.getByRole("link", { name: "Lists" }).click();
  await newest.waitFor();
  await failure().waitFor();
  mend();
  await again().click();
  await failure().waitFor({ state: "detached" });
  await newest.waitFor();
});

test("back returns to the place in a list of people", async () => {
  page = await visit(browser, server.url);
  await page.goto("/u/star_f/followers");
  const target = page.getByRole("main").getByRole("link", { name: "crowd_4", exact: true });
  await toTheEnd(() => target.count());
  await target.scrollIntoViewIfNeeded();
  await frames(page, 30);
  const before = await target.boundingBox();
  await target.click();
  await page.getByRole("heading", { name: "crowd_4" }).waitFor();
  await page.goBack();
  await target.waitFor();
  await expect.poll(async () => Math.abs((await target.boundingBox())!.y - before!.y)).toBeLessThanOrEqual(2);
});

/** Scrolls down until something is there. */
async function toTheEnd(count: () => Promise<number>): Promise<void> {
  await expect
    .poll(async () => {
      await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
      return count();
    })
    .toBe(1);
}
