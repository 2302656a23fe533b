import { configure } from "@testing-library/react";
import { afterAll } from "vitest";

// Whether an element is visible is not asked for queries by role: jsdom has no layout, and computes styles slowly.
configure({ asyncUtilTimeout: 30_000, defaultHidden: true });

// Work that React has scheduled needs the window, which is gone after the last test.
afterAll(() => new Promise<void>((done) => void setImmediate(() => void setImmediate(() => done()))));

// jsdom does not have these functions.
if (typeof HTMLDialogElement !== "undefined") {
  HTMLDialogElement.prototype.showModal = function showModal() {
    this.setAttribute("open", "");
  };
  HTMLDialogElement.prototype.close = function close() {
    this.removeAttribute("open");
  };
}
Element.prototype.scrollIntoView = () => undefined;

// jsdom has no media queries. Here none matches: the window is wide and the theme is light.
window.matchMedia = () =>
  ({ matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }) as unknown as MediaQueryList;
