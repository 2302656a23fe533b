"""System endpoints (contract 20.1, 20.5 to 20.7, 14): health, versions, metrics, status, docs."""
import re
import unittest
from datetime import datetime, timedelta, timezone

from harness import VERSION, ApiTest, Server, in_threads, unique, wait_until

# The routes of this server (contract 22, and the extensions named there).
ROUTES = """
POST   /api/v1/enqueue
POST   /api/v1/enqueue/batch
POST   /api/v1/webhooks/{}
POST   /api/v1/fetch
POST   /api/v1/fetch/batch
POST   /api/v1/ack/batch
POST   /api/v1/ack/{}
POST   /api/v1/fail/{}
POST   /api/v1/heartbeat
GET    /api/v1/jobs/{}
POST   /api/v1/jobs/bulk-get
GET    /api/v1/jobs/{}/iterations
POST   /api/v1/jobs/{}/retry
POST   /api/v1/jobs/{}/cancel
POST   /api/v1/jobs/{}/hold
POST   /api/v1/jobs/{}/approve
POST   /api/v1/jobs/{}/reject
POST   /api/v1/jobs/{}/replay
POST   /api/v1/jobs/{}/move
DELETE /api/v1/jobs/{}
GET    /api/v1/queues
GET    /api/v1/queues/{}
POST   /api/v1/queues/{}/pause
POST   /api/v1/queues/{}/resume
POST   /api/v1/queues/{}/clear
POST   /api/v1/queues/{}/drain
POST   /api/v1/queues/{}/concurrency
POST   /api/v1/queues/{}/throttle
DELETE /api/v1/queues/{}/throttle
DELETE /api/v1/queues/{}
GET    /api/v1/schedules
GET    /api/v1/schedules/{}
POST   /api/v1/schedules
PUT    /api/v1/schedules/{}
DELETE /api/v1/schedules/{}
POST   /api/v1/schedules/{}/run
POST   /api/v1/batch
POST   /api/v1/batch/{}/seal
GET    /api/v1/batch/{}
POST   /api/v1/jobs/search
GET    /api/v1/dead
GET    /api/v1/search/fulltext
GET    /api/v1/usage/summary
GET    /api/v1/billing/summary
GET    /api/v1/approval-policies
POST   /api/v1/approval-policies
DELETE /api/v1/approval-policies/{}
POST   /api/v1/admin/rebuild-sqlite
POST   /api/v1/admin/accept-clock
GET    /api/v1/workers
GET    /api/v1/cluster/status
POST   /api/v1/cluster/join
POST   /api/v1/cluster/leave
POST   /api/v1/cluster/transfer
DELETE /api/v1/cluster/nodes/{}
GET    /api/v1/metrics
GET    /api/v1/metrics/throughput
GET    /api/v1/debug/runtime
GET    /api/v1/info
GET    /healthz
GET    /openapi.json
GET    /docs
GET    /
GET    /ui
GET    /ui/{}
"""

# Name, type: the families of contract 20.5, except those of the streaming protocol, which appear with its first use,
# and that of snapshots, which appears with the first one.
METRICS = """
corvo_throughput_enqueued_total counter
corvo_throughput_completed_total counter
corvo_throughput_failed_total counter
corvo_cluster_is_leader gauge
corvo_sqlite_mirror_lag_updates gauge
corvo_sqlite_mirror_dropped_total counter
corvo_raft_apply_pending gauge
corvo_raft_apply_max_pending gauge
corvo_raft_apply_overload_total counter
corvo_raft_fetch_overload_total counter
corvo_raft_applied_total counter
corvo_raft_state gauge
corvo_raft_applied_index gauge
corvo_raft_commit_index gauge
corvo_raft_queue_time_seconds histogram
corvo_raft_apply_time_seconds histogram
corvo_queues_total gauge
corvo_queue_jobs gauge
corvo_jobs gauge
corvo_clock_ahead_seconds gauge
corvo_clock_behind_seconds gauge
corvo_workers_registered gauge
corvo_workers_active gauge
corvo_process_goroutines gauge
corvo_process_heap_inuse_bytes gauge
corvo_process_stack_inuse_bytes gauge
corvo_process_gc_pause_ns gauge
corvo_scheduler_promote_total counter
corvo_scheduler_reclaim_total counter
corvo_scheduler_expire_total counter
corvo_scheduler_purge_total counter
corvo_scheduler_promote_errors_total counter
corvo_scheduler_reclaim_errors_total counter
corvo_scheduler_expire_errors_total counter
corvo_scheduler_purge_errors_total counter
corvo_scheduler_last_promote_seconds gauge
corvo_scheduler_last_reclaim_seconds gauge
corvo_scheduler_last_expire_seconds gauge
corvo_scheduler_last_purge_seconds gauge
corvo_http_requests_total counter
corvo_http_request_errors_total counter
corvo_http_request_duration_seconds histogram
corvo_http_requests_in_flight gauge
"""

SAMPLE = re.compile(r'^([a-z_]+)(\{(?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*\})? (\S+)$')


class Health(ApiTest):
    def test_a_clock_that_is_believed_needs_no_word(self):
        answer = self.api.must(self.api.post("/api/v1/admin/accept-clock", b""))
        self.assertEqual((answer["status"], answer["ahead_ms"]), ("ok", 0))
        self.assert_time(answer["time"])

    def test_healthz(self):
        """24.52 /healthz 200; 20.7: status ok, raft_state and leader."""
        answer = self.api.must(self.api.get("/healthz"))
        self.assertEqual(answer, {"status": "ok", "raft_state": "Leader", "leader": True})
        self.assertEqual(self.api.must(self.api.get("/healthz?ready=1"))["status"], "ok")

    def test_info(self):
        """24.52 /api/v1/info strings equal to the configured version."""
        self.assertEqual(self.api.must(self.api.get("/api/v1/info")),
                         {"server_version": VERSION, "api_version": VERSION})

    def test_runtime(self):
        """20.3: the names that the benchmark tool reads."""
        answer = self.api.must(self.api.get("/api/v1/debug/runtime"))
        self.assertEqual(set(answer), {"goroutines", "gomaxprocs", "heap_inuse_bytes",
                                       "stack_inuse_bytes", "gc_pause_p99_ns", "cpu_user_ns",
                                       "cpu_sys_ns"})
        for name, value in answer.items():
            self.assertIsInstance(value, int, name)


class ClusterStatus(ApiTest):
    def test_a_server_alone(self):
        """24.55 contains sqlite_mirror and sqlite_rebuild; 20.1: fields and types."""
        self.api.enqueue(self.queue)
        status = self.api.must(self.api.get("/api/v1/cluster/status"))
        self.assertEqual((status["mode"], status["status"], status["state"]),
                         ("cluster", "healthy", "Leader"))
        self.assertEqual(status["leader_id"], status["node_id"])
        for name in ("leader_addr", "raft_store", "snapshot_interval", "apply_batch_min_wait",
                     "apply_batch_window"):
            self.assertIsInstance(status[name], str, name)
        for name in ("applied_index", "commit_index"):
            self.assertRegex(status[name], r"\A[1-9]\d*\Z")
        for name in ("raft_nosync", "pebble_nosync", "sqlite_mirror_async", "lifecycle_events"):
            self.assertIsInstance(status[name], bool, name)
        for name in ("snapshot_threshold", "apply_batch_max", "apply_batch_extend_at",
                     "apply_max_pending", "apply_max_fetch_queue_inflight", "apply_sub_batch_max",
                     "apply_pending_now", "overload_total", "fetch_overload_total",
                     "applied_total"):
            self.assertIsInstance(status[name], int, name)
        self.assertEqual(set(status["sqlite_mirror"]), {"async", "dropped", "queued", "applied", "lag",
                                                        "queue_depth", "queue_capacity", "low_space"})
        self.assertIsInstance(status["sqlite_rebuild"]["ran"], bool)
        self.assertIsInstance(status["snapshot"]["count"], int)
        node, = status["nodes"]
        self.assertEqual((node["id"], node["voter"], node["role"], node["status"], node["self"]),
                         (status["node_id"], True, "Leader", "healthy", True))

    def test_nobody_joins_a_server_alone(self):
        """24.55 different shard count → 409; 20.2: a member is not added again, otherwise 501."""
        node = {"node_id": "node-2", "addr": "127.0.0.1:9001"}
        for body, status, code in (({}, 400, "VALIDATION_ERROR"),
                                   ({**node, "node_id": ""}, 400, "VALIDATION_ERROR"),
                                   ({**node, "addr": None}, 400, "VALIDATION_ERROR"),
                                   ({**node, "addr": 5}, 400, "PARSE_ERROR"),
                                   ({**node, "shard_count": 4}, 409, "SHARD_COUNT_MISMATCH"),
                                   ({**node, "shard": 1}, 409, "SHARD_COUNT_MISMATCH"),
                                   (node, 501, "UNSUPPORTED")):
            with self.subTest(body):
                self.refused(self.api.post("/api/v1/cluster/join", body), status, code)
        itself = {**node, "node_id": "node-1", "shard": 0, "shard_count": 1}
        cluster_id = self.api.must(self.api.get("/api/v1/cluster/status"))["cluster_id"]
        self.assertEqual(self.api.must(self.api.post("/api/v1/cluster/join", itself)),
                         {"status": "ok", "added": False, "node_id": "node-1",
                          "addr": node["addr"], "cluster_id": cluster_id})

    def test_leadership_stays_on_a_server_alone(self):
        for body, message in (({}, "no other voting node to transfer leadership to"),
                              ({"node_id": "node-1"}, 'node "node-1" is the leader already'),
                              ({"node_id": "nobody"}, 'no such node: "nobody"')):
            answer = self.api.post("/api/v1/cluster/transfer", body)
            self.refused(answer, 404, "NOT_FOUND")
            self.assertEqual(answer.json["error"], message)

    def test_histograms(self):
        """20.1: {count} or {count, avg, p50, p90, p99, buckets}; counts per bucket."""
        self.api.enqueue(self.queue)
        status = self.api.must(self.api.get("/api/v1/cluster/status"))
        for name in ("queue_time_hist", "apply_time_hist"):
            hist = status[name]
            self.assertGreater(hist["count"], 0)
            self.assertEqual([b["le"] for b in hist["buckets"]],
                             ["50µs", "100µs", "200µs", "500µs", "1ms", "2ms", "5ms", "10ms",
                              "20ms", "50ms", "100ms", "200ms", "500ms", "1s", "+Inf"])
            self.assertEqual(sum(b["count"] for b in hist["buckets"]), hist["count"])
            for key in ("avg", "p50", "p90", "p99"):
                self.assertRegex(hist[key], r"\A[\d.]+(ns|µs|ms|s)\Z")


class Metrics(ApiTest):
    def metrics(self):
        """Return the samples by name and labels, and the types by family."""
        answer = self.api.get("/api/v1/metrics")
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.headers["content-type"],
                         "text/plain; version=0.0.4; charset=utf-8")
        samples, types, helps = {}, {}, set()
        text = answer.body.decode()
        self.assertTrue(text.endswith("\n"))
        for line in text.splitlines():
            if line.startswith("# TYPE "):
                name, kind = line[7:].split()
                self.assertNotIn(name, types, "a family is written once")
                types[name] = kind
            elif line.startswith("# HELP "):
                helps.add(line[7:].split()[0])
            elif line:
                found = SAMPLE.match(line)
                self.assertIsNotNone(found, line)
                key = found[1] + (found[2] or "")
                self.assertNotIn(key, samples, "a sample is written once")
                samples[key] = float(found[3])
                family = re.sub(r"_(bucket|sum|count)$", "", found[1])
                self.assertTrue(found[1] in types or types.get(family) == "histogram", line)
        self.assertEqual(helps, set(types))
        return samples, types

    def test_all_families_are_there(self):
        """24.54 metrics text contains the names; 20.5: # HELP and # TYPE per family."""
        self.api.enqueue(self.queue)
        self.api.get("/nothing")
        _, types = self.metrics()
        wanted = dict(line.split() for line in METRICS.split("\n") if line)
        self.assertEqual({n: types.get(n) for n in wanted}, wanted)

    def test_runs_of_the_scheduler(self):
        """config-and-metrics.md 11.6: one run promotes, reclaims and expires, whatever is due."""
        names = [f"corvo_scheduler_{what}_total" for what in ("promote", "reclaim", "expire")]
        before, _ = self.metrics()
        job = self.active(self.queue, retry_base_delay="1ms")
        self.api.fail(job)
        self.assertEqual(self.api.fetch(self.queue)["job_id"], job)  # wait until it is due
        after, _ = self.metrics()
        self.assertEqual(len({after[name] for name in names}), 1)
        for name in names:
            self.assertGreater(after[name], before[name])

    def test_numbers_of_jobs_and_queues(self):
        """20.5: corvo_queue_jobs by queue and state, corvo_jobs by state, throughput."""
        before, _ = self.metrics()
        name = 'odd "\\\n name ' + self.queue
        # A control character is not allowed in a name, so it contains only the quote and the backslash.
        name = name.replace("\n", "")
        done = self.active(name)
        self.api.ack(done)
        failed = self.active(name, max_retries=1)
        self.api.fail(failed)
        self.api.enqueue(name)
        samples, _ = self.metrics()
        shown = name.replace("\\", "\\\\").replace('"', '\\"')

        def jobs(state):
            return samples[f'corvo_queue_jobs{{queue="{shown}",state="{state}"}}']

        self.assertEqual([jobs(s) for s in ("pending", "active", "held", "completed", "dead",
                                            "scheduled", "retrying")], [1, 0, 0, 1, 1, 0, 0])
        for which, count in (("enqueued", 3), ("completed", 1), ("failed", 1)):
            key = f"corvo_throughput_{which}_total"
            self.assertEqual(samples[key] - before[key], count)
        self.assertEqual(samples['corvo_jobs{state="completed"}']
                         - before['corvo_jobs{state="completed"}'], 1)
        self.assertEqual(samples["corvo_queues_total"] - before["corvo_queues_total"], 1)
        self.assertGreater(samples["corvo_raft_applied_total"], before["corvo_raft_applied_total"])
        self.assertEqual(samples["corvo_cluster_is_leader"], 1)
        self.assertEqual(samples["corvo_raft_state"], 2)

    def test_what_is_kept_under_a_limit(self):
        """7.4: open batches and callbacks; stored responses of Idempotency-Key."""
        names = ("corvo_batches_open", "corvo_batch_callback_bytes", "corvo_idempotency_bytes")

        def since(samples):
            return [samples[n] - before[n] for n in names]

        before, _ = self.metrics()
        batch_id = self.api.post("/api/v1/batch", {"callback_queue": "c" * 10, "callback_payload": [1]}).json["batch_id"]
        once = self.api.with_headers(Idempotency_Key="k" * 20)
        once.enqueue(self.queue)
        once.enqueue(self.queue)
        samples, _ = self.metrics()
        self.assertEqual(since(samples)[:2], [1, 13])
        self.assertTrue(100 < since(samples)[2] < 300, since(samples))
        self.api.must(self.api.post(f"/api/v1/batch/{batch_id}/seal"))
        samples, _ = self.metrics()
        self.assertEqual(since(samples)[:2], [0, 0])

    def test_requests_are_counted_by_route(self):
        """20.5: method and route; parameters are :id, so the cardinality is bounded."""
        for n in range(3):
            self.api.get(f"/api/v1/jobs/job_{n:026d}")
        self.api.post(f"/api/v1/queues/{self.queue}/pause")
        samples, _ = self.metrics()
        paused = '{method="POST",route="/api/v1/queues/:id/pause"}'
        self.assertGreaterEqual(samples["corvo_http_requests_total" + paused], 1)
        label = '{method="GET",route="/api/v1/jobs/:id"}'
        self.assertGreaterEqual(samples["corvo_http_requests_total" + label], 3)
        self.assertGreaterEqual(samples["corvo_http_request_errors_total" + label], 3)
        bounds = ("0.001 0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10 +Inf").split()
        counts = [samples['corvo_http_request_duration_seconds_bucket'
                          f'{{method="GET",route="/api/v1/jobs/:id",le="{le}"}}']
                  for le in bounds]
        self.assertEqual(counts, sorted(counts))
        self.assertEqual(counts[-1], samples["corvo_http_request_duration_seconds_count" + label])
        self.assertEqual(samples["corvo_http_requests_in_flight"], 1)
        self.assertFalse([key for key in samples if "job_000" in key])

    def test_head_is_counted_as_head(self):
        """20.5: method is that of the request, and HEAD is not GET."""
        def counts():
            samples, _ = self.metrics()
            return [samples.get(f'corvo_http_requests_total{{method="{method}",route="{route}"}}', 0)
                    for method, route in (("GET", "/healthz"), ("HEAD", "/healthz"), ("HEAD", "/unknown"))]

        before = counts()
        self.assertEqual(self.api.request("HEAD", "/healthz").status, 200)
        self.assertEqual(self.api.request("HEAD", "/nowhere").status, 404)
        self.assertEqual([now - then for now, then in zip(counts(), before)], [0, 1, 1])

    def test_throughput(self):
        """20.6: exactly 60 entries, oldest first; every job by any route is counted."""
        def minutes():
            return self.api.must(self.api.get("/api/v1/metrics/throughput"))

        def total(rows, which):
            return sum(row[which] for row in rows)

        before = minutes()
        ids = self.api.enqueue_batch([{"queue": self.queue, "max_retries": 1}] * 3)["job_ids"]
        self.api.fetch_batch(self.queue, count=3)
        self.api.must(self.api.post("/api/v1/ack/batch", {"acks": [{"job_id": i}
                                                                   for i in ids[:2]]}))
        self.api.fail(ids[2])
        after = minutes()
        self.assertEqual(len(after), 60)
        for row in after:
            self.assertEqual(set(row), {"minute", "enqueued", "completed", "failed"})
        times = [datetime.fromisoformat(row["minute"][:-1] + "+00:00") for row in after]
        self.assertEqual({b - a for a, b in zip(times, times[1:])}, {timedelta(minutes=1)})
        self.assertLess(datetime.now(timezone.utc) - times[-1], timedelta(minutes=2))
        for which, count in (("enqueued", 3), ("completed", 2), ("failed", 1)):
            self.assertGreaterEqual(total(after, which) - total(before, which), count)


class Description(ApiTest):
    def test_lists_every_route(self):
        """20.7: /openapi.json; it lists exactly the routes that the server supports."""
        answer = self.api.get("/openapi.json")
        self.assertEqual((answer.status, answer.headers["cache-control"]),
                         (200, "public, max-age=300"))
        document = answer.json
        self.assertTrue(document["openapi"].startswith("3."))
        listed = {(method.upper(), re.sub(r"\{[^}]*\}", "{}", path))
                  for path, item in document["paths"].items() for method in item
                  if method in ("get", "post", "put", "delete", "patch")}
        wanted = {tuple(line.split()) for line in ROUTES.strip().splitlines()}
        self.assertEqual(wanted - listed, set())
        for method, path in sorted(listed):
            with self.subTest(method=method, path=path):
                target = path.replace("{}", "job_00000000000000000000000000")
                status = self.api.request("PATCH", target).status
                self.assertEqual(status, 405, "the path is not served")

    def test_references_lead_somewhere(self):
        document = self.api.get("/openapi.json").json

        def references(value):
            if isinstance(value, dict):
                if "$ref" in value:
                    yield value["$ref"]
                value = list(value.values())
            if isinstance(value, list):
                for item in value:
                    yield from references(item)

        for reference in set(references(document)):
            node = document
            self.assertTrue(reference.startswith("#/"))
            for part in reference[2:].split("/"):
                self.assertIn(part, node, reference)
                node = node[part]
        operations = [o["operationId"] for item in document["paths"].values()
                      for o in item.values() if isinstance(o, dict) and "operationId" in o]
        self.assertEqual(len(operations), len(set(operations)))

    def test_required_members_are_those_that_are_refused_when_missing(self):
        """An empty object is refused exactly where the description has required members."""
        document = self.api.get("/openapi.json").json
        schemas = document["components"]["schemas"]
        needed = set()
        for path, item in document["paths"].items():
            for method, operation in item.items():
                content = operation.get("requestBody", {}).get("content", {})
                schema = content.get("application/json", {}).get("schema", {})
                if "{" in path or "$ref" not in schema:
                    continue
                with self.subTest(method=method, path=path):
                    required = schemas[schema["$ref"].split("/")[-1]].get("required", [])
                    status = self.api.request(method.upper(), path, {}).status
                    self.assertEqual(status == 400, required != [])
                    needed |= {path} if required else set()
        self.assertLessEqual({"/api/v1/enqueue", "/api/v1/admin/restore"}, needed)

    def test_idempotency_keys_are_described_where_they_are_taken(self):
        key = {"$ref": "#/components/parameters/IdempotencyKey"}
        taken = {path for path, item in self.api.get("/openapi.json").json["paths"].items()
                 for operation in item.values() if key in operation.get("parameters", [])}
        self.assertEqual(taken, {"/api/v1/enqueue", "/api/v1/enqueue/batch", "/api/v1/webhooks/{queue}",
                                 "/api/v1/batch", "/api/v1/jobs/{id}/replay", "/api/v1/schedules/{id}/run"})

    def test_statuses_are_described(self):
        """Refusals that clients must expect are listed, not left to the default."""
        paths = self.api.get("/openapi.json").json["paths"]
        for method, path, status in (("post", "/api/v1/schedules", "409"),
                                     ("put", "/api/v1/schedules/{id}", "409"),
                                     ("delete", "/api/v1/bulk/{id}", "409"),
                                     ("post", "/api/v1/cluster/join", "409"),
                                     ("post", "/api/v1/cluster/join", "501"),
                                     ("get", "/api/v1/queues", "400")):
            with self.subTest(path=path, status=status):
                self.assertIn(status, paths[path][method]["responses"])
        self.assertEqual(self.api.get("/api/v1/queues", headers={"X-Corvo-Namespace": "A B"}).status,
                         400)

    def test_parameters_are_described_and_held(self):
        """Each parameter is described in the form of OpenAPI 3.1. An invalid number is refused as its schema says,
        unless it is described as one that may be invalid. Unknown parameters are ignored.
        """
        document = self.api.get("/openapi.json").json
        seen = set()
        for path, item in document["paths"].items():
            for method, operation in item.items():
                names = re.findall(r"\{([^}]*)\}", path)
                own = [p for p in operation["parameters"] if "$ref" not in p]
                self.assertEqual([p["name"] for p in own if p["in"] == "path"], names)
                for parameter in own:
                    with self.subTest(method=method, path=path, name=parameter["name"]):
                        self.assertIn(parameter["in"], ("path", "query"))
                        self.assertIsInstance(parameter["required"], bool)
                        self.assertTrue(parameter["required"] or parameter["in"] == "query")
                        self.assertTrue(parameter["description"])
                        schema = parameter["schema"]
                        kinds = [one["type"] for one in schema.get("anyOf") or schema.get("oneOf") or [schema]]
                        self.assertLessEqual(set(kinds), {"string", "integer", "boolean", "array"})
                        self.assertEqual("style" in parameter, kinds == ["array"])
                        key = (method, path, parameter["in"], parameter["name"])
                        self.assertNotIn(key, seen)
                        seen.add(key)
                        if (method == "get" and parameter["in"] == "query"
                                and kinds == ["integer"]
                                and "treated as absent" not in parameter["description"]):
                            self.refused(self.api.get(f"{path}?{parameter['name']}=x"), 400,
                                         "VALIDATION_ERROR", "invalid " + parameter["name"])
        self.assertIn(("get", "/api/v1/search/fulltext", "query", "q"), seen)
        self.api.must(self.api.get("/api/v1/cluster/events?nobody=knows&limit=1&limit=x"))
        self.refused(self.api.get("/api/v1/dead?queue=%ff"), 400, "VALIDATION_ERROR",
                     "invalid queue: expected UTF-8")
        self.refused(self.api.get("/api/v1/events?format=no"), 400, "VALIDATION_ERROR",
                     "invalid format")

    def test_docs(self):
        """20.7: HTML, no-cache, without third-party script hosts."""
        answer = self.api.get("/docs")
        self.assertEqual((answer.status, answer.headers["cache-control"]), (200, "no-cache"))
        self.assertTrue(answer.headers["content-type"].startswith("text/html"))
        page = answer.body.decode()
        self.assertIn("<html", page.lower())
        self.assertNotRegex(page, r"(src|href)\s*=\s*[\"']?(https?:)?//")


class DocsOff(unittest.TestCase):
    def test_docs_may_be_switched_off(self):
        """20.7: both 404 when --docs-enabled=false."""
        with Server("--docs-enabled=false") as server:
            api = server.client()
            for path in ("/docs", "/openapi.json"):
                answer = api.get(path)
                self.assertEqual((answer.status, answer.json["code"]), (404, "NOT_FOUND"))
            self.assertEqual(api.get("/healthz").status, 200)


class Overload(unittest.TestCase):
    def test_a_full_pipeline_answers_at_once(self):
        """1.8: 429 OVERLOADED with retry_after_ms 1…12 and Retry-After; acknowledged jobs are kept."""
        with Server("--raft-max-pending", "1", "--rate-limit-enabled=false") as server:
            api = server.client()
            queue = unique("overload")
            refused, made = [], []

            def work(_):
                for _ in range(40):
                    answer = api.post("/api/v1/enqueue", {"queue": queue})
                    (made if answer.status == 201 else refused).append(answer)

            in_threads(16, work)
            self.assertTrue(made)
            self.assertTrue(refused, "the pipeline was never full")
            for answer in refused:
                self.assertEqual((answer.status, answer.json["code"]), (429, "OVERLOADED"))
                self.assertEqual(set(answer.json), {"error", "code", "retry_after_ms"})
                self.assertIn(answer.json["retry_after_ms"], range(1, 13))
                self.assertEqual(answer.headers["retry-after"],
                                 f"{answer.json['retry_after_ms'] / 1000:.3f}")
            self.assertEqual(api.queue(queue)["pending"], len(made))

    def test_waiting_fetches_do_not_fill_it(self):
        """1.8: a parked long poll uses no place in the pipeline."""
        with Server("--raft-max-pending", "1", "--rate-limit-enabled=false") as server:
            api = server.client()
            queue = unique("waiting")
            polls = []
            for n in range(1, 9):
                polls.append(api.poll(queue))
                wait_until(lambda n=n: api.fetches_waiting() == n, "the poll being parked")
            ids = [api.enqueue(queue)]

            def enqueue():
                # Each job wakes a poll, which uses a place until it is served.
                answer = api.post("/api/v1/enqueue", {"queue": queue})
                return answer.json["job_id"] if answer.status == 201 else None

            ids += [wait_until(enqueue, "a free place") for _ in range(7)]
            self.assertEqual(sorted(api.must(p.result())["job_id"] for p in polls), sorted(ids))


if __name__ == "__main__":
    unittest.main()
