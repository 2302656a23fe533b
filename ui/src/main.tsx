import "./styles/base.css";
import "./styles/shell.css";
import "./styles/parts.css";

import { QueryClientProvider } from "@tanstack/react-query";
import { createRoot } from "react-dom/client";
import { BrowserRouter } from "react-router-dom";

import { newQueryClient } from "./api/queries";
import { App } from "./app";
import { Permitted } from "./components/permitted";
import { SignInGate } from "./components/sign-in";
import { Toasts } from "./components/toasts";
import { Live } from "./live/live";

// Filters are stored in the address. If the router updated it in a transition, typing into a filter would lag.
const FUTURE = { v7_startTransition: false, v7_relativeSplatPath: true };

const root = document.getElementById("root");
if (root !== null) {
  createRoot(root).render(
    <QueryClientProvider client={newQueryClient()}>
      <BrowserRouter basename="/ui" future={FUTURE}>
        <SignInGate>
          <Live>
            <Permitted>
              <App />
            </Permitted>
          </Live>
        </SignInGate>
      </BrowserRouter>
      <Toasts />
    </QueryClientProvider>,
  );
}
