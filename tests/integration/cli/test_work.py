"""corvo work: any program as a worker, against a live server."""
import os
import pathlib
import shutil
import tempfile

from cli_harness import FakeTest, LiveTest, json, signal
from harness import wait_until


class Work(LiveTest):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="corvo-work-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def work(self, command, *flags):
        """Work on what is there and return."""
        return self.corvo.run("work", "--queue", self.queue, "--exec", command,
                              "--exit-when-idle", *flags)

    def start(self, command, *flags):
        return self.corvo.start("work", "--queue", self.queue, "--exec", command, *flags)

    def test_output_is_the_result(self):
        for output, result in (('{"a": 1}', {"a": 1}), ("plain text", "plain text"), ("[1]\\n", [1]),
                               ("two\\nlines\\n", "two\nlines"), ("17", 17)):
            with self.subTest(output):
                job_id = self.enqueue()
                self.ok(self.work(f"printf '{output}'", "--max-jobs", "1"), "")
                job = self.api.job(job_id)
                self.assertEqual((job["state"], job["result"]), ("completed", result))
        job_id = self.enqueue()
        self.ok(self.work("true", "--max-jobs", "1"))
        self.assertNotIn("result", self.api.job(job_id))

    def test_the_program_gets_the_payload_and_the_job(self):
        job_id = self.enqueue("--tag", "t=1", "--max-retries", "4", payload='{"n":  1}')
        self.ok(self.work('printf \'{"input":%s,"id":"%s","queue":"%s","attempt":%s,"max":%s,'
                          '"tags":%s,"token":%s}\' "$(cat)" "$CORVO_JOB_ID" "$CORVO_QUEUE" '
                          '"$CORVO_ATTEMPT" "$CORVO_MAX_RETRIES" "$CORVO_TAGS" '
                          '"${CORVO_LEASE_TOKEN:-0}"'))
        result = self.api.job(job_id)["result"]
        self.assertGreater(result.pop("token"), 0)
        self.assertEqual(result, {"input": {"n": 1}, "id": job_id, "queue": self.queue,
                                  "attempt": 1, "max": 4, "tags": {"t": "1"}})

    def test_another_status_fails_the_job_with_its_last_words(self):
        job_id = self.enqueue("--max-retries", "1")
        done = self.work("echo first >&2; echo last >&2; exit 7")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", "first\nlast\n"))
        job = self.api.job(job_id)
        self.assertEqual(job["state"], "dead")
        self.assertEqual(job["errors"][0]["error"], "exit status 7: last")
        self.assertEqual(job["errors"][0]["backtrace"], "first\nlast\n")

    def test_a_signal_and_a_missing_program_fail_the_job_too(self):
        for command, error in (("kill -KILL $$", "killed by signal 9"),
                               ("/no/such/program", "exit status 127: ")):
            job_id = self.enqueue("--max-retries", "1")
            self.work(command)
            self.assertIn(error, self.api.job(job_id)["errors"][0]["error"])

    def test_much_output_is_no_failure(self):
        job_id = self.enqueue()
        self.ok(self.work("head -c 3000000 /dev/zero | tr '\\0' x"))
        job = self.api.job(job_id)
        self.assertEqual((job["state"], set(job["result"])), ("completed", {"x"}))

    def test_jobs_run_side_by_side(self):
        ids = [self.enqueue() for _ in range(3)]
        # Each waits for the other two: only side by side they come to an end.
        command = (f'touch {self.folder}/$CORVO_JOB_ID; '
                   f'while [ $(ls {self.folder} | wc -l) -lt 3 ]; do sleep 0.01; done')
        self.ok(self.work(command, "--concurrency", "3"))
        self.assertEqual([self.api.state(i) for i in ids], ["completed"] * 3)

    def test_progress_and_checkpoints_are_reported(self):
        job_id = self.enqueue("--max-retries", "2", "--retry-backoff", "none")
        go = self.folder / "go"
        command = ('echo \'{"progress":{"current":1,"total":2},"checkpoint":{"at":5}}\' >&3; '
                   f'while [ ! -e {go} ]; do sleep 0.01; done; exit 1')
        with self.start(command, "--max-jobs", "1") as worker:
            wait_until(lambda: self.api.job(job_id).get("checkpoint") == {"at": 5})
            self.assertEqual(self.api.job(job_id)["progress"], {"current": 1, "total": 2})
            go.touch()
            self.assertEqual(worker.wait(), 0)
        self.api.wait_for_state(job_id, "pending")
        self.ok(self.work('printf %s "$CORVO_CHECKPOINT"'))
        self.assertEqual(self.api.job(job_id)["result"], {"at": 5})

    def test_a_cancelled_job_is_stopped_with_all_it_started(self):
        job_id = self.enqueue()
        pids, stopped = self.folder / "pids", self.folder / "stopped"
        command = (f"trap 'echo x > {stopped}; exit 0' TERM; sleep 1000 & "
                   f"echo $! > {pids}.tmp; mv {pids}.tmp {pids}; wait")
        with self.start(command, "--heartbeat", "500ms", "--max-jobs", "1") as worker:
            wait_until(pids.exists)
            self.ok(self.corvo.run("cancel", job_id), f"Job {job_id}: cancelling\n")
            self.assertEqual(worker.wait(), 0)
        self.assertTrue(stopped.exists())
        child = int(pids.read_text())
        wait_until(lambda: not os.path.exists(f"/proc/{child}") or
                   " Z " in pathlib.Path(f"/proc/{child}/stat").read_text())
        self.assertEqual(self.api.state(job_id), "cancelled")

    def test_a_cancelled_job_that_does_not_listen_is_killed(self):
        job_id = self.enqueue()
        ready = self.folder / "ready"
        with self.start(f"trap '' TERM; touch {ready}; while :; do sleep 0.05; done",
                        "--heartbeat", "500ms", "--kill-after", "10ms", "--max-jobs", "1") as worker:
            wait_until(ready.exists)
            self.api.act(job_id, "cancel")
            self.assertEqual(worker.wait(), 0)

    def test_a_worker_that_is_stopped_finishes_its_jobs_first(self):
        first, second = self.enqueue(), self.enqueue()
        ready, go = self.folder / "ready", self.folder / "go"
        with self.start(f"touch {ready}; while [ ! -e {go} ]; do sleep 0.01; done") as worker:
            wait_until(ready.exists)
            worker.signal(signal.SIGTERM)
            self.assertIn("1 jobs to finish", worker.error_line())
            go.touch()
            self.assertEqual(worker.wait(), 0)
        self.assertEqual(self.api.state(first), "completed")
        self.assertEqual(self.api.state(second), "pending")

    def test_an_idle_worker_stops_at_once(self):
        with self.start("true") as worker:
            wait_until(lambda: self.api.fetches_waiting() > 0)
            worker.signal(signal.SIGINT)
            self.assertEqual(worker.wait(), 0)

    def test_a_second_signal_stops_the_jobs(self):
        job_id = self.enqueue()
        ready = self.folder / "ready"
        with self.start(f"touch {ready}; sleep 1000") as worker:
            wait_until(ready.exists)
            worker.signal(signal.SIGTERM)
            worker.error_line()
            worker.signal(signal.SIGTERM)
            self.assertEqual(worker.wait(), 143)
        self.assertEqual(self.api.state(job_id), "active")  # until its lease ends

    def test_a_drain_has_its_limit(self):
        self.enqueue()
        ready = self.folder / "ready"
        with self.start(f"touch {ready}; sleep 1000", "--drain-timeout", "10ms") as worker:
            wait_until(ready.exists)
            worker.signal(signal.SIGTERM)
            self.assertEqual(worker.wait(), 1)

    def test_the_worker_is_known_to_the_server(self):
        self.enqueue()
        self.ok(self.work("true", "--worker-id", "robot"))
        listed = json.loads(self.ok(self.corvo.run("workers", "--output", "json")))
        self.assertEqual(json.loads(next(w for w in listed if w["id"] == "robot")["queues"]),
                         [self.queue])

    def test_flags_are_checked(self):
        for flags, message in ((("--concurrency", "0"), "--concurrency must be 1 to 200"),
                               (("--heartbeat", "1ms"), "--heartbeat must be 500ms or more")):
            self.failed(self.work("true", *flags), message)
        self.failed(self.corvo.run("work", "--queue", "q"), "flag --exec is required")


class WorkThroughARestart(LiveTest):
    def test_a_worker_outlives_the_server_and_reports_afterwards(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="corvo-work-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        job_id = self.enqueue()
        ready, go = folder / "ready", folder / "go"
        port = self.server.port
        with self.corvo.start("work", "--queue", self.queue, "--exec",
                              f"touch {ready}; while [ ! -e {go} ]; do sleep 0.01; done",
                              "--max-jobs", "1") as worker:
            wait_until(ready.exists)
            self.server.terminate()
            go.touch()
            # The same port again, so that the worker finds the server where it was.
            self.server.args = (*self.settings, "--bind", f"127.0.0.1:{port}")
            self.server.start()
            self.assertEqual(worker.wait(), 0)
        self.assertEqual(self.api.state(job_id), "completed")


class WorkForAStrangeServer(FakeTest):
    def job(self, number, **more):
        return {"job_id": f"job_{number}", "queue": "q", "payload": {}, "attempt": 1,
                "max_retries": 1, "lease_duration": 60, **more}

    def test_more_jobs_than_asked_for_and_odd_ones_do_no_harm(self):
        jobs = [self.job(n) for n in range(5)]
        fake, corvo = self.serve({"POST /fetch/batch": {"jobs": jobs},
                                  "POST /ack/job_0": {"status": "ok"}})
        self.ok(corvo.run("work", "--queue", "q", "--exec", "true", "--max-jobs", "1"))
        self.assertEqual(len(fake.asked("POST /ack/job_0")), 1)
        for answer in (b"null", b'{"jobs":[7]}', b'{"jobs":{}}', b"garbage"):
            fake, corvo = self.serve({"POST /fetch/batch": answer})
            done = corvo.run("work", "--queue", "q", "--exec", "true", "--max-jobs", "1",
                             "--exit-when-idle")
            self.ok(done, "")
            self.assertEqual([r.path for r in fake.requests], ["/api/v1/fetch/batch"])

    def test_a_report_is_made_again_when_the_server_is_busy_and_not_when_it_refuses(self):
        answers = [(429, {"error": "busy", "code": "OVERLOADED"}), (503, {"error": "no leader"}),
                   {"status": "ok"}]
        fake, corvo = self.serve({"POST /fetch/batch": {"jobs": [self.job(1)]},
                                  "POST /ack/job_1": lambda _: answers.pop(0)})
        self.ok(corvo.run("work", "--queue", "q", "--exec", "true", "--max-jobs", "1"))
        self.assertEqual(len(fake.asked("POST /ack/job_1")), 3)
        fake, corvo = self.serve({"POST /fetch/batch": {"jobs": [self.job(1, lease_token=9)]},
                                  "POST /ack/job_1": (400, {"error": "job job_1 is not active"})})
        done = corvo.run("work", "--queue", "q", "--exec", "true", "--max-jobs", "1")
        self.assertEqual(done.returncode, 0)
        self.assertIn("job job_1 is not active", done.stderr)
        self.assertEqual([r.json for r in fake.asked("POST /ack/job_1")], [{"lease_token": 9}])
