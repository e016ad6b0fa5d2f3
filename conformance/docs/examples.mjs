// The examples of docs/api.md.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';

const text = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8');
const build = new URL('../build/docs/', import.meta.url);

/**
 * examples returns the fenced blocks of the document in its order: `language`, what
 * follows it on its line, the `text`, and the `line` it begins at.
 */
export function examples() {
  const blocks = [];
  for (const match of text.matchAll(/^```(\w+)(?: ([^\n]*))?\n([^]*?)^```$/gm)) {
    const [, language, title = '', body] = match;
    blocks.push({ language, title, text: body, line: text.slice(0, match.index).split('\n').length });
  }
  return blocks;
}

/** exampleModule writes the JavaScript whose first line is a comment with a file's name, and returns its place. */
export function exampleModule(name, edit = (code) => code) {
  const block = examples().find((b) => b.language === 'js' && b.text.startsWith(`// ${name}\n`));
  if (!block) throw new Error(`docs/api.md has no ${name}`);
  mkdirSync(build, { recursive: true });
  const file = new URL(name, build);
  writeFileSync(file, edit(block.text));
  return file;
}

export const importExample = (name) => import(exampleModule(name).href);
