import { existsSync } from "node:fs";
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type LaunchOptions, type Locator, type Page } from "playwright-core";
import { Person } from "./api.ts";

/** Where Debian installs the browser. The headless shell takes half of the time. */
const browsers = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

/** Starts a browser with a profile of its own, that is empty. */
export function launch(options: LaunchOptions = {}): Promise<Browser> {
  return chromium.launch({
    ...options,
    timeout: 100_000,
    executablePath: process.env["CHROMIUM"] ?? browsers.find((path) => existsSync(path)) ?? "/usr/bin/chromium",
    args: [
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

export const phone = { width: 390, height: 780 };

/** What went wrong in the pages of a context, for a test to look at in the end. */
export const problems = new WeakMap<BrowserContext, string[]>();

/** How the browser itself says that the network failed, as tests have it do. */
const networkFailed = /ERR_|^WebSocket connection to '[^']*' failed: /;

/** Opens a page on the app, as a visitor of its own. */
export async function visit(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ baseURL: url, viewport: { width: 1200, height: 800 }, ...options });
  context.setDefaultTimeout(30_000);
  const list: string[] = [];
  problems.set(context, list);
  context.on("weberror", (error) => list.push(error.error().message));
  context.on("console", (message) => {
    if (message.type() === "error" && !networkFailed.test(message.text())) list.push(message.text());
  });
  return context.newPage();
}

/** Opens the home timeline of somebody who is logged in. */
export async function login(page: Page, person: Pick<Person, "username">): Promise<void> {
  // The form is for the tests of logging in: it takes as long as all the rest.
  const query = "mutation ($input: LoginInput!) { login(input: $input) { userErrors { message } } }";
  const variables = { input: { username: person.username, password: Person.password } };
  const response = await page.request.post("/graphql", { data: { query, variables } });
  const { data } = (await response.json()) as { data: { login: { userErrors: unknown[] } } };
  if (data.login.userErrors.length > 0) throw new Error(JSON.stringify(data.login.userErrors));
  await page.goto("/");
  await page.getByRole("heading", { name: "Home" }).waitFor();
}

/** Logs in by the form. */
export async function loginByForm(page: Page, person: Pick<Person, "username">): Promise<void> {
  await page.goto("/");
  await page.getByLabel("Username").fill(person.username);
  await page.getByLabel("Password").fill(Person.password);
  await page.locator("form").getByRole("button", { name: "Log in" }).click();
  await page.getByRole("heading", { name: "Home" }).waitFor();
}

/** Waits until the timeline on the page is told of what happens. */
export async function untilLive(page: Page): Promise<void> {
  await page.locator("[data-live=true]").waitFor();
}

/** Writes a post and sends it. */
export async function compose(page: Page, text: string): Promise<void> {
  await page.getByLabel("What’s on your mind?").fill(text);
  await page.getByRole("button", { name: "Post", exact: true }).click();
}

/** The post with this text. */
export function postOf(page: Page, text: string) {
  return page.getByRole("article").filter({ hasText: text });
}

/** Waits until the server has taken the post with this text. */
export async function sent(page: Page, text: string): Promise<void> {
  await postOf(page, text).and(page.locator(":not([aria-busy])")).waitFor();
}

/** Scrolls, a step at a time as the list keeps up, until a post is on the page; then to where it can be seen. */
export async function scrollTo(page: Page, post: Locator, step: number): Promise<void> {
  await page.mouse.move(600, 400);
  for (;;) {
    while ((await post.count()) === 0) {
      await page.mouse.wheel(0, step);
      await frames(page, 2);
    }
    // A page that arrives may take it away again, between any two steps.
    await post.evaluateAll(([element]) => element?.scrollIntoView({ block: "center" }));
    await settled(page);
    const tops = await post.evaluateAll((all) => all.map((element) => element.getBoundingClientRect().top));
    const height = page.viewportSize()?.height ?? 0;
    if (tops[0] !== undefined && tops[0] >= 0 && tops[0] < height) return;
  }
}

/** Waits for frames of the page. */
export async function frames(page: Page, count: number): Promise<void> {
  await page.evaluate(async (count) => {
    while (count-- > 0) await new Promise(requestAnimationFrame);
  }, count);
}

/** Lets the operations with this name reach the server, and holds its answers back until they are released. */
export async function holdAnswers(page: Page, operation: string): Promise<{ release: () => void }> {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route("**/graphql", async (route) => {
    if (!route.request().postData()?.includes(operation)) return route.continue();
    const response = await route.fetch();
    await released;
    await route.fulfill({ response });
  });
  return { release };
}

/** Opens the menu of a post, or of a part of the page, to repost it. */
export async function openReposts(within: Locator): Promise<void> {
  const page = within.page();
  const button = within.getByRole("button", { name: /^Repost/ }).first();
  // A list that has just been loaded takes the place of another one, and the menu disappears with it.
  while (!(await page.getByRole("menu", { name: "Repost or quote" }).isVisible())) {
    if ((await button.getAttribute("aria-expanded")) === "false") await button.click();
    await frames(page, 5);
  }
}

/** Chooses an item of the open menu. */
export async function choose(page: Page, item: string): Promise<void> {
  await page.getByRole("menuitem", { name: item, exact: true }).click();
}

/** The pill that says how many posts have arrived. */
export function pill(page: Page) {
  return page.locator("[data-new-posts]");
}

/** Waits until nothing has moved for a while. */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(async () => {
    let last = "";
    for (let same = 0; same < 10; ) {
      await new Promise(requestAnimationFrame);
      const now = [...document.querySelectorAll("article")].map((a) => a.getBoundingClientRect().top).join();
      same = now === last ? same + 1 : 0;
      last = now;
    }
  });
}
