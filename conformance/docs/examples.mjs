// The examples of docs/api.md.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';

export const document = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8');

/** The fenced blocks of the document in its order: `language`, `text`, and the `line` each begins at. */
export const examples = [...document.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].map((match) => ({
  language: match[1],
  text: match[2],
  line: document.slice(0, match.index).split('\n').length,
}));

/** writeModules writes the JavaScript of the document to a directory. Its first line says what a file is called. */
export function writeModules(dir) {
  mkdirSync(dir, { recursive: true });
  for (const { language, text: code, line } of examples) {
    if (language !== 'js') continue;
    const name = /^\/\/ (\w+\.mjs)\n/.exec(code)?.[1];
    if (!name) throw new Error(`docs/api.md, line ${line}: the first line does not name the file`);
    writeFileSync(new URL(name, dir), code);
  }
}

/** importExample imports one of the document's files. */
export async function importExample(name) {
  const dir = new URL('../build/docs/', import.meta.url);
  writeModules(dir);
  return import(new URL(name, dir).href);
}

/**
 * matches reports whether an answer is the one that is shown: JSON with the same values, or the same lines but
 * for empty ones. `…` stands for anything, in lines and in strings; alone in a string also for a number.
 */
export function matches({ language, text: shown }, answer) {
  if (language === 'json') return sameValue(JSON.parse(shown), JSON.parse(answer));
  return pattern(lines(shown)).test(lines(answer));
}

const lines = (some) => some.split(/\r?\n/).filter((line) => line !== '').join('\n');

function pattern(shown) {
  return new RegExp(`^${shown.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('[^\\n]+')}$`);
}

function sameValue(shown, got) {
  if (shown === '…') return typeof got === 'string' || typeof got === 'number';
  if (typeof shown === 'string') return typeof got === 'string' && pattern(shown).test(got);
  if (typeof shown !== 'object' || shown === null) return shown === got;
  if (typeof got !== 'object' || got === null || Array.isArray(shown) !== Array.isArray(got)) return false;
  const keys = Object.keys(shown);
  return keys.length === Object.keys(got).length && keys.every((key) => key in got && sameValue(shown[key], got[key]));
}

