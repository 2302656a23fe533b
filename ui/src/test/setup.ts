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
