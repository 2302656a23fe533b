"""A machine that denies something: the server says what, and loses nothing."""
import http.client
import resource
import signal
import socket
import tempfile
import unittest

from harness import PATIENCE_S, Server, allow_files, run_command, unique

NO_LIMIT = "--rate-limit-enabled=false"


class OpenFiles(unittest.TestCase):
    def test_a_start_with_too_few_is_refused(self):
        with tempfile.TemporaryDirectory(prefix="corvo-api-") as folder:
            run = run_command("server", "--bind", "127.0.0.1:0", "--data-dir", folder,
                              limits={resource.RLIMIT_NOFILE: 64})
        self.assertEqual(run.returncode, 1)
        self.assertIn("may have 64 open files and needs 1024", run.stderr)

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
                while True:  # one entry that does not fit into a segment makes it larger
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


if __name__ == "__main__":
    unittest.main()
