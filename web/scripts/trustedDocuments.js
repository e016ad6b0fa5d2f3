// Writes the documents of the web app as a manifest for `retwis serve --trusted-documents`:
// Apollo Client is made to send each operation, so the texts are those that the app sends.
//
//   npm run trusted-documents [-- FILE]      trusted-documents.json by default
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { ApolloClient, ApolloLink, InMemoryCache } from "@apollo/client";
import { print } from "graphql";
import { of } from "rxjs";
import ts from "typescript";

const source = await readFile(new URL("../src/api/generated.ts", import.meta.url), "utf8");
const { outputText } = ts.transpileModule(source, { compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 } });
const generated = await import(`data:text/javascript,${encodeURIComponent(outputText)}`);

const manifest = {};
const recorder = new ApolloLink(({ query }) => {
  const text = print(query);
  manifest[`sha256:${createHash("sha256").update(text).digest("hex")}`] = text;
  return of({ data: {} });
});
const client = new ApolloClient({ cache: new InMemoryCache(), dataMasking: true, link: recorder });
for (const document of Object.values(generated)) {
  const operation = document.definitions?.find(({ kind }) => kind === "OperationDefinition")?.operation;
  const settings = { fetchPolicy: "no-cache", errorPolicy: "ignore" };
  if (operation === "query") await client.query({ query: document, ...settings });
  if (operation === "mutation") await client.mutate({ mutation: document, ...settings });
  if (operation === "subscription") {
    await new Promise((resolve) => client.subscribe({ query: document, ...settings }).subscribe({ complete: resolve, error: resolve }));
  }
}

const target = process.argv[2] ?? "trusted-documents.json";
await writeFile(target, `${JSON.stringify(manifest, null, 2)}\n`);
console.log(`${Object.keys(manifest).length} documents are in ${target}`);
