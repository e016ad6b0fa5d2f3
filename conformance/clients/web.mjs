// Modules of the client package, as JavaScript.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { transform } from 'sucrase';

const sources = new URL('../../web/packages/client/src/', import.meta.url);
const build = new URL('../build/web/', import.meta.url);

/** importWeb imports a TypeScript module of the client package that depends on packages only. */
export async function importWeb(file) {
  const { code } = transform(readFileSync(new URL(file, sources), 'utf8'), { transforms: ['typescript'], disableESTransforms: true });
  mkdirSync(build, { recursive: true });
  const written = new URL(file.replaceAll('/', '-').replace(/\.ts$/, '.mjs'), build);
  writeFileSync(written, code);
  return import(written.href);
}
