import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";

const dist = join(import.meta.dirname, "../dist");

/** Part of the messages of Apollo Client. */
const apolloMarker = "go.apollo.dev";
/** Part of the field that finds people. */
const comboboxMarker = "combobox";

/** The files that a document loads before it runs, and what these import statically. */
function filesOf(document: string): string[] {
  const wanted = [...readFileSync(join(dist, document), "utf8").matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map((m) => m[1] ?? "");
  const files = new Set<string>();
  while (wanted.length > 0) {
    const file = wanted.pop() ?? "";
    if (files.has(file)) continue;
    files.add(file);
    if (!file.endsWith(".js")) continue;
    for (const [, other] of readFileSync(join(dist, file), "utf8").matchAll(/(?:from|import)\s*[`"]\.\/([^`"]+\.js)[`"]/g)) {
      wanted.push(`assets/${other}`);
    }
  }
  return [...files];
}

function contains(files: string[], text: string): boolean {
  return files.some((file) => readFileSync(join(dist, file), "utf8").includes(text));
}

test.each([
  ["welcome.html", 100_000],
  ["welcome.de.html", 100_000],
  ["index.html", 165_000],
])("%s loads at most %d bytes", (document, limit) => {
  const sizes = filesOf(document).map((file) => [file, gzipSync(readFileSync(join(dist, file))).length] as const);
  const total = sizes.reduce((sum, [, size]) => sum + size, 0);
  console.info(`${document}: ${total} bytes, compressed: ${sizes.map(([file, size]) => `${file} ${size}`).join(", ")}`);
  expect(sizes.length).toBeGreaterThan(3);
  expect(total).toBeLessThanOrEqual(limit);
});

test("the welcome page does without Apollo Client", () => {
  expect(contains(filesOf("index.html"), apolloMarker)).toBe(true);
  expect(contains(filesOf("welcome.html"), apolloMarker)).toBe(false);
});

test("the field that finds people and the playground load on demand", () => {
  const files = filesOf("index.html");
  expect(contains(files, "FindPage-")).toBe(true); // the name of the chunk
  expect(contains(files, comboboxMarker)).toBe(false);
  expect(files.filter((file) => /playground|monaco|editor/.test(file))).toEqual([]);
});
