// Writes the types and documents of the .graphql files, checked against the schema: those of
// packages/client and those of the app. The documents of each file of the app are a module of
// their own, so that a page loads only those it needs. With --check it reports whether the
// files are current.
import { readFile, writeFile } from "node:fs/promises";
import { globSync } from "tinyglobby";
import { codegen } from "@graphql-codegen/core";
import * as fragmentMatcher from "@graphql-codegen/fragment-matcher";
import * as operations from "@graphql-codegen/typescript-operations";
import * as typedDocumentNode from "@graphql-codegen/typed-document-node";
import { buildSchema, parse } from "graphql";

const root = new URL("..", import.meta.url);
const text = await readFile(new URL("../schema.graphqls", root), "utf8");
const schema = parse(text);
const schemaAst = buildSchema(text);
const check = process.argv.includes("--check");

const client = await read("packages/client/src/*.graphql");
const app = await read("src/**/*.graphql");

const typescript = {
  useTypeImports: true,
  enumType: "string-literal",
  nonOptionalTypename: true,
  skipTypeNameForRoot: true,
  inlineFragmentTypes: "mask",
  customDirectives: { apolloUnmask: true },
  scalars: { DateTime: "string", Cursor: "string", ID: "string" },
};
const possible = { possible: { apolloClientVersion: 3 } };
await generate("packages/client/src/generated.ts", { documents: client, plugins: { operations: {}, documents: {}, ...possible } });

const clientFragments = fragmentsOf(client);
const names = clientFragments.map(({ name }) => `${name.value}Fragment`).sort();
await generate("src/api/generated.ts", {
  documents: app,
  fragments: clientFragments,
  imports: (code) => `import type { ${names.filter((name) => code.includes(name)).join(", ")} } from "@retwis/client";\n`,
  plugins: { operations: {} },
});
for (const file of app) {
  if (file.location.startsWith("src/welcome/")) continue; // sent as they are, without Apollo Client
  const others = [...client, ...app].filter((other) => other !== file);
  await generate(file.location.replace(/\.graphql$/, ".documents.ts"), {
    documents: [file],
    fragments: fragmentsOf(others),
    imports: () => 'import type * as Types from "../api/generated.ts";\n',
    plugins: { documents: {} },
    config: { importOperationTypesFrom: "Types" },
  });
}

function fragmentsOf(documents) {
  return documents.flatMap(({ document }) => document.definitions.filter(({ kind }) => kind === "FragmentDefinition"));
}

/** Reads documents. */
function read(pattern) {
  const files = globSync(pattern, { cwd: root }).sort();
  return Promise.all(files.map(async (location) => ({ location, document: parse(await readFile(new URL(location, root), "utf8")) })));
}

/** Writes the code of documents, which may use fragments of others. */
async function generate(file, { documents, fragments = [], imports = () => "", plugins, config = {} }) {
  const target = new URL(file, root);
  const generated = await codegen({
    filename: target.pathname,
    schema,
    schemaAst,
    documents,
    config: {
      ...typescript,
      ...config,
      externalFragments: fragments.map((node) => ({ isExternal: true, name: node.name.value, onType: node.typeCondition.name.value, node })),
    },
    plugins: Object.entries(plugins).map(([name, settings]) => ({ [name]: settings })),
    pluginMap: { operations, documents: typedDocumentNode, possible: fragmentMatcher },
    skipDocumentsValidation: { ignoreRules: ["KnownFragmentNamesRule"] },
  });
  const content = `// Generated from schema.graphqls and the .graphql files by \`npm run codegen\`.\n${imports(generated)}${shareFragments(generated, file.startsWith("packages/"))}`;
  if (!check) return writeFile(target, content);
  if ((await readFile(target, "utf8").catch(() => "")) !== content) {
    console.error(`${file} is not current: run \`npm run codegen\``);
    process.exitCode = 1;
  }
}

/** Lets documents share their fragments, of which each has a copy: those of the client package, and those of one module. */
function shareFragments(code, inClient) {
  const constants = new Map();
  const imports = new Set();
  const share = (definition) => {
    if (definition.kind !== "FragmentDefinition") return JSON.stringify(definition);
    const { value } = definition.name;
    const isImported = !inClient && clientFragments.some(({ name }) => name.value === value);
    if (isImported) imports.add(`${value}FragmentDoc`);
    const name = `${value}Definition`;
    constants.set(name, `const ${name} = ${isImported ? `${value}FragmentDoc.definitions[0]` : JSON.stringify(definition)};\n`);
    return name;
  };
  const documents = code.replace(/(?<=^export const \w+ = ){"kind":"Document".*}(?= as unknown as )/gm, (document) => {
    const { kind, definitions } = JSON.parse(document);
    return `{"kind":"${kind}","definitions":[${definitions.map(share).join(",")}]}`;
  });
  const shared = documents.replace(/^export const /m, (first) => [...constants.values(), first].join(""));
  return imports.size === 0 ? shared : `import { ${[...imports].sort().join(", ")} } from "@retwis/client/fragments";\n${shared}`;
}
