import { expect, it } from "vitest";

import { refusalsOf } from "./permissions";

const refusal = (more = {}) => ({
  method: "POST",
  path: "/api/v1/jobs/{id}/retry",
  roles: ["admin", "operator"],
  resource: "jobs",
  action: "retry",
  whole_server: false,
  ...more,
});

it("says which roles may do what the caller may not", () => {
  const refusals = refusalsOf({
    role: "readonly",
    refused: [refusal(), refusal({ path: "/api/v1/namespaces", roles: ["admin"], resource: "namespaces", action: "write", whole_server: true })],
  });
  expect(refusals("POST /jobs/{id}/retry")).toBe(
    "Requires the role admin or operator, or a custom role that grants jobs: retry",
  );
  expect(refusals("POST /namespaces")).toBe(
    "Requires the role admin, or a custom role that grants namespaces: write, in the default namespace and without a queue scope",
  );
  expect(refusals("POST /jobs/{job_id}/retry" as "POST /jobs/{id}/retry")).toBeDefined();
  expect(refusals("POST /enqueue")).toBeUndefined();
});

it("refuses nothing as long as nothing is known", () => {
  expect(refusalsOf(undefined)("POST /enqueue")).toBeUndefined();
});
