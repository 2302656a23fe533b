// One day of a server, for the screenshots: queues that are busy by day, workers, a deployment in the
// afternoon that causes an error, and a worker that has stopped.

const HOUR = 3600;
const DEPLOYED = 2.5 * HOUR;
const GONE = 40 * 60;

/** Jobs per minute at the busiest time. */
const QUEUES = {
  "emails.send": 9,
  "images.resize": 14,
  "search.index": 6,
  "billing.invoice": 2,
  "notifications.push": 11,
  "reports.generate": 1,
};
const WORKERS = [
  { worker_id: "worker-a1", hostname: "pod-1", queues: ["notifications.push"] },
  { worker_id: "worker-b2", hostname: "pod-2", queues: ["emails.send"], until: 0 },
  { worker_id: "worker-e5", hostname: "pod-5", queues: ["images.resize"], until: GONE, share: 0.5 },
  { worker_id: "worker-c3", hostname: "pod-3", queues: ["images.resize", "search.index"] },
  { worker_id: "worker-d4", hostname: "pod-4", queues: ["billing.invoice", "reports.generate", "search.index"] },
];
/** share: the part of the jobs that fails. helps: a second attempt succeeds. since: only in this many seconds before now. */
const ERRORS = {
  "emails.send": { share: 0.02, helps: true, text: (n) => `SMTP connection timeout after 30s to mx${n % 4}.example.net` },
  "images.resize": {
    share: 0.05,
    since: DEPLOYED,
    text: (n) => `TypeError: Cannot read properties of undefined (reading 'width') in image ${n}`,
    backtrace: "at resize (/app/resize.js:88:21)\nat run (/app/worker.js:18:9)",
  },
  "billing.invoice": { share: 0.04, helps: true, text: (n) => `HTTP ${n % 3 === 0 ? 502 : 503} from payment gateway` },
  "notifications.push": { share: 0.01, text: (n) => `device token ${n * 7919} is not registered` },
};

const version = (ago) => (ago > DEPLOYED ? "2.3.1" : "2.4.0");

/** Between 0.2 at night and 1 in the afternoon, times a noise that is the same in every run. */
function load(ago, n) {
  const hour = (15 * HOUR - ago + 48 * HOUR) % (24 * HOUR) / HOUR;
  const noise = 0.85 + 0.3 * ((n * 2654435761) % 1000) / 1000;
  return (0.6 - 0.4 * Math.cos(((hour - 3) / 24) * 2 * Math.PI)) * noise;
}

async function finish(server, jobs, ago) {
  const failing = ({ queue, attempt, payload }) => {
    const error = ERRORS[queue];
    const found = error !== undefined && (error.since ?? Infinity) >= ago && (payload.n * 37) % 100 < error.share * 100;
    return found && !(error.helps === true && attempt > 1) ? error : undefined;
  };
  const good = jobs.filter((job) => failing(job) === undefined);
  if (good.length > 0) {
    await server.post("/ack/batch", { acks: good.map(({ job_id }) => ({ job_id })) });
  }
  for (const job of jobs) {
    const error = failing(job);
    if (error !== undefined) {
      await server.post(`/fail/${job.job_id}`, {
        error: error.text(job.payload.n),
        ...(error.backtrace === undefined ? {} : { backtrace: error.backtrace }),
      });
    }
  }
}

/** Create the day in steps of ten minutes, and of one minute in the last hour. Resets the clock at the end. */
export async function liveDay(server, clock) {
  const steps = [];
  for (let ago = 24 * HOUR; ago > 30; ago -= ago > HOUR ? 600 : 60) {
    steps.push([ago, ago > HOUR ? 10 : 1]);
  }
  const waiting = Object.fromEntries(Object.keys(QUEUES).map((queue) => [queue, 0]));
  let n = 0;
  let deployed = false;
  for (const [ago, minutes] of steps) {
    clock.set(-ago);
    const jobs = Object.entries(QUEUES).flatMap(([queue, rate], i) =>
      Array.from({ length: Math.round((rate * minutes * load(ago, n + i)) / 4) }, () => ({
        queue,
        payload: { n: n++ },
        max_retries: 2,
        retry_base_delay: "30s",
      })),
    );
    if (jobs.length > 0) {
      await server.post("/enqueue/batch", { jobs });
    }
    if (!deployed && ago <= DEPLOYED) {
      deployed = true;
      await server.post("/markers", { text: "deployed 2.4.0" });
    }
    clock.set(-ago + 1 + (n % 4));
    jobs.forEach(({ queue }) => (waiting[queue] += 1));
    const claimed = [];
    for (const { until = 0, share = 1, ...worker } of WORKERS) {
      // A worker that would find no jobs does not fetch, because it would have to wait.
      const there = worker.queues.reduce((sum, queue) => sum + waiting[queue], 0);
      if (ago > until && there > 0) {
        const count = share === 1 ? 500 : Math.ceil(there * share);
        const found = await server.post("/fetch/batch", { ...worker, count, timeout: 1, version: version(ago) });
        found.jobs.filter(({ attempt }) => attempt === 1).forEach(({ queue }) => (waiting[queue] -= 1));
        claimed.push(...found.jobs);
      }
    }
    clock.set(-ago + 6 + (n % 9));
    await finish(server, claimed, ago);
  }
  clock.set(0);
}

/** Fetch again for the running workers, so that they were seen recently. Finishes the jobs that they receive. */
export async function beatDay(server) {
  const alive = WORKERS.filter(({ until }) => until === undefined);
  const fetch = (worker) => server.post("/fetch/batch", { ...worker, count: 10, timeout: 1, version: "2.4.0" });
  for (const { jobs } of await Promise.all(alive.map(fetch))) {
    await finish(server, jobs, 0);
  }
}
