// The types that the interface was compiled with match the API of this server.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";

import { Server } from "./harness.mjs";
import { TYPES_FILE, typesOfServer } from "./types.mjs";

describe("types of the API", () => {
  let server;
  before(async () => {
    server = await Server.start();
  });
  after(() => server.close());

  it("are those of /openapi.json", async () => {
    const [kept, wanted] = await Promise.all([readFile(TYPES_FILE, "utf8"), typesOfServer(server)]);
    assert.ok(kept === wanted, "ui/src/api/openapi.ts is not what the server describes: make ui-types");
  });
});
