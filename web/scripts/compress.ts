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
        const entries = await readdir(out, { recursive: true, withFileTypes: true });
        const files = entries.filter((entry) => entry.isFile() && compressible.test(entry.name));
        await Promise.all(files.map(({ parentPath, name }) => compressFile(join(parentPath, name))));
      },
    },
  };
}

/** Node.js compresses on several threads. */
async function compressFile(file: string): Promise<void> {
  const content = await readFile(file);
  const quality = content.length > large ? 9 : 11;
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
  const [gz, br] = await Promise.all([promisify(gzip)(content, { level: 9 }), promisify(brotliCompress)(content, { params })]);
  if (gz.length < content.length) await writeFile(`${file}.gz`, gz);
  if (br.length < content.length) await writeFile(`${file}.br`, br);
}
