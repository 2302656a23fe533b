"""bench: its effects on a real server, its reports, and how it handles unexpected responses."""
import itertools
import os
import pathlib
import shutil
import signal
import socket
import tempfile
import threading

from harness import metric, wait_until

from cli_harness import CliTest, Corvo, FakeTest, LiveTest, Server, Step, json

PHASE_FIELDS = {"ops_per_sec", "p50_us", "p90_us", "p99_us", "min_us", "max_us", "stddev_us", "cv_pct", "completed"}


class InFolder(CliTest):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def report(self, name="report.json"):
        return self.folder / name


class Unanswered(CliTest):
    """A server whose connections are never established: its queue of connections to accept is full."""

    def setUp(self):
        super().setUp()
        listener = socket.create_server(("127.0.0.1", 0), backlog=0)
        self.addCleanup(listener.close)
        self.port = listener.getsockname()[1]
        first = socket.create_connection(("127.0.0.1", self.port))
        self.addCleanup(first.close)
        self.corvo = Corvo(f"http://127.0.0.1:{self.port}")

    def connects(self):
        remote, sent = f":{self.port:04X}", "02"
        rows = [row.split() for row in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
        return any(row[2].endswith(remote) and row[3] == sent for row in rows)

    def test_a_signal_ends_it(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            with self.subTest(number), self.corvo.start("bench", "--jobs", "1") as running:
                wait_until(self.connects, "a connection on its way")
                running.signal(number)
                self.assertEqual(running.wait(), code)

    def test_a_timeout_ends_it(self):
        done = self.corvo.run("bench", "--jobs", "1", "--timeout", "50ms")
        self.failed(done, f"Error: request failed: no response from 127.0.0.1:{self.port}")


class Bench(InFolder, LiveTest):
    def bench(self, *args, jobs=200, save="report.json"):
        done = self.corvo.run("bench", "--queue", self.queue, "--jobs", str(jobs), "--concurrency", "4",
                              "--save", str(self.report(save)), *args)
        self.assertEqual(done.returncode, 0, done)
        return done.stdout

    def counts(self, queue=None):
        queue = self.api.must(self.api.get(f"/api/v1/queues/{queue or self.queue}"))
        return {state: queue[state] for state in ("pending", "active", "completed", "dead")}

    def saved(self, name="report.json"):
        return json.loads(self.report(name).read_text())

    def check_completed(self, jobs, queue=None):
        self.assertEqual(self.counts(queue), {"pending": 0, "active": 0, "completed": jobs, "dead": 0})

    def check_phase(self, phase, jobs):
        self.assertLessEqual(PHASE_FIELDS, set(phase))
        self.assertEqual((phase["completed"], phase["total"], phase["dropped"], phase["errors"], phase["stalled"]),
                         (jobs, jobs, 0, 0, False))
        self.assertGreater(phase["ops_per_sec"], 0)
        order = [phase[name] for name in ("min_us", "p50_us", "p90_us", "p99_us", "p999_us", "max_us")]
        self.assertEqual(order, sorted(order))
        self.assertGreater(phase["generator_cpu_ms_per_1000"], 0)

    def test_every_job_is_completed_once_whatever_the_way(self):
        ways = itertools.product(((), ("--http2",), ("--protocol", "rpc"), ("--protocol", "stream")), ((), ("--combined",)),
                                 ((), ("--enqueue-batch-size", "1", "--fetch-batch-size", "1", "--ack-batch-size", "0")))
        jobs = 0
        for way in ways:
            flags = [flag for part in way for flag in part]
            with self.subTest(flags):
                self.bench(*flags, jobs=203)
                jobs += 203
                self.check_completed(jobs)

    def test_the_binary_protocol(self):
        one_by_one = ("--enqueue-batch-size", "1", "--fetch-batch-size", "1", "--ack-batch-size", "1")
        with Server("--rpc-bind", "127.0.0.1:0", "--rate-limit-enabled=false", "--admin-password", "secret") as server:
            port = next(json.loads(line)["port"] for line in server.lines if "binary worker protocol" in line)
            corvo = Corvo(f"http://127.0.0.1:{server.port}")
            flags = ("bench", "--protocol", "binary", "--rpc-address", f"127.0.0.1:{port}", "--jobs", "203",
                     "--concurrency", "4", "--api-key", "secret", "--save", str(self.report()))
            for number, way in enumerate(itertools.product(((), ("--combined",)), ((), one_by_one))):
                with self.subTest(way):
                    self.ok(corvo.run(*flags, *way[0], *way[1]))
                    api = server.client(**{"X-API-Key": "secret"})
                    queue = api.queue("bench.q")
                    self.assertEqual((queue["completed"], queue["pending"], queue["active"]), (203 * (number + 1), 0, 0))
            self.assertEqual(self.saved()["config"]["protocol"], "binary")
            flags = [flag if flag != "secret" else "wrong" for flag in flags]
            self.assertNotEqual(corvo.run(*flags).returncode, 0)
            self.failed(corvo.run(*flags, "--namespace", "acme"), "leave out --namespace")
            self.failed(corvo.run(*flags, "--payload-bytes", "70000"), "payloads of at most 65535 bytes")

    def test_single_requests_fetch_with_the_ack(self):
        """A worker that fetches with separate requests needs twice as many flushes."""
        flushes = []
        for flags in ((), ("--separate-fetch",)):
            before = metric(self.api, "corvo_raft_log_flushes_total")
            self.bench("--concurrency", "1", "--fetch-batch-size", "1", "--ack-batch-size", "1", *flags, jobs=100)
            flushes.append(metric(self.api, "corvo_raft_log_flushes_total") - before)
        self.check_completed(200)
        self.assertGreater(flushes[1], flushes[0] + 50)

    def test_producers_keep_to_a_rate(self):
        for flags in ((), ("--combined",)):
            with self.subTest(flags):
                self.bench("--rate", "1000", "--enqueue-batch-size", "10", *flags)
                report = self.saved()
                self.assertEqual(report["config"]["rate"], 1000)
                # The last of 20 requests is due after 190 ms.
                self.assertLess(report["combined" if flags else "enqueue"]["ops_per_sec"], 200 / 0.189)
        self.check_completed(400)

    def test_the_report_says_what_was_done_and_where(self):
        text = self.bench("--payload-bytes", "500", "--threads", "2")
        report = self.saved()
        for name in ("enqueue", "lifecycle"):
            self.check_phase(report[name], 200)
            self.assertIn(f"\n{name}\n  completed: 200/200 in ", text)
        self.assertGreater(report["enqueue"]["server_cv_pct"], 0)
        self.assertNotIn("combined", report)
        self.assertNotIn("fault", report)
        self.assertEqual((report["preset"], report["scenario"]), ("", ""))
        self.assertRegex(report["timestamp"], r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\Z")
        self.assertEqual(set(report["machine"]), {"os", "arch", "cpus", "memory_gb", "hostname"})
        self.assertEqual(report["server"]["nodes"], 1)
        self.assertIs(report["server"]["durable"], True)
        self.assertEqual(report["config"], {
            "jobs": 200, "concurrency": 4, "workers": 1, "worker_queues": False, "protocol": "http",
            "http2": False, "enqueue_batch": 64, "fetch_batch": 64, "ack_batch": 64,
            "separate_fetch": False, "rate": 0, "work_duration": "0ms", "combined": False, "payload_bytes": 500})

    def test_the_payload_has_the_size_that_was_asked_for(self):
        # No job is fetched while the queue is paused, so the run ends in the middle.
        self.api.must(self.api.post(f"/api/v1/queues/{self.queue}/pause"))
        with self.corvo.start("bench", "--queue", self.queue, "--jobs", "3", "--payload-bytes", "77",
                              "--save", str(self.report())) as running:
            while "completed: 3/3" not in running.line():
                pass
            running.signal(signal.SIGINT)
            self.assertEqual(running.wait(), 130)
        self.assertFalse(self.report().exists())
        self.api.must(self.api.post(f"/api/v1/queues/{self.queue}/resume"))
        payload = self.api.fetch(self.queue)["payload"]
        self.assertEqual(len(json.dumps(payload, separators=(",", ":"))), 77)

    def test_json_is_the_report_and_nothing_else(self):
        for flags in (("--output", "json"), ("--json",), ("--output-json",)):
            with self.subTest(flags):
                out = json.loads(self.bench(*flags))
                self.assertEqual(out, self.saved())

    def test_a_comparison_has_both_phases(self):
        self.bench(save="before.json")
        text = self.bench("--compare", str(self.report("before.json")))
        rows = [line.split() for line in text.splitlines() if line.startswith(("enqueue ", "lifecycle "))]
        self.assertEqual([row[:2] for row in rows],
                         [[phase, metric] for phase in ("enqueue", "lifecycle") for metric in ("ops/sec", "p99")])
        for row in rows:
            self.assertRegex(row[-1], r"\A[+-]\d+\.\d%\Z")
        self.assertEqual(text.count('\n  server: {"mode":'), 3)  # the plan, the baseline, this run
        done = self.corvo.run("bench", "--queue", self.queue, "--jobs", "10", "--combined", "--save",
                              str(self.report("other.json")), "--compare", str(self.report("before.json")))
        self.assertIn("Warning: the reports have no phase in common", done.stderr)
        out = json.loads(self.bench("--compare", str(self.report("before.json")), "--output", "json"))
        self.assertEqual(len(out["comparison"]), 4)

    def test_a_report_into_a_pipe_leaves_the_pipe_in_its_place(self):
        """bench writes into a device or a pipe. Renaming a file over it would replace it."""
        os.mkfifo(self.report())
        read = []
        reader = threading.Thread(target=lambda: read.append(self.report().read_text()))
        reader.start()
        self.bench()
        reader.join()
        self.assertEqual(json.loads(read[0])["enqueue"]["completed"], 200)
        self.assertTrue(self.report().is_fifo())

    def test_each_worker_has_its_own_queue(self):
        self.bench("--workers", "3", "--worker-queues", "--enqueue-batch-size", "10", jobs=300)
        done = [self.counts(f"{self.queue}.w{i}")["completed"] for i in range(3)]
        self.assertEqual(sum(done), 300)
        self.assertGreater(min(done), 0)

    def test_what_waited_before_is_cleared(self):
        self.enqueue()
        self.bench("--combined")
        self.check_phase(self.saved()["combined"], 200)
        self.check_completed(200)

    def test_steady_state_completes_all_that_it_enqueued(self):
        self.bench("--duration", "300ms", jobs=500)
        phase = self.saved()["combined"]
        self.check_phase(phase, phase["completed"])
        self.check_completed(phase["completed"])

    def test_repeats_have_a_median(self):
        text = self.bench("--repeats", "3", "--combined")
        self.assertRegex(text, r"combined, 3 repeats\n  ops/sec: median \d+, p90 \d+\n  p99: median ")
        self.check_completed(600)

    def test_the_matrix_is_http_and_then_stream(self):
        text = self.bench("--protocol", "matrix", jobs=101)
        self.check_completed(202)
        self.assertLess(text.index("HTTP/1.1"), text.index("gRPC streams"))
        reports = self.saved()["reports"]
        self.assertEqual([r["config"]["protocol"] for r in reports], ["http", "stream"])
        for report in reports:
            self.check_phase(report["enqueue"], 101)
            self.check_phase(report["lifecycle"], 101)
        baseline = self.report().with_suffix(".old")
        self.report().rename(baseline)
        for protocol in ("matrix", "stream"):
            text = self.bench("--protocol", protocol, "--compare", str(baseline), jobs=101)
            self.assertEqual(text.count("Baseline"), 2 if protocol == "matrix" else 1, text)

    def test_presets_fill_what_was_not_given(self):
        done = self.corvo.run("bench", "--preset", "cluster", "--jobs", "100", "--concurrency", "2", "--queue",
                              self.queue, "--output", "json", "--save", str(self.report()))
        config = json.loads(self.ok(done))["config"]
        self.assertEqual((config["jobs"], config["concurrency"], config["workers"], config["worker_queues"]),
                         (100, 2, 5, True))

    def test_mistakes_are_named(self):
        rows = (
            (("--protocol", "pigeon"), "--protocol: expected http, rpc, stream, binary or matrix"),
            (("--protocol", "rpc", "--enqueue-batch-size", "5"), "--protocol rpc enqueues one job at a time"),
            (("--jobs", "0"), "--jobs must be between 1 and "),
            (("--payload-bytes", "3"), "--payload-bytes must be between 40 and "),
            (("--payload-bytes", "200000", "--enqueue-batch-size", "1000"), "too large for one request"),
            (("--queue", 'a"b'), "--queue is not a valid queue name"),
            (("--preset", "none"), "--preset"),
            (("--scenario", "partition"), "--scenario requires --preset failure"),
            (("--scenario", "partition", "--preset", "failure"), "requires --docker-container"),
            (("--scenario", "partition", "--preset", "failure", "--docker-container", "a;b"), "the name of a container"),
            (("--server", "https://127.0.0.1:1"), "bench does not support TLS"),
            (("--server", "http://127.0.0.1:1"), "request failed: "),
            (("--compare", "/nowhere/at/all"), "/nowhere/at/all"),
            (("--save", str(self.folder)), "is a directory"),
            (("--save", str(self.folder / "none" / "a.json")), "No such file or directory"),
            (("--save", "x" * 5000), "a file name must have 1 to "),
            (("--compare", "/dev/null"), "/dev/null: invalid JSON at byte 0"),
        )
        for flags, message in rows:
            with self.subTest(flags):
                self.failed(self.corvo.run("bench", *flags), message)


class BenchCompare(InFolder):
    """Compares two files, without a server."""

    BEFORE = {"timestamp": "2026-02-11T10:00:00Z", "commit": "abc", "server": {"nodes": 1}, "config": {"jobs": 10},
              "enqueue": {"ops_per_sec": 1000, "p50_us": 100, "p99_us": 2000, "server_cpu_pct": 50},
              "lifecycle": {"ops_per_sec": 500, "p99_us": 4000}}
    AFTER = {**BEFORE, "enqueue": {"ops_per_sec": 1500, "p50_us": 100, "p99_us": 500},
             "combined": {"ops_per_sec": 1}}

    def compare(self, before, after, *flags, env=None):
        for name, report in (("a.json", before), ("b.json", after)):
            text = report if isinstance(report, str) else json.dumps(report, indent=2)
            self.report(name).write_text(text)
        return Corvo("http://127.0.0.1:1").run("bench", "compare", str(self.report("a.json")),
                                               str(self.report("b.json")), *flags, env=env)

    def test_every_number_that_both_have_is_there_with_its_ratio(self):
        lines = self.ok(self.compare(self.BEFORE, self.AFTER)).splitlines()
        table = lines[lines.index("") + 1:]
        self.assertEqual([line.split() for line in table], [
            ["PHASE", "METRIC", "BASELINE", "CURRENT", "CHANGE", "RATIO"],
            ["enqueue", "ops/sec", "1000", "1500", "+50.0%", "1.50"],
            ["enqueue", "p50", "100µs", "100µs", "+0.0%", "1.00"],
            ["enqueue", "p99", "2.00ms", "500µs", "-75.0%", "0.25"],
            ["lifecycle", "ops/sec", "500", "500", "+0.0%", "1.00"],
            ["lifecycle", "p99", "4.00ms", "4.00ms", "+0.0%", "1.00"]])
        self.assertEqual(lines[:6], ["Baseline:", "  timestamp: 2026-02-11T10:00:00Z", "  commit: abc", "  machine: -",
                                     '  server: {"nodes":1}', '  config: {"jobs":10}'])

    def test_json_has_numbers_and_the_keys_of_the_report(self):
        for flags in (("--json",), ("--output", "json")):
            out = json.loads(self.ok(self.compare(self.BEFORE, self.AFTER, *flags)))
            self.assertEqual(out["comparison"][2], {"phase": "enqueue", "metric": "p99_us", "baseline": 2000,
                                                    "current": 500, "change": "-75.0%", "ratio": 0.25})
            self.assertEqual(out["baseline"], {"file": str(self.report("a.json")), "timestamp": "2026-02-11T10:00:00Z",
                                               "commit": "abc", "server": {"nodes": 1}, "config": {"jobs": 10}})

    def test_what_has_no_ratio_has_none(self):
        for before, after in ((0, 5), (1e-300, 1e300), (-3, 4)):
            with self.subTest(before=before):
                pair = [{"enqueue": {"ops_per_sec": rate}} for rate in (before, after)]
                self.assertEqual(self.ok(self.compare(*pair)).split()[-2:], ["-", "-"])
                row = json.loads(self.ok(self.compare(*pair, "--json")))["comparison"][0]
                self.assertEqual((row["change"], row["ratio"]), ("-", None))

    def test_other_settings_are_warned_about(self):
        done = self.compare(self.BEFORE, {**self.AFTER, "server": {"nodes": 3}, "config": {"jobs": 11}})
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr, "Warning: the servers have different settings\n"
                                      "Warning: the benchmarks have different settings\n")

    def test_a_file_that_does_not_fit_is_named_with_the_place(self):
        rows = (
            ("", "b.json: invalid JSON at byte 0"),
            ('{"enqueue": {', "b.json: invalid JSON at byte 13"),
            (" [1]", "b.json: not a report of corvo bench: the content is not an object at byte 1"),
            ('{"a": 1}', "b.json: not a report of corvo bench: enqueue, lifecycle and combined are all missing at byte 0"),
            ('{"enqueue": 7}', "b.json: not a report of corvo bench: enqueue is not an object at byte 12"),
            ('{"enqueue": {}}', "b.json: not a report of corvo bench: enqueue has no ops_per_sec at byte 12"),
            ('{"enqueue": {"p99_us": "x"}}', "b.json: not a report of corvo bench: enqueue.p99_us is not a number at byte 23"),
            ('{"enqueue": {"ops_per_sec": 1e999}}', "enqueue.ops_per_sec is not a number at byte 28"),
            ('{"combined": {"ops_per_sec": 1}}', "b.json have no phase in common"),
        )
        for text, message in rows:
            with self.subTest(text):
                self.failed(self.compare(self.BEFORE, text), message)

    def test_mistakes_are_named(self):
        corvo = Corvo("http://127.0.0.1:1")
        rows = (
            (("/nowhere/at/all", "/dev/null"), "/nowhere/at/all"),
            (("/dev/null",), "corvo bench compare needs <baseline> <current>, got 1 argument"),
            (("a", "b", "c"), "unexpected argument 'c'"),
            (("a", "b", "--server", "x"), "unknown flag '--server'"),
        )
        for args, message in rows:
            with self.subTest(args):
                self.failed(corvo.run("bench", "compare", *args), message)
        self.failed(corvo.run("bench", "compre", "a", "b"), "did you mean 'bench compare'?")


class BenchFaults(InFolder, LiveTest):
    """The docker command is replaced by a program that only records its arguments."""

    def bench(self, scenario, answer="net1 net2 ", code=0):
        docker, self.calls = self.folder / "docker", self.folder / "calls"
        docker.write_text(f"#!/bin/sh\necho \"$@\" >>{self.calls}\necho '{answer}'\nexit {code}\n")
        docker.chmod(0o755)
        return self.corvo.run("bench", "--preset", "failure", "--scenario", scenario, "--docker-container", "node-1",
                              "--jobs", "300", "--fault-warmup", "0s", "--fault-duration", "1ms", "--queue", self.queue,
                              "--output", "json", "--save", str(self.report()), env={"PATH": f"{self.folder}:/bin:/usr/bin"})

    def test_what_is_broken_is_mended(self):
        rows = (
            ("leader-kill", ["kill node-1", "start node-1"]),
            ("worker-crash", ["kill node-1", "start node-1"]),
            ("partition", ["inspect -f {{range $k, $v := .NetworkSettings.Networks}}{{$k}} {{end}} node-1",
                           "network disconnect net1 node-1", "network connect net1 node-1"]),
            ("disk-full", ["exec node-1 dd if=/dev/zero of=/tmp/corvo-bench-fill bs=1M count=512",
                           "exec node-1 rm -f /tmp/corvo-bench-fill"]),
            ("slow-node", ["exec node-1 tc qdisc add dev eth0 root netem delay 200ms",
                           "exec node-1 tc qdisc del dev eth0 root netem"]),
        )
        for scenario, calls in rows:
            with self.subTest(scenario):
                done = self.bench(scenario)
                self.assertEqual(done.returncode, 0, done)
                self.assertEqual(self.calls.read_text().splitlines(), calls)
                self.calls.unlink()
                report = json.loads(done.stdout)
                self.assertEqual((report["scenario"], report["lifecycle"]["completed"]), (scenario, 300))
                self.assertLess(report["fault"]["injected_at"], report["fault"]["recovered_at"])
                self.assertEqual(report["fault"]["errors_during_fault"], 0)

    def test_a_docker_that_fails_fails_the_run(self):
        self.failed(self.bench("leader-kill", "no such container", 1), "docker kill node-1: no such container")


class BenchRestart(InFolder):
    def test_a_server_that_is_killed_and_comes_back_completes_every_job(self):
        server = Server("--rate-limit-enabled=false")
        self.addCleanup(server.discard)
        api, url = server.client(), f"http://127.0.0.1:{server.port}"
        with Corvo(url).start("bench", "--jobs", "1500", "--work-duration", "5ms", "--fetch-batch-size", "8",
                              "--concurrency", "4", "--queue", "q", "--save", str(self.report())) as running:
            wait_until(lambda: self.completed(api) > 0, "a job to be completed")
            server.kill()
            server.args += ("--bind", url.removeprefix("http://"))
            server.start()
            self.assertEqual(running.wait(), 0)
        self.assertEqual(self.completed(server.client()), 1500)
        phase = json.loads(self.report().read_text())["lifecycle"]
        self.assertEqual(phase["completed"] + phase["dropped"], 1500)
        self.assertGreater(phase["errors"], 0)

    @staticmethod
    def completed(api):
        answer = api.get("/api/v1/queues/q")
        return answer.json["completed"] if answer.status == 200 else 0


class BenchLimited(InFolder):
    def test_overload_is_counted_and_gone_through(self):
        server = Server("--rate-limit-loopback", "--rate-limit-write-rps", "2000",
                        "--rate-limit-write-burst", "64")
        try:
            done = Corvo(f"http://127.0.0.1:{server.port}").run(
                "bench", "--jobs", "600", "--save", str(self.report()), "--enqueue-batch-size", "16",
                "--fetch-batch-size", "16", "--ack-batch-size", "16")
        finally:
            server.stop()
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("--rate-limit-enabled=false", done.stderr)
        phase = json.loads(self.report().read_text())["enqueue"]
        self.assertGreater(phase["overloaded"], 0)
        self.assertEqual((phase["completed"], phase["errors"]), (600, 0))


class BenchOddServer(InFolder, FakeTest):
    """A run with one job, so that every response is known."""

    ROUTES = {
        "GET /healthz": {"status": "ok"},
        "GET /cluster/status": {"mode": "single", "nodes": [{}]},
        "POST /queues/bench.q/clear": {"status": "cleared"},
        "POST /enqueue": (201, {"job_id": "job_1"}),
        "POST /fetch": {"job_id": "job_1", "payload": {}},
        "POST /ack/job_1": {"status": "ok"},
    }

    def bench(self, **changes):
        routes = {**self.ROUTES, **{key.replace("__", " /").replace("_to_", "/"): value
                                    for key, value in changes.items()}}
        self.fake, corvo = self.serve(routes)
        return corvo.run("bench", "--jobs", "1", "--concurrency", "1", "--enqueue-batch-size", "1", "--output",
                         "json", "--fetch-batch-size", "1", "--ack-batch-size", "1", "--save", str(self.report()))

    def test_a_server_that_is_not_healthy_is_left_alone(self):
        self.failed(self.bench(GET__healthz=(503, {"status": "no"})), "server unhealthy: status 503")

    def test_a_server_without_numbers_of_its_own_is_measured_too(self):
        report = json.loads(self.ok(self.bench()))
        self.assertEqual(report["lifecycle"]["completed"], 1)
        self.assertNotIn("server_cpu_pct", report["lifecycle"])

    def test_an_ack_that_is_never_confirmed_is_dropped_after_three_tries(self):
        refusal = (400, {"error": "job job_1 is not active", "code": "ACK_ERROR"})
        report = json.loads(self.ok(self.bench(POST__ack_to_job_1=refusal)))
        self.assertEqual((report["lifecycle"]["completed"], report["lifecycle"]["dropped"]), (0, 1))
        self.assertEqual(len(self.fake.asked("POST /ack/job_1")), 3)

    def test_a_server_error_is_counted_and_tried_again(self):
        done = self.bench(POST__enqueue=[Step((500, {"error": "x"})), Step((429, {"code": "OVERLOADED"})),
                                         Step((201, {"job_id": "job_1"}))])
        self.assertEqual(done.returncode, 0, done)
        phase = json.loads(done.stdout)["enqueue"]
        self.assertEqual((phase["completed"], phase["errors"], phase["overloaded"]), (1, 1, 1))

    def test_a_connection_that_breaks_is_opened_again_and_the_request_sent_again(self):
        broken = []

        def enqueue(_):
            if not broken:
                broken.append(True)
                raise ConnectionError("hang up")
            return 201, {"job_id": "job_1"}

        done = self.bench(POST__enqueue=enqueue)
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("a connection was lost", done.stderr)
        phase = json.loads(done.stdout)["enqueue"]
        self.assertEqual((phase["completed"], phase["errors"]), (1, 1))
        self.assertEqual(len(self.fake.asked("POST /enqueue")), 2)

    def test_an_answer_that_cannot_be_used_ends_the_run(self):
        self.failed(self.bench(POST__fetch={"job_id": "../x y"}), "no job ids that bench can read")

    def test_a_refusal_ends_the_run_and_is_shown(self):
        self.failed(self.bench(POST__enqueue=(403, {"error": "not yours", "code": "FORBIDDEN"})), "Error: not yours\n")
