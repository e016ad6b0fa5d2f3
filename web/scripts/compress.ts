import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Plugin } from "vite";

/** Larger files are compressed less thoroughly, which takes a tenth of the time. */
const large = 500_000;

const compressible = /\.(js|css|html|svg|json|webmanifest|ttf)$/;

/** Writes a .br and a .gz beside each file of the build that they make smaller. */
export function compress(): Plugin {
  let out = "dist";
  return {
    name: "compress",
    apply: "build",
    configResolved(config) {
      out = config.build.outDir;
    },
    writeBundle: {
      sequential: true,
      order: "post",
      async handler() {
        for (const entry of await readdir(out, { recursive: true, withFileTypes: true })) {
          if (!entry.isFile() || !compressible.test(entry.name)) continue;
          const file = join(entry.parentPath, entry.name);
          const content = await readFile(file);
          const gz = await promisify(gzip)(content, { level: 9 });
          const br = await promisify(brotliCompress)(content, {
            params: { [constants.BROTLI_PARAM_QUALITY]: content.length > large ? 9 : 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length },
          });
          if (gz.length < content.length) await writeFile(`${file}.gz`, gz);
          if (br.length < content.length) await writeFile(`${file}.br`, br);
        }
      },
    },
  };
}
