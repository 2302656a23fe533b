// Generate ui/src/api/openapi.ts: the types of the API of this server.
//
//   CORVO_BINARY=… CORVO_UI_MODULES=… node types.mjs     writes the file
//
// The interface is built before the binary that contains it, so the file is stored with the
// sources. types_test.mjs compares it with the description of the built server.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { Server } from "./harness.mjs";

export const TYPES_FILE = new URL("../../../ui/src/api/openapi.ts", import.meta.url);

export async function typesOfServer(server) {
  const { typesOf } = await import(pathToFileURL(join(process.env.CORVO_UI_MODULES, "scripts/types.js")));
  const { body } = await server.call("GET", "/openapi.json");
  return typesOf(body);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const server = await Server.start();
  await writeFile(TYPES_FILE, await typesOfServer(server));
  await server.close();
}
