import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildSchema, parse, validate } from 'graphql';
import { document, examples, matches, writeModules } from '../docs/examples.mjs';
import { freePort, startService } from './service.mjs';

const dir = new URL('../build/docs-run/', import.meta.url); // below node_modules, where programs look for packages

const schema = buildSchema(readFileSync(new URL('../../schema.graphqls', import.meta.url), 'utf8'));

let service;
before(async () => {
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(new URL('bin', dir), { recursive: true });
  symlinkSync(process.env.PROGRAM, new URL('bin/retwis', dir));
  writeModules(dir);
  service = await startService();
});
after(() => service.stop());

test('the documents shown are valid', () => {
  const documents = examples.filter(({ language }) => language === 'graphql');
  assert.ok(documents.length > 0);
  for (const { text, line } of documents) {
    assert.deepEqual(validate(schema, parse(text)).map(({ message }) => `line ${line}: ${message}`), []);
  }
});

test('the examples run, and answer as shown', async (t) => {
  const server = await service.serve({ flags: [] });
  const second = await freePort();
  const scripts = examples.filter(({ language }) => language === 'sh');
  const code = scripts
    .map(({ text }, i) => `{\n${text}} > answer-${i} 2> complaints-${i}\n`)
    .join('')
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${server.port}`)
    .replaceAll('127.0.0.1:8081', `127.0.0.1:${second}`);
  const where = fileURLToPath(dir);
  const shell = spawn('bash', ['-e'], {
    cwd: where,
    env: { ...process.env, PATH: `${where}bin:${process.env.PATH}` },
    stdio: ['pipe', 'inherit', 'inherit'],
    detached: true, // so that it can be ended with what it started
  });
  t.after(() => endGroup(shell.pid));
  shell.stdin.end(code);
  const [status] = await once(shell, 'exit');

  const read = (name) => (existsSync(new URL(name, dir)) ? readFileSync(new URL(name, dir), 'utf8') : null);
  const answered = (i) => read(`answer-${i}`);
  if (status !== 0) {
    const failed = scripts.findLastIndex((_, i) => answered(i) !== null);
    assert.fail(`docs/api.md, line ${scripts[failed].line}: the example fails with status ${status}: ${answered(failed)}${read(`complaints-${failed}`)}`);
  }
  let compared = 0;
  for (const [at, shown] of examples.entries()) {
    const asked = scripts.indexOf(examples[at - 1]);
    if (asked < 0 || !['json', 'text'].includes(shown.language)) continue;
    const answer = answered(asked);
    assert.ok(matches(shown, answer), `docs/api.md, line ${shown.line}: the answer is not as shown, but\n${answer}`);
    compared++;
  }
  assert.ok(compared > 10, `only ${compared} answers are shown`);
  await server.end('SIGTERM');
});

test('the numbers told are those of the program', async () => {
  const { stdout } = await promisify(execFile)(process.env.PROGRAM, ['serve', '--help']);
  const units = { '1m': 'a minute', '1h': 'an hour' };
  for (const [flag, what] of [
    ['limit-reads', 'reads, by cost'],
    ['limit-posts', 'posts'],
    ['limit-follows', 'follows and list member changes'],
    ['limit-logins', 'password attempts'],
    ['limit-registrations', 'registrations'],
  ]) {
    const help = stdout.slice(stdout.indexOf(`--${flag}=`)).replace(/\s+/g, ' ');
    const [, count, period] = /^[^[]*\[default (\d+)\/(\w+)/.exec(help);
    const told = new RegExp(`^\\| ${what} \\| [^|]* \\| ([\\d ]+) (an? \\w+) \\|$`, 'm').exec(document);
    assert.deepEqual([told[1].replace(' ', ''), told[2]], [count, units[period]], what);
  }
});

test('every code of an error is told', () => {
  const { description } = schema;
  const codes = description.slice(description.indexOf('extensions.code')).match(/\b[A-Z]+(_[A-Z]+)+\b|\bUNAUTHENTICATED\b|\bFORBIDDEN\b/g);
  assert.ok(codes.length > 8);
  const table = document.slice(document.indexOf('| `extensions.code` |'));
  for (const code of codes) assert.ok(table.slice(0, table.indexOf('\n\n')).includes(`\`${code}\``), code);
});

test('an answer that differs from what is shown is noticed', () => {
  const json = { language: 'json', text: '{"a": "…", "b": ["x…", 1, null]}' };
  assert.ok(matches(json, '{"b":["xyz",1,null],"a":5}'));
  for (const answer of ['{"a":1}', '{"a":1,"b":["y",1,null]}', '{"a":1,"b":["xy",2,null]}', '{"a":1,"b":["xy",1]}', '{"a":null,"b":["xy",1,null]}', '{"a":1,"b":["xy",1,null],"c":0}']) {
    assert.ok(!matches(json, answer), answer);
  }
  const text = { language: 'text', text: 'a (…)\n\nb\n' };
  assert.ok(matches(text, 'a (1)\nb\n'));
  for (const answer of ['a ()\nb\n', 'a (1)\n', 'a (1)\nb\nc\n', 'a (\n)\nb', '']) assert.ok(!matches(text, answer), answer);
});

function endGroup(leader) {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error; // all have ended
  }
}
