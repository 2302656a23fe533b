import { cleanup, render } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";

import type { Job } from "../../api/types";
import { ProgressCard } from "./progress";

afterEach(cleanup);

it.each<[unknown, string]>([
  [undefined, ""],
  [null, ""],
  [{ current: 45, total: 100, message: "segment 45" }, "45/100 (45%) segment 45"],
  [{ message: "half way" }, "Progress: half way"],
  ["half way", "Progress: half way"],
  [0.5, "Progress: 0.5"],
  [{ current: 7 }, 'Progress: {"current":7}'],
  [{ current: 7, total: 0, message: 3 }, 'Progress: {"current":7,"total":0,"message":3}'],
])("shows the progress %j", (progress, text) => {
  const { container } = render(<ProgressCard job={{ progress } as Job} />);
  expect(container.textContent).toBe(text);
});
