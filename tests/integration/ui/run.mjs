// Run the browser tests: every *_test.mjs in this folder, one after the other, in one process.
//
//   CORVO_BINARY=… CORVO_UI_MODULES=… node run.mjs [PART OF A FILE'S NAME …]
import { readdirSync } from "node:fs";

const here = new URL(".", import.meta.url);
const wanted = process.argv.slice(2);
for (const name of readdirSync(here).sort()) {
  if (name.endsWith("_test.mjs") && (wanted.length === 0 || wanted.some((part) => name.includes(part)))) {
    await import(new URL(name, here));
  }
}
