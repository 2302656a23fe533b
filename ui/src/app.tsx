import { lazy } from "react";
import { Route, Routes } from "react-router-dom";

import { Shell } from "./components/shell";
import { Dashboard } from "./pages/dashboard";

// The dashboard comes with the first load; every other page when it is asked for.
const Queues = lazy(() => import("./pages/queues"));
const QueueDetail = lazy(() => import("./pages/queue"));
const JobDetail = lazy(() => import("./pages/job"));
const DeadLetter = lazy(() => import("./pages/dead-letter"));
const Scheduled = lazy(() => import("./pages/scheduled"));
const Schedules = lazy(() => import("./pages/schedules"));
const Held = lazy(() => import("./pages/held"));
const Events = lazy(() => import("./pages/events"));
const Cost = lazy(() => import("./pages/cost"));
const Workers = lazy(() => import("./pages/workers"));
const Cluster = lazy(() => import("./pages/cluster"));
const Webhooks = lazy(() => import("./pages/webhooks"));
const Policies = lazy(() => import("./pages/policies"));
const NotFound = lazy(() => import("./pages/not-found"));

export function App() {
  return (
    <Routes>
      <Route element={<Shell />}>
        <Route index element={<Dashboard />} />
        <Route path="queues" element={<Queues />} />
        <Route path="queues/:name" element={<QueueDetail />} />
        <Route path="jobs/:id" element={<JobDetail />} />
        <Route path="dead-letter" element={<DeadLetter />} />
        <Route path="scheduled" element={<Scheduled />} />
        <Route path="schedules" element={<Schedules />} />
        <Route path="held" element={<Held />} />
        <Route path="events" element={<Events />} />
        <Route path="cost" element={<Cost />} />
        <Route path="workers" element={<Workers />} />
        <Route path="cluster" element={<Cluster />} />
        <Route path="webhooks" element={<Webhooks />} />
        <Route path="approval-policies" element={<Policies />} />
        <Route path="*" element={<NotFound />} />
      </Route>
    </Routes>
  );
}
