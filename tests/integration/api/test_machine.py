"""A machine that refuses resources: the server reports which, and loses nothing."""
import http.client
import os
import resource
import signal
import socket
import subprocess
import tempfile
import unittest

from harness import PATIENCE_S, Server, allow_files, metric, run_command, unique, wait_until

NO_LIMIT = "--rate-limit-enabled=false"


class OpenFiles(unittest.TestCase):
    def test_a_start_with_too_few_is_refused(self):
        with tempfile.TemporaryDirectory(prefix="corvo-api-") as folder:
            run = run_command("server", "--bind", "127.0.0.1:0", "--data-dir", folder,
                              limits={resource.RLIMIT_NOFILE: 64})
        self.assertEqual(run.returncode, 1)
        self.assertIn("the limit on open files is 64, but the server needs at least 1024", run.stderr)

    def test_clients_leave_some_for_jobs(self):
        allow_files(1500)
        with Server(NO_LIMIT, "--segment-bytes", "65536", "--snapshot-log-bytes", "200000",
                    limits={resource.RLIMIT_NOFILE: 1024}) as server:
            api, queue, crowd = server.client(), unique("q"), []
            job = api.enqueue(queue)
            for _ in range(1024):
                crowd.append(socket.create_connection(("127.0.0.1", server.port), PATIENCE_S))
            with crowd[-1].makefile("rb") as last:
                self.assertIn(b" 503 ", last.readline())
            for _ in range(10):  # new segments of the log, and new tables, need files
                api.enqueue_batch([{"queue": queue, "payload": "x" * 1000}] * 100)
            self.assertEqual(server.events("disk_space_low"), [])
            self.assertEqual(server.events("snapshot failed"), [])
            for s in crowd:
                s.close()
            api.must(api.get(f"/api/v1/jobs/{job}"))


class SizeOfFiles(unittest.TestCase):
    def test_a_limit_ends_the_server_with_a_word(self):
        with tempfile.TemporaryDirectory(prefix="corvo-api-") as folder:
            server = Server(NO_LIMIT, "--segment-bytes", "1048576", data_dir=folder,
                            limits={resource.RLIMIT_FSIZE: 1500000})
            api, queue, made = server.client(), unique("q"), []
            try:
                while True:  # an entry that does not fit into a segment makes the segment larger
                    made += api.enqueue_batch([{"queue": queue}])["job_ids"]
                    made += api.enqueue_batch([{"queue": queue, "payload": "x" * 250000}] * 8)[
                        "job_ids"]
            except (OSError, http.client.HTTPException, AssertionError):
                server.process.wait(PATIENCE_S)
                server.reader.join()
            self.assertEqual(server.process.returncode, -signal.SIGABRT, server.log())
            self.assertRegex("".join(server.lines), "fatal: .*File too large")
            with Server(NO_LIMIT, data_dir=folder) as again:
                for job in made:
                    again.client().must(again.client().get(f"/api/v1/jobs/{job}"))


class SmallDisk:
    """A file system in memory that can become full."""

    def __init__(self, mib):
        self.folder = tempfile.mkdtemp(prefix="corvo-api-")
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mib}m", "tmpfs", self.folder],
                              stderr=subprocess.DEVNULL, check=False)
        self.mounted = done.returncode == 0
        if not self.mounted:
            os.rmdir(self.folder)
            raise unittest.SkipTest("this user cannot mount a file system")
        self.data = os.path.join(self.folder, "data")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", self.folder], check=True)
        os.rmdir(self.folder)

    def free_mib(self):
        st = os.statvfs(self.folder)
        return st.f_bavail * st.f_frsize >> 20

    def fill(self):
        """Another program uses all remaining space."""
        with open(os.path.join(self.folder, "other"), "wb", buffering=0) as f:
            try:
                while True:
                    f.write(b"x" * 65536)
            except OSError:
                pass

    def unfill(self):
        os.unlink(os.path.join(self.folder, "other"))


class FullDisk(unittest.TestCase):
    SETTINGS = (NO_LIMIT, "--free-space-min", str(64 << 20), "--segment-bytes", str(1 << 20),
                "--snapshot-log-bytes", str(8 << 20))

    def fill_with_jobs(self, api, queue):
        """Create jobs until they are refused. Returns the number of jobs, and the refusal."""
        made = 0
        jobs = [{"queue": queue, "payload": os.urandom(48000).hex()} for _ in range(40)]
        while True:
            answer = api.post("/api/v1/enqueue/batch", {"jobs": jobs})
            if answer.status != 201:
                return made, answer
            made += len(jobs)

    def wait_ready(self, api, status):
        return wait_until(lambda: api.get("/readyz").status == status, f"readyz answering {status}")

    def test_new_jobs_are_refused_and_deleting_makes_room(self):
        with SmallDisk(320) as disk, Server(*self.SETTINGS, data_dir=disk.data) as server:
            api, queue = server.client(), unique("q")
            _, refused = self.fill_with_jobs(api, queue)
            self.assertEqual((refused.status, refused.json["code"]), (503, "UNHEALTHY"))
            # Either the disk monitor refuses or, if jobs arrive faster than it checks, the log does.
            self.assertIn("the disk is nearly full", refused.json["error"])
            self.assertGreater(disk.free_mib(), 0)
            # The other test checks the reported state: here a compaction may change it soon.
            for _ in range(20):  # work goes on
                job = api.must(api.post("/api/v1/fetch", {"queues": [queue], "worker_id": "w"}))
                api.must(api.post(f"/api/v1/ack/{job['job_id']}", {}))
            api.must(api.post(f"/api/v1/queues/{queue}/clear", {}))
            # The space is freed without a restart, and the reserve is created again.
            wait_until(lambda: api.post("/api/v1/enqueue", {"queue": queue}).status == 201, "a job to be accepted", 120)
            wait_until(lambda: metric(api, "corvo_disk_reserve_bytes") > 0, "the reserve", 120)
            wait_until(lambda: api.get("/readyz").status == 200, "readyz", 120)
            self.assertGreater(len(server.events("disk_space_low")), 0)

    def test_a_disk_that_others_have_filled(self):
        with SmallDisk(256) as disk, Server(*self.SETTINGS, data_dir=disk.data) as server:
            api, queue = server.client(), unique("q")
            for _ in range(4):
                job = api.enqueue(queue)
            disk.fill()
            self.wait_ready(api, 503)
            self.assertIn("nearly full", api.get("/readyz").json["error"])
            self.assertNotEqual(api.must(api.get("/api/v1/cluster/status"))["space"]["level"], "ok")
            self.assertIn("corvo_disk_low 1", api.get("/metrics").body.decode())
            api.must(api.delete(f"/api/v1/jobs/{job}"))  # from the reserve
            server.kill()
            disk.fill()
            server.start()
            api = server.client()
            self.assertEqual(api.get("/readyz").status, 503)
            self.assertEqual(api.get(f"/api/v1/jobs/{job}").status, 404)
            api.must(api.post(f"/api/v1/queues/{queue}/clear", {}))
            disk.unfill()
            self.wait_ready(api, 200)
            api.must(api.get(f"/api/v1/jobs/{api.enqueue(queue)}"))


if __name__ == "__main__":
    unittest.main()
