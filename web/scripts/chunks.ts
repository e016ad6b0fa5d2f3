import { join } from "node:path";

interface ModuleInfo {
  importedIds: readonly string[];
}

interface Context {
  getModuleInfo(id: string): ModuleInfo | null;
}

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
  if (inPlayground) return null; // it imports all of graphql, of which the app uses little
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
