import react from "@vitejs/plugin-react";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build, createServer, type Plugin } from "vite";
import type { EarlyRequests } from "../src/early/requests.ts";

type Prerender = typeof import("../src/prerender.tsx");

/**
 * Puts static content into the documents of the build, in every language: `index.html` in the
 * default language, `index.de.html` in German, and so on.
 */
export function prerender(): Plugin {
  let out = "dist";
  let root = ".";
  return {
    name: "prerender",
    apply: "build",
    configResolved(config) {
      out = config.build.outDir;
      root = config.root;
    },
    writeBundle: {
      sequential: true,
      order: "post",
      async handler() {
        const server = await createServer({
          root,
          configFile: false,
          logLevel: "warn",
          appType: "custom",
          plugins: [react()],
          optimizeDeps: { noDiscovery: true },
          server: { middlewareMode: true, hmr: false, ws: false, watch: null },
        });
        try {
          const { render, languages, earlyRequests } = (await server.ssrLoadModule("/src/prerender.tsx")) as Prerender;
          const early = await earlyScript(root, await earlyRequests());
          const [index, welcome, offline] = await Promise.all(
            ["index", "welcome", "offline"].map((name) => readFile(join(out, `${name}.html`), "utf8")),
          );
          if (!index || !welcome || !offline) throw new Error("the build has no documents");
          const assets = await readdir(join(out, "assets"));
          for (const language of languages) {
            const contents = await render(language);
            const suffix = language === "en" ? ".html" : `.${language}.html`;
            const catalogue = assets.find((name) => new RegExp(`^${language}-[\\w-]+\\.js$`).test(name));
            const preload = catalogue === undefined ? "" : `<link rel="modulepreload" href="/assets/${catalogue}" />`;
            const write = (name: string, document: string, values: Record<string, string>) => {
              let text = document.replace('<html lang="en">', `<html lang="${language}">`);
              for (const [placeholder, value] of Object.entries(values)) {
                if (!text.includes(placeholder)) throw new Error(`${name}.html has no ${placeholder}`);
                text = text.replace(placeholder, () => value);
              }
              return writeFile(join(out, name + suffix), text);
            };
            const noScript = { "Retwis needs JavaScript.": contents.noScript, "</head>": `${preload}</head>` };
            await write("index", index, { "<!--content-->": contents.index, "<!--early-requests-->": early, ...noScript });
            await write("welcome", welcome, { "<!--content-->": contents.welcome, "<!--title-->": `<title>${contents.welcomeTitle}</title>`, ...noScript });
            await write("offline", offline, { "<!--content-->": contents.offline, "<title>Retwis</title>": `<title>${contents.offlineTitle} — Retwis</title>` });
          }
        } finally {
          await server.close();
        }
      },
    },
  };
}

/** The script that runs while the app is loading, with the requests that it sends. */
async function earlyScript(root: string, requests: EarlyRequests): Promise<string> {
  const result = await build({
    root,
    configFile: false,
    logLevel: "warn",
    define: { EARLY_REQUESTS: JSON.stringify(requests) },
    build: { write: false, target: "es2022", rolldownOptions: { input: join(root, "src/early/main.ts"), output: { format: "iife" } } },
  });
  const output = Array.isArray(result) || !("output" in result) ? [] : result.output;
  const [chunk, ...others] = output;
  if (chunk?.type !== "chunk" || others.length > 0) throw new Error("the early script is not one file");
  return `<script>${chunk.code.replaceAll("</", "<\\/")}</script>`;
}
