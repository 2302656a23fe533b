"""Job endpoints (contract 9, 5.3): reading a job and operations on it."""
import unittest
import urllib.parse
from datetime import datetime, timedelta, timezone

from harness import ApiTest, unique

MISSING = "job_00000000000000000000000000"
FAR_AHEAD = "2099-01-01T00:00:00Z"


class Reading(ApiTest):
    def test_a_job_that_does_not_exist(self):
        """24.35 GET /jobs/nonexistent → 404."""
        for job_id in ("nonexistent", MISSING, "job_" + "Z" * 26, MISSING + "0", "%20"):
            with self.subTest(job_id):
                self.refused(self.api.get(f"/api/v1/jobs/{job_id}"), 404, "NOT_FOUND",
                             f'job "{urllib.parse.unquote(job_id)}" not found')

    def test_bulk_get(self):
        """24.38 two ids → 2; unknown → []; empty list → 200; 1001 → 400; order and repeats (9)."""
        a, b = self.api.enqueue(self.queue, 1), self.api.enqueue(self.queue, 2)

        def bulk_get(body):
            return self.api.must(self.api.post("/api/v1/jobs/bulk-get", body))["jobs"]

        jobs = bulk_get({"job_ids": [b, a]})
        self.assertEqual(jobs, [self.api.job(b), self.api.job(a)])
        self.assertEqual([j["id"] for j in bulk_get({"job_ids": [a, MISSING, b, "x", a]})],
                         [a, b, a])
        no_ids = ["", "é" * 1000, a + "0" * 300]
        self.assertEqual([j["id"] for j in bulk_get({"job_ids": [*no_ids, b]})], [b])
        for body in ({"job_ids": [MISSING]}, {"job_ids": []}, {}, {"job_ids": None}):
            self.assertEqual(bulk_get(body), [])
        self.assertEqual(len(bulk_get({"job_ids": [a] * 1000})), 1000)
        self.refused(self.api.post("/api/v1/jobs/bulk-get", {"job_ids": [a] * 1001}), 400,
                     "VALIDATION_ERROR")
        for wrong in ({"job_ids": a}, {"job_ids": [1]}, {"job_ids": {}}):
            self.refused(self.api.post("/api/v1/jobs/bulk-get", wrong), 400, "PARSE_ERROR")

    def test_iterations_of_a_job_without_any(self):
        """9: [] if none; 404 for an unknown job."""
        job_id = self.api.enqueue(self.queue)
        self.assertEqual(self.api.must(self.api.get(f"/api/v1/jobs/{job_id}/iterations")),
                         {"iterations": []})
        self.refused(self.api.get(f"/api/v1/jobs/{MISSING}/iterations"), 404, "NOT_FOUND")

    def test_a_read_sees_the_write_before_it(self):
        """1.9: a read after a write on the same node sees the write."""
        for n in range(50):
            job_id = self.api.enqueue(self.queue, n)
            self.assertEqual(self.api.job(job_id)["payload"], n)
            self.assertEqual(self.api.queue(self.queue)["enqueued"], n + 1)

    def test_percent_encoded_ids(self):
        """21: TypeScript percent-encodes ids."""
        job_id = self.api.enqueue(self.queue)
        encoded = "".join(f"%{ord(c):02X}" for c in job_id)
        self.assertEqual(self.api.job(encoded)["id"], job_id)
        self.api.fetch(self.queue)
        self.api.ack(encoded)
        self.assertEqual(self.api.state(job_id), "completed")


class LargeJobs(ApiTest):
    settings = ("--max-payload-size", "0", "--durable=false")

    def test_bulk_get(self):
        """9: no job is left out because of its size."""
        ids = [self.api.enqueue(self.queue, "x" * 8_000_000) for _ in range(9)]
        answer = self.api.post("/api/v1/jobs/bulk-get", {"job_ids": ids})
        self.assertEqual(answer.status, 200)
        self.assertEqual([j["id"] for j in answer.json["jobs"]], ids)
        self.refused(self.api.post("/api/v1/jobs/bulk-get", {"job_ids": ids[:1] * 1000}), 413,
                     "PAYLOAD_TOO_LARGE")

    def test_heartbeats_of_a_namespace(self):
        api = self.api.with_headers(X_Corvo_Namespace="large")
        ids = [api.enqueue(self.queue, "x" * 8_000_000) for _ in range(9)]
        for _ in ids:
            api.fetch(self.queue)
        self.assertEqual(api.heartbeat({i: {} for i in ids})["acked"], ids)
        answer = api.post("/api/v1/ack/batch", {"acks": [{"job_id": i} for i in ids]})
        self.assertEqual(answer.json, {"acked": 9})

    def test_schedules(self):
        ids = set()
        for n in range(9):
            answer = self.api.post("/api/v1/schedules", {
                "name": f"large {n}", "queue": self.queue, "cron": "@yearly",
                "payload": "x" * 8_000_000})
            ids.add(self.api.must(answer, 201)["id"])
        listed = self.api.must(self.api.get("/api/v1/schedules"))
        self.assertEqual({s["id"] for s in listed}, ids)
        for schedule in ids:
            self.assertEqual(self.api.get(f"/api/v1/schedules/{schedule}").status, 200)


class Order(ApiTest):
    """5.3: every way back to pending leads to the tail of the class."""

    def check(self, *path, **fields):
        """A job moves along the path while another one is pending. The other one is served first."""
        first = self.api.enqueue(self.queue, **fields)
        other = None
        for step in path:
            step(first)
            other = other or self.api.enqueue(self.queue)
        self.api.wait_for_state(first, "pending")
        self.assertEqual([self.api.fetch(self.queue)["job_id"] for _ in range(2)], [other, first])

    def claim(self, job_id, **fields):
        self.assertEqual(self.api.fetch(self.queue, **fields)["job_id"], job_id)

    def act(self, action):
        return lambda job_id: self.api.act(job_id, action)

    def test_approve(self):
        self.check(self.act("hold"), self.act("approve"))

    def test_retry(self):
        self.check(self.act("cancel"), self.act("retry"))

    def test_reclaim(self):
        self.check(lambda i: self.claim(i, lease_duration=1))

    def test_promote_after_a_failure(self):
        self.check(self.claim, self.api.fail, retry_backoff="none")

    def test_the_next_iteration(self):
        self.check(self.claim, lambda i: self.api.ack(i, agent_status="continue"), agent={})

    def test_promote_of_a_scheduled_job(self):
        """Ordered by the time at which a job became pending, not by its creation."""
        due = datetime.now(timezone.utc) + timedelta(milliseconds=300)
        first = self.api.enqueue(self.queue, scheduled_at=due.isoformat())
        other = self.api.enqueue(self.queue)
        self.api.wait_for_state(first, "pending")
        self.assertEqual([self.api.fetch(self.queue)["job_id"] for _ in range(2)], [other, first])


class Actions(ApiTest):
    def test_retry_a_dead_job(self):
        """24.36 retry dead → pending, attempt 0; 5.3: what is cleared and what is kept."""
        job_id = self.active(max_retries=1)
        self.api.heartbeat({job_id: {"progress": 1, "checkpoint": 2}})
        self.api.fail(job_id, "boom")
        self.assertEqual(self.api.act(job_id, "retry"), {"status": "retried"})
        job = self.api.job(job_id)
        self.assertEqual((job["state"], job["attempt"], job["progress"], job["checkpoint"]),
                         ("pending", 0, 1, 2))
        self.assertEqual([e["error"] for e in job["errors"]], ["boom"])
        for field in ("failed_at", "completed_at", "scheduled_at", "worker_id",
                      "lease_expires_at", "hold_reason"):
            self.assertNotIn(field, job)
        self.assertEqual(self.api.fetch(self.queue)["attempt"], 1)

    def test_retry_a_scheduled_job(self):
        """24.36 retry scheduled → pending; retry pending → 400."""
        job_id = self.api.enqueue(self.queue, scheduled_at=FAR_AHEAD)
        self.api.act(job_id, "retry")
        job = self.api.job(job_id)
        self.assertEqual(job["state"], "pending")
        self.assertNotIn("scheduled_at", job)
        self.refused(self.api.post(f"/api/v1/jobs/{job_id}/retry"), 400, "RETRY_ERROR", "pending")
        self.assertEqual(self.api.fetch(self.queue)["job_id"], job_id)

    def test_retried_jobs_go_to_the_tail(self):
        """5.3: tail of its class."""
        first = self.active(max_retries=1)
        self.api.fail(first)
        second = self.api.enqueue(self.queue)
        self.api.act(first, "retry")
        self.assertEqual([self.api.fetch(self.queue)["job_id"] for _ in range(2)],
                         [second, first])

    def test_cancel(self):
        """9: cancelled, or cancelling for an active one; 5.3: cancelled_at, worker cleared."""
        job_id = self.api.enqueue(self.queue)
        self.assertEqual(self.api.act(job_id, "cancel"), {"status": "cancelled"})
        self.assertEqual(self.api.state(job_id), "cancelled")
        self.not_claimable()
        job_id = self.active()
        self.assertEqual(self.api.act(job_id, "cancel"), {"status": "cancelling"})
        job = self.api.job(job_id)
        self.assertEqual(job["state"], "cancelled")
        for field in ("worker_id", "lease_expires_at"):
            self.assertNotIn(field, job)
        self.assert_time(job["cancelled_at"])

    def test_cancel_frees_the_concurrency_slot(self):
        """6.11: concurrency slot freed at once."""
        self.api.must(self.api.post(f"/api/v1/queues/{self.queue}/concurrency", {"max": 1}))
        first = self.active()
        second = self.api.enqueue(self.queue)
        self.not_claimable()
        self.api.act(first, "cancel")
        self.assertEqual(self.api.fetch(self.queue)["job_id"], second)

    def test_hold_approve_and_reject(self):
        """24.31 hold → held, not fetchable; approve → pending, fetchable; hold, reject → dead."""
        job_id = self.api.enqueue(self.queue)
        self.assertEqual(self.api.act(job_id, "hold"), {"status": "held"})
        self.assertEqual(self.api.state(job_id), "held")
        self.not_claimable()
        self.assertEqual(self.api.act(job_id, "approve"), {"status": "pending"})
        self.assertEqual(self.api.state(job_id), "pending")
        self.assertEqual(self.api.fetch(self.queue)["job_id"], job_id)
        self.assertEqual(self.api.act(job_id, "hold"), {"status": "held"})
        self.assertEqual(self.api.act(job_id, "reject"), {"status": "dead"})
        job = self.api.job(job_id)
        self.assertEqual(job["state"], "dead")
        self.assert_time(job["failed_at"])
        self.assertIn("rejected", job["errors"][-1]["error"])

    def test_reasons(self):
        """9 ext: {"reason"} on hold and reject."""
        job_id = self.api.enqueue(self.queue)
        self.api.act(job_id, "hold", reason="needs a look")
        self.assertEqual(self.api.job(job_id)["hold_reason"], "needs a look")
        self.api.act(job_id, "reject", reason="not this one")
        job = self.api.job(job_id)
        self.assertNotIn("hold_reason", job)
        self.assertIn("rejected", job["errors"][-1]["error"])
        self.assertIn("not this one", job["errors"][-1]["error"])

    def test_hold_clears_worker_and_due_time(self):
        """5.3: hold clears worker, lease and scheduled_at; the worker sees cancel."""
        job_id = self.active()
        self.api.act(job_id, "hold")
        job = self.api.job(job_id)
        self.assertNotIn("worker_id", job)
        self.assertNotIn("lease_expires_at", job)
        self.assertEqual(self.api.heartbeat({job_id: {}})["canceled"], [job_id])
        later = self.api.enqueue(self.queue, scheduled_at=FAR_AHEAD)
        self.api.act(later, "hold")
        self.assertNotIn("scheduled_at", self.api.job(later))

    def test_bodies_are_optional(self):
        """9: bodies on retry, cancel, hold, approve, reject are optional."""
        job_id = self.api.enqueue(self.queue, scheduled_at=FAR_AHEAD)
        for body in (None, b"", b"{}", b"null"):
            for action in ("retry", "hold", "approve", "hold", "reject"):
                self.api.must(self.api.post(f"/api/v1/jobs/{job_id}/{action}", body))
        self.api.act(job_id, "retry")
        self.api.must(self.api.post(f"/api/v1/jobs/{job_id}/cancel", b"{}"))

    def test_move(self):
        """24.37 move pending → queue changed; fetch from the target returns it."""
        target = unique("target")
        waiting = self.api.enqueue(target)
        job_id = self.api.enqueue(self.queue, {"x": 1}, priority="high")
        self.assertEqual(self.api.must(self.api.post(f"/api/v1/jobs/{job_id}/move",
                                                     {"queue": target})), {"status": "moved"})
        job = self.api.job(job_id)
        self.assertEqual((job["queue"], job["state"], job["priority"]), (target, "pending", 1))
        self.not_claimable()
        self.assertEqual([self.api.fetch(target)["job_id"] for _ in range(2)], [job_id, waiting])

    def test_moved_jobs_go_to_the_tail_of_their_class(self):
        """9: pending jobs go to the tail of the target."""
        target = unique("target")
        moved = self.api.enqueue(self.queue)
        waiting = self.api.enqueue(target)
        self.api.act(moved, "move", queue=target)
        self.assertEqual([self.api.fetch(target)["job_id"] for _ in range(2)], [waiting, moved])

    def test_move_keeps_timers_and_lease(self):
        """9: move keeps state, attempt, timers and lease."""
        target = unique("target")
        job_id = self.active(retry_backoff="fixed", retry_base_delay="200ms")
        before = self.api.job(job_id)
        self.api.act(job_id, "move", queue=target)
        self.assertEqual(self.api.job(job_id), {**before, "queue": target})
        self.assertEqual(self.api.queue(target)["active"], 1)
        self.assertEqual(self.api.queue(self.queue)["active"], 0)
        self.api.fail(job_id)
        self.api.act(job_id, "move", queue=self.queue)
        self.assertEqual(self.api.fetch(self.queue)["attempt"], 2)

    def test_move_with_a_new_count_of_attempts(self):
        """9 ext: {"reset_attempts": true}."""
        job_id = self.active(max_retries=1)
        self.api.fail(job_id)
        self.api.act(job_id, "move", queue=unique("t"), reset_attempts=True)
        self.assertEqual(self.api.job(job_id)["attempt"], 0)

    def test_move_needs_a_queue(self):
        job_id = self.api.enqueue(self.queue)
        for body in ({}, {"queue": ""}, {"queue": None}):
            self.refused(self.api.post(f"/api/v1/jobs/{job_id}/move", body), 400,
                         "VALIDATION_ERROR", "queue")
        self.refused(self.api.post(f"/api/v1/jobs/{job_id}/move"), 400, "PARSE_ERROR")
        self.refused(self.api.post(f"/api/v1/jobs/{job_id}/move", {"queue": 5}), 400,
                     "PARSE_ERROR")

    def test_delete_twice(self):
        """24.35 delete twice → 200, 404."""
        job_id = self.api.enqueue(self.queue)
        self.assertEqual(self.api.must(self.api.delete(f"/api/v1/jobs/{job_id}")),
                         {"status": "deleted"})
        self.refused(self.api.delete(f"/api/v1/jobs/{job_id}"), 404, "NOT_FOUND",
                     f'job "{job_id}" not found')
        self.refused(self.api.get(f"/api/v1/jobs/{job_id}"), 404, "NOT_FOUND")
        self.assertEqual(self.api.queue(self.queue)["enqueued"], 0)

    def test_actions_on_a_job_that_does_not_exist(self):
        """5.2: 404 NOT_FOUND for every single-job route when the id does not exist."""
        deleted = self.api.enqueue(self.queue)
        self.api.must(self.api.delete(f"/api/v1/jobs/{deleted}"))
        for job_id in (MISSING, "nonsense", deleted):
            for path, body in ((f"ack/{job_id}", {}), (f"fail/{job_id}", {"error": "x"}),
                               (f"jobs/{job_id}/retry", None), (f"jobs/{job_id}/cancel", None),
                               (f"jobs/{job_id}/hold", None), (f"jobs/{job_id}/approve", None),
                               (f"jobs/{job_id}/reject", None),
                               (f"jobs/{job_id}/move", {"queue": "x"}),
                               (f"jobs/{job_id}/replay", {"from": 1})):
                with self.subTest(path):
                    self.refused(self.api.post(f"/api/v1/{path}", body), 404, "NOT_FOUND",
                                 f'job "{job_id}" not found')


if __name__ == "__main__":
    unittest.main()
