import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";

const dist = join(import.meta.dirname, "../dist");
const limit = 200_000;

test("the app stays small", () => {
  // Everything that is loaded before the app runs, and whatever that imports.
  const wanted = [...readFileSync(join(dist, "index.html"), "utf8").matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map((m) => m[1] ?? "");
  const files = new Set<string>();
  while (wanted.length > 0) {
    const file = wanted.pop() ?? "";
    if (files.has(file)) continue;
    files.add(file);
    if (!file.endsWith(".js")) continue;
    for (const [, other] of readFileSync(join(dist, file), "utf8").matchAll(/(?:from|import|import\()\s*[`"]\.\/([^`"]+\.js)[`"]/g)) {
      wanted.push(`assets/${other}`);
    }
  }
  const sizes = [...files].map((file) => [file, gzipSync(readFileSync(join(dist, file))).length] as const);
  const total = sizes.reduce((sum, [, size]) => sum + size, 0);
  console.info(`${total} bytes, compressed: ${sizes.map(([file, size]) => `${file} ${size}`).join(", ")}`);
  expect(total).toBeLessThanOrEqual(limit);
});
