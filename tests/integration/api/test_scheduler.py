"""The Scheduled-DB API (scheduler.md 18): each B-nn that a single node can show, with real targets."""
import concurrent.futures
import json
import random
import re
import socket
import threading
import time
import urllib.parse

from harness import ApiTest, Server, metric, unique, wait_until
import exposition
from receiver import Receiver

STATUSES = ("pending", "in_progress", "completed", "failed", "timeout", "cancelled")
FAST = ("--rate-limit-enabled=false", "--retry-base-delay", "50ms", "--retry-max-delay", "1s")


# Section 12: every family with its type and labels, and the bounds of histograms.
FAMILIES = {
    "jobs_total": ("counter", "job_type"), "jobs_executed_total": ("counter", "job_type"),
    "jobs_failed_total": ("counter", "job_type"), "jobs_deleted_total": ("counter", "job_type"),
    "job_execution_duration_seconds": ("histogram", "job_type", (.01, .1, .5, 1, 5, 10, 30, 60, 300)),
    "jobs_active": ("gauge",), "jobs_scheduled": ("gauge",), "jobs_by_type": ("gauge", "job_type"),
    "slots_total": ("gauge",), "slots_active": ("gauge",), "slots_processed_total": ("counter",),
    "slot_processing_duration_seconds": ("histogram", (.001, .01, .1, .5, 1, 5, 10)),
    "jobs_per_slot": ("histogram", (1, 2, 5, 10, 20, 50, 100)), "worker_active": ("gauge",),
    "worker_processing_time_seconds": ("histogram", (.001, .01, .1, 1, 5, 10, 30)),
    "worker_idle_time_seconds": ("histogram", (.1, .5, 1, 5, 10, 30, 60)),
    "worker_errors_total": ("counter", "error_type"), "cluster_nodes": ("gauge",),
    "cluster_leader_changes_total": ("counter", "new_leader", "old_leader"),
    "cluster_join_events_total": ("counter", "node_id"), "cluster_leave_events_total": ("counter", "node_id"),
    "cluster_split_brain_events_total": ("counter",), "raft_operations_total": ("counter", "operation", "status"),
    "raft_errors_total": ("counter", "operation"), "raft_leader_elections_total": ("counter",),
    "http_requests_total": ("counter", "endpoint", "method", "status_code"),
    "http_request_duration_seconds": ("histogram", "endpoint", "method", (.001, .01, .1, .5, 1, 5, 10, 30)),
    "http_proxy_requests_total": ("counter", "endpoint", "method"),
    "http_errors_total": ("counter", "endpoint", "method", "status_code"),
    "discovery_events_total": ("counter", "event_type", "strategy"),
    "discovery_errors_total": ("counter", "error_type", "strategy"),
    "discovery_operations_total": ("counter", "operation", "status", "strategy"),
    "nodes_discovered": ("gauge", "strategy"), "webhook_requests_total": ("counter", "status"),
    "webhook_errors_total": ("counter",),
    "webhook_duration_seconds": ("histogram", "status", (.1, .5, 1, 5, 10, 30, 60)),
    "jobs_by_status": ("gauge", "status"), "execution_failures_total": ("counter", "error_type"),
    "retry_count": ("histogram", (0, 1, 2, 3, 5, 10)),
    "status_query_duration_seconds": ("histogram", "endpoint", (.001, .01, .1, .5, 1, 5, 10)),
    "system_start_time_seconds": ("gauge",), "system_uptime_seconds": ("gauge",),
    "queue_memory_usage_bytes": ("gauge",), "queue_memory_limit_bytes": ("gauge",),
    "queue_memory_utilization_percent": ("gauge",), "queue_job_count": ("gauge",), "queue_job_limit": ("gauge",),
    "job_rejections_total": ("counter", "reason"), "jobs_timed_out_total": ("counter",),
    "jobs_cancelled_total": ("counter", "job_type"), "slots_hot": ("gauge",), "slots_cold": ("gauge",),
    "slot_evictions_total": ("counter",), "slot_promotions_total": ("counter",),
    "job_start_delay_seconds": ("histogram", (.001, .01, .05, .1, .5, 1, 5, 60)),
}


class SchedulerTest(ApiTest):
    settings = (*FAST, "--http-threads", "3")

    def receiver(self, answer=lambda delivery: 200):
        receiver = Receiver(answer)
        self.addCleanup(receiver.close)
        return receiver

    def create(self, api=None, status=200, **fields):
        api = api or self.api
        answer = api.post("/jobs", fields)
        self.assertEqual(answer.status, status, answer)
        return answer.json

    def soon(self, url=None, api=None, **fields):
        """Create a job that is due soon. On a busy machine this may be past when the request arrives: then retry
        with a later time."""
        if url is not None:
            fields["webhook_url"] = url
        for seconds in (2, 4, 8):
            answer = (api or self.api).post("/jobs", {"type": "unico", "timestamp": int(time.time()) + seconds, **fields})
            if answer.status != 400:
                break
        self.assertEqual(answer.status, 200, answer)
        return answer.json["id"]

    def path(self, job_id, rest=""):
        return "/jobs/" + urllib.parse.quote(job_id, safe="") + rest

    def state(self, job_id, api=None):
        api = api or self.api
        return api.must(api.get(self.path(job_id, "/status")))

    def reaches(self, job_id, status, api=None, where=lambda state: True):
        return wait_until(lambda: next((s for s in [self.state(job_id, api)]
                                        if s["status"] == status and where(s)), None),
                          f"{job_id} {status}")

    def executions(self, job_id, api=None):
        api = api or self.api
        return api.must(api.get(self.path(job_id, "/executions")))["attempts"]

    def error(self, answer, status, text):
        self.assertEqual(answer.status, status, answer)
        self.assertEqual(answer.json["error"], text)


class WalkThrough(SchedulerTest):
    def test_b20_to_b26_a_pending_job_is_cancelled(self):
        job_id = unique("walk")
        at = int(time.time()) + 3600
        job = self.create(id=job_id, type="unico", timestamp=at, webhook_url="http://127.0.0.1:1/", payload={"k": "v"})
        self.assertEqual({k: job[k] for k in ("id", "type", "timestamp", "webhook_url", "payload")},
                         {"id": job_id, "type": "unico", "timestamp": at, "webhook_url": "http://127.0.0.1:1/",
                          "payload": {"k": "v"}})
        self.assertEqual(self.api.must(self.api.get(self.path(job_id))), job)
        state = self.state(job_id)
        self.assertEqual((state["status"], state["attempt_count"], state["attempts"]), ("pending", 0, []))
        self.assertEqual(self.executions(job_id), [])
        listed = self.api.must(self.api.get("/jobs?status=pending"))
        self.assertIn(job_id, [s["job_id"] for s in listed["jobs"]])
        self.assertEqual(listed["total"], len(listed["jobs"]))
        answer = self.api.must(self.api.post(self.path(job_id, "/cancel"), {"reason": "not needed"}))
        self.assertEqual((answer["status"], "message" in answer), ("cancelled", False))
        state = self.state(job_id)
        self.assertEqual((state["status"], state["cancellation_reason"], state["cancelled_at"]),
                         ("cancelled", "not needed", answer["cancelled_at"]))
        listed = self.api.must(self.api.get("/jobs?status=cancelled"))
        self.assertIn(job_id, [s["job_id"] for s in listed["jobs"]])
        self.error(self.api.post(self.path(job_id, "/cancel")), 400, "Cannot cancel cancelled job")

    def test_b28_cron_expressions_are_accepted(self):
        at = int(time.time()) + 3600
        for cron in ("* * * * *", "*/2 * * * *", "*/3 * * * *", "*/5 * * * *", "*/10 * * * *", "0 * * * *",
                     "0 */2 * * *", "0 0 * * *", "CRON_TZ=Europe/Berlin 0 9 * * MON-FRI"):
            job = self.create(type="recurrente", timestamp=at, cron_expression=cron)
            self.assertEqual((job["created_at"], job["next_run"], job["cron_expression"]), (at, at, cron))

    def test_b29_the_list_needs_a_status(self):
        self.error(self.api.get("/jobs"), 400, "status query parameter is required")
        for word in ("scheduled", "x" * 300, "x" * 5000):
            self.error(self.api.get("/jobs?status=" + word), 400, "invalid status parameter")

    def test_b12_delete(self):
        job_id = self.create(type="unico", timestamp=int(time.time()) + 60)["id"]
        answer = self.api.delete(self.path(job_id))
        self.assertEqual((answer.status, answer.body), (204, b""))
        for path in ("", "/status", "/executions"):
            self.error(self.api.get(self.path(job_id, path)), 404, "Job not found")
        self.error(self.api.delete(self.path(job_id)), 404, "Job not found")
        self.error(self.api.post(self.path(job_id, "/cancel")), 404, "Job not found")

    def test_b11_create_answers_200_with_an_id(self):
        answer = self.api.post("/jobs", {"type": "unico", "timestamp": str(int(time.time()) + 60)})
        self.assertEqual(answer.status, 200)
        self.assertIn("id", answer.json)
        self.assertNotIn(b"error", answer.body)

    def test_b90_preflight(self):
        """2.1: the same three headers in every response of this API, and in no other."""
        def allowed(answer):
            return tuple(answer.headers["access-control-allow-" + name] for name in ("origin", "methods", "headers"))

        ours = ("*", "GET, POST, DELETE, OPTIONS", "Content-Type, Authorization")
        answer = self.api.request("OPTIONS", "/jobs")
        self.assertEqual((answer.status, answer.body), (200, b""))
        for method, path, status in (
                ("OPTIONS", "/jobs", 200), ("OPTIONS", "/jobs/x/cancel", 200), ("OPTIONS", "/metrics", 200),
                ("GET", "/jobs?status=pending", 200), ("GET", "/jobs", 400), ("POST", "/jobs", 400),
                ("GET", "/jobs/x", 404), ("PUT", "/jobs", 405), ("PUT", "/jobs/x", 405), ("GET", "/health", 200),
                ("GET", "/ready", 200), ("POST", "/join", 400), ("GET", "/debug/cluster", 200), ("GET", "/metrics", 200)):
            answer = self.api.request(method, path)
            self.assertEqual((answer.status, allowed(answer)), (status, ours), (method, path))
        for method, path in (("OPTIONS", "/api/v1/jobs/x"), ("GET", "/api/v1/queues"), ("GET", "/healthz"), ("GET", "/x")):
            self.assertIn("PUT", allowed(self.api.request(method, path))[1], path)

    def test_unknown_paths_and_methods(self):
        self.error(self.api.get("/nothing"), 404, "Not found")
        self.error(self.api.get("/jobs/x/nothing"), 404, "Not found")
        self.error(self.api.request("PUT", "/jobs"), 405, "Method not allowed")
        for path in ("/health", "/ready", "/join", "/debug/cluster", "/jobs/x", "/jobs/x/status", "/jobs/x/executions",
                     "/jobs/x/cancel", "/jobs/batch", "/metrics"):
            answer = self.api.request("OPTIONS", path)
            self.assertEqual((answer.status, answer.body), (200, b""), path)

    def test_bodies_that_are_too_large(self):
        large = b'{"reason":"' + b"x" * (10 << 20) + b'"}'
        self.error(self.api.post("/jobs", large), 400, "Invalid request body")
        self.error(self.api.post("/jobs/batch", large), 400, "Invalid request body")
        self.error(self.api.post("/join", large), 400, "Invalid request body")
        job_id = self.create(type="unico", timestamp=4102444800)["id"]
        self.assertEqual(self.api.must(self.api.post(self.path(job_id, "/cancel"), large))["status"], "cancelled")
        self.assertNotIn("cancellation_reason", self.state(job_id))

    def test_odd_ids(self):
        for job_id in ("a/b c", "ünï", "x" * 300):
            self.create(id=job_id, type="unico", timestamp=int(time.time()) + 60)
            self.assertEqual(self.api.must(self.api.get(self.path(job_id)))["id"], job_id)
            self.assertEqual(self.api.delete(self.path(job_id)).status, 204)
        for char in ("\0", "\n", "\x1f", "\x7f"):
            job = {"id": f"a{char}b", "type": "unico", "timestamp": 4102444800}
            text = "Job validation failed: id must not contain control characters"
            self.error(self.api.post("/jobs", job), 400, text)
            errors = self.api.must(self.api.post("/jobs/batch", {"jobs": [job]}))["errors"]
            self.assertEqual([(e["status"], e["error"]) for e in errors], [(400, text)])


class Parsing(SchedulerTest):
    def test_b30_b31_timestamps(self):
        for text, epoch in (("4102444800", 4102444800), ("2100-01-01T00:00:00Z", 4102444800),
                            ("2100-01-01T02:00:00+02:00", 4102444800), ("2099-12-31T19:00:00-05:00", 4102444800),
                            ("2100-01-01T00:00:00.5Z", 4102444800), ("2100-01-01 00:00:00", 4102444800),
                            (4102444800, 4102444800)):
            self.assertEqual(self.create(type="unico", timestamp=text)["timestamp"], epoch, text)
        for text, epoch in (("2262-04-11T23:47:17Z", 9223372037), ("2300-01-01T00:00:00+01:00", 10413788400),
                            ("9999-12-31 23:59:59", 253402300799)):
            job = self.create(type="unico", timestamp=text)
            self.assertEqual(job["timestamp"], epoch, text)
            self.assertEqual(self.api.must(self.api.get(self.path(job["id"]))), job)
            job = self.create(type="recurrente", cron_expression="0 0 1 1 *", timestamp=text, last_date=text)
            self.assertEqual((job["next_run"], job["last_date"]), (epoch, epoch))
        # A value in milliseconds is read as seconds, however far in the future that is.
        for at in (9223372036, 9223372037, int(time.time() * 1000), (1 << 63) - 1):
            job = self.create(type="unico", timestamp=str(at))
            self.assertEqual((job["timestamp"], self.state(job["id"])["status"]), (at, "pending"))
            self.assertEqual(self.api.must(self.api.get(self.path(job["id"]))), job)
            self.assertEqual(self.create(id=job["id"], type="unico", timestamp=at), job)
            self.error(self.api.post("/jobs", {"id": job["id"], "type": "unico", "timestamp": at - 1}), 409,
                       "Job already exists")
            job = self.create(type="recurrente", cron_expression="0 0 1 1 *", timestamp=at, last_date=at)
            self.assertEqual((job["created_at"], job["next_run"], job["last_date"]), (at, at, at))
        for at in (-5, str(-(1 << 63))):  # before 1970, which means at once
            job = self.create(type="recurrente", cron_expression="0 0 1 1 *", timestamp=at, last_date=at)
            self.assertEqual((job["created_at"], job["next_run"], job["last_date"]), (0, 0, max(int(at), -9223372036)))
            self.error(self.api.post("/jobs", {"type": "unico", "timestamp": at}), 400,
                       "Job validation failed: timestamp must be in the future")
        for text in ("soon", "2100-13-01T00:00:00Z", "2100-01-01", "12.5", str(1 << 63), "2100-01-01T00:00:00",
                     "2100-01-01T00:00:00.5"):
            self.error(self.api.post("/jobs", {"type": "unico", "timestamp": text}), 400,
                       "Invalid job data: invalid timestamp: invalid timestamp format: " + text)
        self.error(self.api.post("/jobs", {"type": "recurrente", "cron_expression": "* * * * *", "last_date": "x"}), 400,
                   "Invalid job data: invalid last_date: invalid timestamp format: x")

    def test_b32_ids(self):
        made = self.create(type="unico", timestamp=4102444800)["id"]
        self.assertRegex(made, r"\A[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\Z")
        given = unique("given")
        self.assertEqual(self.create(id=given, type="unico", timestamp=4102444800)["id"], given)

    def test_b33_b34_b35_validation(self):
        said = "Job validation failed: "
        for body, text in (
                ({"type": "unico"}, said + "timestamp is required for unico jobs"),
                ({"type": "unico", "timestamp": ""}, said + "timestamp is required for unico jobs"),
                ({"type": "unico", "timestamp": 1}, said + "timestamp must be in the future"),
                ({"type": "recurrente"}, said + "cron_expression is required for recurrente jobs"),
                ({"type": "weekly"}, said + "invalid job type: weekly"),
                ({}, said + "invalid job type: "),
                ({"type": 7}, "Invalid request body"), ({"type": "unico", "payload": []}, "Invalid request body"),
                ([], "Invalid request body")):
            self.error(self.api.post("/jobs", body), 400, text)
        self.error(self.api.post("/jobs", b"{nonsense"), 400, "Invalid request body")
        for cron in ("garbage", "@daily", "* * * * * *", "* * * *", "60 * * * *", "0 0 * * 7", "*/0 * * * *",
                     "5-1 * * * *", "0 0 L * *", "TZ=Nowhere/Land * * * * *", "1, * * * *", "TZ=UTC", "0\t0 * * * *",
                     "@every 1s 2 3 4", "0 0 * * 07"):
            answer = self.api.post("/jobs", {"type": "recurrente", "cron_expression": cron})
            self.assertEqual(answer.status, 400, cron)
            self.assertTrue(answer.json["error"].startswith(said + "invalid cron expression: "), answer)
        for cron in ("0 0 * * *", "*/15 * * * *", "? ? ? JAN SUN"):
            self.create(type="recurrente", cron_expression=cron, timestamp=4102444800)

    def test_payloads_nested_too_deep_are_refused(self):
        for depth in (511, 512):
            nested = b"[" * depth + b"]" * depth
            body = b'{"type":"unico","timestamp":4102444800,"payload":{"a":%s}}' % nested
            answer = self.api.post("/jobs", body)
            if depth == 511:
                self.assertIn(nested, self.api.get(self.path(answer.json["id"])).body)
            else:
                self.error(answer, 400, "Invalid request body")

    def test_b36_payloads_are_kept_as_they_are(self):
        raw = b'{"type":"unico","timestamp":4102444800,"payload":{"n":9007199254740993,"f":1.10,"u":"\\u00fc"}} trailing'
        answer = self.api.post("/jobs", raw)
        self.assertEqual(answer.status, 200)
        self.assertIn(b'"payload":{"n":9007199254740993,"f":1.10,"u":"\\u00fc"}', answer.body)

    def test_b69_errors_tell_nothing_of_the_inside(self):
        for text, shown in (("10.0.0.1:7000", "[addr]:7000"), ("a 127.0.0.1 b ::1 c", "a [addr] b [addr] c"),
                            ("/var/lib/x.db", "[path]"), ("scheduled-db-0.scheduled-db.ns.svc.cluster.local", "[service]-0.[service].ns"),
                            ("raft: peer node-2 is gone", "[raft error]"), ("plain 1.2.3 words", "plain 1.2.3 words")):
            answer = self.api.post("/jobs", {"type": text})
            self.assertEqual(answer.json["error"], "Job validation failed: invalid job type: " + shown)

    def test_b89_the_same_id_again(self):
        body = {"id": unique("twice"), "type": "unico", "timestamp": 4102444800, "payload": {"a": 1}}
        first = self.create(**body)
        self.assertEqual(self.create(**body), first)
        self.error(self.api.post("/jobs", {**body, "payload": {"a": 2}}), 409, "Job already exists")
        self.assertEqual(self.api.must(self.api.get(self.path(body["id"]))), first)

    def test_the_id_of_a_job_of_another_queue_is_taken(self):
        """21.6"""
        other = self.api.must(self.api.post("/api/v1/enqueue", {"queue": unique("plain"), "payload": {}}), 201)["job_id"]
        body = {"id": other, "type": "unico", "timestamp": 4102444800}
        self.error(self.api.post("/jobs", body), 409, "Job already exists")
        answer = self.api.must(self.api.post("/jobs/batch", {"jobs": [body]}))
        self.assertEqual([(e["status"], e["error"]) for e in answer["errors"]], [(409, "Job already exists")])


class GivenIds(SchedulerTest):
    """Ids that the server assigns to jobs sent without one. They belong to the job like ids that clients choose."""

    def listed(self, status, api=None):
        api = api or self.api
        answer = api.must(api.get("/jobs?status=" + status))
        ids = [job["job_id"] for job in answer["jobs"]]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertEqual(answer["total"], len(ids))
        return set(ids)

    def test_it_is_taken_until_its_job_is_gone(self):
        body = {"type": "unico", "timestamp": 4102444800, "payload": {"a": 1}}
        first = self.create(**body)
        again = {**body, "id": first["id"]}
        self.assertEqual(self.api.must(self.api.get(self.path(first["id"]))), first)
        self.assertEqual(self.create(**again), first)
        self.error(self.api.post("/jobs", {**again, "payload": {"a": 2}}), 409, "Job already exists")
        self.assertEqual(self.api.must(self.api.post(self.path(first["id"], "/cancel")))["job_id"], first["id"])
        self.assertEqual(self.state(first["id"])["status"], "cancelled")
        self.assertEqual(self.executions(first["id"]), [])
        self.assertEqual(self.api.delete(self.path(first["id"])).status, 204)
        self.assertEqual(self.api.get(self.path(first["id"])).status, 404)
        self.assertEqual(self.create(**{**again, "payload": {"a": 2}})["payload"], {"a": 2})
        self.error(self.api.post("/jobs", again), 409, "Job already exists")
        self.assertIn(first["id"], self.listed("pending"))
        self.assertEqual(self.api.delete(self.path(first["id"])).status, 204)

    def test_only_its_own_form_finds_the_job(self):
        made = self.create(type="unico", timestamp=4102444800)["id"]
        for other in (made.upper(), made.replace("-", ""), "{" + made + "}", made[:-1]):
            self.assertEqual(self.api.get(self.path(other)).status, 404, other)

    def test_a_job_that_is_none_of_these_is_not_found_by_a_uuid(self):
        """Random UUIDs, any of which may belong to a job."""
        chance = random.Random(5)
        for _ in range(50):
            made_up = "%08x-%04x-4%03x-8%03x-%012x" % tuple(chance.randrange(16 ** n) for n in (8, 4, 3, 3, 12))
            self.assertEqual(self.api.get(self.path(made_up)).status, 404)
            self.assertEqual(self.create(id=made_up, type="unico", timestamp=4102444800)["id"], made_up)

    def test_lists_have_both_kinds_after_a_restart_too(self):
        """More than one part of the list, with few and with many jobs at once."""
        job = {"type": "unico", "timestamp": 4102444800}
        with Server(*self.settings) as server:
            api = server.client()
            want = set()
            for size in (100, 1, 7, 100, 100, 100, 100, 100, 30):
                jobs = [{**job, "id": unique("chosen")} if n % 5 == 0 else job for n in range(size)]
                for plain in range(2):  # another job has a position in between
                    api.must(api.post("/api/v1/enqueue", {"queue": "between", "payload": plain}), 201)
                answer = api.must(api.post("/jobs/batch", {"jobs": jobs}))
                self.assertEqual(answer["errors"], [])
                want |= {made["id"] for made in answer["jobs"]}
            with concurrent.futures.ThreadPoolExecutor(16) as pool:
                want |= {answer.json["id"] for answer in pool.map(lambda _: api.post("/jobs", job), range(100))}
            self.assertEqual(len(want), 738)
            for kill in (False, True):
                self.assertEqual(self.listed("pending", api), want)
                gone = set(random.Random(int(kill)).sample(sorted(want), 60))
                for job_id in gone:
                    self.assertEqual(api.delete(self.path(job_id)).status, 204)
                want -= gone
                self.assertEqual(self.listed("pending", api), want)
                (server.kill if kill else server.terminate)()
                server.start()
                self.assertEqual(api.must(api.get("/health"))["jobs"]["current_count"], len(want))
                for job_id in gone:
                    self.assertEqual(api.get(self.path(job_id)).status, 404)
            pages, cursor = [], ""
            while cursor is not None:
                page = api.must(api.get(f"/jobs?status=pending&limit=100&cursor={cursor}"))
                pages += [(s["created_at"], s["job_id"]) for s in page["jobs"]]
                cursor = page.get("next_cursor")
            self.assertEqual(pages, sorted(pages))
            self.assertEqual({job_id for _, job_id in pages}, want)

    def test_a_backup_restores_both_kinds(self):
        """Into another server, whose ids are unrelated to those of the backup."""
        job = {"type": "unico", "timestamp": 4102444800}
        with Server(*self.settings) as source, Server(*self.settings) as target:
            old, new = source.client(), target.client()
            made = [self.create(old, **job) for _ in range(5)]
            made += [self.create(old, id=unique("chosen"), **job) for _ in range(5)]
            here = self.create(new, **job)
            new.must(new.post("/api/v1/admin/restore", old.get("/api/v1/admin/backup").body))
            self.assertEqual(self.listed("pending", new), {m["id"] for m in made} | {here["id"]})
            target.kill()
            target.start()
            for job_made in made:
                self.assertEqual(new.must(new.get(self.path(job_made["id"]))), job_made)
                self.assertEqual(self.create(new, id=job_made["id"], **job), job_made)
            self.assertEqual(new.must(new.get("/health"))["jobs"]["current_count"], 11)
            for job_made in made + [here]:
                self.assertEqual(new.delete(self.path(job_made["id"])).status, 204)
            self.assertEqual(self.listed("pending", new), set())


class Batches(SchedulerTest):
    def batch(self, *jobs, status=200):
        return self.api.must(self.api.post("/jobs/batch", {"jobs": list(jobs)}), status)

    def test_each_job_is_created_or_refused_on_its_own(self):
        taken = unique("taken")
        self.create(id=taken, type="unico", timestamp=4102444800)
        first, last = unique("first"), unique("last")
        answer = self.batch({"id": first, "type": "unico", "timestamp": 4102444800, "payload": {"n": 1}},
                            {"id": "past", "type": "unico", "timestamp": 1},
                            {"id": taken, "type": "unico", "timestamp": 4102444800, "payload": {}},
                            "no job",
                            {"id": taken, "type": "unico", "timestamp": 4102444800},  # unchanged
                            {"id": last, "type": "recurrente", "cron_expression": "0 0 * * *", "timestamp": 4102444800})
        self.assertEqual([job["id"] for job in answer["jobs"]], [first, taken, last])
        self.assertEqual(answer["jobs"][0], self.api.must(self.api.get(self.path(first))))
        self.assertEqual(answer["errors"], [
            {"index": 1, "id": "past", "error": "Job validation failed: timestamp must be in the future", "status": 400},
            {"index": 2, "id": taken, "error": "Job already exists", "status": 409},
            {"index": 3, "error": "Invalid request body", "status": 400}])

    def test_a_hundred_at_once(self):
        name = unique("many")
        jobs = [{"id": f"{name}-{n}", "type": "unico", "timestamp": 4102444800} for n in range(101)]
        answer = self.batch(*jobs[:100])
        self.assertEqual([job["id"] for job in answer["jobs"]], [job["id"] for job in jobs[:100]])
        self.assertEqual(answer["errors"], [])
        self.error(self.api.post("/jobs/batch", {"jobs": jobs}), 400, "jobs: at most 100 per request")
        self.assertEqual(self.batch(), {"jobs": [], "errors": []})
        for body in ({}, {"jobs": {}}, [], b"{"):
            self.error(self.api.post("/jobs/batch", body), 400, "Invalid request body")

    def test_the_same_id_twice_in_a_batch(self):
        job = {"id": unique("twice"), "type": "unico", "timestamp": 4102444800}
        answer = self.batch(job, job, {**job, "payload": {"other": 1}})
        self.assertEqual([made["id"] for made in answer["jobs"]], [job["id"]] * 2)
        self.assertEqual([(e["index"], e["status"]) for e in answer["errors"]], [(2, 409)])

    def test_a_client_that_goes_leaves_nothing_behind(self):
        """The commands of its batch are in progress when it disconnects: they take effect, and nobody receives the
        result."""
        name = unique("gone")
        jobs = [{"id": f"{name}-{n}", "type": "unico", "timestamp": 4102444800} for n in range(100)]
        body = json.dumps({"jobs": jobs}).encode()
        head = f"POST /jobs/batch HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", self.server.port)) as sent:
                sent.sendall(head + body)
        wait_until(lambda: all(self.api.get(self.path(job["id"])).status == 200 for job in jobs), "all jobs")
        self.assertEqual(self.batch(*jobs)["errors"], [])


class Pages(SchedulerTest):
    def test_pages_show_each_job_once(self):
        made = [self.create(id=unique("page"), type="unico", timestamp=4102444800) for _ in range(7)]
        for job in made:
            self.api.must(self.api.post(self.path(job["id"], "/cancel")))
        whole = self.api.must(self.api.get("/jobs?status=cancelled"))
        self.assertNotIn("next_cursor", whole)
        pages, cursor = [], ""
        while cursor is not None:
            page = self.api.must(self.api.get(f"/jobs?status=cancelled&limit=3&cursor={cursor}"))
            self.assertEqual(page["total"], whole["total"])
            self.assertLessEqual(len(page["jobs"]), 3)
            pages += page["jobs"]
            cursor = page.get("next_cursor")
        self.assertEqual(pages, whole["jobs"])
        order = [(s["created_at"], s["job_id"]) for s in pages]
        self.assertEqual(order, sorted(order))
        self.error(self.api.get("/jobs?status=cancelled&cursor=zz"), 400, "invalid cursor parameter")
        for limit in ("-1", "x"):
            self.assertEqual(self.api.get("/jobs?status=pending&limit=" + limit).status, 400)


class Runs(SchedulerTest):
    def test_b82_an_executed_job_is_readable(self):
        target = self.receiver()
        job_id = self.soon(target.url(), payload={"x": [1]}, webhook_token="s3cr3t-sdb")
        state = self.reaches(job_id, "completed")
        call = target.taken()[0]
        self.assertEqual((call.json["job_id"], call.json["type"], call.json["data"]), (job_id, "unico", {"x": [1]}))
        self.assertEqual(call.headers["authorization"], "Bearer s3cr3t-sdb")
        self.assertEqual(call.headers["x-correlation-id"], job_id)
        self.assertEqual(call.headers["x-scheduled-db-attempt"], "1")
        due = self.api.must(self.api.get(self.path(job_id)))["timestamp"]
        self.assertEqual(call.headers["idempotency-key"], f"{job_id}:{due}")
        self.assertGreaterEqual(call.json["timestamp"], due)
        self.assertEqual((state["attempt_count"], len(state["attempts"])), (1, 1))
        for key in ("first_attempt_at", "last_attempt_at", "completed_at"):
            self.assertGreaterEqual(state[key], due)
        attempt = self.executions(job_id)[0]
        self.assertEqual((attempt["attempt_num"], attempt["status"], attempt["http_status"], attempt["node_id"]),
                         (1, "completed", 200, "node-1"))
        self.assertEqual(len(target.taken()), 1)
        for path in (self.path(job_id), self.path(job_id, "/status"), "/jobs?status=completed", "/api/v1/admin/backup"):
            self.assertNotIn(b"s3cr3t-sdb", self.api.get(path).body)
        self.error(self.api.post(self.path(job_id, "/cancel")), 400, "Cannot cancel completed job")

    def test_without_a_url_the_run_succeeds(self):
        job_id = self.soon()
        self.reaches(job_id, "completed")
        self.assertNotIn("http_status", self.executions(job_id)[0])

    def test_a_url_with_a_nul_is_not_called_up_to_it(self):
        target = self.receiver()
        job_id = self.soon(target.url("/before\0after"))
        self.reaches(job_id, "failed", where=lambda s: s["attempt_count"] == 3)
        self.assertEqual({(a["error_type"], a["error_message"]) for a in self.executions(job_id)},
                         {("unknown", "the URL contains a control character")})
        self.assertEqual(target.taken(), [])

    def test_b80_a_failing_target_is_tried_so_often(self):
        times = []
        target = self.receiver(lambda d: times.append(time.monotonic()) or 500)
        job_id = self.soon(target.url())
        state = self.reaches(job_id, "failed", where=lambda s: s["attempt_count"] == 3)
        attempts = self.executions(job_id)
        self.assertEqual([(a["attempt_num"], a["status"], a["http_status"], a["error_type"], a["error_message"])
                          for a in attempts],
                         [(n, "failed", 500, "http_error", "webhook returned status 500") for n in (1, 2, 3)])
        self.assertGreaterEqual(times[1] - times[0], 0.05)  # never early: the first delay, then twice that delay
        self.assertGreaterEqual(times[2] - times[1], 0.1)
        self.assertEqual((len(target.taken()), state["attempt_count"]), (3, 3))
        self.error(self.api.post(self.path(job_id, "/cancel")), 400, "Cannot cancel failed job")
        self.assertEqual(self.api.get(self.path(job_id)).status, 200)

    def test_b80_jobs_for_a_host_that_is_down_end_soon(self):
        """The breaker is open for the last jobs, and allows their attempts one after another."""
        with socket.create_server(("127.0.0.1", 0)) as closed:
            url = f"http://127.0.0.1:{closed.getsockname()[1]}/"
        jobs = [self.soon(url) for _ in range(5)]
        for job_id in jobs:
            self.reaches(job_id, "failed", where=lambda s: s["attempt_count"] == 3)
            self.assertEqual([a["error_type"] for a in self.executions(job_id)], ["connection_error"] * 3)

    def test_b81_a_target_that_fails_once(self):
        target = self.receiver(lambda d: 500 if d.headers["x-scheduled-db-attempt"] == "1" else 200)
        job_id = self.soon(target.url())
        self.reaches(job_id, "completed")
        self.assertEqual([a["status"] for a in self.executions(job_id)], ["failed", "completed"])
        self.assertEqual(len({d.headers["idempotency-key"] for d in target.taken()}), 1)

    def test_a_job_whose_retry_is_due_is_still_failed(self):
        """4: failed changes only to in_progress, however long the next attempt waits for its slot."""
        hold = threading.Event()
        self.addCleanup(hold.set)
        with Server(*FAST) as server:
            api = server.client()
            target = self.receiver(lambda d: hold.wait(60) and (500 if d.headers["x-scheduled-db-attempt"] == "1" else 200))
            job_id = self.soon(target.url(), api=api)
            target.wait_for(1)
            api.must(api.post("/api/v1/queues/scheduled-db/pause", {}))
            hold.set()
            wait_until(lambda: api.must(api.get("/api/v1/queues/scheduled-db"))["pending"] == 1, "the retry is due")
            state = self.state(job_id, api)
            self.assertEqual((state["status"], state["attempt_count"], "completed_at" in state), ("failed", 1, True))
            for status in STATUSES:
                listed = [s["job_id"] for s in api.must(api.get("/jobs?status=" + status))["jobs"]]
                self.assertEqual(listed, [job_id] if status == "failed" else [], status)
                self.assertEqual(metric(api, f'scheduled_db_jobs_by_status{{status="{status}"}}'),
                                 len(listed), status)
            execution = api.must(api.get("/health"))["execution"]
            self.assertEqual([execution[status] for status in STATUSES], [0, 0, 0, 1, 0, 0])
            self.error(api.post(self.path(job_id, "/cancel")), 400, "Cannot cancel failed job")
            api.must(api.post("/api/v1/queues/scheduled-db/resume", {}))
            self.reaches(job_id, "completed", api)

    def test_a_held_job_is_pending_and_can_be_cancelled(self):
        """21.3, 4: the hold happens outside of this API."""
        job_id = self.create(type="unico", timestamp=4102444800, payload={"mark": unique("held")})["id"]
        payload = self.api.must(self.api.get(self.path(job_id)))["payload"]
        found = self.api.must(self.api.post("/api/v1/jobs/search", {"payload_contains": payload["mark"]}))
        native = found["jobs"][0]["id"]
        self.api.must(self.api.post(f"/api/v1/jobs/{native}/hold", {}))
        self.assertEqual(self.state(job_id)["status"], "pending")
        self.assertEqual(self.api.must(self.api.post(self.path(job_id, "/cancel")))["status"], "cancelled")
        self.assertEqual(self.state(job_id)["status"], "cancelled")

    def test_b41_cancel_during_the_call(self):
        hold = threading.Event()
        self.addCleanup(hold.set)
        target = self.receiver(lambda d: hold.wait(30) and 200)
        job_id = self.soon(target.url())
        state = self.reaches(job_id, "in_progress")
        self.assertEqual((state["attempt_count"], state["executing_node_id"]), (1, "node-1"))
        target.wait_for(1)
        answer = self.api.must(self.api.post(self.path(job_id, "/cancel"), b"not json"))
        self.assertEqual(answer["message"], "Job was in progress, cancellation attempted")
        hold.set()
        state = self.state(job_id)
        self.assertEqual((state["status"], [a["status"] for a in state["attempts"]],
                          [a["error_type"] for a in state["attempts"]]), ("cancelled", ["cancelled"], ["cancelled"]))
        self.assertNotIn("executing_node_id", state)
        marker = self.soon(self.receiver().url())
        self.reaches(marker, "completed")
        self.assertEqual(self.state(job_id)["status"], "cancelled")

    def test_a_call_that_is_broken_off_is_a_failure(self):
        hold = threading.Event()
        self.addCleanup(hold.set)
        target = self.receiver(lambda d: hold.wait(60) and 200)
        job_id = self.soon(target.url())
        target.wait_for(1)
        before = metric(self.api, 'scheduled_db_execution_failures_total{error_type="cancelled"}')
        self.api.must(self.api.post(self.path(job_id, "/cancel")))
        wait_until(lambda: metric(self.api, 'scheduled_db_execution_failures_total{error_type="cancelled"}') == before + 1,
                   "the call is counted")

    def test_b86_one_slow_target_delays_nobody(self):
        hold = threading.Event()
        self.addCleanup(hold.set)
        slow = self.receiver(lambda d: hold.wait(60) and 200)
        fast = self.receiver()
        stuck = self.soon(slow.url())
        others = [self.soon(fast.url()) for _ in range(49)]
        fast.wait_for(49)
        for job_id in others:
            self.reaches(job_id, "completed")
        self.assertEqual(self.state(stuck)["status"], "in_progress")

    def test_b84_a_recurring_job_keeps_id_and_history(self):
        target = self.receiver()
        job_id = self.create(type="recurrente", cron_expression="* * * * *", webhook_url=target.url())["id"]
        target.wait_for(1)
        state = self.reaches(job_id, "pending", where=lambda s: len(s["attempts"]) == 1)
        self.assertEqual(state["attempt_count"], 0)
        self.assertNotIn("completed_at", state)
        self.assertIn("scheduled_for", state["attempts"][0])
        job = self.api.must(self.api.get(self.path(job_id)))
        self.assertEqual(job["next_run"] % 60, 0)
        self.assertGreater(job["next_run"], job["registered_at"])

    def test_b84_after_the_last_date_it_is_gone(self):
        target = self.receiver()
        body = {"type": "recurrente", "cron_expression": "0 0 1 1 *", "webhook_url": target.url()}
        year = time.gmtime().tm_year + 1
        ends = self.create(**body, last_date=f"{year - 1}-12-31 23:59:59")["id"]
        stays = self.create(**body, last_date=f"{year}-01-01 00:00:00")["id"]
        oldest = [self.create(**body, last_date=at)["id"] for at in (0, -1, "1969-12-31T23:59:59Z")]
        target.wait_for(5)
        for gone in (ends, *oldest):
            wait_until(lambda name=gone: self.api.get(self.path(name)).status == 404, "the end of the recurring job")
        self.reaches(stays, "pending", where=lambda s: len(s["attempts"]) == 1)

    def test_a_recurring_job_outlives_its_time_zone(self):
        """Its next run is then by UTC."""
        target = self.receiver()
        with Server(*FAST, env={"TZ": "Europe/Berlin"}) as server:
            api = server.client()
            api.must(api.post("/api/v1/queues/scheduled-db/pause"))
            job_id = self.create(api, type="recurrente", cron_expression="0 0 1 1 *", webhook_url=target.url())["id"]
            server.terminate()
            server.env = {"TZ": "Atlantis/Capital"}
            server.start()
            api.must(api.post("/api/v1/queues/scheduled-db/resume"))
            target.wait_for(1)
            self.reaches(job_id, "pending", api, where=lambda s: len(s["attempts"]) == 1)
            job = api.must(api.get(self.path(job_id)))
            self.assertEqual(time.gmtime(job["next_run"])[1:6], (1, 1, 0, 0, 0))
            self.assertEqual([e["job"] for e in server.events("recurring job by UTC")], [job_id])

    def test_a_local_time_zone_that_is_not_known_is_utc_and_a_warning(self):
        """15: a variable that cannot be parsed has its default. The client did nothing wrong."""
        with Server(*FAST, env={"TZ": ":/etc/localtime"}) as server:
            self.assertEqual([(e["level"], e["variable"]) for e in server.events("variable ignored")], [("WARN", "TZ")])
            api = server.client()
            self.create(api, type="recurrente", cron_expression="0 0 1 1 *", timestamp=int(time.time()) + 3600)
            self.error(api.post("/jobs", {"type": "recurrente", "cron_expression": "TZ=:UTC 0 0 1 1 *"}), 400,
                       "Job validation failed: invalid cron expression: timezone: ':UTC' is not a known time zone")

    def test_b85_a_cancelled_recurring_job_never_fires_again(self):
        hold = threading.Event()
        self.addCleanup(hold.set)
        target = self.receiver(lambda d: hold.wait(30) and 200)
        job_id = self.create(type="recurrente", cron_expression="* * * * *", webhook_url=target.url())["id"]
        target.wait_for(1)
        self.api.must(self.api.post(self.path(job_id, "/cancel")))
        hold.set()
        self.assertEqual(self.reaches(job_id, "cancelled")["status"], "cancelled")
        self.assertEqual(len(target.taken()), 1)


class Metrics(SchedulerTest):
    def samples(self):
        text = self.api.get("/metrics").body.decode()
        return text, dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))

    def test_b27_b93_metrics_after_a_mixed_workload(self):
        target = self.receiver(lambda d: 500 if d.json["job_id"].startswith("bad") else 200)
        good = [self.soon(target.url(), id=unique("good")) for _ in range(3)]
        bad = self.soon(target.url(), id=unique("bad"))
        waiting = self.create(type="recurrente", cron_expression="0 0 1 1 *", timestamp=4102444800)["id"]
        gone = self.create(type="unico", timestamp=4102444800)["id"]
        cancelled = self.create(type="unico", timestamp=4102444800)["id"]
        self.api.delete(self.path(gone))
        self.api.post(self.path(cancelled, "/cancel"))
        for job_id in good:
            self.reaches(job_id, "completed")
        self.reaches(bad, "failed", where=lambda s: s["attempt_count"] == 3)
        self.assertEqual(self.state(waiting)["status"], "pending")
        text, samples = self.samples()
        for start in ("scheduled_db_jobs_by_status", "scheduled_db_execution_", "scheduled_db_status_query"):
            self.assertTrue(any(line.startswith(start) for line in text.splitlines()), start)
        for status in STATUSES:
            listed = self.api.must(self.api.get("/jobs?status=" + status))["total"]
            self.assertEqual(int(samples[f'scheduled_db_jobs_by_status{{status="{status}"}}']), listed, status)
        for name, value in (('jobs_total{job_type="unico"}', 6), ('jobs_total{job_type="recurrente"}', 1),
                            ('jobs_deleted_total{job_type="unico"}', 1), ('jobs_cancelled_total{job_type="unico"}', 1),
                            ('jobs_executed_total{job_type="unico"}', 3), ('jobs_failed_total{job_type="unico"}', 3),
                            ('execution_failures_total{error_type="http_error"}', 3),
                            ('webhook_requests_total{status="success"}', 3), ("queue_job_count", 1),
                            ("queue_job_limit", 100000), ("worker_active", 1), ("slots_total", 1), ("slots_active", 1),
                            ('http_requests_total{method="DELETE",endpoint="/jobs/{id}",status_code="204"}', 1)):
            self.assertEqual(int(samples["scheduled_db_" + name]), value, name)
        self.assertEqual(int(samples["scheduled_db_job_start_delay_seconds_count"]), 4)
        self.assertEqual(self.api.post("/jobs", {}).status, 400)  # an error response
        families = exposition.parse(self.api.get("/metrics").body.decode())
        for name, (kind, *labels) in FAMILIES.items():
            family = families["scheduled_db_" + name]
            bounds = [*labels.pop(), float("inf")] if kind == "histogram" else None
            self.assertEqual((family.type, family.labels()), (kind, {tuple(labels)}), name)
            if bounds:
                self.assertEqual(sorted({float(dict(l)["le"]) for n, l in family.samples if n.endswith("_bucket")}),
                                 bounds, name)
        self.assertEqual({name for name in families if name.startswith("scheduled_db_")},
                         {"scheduled_db_" + name for name in FAMILIES})
        for name, labels, value in (
                ("jobs_by_type", {"job_type": "unico"}, 5), ("jobs_by_type", {"job_type": "recurrente"}, 1),
                ("cluster_join_events_total", {"node_id": "node-1"}, 1),
                ("cluster_leave_events_total", {"node_id": "node-1"}, 0),
                ("cluster_leader_changes_total", {"old_leader": "", "new_leader": "node-1"}, 1),
                ("nodes_discovered", {"strategy": "none"}, 0), ("jobs_timed_out_total", {}, 0)):
            self.assertEqual(families["scheduled_db_" + name].value(**labels), value, name)
        # Four runs ended: three without a retry, one with two. They started in at least one slot each.
        self.assertEqual((samples["scheduled_db_retry_count_count"], samples["scheduled_db_retry_count_sum"]),
                         ("4", "2.000000"))
        slots = int(samples["scheduled_db_slots_processed_total"])
        self.assertGreater(slots, 2)
        self.assertEqual(int(samples["scheduled_db_jobs_per_slot_count"]), slots)
        self.assertEqual(float(samples["scheduled_db_jobs_per_slot_sum"]), 6)
        self.assertGreater(int(samples["scheduled_db_worker_processing_time_seconds_count"]), 2)
        self.assertNotIn("scheduled_db_", self.api.get("/api/v1/metrics").body.decode())

    def test_slots_are_those_in_which_jobs_wait(self):
        """12: two jobs of the same ten seconds are in one slot; after a restart as well."""
        def slots(api):
            text = api.get("/metrics").body.decode()
            return [int(re.search(rf"^scheduled_db_slots_{name} (\d+)$", text, re.M)[1])
                    for name in ("total", "active", "hot", "cold")]

        with Server("--slot-gap", "10s") as server:
            api = server.client()
            self.assertEqual(slots(api), [0, 0, 0, 0])
            jobs = [self.create(api, type="unico", timestamp=4102444800 + later)["id"] for later in (0, 9, 10)]
            self.assertEqual(slots(api), [2, 2, 2, 0])
            server.terminate()
            server.start()
            api = server.client()
            self.assertEqual(slots(api), [2, 2, 2, 0])
            api.delete(self.path(jobs[0]))
            self.assertEqual(slots(api), [2, 2, 2, 0])
            api.post(self.path(jobs[1], "/cancel"))
            self.assertEqual(slots(api), [1, 1, 1, 0])

    def test_b64_degraded_by_failures(self):
        target = self.receiver(lambda d: 500)
        with Server(*FAST, "--max-attempts", "1", "--metrics-bind", "127.0.0.1:0", "--health-ok-word", "ok") as server:
            api = server.client()
            self.assertEqual(api.must(api.get("/health"))["status"], "ok")
            for _ in range(10):
                self.soon(target.url(), api=api)
            health = wait_until(lambda: next((h for h in [api.must(api.get("/health"))] if h["status"] == "degraded"), None))
            self.assertEqual((health["execution"]["failed"], health["execution"]["failure_rate"]), (10, 1.0))
            self.assertIn("last_executed_at", health["execution"])


class PlainServer(Server):
    """A server without the address options of the test."""
    bind = ()


class Variables(SchedulerTest):
    def test_b38_the_other_servers_variables_count_below_ours(self):
        env = {"QUEUE_JOB_LIMIT": "7", "QUEUE_MEMORY_LIMIT": "abc", "QUEUE_MEMORY_PERCENT": "500",
               "NODE_ID": "node-9", "MAX_EXECUTION_ATTEMPTS": "none", "LOG_LEVEL": "INFO",
               "CORVO_QUEUE_JOB_LIMIT": "8", "WEBHOOK_BEARER_TOKEN": "all-of-them"}
        target = self.receiver()
        with Server(*FAST, env=env) as server:
            api = server.client()
            health = api.must(api.get("/health"))
            self.assertEqual((health["jobs"]["limit"], health["node_id"]), (8, "node-9"))
            self.assertGreater(health["memory"]["limit_bytes"], 1 << 20)
            self.reaches(self.soon(target.url(), api=api), "completed", api)
            self.assertEqual(target.taken()[0].headers["authorization"], "Bearer all-of-them")
            self.assertNotIn("all-of-them", "".join(server.lines))
            self.assertTrue(server.events("variable ignored"))

    def test_a_variable_that_makes_no_sense_is_named(self):
        """The server starts anyway: manifests of Scheduled-DB set variables that it ignores."""
        bad = {"HTTP_PORT": "x", "RAFT_PORT": "70000", "SLOT_GAP": "soon", "JOB_EXECUTION_TIMEOUT": "5",
               "HEALTH_FAILURE_THRESHOLD": "2", "ENABLE_COLD_SPILLING": "maybe", "HTW_LEVEL1_BUCKETS": "many",
               "RAFT_APPLY_TIMEOUT": "x", "METRICS_PORT": "x", "GOSSIP_PORT": "-1", "LEAVE_ON_SHUTDOWN": "perhaps"}
        absent = {"SPLIT_BRAIN_EXIT": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "otel-collector:4317"}
        fine = {"AUTO_JOIN": "true", "CLUSTER_SIZE": "3", "ENVIRONMENT": "dev", "HTW_LEVEL0_BUCKETS": "360",
                "COLD_SPILLING_HOT_WINDOW": "48h", "LOG_LEVEL": "DEBUG"}
        with Server(env={**bad, **absent, **fine}) as server:
            self.assertEqual({e["variable"] for e in server.events("variable ignored")}, set(bad))
            self.assertEqual({e["variable"] for e in server.events("variable without effect")}, set(absent))

    def test_their_flags_count(self):
        with PlainServer("--http-host", "127.0.0.1", "--http-port", "0", "--discovery-strategy", "none",
                         "--enable-cold-spilling", "--htw-level0-buckets", "360") as server:
            api = server.client()
            self.assertEqual(api.must(api.get("/ready")), {"status": "ready"})
            bind = server.events("corvo server ready")[0]["bind"]
            self.assertEqual(bind, "127.0.0.1:0")

    def test_timeouts_of_connections(self):
        with Server(env={"HTTP_READ_HEADER_TIMEOUT": "200ms", "HTTP_IDLE_TIMEOUT": "200ms"}) as server:
            with socket.create_connection(("127.0.0.1", server.port)) as slow:
                slow.sendall(b"GET /health HTTP/1.1\r\nHost:")
                self.assertIn(b" 408 ", slow.recv(4096))
            with socket.create_connection(("127.0.0.1", server.port)) as idle:
                self.assertEqual(idle.recv(4096), b"")

    def test_the_face_can_be_turned_off(self):
        with Server("--scheduler-enabled=false") as server:
            api = server.client()
            self.assertEqual(api.get("/jobs?status=pending").status, 404)
            self.assertEqual(api.get("/health").status, 404)


class Capacity(SchedulerTest):
    settings = (*FAST, "--queue-job-limit", "50", "--queue-memory-limit", "1MB")

    def test_b60_b61_b62_limits_are_exact(self):
        """Concurrent requests never exceed the limit, and memory is checked first."""
        def create(n):
            return self.api.post("/jobs", {"id": f"cap-{n}", "type": "unico", "timestamp": 4102444800})

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(create, range(120)))
        made = [a for a in answers if a.status == 200]
        full = [a for a in answers if a.status == 507]
        self.assertEqual((len(made), len(full)), (50, 70))
        self.assertEqual(full[0].json, {"error": "maximum jobs reached: current=50, limit=50", "type": "job_count",
                                        "current": 50, "limit": 50})
        size = 192 + len("cap-0")
        health = self.api.must(self.api.get("/health"))
        self.assertEqual(health["jobs"], {"current_count": 50, "count": 50, "limit": 50, "available": 0})
        usage = health["memory"]["current_bytes"]
        self.assertEqual(usage, sum(192 + len(a.json["id"]) for a in made))
        self.assertEqual(health["memory"]["limit_bytes"], 1 << 20)
        answer = self.api.post("/jobs", {"id": "large", "type": "unico", "timestamp": 4102444800,
                                         "webhook_url": "http://h/", "payload": {"x": "y" * (1 << 20)}})
        wanted = 192 + len("large") + len("http://h/") + len('{"x":""}') + (1 << 20)
        self.assertEqual(answer.status, 507)
        self.assertEqual(answer.json, {
            "error": f"insufficient memory: current={usage} bytes, limit=1048576 bytes, requested={wanted} bytes",
            "type": "memory", "current": usage, "limit": 1048576, "requested": wanted})
        for answer in made:
            self.assertEqual(self.api.delete("/jobs/" + answer.json["id"]).status, 204)
        health = self.api.must(self.api.get("/health"))
        self.assertEqual((health["jobs"]["current_count"], health["memory"]["current_bytes"]), (0, 0))
        self.assertEqual(size, 197)


class Recount(SchedulerTest):
    """The counters match a recount, whatever happened to the jobs (B-48, B-83)."""
    settings = (*FAST, "--max-attempts", "1", "--queue-job-limit", "25")

    def recount(self, api):
        """Count the unfinished jobs and their bytes from the jobs themselves. With one attempt no job is retried."""
        count = size = 0
        for status in ("pending", "in_progress"):
            for state in api.must(api.get("/jobs?status=" + status))["jobs"]:
                job = api.must(api.get(self.path(state["job_id"])))
                payload = json.dumps(job["payload"], separators=(",", ":")) if "payload" in job else ""
                count += 1
                size += 192 + len(job["id"]) + len(job.get("webhook_url", "")) + len(
                    job.get("cron_expression", "")) + len(payload)
        return count, size

    def counters(self, api):
        health = api.must(api.get("/health"))
        return health["jobs"]["current_count"], health["memory"]["current_bytes"]

    def test_b48_b83_after_random_work_and_kills(self):
        chance = random.Random(23)
        good, bad = self.receiver(), self.receiver(lambda d: 500)
        with Server(*self.settings, "--inprogress-timeout", "1s") as server:
            api = server.client()
            made, answers = [], []

            def act(_):
                draw, name = chance.random(), f"r{chance.randrange(150)}"
                if draw >= 0.6 and made and chance.random() < 0.5:
                    name = chance.choice(made)
                if draw < 0.6:
                    body = {"id": name, "type": "unico", "timestamp": 4102444800}
                    if chance.random() < 0.3:
                        body.update(timestamp=int(time.time()) + 2, webhook_url=chance.choice((good, bad)).url())
                    elif chance.random() < 0.3:
                        body = {"id": name, "type": "recurrente", "cron_expression": "0 0 1 1 *", "payload": {"x": name}}
                    if chance.random() < 0.4:
                        del body["id"]
                    answer = api.post("/jobs", body)
                    made.append(name if "id" in body else answer.json.get("id", name))
                elif draw < 0.8:
                    answer = api.delete("/jobs/" + name)
                else:
                    answer = api.post(f"/jobs/{name}/cancel")
                answers.append(answer.status)

            for _ in range(3):
                with concurrent.futures.ThreadPoolExecutor(8) as pool:
                    list(pool.map(act, range(150)))
                server.kill()
                server.start()
                # Runs in progress change both; once they have ended, they are equal.
                wait_until(lambda: self.counters(api) == self.recount(api), "counters that equal a recount")
                self.assertLessEqual(self.counters(api)[0], 25)
            self.assertIn(507, answers)
            self.assertLessEqual(set(answers), {200, 204, 400, 404, 409, 507})
            for name in set(made):
                api.delete("/jobs/" + name)
            self.assertEqual(self.counters(api), (0, 0))


class Places(SchedulerTest):
    settings = (*FAST, "--auth-token", "joiner")

    def test_b91_join(self):
        join = {"node_id": "node-1", "address": "127.0.0.1:9000"}
        self.error(self.api.post("/join", join), 401, "unauthorized")
        api = self.api.with_headers(Authorization="Bearer joiner")
        self.error(api.post("/join", b"{"), 400, "Invalid request body")
        self.error(api.post("/join", {"node_id": "node-1"}), 400, "node_id and address are required")
        for _ in range(2):
            self.assertEqual(api.must(api.post("/join", join)),
                             {"success": True, "message": "Node node-1 successfully joined cluster"})

    def test_b92_health_and_debug_of_a_single_node(self):
        health = self.api.must(self.api.get("/health"))
        self.assertEqual((health["status"], health["role"], health["node_id"]), ("healthy", "leader", "node-1"))
        self.assertEqual(self.api.must(self.api.get("/ready")), {"status": "ready"})
        debug = self.api.must(self.api.get("/debug/cluster"))
        self.assertEqual((debug["is_leader"], debug["raft_state"], len(debug["servers"])), (True, "Leader", 1))
        self.assertEqual(debug["leader"], debug["servers"][0]["address"])


class Namespaces(SchedulerTest):
    """Each namespace has separate jobs. The default one, and the health of the node, include all."""

    def test_health_and_metrics_count_all_of_them(self):
        def numbers(api):
            health = self.api.must(self.api.get("/health"))
            text = api.get("/metrics").body.decode()
            gauges = {line.split(" ")[0]: float(line.split(" ")[1]) for line in text.splitlines() if line[:1] != "#"}
            return (health["jobs"]["current_count"], health["memory"]["current_bytes"], health["execution"]["pending"],
                    gauges["scheduled_db_queue_job_count"], gauges['scheduled_db_jobs_by_status{status="pending"}'])
        before = numbers(self.api)
        limit = self.api.must(self.api.get("/health"))["jobs"]["limit"]
        tenants = [self.api.with_headers(X_Corvo_Namespace=name) for name in ("acme", "umbrella")]
        for n, api in enumerate([self.api, *tenants]):
            for i in range(n + 1):
                self.create(api, id=f"j{i}", type="unico", timestamp=int(time.time()) + 3600)
        after = numbers(self.api)
        self.assertEqual([a - b for a, b in zip(after, before)], [6, 6 * (192 + 2), 6, 6, 6])
        # The limits apply per namespace, and now three namespaces have jobs.
        health = self.api.must(self.api.get("/health"))
        self.assertEqual((health["jobs"]["limit"], health["jobs"]["available"]), (3 * limit, 3 * limit - after[0]))
        self.assertEqual(self.api.must(self.api.get("/debug/cluster"))["job_count"], 6)
        self.assertEqual([api.must(api.get("/debug/cluster"))["job_count"] for api in tenants], [2, 3])


class Written(SchedulerTest):
    """What the audit log and the server log contain about this API."""

    def test_writes_are_in_the_audit_log(self):
        """16: creating jobs is not logged, as http-api.md 18.3 specifies for /enqueue."""
        job_id, other = unique("j"), unique("j")
        at = int(time.time()) + 3600
        self.create(id=job_id, type="unico", timestamp=at)
        self.create(id=job_id, type="unico", timestamp=at + 1, status=409)
        self.api.must(self.api.post("/jobs/batch", {"jobs": [{"id": other, "type": "unico", "timestamp": at}]}))
        self.api.must(self.api.get(self.path(job_id)))
        self.api.must(self.api.post(self.path(job_id, "/cancel"), {"reason": "x"}))
        self.assertEqual(self.api.delete(self.path(job_id)).status, 204)
        rows = self.api.must(self.api.get("/api/v1/audit-logs?limit=1000&path_prefix=/jobs"))["audit_logs"]
        self.assertEqual([(r["method"], r["path"], r["status_code"]) for r in reversed(rows) if r["status_code"] != 401], [
            ("POST", f"/jobs/{job_id}/cancel", 200), ("DELETE", f"/jobs/{job_id}", 204)])

    def test_refusals_are_in_the_audit_log(self):
        with Server("--admin-password", "secret", "--rate-limit-enabled=false") as server:
            self.assertEqual(server.client().post("/jobs", {}).status, 401)
            admin = server.client(**{"X-API-Key": "secret"})
            rows = admin.must(admin.get("/api/v1/audit-logs?path_prefix=/jobs"))["audit_logs"]
            self.assertEqual([(r["method"], r["path"], r["status_code"], r["principal"]) for r in rows],
                             [("POST", "/jobs", 401, None)])

    def test_each_request_has_a_line(self):
        """2.1: method, full URI with query, status, duration. Requests of the other API have no such line."""
        job_id = unique("j")
        self.create(id=job_id, type="unico", timestamp=int(time.time()) + 3600, webhook_token="s3cr3t")
        self.api.must(self.api.get("/jobs?status=pending&limit=3"))
        self.api.get("/jobs/none")
        self.api.must(self.api.get("/api/v1/queues"))
        lines = wait_until(lambda: next((rows for rows in [self.server.events("http request")]
                                         if any(r["uri"] == "/jobs/none" for r in rows)), None), "the lines")
        found = [(r["level"], r["method"], r["uri"], r["status"]) for r in lines]
        for expected in (("INFO", "POST", "/jobs", 200), ("INFO", "GET", "/jobs?status=pending&limit=3", 200),
                         ("INFO", "GET", "/jobs/none", 404)):
            self.assertIn(expected, found)
        self.assertTrue(all(r["duration_ms"] >= 0 for r in lines))
        self.assertNotIn("s3cr3t", "".join(self.server.lines))

    def test_calls_have_lines(self):
        """16, 4: the result of each call, and that there will be no more calls. Without the URL."""
        target = self.receiver(lambda d: 200 if d.path == "/good" else 500)
        good, bad = self.soon(target.url("/good")), self.soon(target.url("/bad?key=hidden"))
        self.reaches(good, "completed")
        self.reaches(bad, "failed", where=lambda state: state["attempt_count"] == 3)

        def lines(event, job):
            return [{k: r.get(k) for k in ("level", "attempt", "http_status", "error_type")}
                    for r in self.server.events(event) if r["job"] == job]
        wait_until(lambda: lines("exceeded max attempts", bad), "the last line")
        self.assertEqual(lines("job executed", good),
                         [{"level": "INFO", "attempt": 1, "http_status": 200, "error_type": None}])
        self.assertEqual(lines("job failed", bad), [
            {"level": "ERROR", "attempt": n, "http_status": 500, "error_type": "http_error"} for n in (1, 2, 3)])
        self.assertEqual(lines("exceeded max attempts", good), [])
        self.assertNotIn("hidden", "".join(self.server.lines))

    def test_who_leads_is_said(self):
        """14.5"""
        line, = wait_until(lambda: self.server.events("CLUSTER READY"), "the line")
        self.assertEqual((line["level"], line["node_id"]), ("INFO", "node-1"))


class Standing(SchedulerTest):
    takes_long = True

    def test_how_the_node_stands_is_said_every_30_seconds(self):
        """14.5"""
        with Server("--log-level", "debug") as server:
            line = wait_until(lambda: server.events("cluster"), "the line", 60)[0]
            self.assertEqual({k: line[k] for k in ("level", "node_id", "role", "raft_state", "members")},
                             {"level": "DEBUG", "node_id": "node-1", "role": "leader", "raft_state": "Leader",
                              "members": 1})


class Failover(SchedulerTest):
    """The process is killed while calls are in progress."""

    def test_b87_g4_an_abandoned_call_times_out_and_is_tried_once_more(self):
        hold = threading.Event()
        self.addCleanup(hold.set)
        target = self.receiver(lambda d: (hold.wait(60) if d.headers["x-scheduled-db-attempt"] == "1" else True) and 200)
        with Server(*FAST, "--inprogress-timeout", "1s", "--execution-timeout", "1s") as server:
            api = server.client()
            job_id = self.soon(target.url(), api=api, id="orphan")
            target.wait_for(1)
            server.kill()
            server.start()
            self.reaches(job_id, "completed", api)
            self.assertEqual([(a["attempt_num"], a["status"]) for a in self.executions(job_id, api)],
                             [(1, "timeout"), (2, "completed")])
            self.assertEqual([d.headers["x-scheduled-db-attempt"] for d in target.taken()], ["1", "2"])

    def test_a_lost_call_without_tries_left_stays_a_timeout(self):
        """2.6: it has no completed_at. 12: a counter has the number of lost calls, and never decreases."""
        hold = threading.Event()
        self.addCleanup(hold.set)
        target = self.receiver(lambda d: hold.wait(60) and 200)
        with Server(*FAST, "--inprogress-timeout", "1s", "--execution-timeout", "1s", "--max-attempts", "1") as server:
            api = server.client()
            job_id = self.soon(target.url(), api=api)
            target.wait_for(1)
            server.kill()
            server.start()
            state = self.reaches(job_id, "timeout", api)
            self.assertEqual((state["attempt_count"], "completed_at" in state), (1, False))
            lines = wait_until(lambda: server.events("exceeded max attempts"), "the last line")  # 4
            self.assertEqual([(r["level"], r["job"], r["attempts"]) for r in lines], [("WARN", job_id, 1)])
            self.assertEqual([(r["level"], r["job"], r["attempt"]) for r in server.events("job timed out")],  # 16
                             [("WARN", job_id, 1)])
            self.assertEqual(metric(api, "scheduled_db_jobs_timed_out_total"), 1)
            self.assertEqual(metric(api, 'scheduled_db_jobs_by_status{status="timeout"}'), 1)
            api.delete(self.path(job_id))
            self.assertEqual(metric(api, "scheduled_db_jobs_timed_out_total"), 1)
            self.assertEqual(metric(api, 'scheduled_db_jobs_by_status{status="timeout"}'), 0)

    def test_b83_b48_counters_survive_a_kill(self):
        with Server(*FAST) as server:
            api = server.client()
            for n in range(40):
                self.create(api, id=f"k{n}", type="unico", timestamp=4102444800)
            for n in range(0, 40, 2):
                self.assertEqual(api.delete(f"/jobs/k{n}").status, 204)
            before = api.must(api.get("/health"))
            server.kill()
            server.start()
            after = api.must(api.get("/health"))
            self.assertEqual((after["jobs"], after["memory"]), (before["jobs"], before["memory"]))
            self.assertEqual(after["jobs"]["current_count"], 20)
            self.assertEqual(api.must(api.get("/jobs?status=pending"))["total"], 20)

    def test_b88_a_job_due_while_nobody_led_fires_afterwards(self):
        target = self.receiver()
        with Server(*FAST) as server:
            api = server.client()
            job = self.create(api, type="unico", timestamp=int(time.time()) + 2, webhook_url=target.url())
            server.kill()
            wait_until(lambda: time.time() > job["timestamp"], "the due time")
            server.start()
            self.reaches(job["id"], "completed", api)
            self.assertEqual(len(target.taken()), 1)
