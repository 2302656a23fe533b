"""Why a job is not running: every possible reason (docs/operations.md)."""
import unittest

from harness import ApiTest, unique, wait_until


class Explain(ApiTest):
    def explain(self, job_id, client=None):
        client = client or self.api
        return client.must(client.get(f"/api/v1/jobs/{job_id}/explain"))

    def explain_queue(self, queue=None):
        return self.api.must(self.api.get(f"/api/v1/queues/{queue or self.queue}/explain"))

    def reason(self, answer, code):
        """Return the reason with this code. It must exist and have a message."""
        found = [r for r in answer["reasons"] if r["code"] == code]
        self.assertEqual(len(found), 1, answer)
        self.assertNotEqual(found[0]["message"], "")
        return found[0]

    def codes(self, answer):
        return [r["code"] for r in answer["reasons"]]

    def test_a_job_that_nobody_asks_for(self):
        job_id = self.api.enqueue(self.queue)
        answer = self.explain(job_id)
        self.assertEqual(answer["job_id"], job_id)
        self.assertEqual(answer["queue"], self.queue)
        self.assertEqual(answer["state"], "pending")
        self.assertIs(answer["runnable"], True)
        self.assertEqual(self.codes(answer), ["no_worker"])
        self.assertEqual(answer["position"], {"ahead": 0, "at_least": False})

    def test_a_worker_that_asks_for_the_queue_is_seen(self):
        self.api.enqueue(self.queue)
        self.api.fetch(self.queue, worker_id="worker-" + self.queue)
        job_id = self.api.enqueue(self.queue)
        answer = self.explain(job_id)
        self.assertEqual(self.codes(answer), [])
        self.assertIs(answer["runnable"], True)
        queue = self.explain_queue()
        self.assertEqual([w["id"] for w in queue["workers"]], ["worker-" + self.queue])
        self.assert_time(queue["workers"][0]["last_heartbeat"])
        self.assertEqual(queue["workers_total"], 1)
        # A queue whose name is a part of the other's name is a different one.
        shorter = self.queue[:-1] or "q"
        self.api.enqueue(shorter)
        self.assertIn("no_worker", self.codes(self.explain_queue(shorter)))

    def test_position_counts_higher_classes_and_those_before(self):
        first = self.api.enqueue(self.queue)
        second = self.api.enqueue(self.queue)
        self.assertEqual(self.explain(second)["position"]["ahead"], 1)
        self.assertEqual(self.reason(self.explain(second), "behind_others")["message"],
                         "1 job is ahead in the queue")
        self.api.enqueue(self.queue, priority="critical")
        self.assertEqual(self.explain(first)["position"]["ahead"], 1)
        self.assertEqual(self.explain(second)["position"]["ahead"], 2)

    def test_position_in_a_long_line_is_bounded(self):
        ids = self.api.enqueue_batch([{"queue": self.queue, "payload": {}}] * 5000)["job_ids"]
        answer = self.explain(ids[-1])
        self.assertEqual(answer["position"], {"ahead": 4096, "at_least": True})
        self.assertIn("at least 4096 jobs", self.reason(answer, "behind_others")["message"])
        self.assertEqual(self.explain(ids[4096])["position"], {"ahead": 4096, "at_least": False})

    def test_a_paused_queue(self):
        job_id = self.api.enqueue(self.queue)
        self.api.must(self.api.post(f"/api/v1/queues/{self.queue}/pause"))
        answer = self.explain(job_id)
        self.assertIs(answer["runnable"], False)
        self.assertIn(self.queue, self.reason(answer, "queue_paused")["message"])
        later = self.api.enqueue(self.queue, scheduled_at="2099-01-01T00:00:00Z")
        self.assertEqual(self.codes(self.explain(later)), ["not_due", "queue_paused"])

    def test_a_concurrency_limit_and_who_holds_it(self):
        self.api.must(self.api.post(f"/api/v1/queues/{self.queue}/concurrency", {"max": 1}))
        holder = self.active()
        job_id = self.api.enqueue(self.queue)
        answer = self.explain(job_id)
        self.assertIs(answer["runnable"], False)
        reason = self.reason(answer, "concurrency_limit")
        self.assertEqual(reason["max_concurrency"], 1)
        self.assertEqual(reason["active"], 1)
        self.assertEqual([h["job_id"] for h in reason["held_by"]], [holder])
        self.assertEqual(reason["held_by"][0]["worker_id"], "w")
        self.assert_time(reason["held_by"][0]["lease_expires_at"])
        self.assertIs(reason["held_by_more"], False)
        self.api.ack(holder)
        self.assertIs(self.explain(job_id)["runnable"], True)

    def test_the_list_of_holders_is_bounded(self):
        self.api.enqueue_batch([{"queue": self.queue, "payload": {}}] * 13)
        self.assertEqual(len(self.api.fetch_batch(self.queue, count=12)), 12)
        self.api.must(self.api.post(f"/api/v1/queues/{self.queue}/concurrency", {"max": 2}))
        reason = self.reason(self.explain_queue(), "concurrency_limit")
        self.assertEqual(len(reason["held_by"]), 10)
        self.assertIs(reason["held_by_more"], True)
        self.assertEqual(reason["active"], 12)

    def test_a_throttle_says_until_when(self):
        self.api.must(self.api.post(f"/api/v1/queues/{self.queue}/throttle",
                                    {"rate": 1, "window_ms": 3600000}))
        self.active()
        job_id = self.api.enqueue(self.queue)
        answer = self.explain(job_id)
        self.assertIs(answer["runnable"], False)
        reason = self.reason(answer, "throttled")
        self.assert_time(reason["until"])
        self.assertEqual(reason["rate_limit"], 1)
        self.assertEqual(reason["rate_window_ms"], 3600000)

    def test_unmet_dependencies_are_named(self):
        parent = self.api.enqueue(unique("parent"))
        dead = self.active(unique("dead"), max_retries=0)
        self.api.fail(dead)
        child = self.api.enqueue(self.queue, depends_on=[parent, dead])
        answer = self.explain(child)
        self.assertIs(answer["runnable"], False)
        self.assertNotIn("position", answer)
        reason = self.reason(answer, "dependencies")
        self.assertEqual({w["job_id"]: w["state"] for w in reason["waits_for"]},
                         {parent: "pending", dead: "dead"})
        self.api.must(self.api.delete(f"/api/v1/jobs/{parent}"))
        reason = self.reason(self.explain(child), "dependencies")
        self.assertIn({"job_id": parent, "state": "missing"}, reason["waits_for"])
        queue = self.explain_queue()
        self.assertEqual(self.reason(queue, "dependencies")["count"], 1)

    def test_times_and_states(self):
        due = "2099-01-01T00:00:00Z"
        scheduled = self.api.enqueue(self.queue, scheduled_at=due)
        self.assertEqual(self.reason(self.explain(scheduled), "not_due")["until"], due)

        failing = self.active(unique("failing"), retry_base_delay="1h", max_retries=3)
        self.api.fail(failing)
        reason = self.reason(self.explain(failing), "retrying")
        self.assertEqual(reason["until"], self.api.job(failing)["scheduled_at"])
        self.assertEqual((reason["attempt"], reason["max_retries"]), (1, 3))

        held = self.api.enqueue(unique("held"))
        self.api.act(held, "hold", reason="ask Ada")
        reason = self.reason(self.explain(held), "held")
        self.assertEqual(reason["hold_reason"], "ask Ada")
        self.assertIn("ask Ada", reason["message"])

        active = self.active(unique("active"))
        reason = self.reason(self.explain(active), "leased")
        self.assertEqual(reason["worker_id"], "w")
        self.assertEqual(reason["until"], self.api.job(active)["lease_expires_at"])

        self.api.ack(active)
        answer = self.explain(active)
        self.assertIn("completed", self.reason(answer, "finished")["message"])
        self.assertEqual(answer["state"], "completed")

        dead = self.active(unique("dead"), max_retries=0)
        self.api.fail(dead, error="no such host")
        self.assertEqual(self.reason(self.explain(dead), "finished")["last_error"], "no such host")
        for job_id in (scheduled, failing, held, active, dead):
            self.assertIs(self.explain(job_id)["runnable"], False)

    def test_a_budget(self):
        job_id = self.api.enqueue(self.queue)
        budget = {"scope": "queue", "target": self.queue, "daily_usd": 0}
        for action, text in (("hold", "fetches hold jobs"), ("reject", "fetches are refused")):
            self.api.must(self.api.post("/api/v1/budgets", {**budget, "on_exceed": action}))
            for answer in (self.explain(job_id), self.explain_queue()):
                reason = self.reason(answer, "over_budget")
                self.assertEqual(reason["on_exceed"], action)
                self.assertIn(f"budget exceeded: queue:{self.queue}; {text}", reason["message"])
                self.assertIs(answer["runnable"], False)
        self.api.must(self.api.post("/api/v1/budgets", {**budget, "on_exceed": "alert_only"}))
        self.assertEqual(self.codes(self.explain(job_id)), ["no_worker"])
        tagged = self.api.enqueue(self.queue, tags={"explained": self.queue})
        self.api.must(self.api.post("/api/v1/budgets", {
            "scope": "tag", "target": f"explained:{self.queue}", "daily_usd": 0}))
        self.reason(self.explain(tagged), "over_budget")
        self.assertNotIn("over_budget", self.codes(self.explain(job_id)))

    def test_a_queue_without_jobs(self):
        self.api.must(self.api.post(f"/api/v1/queues/{self.queue}/pause"))
        answer = self.explain_queue()
        self.assertEqual(set(self.codes(answer)), {"queue_paused", "no_worker", "empty"})
        self.assertIs(answer["runnable"], False)
        for key in ("pending", "active", "scheduled", "retrying", "held", "in_line"):
            self.assertEqual(answer[key], 0)

    def test_what_does_not_exist_is_not_found(self):
        for job_id in ("nonexistent", "job_" + "0" * 26, "job_" + "z" * 26, "%2F", "a" * 500):
            self.refused(self.api.get(f"/api/v1/jobs/{job_id}/explain"), 404, "NOT_FOUND")
        self.refused(self.api.get(f"/api/v1/queues/{unique('none')}/explain"), 404, "NOT_FOUND")

    def test_other_namespaces_see_their_own(self):
        acme = self.api.with_headers(X_Corvo_Namespace="acme")
        job_id = acme.enqueue(self.queue)
        self.assertEqual(self.explain(job_id, acme)["queue"], self.queue)
        self.assertEqual(self.explain(job_id)["queue"], "acme::" + self.queue)
        mine = self.api.enqueue(self.queue)
        self.refused(acme.get(f"/api/v1/jobs/{mine}/explain"), 404, "NOT_FOUND")
        message = self.reason(self.explain(job_id, acme), "no_worker")["message"]
        self.assertNotIn("acme::", message)

    def test_workers_that_ask_while_nothing_is_there_are_seen(self):
        waiting = self.api.poll(self.queue)
        wait_until(lambda: self.api.fetches_waiting() > 0, "the poll to be parked")
        job_id = self.api.enqueue(self.queue)
        self.assertEqual(waiting.result().json["job_id"], job_id)
        self.assertEqual(self.codes(self.explain(job_id)), ["leased"])


if __name__ == "__main__":
    unittest.main()
