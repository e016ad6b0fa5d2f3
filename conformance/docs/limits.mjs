// The prices of docs/limits.md.
import { readFileSync } from 'node:fs';

const document = readFileSync(new URL('../../docs/limits.md', import.meta.url), 'utf8');

/** table returns the rows of the table whose first line is this one, as lists of cells. */
function table(head) {
  const begin = document.indexOf(`${head}\n| ---`);
  if (begin < 0) throw new Error(`docs/limits.md has no table ${head}`);
  const [text] = document.slice(begin).split('\n\n');
  return text
    .split('\n')
    .slice(2)
    .map((row) => row.split('|').slice(1, -1).map((cell) => cell.trim()));
}

/** examples are the operations of the document with their prices. */
export const examples = table('| operation | price | parts |').map(([operation, price]) => ({
  query: operation.replaceAll('`', ''),
  price: Number(price),
}));

/** weight returns the points of one kind of work, of which the document lists how many it gives for how much. */
function weight(what) {
  const row = table('| work | points |').find(([cell]) => cell.includes(what));
  if (!row) throw new Error(`docs/limits.md has no weight of ${what}`);
  return Number(row[1]) / Number(/^\d+/.exec(row[0])?.[0] ?? 1);
}

/** points returns the cost of the work of an operation by the weights of the document. Each part is rounded down. */
export function points({ commands, scripts, roundTrips, rows, resolvers, bytes }) {
  return [
    weight('operation, whatever'),
    commands * weight('command of Redis'),
    scripts * weight('script of Redis'),
    roundTrips * weight('round trip'),
    rows * weight('rows'),
    resolvers * weight('fields that the server resolves'),
    bytes * weight('bytes of the response'),
  ].reduce((sum, part) => sum + Math.floor(part), 0);
}
