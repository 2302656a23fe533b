import { configure } from "@testing-library/react";

configure({ asyncUtilTimeout: 30_000 });

// What jsdom does not have.
if (typeof HTMLDialogElement !== "undefined") {
  HTMLDialogElement.prototype.showModal = function showModal() {
    this.setAttribute("open", "");
  };
  HTMLDialogElement.prototype.close = function close() {
    this.removeAttribute("open");
  };
}
Element.prototype.scrollIntoView = () => undefined;

// What jsdom does not have: a window that is wide and light.
window.matchMedia = () =>
  ({ matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }) as unknown as MediaQueryList;
