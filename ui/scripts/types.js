// Generate the TypeScript types of the API from the server's OpenAPI description.
//
//   CORVO_URL=http://127.0.0.1:8080 node scripts/types.js     writes src/api/openapi.ts
//
// The interface is built before the server, so the generated file is stored with the sources. A
// browser test compares it with the description of the server that was built.
import { writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

import openapi, { astToString } from "openapi-typescript";

const HEAD = `// Written by "npm run types:generate" from /openapi.json: not to be edited.\n\n`;

/** Return the part that the interface uses: the API paths with their 2xx responses. All other responses are an Error. */
function partOf(description) {
  const paths = Object.entries(description.paths).filter(([path]) => path.startsWith("/api/v1/"));
  const good = (answers) => Object.fromEntries(Object.entries(answers).filter(([status]) => status.startsWith("2")));
  const item = (operations) =>
    Object.fromEntries(
      Object.entries(operations).map(([method, operation]) => [
        method,
        {
          parameters: operation.parameters.filter((parameter) => parameter.$ref === undefined),
          requestBody: operation.requestBody,
          responses: good(operation.responses),
        },
      ]),
    );
  return {
    openapi: description.openapi,
    info: description.info,
    paths: Object.fromEntries(paths.map(([path, operations]) => [path, item(operations)])),
    components: { schemas: description.components.schemas },
  };
}

/** Return the text of src/api/openapi.ts for a description. */
export async function typesOf(description) {
  const nodes = await openapi(partOf(description), {
    alphabetize: true,
    // A request may still leave out a member that has a default.
    defaultNonNullable: false,
  });
  return HEAD + astToString(nodes);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const url = process.env.CORVO_URL ?? "http://127.0.0.1:8080";
  const answer = await fetch(`${url}/openapi.json`);
  if (!answer.ok) {
    throw new Error(`${url}/openapi.json: ${answer.status}`);
  }
  await writeFile(new URL("../src/api/openapi.ts", import.meta.url), await typesOf(await answer.json()));
}
