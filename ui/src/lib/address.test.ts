import { expect, it } from "vitest";

import { nameIn } from "./address";

it.each([
  ["a/b", "a%2Fb"],
  ["a%2Fb", "a%252Fb"],
  ["a b", "a%20b"],
  ["ü", "%C3%BC"],
  ["50%", "50%25"],
  ["50%", "50%"],
])("finds the name %s in an address that ends with %s", (name, end) => {
  expect(nameIn(`/queues/${end}`)).toBe(name);
  expect(nameIn(`/queues/${end}/`)).toBe(name);
});
