"""Budgets (contract 17.3): limits of costs, and what happens above them."""
import concurrent.futures
import unittest

from harness import ApiTest, unique, wait_until

RPC = "/corvo.v1.WorkerService/"


def usage(usd, **fields):
    return {"input_tokens": 1, "cost_usd": usd, **fields}


class BudgetTest(ApiTest):
    def setUp(self):
        super().setUp()
        self.ns = unique("n").replace(".", "-")
        self.api = type(self).api.with_headers(X_Corvo_Namespace=self.ns)

    def set(self, scope, target, **limits):
        return self.api.must(self.api.post("/api/v1/budgets",
                                           {"scope": scope, "target": target, **limits}))

    def fetch_answer(self, *queues):
        return self.api.post("/api/v1/fetch", {"queues": list(queues), "timeout": 1})

    def spend(self, queue, usd, **fields):
        job = self.active(queue, **fields)
        self.api.ack(job, usage=usage(usd))


class Lists(BudgetTest):
    def test_a_round_trip(self):
        """A budget is replaced by its scope and target and gets a new id. The list is ordered by scope and target."""
        first = self.set("queue", "b", daily_usd=1.5)
        second = self.set("QUEUE", "b", per_job_usd=0.25, on_exceed="reject")
        self.set("queue", "a", daily_usd=0)
        self.set("global", "", daily_usd=2)
        self.set("tag", "team:red", daily_usd=3, on_exceed="alert_only")
        self.assertNotEqual(first["id"], second["id"])
        self.assert_id(second["id"], "budget_")
        self.assertLess(first["id"], second["id"])
        rows = self.api.must(self.api.get("/api/v1/budgets"))
        self.assertEqual([(r["scope"], r["target"]) for r in rows],
                         [("global", "*"), ("queue", "a"), ("queue", "b"), ("tag", "team:red")])
        self.assertEqual({k: v for k, v in rows[2].items() if k not in ("id", "created_at")},
                         {"scope": "queue", "target": "b", "per_job_usd": 0.25,
                          "on_exceed": "reject"})
        self.assertEqual((rows[1]["on_exceed"], rows[1]["daily_usd"]), ("hold", 0))
        self.assertNotIn("per_job_usd", rows[1])
        for path in ("queue/a", "queue/b", "global/*", "tag/team=red", "queue/never"):
            self.assertEqual(self.api.must(self.api.delete("/api/v1/budgets/" + path)),
                             {"status": "deleted"})
        self.assertEqual(self.api.must(self.api.get("/api/v1/budgets")), [])

    def test_refusals(self):
        for body in ({}, {"scope": "galaxy", "target": "x", "daily_usd": 1},
                     {"scope": "queue", "daily_usd": 1}, {"scope": "tag", "daily_usd": 1},
                     {"scope": "tag", "target": "nothing", "daily_usd": 1},
                     {"scope": "tag", "target": ":red", "daily_usd": 1},
                     {"scope": "queue", "target": "x"},
                     {"scope": "queue", "target": "x", "daily_usd": None},
                     {"scope": "queue", "target": "x", "daily_usd": -1},
                     {"scope": "queue", "target": "x", "per_job_usd": -0.5},
                     {"scope": "queue", "target": "x", "daily_usd": 1, "on_exceed": "explode"},
                     {"scope": "queue", "target": "other::x", "daily_usd": 1}):
            with self.subTest(body):
                self.refused(self.api.post("/api/v1/budgets", body), 400, "BUDGET_ERROR")

    def test_refusals_name_the_field(self):
        for body, message in (({"target": self.queue, "per_job_usd": -1, "daily_usd": 1}, "per_job_usd must not be negative"),
                              ({"target": self.queue, "daily_usd": -1}, "daily_usd must not be negative"),
                              ({"target": "other::q", "daily_usd": 1}, "target: queue 'other::q' belongs to another")):
            elsewhere = self.api.with_headers(X_Corvo_Namespace="elsewhere")
            self.refused(elsewhere.post("/api/v1/budgets", {"scope": "queue", **body}), 400, "BUDGET_ERROR", message)

    def test_namespaces_have_their_own(self):
        self.set("queue", self.queue, daily_usd=0, on_exceed="reject")
        other = type(self).api.with_headers(X_Corvo_Namespace="elsewhere")
        self.assertEqual(other.must(other.get("/api/v1/budgets")), [])
        job = other.enqueue(self.queue)
        self.assertEqual(other.fetch(self.queue)["job_id"], job)


class Fetches(BudgetTest):
    def test_a_waiting_fetch_hears_that_a_budget_has_gone(self):
        jobs = [self.api.enqueue(self.queue) for _ in range(2)]
        self.set("queue", self.queue, daily_usd=0)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            other = self.server.client(**{"X-Corvo-Namespace": self.ns})
            waiting = pool.submit(other.fetch, self.queue)
            wait_until(lambda: self.api.fetches_waiting() == 1, "the fetch waits")
            self.assertEqual(self.api.state(jobs[0]), "held")
            self.api.must(self.api.delete(f"/api/v1/budgets/queue/{self.queue}"))
            self.assertEqual(waiting.result()["job_id"], jobs[1])

    def test_reject(self):
        job = self.api.enqueue(self.queue)
        self.set("queue", self.queue, daily_usd=0, on_exceed="reject")
        self.refused(self.fetch_answer(self.queue), 429, "BUDGET_EXCEEDED",
                     f'budget exceeded for queue "{self.queue}"')
        self.refused(self.fetch_answer("another", self.queue), 429, "BUDGET_EXCEEDED")
        self.assertEqual(self.api.state(job), "pending")
        self.api.must(self.api.delete(f"/api/v1/budgets/queue/{self.queue}"))
        self.assertEqual(self.api.fetch(self.queue)["job_id"], job)

    def test_hold(self):
        """A fetch holds one job, the oldest, however long it polls. It gets no job from the queue."""
        jobs = [self.api.enqueue(self.queue) for _ in range(3)]
        self.set("queue", self.queue, daily_usd=0)
        self.assertEqual(self.fetch_answer(self.queue).status, 204)
        self.assertEqual([self.api.state(job) for job in jobs], ["held", "pending", "pending"])
        self.assertEqual(self.api.job(jobs[0])["hold_reason"],
                         f"budget exceeded: queue:{self.queue}")
        self.assertEqual(self.fetch_answer(self.queue).status, 204)
        self.assertEqual([self.api.state(job) for job in jobs], ["held", "held", "pending"])
        other = unique("free")
        free = self.api.enqueue(other)
        self.assertEqual(self.api.fetch(self.queue, other)["job_id"], free)

    def test_alert_only(self):
        self.set("queue", self.queue, daily_usd=0.5, on_exceed="alert_only")
        self.spend(self.queue, 0.3)
        self.spend(self.queue, 0.3)
        self.spend(self.queue, 0.3)
        found = wait_until(lambda: [e for e in self.api.must(self.api.get(
            "/api/v1/cluster/events?limit=1000"))["events"] if e["type"] == "budget.exceeded"])
        self.assertEqual([e["data"]["reason"] for e in found],
                         [f"budget exceeded: queue:{self.queue}"])

    def test_what_was_spent_counts(self):
        """A budget is exceeded once daily_usd is reached. The global one adds up all queues of the namespace."""
        self.set("queue", self.queue, daily_usd=1, on_exceed="reject")
        self.set("global", "*", daily_usd=2, on_exceed="reject")
        self.spend(self.queue, 0.99)
        self.spend(self.queue, 0.01)
        self.refused(self.fetch_answer(self.queue), 429, "BUDGET_EXCEEDED")
        other = unique("other")
        self.spend(other, 0.99)
        self.spend(other, 0.01)
        self.refused(self.fetch_answer(unique("third")), 429, "BUDGET_EXCEEDED")

    def test_the_average_of_a_queue(self):
        self.set("queue", self.queue, per_job_usd=1, on_exceed="alert_only")
        self.spend(self.queue, 1)
        self.set("queue", self.queue, per_job_usd=1, on_exceed="reject")
        self.assertEqual(self.fetch_answer(self.queue).status, 204)
        self.set("queue", self.queue, per_job_usd=0.9, on_exceed="reject")
        self.refused(self.fetch_answer(self.queue), 429, "BUDGET_EXCEEDED")

    def test_what_was_spent_before_the_budget_counts(self):
        for scope, limits in (("queue", {"daily_usd": 1}), ("queue", {"per_job_usd": 1}),
                              ("global", {"daily_usd": 1}), ("global", {"per_job_usd": 1}),
                              ("tag", {"daily_usd": 1})):
            with self.subTest(scope, **limits):
                self.api = type(self).api.with_headers(X_Corvo_Namespace=unique("n").replace(".", "-"))
                self.spend(self.queue, 5, tags={"team": "red"})
                target = {"queue": self.queue, "global": "*", "tag": "team:red"}[scope]
                self.set(scope, target, on_exceed="reject", **limits)
                self.api.enqueue(self.queue, tags={"team": "red"})
                self.refused(self.fetch_answer(self.queue), 429, "BUDGET_EXCEEDED")

    def test_tags(self):
        """The budget applies to jobs that have the tag."""
        self.set("tag", "team=red", daily_usd=9)
        self.set("tag", "team:red", daily_usd=1)
        self.spend(self.queue, 1, tags={"team": "red"})
        red = self.api.enqueue(self.queue, tags={"team": "red"})
        blue = self.api.enqueue(self.queue, tags={"team": "blue"})
        self.assertEqual(self.api.fetch(self.queue)["job_id"], blue)
        self.assertEqual(self.api.job(red)["hold_reason"], "budget exceeded: tag:team:red")
        self.set("tag", "team:blue", daily_usd=0, on_exceed="reject")
        self.api.enqueue(self.queue, tags={"team": "blue"})
        self.refused(self.fetch_answer(self.queue), 429, "BUDGET_EXCEEDED")

    def test_tags_hold_one_job_of_a_fetch(self):
        """However long it polls, and however many jobs have the tag. Jobs behind them wait."""
        self.set("tag", "team=red", daily_usd=0)
        red = [self.api.enqueue(self.queue, tags={"team": "red"}) for _ in range(3)]
        plain = self.api.enqueue(self.queue)
        for states in (["held", "pending", "pending"], ["held", "held", "pending"]):
            self.assertEqual(self.fetch_answer(self.queue, self.queue).status, 204)
            self.assertEqual([self.api.state(job) for job in red], states)
        self.assertEqual(self.api.fetch(self.queue)["job_id"], plain)
        self.assertEqual(self.api.state(red[2]), "held")

    def test_a_refused_fetch_holds_nothing(self):
        other = unique("other")
        self.set("queue", self.queue, daily_usd=0)
        self.set("tag", "team=red", daily_usd=0, on_exceed="reject")
        job = self.api.enqueue(self.queue)
        self.api.enqueue(other, tags={"team": "red"})
        self.refused(self.fetch_answer(self.queue, other), 429, "BUDGET_EXCEEDED")
        self.assertEqual(self.api.state(job), "pending")

    def test_after_a_restart(self):
        self.set("queue", self.queue, daily_usd=1, on_exceed="reject")
        self.spend(self.queue, 1)
        self.server.terminate()
        self.server.start()
        self.refused(self.fetch_answer(self.queue), 429, "BUDGET_EXCEEDED")


class Reports(BudgetTest):
    def test_ack(self):
        """The lowest limit decides. reject leaves the job unchanged."""
        self.set("queue", self.queue, per_job_usd=1, on_exceed="reject")
        self.set("global", "*", per_job_usd=5)
        job = self.active()
        answer = self.api.post(f"/api/v1/ack/{job}", {"usage": usage(1.01)})
        self.refused(answer, 429, "BUDGET_EXCEEDED")
        self.assertEqual(self.api.state(job), "active")
        self.api.ack(job, usage=usage(1))
        self.set("queue", self.queue, per_job_usd=1, on_exceed="hold")
        self.api.must(self.api.delete(f"/api/v1/budgets/queue/{self.queue}"))
        self.set("queue", self.queue, per_job_usd=2, on_exceed="hold")
        job = self.active()
        self.api.ack(job, usage=usage(3))
        self.assertEqual(self.api.state(job), "completed")

    def test_acks_of_many(self):
        """ack/batch skips a job above its limit. AckBatch and streams complete it (rpc.md 10.5, 11.3)."""
        rows = (("/api/v1/ack/batch", lambda job: {"acks": [{"job_id": job, "usage": usage(2)}]}, 0),
                (RPC + "AckBatch", lambda job: {"items": [{"jobId": job, "usage": {"costUsd": 2}}]}, 1),
                (RPC + "StreamLifecycle", lambda job: {"acks": [{"jobId": job, "usage": {"costUsd": 2}}]}, 1))
        jobs = [self.active(self.queue) for _ in rows]
        self.set("queue", self.queue, per_job_usd=1, on_exceed="reject")
        for (path, body, acked), job in zip(rows, jobs):
            with self.subTest(path):
                answer = self.api.must(self.api.post(path, body(job), {"Content-Type": "application/json"}))
                self.assertEqual(answer.get("acked", 0), acked, answer)
                self.assertEqual(self.api.state(job), "completed" if acked else "active")

    def test_heartbeats_add_up(self):
        self.set("queue", self.queue, per_job_usd=1, on_exceed="hold")
        job = self.active()
        answer = self.api.heartbeat({job: {"usage": usage(0.6)}})
        self.assertEqual((answer["acked"], answer["jobs"][job].get("budget_exceeded")), ([job], None))
        answer = self.api.heartbeat({job: {"usage": usage(0.6)}})
        self.assertEqual(answer["jobs"][job], {"status": "cancel", "budget_exceeded": True})
        self.assertEqual(self.api.state(job), "held")

    def test_heartbeat_actions(self):
        for action, state, status in (("reject", "cancelled", "cancel"),
                                      ("alert_only", "active", "ok")):
            with self.subTest(action):
                queue = unique("beat")
                self.set("queue", queue, per_job_usd=0.5, on_exceed=action)
                job = self.active(queue)
                answer = self.api.heartbeat({job: {"usage": usage(0.6)}})["jobs"][job]
                self.assertEqual((answer["status"], answer["budget_exceeded"]), (status, True))
                self.assertEqual(self.api.state(job), state)


if __name__ == "__main__":
    unittest.main()
