"""corvo work: how it ends, and what it does when nobody reads its standard error.

A worker must neither hang when it is stopped nor stop sending heartbeats, whatever the server and the
reader of its output do.
"""
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading

from cli_harness import PATIENCE_S, FakeTest, LiveTest, binary, environment, signal
from harness import wait_until


def is_gone(pid):
    try:
        return " Z " in pathlib.Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return True


class WorkForAServerThatNeverAnswers(FakeTest):
    def setUp(self):
        super().setUp()
        self.over = threading.Event()
        self.addCleanup(self.over.set)

    def never(self, asked):
        def answer(_):
            asked.set()
            self.over.wait()
            return {"status": "ok"}
        return answer

    def serve_one(self, **routes):
        job = {"job_id": "job_1", "queue": "q", "payload": {}, "attempt": 1, "max_retries": 1,
               "lease_duration": 60, "lease_token": 9}
        jobs = [job]
        return self.serve({"POST /fetch/batch": lambda _: {"jobs": [jobs.pop()] if jobs else []},
                           "POST /heartbeat": {"jobs": {}}, **routes})

    def test_a_second_signal_does_not_wait_for_the_report(self):
        for route in ("POST /ack/job_1", "POST /fail/job_1"):
            with self.subTest(route):
                asked = threading.Event()
                _, corvo = self.serve_one(**{route: self.never(asked)})
                command = "true" if "ack" in route else "exit 1"
                with corvo.start("work", "--queue", "q", "--exec", command, "--protocol", "http") as worker:
                    self.assertTrue(asked.wait(PATIENCE_S))
                    worker.signal(signal.SIGTERM)
                    self.assertIn("Waiting for 1 running job to finish", worker.error_line())
                    worker.signal(signal.SIGTERM)
                    self.assertIn("report given up", worker.error_line())
                    self.assertEqual(worker.wait(), 143)

    def test_nor_does_the_limit_of_a_drain(self):
        asked = threading.Event()
        _, corvo = self.serve_one(**{"POST /ack/job_1": self.never(asked)})
        with corvo.start("work", "--queue", "q", "--exec", "true", "--protocol", "http",
                         "--drain-timeout", "10ms") as worker:
            self.assertTrue(asked.wait(PATIENCE_S))
            worker.signal(signal.SIGTERM)
            self.assertEqual(worker.wait(), 1)

    def test_nor_for_a_checkpoint(self):
        """The heartbeat that saves it gets no answer."""
        asked = threading.Event()
        _, corvo = self.serve_one(**{"POST /heartbeat": self.never(asked)})
        command = """trap 'echo "{\\"checkpoint\\":7}" >&3; exit 0' TERM; echo ready >&2
                     while :; do sleep 0.01; done"""
        with corvo.start("work", "--queue", "q", "--exec", command, "--protocol", "http") as worker:
            self.assertEqual(worker.error_line(), "ready\n")
            worker.signal(signal.SIGINT)
            worker.error_line()
            worker.signal(signal.SIGINT)
            self.assertTrue(asked.wait(PATIENCE_S))
            wait_until(lambda: "report given up" in worker.error_line())
            self.assertEqual(worker.wait(), 130)

    def test_a_report_is_repeated_when_the_answer_does_not_come(self):
        asked = threading.Event()
        never = self.never(asked)
        fake, corvo = self.serve_one(**{"POST /ack/job_1": lambda request:
                                        {"status": "ok"} if asked.is_set() else never(request)})
        done = corvo.run("work", "--queue", "q", "--exec", "true", "--protocol", "http",
                         "--exit-when-idle", "--timeout", "1500ms")
        self.ok(done, "")
        self.assertEqual(len(fake.asked("POST /ack/job_1")), 2)


class WorkWithoutAReader(LiveTest):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="corvo-work-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.ends = list(os.pipe())
        self.addCleanup(lambda: [os.close(fd) for fd in self.ends])

    def start(self, command, *flags):
        """Start a worker for one job whose standard error is a pipe that nobody reads."""
        worker = subprocess.Popen(
            [binary(), "work", "--queue", self.queue, "--exec", command, "--max-jobs", "1", *flags],
            env=environment(self.corvo.env), stdin=subprocess.DEVNULL, stderr=self.ends[1])
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)
        os.close(self.ends.pop())
        return worker

    def drain(self):
        text = b""
        while piece := os.read(self.ends[0], 65536):
            text += piece
        return text

    def test_a_full_pipe_stops_neither_heartbeats_nor_reports(self):
        job_id = self.enqueue("--max-retries", "2")
        # The program fills the pipe; the worker must keep its lease for longer than a lease lasts.
        worker = self.start("head -c 120000 /dev/zero | tr '\\0' x >&2; sleep 2.5; head -c 20000 /dev/zero | tr '\\0' y >&2",
                            "--lease", "1s")
        self.api.wait_for_state(job_id, "completed")
        self.assertEqual(self.api.job(job_id)["attempt"], 1)
        self.assertEqual(self.drain(), b"x" * 120000 + b"y" * 20000)
        self.assertEqual(worker.wait(PATIENCE_S), 0)

    def test_a_program_waits_for_the_reader_as_in_a_pipeline(self):
        job_id = self.enqueue()
        worker = self.start("head -c 3000000 /dev/zero | tr '\\0' x >&2")
        self.assertEqual(len(self.drain()), 3000000)
        self.assertEqual(worker.wait(PATIENCE_S), 0)
        self.assertEqual(self.api.state(job_id), "completed")

    def test_a_reader_that_has_gone_does_not_end_the_worker(self):
        job_id = self.enqueue()
        worker = self.start("echo one >&2; sleep 0.1; echo two >&2; echo 17")
        os.close(self.ends.pop())
        self.assertEqual(worker.wait(PATIENCE_S), 0)
        self.assertEqual(self.api.job(job_id)["result"], 17)

    def test_a_stopped_worker_does_not_wait_for_the_reader(self):
        self.enqueue()
        worker = self.start(f"touch {self.folder}/ready; yes >&2")
        wait_until((self.folder / "ready").exists)
        worker.send_signal(signal.SIGTERM)
        worker.send_signal(signal.SIGINT)  # another SIGTERM could become one with the first
        self.assertIn(worker.wait(PATIENCE_S), (130, 143))


class WorkOnATerminalThatIsClosed(LiveTest):
    def test_a_hangup_drains_however_often_it_comes(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="corvo-work-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        first, second = self.enqueue(), self.enqueue()
        pid, go = folder / "pid", folder / "go"
        command = f"echo $$ > {pid}.tmp; mv {pid}.tmp {pid}; while [ ! -e {go} ]; do sleep 0.01; done"
        with self.corvo.start("work", "--queue", self.queue, "--exec", command) as worker:
            wait_until(pid.exists)
            worker.signal(signal.SIGHUP)
            self.assertIn("Waiting for 1 running job to finish", worker.error_line())
            worker.signal(signal.SIGHUP)
            self.assertFalse(is_gone(int(pid.read_text())))
            go.touch()
            self.assertEqual(worker.wait(), 0)
        self.assertEqual([self.api.state(j) for j in (first, second)], ["completed", "pending"])

    def test_nohup_is_obeyed(self):
        with subprocess.Popen(["nohup", binary(), "work", "--queue", self.queue, "--exec", "true", "--max-jobs", "1"],
                              env=environment(self.corvo.env), stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as worker:
            wait_until(lambda: self.api.fetches_waiting() > 0)
            worker.send_signal(signal.SIGHUP)
            self.api.wait_for_state(self.enqueue(), "completed")
            self.assertEqual(worker.wait(PATIENCE_S), 0)
