import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defaultClientConditions, type Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { chunkOf } from "./scripts/chunks.ts";
import { compress } from "./scripts/compress.ts";
import { prerender } from "./scripts/prerender.ts";

// The server that `npm run dev` forwards requests to.
const api = process.env["RETWIS_DEV_API"] ?? "http://127.0.0.1:8080";

export default defineConfig({
  plugins: [react(), tailwindcss(), prerender(), compress(), playground()],
  resolve: {
    // RxJS publishes its code without helpers for old browsers under this condition.
    conditions: ["es2015", ...defaultClientConditions],
    // React has this hook itself since version 18.
    alias: { "use-sync-external-store/shim/index.js": "react" },
  },
  build: {
    target: "es2022",
    // Data URLs would need exceptions in the Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: { app: "index.html", welcome: "welcome.html", offline: "offline.html", playground: "playground.html" },
      output: { codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: chunkOf, debugName: "documents" }] } },
      onLog(level, log, report) {
        // Packages that were compiled already carry this directive.
        const known = log.code === "MODULE_LEVEL_DIRECTIVE" && log.message.includes('"use no memo"') && log.message.includes("node_modules/");
        if (!known) report(level, log);
      },
    },
    chunkSizeWarningLimit: 4000, // the editor of the playground
  },
  worker: { format: "es" },
  // Vite has to see the imports of workers, so these modules are not bundled in advance.
  optimizeDeps: { exclude: ["graphiql/setup-workers/vite", "@graphiql/react/setup-workers/vite"] },
  server: {
    proxy: { "/graphql": { target: api, ws: true } },
  },
  test: {
    include: ["{src,packages/*/src}/**/*.test.{ts,tsx}"],
    environment: "jsdom",
    // No test waits for the clock, but the machine may be busy.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});

/** Serves the playground at the address that the server uses. */
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
