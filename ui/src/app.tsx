import { lazy } from "react";
import { Route, Routes } from "react-router-dom";

import { Shell } from "./components/shell";
import { Dashboard } from "./pages/dashboard";

// The dashboard comes with the first load; every other page when it is asked for.
const Queues = lazy(() => import("./pages/queues"));
const QueueDetail = lazy(() => import("./pages/queue"));
const Jobs = lazy(() => import("./pages/jobs"));
const JobDetail = lazy(() => import("./pages/job"));
const DeadLetter = lazy(() => import("./pages/dead-letter"));
const Scheduled = lazy(() => import("./pages/scheduled"));
const Schedules = lazy(() => import("./pages/schedules"));
const Held = lazy(() => import("./pages/held"));
const Events = lazy(() => import("./pages/events"));
const Cost = lazy(() => import("./pages/cost"));
const Errors = lazy(() => import("./pages/errors"));
const WorkerDetail = lazy(() => import("./pages/worker"));
const Workers = lazy(() => import("./pages/workers"));
const Cluster = lazy(() => import("./pages/cluster"));
const Webhooks = lazy(() => import("./pages/webhooks"));
const Policies = lazy(() => import("./pages/policies"));
const ApiKeys = lazy(() => import("./pages/api-keys"));
const Namespaces = lazy(() => import("./pages/namespaces"));
const Roles = lazy(() => import("./pages/roles"));
const Sso = lazy(() => import("./pages/sso"));
const AuditLogs = lazy(() => import("./pages/audit-logs"));
const Organization = lazy(() => import("./pages/organization"));
const NotFound = lazy(() => import("./pages/not-found"));

export function App() {
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
