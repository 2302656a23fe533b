"""Client compatibility (contract 21): the formats that released SDKs, the UI and the CLI need."""
import json
import unittest

from harness import ApiTest, unique


class Sdk(ApiTest):
    def test_typed_heartbeat_results(self):
        """Go, Rust, Haskell: acked, unknown and canceled are always arrays."""
        job_id = self.active()
        for body in ({"jobs": {job_id: {}}}, {"jobs": {}}, {}):
            answer = self.api.must(self.api.post("/api/v1/heartbeat", body))
            for key in ("acked", "unknown", "canceled"):
                self.assertIsInstance(answer[key], list)
            self.assertIsInstance(answer["jobs"], dict)

    def test_heartbeat_progress_as_a_number(self):
        """Go, Rust: heartbeat progress is an integer."""
        job_id = self.active()
        self.assertEqual(self.api.heartbeat({job_id: {"progress": 50}})["acked"], [job_id])
        self.assertEqual(self.api.job(job_id)["progress"], 50)

    def test_null_in_a_string_changes_nothing(self):
        """26.1: a list of jobs contains JSON in strings. There, too, null means that the value was not supplied."""
        job_id = self.active()
        for value in ('{"at": 1}', "null", " null "):
            self.api.must(self.api.post("/api/v1/heartbeat", {
                "jobs": [{"job_id": job_id, "progress": value, "checkpoint": value}]}))
            job = self.api.job(job_id)
            self.assertEqual((job["progress"], job["checkpoint"]), ({"at": 1}, {"at": 1}))

    def test_fail_says_which_attempt(self):
        """Go, Rust: fail result attempt."""
        self.assertEqual(self.api.fail(self.active())["attempt"], 1)

    def test_what_the_go_client_sends(self):
        """Go: empty durations, 1h0m0s, zone offsets, null payloads of steps."""
        following = unique("next")
        body = {"queue": self.queue, "payload": {"a": 1}, "priority": "", "unique_key": "",
                "max_retries": 3, "retry_backoff": "exponential", "retry_base_delay": "",
                "retry_max_delay": "", "expire_after": "1h0m0s",
                "scheduled_at": "2099-06-01T12:00:00.123456789+02:00", "tags": None,
                "chain": {"steps": [{"queue": self.queue, "payload": None},
                                    {"queue": following, "payload": None}],
                          "on_failure": "", "on_exit": None}}
        job = self.api.job(self.api.must(self.api.post("/api/v1/enqueue", body), 201)["job_id"])
        self.assertEqual((job["retry_base_delay_ms"], job["retry_max_delay_ms"],
                          job["scheduled_at"], job["state"]),
                         (5000, 600000, "2099-06-01T10:00:00.123456789Z", "scheduled"))
        self.assertEqual(job["chain_config"],
                         {"steps": [{"queue": self.queue}, {"queue": following}]})

    def test_what_the_python_client_sends(self):
        """Python: nested on_exit: null, on_failure: null; headers that name the client."""
        client = self.api.with_headers(X_Corvo_Client_Name="corvo-python",
                                       X_Corvo_Client_Version="0.3.0")
        job_id = client.enqueue(self.queue, {}, chain={
            "steps": [{"queue": self.queue, "payload": {}}, {"queue": "b", "payload": {}}],
            "on_exit": None, "on_failure": None})
        self.assertEqual(set(client.job(job_id)["chain_config"]), {"steps"})

    def test_nothing_to_fetch_is_204(self):
        """Go, Rust: a 204, never a 200 with an empty object."""
        answer = self.api.post("/api/v1/fetch", {"queues": [self.queue], "timeout": 1})
        self.assertEqual((answer.status, answer.body), (204, b""))

    def test_an_ack_without_anything(self):
        """Worker SDKs: ack unhandled queues with {}; fail with worker_shutdown on drain."""
        self.assertEqual(self.api.ack(self.active()), {"status": "ok"})
        self.assertEqual(self.api.fail(self.active(), "worker_shutdown")["status"], "retrying")

    def test_the_batch_answer_has_a_batch_id(self):
        """Haskell: batch_id key required in the batch answer; may be ""."""
        answer = self.api.enqueue_batch([{"queue": self.queue}])
        self.assertEqual(answer["batch_id"], "")
        answer = self.api.enqueue_batch([{"queue": self.queue}], batch={"callback_queue": "c"})
        self.assertTrue(answer["batch_id"].startswith("batch_"))

    def test_server_timing(self):
        """Go: Server-Timing with dur=."""
        answer = self.api.post("/api/v1/enqueue", {"queue": self.queue})
        self.assertGreaterEqual(float(answer.headers["server-timing"].partition("dur=")[2]), 0)

    def test_the_default_lease(self):
        """Worker SDKs: heartbeat every 15 s: the default lease is at least 30 s."""
        self.api.enqueue(self.queue)
        self.assertGreaterEqual(self.api.fetch(self.queue)["lease_duration"], 30)

    def test_payload_too_large_is_special(self):
        """All: PAYLOAD_TOO_LARGE is matched by every SDK."""
        answer = self.api.post("/api/v1/enqueue", {"queue": self.queue, "payload": "x" * 262144})
        self.refused(answer, 413, "PAYLOAD_TOO_LARGE")

    def test_counts_are_whole_numbers(self):
        """Rust: counts are unsigned integers."""
        self.api.enqueue(self.queue)
        entry = self.api.queue(self.queue)
        for key in ("pending", "active", "held", "completed", "dead", "scheduled", "retrying",
                    "enqueued", "failed"):
            self.assertIs(type(entry[key]), int)
            self.assertGreaterEqual(entry[key], 0)


class Ui(ApiTest):
    def test_queues_of_a_worker_are_a_text(self):
        """UI: worker queues string, which it parses as JSON."""
        self.api.enqueue(self.queue)
        self.api.fetch(self.queue, "b", worker_id="ui-worker")
        rows = [w for w in self.api.get("/api/v1/workers").json if w["id"] == "ui-worker"]
        self.assertIsInstance(rows[0]["queues"], str)
        self.assertEqual(json.loads(rows[0]["queues"]), [self.queue, "b"])

    def test_agent_toggles_a_panel(self):
        """UI: agent presence toggles panels."""
        self.assertNotIn("agent", self.api.job(self.api.enqueue(self.queue)))
        self.assertIn("agent", self.api.job(self.api.enqueue(self.queue, agent={})))

    def test_clone(self):
        """UI: "Clone" = enqueue with copied fields."""
        job = self.api.job(self.active(tags={"a": "b"}, priority="high", max_retries=5))
        clone = self.api.enqueue(job["queue"], job["payload"], priority=job["priority"],
                                 tags=job["tags"], max_retries=job["max_retries"])
        copy = self.api.job(clone)
        self.assertEqual([copy[k] for k in ("queue", "payload", "priority", "tags", "max_retries")],
                         [job[k] for k in ("queue", "payload", "priority", "tags", "max_retries")])

    def test_a_preflight_of_the_browser(self):
        """1.4: OPTIONS before a request with Corvo's headers."""
        answer = self.api.request("OPTIONS", "/api/v1/enqueue", headers={
            "Origin": "http://localhost:5173", "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "content-type,x-api-key,x-corvo-namespace"})
        self.assertEqual(answer.status, 200)
        allowed = answer.headers["access-control-allow-headers"].lower()
        for name in ("content-type", "x-api-key", "x-corvo-namespace", "authorization"):
            self.assertIn(name, allowed)


class Cli(ApiTest):
    def test_cluster_status(self):
        """CLI: cluster/status mode, status."""
        status = self.api.get("/api/v1/cluster/status").json
        self.assertIsInstance(status["mode"], str)
        self.assertIsInstance(status["status"], str)

    def test_errors_are_maps_of_strings(self):
        """CLI: error map of strings."""
        for answer in (self.api.get("/api/v1/jobs/x"), self.api.post("/api/v1/enqueue", {}),
                       self.api.post("/api/v1/enqueue", b"{"), self.api.get("/nothing")):
            self.assertEqual({type(v) for v in answer.json.values()}, {str})


if __name__ == "__main__":
    unittest.main()
