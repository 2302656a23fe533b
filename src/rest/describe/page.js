"use strict";

// Everything on the page is created from text with element(). Text of the description is never
// parsed as HTML.
function element(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value !== undefined && value !== null) node.setAttribute(key, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

const METHODS = ["get", "post", "put", "patch", "delete"];

function resolve(description, schema) {
  if (!schema || !schema.$ref) return schema || {};
  const target = schema.$ref.slice(2).split("/").reduce((at, key) => at[key], description);
  return { ...target, ...schema, $ref: undefined };
}

function typeName(description, schema) {
  const real = resolve(description, schema);
  if (real.anyOf) return real.anyOf.map((one) => typeName(description, one)).join(" or ");
  if (real.type === "array") return "array of " + typeName(description, real.items) + "s";
  if (real.format === "date-time") return "time";
  if (real.pattern && real.examples) return "duration";
  return [real.type || "any JSON"].flat().join(" or ");
}

function count(n) {
  return n.toLocaleString("en-GB");
}

function bytes(n) {
  for (const [unit, size] of [["MiB", 1 << 20], ["KiB", 1 << 10]]) {
    if (n >= size && n % size === 0) return `${n / size} ${unit}`;
  }
  return count(n) + " bytes";
}

function limits(schema) {
  const said = [];
  const range = (low, high, unit) => {
    if (low !== undefined && high !== undefined) said.push(`${count(low)} to ${count(high)}${unit}`);
    else if (low !== undefined) said.push(`at least ${count(low)}${unit}`);
    else if (high !== undefined) said.push(`at most ${count(high)}${unit}`);
  };
  const cut = schema["x-corvo-cut-bytes"];
  const most = schema["x-corvo-max-bytes"];
  range(schema.minLength, schema.maxLength, " bytes");
  range(schema.minimum, schema.maximum, "");
  range(schema.minItems, schema.maxItems, " items");
  if (most) said.push("at most " + bytes(most));
  if (cut) said.push("cut at " + bytes(cut));
  const words = schema.enum || (schema.anyOf || []).flatMap((one) => one.enum || []);
  if (words.length) said.push("one of " + words.join(", "));
  if (schema.default !== undefined) said.push(`default ${schema.default}`);
  return said.join("; ");
}

// Return one row per member. Members of inner objects follow their owner, as in "jobs[].queue".
function fieldRows(description, schema, prefix, seen, need = " required") {
  const real = resolve(description, schema);
  const required = real.required || [];
  const rows = [];
  for (const [name, raw] of Object.entries(real.properties || {})) {
    const field = resolve(description, raw);
    const limit = limits(field);
    rows.push(element("tr", {},
      element("th", { scope: "row" }, element("code", {}, prefix + name),
        required.includes(name) ? element("span", { class: "need" }, need) : null),
      element("td", {}, typeName(description, raw)),
      element("td", {}, field.description || "",
        limit ? element("span", { class: "limit" }, limit) : null)));
    const inner = field.type === "array" ? field.items : raw;
    const target = inner && inner.$ref;
    if (target && !seen.includes(target)) {
      const mark = field.type === "array" ? "[]." : ".";
      rows.push(...fieldRows(description, inner, prefix + name + mark, [...seen, target], need));
    }
  }
  return rows;
}

function table(caption, heads, rows) {
  return element("div", { class: "table", role: "region", "aria-label": caption, tabindex: "0" },
    element("table", {},
      element("thead", {}, element("tr", {},
        heads.map((head) => element("th", { scope: "col" }, head)))),
      element("tbody", {}, rows)));
}

// The parameter that all operations accept. It is described once, in the overview.
const COMMON = { $ref: "#/components/parameters/Namespace" };

function ownParameters(description, operation) {
  return operation.parameters
    .filter((parameter) => parameter.$ref !== COMMON.$ref)
    .map((parameter) => resolve(description, parameter));
}

function parameterRows(description, parameters) {
  return parameters.map((parameter) => {
    const limit = limits(parameter.schema);
    return element("tr", {},
      element("th", { scope: "row" }, element("code", {}, parameter.name),
        parameter.required ? element("span", { class: "need" }, " required") : null),
      element("td", {}, parameter.in),
      element("td", {}, typeName(description, parameter.schema)),
      element("td", {}, parameter.description || "",
        limit ? element("span", { class: "limit" }, limit) : null));
  });
}

function isError(description, answer) {
  const content = answer.content && answer.content["application/json"];
  return Boolean(content && content.schema.$ref === "#/components/schemas/Error");
}

// Return the schema of a response body, or of its items if it is an array.
function answerSchema(description, answer) {
  const [, content] = Object.entries(answer.content || {})[0] || [];
  const schema = resolve(description, content && content.schema);
  return schema.type === "array" ? resolve(description, schema.items) : schema;
}

function answerRow(description, status, answer) {
  const [type] = Object.keys(answer.content || {});
  const names = Object.keys(answerSchema(description, answer).properties || {});
  return element("tr", {},
    element("th", { scope: "row" }, element("code", {}, status)),
    element("td", {}, answer.description,
      names.length ? element("span", { class: "limit" }, "with " + names.join(", ")) : null),
    element("td", {}, type ? element("code", {}, type) : "no body"));
}

function answers(description, operation) {
  const all = Object.entries(operation.responses).map(([status, raw]) => [status, resolve(description, raw)]);
  const refusals = all.filter(([, answer]) => isError(description, answer));
  const statuses = refusals.map(([status]) => status).filter((status) => status !== "default");
  return [
    table("Answers", ["Status", "Meaning", "Body"], all
      .filter(([, answer]) => !isError(description, answer))
      .map(([status, answer]) => answerRow(description, status, answer))),
    ...all.filter(([, answer]) => !isError(description, answer))
      .map(([status, answer]) => [status, fieldRows(description, answerSchema(description, answer), "", [], " always")])
      .filter(([, rows]) => rows.length > 0)
      .map(([status, rows]) => element("details", { class: "refusals" },
        element("summary", {}, "Members of " + status),
        table("Members of " + status, ["Member", "Type", "Meaning"], rows))),
    element("details", { class: "refusals" },
      element("summary", {}, "Errors: " + [...statuses, "and others"].join(", ")),
      element("dl", {}, refusals.flatMap(([status, answer]) => [
        element("dt", {}, element("code", {}, status === "default" ? "other" : status)),
        element("dd", {}, answer.description)]))),
  ];
}

// Realistic requests. A test sends each of them to a server.
const JOB = "job_01hx7y2k3m4n5p6q7r8s9t0v1w";
const HOOK = ["https:", "", "example.com", "hooks", "corvo"].join("/"); // the page must not contain external URLs
const BODIES = {
  "post /api/v1/enqueue": { queue: "emails.send", payload: { to: "ada@example.com", template: "welcome" }, max_retries: 5 },
  "post /api/v1/enqueue/batch": {
    jobs: [{ queue: "emails.send", payload: { to: "ada@example.com" } }, { queue: "emails.send", payload: { to: "grace@example.com" } }],
  },
  "post /api/v1/batch": { callback_queue: "reports.done", callback_payload: { report: "2026-01" } },
  "post /api/v1/fetch": { queues: ["emails.send"], worker_id: "mailer-1", hostname: "pod-1", timeout: 30 },
  "post /api/v1/fetch/batch": { queues: ["emails.send"], worker_id: "mailer-1", timeout: 30, count: 10 },
  "post /api/v1/ack/batch": { acks: [{ job_id: JOB, lease_token: 42, result: { sent: true } }] },
  "post /api/v1/ack/{job_id}": { lease_token: 42, result: { sent: true } },
  "post /api/v1/fail/{job_id}": { lease_token: 42, error: "SMTP connection timeout", backtrace: "at send (mail.js:42)" },
  "post /api/v1/heartbeat": { jobs: { [JOB]: { progress: { current: 3, total: 10, message: "3 of 10 sent" } } } },
  "post /api/v1/jobs/bulk-get": { job_ids: [JOB] },
  "post /api/v1/jobs/{id}/hold": { reason: "waits for the finance team" },
  "post /api/v1/jobs/{id}/reject": { reason: "amount is too high" },
  "post /api/v1/jobs/{id}/move": { queue: "emails.retry" },
  "post /api/v1/jobs/{id}/replay": { from: 2 },
  "post /api/v1/jobs/bulk": { action: "retry", filter: { queue: "emails.send", state: ["dead"], error_contains: "timeout" } },
  "post /api/v1/jobs/search": { queue: "emails.send", state: ["dead"], payload_contains: "ada@example.com", limit: 50 },
  "post /api/v1/queues/{name}/concurrency": { max: 10 },
  "post /api/v1/queues/{name}/throttle": { rate: 100, window_ms: 60000 },
  "post /api/v1/schedules": {
    name: "daily-report", queue: "reports.generate", cron: "0 9 * * 1-5", timezone: "Europe/Berlin", payload: { type: "daily" },
  },
  "put /api/v1/schedules/{id}": { cron: "30 8 * * 1-5" },
  "post /api/v1/webhooks": { url: HOOK, events: ["dead", "completed"], secret: "s3cret" },
  "post /api/v1/approval-policies": { name: "large payments", queue: "payments.capture", tag_key: "risk", tag_value: "high" },
  "post /api/v1/auth/keys": { name: "mailer", role: "worker", queue_scope: "emails.*" },
  "post /api/v1/auth/roles": { name: "support", permissions: [{ resource: "jobs", actions: ["read", "write"] }] },
  "post /api/v1/namespaces": { name: "acme" },
  "put /api/v1/namespaces/{name}/quota": { max_jobs: 100000, max_queues: 50 },
  "put /api/v1/namespaces/{name}/rate-limit": { write_rps: 500, write_burst: 1000 },
  "post /api/v1/budgets": { scope: "queue", target: "agents.research", daily_usd: 20, on_exceed: "hold" },
  "put /api/v1/org": { name: "Example Corp" },
  "post /api/v1/org/members": { name: "Ada Lovelace", email: "ada@example.com", role: "operator" },
  "post /api/v1/org/api-keys": { name: "deploy" },
};

// Typical values of members with these names.
const VALUES = {
  queue: "emails.send", name: "emails.send", callback_queue: "reports.done", job_id: JOB, parent_id: JOB, unique_job_id: JOB,
  batch_id: "batch_01hx7y2k3m4n5p6q7r8s9t0v1w", chain_id: "chn_01hx7y2k3m4n5p6q7r8s9t0v1w", worker_id: "mailer-1",
  hostname: "pod-1", node_id: "node-1", leader_id: "node-1", error: "SMTP connection timeout", last_error: "SMTP connection timeout",
  message: "SMTP connection timeout", backtrace: "at send (mail.js:42)", unique_key: "welcome-4711", namespace: "default",
  role: "worker", status: "ok", state: "pending", cron: "0 9 * * 1-5", timezone: "Europe/Berlin", url: HOOK,
  method: "POST", path: "/api/v1/enqueue", model: "model-a", provider: "house", fingerprint: "9f86d081884c7d65",
  hold_reason: "waits for the finance team", reason: "waits for the finance team", cursor: "eyJvZmZzZXQiOjUwfQ==",
  address: "10.0.0.5:9000", version: "0.3.0", email: "ada@example.com", principal: "mailer", key_hash: "5f3c0a9b",
  attempt: 1, max_retries: 3, lease_token: 42, lease_duration: 60, total: 1, duration_ms: 2,
  event: "completed", prefix: "cvo_5f3c", host: "example.com", resource: "jobs", action: "read", key: "agents.research",
  payload: { to: "ada@example.com" }, result: { sent: true }, tags: { tenant: "acme" }, period: "24h",
};
const ID_OF = [["/jobs", JOB], ["/schedules", "sched_01hx7y2k3m4n5p6q7r8s9t0v1w"], ["/webhooks", "wh_01hx7y2k3m4n5p6q7r8s9t0v1w"],
  ["/batch", "batch_01hx7y2k3m4n5p6q7r8s9t0v1w"], ["", JOB]];

// Return the path with examples in place of its parameters.
function filledPath(path) {
  const id = ID_OF.find(([part]) => path.includes(part))[1];
  const name = path.includes("/namespaces") ? "acme" : "emails.send";
  return path.replace("{job_id}", JOB).replace("{id}", id).replace("{name}", name).replace("{queue}", "emails.send");
}

// Return a sample value. The name of a member is more specific than its type.
function sample(description, schema, depth, name) {
  const real = resolve(description, schema);
  if (name !== undefined && VALUES[name] !== undefined && !real.properties && !real.enum) return VALUES[name];
  if (name === "id") return JOB;
  if (real.default !== undefined) return real.default;
  if (real.enum) return real.enum[0];
  if (real.anyOf) return sample(description, real.anyOf[0], depth, name);
  if (real.examples) return real.examples[0];
  if (real.format === "date-time") return "2026-01-31T12:00:00Z";
  if (real.type === "array") return depth > 2 ? [] : [sample(description, real.items, depth + 1, name && name.replace(/s$/, ""))];
  if (real.type === "integer" || real.type === "number") return Math.max(real.minimum || 0, 1);
  if (real.type === "boolean") return true;
  if (real.type === "string") return "example";
  const properties = Object.entries(real.properties || {});
  const wanted = properties.filter(([name]) => (real.required || []).includes(name));
  const shown = wanted.length ? wanted : properties.slice(0, 2);
  return Object.fromEntries(shown.map(([member, inner]) =>
    [member, depth > 2 ? {} : sample(description, inner, depth + 1, member)]));
}

// Return a sample of the first successful response with a JSON body.
function sampleAnswer(description, operation) {
  for (const [status, raw] of Object.entries(operation.responses)) {
    const content = (resolve(description, raw).content || {})["application/json"];
    if (status.startsWith("2") && content) {
      return status + "\n" + JSON.stringify(sample(description, content.schema, 0), null, 2);
    }
  }
  return null;
}

function curlLines(description, method, path, operation) {
  const verb = method === "get" ? "" : `-X ${method.toUpperCase()} `;
  const lines = [`curl ${verb}'${location.origin}${filledPath(path)}'`];
  if (!operation.security) lines.push('  -H "X-API-Key: $CORVO_API_KEY"');
  const body = operation.requestBody && operation.requestBody.content;
  if (body && body["application/json"]) {
    const value = BODIES[`${method} ${path}`] || sample(description, body["application/json"].schema, 0);
    lines.push("  -d '" + JSON.stringify(value).replaceAll("'", "'\\''") + "'");
  } else if (body) {
    lines.push("  --data-binary @file");
  }
  return lines.join(" \\\n");
}

function example(text) {
  const button = element("button", { type: "button" }, "Copy");
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  return element("div", { class: "example" },
    element("pre", { tabindex: "0", "aria-label": "Example" }, element("code", {}, text)),
    navigator.clipboard ? button : null);
}

function chips(operation) {
  const said = operation.security ? ["no credential needed"]
    : ["for " + operation["x-corvo-roles"].join(", ")];
  if (operation["x-corvo-leader"]) said.push("runs on the leader");
  return element("ul", { class: "chips", "aria-label": "Access" },
    said.map((one) => element("li", {}, one)));
}

function article(description, method, path, operation) {
  const body = operation.requestBody && operation.requestBody.content["application/json"];
  const fields = body ? fieldRows(description, body.schema, "", [body.schema.$ref]) : [];
  const parameters = ownParameters(description, operation);
  const id = operation.operationId;
  const answer = sampleAnswer(description, operation);
  return element("article", { id, "aria-labelledby": id + "-title" },
    element("h3", { id: id + "-title" },
      element("span", { class: "method " + method }, method.toUpperCase()),
      element("code", {}, path),
      element("a", { href: "#" + id, "aria-label": "Link to " + path }, "#")),
    element("div", {},
      element("p", {}, operation.summary),
      chips(operation),
      parameters.length ? [element("h4", {}, "Parameters"),
        table("Parameters", ["Name", "In", "Type", "Meaning"],
          parameterRows(description, parameters))] : null,
      operation.requestBody && !body ? [element("h4", {}, "Body"),
        element("p", {}, "Any bytes.")] : null,
      body ? [element("h4", {}, operation.requestBody.required ? "Body" : "Body (optional)"),
        table("Body", ["Member", "Type", "Meaning"], fields)] : null,
      element("h4", {}, "Responses"),
      answers(description, operation),
      element("h4", {}, "Example"),
      example(curlLines(description, method, path, operation)),
      answer === null ? null : [element("h4", {}, "Sample response"), example(answer)]));
}

// Group the operations by tag, in the order of the description's tags.
function chapters(description) {
  const byTag = new Map(description.tags.map((tag) => [tag.name, []]));
  for (const [path, item] of Object.entries(description.paths)) {
    for (const method of METHODS.filter((one) => item[one])) {
      byTag.get(item[method].tags[0]).push({ method, path, operation: item[method] });
    }
  }
  return byTag;
}

function introduction(description) {
  return [
    element("h2", {}, "Overview"),
    element("p", {}, description.info.description.replaceAll("`", "")),
    element("p", {}, "The description that this page is made from: ",
      element("a", { href: "/openapi.json" }, "openapi.json"), "."),
    element("h4", {}, "Credentials"),
    table("Credentials", ["Place", "Name", "Meaning"],
      Object.values(description.components.securitySchemes).map((scheme) => element("tr", {},
        element("th", { scope: "row" }, scheme.in || "Authorization"),
        element("td", {}, element("code", {}, scheme.name || "Bearer …")),
        element("td", {}, scheme.description)))),
    element("h4", {}, "Headers of every operation"),
    table("Headers", ["Name", "In", "Type", "Meaning"],
      parameterRows(description, [resolve(description, COMMON)])),
    element("h4", {}, "Error codes"),
    element("p", {}, description.components.schemas.Error.properties.code.enum.flatMap(
      (code, i) => [i ? " " : "", element("code", {}, code)])),
  ];
}

function render(description) {
  const main = document.getElementById("main");
  const contents = document.getElementById("contents");
  const entries = [];
  document.getElementById("loading").remove();
  document.getElementById("version").textContent = "version " + description.info.version;
  main.append(element("section", {}, introduction(description)));
  for (const [tag, operations] of chapters(description)) {
    const section = element("section", { "aria-label": tag }, element("h2", {}, tag));
    const list = element("ul", {});
    const chapter = element("li", {}, element("span", {}, tag), list);
    for (const { method, path, operation } of operations) {
      const node = article(description, method, path, operation);
      const link = element("li", {}, element("a", { href: "#" + operation.operationId },
        element("span", { class: "method " + method }, method.toUpperCase()),
        path.replace("/api/v1", "")));
      section.append(node);
      list.append(link);
      entries.push({ node, link, section, chapter, text: node.textContent.toLowerCase() });
    }
    main.append(section);
    contents.append(chapter);
  }
  return entries;
}

function listen(entries) {
  const input = document.getElementById("search");
  const found = document.getElementById("found");
  const search = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = entries.filter((entry) => {
      const fits = words.every((word) => entry.text.includes(word));
      entry.node.hidden = entry.link.hidden = !fits;
      return fits;
    });
    for (const entry of entries) {
      const any = shown.some((one) => one.section === entry.section);
      entry.section.hidden = entry.chapter.hidden = !any;
    }
    found.textContent = words.length ? `${shown.length} of ${entries.length}` : `${entries.length} operations`;
  };
  input.addEventListener("input", search);
  input.form.addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(event.target.tagName)) {
      event.preventDefault();
      input.focus();
    }
    if (event.key === "Escape" && event.target === input) {
      input.value = "";
      search();
    }
  });
  search();
}

async function begin() {
  if (window.matchMedia("(max-width: 52rem)").matches) document.getElementById("menu").open = false;
  try {
    const answer = await fetch("/openapi.json");
    if (!answer.ok) throw new Error("status " + answer.status);
    listen(render(await answer.json()));
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (target) target.scrollIntoView();
  } catch (problem) {
    document.getElementById("main").replaceChildren(
      element("p", { class: "notice", role: "alert" }, "openapi.json could not be read: " + problem.message));
  }
}

begin();
