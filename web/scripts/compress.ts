import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Plugin } from "vite";

const compressible = /\.(js|css|html|svg|json|webmanifest|ttf)$/;

/** Puts a .gz beside each file of the build, for the server to hand out as it is. */
export function compress(): Plugin {
  let out = "dist";
  return {
    name: "compress",
    apply: "build",
    configResolved(config) {
      out = config.build.outDir;
    },
    async closeBundle() {
      for (const entry of await readdir(out, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || !compressible.test(entry.name)) continue;
        const file = join(entry.parentPath, entry.name);
        const content = await readFile(file);
        const small = await promisify(gzip)(content, { level: 9 });
        if (small.length < content.length) await writeFile(`${file}.gz`, small);
      }
    },
  };
}
