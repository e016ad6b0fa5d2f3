import { expect, test } from "vitest";
import { launch, problems, visit } from "./browser.ts";
import { startServer } from "./server.ts";

test("a demo offers three people to log in as", async () => {
  const [server, browser] = await Promise.all([startServer("--demo"), launch()]);
  try {
    const page = await visit(browser, server.url);
    await page.goto("/");
    const offers = page.getByRole("button", { name: /^Log in as / });
    await offers.first().waitFor();
    expect(await offers.count()).toBe(3);
    await offers.nth(1).click();
    await page.getByRole("heading", { name: "Home" }).waitFor();
    await page.getByRole("article").first().waitFor();
    expect(problems.get(page.context())).toEqual([]);
  } finally {
    await browser.close();
    await server.stop();
  }
});
