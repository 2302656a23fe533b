"""Commands for jobs, queues and the server, against a live server."""
from cli_harness import LiveTest, json, unique
from harness import wait_until

MISSING = "job_00000000000000000000000000"


class Jobs(LiveTest):
    def test_enqueue_says_the_id_and_the_status(self):
        out = self.ok(self.corvo.run("enqueue", self.queue, '{"a": 1}'))
        self.assertRegex(out, r"\AJob enqueued: job_[0-9a-z]{26} \(status: pending\)\n\Z")

    def test_enqueue_sends_every_flag(self):
        parent = self.enqueue()
        job_id = self.enqueue(
            "--priority", "high", "--unique-key", "k1", "--unique-period", "60", "--max-retries", "7",
            "--scheduled-at", "2099-01-02T03:04:05Z", "--tags", '{"a":"1","b":"2"}', "--tag", "b=3",
            "--tag", "c=4", "--expire-after", "1000000h", "--retry-backoff", "linear",
            "--retry-base-delay", "2s", "--retry-max-delay", "1m", "--depends-on", parent,
            "--parent-id", parent, payload='{"n": 12345678901234567890}')
        job = self.api.job(job_id)
        wanted = {"priority": 1, "unique_key": "k1", "max_retries": 7, "state": "scheduled",
                  "scheduled_at": "2099-01-02T03:04:05Z", "tags": {"a": "1", "b": "3", "c": "4"},
                  "retry_backoff": "linear", "retry_base_delay_ms": 2000,
                  "retry_max_delay_ms": 60000, "parent_id": parent,
                  "payload": {"n": 12345678901234567890}}
        self.assertEqual({k: job.get(k) for k in wanted}, wanted)
        self.assertIn("expire_at", job)
        self.assertEqual(job["chain_config"]["depends_on"], [parent])

    def test_push_makes_a_job_that_the_server_delivers(self):
        done = self.corvo.run("push", "http://127.0.0.1:9/hook", '{"a": 1}', "--queue", self.queue, "--method", "PUT",
                              "--call-timeout", "3s", "--token", "tok", "--max-retries", "2",
                              "--scheduled-at", "2099-01-02T03:04:05Z", "--output", "json")
        job = self.api.job(json.loads(self.ok(done))["job_id"])
        self.assertEqual((job["queue"], job["payload"], job["max_retries"], job["state"]),
                         (self.queue, {"a": 1}, 2, "scheduled"))
        self.assertEqual(job["push"], {"url": "http://127.0.0.1:9/hook", "method": "PUT", "timeout_ms": 3000,
                                       "auth": {"type": "bearer", "token": "[redacted]"}})

    def test_push_hosts_lists_where_jobs_go(self):
        job_id = json.loads(self.ok(self.corvo.run("push", "http://127.0.0.1:9/hook", "{}", "--max-retries", "1",
                                                   "--output", "json")))["job_id"]
        self.ok(self.corvo.run("wait", job_id, "--state", "dead"))
        out = self.ok(self.corvo.run("push", "hosts", "--output", "table"))
        self.assertRegex(out, r"HOST +BREAKER +IN FLIGHT +WAITING +OK +FAILED")
        self.assertRegex(out, r"127\.0\.0\.1:9 +closed +0 +0 +0 +1")

    def test_agent_flags_make_an_agent_job(self):
        job = self.api.job(self.enqueue("--agent-max-iterations", "3", "--agent-max-cost-usd",
                                        "1.5", "--agent-iteration-timeout", "5m"))
        self.assertEqual(job["agent"]["max_iterations"], 3)
        self.assertEqual(job["agent"]["max_cost_usd"], 1.5)
        self.assertEqual(job["agent"]["iteration_timeout"], "5m")
        self.assertNotIn("agent", self.api.job(self.enqueue()))

    def test_enqueue_reads_the_payload_from_standard_input(self):
        done = self.corvo.run("enqueue", self.queue, "-", "--output", "json", stdin='\n[1, 2]\n')
        job_id = json.loads(self.ok(done))["job_id"]
        self.assertEqual(self.api.job(job_id)["payload"], [1, 2])

    def test_bad_payload_is_refused_with_its_position(self):
        self.failed(self.corvo.run("enqueue", self.queue, '{"a":}'),
                    "Error: invalid payload JSON: invalid JSON at byte 5")
        self.failed(self.corvo.run("enqueue", self.queue, "-"), "invalid payload JSON")

    def test_a_duplicate_is_no_error(self):
        first = self.enqueue("--unique-key", "k")
        out = self.ok(self.corvo.run("enqueue", self.queue, "{}", "--unique-key", "k"))
        self.assertEqual(out, f"Job enqueued: {first} (status: duplicate)\n")

    def test_inspect_prints_indented_json(self):
        job_id = self.enqueue()
        out = self.ok(self.corvo.run("inspect", job_id))
        self.assertEqual(out, json.dumps(self.api.job(job_id), indent=2) + "\n")
        self.assertEqual(self.ok(self.corvo.run("show", job_id, "--output", "json")), out)

    def test_actions_say_what_they_did(self):
        job_id, other = self.enqueue(), unique("other")
        for args, text, answer in (
                (("hold", job_id, "--reason", "why"), f"Job {job_id} held", {"status": "held"}),
                (("approve", job_id, "--comment", "fine & paid"), f"Job {job_id} approved", {"status": "pending"}),
                (("cancel", job_id), f"Job {job_id}: cancelled", {"status": "cancelled"}),
                (("retry", job_id), "Job retried", {"status": "retried"}),
                (("move", job_id, other), f"Job moved to {other}", {"status": "moved"}),
                (("hold", job_id), f"Job {job_id} held", {"status": "held"}),
                (("reject", job_id), f"Job {job_id} rejected", {"status": "dead"}),
                (("delete", job_id), "Job deleted", {"status": "deleted"})):
            with self.subTest(args[0]):
                self.ok(self.corvo.run(*args), text + "\n")
        path = f"/api/v1/audit-logs?path_prefix=/api/v1/jobs/{job_id}/approve"
        entry = wait_until(lambda: self.api.get(path).json["audit_logs"], "an audit entry")[0]
        self.assertEqual(entry["metadata"]["query"], "comment=fine%20%26%20paid")
        twin = self.enqueue()
        self.assertEqual(json.loads(self.ok(self.corvo.run("hold", twin, "--output", "json"))),
                         {"status": "held"})
        self.assertEqual(json.loads(self.ok(self.corvo.run("reject", twin, "--output-json"))),
                         {"status": "dead"})

    def test_cancel_of_an_active_job_says_cancelling(self):
        job_id = self.enqueue()
        self.api.fetch(self.queue)
        self.ok(self.corvo.run("cancel", job_id), f"Job {job_id}: cancelling\n")

    def test_an_unknown_job_is_an_error_for_every_command(self):
        for command in ("inspect", "retry", "cancel", "hold", "approve", "reject", "delete",
                        "explain", "wait", "iterations"):
            with self.subTest(command):
                self.failed(self.corvo.run(command, MISSING), f'Error: job "{MISSING}" not found')

    def test_ids_are_encoded_in_urls(self):
        self.failed(self.corvo.run("inspect", "a/b?c#d %"), "not found")

    def test_replay_and_iterations(self):
        job_id = self.enqueue("--agent-max-iterations", "9")
        self.api.fetch(self.queue)
        self.api.ack(job_id, agent_status="continue", checkpoint={"s": 1},
                     usage={"cost_usd": 0.25, "model": "m"})
        self.api.fetch(self.queue)
        self.api.ack(job_id, agent_status="hold", hold_reason="look")
        self.ok(self.corvo.run("iterations", job_id),
                "1  continue  cost=0.250000\n2  hold  cost=0.000000  hold=look\n")
        out = self.ok(self.corvo.run("replay", job_id, "--from", "1"))
        self.assertRegex(out, r"\AReplay enqueued: job_\w+ \(status: pending\)\n\Z")
        self.failed(self.corvo.run("replay", job_id), "Error: --from must be > 0")
        self.ok(self.corvo.run("iterations", self.enqueue()), "No iterations\n")


class Explain(LiveTest):
    def explain(self, job_id):
        return {r["code"]: r["message"] for r in json.loads(
            self.ok(self.corvo.run("explain", job_id, "--output", "json")))["reasons"]}

    def test_a_pending_job_has_its_obstacles_named(self):
        parent = self.enqueue()
        self.api.act(parent, "hold")
        job_id = self.enqueue("--depends-on", parent)
        self.ok(self.corvo.run("pause", self.queue))
        self.ok(self.corvo.run("throttle", self.queue, "5/1h"))
        reasons = self.explain(job_id)
        self.assertEqual(set(reasons), {"dependencies", "queue_paused", "no_worker"})
        out = self.ok(self.corvo.run("explain", job_id))
        self.assertTrue(out.startswith(f"Job {job_id} in queue {self.queue} is pending.\n- "))
        self.assertIn(f"- waiting for 1 job to complete\n    {parent} (held)\n", out)
        out = self.ok(self.corvo.run("explain", self.queue))
        self.assertTrue(out.startswith(f"Queue {self.queue} hands out no jobs at the moment.\n- "))
        self.failed(self.corvo.run("explain", "job_unknown"), "not found")

    def test_a_full_queue_is_named(self):
        self.ok(self.corvo.run("concurrency", self.queue, "1"))
        self.enqueue()
        self.api.fetch(self.queue)
        job_id = self.enqueue()
        self.assertEqual(set(self.explain(job_id)), {"concurrency_limit"})
        self.assertRegex(self.ok(self.corvo.run("explain", job_id)), r"\n    job_\w+ \(w\)\n")

    def test_a_job_that_nothing_holds_up(self):
        self.enqueue()
        self.api.fetch(self.queue, worker_id=self.queue)  # a worker that has not fetched from any other queue
        out = self.ok(self.corvo.run("explain", self.enqueue()))
        self.assertIn("- nothing blocks it", out)

    def test_every_other_state_is_explained(self):
        job_id = self.enqueue("--max-retries", "2", "--retry-base-delay", "1h")
        self.api.fetch(self.queue)
        self.assertEqual(set(self.explain(job_id)), {"leased"})
        self.api.fail(job_id, "no luck")
        self.assertIn("attempt 1 of 2 failed", self.explain(job_id)["retrying"])
        self.api.act(job_id, "hold")
        self.assertIn("held", self.explain(job_id))
        self.api.act(job_id, "reject")
        self.assertIn("dead", self.explain(job_id)["finished"])
        self.api.act(job_id, "retry")
        self.api.fetch(self.queue)
        self.api.ack(job_id)
        self.assertIn("completed", self.explain(job_id)["finished"])
        later = self.enqueue("--scheduled-at", "2099-01-01")
        self.assertIn("2099-01-01T00:00:00Z", self.explain(later)["not_due"])
        self.api.act(later, "cancel")
        self.assertIn("cancelled", self.explain(later)["finished"])


class Queues(LiveTest):
    def test_list_is_a_table(self):
        self.enqueue()
        self.ok(self.corvo.run("pause", self.queue), f"Queue {self.queue} paused\n")
        lines = self.ok(self.corvo.run("queues")).splitlines()
        self.assertEqual(lines[0].split(),
                         ["QUEUE", "PENDING", "ACTIVE", "HELD", "COMPLETED", "DEAD", "PAUSED"])
        row = next(line for line in lines if line.split()[0] == self.queue)
        self.assertEqual(row.split(), [self.queue, "1", "0", "0", "0", "0", "yes"])
        self.assertEqual(lines[0].index("PAUSED"), row.index("yes"))
        self.ok(self.corvo.run("queue", "resume", self.queue), f"Queue {self.queue} resumed\n")
        listed = json.loads(self.ok(self.corvo.run("queues", "--output", "json")))
        self.assertIn(self.queue, [q["name"] for q in listed])

    def test_limits_are_set_and_removed(self):
        q = self.queue
        for args, text in ((("concurrency", q, "5"), f"Queue {q} concurrency: 5"),
                           (("throttle", q, "100/1m"), f"Queue {q} throttle: 100/1m")):
            self.ok(self.corvo.run(*args), text + "\n")
        queue = self.api.queue(q)
        self.assertEqual((queue["max_concurrency"], queue["rate_limit"], queue["rate_window_ms"]),
                         (5, 100, 60000))
        self.ok(self.corvo.run("concurrency", q, "0"), f"Queue {q} concurrency: unlimited\n")
        self.ok(self.corvo.run("throttle", q, "--remove"), f"Queue {q} throttle: none\n")
        self.assertNotIn("rate_limit", self.api.queue(q))
        for bad in ("", "100", "x/1m", "0/1m", "5/0s", "5/never"):
            self.failed(self.corvo.run("throttle", q, bad), "specify a rate such as 100/1m")
        self.failed(self.corvo.run("concurrency", q, "many"), "<max> must be a whole number")

    def test_clear_and_destroy(self):
        self.enqueue()
        self.ok(self.corvo.run("clear", self.queue), f"Queue {self.queue} cleared\n")
        self.assertEqual(self.api.queue(self.queue)["pending"], 0)
        self.failed(self.corvo.run("destroy", self.queue),
                    f"Error: use --confirm to delete queue {self.queue} and all its jobs")
        self.assertIn(self.queue, self.api.queues())
        self.ok(self.corvo.run("destroy", self.queue, "--confirm"),
                f"Queue {self.queue} destroyed\n")
        self.assertNotIn(self.queue, self.api.queues())

    def test_drain_waits_for_active_jobs(self):
        job_id = self.enqueue()
        self.api.fetch(self.queue)
        self.ok(self.corvo.run("drain", self.queue), f"Queue {self.queue} draining\n")
        done = self.corvo.run("drain", self.queue, "--wait", "--wait-timeout", "1ms")
        self.assertEqual(done.returncode, 1)
        self.assertIn("still has 1 active jobs", done.stderr)
        with self.corvo.start("drain", self.queue, "--wait") as waiting:
            self.assertEqual(waiting.line(), f"Queue {self.queue} draining\n")
            self.api.ack(job_id)
            self.assertEqual(waiting.line(), f"Queue {self.queue} drained\n")
            self.assertEqual(waiting.wait(), 0)

    def test_odd_names_arrive_whole(self):
        for name in ("with space", "slash/and?query", "größe", "100%", "--dashes"):
            with self.subTest(name):
                self.ok(self.corvo.run("pause", "--", name), f"Queue {name} paused\n")
                self.assertTrue(self.api.queues()[name]["paused"])


class Status(LiveTest):
    def test_status_and_cluster(self):
        self.enqueue()
        lines = self.ok(self.corvo.run("status")).splitlines()
        self.assertEqual(lines[0], "Mode: cluster  Status: healthy")
        self.assertEqual(lines[1], "")
        self.assertEqual(lines[2].split(),
                         ["QUEUE", "PENDING", "ACTIVE", "HELD", "COMPLETED", "DEAD"])
        both = json.loads(self.ok(self.corvo.run("status", "--output", "json")))
        self.assertEqual(set(both), {"cluster", "queues"})
        text = self.ok(self.corvo.run("cluster", "status"))
        self.assertRegex(text, r"(?m)^State: +Leader$")
        self.assertRegex(text, r"(?m)^NODE +ROLE +VOTER +ADDRESS +LAG$")
        self.assertIn("commit_index", json.loads(
            self.ok(self.corvo.run("cluster", "status", "--output", "json"))))

    def test_health(self):
        self.ok(self.corvo.run("health"), "Status: ok  Role: Leader\n")
        self.assertEqual(json.loads(self.ok(self.corvo.run("health", "--output", "json")))["status"],
                         "ok")

    def test_workers(self):
        self.enqueue()
        self.api.fetch(self.queue, worker_id="alice", hostname="wonderland")
        lines = self.ok(self.corvo.run("workers")).splitlines()
        self.assertRegex(lines[0], r"\AID +HOSTNAME +LAST HEARTBEAT +STATUS +QUEUES\Z")
        self.assertRegex(lines[1], rf"\Aalice +wonderland +\d{{4}}-\S+Z +healthy +{self.queue}\Z")

    def test_schedules(self):
        name = unique("nightly")
        self.ok(self.corvo.run("schedules"), "No schedules\n")
        out = self.ok(self.corvo.run(
            "schedules", "create", name, "--queue", self.queue, "--cron", "0 9 * * *",
            "--timezone", "Europe/Berlin", "--payload", '{"a":1}'))
        self.assertRegex(out, r"\ASchedule created: sched_\w+\n\Z")
        lines = self.ok(self.corvo.run("schedules", "list")).splitlines()
        self.assertRegex(lines[0], r"\ANAME +QUEUE +CRON +TIMEZONE +NEXT RUN +LAST RUN\Z")
        self.assertRegex(lines[1], rf"\A{name} +{self.queue} +0 9 \* \* \* +Europe/Berlin .* +-\Z")
        lines = self.ok(self.corvo.run("schedules", "upcoming")).splitlines()
        self.assertRegex(lines[0], r"\ANAME +QUEUE +CRON +TIMEZONE +RUNS\Z")
        runs = self.api.must(self.api.get("/api/v1/upcoming"))[0]["runs"]
        self.assertRegex(lines[1], rf"\A{name} +{self.queue} +0 9 \* \* \* +Europe/Berlin +{','.join(runs)}\Z")
        self.assertEqual(len(runs), 1)
        self.ok(self.corvo.run("schedules", "update", name, "--max-retries", "9"))
        stored = json.loads(self.ok(self.corvo.run("schedules", "--output", "json")))[0]
        self.assertEqual((stored["max_retries"], stored["payload"], stored["cron"]),
                         (9, {"a": 1}, "0 9 * * *"))
        self.failed(self.corvo.run("schedules", "create", "x", "--queue", "q", "--cron", "nope"),
                    "Error: ")
        self.ok(self.corvo.run("schedules", "delete", name), f"Schedule deleted: {name}\n")
        self.failed(self.corvo.run("schedules", "delete", name), "Error: ")


class Seed(LiveTest):
    def test_demo_leaves_jobs_in_every_state_and_may_be_run_again(self):
        for _ in range(2):
            done = self.corvo.run("seed", "demo", "--count", "20")
            self.assertEqual(done.returncode, 0, done)
            self.assertTrue(done.stdout.startswith("Seeded demo data successfully.\n- "))
        queues = self.api.queues()
        for state in ("pending", "active", "held", "completed", "dead", "scheduled", "retrying",
                      "cancelled"):
            self.assertGreater(sum(q.get(state, 0) for q in queues.values()), 0, state)
        self.assertEqual(queues["emails.send"]["dead"], 12)
        self.assertEqual(queues["reports.generate"]["scheduled"], 10)
        self.assertTrue(queues["imports.legacy"]["paused"])
        self.assertEqual(queues["pipeline.transform"]["pending"], 2)
        for settings in ("schedules", "webhooks", "approval-policies"):
            self.assertEqual(len(self.api.must(self.api.get(f"/api/v1/{settings}"))), 1, settings)

    def test_count_must_be_positive(self):
        self.failed(self.corvo.run("seed", "demo", "--count", "0"), "--count must be > 0")
