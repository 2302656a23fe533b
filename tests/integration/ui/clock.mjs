// A server clock that can be set back, to create data with a history.
import { execFileSync } from "node:child_process";
import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** `env` is for Server.startWith. After set(-60), the server's clock is a minute behind. */
export async function makeClock() {
  const folder = await mkdtemp(join(tmpdir(), "corvo-clock-"));
  const [library, file] = [join(folder, "nemesis.so"), join(folder, "control")];
  const source = fileURLToPath(new URL("../failover/nemesis.c", import.meta.url));
  execFileSync("cc", ["-D_GNU_SOURCE", "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl"]);
  writeFileSync(file, Buffer.alloc(16));
  const set = (seconds) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(Math.round(seconds)) * 1000000000n);
    const at = openSync(file, "r+");
    writeSync(at, bytes, 0, 8, 0);
    closeSync(at);
  };
  return { env: { LD_PRELOAD: library, NEMESIS_CONTROL: file }, set, remove: () => rm(folder, { recursive: true }) };
}
