"""Chains (contract 6.8): successive steps and their handlers."""
import unittest

from harness import ApiTest, unique


class ChainTest(ApiTest):
    def setUp(self):
        super().setUp()
        self.steps = [unique("step") for _ in range(3)]
        self.exit, self.failure = unique("exit"), unique("failure")

    def start(self, count=3, payload=None, fields=None, **chain):
        """Enqueue a chain over the first queues. Return the id of step 0."""
        steps = [{"queue": q} for q in self.steps[:count]]
        return self.api.enqueue(self.steps[0], payload, chain={"steps": steps, **chain},
                                **(fields or {}))

    def finish(self, queue, **ack):
        """Claim and ack the queue's job. Return the job as fetched."""
        job = self.api.fetch(queue)
        self.api.ack(job["job_id"], **ack)
        return job

    def handler(self, queue, **payload):
        return {"queue": queue, **({"payload": payload} if payload else {})}


class Steps(ChainTest):
    def test_each_ack_creates_the_next(self):
        """24.24 three steps: chain_id equal, chain_step 0,1,2; previous id and result, own keys."""
        steps = [{"queue": self.steps[0], "payload": {"ignored": True}},
                 {"queue": self.steps[1], "payload": {"extra": "data"}},
                 {"queue": self.steps[2], "payload": {"previous_result": "mine", "z": 1}}]
        first = self.api.enqueue(self.steps[0], {"own": 1}, chain={"steps": steps},
                                 tags={"a": "b"}, priority="critical")
        document = self.api.job(first)
        self.assert_id(document["chain_id"], "chn_")
        self.assertEqual((document["chain_step"], document["chain_config"]), (0, {"steps": steps}))
        self.assertEqual(self.finish(self.steps[0], result={"pages": 3})["payload"], {"own": 1})
        second = self.finish(self.steps[1], step_status="CONTINUE", result=None)
        self.assertEqual(second["payload"], {"previous_job_id": first,
                                             "previous_result": {"pages": 3}, "extra": "data"})
        third = self.finish(self.steps[2])
        self.assertEqual(third["payload"], {"previous_job_id": second["job_id"],
                                            "previous_result": "mine", "z": 1})
        for n, job_id in enumerate((second["job_id"], third["job_id"]), 1):
            job = self.api.job(job_id)
            self.assertEqual((job["chain_id"], job["chain_step"], job["chain_config"]),
                             (document["chain_id"], n, document["chain_config"]))
            self.assertEqual((job["priority"], job["max_retries"], job["retry_backoff"],
                              job["retry_base_delay_ms"], job["retry_max_delay_ms"]),
                             (2, 3, "exponential", 5000, 600000))
            self.assertNotIn("tags", job)
            self.assertNotIn("parent_id", job)

    def test_results_that_are_null_or_absent(self):
        """6.8: previous_result only if the ack carried one; explicit null counts."""
        self.start()
        self.finish(self.steps[0], result=None)
        payload = self.finish(self.steps[1])["payload"]
        self.assertIn("previous_result", payload)
        self.assertIsNone(payload["previous_result"])
        self.assertNotIn("previous_result", self.api.fetch(self.steps[2])["payload"])

    def test_results_survive_byte_for_byte(self):
        self.start(2)
        job = self.api.fetch(self.steps[0])
        result = '{"n":123456789012345678901234567890,"b":1.10,"a":"\\u00e4"}'
        self.api.must(self.api.post(f"/api/v1/ack/{job['job_id']}",
                                    f'{{"result":{result}}}'.encode()))
        answer = self.api.post("/api/v1/fetch", {"queues": [self.steps[1]]})
        self.assertIn(result.encode(), answer.body)

    def test_the_first_payload(self):
        """6.8: steps[0].payload is used only when the request has none."""
        steps = [{"queue": self.steps[0], "payload": {"from": "step"}}, {"queue": self.steps[1]}]
        job_id = self.api.enqueue(self.steps[0], chain={"steps": steps})
        self.assertEqual(self.api.job(job_id)["payload"], {"from": "step"})
        job_id = self.api.enqueue(self.steps[0], {"from": "me"}, chain={"steps": steps})
        self.assertEqual(self.api.job(job_id)["payload"], {"from": "me"})

    def test_payloads_that_are_no_objects_are_ignored(self):
        """6.8: non-object step payloads are ignored; null = absent (21, Go)."""
        for payload in ([1], "text", 5, None):
            with self.subTest(payload):
                first, second = unique("first"), unique("second")
                job_id = self.api.enqueue(first, chain={"steps": [
                    {"queue": first, "payload": None}, {"queue": second, "payload": payload}]})
                self.finish(first)
                self.assertEqual(self.api.fetch(second)["payload"], {"previous_job_id": job_id})

    def test_an_agent_step_advances_when_it_is_done(self):
        self.start(2, fields={"agent": {}})
        job = self.api.fetch(self.steps[0])
        self.api.ack(job["job_id"], agent_status="continue")
        self.assertNotIn(self.steps[1], self.api.queues())
        self.finish(self.steps[0], agent_status="done")
        self.assertEqual(self.api.fetch(self.steps[1])["payload"],
                         {"previous_job_id": job["job_id"]})

    def test_a_raw_definition_is_checked_like_any(self):
        """7.1: its steps create jobs like those of a chain. Members that the server does not know are kept."""
        first, second = ({"queue": q} for q in self.steps[:2])

        def raw(**config):
            body = {"queue": self.steps[0], "chain_id": "c", "chain_step": 0, "chain_config": config}
            return self.api.post("/api/v1/enqueue", body)

        url = "http://127.0.0.1:1/"
        for wrong, code, what in (
                ({"steps": [first, {"queue": 7}]}, "PARSE_ERROR", "chain_config.steps[1].queue"),
                ({"steps": "x"}, "PARSE_ERROR", "chain_config.steps"),
                ({"steps": [first] * 101}, "VALIDATION_ERROR", "chain_config.steps"),
                ({"steps": [first, {**second, "push": {"url": "ftp://x"}}]}, "VALIDATION_ERROR",
                 "chain_config.steps[1]: push.url"),
                ({"steps": [first], "on_exit": {**second, "push": {"url": url, "headers": {"a\nb": "c"}}}},
                 "VALIDATION_ERROR", "chain_config.on_exit: push.headers"),
                ({"steps": [first, second], "on_failure": 5}, "PARSE_ERROR", "chain_config.on_failure"),
                ({"steps": [first, second], "on_failure": {"queue": ""}}, "VALIDATION_ERROR", "chain_config.on_failure")):
            with self.subTest(wrong):
                self.refused(raw(**wrong), 400, code, what)
        self.assertNotIn(self.steps[0], self.api.queues())
        steps = [first, {**second, "payload": {"a": 1}, "mine": "x"}]
        for sent, stored in (({"on_failure": "stop"}, {}), ({"on_failure": "continue"}, {"on_failure": "continue"}),
                             ({"on_failure": self.failure}, {"on_failure": {"queue": self.failure}}),
                             ({"on_failure": {"queue": self.failure, "m": [1]}, "mine": [1], "on_exit": None},
                              {"on_failure": {"queue": self.failure, "m": [1]}, "mine": [1]})):
            job_id = self.api.must(raw(steps=steps, **sent), 201)["job_id"]
            self.assertEqual(self.api.job(job_id)["chain_config"], {"steps": steps, **stored})
            self.finish(self.steps[0])
            self.assertEqual(self.finish(self.steps[1])["payload"], {"previous_job_id": job_id, "a": 1})

    def test_raw_chain_fields_are_ignored_beside_a_chain(self):
        """7.1: chain_id, chain_step, chain_config are ignored when chain is present."""
        job_id = self.start(2, fields={"chain_id": "mine", "chain_step": 7,
                                       "chain_config": {"steps": []}})
        job = self.api.job(job_id)
        self.assert_id(job["chain_id"], "chn_")
        self.assertEqual((job["chain_step"], len(job["chain_config"]["steps"])), (0, 2))


class Exit(ChainTest):
    def test_exit_skips_the_rest(self):
        """24.25 exit → remaining steps not created, on_exit created, with its reason."""
        self.start(on_exit=self.handler(self.exit, note="bye"))
        first = self.finish(self.steps[0], step_status="exit", result=[1], exit_reason="enough")
        handler = self.api.fetch(self.exit)
        self.assertEqual(handler["payload"], {"previous_job_id": first["job_id"],
                                              "previous_result": [1], "exit_reason": "enough",
                                              "note": "bye"})
        document = self.api.job(handler["job_id"])
        self.assertEqual(document["chain_step"], -1)
        self.assertEqual(document["chain_id"], self.api.job(first["job_id"])["chain_id"])
        self.assertNotIn(self.steps[1], self.api.queues())

    def test_exit_without_a_handler(self):
        """24.25 no on_exit → nothing."""
        self.start()
        self.finish(self.steps[0], step_status="Exit")
        self.assertNotIn(self.steps[1], self.api.queues())

    def test_the_last_step_exits(self):
        """24.25 last step continue → on_exit created."""
        self.start(2, on_exit=self.handler(self.exit))
        self.finish(self.steps[0])
        last = self.finish(self.steps[1], result="end")
        self.assertEqual(self.api.fetch(self.exit)["payload"],
                         {"previous_job_id": last["job_id"], "previous_result": "end"})

    def test_a_handler_triggers_nothing(self):
        """6.8: handlers (negative step) never trigger anything."""
        self.start(2, on_exit=self.handler(self.exit), on_failure=self.handler(self.failure))
        self.finish(self.steps[0], step_status="exit")
        self.finish(self.exit)
        self.not_claimable(self.exit)
        self.assertNotIn(self.failure, self.api.queues())
        self.assertNotIn(self.steps[1], self.api.queues())


class Failure(ChainTest):
    def test_a_dead_step_calls_the_handler(self):
        """24.26 step with max_retries 0 fails → on_failure job; failing that creates nothing."""
        self.start(fields={"max_retries": 0}, on_failure=self.handler(self.failure, notify="ops"))
        job = self.api.fetch(self.steps[0])
        self.api.fail(job["job_id"], "model refused")
        handler = self.api.fetch(self.failure)
        self.assertEqual(handler["payload"], {"failed_job_id": job["job_id"], "failed_step": 0,
                                              "error": "model refused", "notify": "ops"})
        self.assertEqual(self.api.job(handler["job_id"])["chain_step"], -2)
        for _ in range(3):
            self.api.fail(handler["job_id"])
            if self.api.state(handler["job_id"]) == "dead":
                break
            self.api.act(handler["job_id"], "hold")
            self.api.act(handler["job_id"], "approve")
            self.api.fetch(self.failure)
        self.assertEqual(self.api.state(handler["job_id"]), "dead")
        self.not_claimable(self.failure)
        self.assertEqual(self.api.queue(self.failure)["enqueued"], 1)

    def test_a_failure_that_is_retried_calls_nothing(self):
        self.start(fields={"max_retries": 2, "retry_backoff": "none"},
                   on_failure=self.handler(self.failure))
        job = self.api.fetch(self.steps[0])
        self.api.fail(job["job_id"])
        self.assertNotIn(self.failure, self.api.queues())
        self.finish(self.steps[0])
        self.assertEqual(self.api.queue(self.steps[1])["pending"], 1)

    def test_rejected_and_expired_steps_call_the_handler(self):
        """6.8: on_failure also on reject and expire."""
        job_id = self.start(on_failure=self.handler(self.failure))
        self.api.act(job_id, "hold")
        self.api.act(job_id, "reject")
        payload = self.api.fetch(self.failure)["payload"]
        self.assertEqual((payload["failed_job_id"], payload["failed_step"]), (job_id, 0))
        self.assertIn("rejected", payload["error"])
        job_id = self.start(fields={"expire_after": "10ms"}, on_failure=self.handler(self.failure))
        payload = self.api.fetch(self.failure)["payload"]
        self.assertEqual(payload, {"failed_job_id": job_id, "failed_step": 0,
                                   "error": "job expired"})

    def test_forms_of_on_failure(self):
        """24.27 on_failure: "queue.name" accepted; 6.8: null, "", "stop", "continue"."""
        for form, stored in ((self.failure, {"queue": self.failure}), (None, None), ("", None),
                             ("stop", None), ("continue", "continue")):
            with self.subTest(form):
                job_id = self.start(on_failure=form, on_exit=None)
                config = self.api.job(job_id)["chain_config"]
                self.assertEqual(config.get("on_failure"), stored)
                self.assertNotIn("on_exit", config)
                self.api.must(self.api.delete(f"/api/v1/jobs/{job_id}"))

    def test_a_queue_name_is_a_handler(self):
        """6.8: any other string → handler queue name."""
        self.start(fields={"max_retries": 0}, on_failure=self.failure)
        job = self.api.fetch(self.steps[0])
        self.api.fail(job["job_id"], "e")
        self.assertEqual(self.api.fetch(self.failure)["payload"],
                         {"failed_job_id": job["job_id"], "failed_step": 0, "error": "e"})

    def test_continue_goes_on_after_a_failure(self):
        """6.8: "continue" → advance to the next step with the on_failure fields merged in."""
        self.start(2, fields={"max_retries": 0}, on_failure="continue")
        job = self.api.fetch(self.steps[0])
        self.api.fail(job["job_id"], "e")
        payload = self.api.fetch(self.steps[1])["payload"]
        self.assertEqual({k: payload[k] for k in ("failed_job_id", "failed_step", "error")},
                         {"failed_job_id": job["job_id"], "failed_step": 0, "error": "e"})


class Definitions(ChainTest):
    def test_step_status_on_a_plain_job(self):
        """24.27 step_status on a plain job → 200."""
        for word in ("continue", "exit"):
            self.api.ack(self.active(), step_status=word)

    def test_what_is_refused(self):
        """6.8: ≥ 2 steps, each with a queue, the first equal to the job's; handlers have one."""
        q = self.steps
        for chain in ({"steps": []}, {"steps": [{"queue": q[0]}]},
                      {"steps": [{"queue": q[0]}, {"queue": ""}]},
                      {"steps": [{"queue": q[0]}, {}]},
                      {"steps": [{"queue": q[0]}, {"queue": None}]},
                      {"steps": [{"queue": q[1]}, {"queue": q[2]}]},
                      {"steps": [{"queue": q[0]}, {"queue": q[1]}], "on_exit": {}},
                      {"steps": [{"queue": q[0]}, {"queue": q[1]}], "on_failure": {"queue": ""}},
                      {"steps": [{"queue": q[0]}] * 101},
                      {"steps": [{"queue": q[0]}, {"queue": "x" * 256}]},
                      {"steps": [{"queue": q[0]}, {"queue": "a\nb"}]}):
            with self.subTest(str(chain)[:100]):
                answer = self.api.post("/api/v1/enqueue", {"queue": q[0], "chain": chain})
                self.refused(answer, 400, "VALIDATION_ERROR")
        answer = self.api.post("/api/v1/enqueue", {
            "queue": q[0], "chain": {"steps": [{"queue": q[0]}, {"queue": ""}]}})
        self.refused(answer, 400, "VALIDATION_ERROR", "chain step has empty queue")
        self.assertNotIn(q[0], self.api.queues())

    def test_wrong_types(self):
        two = [{"queue": self.steps[0]}, {"queue": self.steps[1]}]
        for chain in ([], "x", {"steps": "x"}, {"steps": {}}, {"steps": ["a", "b"]},
                      {"steps": [{"queue": 5}, {"queue": 6}]}, {"steps": two, "on_exit": "queue"},
                      {"steps": two, "on_exit": 5}, {"steps": two, "on_failure": 5},
                      {"steps": two, "on_failure": []}):
            with self.subTest(str(chain)):
                answer = self.api.post("/api/v1/enqueue",
                                       {"queue": self.steps[0], "chain": chain})
                self.refused(answer, 400, "PARSE_ERROR", "invalid JSON: chain")

    def test_a_hundred_steps(self):
        """1.5: chain steps ≤ 100."""
        steps = [{"queue": self.queue}] * 100
        job_id = self.api.enqueue(self.queue, chain={"steps": steps})
        self.assertEqual(len(self.api.job(job_id)["chain_config"]["steps"]), 100)
        self.finish(self.queue)
        self.assertEqual(self.api.job(self.api.fetch(self.queue)["job_id"])["chain_step"], 1)

    def test_unknown_members_are_dropped(self):
        """6.8: the stored definition has queue and payload only."""
        steps = [{"queue": self.steps[0], "x": 1}, {"queue": self.steps[1], "payload": None}]
        job_id = self.api.enqueue(self.steps[0], chain={"steps": steps, "y": 2})
        self.assertEqual(self.api.job(job_id)["chain_config"],
                         {"steps": [{"queue": self.steps[0]}, {"queue": self.steps[1]}]})


if __name__ == "__main__":
    unittest.main()
