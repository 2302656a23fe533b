"""Queues (contract 12, 6.5): the list, pausing, limits, clearing and deleting."""
import time
import unittest
import urllib.parse

from harness import ApiTest, Server, unique, wait_until

FAR_AHEAD = "2099-01-01T00:00:00Z"


class QueueTest(ApiTest):
    def act(self, action, body=None, queue=None):
        name = urllib.parse.quote(queue or self.queue, safe="")
        return self.api.must(self.api.post(f"/api/v1/queues/{name}/{action}", body))

    def remove(self):
        return self.api.must(self.api.delete(f"/api/v1/queues/{self.queue}"))

    def poll(self):
        """Start a fetch that waits for a job of the test's queue."""
        before = self.api.fetches_waiting()
        poll = self.api.poll(self.queue)
        wait_until(lambda: self.api.fetches_waiting() == before + 1, "the poll being parked")
        return poll


class Listing(QueueTest):
    def test_counts_every_state(self):
        """12.1: one entry with all its fields."""
        wanted = {"pending": 2, "active": 1, "held": 1, "completed": 3, "dead": 1, "scheduled": 1,
                  "retrying": 1, "cancelled": 1}
        first = self.api.enqueue(self.queue, retry_base_delay="1h")
        self.api.fetch(self.queue)
        self.api.fail(first)
        dead = self.active(max_retries=1)
        self.api.fail(dead)
        for _ in range(wanted["completed"]):
            self.api.ack(self.active())
        self.active()
        self.api.act(self.api.enqueue(self.queue), "hold")
        self.api.act(self.api.enqueue(self.queue), "cancel")
        self.api.enqueue(self.queue, scheduled_at=FAR_AHEAD)
        oldest = self.api.enqueue(self.queue)
        self.api.enqueue(self.queue)
        entry = self.api.queues()[self.queue]
        self.assert_time(entry.pop("created_at"))
        self.assertEqual(entry.pop("oldest_pending_at"), self.api.job(oldest)["created_at"])
        self.assertEqual(entry, {"name": self.queue, "paused": False, "enqueued": 11, "failed": 2,
                                 **wanted})
        self.assertEqual(self.api.queue(self.queue), self.api.queues()[self.queue])

    def test_the_oldest_pending_job_need_not_be_the_first_in_line(self):
        """12.1: oldest_pending_at is created_at of the oldest pending job; omitted if none."""
        first = self.api.enqueue(self.queue)
        self.api.enqueue(self.queue, priority="critical")
        third = self.api.enqueue(self.queue)
        elsewhere = self.api.enqueue(unique("elsewhere"))
        waiting = self.api.enqueue(unique("waiting"), depends_on=[elsewhere])

        def oldest(queue=self.queue):
            return self.api.queue(queue).get("oldest_pending_at")

        def created(job_id):
            return self.api.job(job_id)["created_at"]

        self.assertEqual(oldest(), created(first))
        self.api.act(first, "hold")
        self.api.act(first, "approve")
        self.assertEqual(oldest(), created(first))
        self.api.must(self.api.delete(f"/api/v1/jobs/{third}"))
        self.api.act(elsewhere, "move", queue=self.queue)
        self.api.act(first, "cancel")
        self.api.fetch(self.queue)
        self.assertEqual(oldest(), created(elsewhere))
        self.api.fetch(self.queue)
        self.assertIsNone(oldest())
        self.assertEqual(oldest(self.api.job(waiting)["queue"]), created(waiting))

    def test_is_sorted_by_name_and_empty_at_first(self):
        """12.1: array sorted by name."""
        names = [f"sorted.{n}" for n in ("b", "a", "c", "B", "ä", "a.1")]
        for name in names:
            self.api.enqueue(name)
        listed = [q["name"] for q in self.api.must(self.api.get("/api/v1/queues"))]
        self.assertEqual(listed, sorted(listed, key=str.encode))
        self.assertLessEqual(set(names), set(listed))

    def test_has_queues_that_only_have_settings(self):
        """24.43 queue list contains a queue after enqueue or pause; zero counts."""
        self.act("pause")
        entry = self.api.queues()[self.queue]
        self.assertIs(entry["paused"], True)
        self.assertEqual([entry[k] for k in ("pending", "active", "held", "completed", "dead",
                                             "scheduled", "retrying", "enqueued", "failed")],
                         [0] * 9)
        for absent in ("oldest_pending_at", "max_concurrency", "rate_limit", "rate_window_ms"):
            self.assertNotIn(absent, entry)

    def test_one_queue_that_does_not_exist(self):
        """12.1 ext: one object or 404."""
        self.refused(self.api.get("/api/v1/queues/never-seen"), 404, "NOT_FOUND", "never-seen")


class EmptyListing(ApiTest):
    def test_no_queues(self):
        """12.1: [] if none; also workers and schedules."""
        for path in ("queues", "workers", "schedules"):
            self.assertEqual(self.api.must(self.api.get(f"/api/v1/{path}")), [])


class Pause(QueueTest):
    def test_a_paused_queue_hands_out_nothing(self):
        """24.19 paused queue → 204; resumed → job; 6.5: active jobs continue, enqueue works."""
        running = self.active()
        self.assertEqual(self.act("pause"), {"status": "paused"})
        job_id = self.api.enqueue(self.queue)
        self.not_claimable()
        answer = self.api.post("/api/v1/fetch", {"queues": [self.queue], "timeout": 1})
        self.assertEqual(answer.status, 204)
        self.api.ack(running)
        self.assertEqual(self.act("resume"), {"status": "resumed"})
        self.assertEqual(self.api.fetch(self.queue)["job_id"], job_id)

    def test_actions_are_idempotent(self):
        """12.2: all create the queue if unknown and are idempotent."""
        for action, status in (("pause", "paused"), ("pause", "paused"), ("resume", "resumed"),
                               ("resume", "resumed"), ("drain", "draining"),
                               ("drain", "draining"), ("clear", "cleared"), ("clear", "cleared")):
            self.assertEqual(self.act(action), {"status": status})
        self.assertIs(self.api.queue(self.queue)["paused"], True)

    def test_drain_is_a_pause(self):
        """12.2: drain has the same effect as pause; returns at once."""
        running = self.active()
        self.api.enqueue(self.queue)
        self.assertEqual(self.act("drain"), {"status": "draining"})
        self.not_claimable()
        self.api.ack(running)

    def test_resume_wakes_a_waiting_worker(self):
        self.act("pause")
        job_id = self.api.enqueue(self.queue)
        poll = self.poll()
        self.act("resume")
        self.assertEqual(self.api.must(poll.result())["job_id"], job_id)


class Concurrency(QueueTest):
    def test_limits_active_jobs(self):
        """24.20 concurrency 1: second fetch returns nothing until the first is acked."""
        self.assertEqual(self.act("concurrency", {"max": 1}), {"status": "ok"})
        self.assertEqual(self.api.queues()[self.queue]["max_concurrency"], 1)
        first = self.active()
        second = self.api.enqueue(self.queue)
        self.not_claimable()
        self.api.ack(first)
        self.assertEqual(self.api.fetch(self.queue)["job_id"], second)

    def test_a_freed_slot_wakes_a_waiting_worker(self):
        """8.1: woken on slot release."""
        self.act("concurrency", {"max": 1})
        first = self.active()
        second = self.api.enqueue(self.queue)
        poll = self.poll()
        self.api.ack(first)
        self.assertEqual(self.api.must(poll.result())["job_id"], second)

    def test_a_batch_takes_only_what_is_free(self):
        self.act("concurrency", {"max": 3})
        self.api.enqueue_batch([{"queue": self.queue}] * 5)
        self.assertEqual(len(self.api.fetch_batch(self.queue, count=5)), 3)
        self.not_claimable()

    def test_lowering_it_preempts_nobody(self):
        """6.5: lowering below the current active count does not preempt."""
        ids = [self.active(), self.active()]
        self.act("concurrency", {"max": 1})
        self.assertEqual([self.api.state(i) for i in ids], ["active", "active"])
        self.api.enqueue(self.queue)
        self.api.ack(ids[0])
        self.not_claimable()
        self.api.ack(ids[1])
        self.api.fetch(self.queue)

    def test_zero_or_less_removes_it(self):
        """6.5: max ≤ 0 removes the limit."""
        for nothing in (0, -5):
            self.act("concurrency", {"max": 1})
            self.act("concurrency", {"max": nothing})
            self.assertNotIn("max_concurrency", self.api.queue(self.queue))
        self.active()
        self.active()

    def test_every_way_out_of_active_frees_a_slot(self):
        self.act("concurrency", {"max": 1})
        ways = {
            "ack": self.api.ack,
            "ack batch": lambda i: self.api.must(self.api.post("/api/v1/ack/batch",
                                                               {"acks": [{"job_id": i}]})),
            "fail": self.api.fail,
            "cancel": lambda i: self.api.act(i, "cancel"),
            "hold": lambda i: self.api.act(i, "hold"),
            "move": lambda i: self.api.act(i, "move", queue=unique("elsewhere")),
            "delete": lambda i: self.api.must(self.api.delete(f"/api/v1/jobs/{i}")),
        }
        for name, way in ways.items():
            with self.subTest(name):
                job_id = self.active(retry_base_delay="1h")
                self.assertEqual(self.api.queue(self.queue)["active"], 1)
                way(job_id)
                self.assertEqual(self.api.queue(self.queue)["active"], 0)


class Throttle(QueueTest):
    def test_limits_claims_in_a_window(self):
        """24.20 throttle 1 per 60 s: second fetch returns nothing."""
        self.assertEqual(self.act("throttle", {"rate": 1, "window_ms": 60000}), {"status": "ok"})
        self.api.enqueue_batch([{"queue": self.queue}] * 3)
        self.api.ack(self.api.fetch(self.queue)["job_id"])
        self.not_claimable()

    def test_each_job_of_a_batch_counts(self):
        """6.5: each claim (also each job of a batch) is one entry."""
        self.act("throttle", {"rate": 2, "window_ms": 60000})
        self.api.enqueue_batch([{"queue": self.queue}] * 3)
        self.assertEqual(len(self.api.fetch_batch(self.queue, count=3)), 2)
        self.not_claimable()

    def test_the_window_slides(self):
        """6.5: sliding window; a waiting worker gets the job when the window has passed."""
        self.act("throttle", {"rate": 1, "window_ms": 400})
        self.api.enqueue_batch([{"queue": self.queue}] * 2)
        begun = time.monotonic()
        self.api.fetch(self.queue)
        self.api.fetch(self.queue)
        self.assertGreater(time.monotonic() - begun, 0.39)

    def test_is_shown_and_removed(self):
        """24.44 shows rate_limit and rate_window_ms; removed → keys absent."""
        self.act("throttle", {"rate": 7, "window_ms": 1500})
        entry = self.api.queues()[self.queue]
        self.assertEqual((entry["rate_limit"], entry["rate_window_ms"]), (7, 1500))
        for _ in range(2):
            answer = self.api.delete(f"/api/v1/queues/{self.queue}/throttle")
            self.assertEqual(self.api.must(answer), {"status": "ok"})
        entry = self.api.queues()[self.queue]
        self.assertNotIn("rate_limit", entry)
        self.assertNotIn("rate_window_ms", entry)

    def test_a_period_is_a_window(self):
        """24.44 {"rate":100,"period":"1m"} equals window 60000; window_ms wins if both."""
        self.act("throttle", {"rate": 100, "period": "1m"})
        entry = self.api.queue(self.queue)
        self.assertEqual((entry["rate_limit"], entry["rate_window_ms"]), (100, 60000))
        self.act("throttle", {"rate": 100, "period": "1m", "window_ms": 5000})
        self.assertEqual(self.api.queue(self.queue)["rate_window_ms"], 5000)
        self.act("throttle", {"rate": 100, "period": "2m", "window_ms": None})
        self.assertEqual(self.api.queue(self.queue)["rate_window_ms"], 120000)

    def test_removing_it_forgets_the_window(self):
        """6.5: removing it resets the window, which counts from when the throttle was set."""
        self.active()
        self.act("throttle", {"rate": 1, "window_ms": 60000})
        self.active()
        job_id = self.api.enqueue(self.queue)
        self.not_claimable()
        self.api.must(self.api.delete(f"/api/v1/queues/{self.queue}/throttle"))
        self.assertEqual(self.api.fetch(self.queue)["job_id"], job_id)

    def test_wrong_values(self):
        """12.2: rate or window ≤ 0 → 400."""
        for body in ({}, {"rate": 1}, {"window_ms": 1}, {"rate": 0, "window_ms": 1},
                     {"rate": 1, "window_ms": -1}, {"rate": -1, "period": "1m"},
                     {"rate": 1, "period": "0s"}, {"rate": 1, "window_ms": 0, "period": "1m"}):
            with self.subTest(body):
                self.refused(self.api.post(f"/api/v1/queues/{self.queue}/throttle", body), 400,
                             "VALIDATION_ERROR", "rate and window_ms must be positive")
        for body in (None, b"", b"x", {"rate": "1", "window_ms": 5}):
            with self.subTest(body):
                self.refused(self.api.post(f"/api/v1/queues/{self.queue}/throttle", body), 400,
                             "PARSE_ERROR")
        self.assertNotIn(self.queue, self.api.queues())


class ClearAndDelete(QueueTest):
    def fill(self):
        """Create a job in every state. Return the ids by state."""
        ids = {"retrying": self.active(retry_base_delay="1h")}
        self.api.fail(ids["retrying"])
        ids["dead"] = self.active(max_retries=1)
        self.api.fail(ids["dead"])
        ids["completed"] = self.active()
        self.api.ack(ids["completed"])
        ids["active"] = self.active()
        ids["held"] = self.api.enqueue(self.queue)
        self.api.act(ids["held"], "hold")
        ids["cancelled"] = self.api.enqueue(self.queue)
        self.api.act(ids["cancelled"], "cancel")
        ids["scheduled"] = self.api.enqueue(self.queue, scheduled_at=FAR_AHEAD)
        for priority in ("critical", "high", "normal"):
            ids["pending " + priority] = self.api.enqueue(self.queue, priority=priority)
        return ids

    def exists(self, job_id):
        return self.api.get(f"/api/v1/jobs/{job_id}").status == 200

    def test_clear_removes_pending_and_scheduled_jobs(self):
        """24.43 clear → no pending job remains fetchable; 5.2: other states stay."""
        ids = self.fill()
        self.assertEqual(self.act("clear"), {"status": "cleared"})
        left = {state for state, job_id in ids.items() if self.exists(job_id)}
        self.assertEqual(left, {"retrying", "dead", "completed", "active", "held", "cancelled"})
        self.not_claimable()
        entry = self.api.queue(self.queue)
        self.assertEqual((entry["pending"], entry["scheduled"], entry["enqueued"]), (0, 0, 6))

    def test_delete_removes_everything(self):
        """24.43 delete → queue and jobs gone; active workers see cancel."""
        ids = self.fill()
        self.act("concurrency", {"max": 1})
        self.assertEqual(self.remove(), {"status": "deleted"})
        self.assertNotIn(self.queue, self.api.queues())
        self.assertEqual([s for s, job_id in ids.items() if self.exists(job_id)], [])
        self.assertEqual(self.api.heartbeat({ids["active"]: {}})["canceled"], [ids["active"]])
        self.assertEqual(self.remove(), {"status": "deleted"})
        self.api.enqueue(self.queue)
        self.assertNotIn("max_concurrency", self.api.queue(self.queue))
        self.assertEqual(self.api.queue(self.queue)["failed"], 0)

    def test_delete_accepts_confirm(self):
        """12.2: ?confirm=true accepted and not required."""
        self.api.enqueue(self.queue)
        answer = self.api.delete(f"/api/v1/queues/{self.queue}?confirm=true")
        self.assertEqual(self.api.must(answer), {"status": "deleted"})

    def test_large_queues_go_too(self):
        """Clearing and deleting run in steps, and remove everything."""
        for action in (lambda: self.act("clear"), self.remove):
            self.api.enqueue_batch([{"queue": self.queue}] * 2500)
            action()
            self.not_claimable()
        self.assertNotIn(self.queue, self.api.queues())

    def test_a_waiting_worker_survives_a_deleted_queue(self):
        poll = self.poll()
        self.remove()
        job_id = self.api.enqueue(self.queue)
        self.assertEqual(self.api.must(poll.result())["job_id"], job_id)

    def test_workers_wait_for_none_of_it(self):
        """A deleted queue's throttle and pause are gone."""
        self.act("pause")
        self.act("throttle", {"rate": 1, "window_ms": 60000})
        self.remove()
        self.active()
        self.active()
        wait_until(lambda: self.api.queue(self.queue)["active"] == 2)


class InTheBackground(ApiTest):
    """Clearing and deleting may affect millions of jobs: they run as a task in small steps, and no new job is lost."""

    def fill(self, api, queue, count):
        ids = []
        while len(ids) < count:
            ids += api.enqueue_batch([{"queue": queue, "payload": 1}] * min(5000, count - len(ids)))[
                "job_ids"]
        return ids

    def over(self, api, task):
        path = "/api/v1/bulk/" + task
        return wait_until(lambda: (lambda b: b if b["status"] not in ("queued", "running") else None)(
            api.must(api.get(path))), "the end of the operation")

    def test_the_answer_comes_at_once_when_the_caller_allows_it(self):
        rows = [("delete", "?async=true", {}, "delete_queue"),
                ("delete", "", {"Prefer": "wait=5, respond-async"}, "delete_queue"),
                ("post", "?async=1", {}, "clear_queue"),
                ("post", "", {"Prefer": "Respond-Async"}, "clear_queue")]
        for method, query, headers, action in rows:
            with self.subTest(method=method, query=query):
                queue = unique("background")
                self.fill(self.api, queue, 1300)
                done = self.api.fetch(queue)["job_id"]
                self.api.ack(done)
                client = self.api.with_headers(**headers)
                path = f"/api/v1/queues/{queue}" + ("/clear" if method == "post" else "")
                answer = client.must(getattr(client, method)(path + query), 202)
                total = 1300 if method == "delete" else 1299
                self.assertEqual((answer["status"], answer["estimated_total"]), ("queued", total))
                later = self.api.enqueue(queue)
                end = self.over(self.api, answer["bulk_operation_id"])
                self.assertEqual((end["status"], end["action"], end["affected"], end["total"]),
                                 ("completed", action, total, total))
                left = self.api.queue(queue)
                self.assertEqual((left["pending"], left["completed"]),
                                 (1, 0 if method == "delete" else 1))
                self.assertEqual(self.api.state(later), "pending")

    def test_the_answer_of_a_large_one_waits_for_the_end(self):
        with Server(*self.settings) as server:
            api = server.client()
            self.fill(api, "large", 7000)
            keep = self.fill(api, "other", 10)
            self.assertEqual(api.must(api.delete("/api/v1/queues/large")), {"status": "deleted"})
            self.assertEqual(api.get("/api/v1/queues/large").status, 404)
            self.assertEqual(api.queue("other")["pending"], len(keep))
            self.fill(api, "large", 7000)
            self.assertEqual(api.must(api.post("/api/v1/queues/large/clear")), {"status": "cleared"})
            self.assertEqual(api.queue("large")["enqueued"], 0)

    def test_it_goes_on_after_a_crash(self):
        with Server(*self.settings) as server:
            api = server.client()
            self.fill(api, "large", 5000)
            task = api.must(api.delete("/api/v1/queues/large?async=true"), 202)["bulk_operation_id"]
            server.kill()
            server.start()
            api = server.client()
            self.assertEqual(self.over(api, task)["status"], "completed")
            self.assertEqual(api.get("/api/v1/queues/large").status, 404)

    def test_it_can_be_cancelled(self):
        with Server(*self.settings) as server:
            api = server.client()
            self.fill(api, "large", 20000)
            task = api.must(api.delete("/api/v1/queues/large?async=true"), 202)["bulk_operation_id"]
            api.must(api.delete("/api/v1/bulk/" + task))
            end = self.over(api, task)
            self.assertEqual(end["status"], "cancelled")
            self.assertEqual(api.queue("large")["pending"], 20000 - end["affected"])

    def test_a_queue_that_is_not_there(self):
        answer = self.api.must(self.api.delete("/api/v1/queues/nowhere?async=true"), 202)
        self.assertEqual(self.over(self.api, answer["bulk_operation_id"])["affected"], 0)


if __name__ == "__main__":
    unittest.main()
