import "./styles/base.css";
import "./styles/shell.css";
import "./styles/parts.css";

import { QueryClientProvider } from "@tanstack/react-query";
import { createRoot } from "react-dom/client";
import { BrowserRouter } from "react-router-dom";

import { gate } from "./api/client";
import { newQueryClient } from "./api/queries";
import { App } from "./app";
import { SignInGate } from "./components/sign-in";
import { Toasts } from "./components/toasts";
import { Live } from "./live/live";

// A part that is not there any more belongs to a version that is not there any more. Where it is the
// server that is not there, the page waits for it: a reload would leave nothing at all.
window.addEventListener("vite:preloadError", () => {
  const reload = () => window.location.reload();
  fetch("/ui/", { method: "HEAD", cache: "no-store" }).then(reload, () => {
    gate.reachable.add((yes) => {
      if (yes) {
        reload();
      }
    });
  });
});

// Filters live in the address: an update of it that waits would hold back what one types.
const FUTURE = { v7_startTransition: false, v7_relativeSplatPath: true };

const root = document.getElementById("root");
if (root !== null) {
  createRoot(root).render(
    <QueryClientProvider client={newQueryClient()}>
      <BrowserRouter basename="/ui" future={FUTURE}>
        <SignInGate>
          <Live>
            <App />
          </Live>
        </SignInGate>
      </BrowserRouter>
      <Toasts />
    </QueryClientProvider>,
  );
}
