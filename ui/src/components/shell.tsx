import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { Link, NavLink, Outlet, useLocation, useNavigate } from "react-router-dom";

import { useSignOut } from "../api/actions";
import { gate, isForbidden } from "../api/client";
import { chooseNamespace, chosenNamespace, onNamespace } from "../api/key";
import { useAuthStatus, useCluster, useNamespaces } from "../api/queries";
import { stream, useNewLog } from "../live/live";
import { faultOf, healthOf, isSilent } from "../lib/cluster";
import { useHotkeys } from "../lib/hooks";
import { remember } from "../lib/recent";
import { toggleTheme, useDark } from "../lib/theme";
import { BulkRuns } from "./bulk-runs";
import { Crash } from "./crash";
import { EnqueueDialog } from "./enqueue-dialog";
import { HelpDialog } from "./help-dialog";
import { Icon, type IconName } from "./icons";
import { jobPath } from "./job-table";
import { asJobId, Palette, type Command } from "./palette";
import { Badge, Button, IconButton } from "./parts";
import { Reconnect, useReachable } from "./reconnect";

interface Entry {
  to: string;
  label: string;
  icon: IconName;
}

const MAIN: Entry[] = [
  { to: "/", label: "Dashboard", icon: "dashboard" },
  { to: "/queues", label: "Queues", icon: "queues" },
  { to: "/jobs", label: "Jobs", icon: "search" },
  { to: "/errors", label: "Errors", icon: "alert" },
  { to: "/scheduled", label: "Scheduled", icon: "clock" },
  { to: "/schedules", label: "Schedules", icon: "repeat" },
  { to: "/dead-letter", label: "Dead Letter", icon: "dead" },
  { to: "/held", label: "Held Jobs", icon: "held" },
  { to: "/events", label: "Live Tail", icon: "tail" },
  { to: "/cost", label: "Cost", icon: "cost" },
  { to: "/workers", label: "Workers", icon: "workers" },
  { to: "/cluster", label: "Cluster", icon: "cluster" },
];

const ADMIN: Entry[] = [
  { to: "/api-keys", label: "API Keys", icon: "key" },
  { to: "/namespaces", label: "Namespaces", icon: "folder" },
  { to: "/roles", label: "Roles", icon: "people" },
  { to: "/sso", label: "SSO", icon: "key" },
  { to: "/audit-logs", label: "Audit Logs", icon: "log" },
  { to: "/approval-policies", label: "Approval Policies", icon: "shield" },
  { to: "/webhooks", label: "Webhooks", icon: "hook" },
  { to: "/organization", label: "Organization", icon: "building" },
];

const Entries = ({ list }: { list: Entry[] }) => (
  <>
    {list.map(({ to, label, icon }) => (
      <NavLink key={to} to={to} end={to === "/"} className="nav-link">
        <Icon name={icon} />
        {label}
      </NavLink>
    ))}
  </>
);

function Sidebar({ open }: { open: boolean }) {
  // A role that may not even read its own status cannot use any admin page.
  const status = useAuthStatus();
  const admin = status.data !== undefined || status.isPending;
  return (
    <nav className={`sidebar ${open ? "open" : ""}`} aria-label="Main">
      <NavLink to="/" end className="logo">
        <img src="/ui/favicon.svg" alt="" />
        Corvo
      </NavLink>
      <Entries list={MAIN} />
      {admin && (
        <>
          <div className="nav-group">Admin</div>
          <Entries list={ADMIN} />
        </>
      )}
    </nav>
  );
}

/** Selects the namespace whose jobs are shown, for callers that may choose one. */
function NamespaceSwitcher() {
  const client = useQueryClient();
  const chosen = useSyncExternalStore(onNamespace, chosenNamespace);
  const status = useAuthStatus();
  const names = (useNamespaces().data ?? []).map(({ name }) => name);
  if (status.data?.chooses_namespace !== true || (names.length < 2 && chosen === "default")) {
    return null;
  }
  const choose = (name: string) => {
    chooseNamespace(name);
    stream.forget();
    void client.resetQueries();
  };
  return (
    <>
      <span className="namespace-label" aria-hidden="true">
        Namespace
      </span>
      <select aria-label="Namespace" className="namespace" value={chosen} onChange={(e) => choose(e.target.value)}>
        {[...new Set(["default", chosen, ...names])].map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </>
  );
}

function SignOut() {
  const status = useAuthStatus();
  const signOut = useSignOut();
  if (status.data?.by_session !== true) {
    return null;
  }
  const done = () => gate.signInNeeded.forEach((listener) => listener());
  return (
    <Button compact disabled={signOut.isPending} onClick={() => signOut.mutate(undefined, { onSuccess: done })}>
      Sign Out
    </Button>
  );
}

interface HeaderProps {
  onMenu: () => void;
  onHelp: () => void;
  onGo: () => void;
  menuOpen: boolean;
}

function Header({ onMenu, onHelp, onGo, menuOpen }: HeaderProps) {
  const cluster = useCluster();
  const reachable = useReachable();
  const dark = useDark();
  // A single refusal, such as by the rate limiter, does not mean that the server is unhealthy.
  const status = reachable ? cluster.data : undefined;
  const health = healthOf(status);
  const fault = faultOf(status);
  const nodes = status?.nodes?.length ?? 0;
  const silent = status?.nodes?.filter(isSilent).length ?? 0;
  return (
    <header className="header">
      <span className="menu-button">
        <IconButton icon="menu" label="Menu" aria-expanded={menuOpen} onClick={onMenu} />
      </span>
      {/* No badge for callers that may not read the status: a missing permission is no reason for an alarm. */}
      {!cluster.isPending && !(reachable && isForbidden(cluster.error)) && <Badge tone={health.good ? "green" : "red"}>{health.text}</Badge>}
      {fault !== null && <span className="danger-text fault">{fault.short}</span>}
      {status?.mode !== undefined && <Badge plain>{status.mode}</Badge>}
      {nodes > 0 && (
        <span className="muted small nodes">
          {nodes} {nodes === 1 ? "node" : "nodes"}
          {silent > 0 && <span className="danger-text">, {silent} unreachable</span>}
        </span>
      )}
      <span className="gap" />
      <NamespaceSwitcher />
      <SignOut />
      <IconButton icon="search" label="Go to (Ctrl-K)" onClick={onGo} />
      <IconButton icon="help" label="Keyboard shortcuts" onClick={onHelp} />
      <IconButton icon={dark ? "sun" : "moon"} label={dark ? "Light theme" : "Dark theme"} onClick={toggleTheme} />
    </header>
  );
}

const PAGES = [...MAIN, ...ADMIN].map(({ label, to }) => ({ kind: "Page", name: label, to }));

/** What keeps this node from its work. */
function Fault() {
  const cluster = useCluster();
  const fault = faultOf(useReachable() ? cluster.data : undefined);
  return fault === null ? null : (
    <div className="banner bad" role="alert">
      <span>{fault.text}</span>
      <Link to="/cluster">Cluster status</Link>
    </div>
  );
}

/** Handle Ctrl-K anywhere, even while typing. A job id that is pasted outside of a field opens the job. */
function useGo(open: () => void): void {
  const navigate = useNavigate();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k" && document.querySelector("dialog[open]") === null) {
        event.preventDefault();
        open();
      }
    };
    const onPaste = (event: ClipboardEvent) => {
      const typing = event.target instanceof Element && event.target.closest("input, textarea, select, [role=dialog]") !== null;
      const id = asJobId(event.clipboardData?.getData("text") ?? "");
      if (id !== null && !typing) {
        navigate(jobPath(id));
      }
    };
    document.addEventListener("keydown", onKey);
    document.addEventListener("paste", onPaste);
    return () => {
      document.removeEventListener("keydown", onKey);
      document.removeEventListener("paste", onPaste);
    };
  }, [navigate, open]);
}

/** When the drawer opens, move the focus into it, for keyboard users. Move it back when the drawer closes. */
function useDrawerFocus(open: boolean): void {
  useEffect(() => {
    if (!open) {
      return;
    }
    const before = document.activeElement;
    document.querySelector<HTMLElement>(".sidebar a")?.focus();
    return () => {
      if (before instanceof HTMLElement) {
        before.focus();
      }
    };
  }, [open]);
}

export function Shell() {
  const [menu, setMenu] = useState(false);
  const [help, setHelp] = useState(false);
  const [go, setGo] = useState(false);
  const [enqueue, setEnqueue] = useState(false);
  const commands = useMemo(
    (): Command[] => [
      { kind: "Action", name: "Enqueue job", needs: "POST /enqueue", run: () => setEnqueue(true) },
      { kind: "Action", name: "Switch between light and dark theme", run: toggleTheme },
      { kind: "Action", name: "Show keyboard shortcuts", run: () => setHelp(true) },
    ],
    [],
  );
  useGo(useCallback(() => setGo(true), []));
  const { pathname, key } = useLocation();
  const namespace = useSyncExternalStore(onNamespace, chosenNamespace);
  useEffect(() => setMenu(false), [key]);
  useEffect(() => {
    document.getElementById("content")?.scrollTo(0, 0);
    remember(pathname);
  }, [pathname]);
  useDrawerFocus(menu);
  useNewLog();
  useHotkeys({ "?": () => setHelp(true), Escape: () => setMenu(false) });
  return (
    <div className="shell">
      <a className="skip-link" href="#content">
        Skip to content
      </a>
      <Sidebar open={menu} />
      {menu && <button type="button" className="drawer-shade" aria-label="Close menu" onClick={() => setMenu(false)} />}
      <Header onMenu={() => setMenu(!menu)} menuOpen={menu} onHelp={() => setHelp(true)} onGo={() => setGo(true)} />
      <main className="content" id="content" tabIndex={0}>
        <div className="page">
          <Reconnect />
          <Fault />
          <Crash key={`${namespace} ${pathname}`}>
            <Outlet />
          </Crash>
        </div>
      </main>
      <BulkRuns />
      {go && <Palette pages={PAGES} commands={commands} onClose={() => setGo(false)} />}
      {enqueue && <EnqueueDialog onClose={() => setEnqueue(false)} />}
      {help && <HelpDialog onClose={() => setHelp(false)} />}
    </div>
  );
}
