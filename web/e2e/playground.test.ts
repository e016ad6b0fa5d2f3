import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { Person } from "./api.ts";
import { login, phone, problems, visit } from "./browser.ts";
import { browser, server, startForTests } from "./suite.ts";

startForTests();

test("the playground queries, changes and watches as who is logged in", async () => {
  const person = await Person.register(server.url, "player");
  await person.post("There before");
  const page = await visit(browser, server.url);
  const foreign: string[] = [];
  page.on("request", (request) => {
    if (!request.url().startsWith(server.url) && !request.url().startsWith("blob:") && !request.url().startsWith("data:")) foreign.push(request.url());
  });
  await login(page, person);
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("link", { name: "API playground" }).click();
  const result = page.locator(".graphiql-response");
  const run = page.getByRole("button", { name: /^Execute/ });

  await tab(page, "Everybody");
  await run.click();
  await result.getByText("There before").waitFor();

  await tab(page, "Watch");
  await run.click();
  await result.getByText("TimelineCaughtUp").waitFor();
  await person.post("There while watching");
  await result.getByText("There while watching").waitFor();
  await person.post("There a moment later");
  await result.getByText("There a moment later").waitFor();
  // The earlier event is still there, below it.
  await result.getByText("There while watching").waitFor();
  await page.getByRole("button", { name: /^Stop/ }).click();

  await tab(page, "Post");
  await run.click();
  await result.getByText("Hello from the playground").waitFor();
  expect(await person.homeLength()).toBe(4);

  await page.getByRole("button", { name: /Documentation Explorer/ }).click();
  await page.getByText("A service for short posts and timelines.").waitFor();
  await page.getByRole("link", { name: "Query", exact: true }).click();
  await page.getByText("The posts of all users.").waitFor();

  expect(foreign).toEqual([]);
  expect(problems.get(page.context())).toEqual([]);
  await page.context().close();
});

test("on a phone the editor stands above the result, each as wide as the page", async () => {
  const page = await visit(browser, server.url, { viewport: phone });
  await page.goto("/");
  await page.getByRole("link", { name: "API playground" }).click();
  await tab(page, "Everybody");
  await page.getByRole("button", { name: /^Execute/ }).click();
  await page.locator(".graphiql-response").getByText("publicTimeline").waitFor();
  const editor = (await page.locator(".graphiql-editors").boundingBox())!;
  const result = (await page.locator(".graphiql-response").boundingBox())!;
  expect(Math.min(editor.width, result.width)).toBeGreaterThan(phone.width * 0.9);
  expect(Math.min(editor.height, result.height)).toBeGreaterThan(200);
  expect(result.y).toBeGreaterThanOrEqual(editor.y + editor.height);

  const docs = page.getByRole("button", { name: /Documentation Explorer/ });
  await docs.click();
  await page.getByText("A service for short posts and timelines.").waitFor();
  expect((await page.locator(".graphiql-plugin").boundingBox())!.width).toBeGreaterThan(phone.width * 0.9);
  await docs.click();
  await page.locator(".graphiql-response").waitFor();
  expect(problems.get(page.context())).toEqual([]);
  await page.context().close();
});

test("the comments of the first tabs fit in the editor", async () => {
  const page = await visit(browser, server.url, { viewport: phone });
  for (const viewport of [phone, { width: 1200, height: 800 }]) {
    await page.setViewportSize(viewport);
    await page.goto("/playground");
    for (const [name, comment] of [["Everybody", "The posts of"], ["Post", "Log in first"], ["Watch", "Your home"]] as const) {
      await page.getByRole("tab").getByRole("button", { name, exact: true }).click();
      await page.locator(".graphiql-query-editor .view-line").filter({ hasText: new RegExp(comment.replaceAll(" ", "\\s")) }).waitFor();
      await timersRun(page);
      const editor = (await page.locator(".graphiql-query-editor .monaco-editor").first().boundingBox())!;
      const ends = await page
        .locator(".graphiql-query-editor .view-line > span")
        .evaluateAll((lines) => lines.filter((line) => line.textContent?.startsWith("#")).map((line) => line.getBoundingClientRect().right));
      expect(ends.length, name).toBeGreaterThan(0);
      expect(Math.max(...ends), `${name}, ${viewport.width}`).toBeLessThanOrEqual(editor.x + editor.width);
    }
  }
  expect(problems.get(page.context())).toEqual([]);
  await page.context().close();
});

/** Goes to a tab, and waits until the editor has read the operation in it. */
async function tab(page: Page, name: string): Promise<void> {
  await page.getByRole("tab").getByRole("button", { name, exact: true }).click();
  await page.locator(".graphiql-query-editor .view-line").filter({ hasText: new RegExp(`^(query|mutation|subscription)\\s(${name}\\W|$)`) }).waitFor();
  await timersRun(page);
}

/** Waits for the editor's own timers, which nothing on the page shows. They come in turn, however busy the machine is. */
async function timersRun(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 500)));
}
