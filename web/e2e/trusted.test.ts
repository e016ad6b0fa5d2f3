import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { nameOf } from "./api.ts";
import { compose, launch, postOf, problems, sent, untilLive, visit } from "./browser.ts";
import { startServer, type Server } from "./server.ts";

let directory: string;
let server: Server;
let browser: Browser;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "retwis-trusted-"));
  const manifest = join(directory, "documents.json");
  execFileSync("node", [join(import.meta.dirname, "../scripts/trustedDocuments.js"), manifest]);
  [server, browser] = await Promise.all([startServer("--trusted-only", "--trusted-documents", manifest), launch()]);
});
afterAll(async () => {
  await browser.close();
  await server.stop();
  rmSync(directory, { recursive: true });
});

test("the app works where only its own documents are run", async () => {
  const refused = await fetch(`${server.url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query: "{ publicTimeline { id } }" }),
  });
  expect(await refused.text()).toContain("FORBIDDEN");

  const page = await visit(browser, server.url);
  await page.goto("/");
  await page.getByRole("button", { name: "Register" }).click();
  expect(await page.getByRole("link", { name: "API playground" }).count()).toBe(0);
  await page.getByLabel("Username").fill(nameOf("trusting"));
  await page.getByLabel("Password").fill("correct horse battery");
  await page.getByRole("button", { name: "Create account" }).click();
  await page.getByRole("heading", { name: "Home" }).waitFor();
  await untilLive(page);
  await compose(page, "Said as agreed");
  await sent(page, "Said as agreed");
  await page.goto("/public");
  await untilLive(page);
  await postOf(page, "Said as agreed").first().waitFor();
  expect(problems.get(page.context())).toEqual([]);
});
