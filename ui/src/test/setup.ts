import { configure } from "@testing-library/react";

configure({ asyncUtilTimeout: 30_000 });

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
