import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, type SyntheticEvent, type ReactNode } from "react";

import { ApiError, gate, messageOf } from "../api/client";
import { clearKey, keyHeader, storeKey } from "../api/key";
import { toast } from "../lib/toasts";
import { Button, Field } from "./parts";

/** Shows the app, or the sign-in screen while the server wants a key. */
export function SignInGate({ children }: { children: ReactNode }) {
  const [needed, setNeeded] = useState(false);
  useEffect(() => {
    const listener = () => setNeeded(true);
    gate.signInNeeded.add(listener);
    return () => {
      gate.signInNeeded.delete(listener);
    };
  }, []);
  return needed ? <SignIn onDone={() => setNeeded(false)} /> : children;
}

/** Whether the server takes the key; asked here because a refusal must not bring the screen back. */
async function check(key: string): Promise<void> {
  const response = await fetch("/api/v1/queues", { headers: keyHeader(key), cache: "no-store" }).catch(() => {
    throw new ApiError(0, "UNREACHABLE", "the server cannot be reached");
  });
  if (response.status === 401) {
    throw new ApiError(401, "UNAUTHORIZED", "The server does not accept this key.");
  }
}

function SignIn({ onDone }: { onDone: () => void }) {
  const client = useQueryClient();
  const [key, setKey] = useState("");
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const send = async (event: SyntheticEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      await check(key.trim());
      storeKey(key.trim());
      client.clear();
      toast.good("API key saved");
      onDone();
    } catch (problem) {
      clearKey();
      setError(messageOf(problem));
    }
    setBusy(false);
  };
  return (
    <main className="sign-in">
      <form className="card" onSubmit={(event) => void send(event)}>
        <div className="logo">
          <img src="/ui/favicon.svg" alt="" />
          <h1>Corvo</h1>
        </div>
        <p>This server needs an API key. Enter a key, or the admin password, to go on.</p>
        <Field label="API Key" error={error}>
          {(id) => (
            <input
              id={id}
              type="password"
              autoComplete="current-password"
              value={key}
              onChange={(e) => setKey(e.target.value)}
              autoFocus
            />
          )}
        </Field>
        <Button type="submit" kind="primary" disabled={key.trim() === "" || busy}>
          Sign In
        </Button>
        <p className="muted small">
          The admin password is the one that the server was started with. Where it knows API keys, an administrator makes
          them: <code>corvo keys create</code>.
        </p>
      </form>
    </main>
  );
}
