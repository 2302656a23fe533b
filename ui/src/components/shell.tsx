import { Suspense, useEffect, useState } from "react";
import { NavLink, Outlet, useLocation } from "react-router-dom";

import { useCluster } from "../api/queries";
import { useHotkeys } from "../lib/hooks";
import { toggleTheme, useDark } from "../lib/theme";
import { healthOf } from "./cluster-panel";
import { Crash } from "./crash";
import { HelpDialog } from "./help-dialog";
import { Icon, type IconName } from "./icons";
import { Badge, IconButton } from "./parts";
import { Reconnect, useReachable } from "./reconnect";

interface Entry {
  to: string;
  label: string;
  icon: IconName;
}

const MAIN: Entry[] = [
  { to: "/", label: "Dashboard", icon: "dashboard" },
  { to: "/queues", label: "Queues", icon: "queues" },
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
  { to: "/approval-policies", label: "Approval Policies", icon: "shield" },
  { to: "/webhooks", label: "Webhooks", icon: "hook" },
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
  return (
    <nav className={`sidebar ${open ? "open" : ""}`} aria-label="Main">
      <NavLink to="/" end className="logo">
        <img src="/ui/favicon.svg" alt="" />
        Corvo
      </NavLink>
      <Entries list={MAIN} />
      <div className="nav-group">Admin</div>
      <Entries list={ADMIN} />
    </nav>
  );
}

function Header({ onMenu, onHelp, menuOpen }: { onMenu: () => void; onHelp: () => void; menuOpen: boolean }) {
  const cluster = useCluster();
  const reachable = useReachable();
  const dark = useDark();
  // One refusal, such as of the rate limiter, says nothing about its health.
  const status = reachable ? cluster.data : undefined;
  const health = healthOf(status);
  const nodes = status?.nodes?.length ?? 0;
  return (
    <header className="header">
      <span className="menu-button">
        <IconButton icon="menu" label="Menu" aria-expanded={menuOpen} onClick={onMenu} />
      </span>
      {!cluster.isPending && <Badge tone={health.good ? "green" : "red"}>{health.text}</Badge>}
      {status?.mode !== undefined && <Badge plain>{status.mode}</Badge>}
      {nodes > 0 && (
        <span className="muted small">
          {nodes} {nodes === 1 ? "node" : "nodes"}
        </span>
      )}
      <span className="gap" />
      <IconButton icon="help" label="Keyboard shortcuts" onClick={onHelp} />
      <IconButton icon={dark ? "sun" : "moon"} label={dark ? "Light theme" : "Dark theme"} onClick={toggleTheme} />
    </header>
  );
}

/** The drawer is behind who opened it by a key: they go on in it, and come back when it closes. */
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
  const { pathname } = useLocation();
  useEffect(() => {
    setMenu(false);
    document.getElementById("content")?.scrollTo(0, 0);
  }, [pathname]);
  useDrawerFocus(menu);
  useHotkeys({ "?": () => setHelp(true), Escape: () => setMenu(false) });
  return (
    <div className="shell">
      <a className="skip-link" href="#content">
        Skip to content
      </a>
      <Sidebar open={menu} />
      {menu && <button type="button" className="drawer-shade" aria-label="Close menu" onClick={() => setMenu(false)} />}
      <Header onMenu={() => setMenu(!menu)} menuOpen={menu} onHelp={() => setHelp(true)} />
      <main className="content" id="content" tabIndex={0}>
        <div className="page">
          <Reconnect />
          <Crash key={pathname}>
            <Suspense fallback={<p className="muted">Loading...</p>}>
              <Outlet />
            </Suspense>
          </Crash>
        </div>
      </main>
      {help && <HelpDialog onClose={() => setHelp(false)} />}
    </div>
  );
}
