import { beforeEach, describe, expect, it } from "vitest";

import { placeOf, recentPlaces, remember } from "./recent";

beforeEach(() => localStorage.clear());

describe("recent places", () => {
  it("are queues, jobs and workers", () => {
    expect(placeOf("/queues/a%20b")).toEqual({ kind: "Recent queue", name: "a b", to: "/queues/a%20b" });
    for (const path of ["/", "/queues", "/errors", "/jobs/a/b", "/queues/%zz"]) {
      expect(placeOf(path)).toBeNull();
    }
  });

  it("are the last six, each once, the newest first", () => {
    for (const name of ["a", "b", "c", "d", "e", "f", "g", "c"]) {
      remember(`/queues/${name}`);
    }
    remember("/errors");
    expect(recentPlaces().map(({ name }) => name)).toEqual(["c", "g", "f", "e", "d", "b"]);
  });

  it("are none when the store has something else", () => {
    for (const text of ["{", "{}", "[1, null]"]) {
      localStorage.setItem("corvo_recent default", text);
      expect(recentPlaces()).toEqual([]);
    }
  });
});
