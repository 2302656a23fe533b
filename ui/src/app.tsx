import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { Route, Routes } from "react-router-dom";

import { loadPages, page } from "./components/page";
import { Shell } from "./components/shell";
import { watchPresses } from "./lib/ahead";
import { Dashboard } from "./pages/dashboard";

// The dashboard is part of the first load. All other pages are loaded after it.
const Queues = page(() => import("./pages/queues"));
const QueueDetail = page(() => import("./pages/queue"));
const Jobs = page(() => import("./pages/jobs"));
const JobDetail = page(() => import("./pages/job"));
const DeadLetter = page(() => import("./pages/dead-letter"));
const Scheduled = page(() => import("./pages/scheduled"));
const Schedules = page(() => import("./pages/schedules"));
const Held = page(() => import("./pages/held"));
const Events = page(() => import("./pages/events"));
const Cost = page(() => import("./pages/cost"));
const Errors = page(() => import("./pages/errors"));
const WorkerDetail = page(() => import("./pages/worker"));
const Workers = page(() => import("./pages/workers"));
const Cluster = page(() => import("./pages/cluster"));
const Webhooks = page(() => import("./pages/webhooks"));
const Policies = page(() => import("./pages/policies"));
const ApiKeys = page(() => import("./pages/api-keys"));
const Namespaces = page(() => import("./pages/namespaces"));
const Roles = page(() => import("./pages/roles"));
const Sso = page(() => import("./pages/sso"));
const AuditLogs = page(() => import("./pages/audit-logs"));
const Organization = page(() => import("./pages/organization"));
const NotFound = page(() => import("./pages/not-found"));

export function App() {
  const client = useQueryClient();
  useEffect(loadPages, []);
  useEffect(() => watchPresses(client), [client]);
  return (
    <Routes>
      <Route element={<Shell />}>
        <Route index element={<Dashboard />} />
        <Route path="queues" element={<Queues />} />
        <Route path="queues/:name" element={<QueueDetail />} />
        <Route path="jobs" element={<Jobs />} />
        <Route path="jobs/:id" element={<JobDetail />} />
        <Route path="dead-letter" element={<DeadLetter />} />
        <Route path="scheduled" element={<Scheduled />} />
        <Route path="schedules" element={<Schedules />} />
        <Route path="held" element={<Held />} />
        <Route path="events" element={<Events />} />
        <Route path="cost" element={<Cost />} />
        <Route path="workers" element={<Workers />} />
        <Route path="workers/:id" element={<WorkerDetail />} />
        <Route path="errors" element={<Errors />} />
        <Route path="cluster" element={<Cluster />} />
        <Route path="webhooks" element={<Webhooks />} />
        <Route path="approval-policies" element={<Policies />} />
        <Route path="api-keys" element={<ApiKeys />} />
        <Route path="namespaces" element={<Namespaces />} />
        <Route path="roles" element={<Roles />} />
        <Route path="sso" element={<Sso />} />
        <Route path="audit-logs" element={<AuditLogs />} />
        <Route path="organization" element={<Organization />} />
        <Route path="*" element={<NotFound />} />
      </Route>
    </Routes>
  );
}
