import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import relayCompiler from 'relay-compiler';

const sources = fileURLToPath(new URL('.', import.meta.url));

/**
 * compile writes the artifacts of what is beside this file, as relay-compiler makes them
 * for a schema, to `__generated__` in a directory that it empties, and returns their names.
 * Where a file is named for documents, artifacts name their documents by hash, and the file
 * holds them. What the compiler does not like is an error, with its words.
 */
export function compile(schema, dir, documents) {
  const artifacts = join(dir, '__generated__');
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(artifacts, { recursive: true });
  for (const name of readdirSync(sources)) {
    if (/\.js$/.test(name)) cpSync(join(sources, name), join(dir, name));
  }
  const config = JSON.parse(readFileSync(join(sources, 'relay.config.json'), 'utf8'));
  if (documents) {
    config.persistConfig = { file: documents, algorithm: 'SHA256' };
    writeFileSync(join(dir, documents), '{}'); // the compiler adds to it
  }
  writeFileSync(join(dir, 'relay.config.json'), JSON.stringify(config));
  writeFileSync(join(artifacts, 'package.json'), '{"type": "commonjs"}'); // they name each other without `.js`
  writeFileSync(join(dir, 'schema.graphql'), schema); // the compiler passes over .graphqls
  execFileSync(relayCompiler, ['relay.config.json'], { cwd: dir, encoding: 'utf8', stdio: 'pipe', timeout: 300_000 });
  return readdirSync(artifacts);
}
