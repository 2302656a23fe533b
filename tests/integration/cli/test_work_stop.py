"""corvo work: how it ends when the server does not answer."""
import threading

from cli_harness import PATIENCE_S, FakeTest, signal
from harness import wait_until


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
                    self.assertIn("Waiting for 1 running jobs to finish", worker.error_line())
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
