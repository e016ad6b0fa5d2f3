import AxeBuilder from "@axe-core/playwright";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Person } from "./api.ts";
import { launch, login, phone, problems, untilLive, visit } from "./browser.ts";
import { startServer, type Server } from "./server.ts";

/** Where to put a picture of every page, if anywhere. */
const pictures = process.env["SCREENSHOTS"];

let server: Server;
let browser: Browser;
let reader: Person;
let postId: string;

const texts = [
  "The first frost this morning, and the garden went quiet all at once.",
  "Reading about how cathedrals were paid for. It took longer to find the money than to lay the stones.",
  "Two things I learnt from baking bread:\n1. the dough knows the time\n2. it will not tell you",
  "<script>alert('markup')</script> & <img src=x onerror=alert(1)> stay what they are: text.",
  "A tram, an umbrella, a very small dog.",
  "نص يُقرأ من اليمين إلى اليسار، بين غيره.",
  "Averylongwordthathasnoendandnospacesandmustbreaksomewhereorthewholepagescrollssidewaysonphoneswhichnobodywants",
];

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer(), launch()]);
  reader = await Person.register(server.url, "mira", "Mira Holm");
  const others = [
    await Person.register(server.url, "jonas", "Jonas Weil"),
    await Person.register(server.url, "tove_a", "Tove Abel"),
    await Person.register(server.url, "sam", "Sam Oduya"),
  ];
  for (const other of others) {
    await reader.follow(other);
    await other.follow(reader);
  }
  for (const [i, text] of [...texts, ...texts].entries()) await others[i % others.length]!.post(text);
  postId = await reader.post("Tea, a window, rain. Nothing else planned.");
  if (pictures && !existsSync(pictures)) mkdirSync(pictures, { recursive: true });
});
afterAll(async () => {
  await browser.close();
  await server.stop();
});

interface Look {
  name: string;
  path: string;
  ready: (page: Page) => Promise<unknown>;
}

const anonymous: Look[] = [
  { name: "welcome", path: "/", ready: (page) => page.getByRole("button", { name: "Register" }).waitFor() },
  {
    name: "register",
    path: "/",
    ready: async (page) => {
      await page.getByRole("button", { name: "Register" }).click();
      await page.getByRole("button", { name: "Create account" }).click();
      await page.locator("[aria-invalid=true]").first().waitFor();
    },
  },
  { name: "public", path: "/public", ready: untilLive },
  { name: "not-found", path: "/nowhere", ready: (page) => page.getByRole("heading", { name: "Not found" }).waitFor() },
];
const loggedIn: Look[] = [
  { name: "home", path: "/", ready: untilLive },
  {
    name: "home-new-posts",
    path: "/",
    ready: async (page) => {
      await untilLive(page);
      const other = await Person.register(server.url, `w${Math.random().toString(36).slice(2, 12)}`);
      await reader.follow(other);
      await other.post("Fresh from somebody new.");
      await page.getByRole("button", { name: /new post/ }).waitFor();
    },
  },
  { name: "profile", path: "/u/jonas", ready: untilLive },
  { name: "own-profile", path: "/u/mira", ready: untilLive },
  { name: "followers", path: "/u/mira/followers", ready: (page) => page.getByRole("link", { name: "Tove Abel" }).waitFor() },
  { name: "following", path: "/u/mira/following", ready: (page) => page.getByRole("link", { name: "Tove Abel" }).waitFor() },
  { name: "post", path: "post", ready: (page) => page.getByRole("article").waitFor() },
  { name: "settings", path: "/settings", ready: (page) => page.getByRole("heading", { name: "Sessions" }).waitFor() },
  {
    name: "keys",
    path: "/settings",
    ready: async (page) => {
      await page.getByRole("heading", { name: "Sessions" }).waitFor();
      await page.keyboard.press("?");
      await page.getByRole("dialog").waitFor();
    },
  },
  {
    name: "find",
    path: "/settings",
    ready: async (page) => {
      await page.getByRole("heading", { name: "Sessions" }).waitFor();
      await page.keyboard.press("/");
      await page.getByRole("dialog").waitFor();
    },
  },
];

for (const colorScheme of ["light", "dark"] as const) {
  for (const [width, viewport] of [
    ["wide", { width: 1200, height: 800 }],
    ["phone", phone],
  ] as const) {
    test(`every page is for everybody: ${colorScheme}, ${width}`, async () => {
      const page = await visit(browser, server.url, { colorScheme, viewport, reducedMotion: width === "phone" ? "reduce" : "no-preference" });
      await page.addInitScript(watchShifts);
      const look = async ({ name, path, ready }: Look) => {
        await page.goto(path === "post" ? `/post/${postId}` : path);
        await ready(page);
        await page.evaluate(() => document.fonts.ready);
        const { violations } = await new AxeBuilder({ page }).analyze();
        const found = violations.map((v) => `${name}: ${v.id} at ${v.nodes.map((n) => n.target.join(" ")).join(", ")}`);
        expect(found).toEqual([]);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect(overflow, `${name} scrolls sideways`).toBeLessThanOrEqual(0);
        expect(await page.evaluate(() => (window as never as { shifted: number }).shifted), `${name} shifts`).toBeLessThan(0.02);
        if (pictures) await page.screenshot({ path: join(pictures, `${name}-${colorScheme}-${width}.png`) });
      };
      for (const one of anonymous) await look(one);
      await login(page, reader);
      for (const one of loggedIn) await look(one);
      expect(problems.get(page.context())).toEqual([]);
      await page.context().close();
    }, 120_000);
  }
}

test("text never becomes markup", async () => {
  const page = await visit(browser, server.url);
  let dialogs = 0;
  page.on("dialog", (dialog) => {
    dialogs++;
    void dialog.dismiss();
  });
  await page.goto("/public");
  await page.getByText("<script>alert('markup')</script>").first().waitFor();
  expect(await page.locator("article script, article img").count()).toBe(0);
  expect(dialogs).toBe(0);
  await page.context().close();
});

test("an injected script does not run", async () => {
  const page = await visit(browser, server.url);
  await page.goto("/public");
  await page.getByRole("article").first().waitFor();
  const ran = await page.evaluate(() => {
    const script = document.createElement("script");
    try {
      script.textContent = "window.injected = true";
      document.body.append(script);
    } catch {
      // refused by trusted types before it came so far
    }
    return "injected" in window;
  });
  expect(ran).toBe(false);
  await page.context().close();
});

test("the first paint does not wait for the socket", async () => {
  const page = await visit(browser, server.url);
  await page.routeWebSocket("**/graphql", () => {}); // accepts, and never says a word
  await page.goto("/public");
  await page.getByRole("article").first().waitFor();
  expect(await page.locator("[data-connection]").getAttribute("data-connection")).not.toBe("live");
  await page.context().close();
});

/** Adds up what moved without a reason. Runs in the page. */
function watchShifts(): void {
  const page = window as never as { shifted: number };
  page.shifted = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as (PerformanceEntry & { value: number; hadRecentInput: boolean })[]) {
      if (!entry.hadRecentInput) page.shifted += entry.value;
    }
  }).observe({ type: "layout-shift", buffered: true });
}
