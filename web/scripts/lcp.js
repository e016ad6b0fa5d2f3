// Compares the first paint of two versions of the service: `npm run lcp -- BEFORE AFTER`, with the paths of their binaries.
//
// It opens the welcome page, and Home with 30 posts, in a browser without a cache, at a quarter of the machine's speed and
// with 1.6 Mbit/s and 150 ms. The two versions take turns. It prints the medians of the largest contentful paint, in
// milliseconds, and the ratio of the second to the first.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const runs = Number(process.env["RUNS"] ?? 5);
const versions = process.argv.slice(2);
if (versions.length !== 2) {
  console.error("usage: npm run lcp -- BEFORE AFTER");
  process.exit(2);
}

const servers = await Promise.all(versions.map(start));
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? ["/usr/bin/chromium", "/usr/bin/chromium-headless-shell"].find((path) => existsSync(path)),
  args: [...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), "--disable-gpu"],
});
try {
  for (const page of ["welcome", "Home"]) {
    const times = servers.map(() => []);
    for (let run = 0; run < runs; run++) {
      for (const [i, server] of servers.entries()) times[i].push(await measure(server, page === "Home"));
    }
    const [before, after] = times.map(median);
    console.log(`${page}: ${before.toFixed(0)} → ${after.toFixed(0)} ms, ratio ${(after / before).toFixed(2)}`);
  }
} finally {
  await browser.close();
  for (const { child } of servers) child.kill("SIGTERM");
}

/** Starts a version, with a user who has posts. */
async function start(binary) {
  const child = spawn(binary, ["serve", "--redis-url", "memory", "--listen", "127.0.0.1:0", "--rate-limits", "off", "--drain-time", "0s"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  let output = "";
  const url = await new Promise((resolve, reject) => {
    child.stdout.on("data", (data) => {
      output += data;
      const ready = /ready at (http:\S+)/.exec(output);
      if (ready) resolve(ready[1]);
    });
    child.on("error", reject);
    child.on("exit", (code) => reject(new Error(`${binary} ended with ${code}: ${output}`)));
  });
  const { register } = await call(url, `mutation { register(input: {username: "reader", password: "correct horse"}) { token } }`);
  for (let i = 1; i <= 30; i++) {
    await call(url, `mutation { createPost(input: {text: "Post ${i}. The first frost this morning, and the garden went quiet all at once."}) { edge { cursor } } }`, register.token);
  }
  return { child, url, token: register.token };
}

async function call(url, query, token) {
  const response = await fetch(`${url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify({ query }),
  });
  const { data, errors } = await response.json();
  if (errors) throw new Error(JSON.stringify(errors));
  return data;
}

/** Returns the largest contentful paint of the page at /, in milliseconds. */
async function measure({ url, token }, loggedIn) {
  const context = await browser.newContext({ viewport: { width: 390, height: 780 } });
  try {
    if (loggedIn) await context.addCookies([{ name: "retwis_session", value: token, url }]);
    await context.addInitScript(() => {
      window.largestPaint = 0;
      new PerformanceObserver((list) => (window.largestPaint = list.getEntries().at(-1).startTime)).observe({
        type: "largest-contentful-paint",
        buffered: true,
      });
    });
    const page = await context.newPage();
    const devtools = await context.newCDPSession(page);
    await devtools.send("Network.enable");
    await devtools.send("Network.emulateNetworkConditions", {
      offline: false,
      latency: 150,
      downloadThroughput: 1_600_000 / 8,
      uploadThroughput: 750_000 / 8,
    });
    await devtools.send("Emulation.setCPUThrottlingRate", { rate: 4 });
    await page.goto(url, { timeout: 120_000 });
    if (loggedIn) await page.getByRole("article").first().waitFor({ timeout: 120_000 });
    else await page.getByLabel("Username").waitFor({ timeout: 120_000 });
    await page.waitForLoadState("networkidle", { timeout: 120_000 });
    return await page.evaluate(() => window.largestPaint);
  } finally {
    await context.close();
  }
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
