import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    binary: string;
  }
}

/** Builds the program that the tests run, with the web app as `npm run build` left it. */
export default function build(project: TestProject): () => void {
  const repository = join(import.meta.dirname, "../..");
  if (!existsSync(join(repository, "web/dist/index.html"))) throw new Error("web/dist is missing: run `npm run build` first");
  const directory = mkdtempSync(join(tmpdir(), "retwis-e2e-"));
  const given = process.env["E2E_BINARY"];
  const binary = given ?? join(directory, "retwis");
  if (given === undefined) execFileSync("go", ["build", "-o", binary, "./cmd/retwis"], { cwd: repository, stdio: "inherit" });
  project.provide("binary", binary);
  return () => rmSync(directory, { recursive: true });
}
