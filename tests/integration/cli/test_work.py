"""corvo work: any program as a worker, with a live server.

The guarantees of a worker do not depend on its protocol: the same tests run over requests and over a
lifecycle stream.
"""
import os
import pathlib
import shutil
import tempfile

from cli_harness import (CliTest, Corvo, FakeServer, FakeTest, LiveTest, binary, json, signal,
                         unique)
from harness import metric, wait_until
from test_cluster import Cluster


def route_count(api, route, name="corvo_http_requests_total"):
    """Return the number of requests that this route has answered."""
    name = f'{name}{{method="POST",route="{route}"}} '
    lines = api.get("/metrics").body.decode().splitlines()
    return sum(int(line.removeprefix(name)) for line in lines if line.startswith(name))


class Work:
    protocol = silent = None

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="corvo-work-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def work(self, command, *flags):
        """Run a worker until there are no more jobs."""
        return self.corvo.run("work", "--queue", self.queue, "--exec", command, "--protocol",
                              self.protocol, "--exit-when-idle", *flags)

    def start(self, command, *flags):
        return self.corvo.start("work", "--queue", self.queue, "--exec", command, "--protocol",
                                self.protocol, *flags)

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
        self.assertEqual(self.api.job(job_id).get("result"), self.silent)

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

    def test_values_may_be_as_deep_as_the_server_accepts(self):
        deep = "[" * 512 + "]" * 512
        job_id = self.enqueue(payload=deep)
        found = self.ok(self.corvo.run("search", "--queue", self.queue, "--output", "jsonl"))
        self.assertIn(f'"payload":{deep}', found)
        self.ok(self.work("cat"), "")
        job = json.loads(self.ok(self.corvo.run("inspect", job_id, "--output", "json")))
        self.assertEqual(job["result"], json.loads(deep))
        self.assertEqual(job["payload"], json.loads(deep))
        job_id = self.enqueue()
        self.ok(self.work(f"printf '[{deep}]'"), "")
        self.assertEqual(self.api.job(job_id)["result"], f"[{deep}]")

    def test_the_program_gets_nothing_of_another_job(self):
        """The worker may be part of a job of another worker, whose variables it has inherited."""
        self.enqueue()
        names = ("CHECKPOINT", "TAGS", "AGENT")
        shown = "|".join(f"$CORVO_{n}" for n in names)
        done = self.corvo.run("work", "--queue", self.queue, "--exec", f'echo "[{shown}]" >&2', "--exit-when-idle",
                              "--protocol", self.protocol, env={f"CORVO_{n}": "outer" for n in names})
        self.assertEqual((done.returncode, done.stderr), (0, "[||]\n"))

    def test_the_program_acts_on_the_same_server_and_in_the_same_namespace(self):
        name = unique("acme").replace(".", "-")
        self.ok(self.corvo.run("namespaces", "create", name))
        self.ok(self.corvo.run("enqueue", self.queue, "{}", "--namespace", name))
        self.ok(self.work(f"{binary()} enqueue next {{}} >/dev/null", "--namespace", name, "--max-jobs", "1"))
        found = self.ok(self.corvo.run("search", "--queue", "next", "--namespace", name, "-o", "id"))
        self.assertEqual(len(found.splitlines()), 1)

    def test_another_status_fails_the_job_with_its_last_words(self):
        job_id = self.enqueue("--max-retries", "1")
        done = self.work("echo first >&2; echo last >&2; exit 7")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", "first\nlast\n"))
        job = self.api.job(job_id)
        self.assertEqual(job["state"], "dead")
        self.assertEqual(job["errors"][0]["error"], "exit status 7: last")
        self.assertEqual(job["errors"][0]["backtrace"], "first\nlast\n")

    def test_the_last_line_counts_how_jobs_ended(self):
        for _ in range(3):
            self.enqueue("--max-retries", "1")
        done = self.work(f"mkdir {self.folder}/once 2>/dev/null", "-v")
        self.assertIn("Worker stopped: 1 completed, 2 failed, 0 cancelled", done.stderr)

    def test_a_signal_and_a_missing_program_fail_the_job_too(self):
        for command, error in (("kill -KILL $$", "killed by signal 9"),
                               ("/no/such/program", "exit status 127: ")):
            job_id = self.enqueue("--max-retries", "1")
            self.work(command)
            self.assertIn(error, self.api.job(job_id)["errors"][0]["error"])

    def test_much_output_is_no_failure(self):
        job_id = self.enqueue()
        done = self.work("head -c 3000000 /dev/zero | tr '\\0' x")
        self.assertEqual(done.returncode, 0, done)
        job = self.api.job(job_id)
        self.assertEqual((job["state"], set(job["result"])), ("completed", {"x"}))

    def test_a_result_that_is_cut_is_reported(self):
        """JSON above the limit would otherwise silently become a string."""
        for bytes_, cut in ((131072, False), (131073, True)):
            job_id = self.enqueue()
            done = self.work(f"head -c {bytes_} /dev/zero | tr '\\0' x")
            self.assertEqual((done.returncode, "result cut" in done.stderr), (0, cut), done.stderr)
            self.assertEqual(len(self.api.job(job_id)["result"]), 131072)
        self.enqueue()
        self.assertIn("result cut", self.work("""printf '"'; head -c 1100000 /dev/zero | tr '\\0' x; printf '"'""").stderr)

    def test_no_more_jobs_are_taken_than_are_wanted(self):
        ids = [self.enqueue() for _ in range(7)]
        self.ok(self.work("true", "--concurrency", "2", "--max-jobs", "5"))
        self.assertEqual(sorted(self.api.state(j) for j in ids), ["completed"] * 5 + ["pending"] * 2)

    def test_a_job_of_an_agent_comes_with_its_numbers(self):
        answer = self.api.post("/api/v1/enqueue", {
            "queue": self.queue, "payload": {}, "agent": {
                "max_iterations": 3, "max_cost_usd": 1.5, "iteration_timeout": "10m"}})
        job_id = self.api.must(answer, 201)["job_id"]
        self.ok(self.work('printf %s "$CORVO_AGENT"', "--max-jobs", "1"))
        self.assertEqual(self.api.job(job_id)["result"], {
            "max_iterations": 3, "max_cost_usd": 1.5, "iteration_timeout": "10m", "iteration": 1})

    def test_a_job_that_is_somebody_elses_by_now_is_left_to_them(self):
        job_id = self.enqueue("--max-retries", "1")
        ready, go = self.folder / "ready", self.folder / "go"
        command = f"touch {ready}; while [ ! -e {go} ]; do sleep 0.01; done"
        with self.start(command, "--max-jobs", "1") as worker:
            wait_until(ready.exists)
            self.api.must(self.api.post(f"/api/v1/fail/{job_id}", {"error": "no"}))
            go.touch()
            self.assertIn("this worker no longer holds the job", worker.error_line())
            self.assertEqual(worker.wait(), 0)
        self.assertEqual(self.api.state(job_id), "dead")

    def test_large_results_of_many_jobs_arrive_whole(self):
        ids = [self.enqueue() for _ in range(8)]
        command = r"""printf '"'; head -c 900000 /dev/zero | tr '\0' '\\'; printf '"'"""
        self.ok(self.work(command, "--concurrency", "8", "--max-jobs", "8"))
        self.assertEqual([len(self.api.job(j)["result"]) for j in ids], [450000] * 8)

    def test_many_jobs_take_one_request_each(self):
        ids = [self.enqueue() for _ in range(20)]
        before = metric(self.api, "corvo_raft_log_flushes_total")
        self.ok(self.work("true", "--max-jobs", "20"))
        self.assertEqual({self.api.state(j) for j in ids}, {"completed"})
        self.assertLessEqual(metric(self.api, "corvo_raft_log_flushes_total") - before, 30)

    def test_jobs_run_side_by_side(self):
        ids = [self.enqueue() for _ in range(3)]
        # Each job waits for the other two, so they end only if they run at the same time.
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

    def test_the_last_checkpoint_of_a_failed_job_is_kept(self):
        job_id = self.enqueue("--max-retries", "2", "--retry-backoff", "none")
        self.work('echo \'{"checkpoint":{"page":7}}\' >&3; exit 1', "--max-jobs", "1")
        self.api.wait_for_state(job_id, "pending")
        self.ok(self.work('printf %s "$CORVO_CHECKPOINT"'))
        self.assertEqual(self.api.job(job_id)["result"], {"page": 7})

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
            self.assertIn("Waiting for 1 running job to finish. Press Ctrl-C again to stop it now.", worker.error_line())
            go.touch()
            self.assertEqual(worker.wait(), 0)
        self.assertEqual(self.api.state(first), "completed")
        self.assertEqual(self.api.state(second), "pending")

    def test_an_idle_worker_stops_at_once(self):
        with self.start("true") as worker:
            wait_until(lambda: self.api.fetches_waiting() > 0)
            worker.signal(signal.SIGINT)
            self.assertEqual(worker.wait(), 0)
            self.assertTrue(worker.errors.empty())

    def test_a_second_signal_stops_the_jobs(self):
        job_id = self.enqueue()
        ready = self.folder / "ready"
        with self.start(f"touch {ready}; sleep 1000") as worker:
            wait_until(ready.exists)
            worker.signal(signal.SIGTERM)
            worker.error_line()
            worker.signal(signal.SIGTERM)
            self.assertEqual(worker.wait(), 143)
        self.assertEqual(self.api.state(job_id), "active")  # its lease has not expired yet

    def test_a_short_lease_has_heartbeats_in_time(self):
        job_id = self.enqueue("--max-retries", "2")
        self.ok(self.work("sleep 2.5", "--lease", "1s", "--max-jobs", "1"), "")
        job = self.api.job(job_id)
        self.assertEqual((job["state"], job["attempt"]), ("completed", 1))

    def test_a_drain_has_its_limit(self):
        self.enqueue()
        ready = self.folder / "ready"
        with self.start(f"touch {ready}; sleep 1000", "--drain-timeout", "10ms") as worker:
            wait_until(ready.exists)
            worker.signal(signal.SIGTERM)
            self.assertEqual(worker.wait(), 1)

    def test_a_job_that_is_stopped_keeps_its_checkpoint(self):
        """Also a checkpoint that the program writes after it receives the signal."""
        for args in (("--drain-timeout", "10ms"), ()):
            job_id = self.enqueue()
            ready = self.folder / f"ready{len(args)}"
            command = f"""trap 'echo "{{\\"checkpoint\\":{{\\"at\\":7}}}}" >&3; exit 0' TERM; touch {ready}
                          while :; do sleep 0.01; done"""
            with self.start(command, *args) as worker:
                wait_until(ready.exists)
                worker.signal(signal.SIGTERM)
                if not args:
                    worker.error_line()
                    worker.signal(signal.SIGTERM)
                self.assertEqual(worker.wait(), 1 if args else 143)
            job = self.api.job(job_id)
            self.assertEqual((job["state"], job["checkpoint"]), ("active", {"at": 7}))

    def test_the_worker_is_known_to_the_server(self):
        self.enqueue()
        self.ok(self.work("true", "--worker-id", "robot"))
        listed = json.loads(self.ok(self.corvo.run("workers", "--output", "json")))
        self.assertEqual(json.loads(next(w for w in listed if w["id"] == "robot")["queues"]),
                         [self.queue])

    def test_flags_are_checked(self):
        for flags, message in ((("--concurrency", "0"), "--concurrency must be 1 to 200"),
                               (("--protocol", "pigeon"), "pigeon"),
                               (("--heartbeat", "1ms"), "--heartbeat must be 500ms or more"),
                               (("--lease", "2s", "--heartbeat", "2s"),
                                "--heartbeat must be shorter than --lease"),
                               (("--max-jobs", "-1"), "--max-jobs must not be negative")):
            self.failed(self.work("true", *flags), message)
        self.failed(self.work(""), "--exec must not be empty")
        self.failed(self.corvo.run("work", "--queue", "q"), "flag --exec is required")


class WorkOverHttp(Work, LiveTest):
    protocol = "http"

    def test_it_says_so_and_opens_no_stream(self):
        self.enqueue()
        before = metric(self.api, "corvo_lifecycle_streams_total")
        done = self.work("true", "-v")
        self.assertRegex(done.stderr, "Worker .* started: .*, over HTTP\n")
        self.assertEqual(metric(self.api, "corvo_lifecycle_streams_total"), before)


class WorkOverAStream(Work, LiveTest):
    protocol = "stream"
    silent = {}  # by contract, the result of a program without output; over HTTP there is no result

    def test_it_says_so_and_acknowledges_by_frames(self):
        for protocol in ("auto", "stream"):
            for _ in range(20):
                self.enqueue()
            acks = route_count(self.api, "/api/v1/ack/{job_id}")
            frames = metric(self.api, "corvo_lifecycle_frames_total")
            done = self.work("true", "-v", "--protocol", protocol, "--concurrency", "4")
            self.assertRegex(done.stderr, "Worker .* started: .*, over a stream\n")
            self.assertIn("20 completed, 0 failed", done.stderr)
            self.assertEqual(route_count(self.api, "/api/v1/ack/{job_id}"), acks)
            self.assertGreaterEqual(metric(self.api, "corvo_lifecycle_frames_total"), frames + 5)

    def test_an_idle_worker_sends_no_frames(self):
        with self.start("true") as worker:
            wait_until(lambda: self.api.fetches_waiting() > 0)
            before = metric(self.api, "corvo_lifecycle_frames_total")
            job_id = self.enqueue()
            self.api.wait_for_state(job_id, "completed")
            worker.signal(signal.SIGTERM)
            self.assertEqual(worker.wait(), 0)
        # The ack with its fetch, and at most two frames that look for more jobs.
        self.assertLessEqual(metric(self.api, "corvo_lifecycle_frames_total"), before + 3)

    def test_a_stream_is_ended_not_broken(self):
        def broken():
            return route_count(self.api, "/corvo.v1.WorkerService/StreamLifecycle",
                               "corvo_http_request_errors_total")
        self.enqueue()
        before = broken()
        self.ok(self.work("true"))
        wait_until(lambda: metric(self.api, "corvo_lifecycle_streams_open") == 0)
        self.assertEqual(broken(), before)


class WorkWithoutStreamsLeft(LiveTest):
    """The server allows one stream, which is in use."""
    settings = (*LiveTest.settings, "--stream-max-open", "1")

    def test_auto_goes_on_over_http_and_stream_says_why_not(self):
        other = unique("other")
        with self.corvo.start("work", "--queue", other, "--exec", "true", "-v") as holder:
            self.assertIn("over a stream", holder.error_line())
            job_id = self.enqueue()
            args = ("work", "--queue", self.queue, "--exec", "true", "-v", "--exit-when-idle")
            done = self.corvo.run(*args)
            self.assertIn("over HTTP, without a stream: too many open lifecycle streams", done.stderr)
            self.assertEqual((done.returncode, self.api.state(job_id)), (0, "completed"))
            self.failed(self.corvo.run(*args, "--protocol", "stream"),
                        "no lifecycle stream: too many open lifecycle streams")
            holder.signal(signal.SIGTERM)
            self.assertEqual(holder.wait(), 0)


class WorkThroughARestart:
    protocol = None

    def test_a_worker_outlives_the_server_and_reports_afterwards(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="corvo-work-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        job_id = self.enqueue()
        ready, go = folder / "ready", folder / "go"
        port = self.server.port
        with self.corvo.start("work", "--queue", self.queue, "--exec",
                              f"touch {ready}; while [ ! -e {go} ]; do sleep 0.01; done",
                              "--max-jobs", "3", "--protocol", self.protocol) as worker:
            wait_until(ready.exists)
            self.server.terminate()
            go.touch()
            # Use the same port, so that the worker finds the server again.
            self.server.args = (*self.settings, "--bind", f"127.0.0.1:{port}")
            self.server.start()
            self.api.close()
            self.api.wait_for_state(job_id, "completed")
            others = [self.enqueue() for _ in range(2)]
            self.assertEqual(worker.wait(), 0)
        self.assertEqual([self.api.state(j) for j in others], ["completed"] * 2)

    def test_a_worker_that_waits_outlives_it_too(self):
        port = self.server.port
        with self.corvo.start("work", "--queue", self.queue, "--exec", "true", "--max-jobs", "2",
                              "--protocol", self.protocol) as worker:
            self.api.wait_for_state(self.enqueue(), "completed")
            wait_until(lambda: self.api.fetches_waiting() > 0)
            self.server.kill()
            self.server.args = (*self.settings, "--bind", f"127.0.0.1:{port}")
            self.server.start()
            self.api.close()
            job_id = self.enqueue()
            self.assertEqual(worker.wait(), 0)
        self.assertEqual(self.api.state(job_id), "completed")


    def test_a_checkpoint_outlives_it_too(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="corvo-work-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        job_id = self.enqueue()
        ready, write, go = folder / "ready", folder / "write", folder / "go"
        port = self.server.port
        command = (f"touch {ready}; while [ ! -e {write} ]; do sleep 0.01; done; "
                   "echo '{\"checkpoint\":{\"at\":5}}' >&3; "
                   f"while [ ! -e {go} ]; do sleep 0.01; done")
        with self.corvo.start("work", "--queue", self.queue, "--exec", command, "--max-jobs", "1",
                              "--heartbeat", "1s", "--protocol", self.protocol) as worker:
            wait_until(ready.exists)
            self.server.terminate()
            write.touch()
            wait_until(lambda: "heartbeat failed" in worker.error_line())
            self.server.args = (*self.settings, "--bind", f"127.0.0.1:{port}")
            self.server.start()
            self.api.close()
            wait_until(lambda: self.api.job(job_id).get("checkpoint") == {"at": 5})
            go.touch()
            self.assertEqual(worker.wait(), 0)


class WorkOverHttpThroughARestart(WorkThroughARestart, LiveTest):
    protocol = "http"


class WorkOverAStreamThroughARestart(WorkThroughARestart, LiveTest):
    protocol = "stream"


class WorkWithAcksThatAreNotTaken(LiveTest):
    """The stream does not confirm the ack of a cancelled job, and the server is too busy for the request that
    follows."""

    def test_no_more_jobs_are_started_than_there_are_slots(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="corvo-work-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        ids, answered = [self.enqueue() for _ in range(5)], []

        def ack(_):
            answered.append(len(list(folder.iterdir())))
            busy = len(answered) <= 6
            return (429, {"error": "busy"}) if busy else (400, {"error": "it is not active"})

        fake = FakeServer({"POST /fetch/batch": {"jobs": []}, "POST /heartbeat": {"jobs": {}},
                           **{f"POST /ack/{j}": ack for j in ids}}, streams_to=self.server.port)
        self.addCleanup(fake.close)
        cancel = f"{binary()} cancel --server http://127.0.0.1:{self.server.port}"
        done = Corvo(fake.url).run(
            "work", "--queue", self.queue, "--protocol", "stream", "--max-jobs", "5", "-v", "--exec",
            f"mkdir {folder}/$CORVO_JOB_ID && {cancel} $CORVO_JOB_ID >/dev/null")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("5 completed, 0 failed", done.stderr)
        self.assertEqual(sorted(f.name for f in folder.iterdir()), sorted(ids))
        # One job is running and one is being reported: together these are all slots, until a report is accepted.
        self.assertEqual(max(answered[:6]), 2)


class WorkInACluster(CliTest):
    def test_a_follower_hands_it_on_and_another_leader_is_found(self):
        for protocol in ("http", "stream"):
            with self.subTest(protocol), Cluster() as cluster:
                leader, node = cluster.leader(), cluster.followers()[0]
                corvo = Corvo(f"http://127.0.0.1:{node.port}")
                ids = self.enqueue(corvo, 10)
                frames = metric(leader.api, "corvo_lifecycle_frames_total")
                with corvo.start("work", "--queue", "q", "--exec", "true", "--protocol", protocol,
                                 "--max-jobs", "20", "--concurrency", "2") as worker:
                    wait_until(lambda: {node.api.state(j) for j in ids} == {"completed"})
                    more = metric(leader.api, "corvo_lifecycle_frames_total") > frames
                    self.assertEqual(more, protocol == "stream")
                    leader.kill()
                    cluster.leader(among=[n for n in cluster.nodes if n is not leader])
                    ids = self.enqueue(corvo, 10)
                    self.assertEqual(worker.wait(), 0)
                # A follower may lag for a moment.
                wait_until(lambda: {node.api.state(j) for j in ids} == {"completed"})

    def enqueue(self, corvo, count):
        return [json.loads(self.ok(corvo.run("enqueue", "q", "{}", "--output", "json")))["job_id"]
                for _ in range(count)]


class WorkForAStrangeServer(FakeTest):
    def job(self, number, **more):
        return {"job_id": f"job_{number}", "queue": "q", "payload": {}, "attempt": 1,
                "max_retries": 1, "lease_duration": 60, **more}

    def test_a_server_without_streams_is_asked_over_http(self):
        """The server does not even support HTTP/2."""
        fake, corvo = self.serve({"POST /fetch/batch": {"jobs": [self.job(1)]},
                                  "POST /ack/job_1": {"status": "ok"}})
        args = ("work", "--queue", "q", "--exec", "true", "--max-jobs", "1", "-v")
        done = corvo.run(*args)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "Worker .* started: .*, over HTTP, without a stream: .")
        self.assertEqual(len(fake.asked("POST /ack/job_1")), 1)
        self.failed(corvo.run(*args, "--protocol", "stream"), "no lifecycle stream: ")
        self.assertEqual(len(fake.asked("POST /ack/job_1")), 1)

    def test_more_jobs_than_asked_for_and_odd_ones_do_no_harm(self):
        jobs = [self.job(n) for n in range(5)]
        fake, corvo = self.serve({"POST /fetch/batch": {"jobs": jobs},
                                  "POST /ack/job_0": {"status": "ok"}})
        self.ok(corvo.run("work", "--queue", "q", "--exec", "true", "--max-jobs", "1"))
        self.assertEqual(len(fake.asked("POST /ack/job_0")), 1)
        for answer in (b'{"jobs":[7]}', b'{"jobs":{}}'):
            fake, corvo = self.serve({"POST /fetch/batch": answer})
            done = corvo.run("work", "--queue", "q", "--exec", "true", "--max-jobs", "1",
                             "--exit-when-idle")
            self.ok(done, "")
            self.assertEqual([r.path for r in fake.requests], ["/api/v1/fetch/batch"])

    def test_an_answer_that_cannot_be_read_ends_the_worker(self):
        """It may contain jobs, so the worker must not fetch on as if there were none."""
        for answer in (b"null", b"garbage", b'{"jobs":[{"job_id":"job_1"'):
            fake, corvo = self.serve({"POST /fetch/batch": answer})
            self.failed(corvo.run("work", "--queue", "q", "--exec", "true"),
                        "Error: request failed: the response is not JSON (http:")
            self.assertEqual([r.path for r in fake.requests], ["/api/v1/fetch/batch"])
            fake, corvo = self.serve({"POST /fetch/batch": {"jobs": [self.job(1)]}, "POST /ack/job_1": answer})
            self.failed(corvo.run("work", "--queue", "q", "--exec", "true"),
                        "Error: request failed: the response is not JSON (http:")
            self.assertEqual(len(fake.asked("POST /ack/job_1")), 1)

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

    def test_an_ack_fetches_the_next_job(self):
        """8.7: no fetch while acks return a next job, and no more jobs than requested."""
        fake, corvo = self.serve({
            "POST /fetch/batch": {"jobs": [self.job(1, lease_token=5)]},
            "POST /ack/job_1": {"status": "ok", "next": self.job(2)},
            "POST /ack/job_2": {"status": "ok", "next": self.job(3)},
            "POST /ack/job_3": {"status": "ok"}})
        self.ok(corvo.run("work", "--queue", "q,r", "--exec", "true", "--max-jobs", "3",
                          "--worker-id", "w", "--lease", "7s"))
        self.assertEqual(len(fake.asked("POST /fetch/batch")), 1)
        first, second, third = (fake.asked(f"POST /ack/job_{n}")[0].json for n in (1, 2, 3))
        wanted = first["next"]
        self.assertEqual((wanted["queues"], wanted["worker_id"], wanted["lease_duration"]),
                         (["q", "r"], "w", 7))
        self.assertNotIn("timeout", wanted)
        self.assertEqual((first["lease_token"], second), (5, {"next": wanted}))
        self.assertNotIn("next", third)

    def test_a_next_that_is_none_does_no_harm(self):
        for next_ in (None, 7, {}, [], "x"):
            fake, corvo = self.serve({
                "POST /fetch/batch": lambda _, jobs=[self.job(1)]: {"jobs": [jobs.pop()] if jobs else []},
                "POST /ack/job_1": {"status": "ok", "next": next_}})
            self.ok(corvo.run("work", "--queue", "q", "--exec", "true", "--exit-when-idle"), "")
            self.assertEqual(len(fake.asked("POST /ack/job_1")), 1)
