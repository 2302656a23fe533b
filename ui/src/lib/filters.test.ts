import { describe, expect, it } from "vitest";

import { advancedCount, describeFilter, filtersFromUrl, filtersToUrl, NO_FILTERS, toFilter, toRequest, type Filters } from "./filters";

const DEAD: Filters = { ...NO_FILTERS, state: ["dead"] };

describe("filters and the address bar", () => {
  const full: Filters = {
    ...NO_FILTERS,
    state: ["dead", "held"],
    priority: "high",
    payload_contains: "a&b=c",
    payload_jq: '.template == "welcome"',
    error_contains: "SMTP",
    tag: ["tenant=acme", "note=a=b"],
    job_id_prefix: "job_01",
    created_after: "2026-02-10T08:00:00.000Z",
    sort: "attempt",
    order: "asc",
  };

  it("come back from it as they went in", () => {
    const url = filtersToUrl(full, NO_FILTERS, new URLSearchParams());
    expect(filtersFromUrl(new URLSearchParams(url.toString()), NO_FILTERS)).toEqual(full);
  });

  it("leave out what the page shows by itself", () => {
    expect(filtersToUrl(DEAD, DEAD, new URLSearchParams()).toString()).toBe("");
    expect(filtersToUrl({ ...DEAD, queue: "a" }, DEAD, new URLSearchParams()).toString()).toBe("queue=a");
  });

  it("do not lead a page away from the states or the queue that it is about", () => {
    const url = new URLSearchParams("state=completed&queue=other");
    expect(filtersFromUrl(url, DEAD)).toEqual({ ...DEAD, queue: "other" });
    const mine: Filters = { ...NO_FILTERS, queue: "mine" };
    expect(filtersFromUrl(url, mine)).toEqual({ ...mine, state: ["completed"] });
  });

  it.each(["sort=nope", "order=sideways", "priority=urgent", "created_after=soon", "created_before="])(
    "have no use for %s",
    (text) => expect(filtersFromUrl(new URLSearchParams(text), NO_FILTERS)).toEqual(NO_FILTERS),
  );

  it.each([
    ["2026-02-10T08:00:00+01:00", "2026-02-10T07:00:00.000Z"],
    ["2026-02-10T08:00", new Date("2026-02-10T08:00").toISOString()],
  ])("have the time %s in UTC", (text, instant) =>
    expect(filtersFromUrl(new URLSearchParams({ created_after: text }), NO_FILTERS).created_after).toBe(instant));

  it("keep what is not theirs and pass over what makes no sense", () => {
    const url = filtersToUrl(NO_FILTERS, NO_FILTERS, new URLSearchParams("tab=x&queue=old"));
    expect(url.toString()).toBe("tab=x");
    const odd = filtersFromUrl(new URLSearchParams("state=dead,nonsense&tag=novalue"), NO_FILTERS);
    expect(odd.state).toEqual(["dead"]);
    expect(odd.tag).toEqual([]);
  });
});

describe("filters as the server takes them", () => {
  it("have no empty fields", () => expect(toFilter(NO_FILTERS)).toEqual({}));

  it("have tags as an object, and times", () => {
    const filter = toFilter({ ...NO_FILTERS, tag: ["a=1", "b=x=y"], created_after: "2026-02-10T08:00:00.000Z" });
    expect(filter.tags).toEqual({ a: "1", b: "x=y" });
    expect(filter.created_after).toBe("2026-02-10T08:00:00.000Z");
  });

  it("carry order and limit", () =>
    expect(toRequest(DEAD, 50)).toEqual({ state: ["dead"], sort: "created_at", order: "desc", limit: 50 }));
});

it("counts what is behind the toggle", () => {
  expect(advancedCount({ ...DEAD, state: [], sort: "attempt" }, DEAD)).toBe(0);
  expect(advancedCount({ ...DEAD, queue: "q", priority: "high", tag: ["a=b"] }, DEAD)).toBe(3);
});

it("says in words what a filter means", () =>
  expect(describeFilter({ state: ["dead"], queue: "emails", error_contains: "SMTP", tags: { t: "x" } })).toBe(
    'state dead, queue emails, error contains "SMTP", tag t=x',
  ));
