// Writes src/api/generated.ts: the types and documents of every .graphql file below src,
// checked against the schema. With --check it only says whether the file is current.
import { readFile, writeFile } from "node:fs/promises";
import { globSync } from "tinyglobby";
import { codegen } from "@graphql-codegen/core";
import * as fragmentMatcher from "@graphql-codegen/fragment-matcher";
import * as operations from "@graphql-codegen/typescript-operations";
import * as typedDocumentNode from "@graphql-codegen/typed-document-node";
import { buildSchema, parse } from "graphql";

const root = new URL("..", import.meta.url);
const target = new URL("src/api/generated.ts", root);
const schema = buildSchema(await readFile(new URL("../schema.graphqls", root), "utf8"));
const files = globSync("src/**/*.graphql", { cwd: root }).sort();
const documents = await Promise.all(
  files.map(async (location) => ({
    location,
    document: parse(await readFile(new URL(location, root), "utf8")),
  })),
);

const generated = await codegen({
  filename: target.pathname,
  schema: parse(await readFile(new URL("../schema.graphqls", root), "utf8")),
  schemaAst: schema,
  documents,
  config: {
    useTypeImports: true,
    enumType: "string-literal",
    nonOptionalTypename: true,
    skipTypeNameForRoot: true,
    inlineFragmentTypes: "mask",
    customDirectives: { apolloUnmask: true },
    scalars: { DateTime: "string", Cursor: "string", ID: "string" },
  },
  plugins: [{ operations: {} }, { documents: {} }, { possible: { apolloClientVersion: 3 } }],
  pluginMap: { operations, documents: typedDocumentNode, possible: fragmentMatcher },
});

const content = `// Generated from schema.graphqls and the .graphql files by \`npm run codegen\`.\n${generated}`;
if (process.argv.includes("--check")) {
  if ((await readFile(target, "utf8")) !== content) {
    console.error("src/api/generated.ts is not current: run `npm run codegen`");
    process.exit(1);
  }
} else {
  await writeFile(target, content);
}
