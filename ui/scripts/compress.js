// Write FILE.gz and FILE.br next to every text file of a folder. The server sends the form that the browser accepts.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const TEXT = /\.(css|html|js|json|svg|txt)$/;

function compress(folder) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) {
      compress(path);
    } else if (TEXT.test(name)) {
      const plain = readFileSync(path);
      writeFileSync(`${path}.gz`, gzipSync(plain, { level: 9 }));
      const params = {
        [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
      };
      writeFileSync(`${path}.br`, brotliCompressSync(plain, { params }));
    }
  }
}

compress(process.argv[2]);
