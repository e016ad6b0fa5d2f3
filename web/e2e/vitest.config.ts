import { defineConfig } from "vitest/config";

export default defineConfig({
  root: import.meta.dirname,
  test: {
    include: ["*.test.ts"],
    globalSetup: "./build.ts",
    setupFiles: "./attempts.ts",
    // A machine with other things to do takes ten times as long.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    // Each file has a server and a browser of its own, which wait for each other: two files leave a quarter of two cores idle.
    maxWorkers: 3,
    // A busy machine may take longer than any patience. Who writes tests is not spared the failure.
    retry: process.env["CI"] ? 1 : 0,
  },
});
