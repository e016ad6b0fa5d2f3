// Writes the documents of the web app as a manifest for `retwis serve --trusted-documents`.
// Apollo Client adds fields to documents; a recording link takes their texts as it sends them.
//
//   npm run trusted-documents [-- FILE]      trusted-documents.json by default
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { ApolloClient, ApolloLink, InMemoryCache } from "@apollo/client";
import { print } from "graphql";
import { of } from "rxjs";
import { globSync } from "tinyglobby";
import { runnerImport } from "vite";

const root = new URL("..", import.meta.url);
const modules = ["packages/client/src/generated.ts", ...globSync("src/*/*.documents.ts", { cwd: root }).sort()];
const plain = globSync("src/welcome/*.graphql", { cwd: root }).sort();

const manifest = {};
const add = (text) => {
  manifest[`sha256:${createHash("sha256").update(text).digest("hex")}`] = text;
};
const recorder = new ApolloLink(({ query }) => {
  add(print(query));
  return of({ data: {} });
});
const client = new ApolloClient({ cache: new InMemoryCache(), dataMasking: true, link: recorder });
for (const document of (await Promise.all(modules.map(documentsOf))).flat()) {
  const operation = document.definitions?.find(({ kind }) => kind === "OperationDefinition")?.operation;
  const settings = { fetchPolicy: "no-cache", errorPolicy: "ignore" };
  if (operation === "query") await client.query({ query: document, ...settings });
  if (operation === "mutation") await client.mutate({ mutation: document, ...settings });
  if (operation === "subscription") {
    await new Promise((resolve) => client.subscribe({ query: document, ...settings }).subscribe({ complete: resolve, error: resolve }));
  }
}

for (const file of plain) add(await readFile(new URL(file, root), "utf8"));

/** Returns the documents that a generated module exports. */
async function documentsOf(file) {
  const { module } = await runnerImport(fileURLToPath(new URL(file, root)), { configFile: false, logLevel: "warn" });
  return Object.values(module);
}

const target = process.argv[2] ?? "trusted-documents.json";
await writeFile(target, `${JSON.stringify(manifest, null, 2)}\n`);
console.log(`${Object.keys(manifest).length} documents are in ${target}`);
