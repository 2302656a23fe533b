"""Agent jobs (contract 6.12 to 6.14, 4.4, 4.5): iterations, guard rails, replay."""
import unittest

from harness import ApiTest, unique


class AgentTest(ApiTest):
    def start(self, **agent):
        return self.api.enqueue(self.queue, {"task": "x"}, agent=agent)

    def turn(self, status="continue", **fields):
        """Claim and ack a job. Return its document afterwards."""
        job = self.api.fetch(self.queue)
        self.api.ack(job["job_id"], agent_status=status, **fields)
        return self.api.job(job["job_id"])

    def iterations(self, job_id):
        answer = self.api.must(self.api.get(f"/api/v1/jobs/{job_id}/iterations"))
        for row in answer["iterations"]:
            self.assertEqual(row.pop("job_id"), job_id)
            self.assert_time(row.pop("created_at"))
        ids = [row.pop("id") for row in answer["iterations"]]
        self.assertEqual(ids, sorted(set(ids)))
        return answer["iterations"]


class Loop(AgentTest):
    def test_continues(self):
        """24.28 fetch shows iteration 1; continue with checkpoint → pending, 2, checkpoint."""
        job_id = self.start(max_iterations=5, max_cost_usd=1, iteration_timeout="10m")
        job = self.api.fetch(self.queue)
        self.assertEqual(job["agent"], {"max_iterations": 5, "max_cost_usd": 1,
                                        "iteration_timeout": "10m", "iteration": 1})
        self.api.ack(job_id, agent_status="continue", checkpoint={"step": 1})
        after = self.api.job(job_id)
        self.assertEqual((after["state"], after["agent"]["iteration"], after["checkpoint"],
                          after["attempt"]), ("pending", 2, {"step": 1}, 0))
        for field in ("worker_id", "lease_expires_at", "completed_at"):
            self.assertNotIn(field, after)
        job = self.api.fetch(self.queue)
        self.assertEqual((job["attempt"], job["agent"]["iteration"], job["checkpoint"]),
                         (1, 2, {"step": 1}))

    def test_iterations_beyond_the_limit_are_held(self):
        """24.28 with max_iterations 2 the second continue → held with a reason; again later."""
        job_id = self.start(max_iterations=2)
        self.assertEqual(self.turn()["state"], "pending")
        held = self.turn()
        self.assertEqual((held["state"], held["hold_reason"], held["agent"]["iteration"]),
                         ("held", "max_iterations exceeded (2)", 3))
        self.not_claimable()
        self.api.act(job_id, "approve")
        self.assertNotIn("hold_reason", self.api.job(job_id))
        again = self.turn()
        self.assertEqual((again["state"], again["agent"]["iteration"]), ("held", 4))
        self.api.act(job_id, "approve")
        self.assertEqual(self.turn("done")["state"], "completed")

    def test_cost_beyond_the_limit_is_held(self):
        """6.12: total > max → max_cost_usd exceeded (<total> > <max>) with 4 decimals."""
        self.start(max_cost_usd=1)
        first = self.turn(usage={"cost_usd": 0.75})
        self.assertEqual((first["state"], first["agent"]["total_cost_usd"]), ("pending", 0.75))
        held = self.turn(usage={"cost_usd": 0.5})
        self.assertEqual((held["state"], held["hold_reason"], held["agent"]["total_cost_usd"]),
                         ("held", "max_cost_usd exceeded (1.2500 > 1.0000)", 1.25))

    def test_a_limit_that_is_just_reached_holds_nobody(self):
        self.start(max_cost_usd=1)
        self.assertEqual(self.turn(usage={"cost_usd": 1.0})["state"], "pending")

    def test_limits_below_zero_are_none(self):
        """6.12: negative limits become 0 (= unlimited); any object makes an agent job."""
        for cost in (-1, -2000000, -1e300):
            with self.subTest(cost=cost):
                self.queue = unique("negative")
                self.start(max_iterations=-3, max_cost_usd=cost)
                job = self.turn(usage={"cost_usd": 100})
                self.assertEqual((job["state"], job["agent"]),
                                 ("pending", {"iteration": 2, "total_cost_usd": 100}))

    def test_a_limit_that_is_too_large_is_refused(self):
        answer = self.api.post("/api/v1/enqueue", {"queue": self.queue,
                                                   "agent": {"max_cost_usd": 1000001}})
        self.refused(answer, 400, "VALIDATION_ERROR", "expected at most 1000000, got 1000001")

    def test_hold(self):
        """6.12: hold leaves iteration unchanged; 8.3: hold_reason."""
        job_id = self.start()
        held = self.turn("HOLD", hold_reason="ask a human", checkpoint=[1])
        self.assertEqual((held["state"], held["hold_reason"], held["agent"]["iteration"],
                          held["checkpoint"]), ("held", "ask a human", 1, [1]))
        self.api.act(job_id, "approve")
        self.assertEqual(self.api.fetch(self.queue)["agent"]["iteration"], 1)

    def test_words(self):
        """6.12: "" and done → completed; case-insensitive; other values → 400 ACK_ERROR."""
        for word in ("", "done", "Done"):
            self.start()
            self.assertEqual(self.turn(word)["state"], "completed")
        job_id = self.active(agent={})
        self.refused(self.api.post(f"/api/v1/ack/{job_id}", {"agent_status": "later"}), 400,
                     "ACK_ERROR")
        self.assertEqual(self.api.state(job_id), "active")

    def test_a_plain_job_has_no_agent(self):
        """4.1: agent omitted for non-agent jobs; agent_status on one → 400 ACK_ERROR."""
        job_id = self.active()
        self.assertNotIn("agent", self.api.job(job_id))
        for word in ("continue", "hold", "done"):
            self.refused(self.api.post(f"/api/v1/ack/{job_id}", {"agent_status": word}), 400,
                         "ACK_ERROR")
        self.api.ack(job_id, agent_status="")

    def test_retries_count_per_iteration(self):
        """5.3: ack → pending: attempt = 0, so retries count per iteration."""
        self.api.enqueue(self.queue, agent={}, max_retries=2, retry_backoff="none")
        for _ in range(4):
            self.turn()
        job = self.api.fetch(self.queue)
        self.assertEqual(self.api.fail(job["job_id"])["status"], "retrying")

    def test_retries_count_per_iteration_behind_a_guardrail_too(self):
        """26: a job held by a guardrail keeps attempt, until it goes back to pending."""
        job_id = self.api.enqueue(self.queue, agent={"max_iterations": 1}, max_retries=2,
                                  retry_backoff="none")
        held = self.turn()
        self.assertEqual((held["state"], held["agent"]["iteration"], held["attempt"]),
                         ("held", 2, 1))
        self.api.act(job_id, "approve")
        self.assertEqual(self.api.fetch(self.queue)["attempt"], 1)
        self.assertEqual(self.api.fail(job_id)["status"], "retrying")

    def test_a_hold_that_was_asked_for_keeps_the_attempts(self):
        """5.3: ack → held changes no attempt; 6.12: hold leaves the iteration unchanged."""
        self.start()
        held = self.turn("hold", hold_reason="wait")
        self.assertEqual((held["state"], held["agent"]["iteration"], held["attempt"]),
                         ("held", 1, 1))

    def test_the_key_is_kept_between_iterations(self):
        """5.3: ack → pending and held: unique lock kept."""
        job_id = self.api.enqueue(self.queue, agent={}, unique_key="u")
        for status in ("continue", "hold"):
            self.turn(status)
            answer = self.api.post("/api/v1/enqueue", {"queue": self.queue, "unique_key": "u"})
            self.assertEqual((answer.status, answer.json["job_id"]), (200, job_id))

    def test_an_iteration_that_takes_too_long(self):
        """6.12: iteration timeout: failed with that error, and its worker sees cancel."""
        job_id = self.api.enqueue(self.queue, agent={"iteration_timeout": "300ms"}, max_retries=1)
        self.api.fetch(self.queue)
        self.api.heartbeat({job_id: {}})
        self.api.wait_for_state(job_id, "dead")
        self.assertEqual(self.api.job(job_id)["errors"][-1]["error"], "iteration timeout")
        self.assertEqual(self.api.heartbeat({job_id: {}})["canceled"], [job_id])

    def test_a_timeout_that_is_none(self):
        """6.12: stored and returned; enforced only when parsable."""
        job_id = self.start(iteration_timeout="a while")
        self.assertEqual(self.api.job(job_id)["agent"]["iteration_timeout"], "a while")


class Iterations(AgentTest):
    def test_rows(self):
        """24.29 statuses continue, done in order; unknown ack fields ignored."""
        job_id = self.start()
        usage = {"input_tokens": 10, "output_tokens": 5, "cache_creation_tokens": 2,
                 "cache_read_tokens": 1, "model": " m-1 ", "provider": "p", "cost_usd": 0.25}
        self.turn(checkpoint={"b": 1, "a": 2}, usage=usage, trace={"x": 1}, result="partial")
        self.turn("hold", hold_reason="wait")
        self.api.act(job_id, "approve")
        self.turn("done", result={"r": 1})
        self.assertEqual(self.iterations(job_id), [
            {"iteration": 1, "status": "continue", "checkpoint": {"b": 1, "a": 2},
             "result": "partial", "input_tokens": 10, "output_tokens": 5,
             "cache_creation_tokens": 2, "cache_read_tokens": 1, "model": "m-1", "provider": "p",
             "cost_usd": 0.25},
            {"iteration": 2, "status": "hold", "checkpoint": {"b": 1, "a": 2},
             "hold_reason": "wait"},
            {"iteration": 2, "status": "done", "checkpoint": {"b": 1, "a": 2},
             "result": {"r": 1}}])

    def test_a_guard_rail_writes_a_hold(self):
        """6.12: with a reason → held (iteration row status hold)."""
        job_id = self.start(max_iterations=1)
        self.turn()
        self.assertEqual(self.iterations(job_id), [
            {"iteration": 1, "status": "hold", "hold_reason": "max_iterations exceeded (1)"}])

    def test_negative_usage_is_zero(self):
        """6.13: negatives → 0."""
        for cost in (-1, -2000000, -1e300):
            with self.subTest(cost=cost):
                self.queue = unique("negative")
                job_id = self.start()
                job = self.turn(usage={"input_tokens": -5, "cost_usd": cost, "output_tokens": 3})
                self.assertNotIn("total_cost_usd", job["agent"])
                self.assertEqual(self.iterations(job_id),
                                 [{"iteration": 1, "status": "continue", "output_tokens": 3}])

    def test_heartbeat_usage_is_not_a_cost_of_the_agent(self):
        """6.12: heartbeat usage does not touch total_cost_usd."""
        job_id = self.start(max_cost_usd=1)
        self.api.fetch(self.queue)
        self.api.heartbeat({job_id: {"usage": {"cost_usd": 5}}})
        self.assertNotIn("total_cost_usd", self.api.job(job_id)["agent"])


class Replay(AgentTest):
    def replay(self, job_id, body=None, query=""):
        return self.api.post(f"/api/v1/jobs/{job_id}/replay{query}", body)

    def test_begins_after_an_iteration(self):
        """24.30 replay from 1 → 201 new id, checkpoint equals iteration 1's text exactly."""
        source = self.api.enqueue(self.queue, {"task": 1}, priority="high", tags={"a": "b"},
                                  agent={"max_iterations": 9, "max_cost_usd": 2})
        self.api.fetch(self.queue)
        checkpoint = '{"n":12345678901234567890,"f":1.50}'
        self.api.must(self.api.post(f"/api/v1/ack/{source}", (
            f'{{"agent_status":"continue","checkpoint":{checkpoint},'
            '"usage":{"cost_usd":0.5}}').encode()))
        self.turn(checkpoint={"later": True})
        before = self.api.job(source)
        answer = self.replay(source, {"from": 1})
        self.assertEqual(answer.status, 201)
        self.assertEqual((answer.json["status"], answer.json["unique_existing"]),
                         ("pending", False))
        new = self.api.get(f"/api/v1/jobs/{answer.json['job_id']}")
        self.assertEqual(new.raw("checkpoint"), checkpoint)
        job = new.json
        self.assertNotEqual(job["id"], source)
        self.assertEqual((job["queue"], job["payload"], job["priority"], job["tags"], job["state"]),
                         (self.queue, {"task": 1}, 1, {"a": "b"}, "pending"))
        self.assertEqual(job["agent"], {"max_iterations": 9, "max_cost_usd": 2, "iteration": 1})
        self.assertEqual(self.api.job(source), before)
        self.assertEqual(self.iterations(job["id"]), [])

    def test_an_iteration_without_a_checkpoint(self):
        """6.14: if that row has none: none."""
        source = self.start()
        self.turn()
        answer = self.api.must(self.replay(source, {"from": 1}), 201)
        job_id = answer["job_id"]
        self.assertEqual(answer["job"], {"id": job_id, "queue": self.queue, "status": "pending"})
        self.assertNotIn("checkpoint", self.api.job(job_id))

    def test_from_may_be_in_the_query(self):
        """9: replay also accepts ?from=N."""
        source = self.start()
        self.turn(checkpoint=[7])
        job_id = self.api.must(self.replay(source, query="?from=1"), 201)["job_id"]
        self.assertEqual(self.api.job(job_id)["checkpoint"], [7])

    def test_refusals(self):
        """9: from must be > 0; REPLAY_ERROR for other jobs and missing iterations."""
        source = self.start()
        self.turn()
        for body in ({}, {"from": 0}, {"from": -1}, None):
            self.refused(self.replay(source, body), 400, "VALIDATION_ERROR", "from must be > 0")
        self.refused(self.replay(source, query="?from=x"), 400, "VALIDATION_ERROR",
                     "from must be > 0")
        self.refused(self.replay(source, {"from": 2}), 400, "REPLAY_ERROR")
        self.refused(self.replay(source, {"from": "1"}), 400, "PARSE_ERROR")
        plain = self.api.enqueue(unique("plain"))
        self.refused(self.replay(plain, {"from": 1}), 400, "REPLAY_ERROR")


if __name__ == "__main__":
    unittest.main()
