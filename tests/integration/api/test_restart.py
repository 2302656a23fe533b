"""Restarts: acknowledged data exists afterwards, however the server ended."""
import http.client
import pathlib
import random
import shutil
import signal
import socket
import tempfile
import threading
import unittest

from harness import PATIENCE_S, Server, in_threads, metric, run_command, unique, wait_until

NO_LIMIT = "--rate-limit-enabled=false"
FAR_AHEAD = "2099-01-01T00:00:00Z"


class World:
    """One of everything, and how the server reports it."""

    def __init__(self, api):
        self.api, self.queue = api, unique("world")
        self.jobs, self.batches = {}, []

    def active(self, name, **fields):
        self.jobs[name] = self.api.enqueue(self.queue, {"name": name}, **fields)
        job = self.api.fetch(self.queue, worker_id="w-1", hostname="h")
        assert job["job_id"] == self.jobs[name]
        return job["job_id"]

    def build(self):
        api, queue = self.api, self.queue
        api.fail(self.active("retrying", retry_base_delay="1h"), "first", backtrace="b")
        api.fail(self.active("dead", max_retries=1))
        api.ack(self.active("completed"), result={"big": 12345678901234567890})
        api.act(self.active("held"), "hold", reason="because")
        api.act(self.active("cancelled"), "cancel")
        agent = self.active("agent", agent={"max_iterations": 9})
        api.ack(agent, agent_status="continue", checkpoint={"i": 1}, usage={"cost_usd": 0.5})
        api.act(agent, "hold")
        api.heartbeat({self.active("active"): {"progress": 3, "checkpoint": [1]}})
        self.jobs["scheduled"] = api.enqueue(queue, scheduled_at=FAR_AHEAD, tags={"a": "b"})
        self.jobs["parent"] = api.enqueue(unique("parent"))
        self.jobs["child"] = api.enqueue(queue, depends_on=[self.jobs["parent"]])
        self.jobs["unique"] = api.enqueue(queue, unique_key="only", priority="high")
        self.jobs["chain"] = api.enqueue(queue, chain={
            "steps": [{"queue": queue}, {"queue": unique("next")}], "on_failure": "handler"})
        answer = api.enqueue_batch([{"queue": queue}] * 3,
                                   batch={"callback_queue": unique("callback")})
        self.batches.append(answer["batch_id"])
        gone = api.enqueue(queue)
        api.must(api.delete(f"/api/v1/jobs/{gone}"))
        self.jobs["gone"] = gone
        for action, body in (("pause", None), ("concurrency", {"max": 5}),
                             ("throttle", {"rate": 100, "window_ms": 3600000})):
            api.must(api.post(f"/api/v1/queues/{queue}/{action}", body))
        api.must(api.post("/api/v1/schedules", {"name": unique("yearly"), "queue": queue,
                                                "cron": "@yearly", "payload": {"n": [1, 2]}}), 201)
        return self

    def seen(self):
        """Return every document, as bytes, so that the order of keys is compared, too."""
        paths = [f"/api/v1/jobs/{i}" for i in self.jobs.values()]
        paths += [f"/api/v1/jobs/{i}/iterations" for i in self.jobs.values()]
        paths += [f"/api/v1/batch/{i}" for i in self.batches]
        paths += ["/api/v1/queues", "/api/v1/schedules"]
        return {path: self.api.get(path).body for path in paths}


def end(server, how):
    if how == signal.SIGKILL:
        server.kill()
    else:
        server.terminate()


class Documents(unittest.TestCase):
    maxDiff = None
    settings = (NO_LIMIT,)

    def check(self, how, times=2):
        with Server(*self.settings) as server:
            api = server.client()
            world = World(api).build()
            before = world.seen()
            for _ in range(times):
                end(server, how)
                server.start()
                self.assertEqual(world.seen(), before)
            self.check_that_it_goes_on(api, world)

    def check_that_it_goes_on(self, api, world):
        """Check that locks, leases, dependencies and timers are still in effect."""
        queue, jobs = world.queue, world.jobs
        answer = api.post("/api/v1/enqueue", {"queue": queue, "unique_key": "only"})
        self.assertEqual((answer.status, answer.json["job_id"]), (200, jobs["unique"]))
        self.assertEqual(api.heartbeat({jobs["active"]: {}})["acked"], [jobs["active"]])
        self.assertFalse(api.is_claimable(queue), "the queue is paused")
        api.must(api.post(f"/api/v1/queues/{queue}/resume"))
        claimed = [j["job_id"] for j in api.fetch_batch(queue, count=4)]
        self.assertEqual(claimed[:2], [jobs["unique"], jobs["chain"]])
        self.assertEqual(len(claimed), 4, "five may be active, and one is")
        self.assertFalse(api.is_claimable(queue), "the limit of active jobs is reached")
        api.must(api.post("/api/v1/ack/batch", {"acks": [{"job_id": i} for i in claimed]}))
        api.ack(jobs["active"])
        api.ack(api.fetch(queue)["job_id"])  # the last of the batch
        self.assertFalse(api.is_claimable(queue), "the child waits")
        parent_queue = api.job(jobs["parent"])["queue"]
        api.ack(api.fetch(parent_queue)["job_id"])
        self.assertEqual(api.fetch(queue)["job_id"], jobs["child"])
        batch = api.get(f"/api/v1/batch/{world.batches[0]}").json
        self.assertEqual((batch["pending"], batch["succeeded"]), (0, 3))
        self.assertEqual(api.queue(batch["callback_queue"])["pending"], 1)

    def test_after_sigterm(self):
        """Everything acknowledged exists after SIGTERM and a restart."""
        self.check(signal.SIGTERM)

    def test_after_sigkill(self):
        """Everything acknowledged exists after SIGKILL and a restart."""
        self.check(signal.SIGKILL)


class Counters(unittest.TestCase):
    def test_start_at_zero(self):
        """config-and-metrics.md 11.1: the counters of jobs start at 0, however much of the log is applied again."""
        def counts(api):
            return [metric(api, f"corvo_throughput_{which}_total") for which in ("enqueued", "completed", "failed")]

        for how in (signal.SIGKILL, signal.SIGTERM):
            with self.subTest(how=how), Server(NO_LIMIT) as server:
                for _ in range(2):
                    api, queue = server.client(), unique("counted")
                    self.assertEqual(counts(api), [0, 0, 0])
                    api.enqueue_batch([{"queue": queue}] * 3)
                    api.ack(api.fetch(queue)["job_id"])
                    api.fail(api.fetch(queue)["job_id"])
                    self.assertEqual(counts(api), [3, 1, 1])
                    end(server, how)
                    server.start()
                self.assertEqual(counts(server.client()), [0, 0, 0])


class Signals(unittest.TestCase):
    def test_a_second_one_ends_it_at_once(self):
        """scheduler.md 14.5: the second signal ends the server at once, while an incomplete request delays the
        first."""
        for first, second in ((signal.SIGTERM, signal.SIGINT), (signal.SIGINT, signal.SIGTERM),
                              (signal.SIGTERM, signal.SIGTERM)):
            with self.subTest(first=first, second=second):
                server = Server("--shutdown-timeout", "10m", "--http-read-timeout", "10m")
                self.addCleanup(server.discard)
                with socket.create_connection(("127.0.0.1", server.port)) as connection:
                    connection.sendall(b"POST /api/v1/enqueue HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{")
                    wait_until(lambda: metric(server.client(), "corvo_http_requests_in_flight") >= 2, "the request")
                    server.process.send_signal(first)
                    wait_until(lambda: server.events("stopping"), "it stops")
                    self.assertIsNone(server.process.poll())
                    server.process.send_signal(second)
                    self.assertEqual(server.process.wait(PATIENCE_S), 130)


class DocumentsWithSnapshots(Documents):
    """The same with a log that is continuously truncated and replaced by snapshots."""

    settings = (NO_LIMIT, "--snapshot-log-bytes", "65536", "--segment-bytes", "65536")

    def check(self, how, times=1):
        super().check(how, times)

    def test_a_state_that_is_mostly_in_snapshots(self):
        with Server(*self.settings) as server:
            api = server.client()
            queue = unique("snapshots")
            ids = []
            for n in range(40):
                ids += api.enqueue_batch([{"queue": queue, "payload": f"{n} " + "x" * 1000}]
                                         * 5)["job_ids"]
            done = [j["job_id"] for j in api.fetch_batch(queue, count=50)]
            api.must(api.post("/api/v1/ack/batch", {"acks": [{"job_id": i} for i in done]}))
            wait_until(lambda: self.snapshots(api) > 0, "a snapshot")
            server.kill()
            server.start()
            found = api.must(api.post("/api/v1/jobs/bulk-get", {"job_ids": ids}))["jobs"]
            self.assertEqual([j["id"] for j in found], ids)
            self.assertEqual({j["id"] for j in found if j["state"] == "completed"}, set(done))
            entry = api.queue(queue)
            self.assertEqual((entry["pending"], entry["completed"]), (150, 50))

    def snapshots(self, api):
        return api.get("/api/v1/cluster/status").json["snapshot"]["count"]


class OtherUsers(unittest.TestCase):
    def test_may_read_nothing_that_the_server_keeps(self):
        parent = pathlib.Path(tempfile.mkdtemp(prefix="corvo-api-"))
        self.addCleanup(shutil.rmtree, parent)
        folder = parent / "data"
        with Server(NO_LIMIT, data_dir=str(folder)) as server:
            server.client().enqueue("q", {"card": 4711})
        kept = [folder, *folder.rglob("*")]
        self.assertIn(folder / "view.db", kept)
        self.assertEqual([str(f) for f in kept if f.stat().st_mode & 0o077], [])


class DamagedFiles(unittest.TestCase):
    """The server refuses to start with a helpful message, and the suggested remedy restores everything."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="corvo-api-"))
        self.addCleanup(shutil.rmtree, self.folder)
        server = Server(NO_LIMIT, "--segment-bytes", "65536", "--snapshot-log-bytes", "100000",
                        data_dir=str(self.folder))
        api = server.client()
        self.jobs = []
        first = self.folder / "raft" / "log" / "log-0000000000000001"

        def log_is_cut():
            made = api.enqueue_batch([{"queue": "q", "payload": "x" * 500}] * 100)
            self.jobs.extend(made["job_ids"])
            return not first.exists()
        wait_until(log_is_cut, "two snapshots, and the log being cut for the first of them")
        self.jobs.append(api.enqueue("q"))
        server.kill()  # so that only the log has the last job

    def refusal(self):
        run = run_command("server", "--bind", "127.0.0.1:0", "--data-dir", str(self.folder))
        self.assertEqual(run.returncode, 1, run.stderr)
        return run.stderr

    def check_all_there(self):
        with Server(NO_LIMIT, data_dir=str(self.folder)) as server:
            api = server.client()
            for i in range(0, len(self.jobs), 500):
                ids = self.jobs[i:i + 500]
                found = api.must(api.post("/api/v1/jobs/bulk-get", {"job_ids": ids}))["jobs"]
                self.assertEqual(len(found), len(ids))

    def test_state(self):
        (self.folder / "state" / "CURRENT").write_bytes(b"")
        self.assertIn("run corvo repair", self.refusal())
        (self.folder / "state").rename(self.folder / "state.damaged")
        self.check_all_there()

    def repair(self, *args):
        return run_command("repair", "--data-dir", str(self.folder), *args)

    @staticmethod
    def spoil(path):
        """Change bytes in place: every hard link of the file sees it."""
        with open(path, "r+b") as f:
            f.seek(path.stat().st_size // 3)
            f.write(b"damage")

    def tables(self, folder):
        return {f.stat().st_ino: f for f in folder.glob("*.sst")}

    def test_repair_finds_nothing_to_do(self):
        run = self.repair()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("Nothing is damaged", run.stdout)

    def test_repair_of_the_state(self):
        (self.folder / "state" / "CURRENT").write_bytes(b"")
        run = self.repair()
        self.assertEqual(run.returncode, 1)
        self.assertIn("Nothing was changed", run.stdout)
        self.assertTrue((self.folder / "state").exists())
        run = self.repair("--yes")
        self.assertEqual(run.returncode, 0, run.stdout)
        self.check_all_there()
        self.assertEqual(len(list(self.folder.glob("damaged-*/state"))), 1)

    def exchange_state(self):
        """Simulate a node that replaced its state with a checkpoint, and was killed meanwhile."""
        (self.folder / "state").rename(self.folder / "state.1")
        (self.folder / "state").mkdir()  # half deleted
        (self.folder / "state.choice").write_text("state.1")

    def test_repair_looks_at_the_state_that_counts(self):
        self.exchange_state()
        run = self.repair()
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn("state.1", run.stdout)
        self.assertIn("Nothing is damaged", run.stdout)
        self.check_all_there()
        self.assertEqual([f.name for f in self.folder.glob("state*")], ["state"])

    def test_repair_of_the_state_that_counts(self):
        self.exchange_state()
        (self.folder / "state.1" / "CURRENT").write_bytes(b"")
        self.assertEqual(self.repair().returncode, 1)
        self.assertTrue((self.folder / "state.choice").exists())
        run = self.repair("--yes")
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertEqual(list(self.folder.glob("state*")), [])
        self.assertEqual(sorted(f.name for f in self.folder.glob("damaged-*/state*")),
                         ["state", "state.1", "state.choice"])
        self.check_all_there()

    def test_repair_of_a_choice_of_nothing(self):
        for chosen in ("state.9", "", "../state.1", "raft"):
            (self.folder / "state.choice").write_text(chosen)
            run = self.repair()
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            self.assertIn("Nothing is damaged", run.stdout)
        self.check_all_there()

    def test_repair_of_a_table_that_the_newest_snapshot_shares(self):
        manifests = (self.folder / "raft" / "snapshots").glob("*.manifest")
        snapshots = sorted(f.with_suffix("") for f in manifests)
        self.assertEqual(len(snapshots), 2)
        older, newest = (self.tables(f) for f in snapshots)
        shared = (newest.keys() & self.tables(self.folder / "state").keys()) - older.keys()
        self.assertTrue(shared)
        for inode in shared:
            self.spoil(newest[inode])
        run = self.repair()
        self.assertIn("move the damaged state and the newest snapshot aside", run.stdout)
        self.assertIn("Nothing that was acknowledged is lost", run.stdout)
        self.assertEqual(self.repair("--yes").returncode, 0)
        self.check_all_there()

    def files(self):
        return {f.relative_to(self.folder): f.read_bytes() for f in self.folder.rglob("*") if f.is_file()}

    def test_repair_of_the_newest_manifest(self):
        newest = max((self.folder / "raft" / "snapshots").glob("*.manifest"))
        self.spoil(newest)
        self.assertIn("the manifest is damaged", self.refusal())
        before = self.files()
        run = self.repair()
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("move the damaged newest snapshot aside", run.stdout)
        self.assertEqual(self.files(), before)  # the spares of the log do not have the default size
        run = self.repair("--yes")
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertEqual([f.name for f in self.folder.glob("damaged-*/*.manifest")], [newest.name])
        self.check_all_there()

    def test_repair_when_only_a_backup_helps(self):
        for f in (self.folder / "raft" / "snapshots").glob("*/*.sst"):
            self.spoil(f)
        run = self.repair("--yes")
        self.assertEqual(run.returncode, 1)
        self.assertIn("only a backup helps", run.stdout)
        self.assertRegex(run.stdout, r"damaged: .*\.sst")
        self.assertEqual(list(self.folder.glob("damaged-*")), [])

    def test_repair_of_what_is_no_data_folder(self):
        for folder, word in (("", "1 to 512"), ("x" * 2000, "1 to 512"), ("/nowhere", "nowhere")):
            run = run_command("repair", "--data-dir", folder)
            self.assertEqual(run.returncode, 1, folder)
            self.assertIn(word, run.stderr)

    def test_repair_beside_a_server(self):
        with Server(NO_LIMIT, data_dir=str(self.folder)):
            run = self.repair("--yes")
        self.assertEqual(run.returncode, 1)
        self.assertIn("stop it first", run.stderr)

    def test_log_that_is_gone(self):
        log = self.folder / "raft" / "log"
        log.rename(self.folder / "away")
        self.assertRegex(self.refusal(), "the log in .* is missing")
        shutil.rmtree(log)
        (self.folder / "away").rename(log)
        self.check_all_there()

    def newest_segment(self):
        """Return the last log file that was written to: its header contains its own number."""
        return max(f for f in (self.folder / "raft" / "log").glob("log-*")
                   if f.read_bytes()[16:24] == int(f.name[4:], 16).to_bytes(8, "little"))

    def test_newest_segment_that_is_gone(self):
        server = Server(NO_LIMIT, "--segment-bytes", "65536", data_dir=str(self.folder))
        for _ in range(3):
            made = server.client().enqueue_batch([{"queue": "q", "payload": "x" * 500}] * 100)
            self.jobs += made["job_ids"]
        server.kill()
        newest = self.newest_segment()
        newest.rename(self.folder / "away")
        self.assertIn(f"log segment '{newest.name}' is missing: restore it to",
                      self.refusal())
        (self.folder / "away").rename(newest)
        self.check_all_there()

    def test_newest_segment_that_is_given_up(self):
        server = Server(NO_LIMIT, "--segment-bytes", "65536", data_dir=str(self.folder))
        kept = self.jobs + server.client().enqueue_batch([{"queue": "q"}] * 100)["job_ids"]
        server.client().enqueue_batch([{"queue": "q", "payload": "x" * 1000}] * 100)
        server.kill()
        self.newest_segment().unlink()
        self.refusal()
        with Server("--durable=false", NO_LIMIT, data_dir=str(self.folder)):
            pass
        self.jobs = kept
        self.check_all_there()

    def test_snapshot_that_is_gone(self):
        snapshots = self.folder / "raft" / "snapshots"
        snapshots.rename(self.folder / "away")
        self.assertIn("a log segment or a snapshot is missing", self.refusal())
        shutil.rmtree(snapshots)
        (self.folder / "away").rename(snapshots)
        self.check_all_there()


class TimersAfterRestart(unittest.TestCase):
    def test_what_became_due_while_the_server_was_down(self):
        """Overdue promotions, leases, expirations and schedules are processed."""
        with Server(NO_LIMIT) as server:
            api = server.client()
            queue, reclaimed, expired, fired = (unique(n) for n in ("due", "lease", "exp", "fire"))
            job = api.enqueue(queue, retry_backoff="fixed", retry_base_delay="1s")
            api.fetch(queue)
            api.fail(job)
            leased = api.enqueue(reclaimed)
            api.fetch(reclaimed, lease_duration=1)
            api.must(api.post(f"/api/v1/queues/{expired}/pause"))
            expiring = api.enqueue(expired, expire_after="1s")
            api.must(api.post("/api/v1/schedules", {"name": "s", "queue": fired,
                                                    "cron": "@every 1s"}), 201)
            server.kill()
            server.start()
            self.assertEqual(api.fetch(queue)["job_id"], job)
            self.assertEqual(api.fetch(reclaimed)["job_id"], leased)
            api.wait_for_state(expiring, "dead")
            api.fetch(fired)


class KilledUnderLoad(unittest.TestCase):
    """Twenty SIGKILLs while 64 clients work: no job is lost, and none is claimed twice."""

    takes_long = True
    CLIENTS, CYCLES, OPERATIONS = 64, 20, 400

    def setUp(self):
        self.lock = threading.Lock()
        self.made, self.unsure_made = [], 0  # ids with their cycle; number of enqueues without a response
        self.claimed, self.acked, self.unsure_acks = [], set(), set()
        self.cycle, self.operations = 0, 0
        self.enough = threading.Event()

    def count(self):
        with self.lock:
            self.operations += 1
            if self.operations >= self.OPERATIONS:
                self.enough.set()

    def enqueue(self, api, queue):
        try:
            answer = api.send("POST", "/api/v1/enqueue", {"queue": queue, "payload": [1, 2, 3]})
        except (OSError, http.client.HTTPException):
            with self.lock:
                self.unsure_made += 1
            raise
        assert answer.status == 201, answer
        with self.lock:
            self.made.append((self.cycle, answer.json["job_id"]))
        self.count()

    def work(self, api, queue):
        answer = api.send("POST", "/api/v1/fetch", {"queues": [queue], "timeout": 1})
        if answer.status == 204:
            return
        assert answer.status == 200, answer
        job = answer.json
        with self.lock:
            self.claimed.append((job["job_id"], job["attempt"]))
        try:
            answer = api.send("POST", f"/api/v1/ack/{job['job_id']}", {"result": "done"})
        except (OSError, http.client.HTTPException):
            with self.lock:
                self.unsure_acks.add(job["job_id"])
            raise
        assert answer.status == 200, answer
        with self.lock:
            self.acked.add(job["job_id"])
        self.count()

    def client(self, server, queue, seed):
        rng = random.Random(seed)
        api = server.client()
        try:
            while True:
                if rng.random() < 0.6:
                    self.enqueue(api, queue)
                else:
                    self.work(api, queue)
        except (OSError, http.client.HTTPException):
            api.close()  # the server is gone, so this client is done for this cycle

    def run_cycle(self, server, queue):
        def one(i):
            if i == 0:
                self.enough.wait(60)
                server.kill()
            else:
                self.client(server, queue, self.cycle * 1000 + i)

        self.operations = 0
        self.enough.clear()
        in_threads(self.CLIENTS + 1, one)
        self.assertTrue(self.enough.is_set(), "the server was too slow")

    def test_twenty_times(self):
        queue = unique("load")
        with Server(NO_LIMIT) as server:
            for self.cycle in range(self.CYCLES):
                self.run_cycle(server, queue)
                server.start()
                self.check(server.client(), queue)

    def check(self, api, queue):
        ids = [job_id for _, job_id in self.made]
        self.assertEqual(len(ids), len(set(ids)))
        found = {}
        for i in range(0, len(ids), 1000):
            answer = api.must(api.post("/api/v1/jobs/bulk-get", {"job_ids": ids[i:i + 1000]}))
            found.update({j["id"]: j for j in answer["jobs"]})
        self.assertEqual(set(ids) - set(found), set(), "acknowledged jobs are lost")
        states = {job_id: found[job_id]["state"] for job_id in ids}
        self.assertEqual({states[i] for i in self.acked if i in states} - {"completed"}, set(),
                         "acknowledged completions are lost")
        unasked = {i for i in ids if states[i] == "completed"} - self.acked - self.unsure_acks
        self.assertEqual(unasked, set(), "jobs are completed that nobody completed")
        self.assertEqual(len(self.claimed), len(set(self.claimed)), "a job was handed out twice")
        entry = api.queue(queue)
        self.assertGreaterEqual(entry["enqueued"], len(ids))
        self.assertLessEqual(entry["enqueued"], len(ids) + self.unsure_made)
        self.assertEqual(entry["pending"] + entry["active"] + entry["completed"],
                         entry["enqueued"])
        newest = {}
        for cycle, job_id in self.made:
            newest.setdefault(cycle, []).append(job_id)
        for cycle in range(1, len(newest)):
            self.assertLess(max(newest[cycle - 1]), min(newest[cycle]), "ids keep sorting")


if __name__ == "__main__":
    unittest.main()
