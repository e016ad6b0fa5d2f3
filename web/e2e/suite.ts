import type { Browser, LaunchOptions } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { launch, problems } from "./browser.ts";
import { startServer, type Server } from "./server.ts";

/** The server and the browser of the tests of a file. */
export let server: Server;
export let browser: Browser;

/**
 * Starts a server and a browser for the tests of a file. After each test, nothing may have gone wrong in the pages that it
 * visited, and they are closed.
 */
export function startForTests(options: LaunchOptions = {}): void {
  beforeAll(async () => {
    [server, browser] = await Promise.all([startServer(), launch(options)]);
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });
  afterEach(async () => {
    const contexts = browser.contexts();
    const found = contexts.flatMap((context) => problems.get(context) ?? []);
    await Promise.all(contexts.map((context) => context.close()));
    expect(found).toEqual([]);
  });
}
