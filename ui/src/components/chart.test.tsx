import { cleanup, render } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";

import { Chart, roundUpCount } from "./chart";

afterEach(cleanup);

const LINES: [values: (number | null)[], dots: number][] = [
  [[5], 1],
  [[0], 1],
  [[null, 5, null, 0, 1, null, 2], 2],
  [[0, 0], 0],
  [[null], 0],
];

it.each(LINES)("draws the points of %j that have no neighbor as dots", (values, dots) => {
  for (const stacked of [false, true]) {
    const { container, unmount } = render(
      <Chart
        label="Jobs"
        stacked={stacked && !values.includes(null)}
        times={values.map(String)}
        format={String}
        series={[{ name: "Completed", colour: "red", values }]}
      />,
    );
    expect(container.querySelectorAll("circle")).toHaveLength(dots);
    unmount();
  }
});

it("has only whole numbers at the axis of a chart of counts", () => {
  const counts = [0, 1, 2, 3, 5, 7, 10, 11, 21, 51, 5_999];
  expect(counts.map(roundUpCount)).toEqual([2, 2, 2, 4, 6, 8, 10, 20, 50, 100, 10_000]);
  expect(counts.map((n) => roundUpCount(n) / 2).every(Number.isInteger)).toBe(true);
});
