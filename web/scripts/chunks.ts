import { join } from "node:path";

interface ModuleInfo {
  importedIds: readonly string[];
}

interface Context {
  getModuleInfo(id: string): ModuleInfo | null;
}

/** What Apollo Client and RxJS use of packages that the playground uses, too. */
const printer = /node_modules\/(tslib|graphql\/(language\/(printer|visitor|ast|blockString|kinds|printString|characterClasses|reducer)|jsutils\/(inspect|devAssert))\.mjs)/;

const root = join(import.meta.dirname, "..");

/**
 * Names the chunk of a module. Each document loads few files, so that a slow connection needs
 * few round trips: what both documents load at first, what only the app loads at first, and
 * one file for each part that is loaded on demand.
 */
export function chunkOf(id: string, context: Context): string | null {
  const inApp = reachable(join(root, "src/main.tsx"), context).has(id);
  const inWelcome = reachable(join(root, "src/welcome/main.tsx"), context).has(id);
  const inPlayground = reachable(join(root, "src/playground/main.tsx"), context).has(id);
  if (/node_modules\/(react|react-dom|scheduler)\/|^\0/.test(id)) return "react";
  // The playground uses all of graphql, the app little more than its printer.
  if (inPlayground) return inApp && printer.test(id) ? "printer" : null;
  if (inApp && inWelcome) return "shared";
  if (inApp) return id.includes("node_modules") ? "libraries" : "app";
  return null;
}

const known = new Map<string, Set<string>>();

/** Returns the modules that an entry imports, directly and indirectly, before it runs. */
function reachable(entry: string, context: Context): Set<string> {
  const cached = known.get(entry);
  if (cached) return cached;
  const found = new Set<string>();
  const queue = [entry];
  for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
    if (found.has(id)) continue;
    found.add(id);
    queue.push(...(context.getModuleInfo(id)?.importedIds ?? []));
  }
  known.set(entry, found);
  return found;
}
