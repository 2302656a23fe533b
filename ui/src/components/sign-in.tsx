import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, type SyntheticEvent, type ReactNode } from "react";

import { ApiError, gate, get, messageOf } from "../api/client";
import { beginSession, clearKey } from "../api/key";
import { KEY, READ } from "../api/queries";
import type { AuthStatus } from "../api/types";
import { toast } from "../lib/toasts";
import { stream } from "../live/live";
import { Button, Field } from "./parts";

/** Ask who the caller is before anything else. Without a key each read would be refused and audited. False until it is known. */
function useAsked(): boolean {
  const client = useQueryClient();
  const [asked, setAsked] = useState(false);
  useEffect(() => {
    const done = () => setAsked(true);
    // Any other failure is left to the pages, which show it or ask again.
    void client.query(READ.authStatus).then(done, done);
  }, [client]);
  return asked;
}

/** Shows the app, or the sign-in screen while the server requires a key. */
export function SignInGate({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const asked = useAsked();
  const [needed, setNeeded] = useState(false);
  const [ended, setEnded] = useState(false);
  useEffect(() => {
    const listener = () => {
      setEnded((was) => was || client.getQueryData<AuthStatus>([KEY.authStatus])?.by_session === true);
      setNeeded(true);
    };
    gate.signInNeeded.add(listener);
    return () => {
      gate.signInNeeded.delete(listener);
    };
  }, [client]);
  const done = () => {
    setNeeded(false);
    setEnded(false);
  };
  if (needed) {
    return <SignIn ended={ended} onDone={done} />;
  }
  return asked ? children : <p className="page muted">Loading...</p>;
}

/** Sign in. Does not use the API client, because a 401 there would request another sign-in. */
async function signIn(key: string): Promise<void> {
  const response = await beginSession(key).catch(() => {
    throw new ApiError(0, "UNREACHABLE", "The server cannot be reached. Check that it is running.");
  });
  if (response.status === 401) {
    throw new ApiError(401, "UNAUTHORIZED", "The server does not accept this key.");
  }
  if (!response.ok) {
    const body = (await response.json().catch(() => ({}))) as { error?: string };
    throw new ApiError(response.status, "", body.error ?? response.statusText);
  }
}

/** Messages for the reasons that the server puts into the address when single sign-on has failed. */
const SSO_PROBLEMS: Record<string, string> = {
  unreachable: "The identity provider cannot be reached. Try again later, or sign in with a key.",
  refused: "The identity provider refused the sign-in.",
  expired: "The sign-in took too long, or was started in another browser. Try again.",
};

/** Return the message and remove the reason from the address, so that a reload does not show it again. */
function takeSsoProblem(): string | null {
  const url = new URL(window.location.href);
  const word = url.searchParams.get("sso");
  if (word === null) {
    return null;
  }
  url.searchParams.delete("sso");
  window.history.replaceState(window.history.state, "", url);
  return SSO_PROBLEMS[word] ?? "Single sign-on failed.";
}

/** Return the address of the single sign-on. Null if it is not configured or not known yet. */
function useSsoLogin(): string | null {
  const [login, setLogin] = useState<string | null>(null);
  useEffect(() => {
    get("/info")
      .then((info) => setLogin(info.sso_login_url ?? null))
      .catch(() => setLogin(null)); // the form shows the server's error
  }, []);
  return login;
}

function SsoButton({ login }: { login: string }) {
  const [problem] = useState(takeSsoProblem);
  const here = window.location.pathname + window.location.search;
  return (
    <>
      {problem === null ? null : <p role="alert">{problem}</p>}
      <a className="button" href={`${login}?return_to=${encodeURIComponent(here)}`}>
        Sign in with SSO
      </a>
    </>
  );
}

function SignIn({ ended, onDone }: { ended: boolean; onDone: () => void }) {
  const client = useQueryClient();
  const ssoLogin = useSsoLogin();
  const [key, setKey] = useState("");
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const send = async (event: SyntheticEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      await signIn(key.trim());
      client.clear();
      stream.forget();
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
        {ended && <p role="status">Your session has ended.</p>}
        <p>This server requires an API key. Enter a key or the admin password.</p>
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
        {ssoLogin === null ? null : <SsoButton login={ssoLogin} />}
        <p className="muted small">
          The admin password is set with <code>--admin-password</code> when the server starts. An administrator creates API
          keys here or with <code>corvo keys create</code>.
        </p>
      </form>
    </main>
  );
}
