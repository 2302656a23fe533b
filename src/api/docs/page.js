"use strict";

// Everything on the page is made with element() from text: nothing that comes from the
// description is ever read as HTML.
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

// One row per member, those of inner objects behind their owner: "jobs[].queue".
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

// What every operation takes is said once, in the overview.
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

// The schema of an answer's body, or of each of its items.
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
      element("summary", {}, "Refusals: " + [...statuses, "and others"].join(", ")),
      element("dl", {}, refusals.flatMap(([status, answer]) => [
        element("dt", {}, element("code", {}, status === "default" ? "other" : status)),
        element("dd", {}, answer.description)]))),
  ];
}

function sample(description, schema, depth) {
  const real = resolve(description, schema);
  if (real.default !== undefined) return real.default;
  if (real.enum) return real.enum[0];
  if (real.anyOf) return sample(description, real.anyOf[0], depth);
  if (real.examples) return real.examples[0];
  if (real.format === "date-time") return "2026-01-31T12:00:00Z";
  if (real.type === "array") return depth > 2 ? [] : [sample(description, real.items, depth + 1)];
  if (real.type === "integer" || real.type === "number") return Math.max(real.minimum || 0, 1);
  if (real.type === "boolean") return true;
  if (real.type === "string") return "text";
  const properties = Object.entries(real.properties || {});
  const wanted = properties.filter(([name]) => (real.required || []).includes(name));
  const shown = wanted.length ? wanted : properties.slice(0, 2);
  return Object.fromEntries(shown.map(([name, inner]) =>
    [name, depth > 2 ? {} : sample(description, inner, depth + 1)]));
}

function curlLines(description, method, path, operation) {
  const verb = method === "get" ? "" : `-X ${method.toUpperCase()} `;
  const lines = [`curl ${verb}'${location.origin}${path}'`];
  if (!operation.security) lines.push('  -H "X-API-Key: $CORVO_API_KEY"');
  const body = operation.requestBody && operation.requestBody.content;
  if (body && body["application/json"]) {
    const value = sample(description, body["application/json"].schema, 0);
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
  if (operation["x-corvo-leader"]) said.push("done by the leader");
  return element("ul", { class: "chips", "aria-label": "Access" },
    said.map((one) => element("li", {}, one)));
}

function article(description, method, path, operation) {
  const body = operation.requestBody && operation.requestBody.content["application/json"];
  const fields = body ? fieldRows(description, body.schema, "", [body.schema.$ref]) : [];
  const parameters = ownParameters(description, operation);
  const id = operation.operationId;
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
      body ? [element("h4", {}, operation.requestBody.required ? "Body" : "Body, may be left out"),
        table("Body", ["Member", "Type", "Meaning"], fields)] : null,
      element("h4", {}, "Answers"),
      answers(description, operation),
      element("h4", {}, "Example"),
      example(curlLines(description, method, path, operation))));
}

// The operations in chapters, in the order of the description's tags.
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
