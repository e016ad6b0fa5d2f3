import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { compress } from "./scripts/compress.ts";

// The server that `npm run dev` talks to.
const api = process.env["RETWIS_DEV_API"] ?? "http://127.0.0.1:8080";

export default defineConfig({
  plugins: [react(), tailwindcss(), compress(), playground()],
  build: {
    target: "es2022",
    // Data URLs would need exceptions in the Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: { app: "index.html", playground: "playground.html" },
      onLog(level, log, report) {
        // A hint of packages to a compiler that they have been through already.
        const known = log.code === "MODULE_LEVEL_DIRECTIVE" && log.message.includes('"use no memo"') && log.message.includes("node_modules/");
        if (!known) report(level, log);
      },
    },
    chunkSizeWarningLimit: 4000, // the editor of the playground
  },
  worker: { format: "es" },
  // Vite has to see the imports of workers; bundled beforehand they would mean nothing to it.
  optimizeDeps: { exclude: ["graphiql/setup-workers/vite", "@graphiql/react/setup-workers/vite"] },
  server: {
    proxy: { "/graphql": { target: api, ws: true } },
  },
  test: {
    include: ["src/**/*.test.{ts,tsx}"],
    environment: "jsdom",
    // No test waits for the clock: it is the machine that may be busy.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});

/** Serves the playground where the binary has it, while developing. */
function playground(): Plugin {
  return {
    name: "playground",
    configureServer({ middlewares }) {
      middlewares.use((request, _, next) => {
        if (request.url === "/playground") request.url = "/playground.html";
        next();
      });
    },
  };
}
