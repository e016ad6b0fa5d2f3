// Builds the program once and runs the tests against it, one file after the other:
// `npm test`, or `npm test test/apollo.test.mjs` for some.
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('..', import.meta.url));
const binary = `${here}build/retwis`;
execFileSync('go', ['build', '-o', binary, './cmd/retwis'], { cwd: `${here}..`, stdio: 'inherit' });

const named = process.argv.slice(2);
const files = named.length > 0 ? named : readdirSync(`${here}test`).filter((name) => name.endsWith('.test.mjs')).map((name) => `test/${name}`);
const { status } = spawnSync(process.execPath, ['--test', '--test-concurrency=1', '--test-timeout=600000', '--test-force-exit', ...files], {
  cwd: here,
  stdio: 'inherit',
  env: { ...process.env, PROGRAM: binary },
});
process.exitCode = status ?? 1;
