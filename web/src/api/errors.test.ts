import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Format } from "../i18n/format.ts";
import { languages, loadMessages } from "../i18n/language.ts";
import { describeError, describeUserError, ResponseError } from "./errors.ts";

const root = join(import.meta.dirname, "../../..");
const schema = readFileSync(join(root, "schema.graphqls"), "utf8");

/** The codes in `extensions.code`, as the description of the schema lists them. */
const requestCodes = [...(/extensions\.code`: ([^"]*?)"""/.exec(schema)?.[1] ?? "").matchAll(/`([A-Z_]+)`/g)].map(([, code]) => code ?? "");
const userErrorCodes = [...(/enum UserErrorCode \{([^}]*)\}/.exec(schema)?.[1] ?? "").matchAll(/^ {2}([A-Z_]+)$/gm)].map(([, code]) => code ?? "");

test("the codes of the schema are those of the documentation", () => {
  const documented = readFileSync(join(root, "docs/api.md"), "utf8").split("| `extensions.code` |")[1]?.split("\n\n")[0] ?? "";
  expect(requestCodes.length).toBeGreaterThan(8);
  expect([...documented.matchAll(/`([A-Z_]{4,})`/g)].map(([, code]) => code).sort()).toEqual(requestCodes.toSorted());
  expect(userErrorCodes.length).toBeGreaterThan(8);
});

test.each(languages)("every code has a message in %s", async (language) => {
  const texts = { t: await loadMessages(language), format: new Format(language, [language]) };
  for (const code of requestCodes) {
    const text = describeError(new ResponseError([{ message: "from the server", extensions: { code, retryAfter: 90, id: "f00d" } }]), texts);
    expect(text, code).toMatch(/^[A-ZÄÖÜ].*[.]$/);
    expect(text, code).not.toContain("from the server");
    expect(text, code).not.toBe(texts.t.errors.unknown);
    if (code === "INTERNAL_SERVER_ERROR") expect(text).toContain("f00d");
    if (code === "RATE_LIMITED" || code === "UNAVAILABLE") expect(text).toContain(texts.format.wait(90));
  }
  for (const code of userErrorCodes) {
    for (const field of [[], ["username"], ["password"], ["newPassword"], ["displayName"], ["name"], ["text"]]) {
      const text = describeUserError({ code, field, message: "from the server" }, texts);
      expect(text, code).toMatch(/^[A-ZÄÖÜ].*[.]$/);
      expect(text.toLowerCase(), code).not.toContain("from the server");
    }
  }
});

test("an error without a code of the API is explained, too", async () => {
  const texts = { t: await loadMessages("en"), format: new Format("en", ["en"]) };
  expect(describeError(new TypeError("Failed to fetch"), texts)).toBe(texts.t.errors.unreachable);
  expect(describeError(new ResponseError([{ message: "odd", extensions: { code: "NEWER" } }]), texts)).toBe(texts.t.errors.unknown);
});

test("the catalogues have the same texts", async () => {
  const [first, ...others] = await Promise.all(languages.map(async (language) => pathsOf(await loadMessages(language))));
  for (const other of others) expect(other).toEqual(first);
});

/** The paths of the texts in a catalogue. */
function pathsOf(messages: object, path = ""): string[] {
  return Object.entries(messages)
    .flatMap(([name, value]) => (typeof value === "object" ? pathsOf(value as object, `${path}${name}.`) : [path + name]))
    .sort();
}
