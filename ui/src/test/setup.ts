import { configure } from "@testing-library/react";

// Whether an element is visible is not asked for queries by role: jsdom has no layout, and computes styles slowly.
configure({ asyncUtilTimeout: 30_000, defaultHidden: true });

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
