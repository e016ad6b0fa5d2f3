import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { compress } from "./scripts/compress.ts";

// The server that `npm run dev` talks to.
const api = process.env["RETWIS_DEV_API"] ?? "http://127.0.0.1:8080";

export default defineConfig({
  plugins: [react(), tailwindcss(), compress()],
  build: {
    target: "es2022",
    // Data URLs would need exceptions in the Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { input: { app: "index.html", playground: "playground.html" } },
    chunkSizeWarningLimit: 4000, // the editor of the playground
  },
  worker: { format: "es" },
  server: {
    proxy: { "/graphql": { target: api, ws: true } },
  },
  test: {
    include: ["src/**/*.test.{ts,tsx}"],
    environment: "jsdom",
  },
});
