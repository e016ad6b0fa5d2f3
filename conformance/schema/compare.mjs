// Compares schema.graphqls with the schema of the last release, and fails when clients of
// that release would break. A break on purpose is named in release/breaks.json with its
// reason, until the next release: then `npm run release` makes the schema that of the
// release, and empties the list.
//
//   node schema/compare.mjs [--release FILE] [--schema FILE] [--breaks FILE]
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { CriticalityLevel, diff } from '@graphql-inspector/core';
import { buildSchema } from 'graphql';

/**
 * compare returns what is wrong with the changes from one schema to another, and those
 * that deserve a look. Breaks are the breaking changes made on purpose: each a `type` and
 * a `path` as reported, and a `reason`. One that names no change is wrong, too.
 */
export async function compare(release, schema, breaks = []) {
  const changes = await diff(buildSchema(release), buildSchema(schema));
  const allowed = new Set();
  const problems = [];
  const remarks = [];
  for (const { type, path, message, criticality } of changes) {
    const line = `${type} ${path}: ${message}`;
    const known = breaks.find((b) => b.type === type && b.path === path);
    if (known) allowed.add(known);
    else if (criticality.level === CriticalityLevel.Breaking) problems.push(line);
    else if (criticality.level === CriticalityLevel.Dangerous) remarks.push(line);
  }
  for (const b of breaks) {
    if (!allowed.has(b)) problems.push(`${b.type} ${b.path} is allowed, but there is no such change: take it out of the list`);
    else if (!b.reason) problems.push(`${b.type} ${b.path} is allowed without a reason: give it one`);
  }
  return { problems, remarks };
}

async function main() {
  const beside = (name) => fileURLToPath(new URL(name, import.meta.url));
  const { values: files } = parseArgs({
    options: {
      release: { type: 'string', default: beside('../release/schema.graphqls') },
      schema: { type: 'string', default: beside('../../schema.graphqls') },
      breaks: { type: 'string', default: beside('../release/breaks.json') },
    },
  });
  const read = (file) => readFileSync(file, 'utf8');
  const { problems, remarks } = await compare(read(files.release), read(files.schema), JSON.parse(read(files.breaks)));
  for (const remark of remarks) console.log(`since the last release: ${remark}`);
  for (const problem of problems) console.error(`this breaks clients of the last release: ${problem}`);
  if (problems.length > 0) {
    console.error('Keep what was released, or name the break, with a reason, in conformance/release/breaks.json.');
    process.exitCode = 1;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
