"""corvo work: what programs write to descriptor 3, with a server that does not accept it at once.

A heartbeat covers all jobs of the worker, so a report must not endanger their leases. A report counts as
sent when its heartbeat was answered.
"""
import pathlib
import shutil
import tempfile

from cli_harness import FakeTest, json
from harness import wait_until


class Reports(FakeTest):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="corvo-work-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.beats, self.go = [], self.folder / "go"
        self.wait = f"while [ ! -e {self.go} ]; do sleep 0.01; done"

    def says(self, number, **report):
        """Set the report that the program of this job writes with self.write."""
        (self.folder / f"job_{number}").write_text(json.dumps(report) + "\n")

    @property
    def write(self):
        return f"cat {self.folder}/$CORVO_JOB_ID >&3"

    def work(self, count, command, answer, end="ack"):
        """Run count jobs at the same time. Heartbeats are answered by a function of their jobs, which are recorded
        in self.beats. Returns the server and the worker's standard error."""
        def heartbeat(request):
            self.beats.append(request.json["jobs"])
            return answer(request.json["jobs"])

        ids = [f"job_{n}" for n in range(1, count + 1)]
        jobs = [{"job_id": j, "queue": "q", "payload": {}, "attempt": 1, "max_retries": 1,
                 "lease_duration": 60, "lease_token": 9} for j in ids]
        fake, corvo = self.serve({"POST /fetch/batch": {"jobs": jobs}, "POST /heartbeat": heartbeat,
                                  **{f"POST /{end}/{j}": {} for j in ids}})
        done = corvo.run("work", "--queue", "q", "--max-jobs", str(count), "--concurrency",
                         str(count), "--protocol", "http", "--heartbeat", "1s", "--exec", command)
        self.assertEqual(done.returncode, 0, done.stderr)
        return fake, done.stderr

    def reported(self, member):
        """Return the reported values of all heartbeats, in order."""
        return [(job_id, job[member]) for jobs in self.beats
                for job_id, job in jobs.items() if member in job]

    def go_when(self, is_time):
        """Return a heartbeat response without errors. It lets the programs continue once is_time() is true."""
        def answer(_):
            if is_time():
                self.go.touch()
            return {"jobs": {}}
        return answer

    def check_too_large(self, member, limit):
        self.says(1, **{member: "x" * (limit - 1)})  # plus two quotes
        self.says(2, **{member: "x" * (limit - 2)})
        _, errors = self.work(2, f"{self.write}; {self.write}; {self.wait}",
                              self.go_when(lambda: self.reported(member)))
        self.assertEqual({j for j, _ in self.reported(member)}, {"job_2"})
        self.assertEqual(errors.count("\n"), 1, errors)
        for part in ("report dropped: too large", "job_1", member, str(limit + 1), str(limit)):
            self.assertIn(part, errors)

    def test_progress_that_is_too_large_is_dropped(self):
        self.check_too_large("progress", 32 * 1024)

    def test_a_checkpoint_that_is_too_large_is_dropped(self):
        self.check_too_large("checkpoint", 1 << 20)

    def test_one_that_is_too_large_leaves_the_one_before_it(self):
        lines = [{"checkpoint": 1}, {"checkpoint": "x" * (1 << 20)}, {"checkpoint": None}]
        (self.folder / "job_1").write_text("".join(json.dumps(line) + "\n" for line in lines))
        _, errors = self.work(1, f"{self.write}; exit 1", lambda _: {"jobs": {}}, end="fail")
        self.assertEqual(self.reported("checkpoint")[-1], ("job_1", 1))
        self.assertIn("report dropped: too large", errors)

    def test_one_that_is_refused_is_found_and_dropped(self):
        for n in (1, 2, 3):
            self.says(n, progress=n)
        renewed = []

        def answer(jobs):
            if "progress" in jobs["job_2"]:
                return 413, {"error": "not this one", "code": "PAYLOAD_TOO_LARGE"}
            renewed.append(sorted(jobs))
            told = {j for j, _ in self.reported("progress")}
            if told == {"job_1", "job_2", "job_3"} and "progress" not in json.dumps(jobs):
                self.go.touch()
            return {"jobs": {}}

        _, errors = self.work(3, f"{self.write}; {self.wait}", answer)
        self.assertIn("not this one", errors)
        self.assertRegex(errors, "report dropped: refused by the server.*job_2")
        self.assertEqual(errors.count("report dropped"), 1, errors)
        self.assertEqual({tuple(r) for r in renewed}, {("job_1", "job_2", "job_3")})

    def test_many_large_ones_go_by_several_heartbeats(self):
        for n in range(1, 9):
            self.says(n, checkpoint=f"{n}" * 1000000)
        arrived = self.go_when(lambda: len({j for j, _ in self.reported("checkpoint")}) == 8)
        self.work(8, f"{self.write}; {self.wait}", arrived)
        self.assertLess(max(len(json.dumps(jobs)) for jobs in self.beats), 6 << 20)

    def test_a_heartbeat_that_failed_is_made_again_with_all_it_carried(self):
        self.says(1, progress=1, checkpoint=2)
        answers = [(503, {"error": "no leader just now"}), (429, {"error": "busy"})]

        def answer(_):
            if answers:
                return answers.pop(0)
            if len(self.beats) > 3:
                self.go.touch()
            return {"jobs": {}}

        _, errors = self.work(1, f"{self.write}; {self.wait}", answer)
        self.assertIn("no leader just now", errors)
        carried = [jobs["job_1"] for jobs in self.beats if "checkpoint" in jobs["job_1"]]
        self.assertEqual(carried, [{"lease_token": 9, "progress": 1, "checkpoint": 2}] * 3)

    def test_one_written_during_a_heartbeat_is_sent_with_the_next(self):
        written = self.folder / "written"
        self.says(1, checkpoint=1)

        def answer(_):
            if len(self.reported("checkpoint")) == 1:
                self.go.touch()
                wait_until(written.exists)
            if self.reported("checkpoint")[-1] == ("job_1", 2):
                (self.folder / "end").touch()
            return {"jobs": {}}

        self.work(1, f"{self.write}; {self.wait}; echo '{{\"checkpoint\":2}}' >&3; touch {written}; "
                     f"while [ ! -e {self.folder}/end ]; do sleep 0.01; done", answer)
        self.assertEqual(self.reported("checkpoint"), [("job_1", 1), ("job_1", 2)])

    def test_a_failure_waits_for_the_checkpoint_and_for_the_heartbeat_before_it(self):
        self.says(1, checkpoint=1)
        overtaken = []

        def answer(_):
            if len(self.beats) == 1:
                self.go.touch()
                wait_until((self.folder / "written").exists)
                wait_until(lambda: not pathlib.Path(f"/proc/{self.pid()}").exists())
                overtaken.append(len(self.beats) > 1)
            first = self.reported("checkpoint").count(("job_1", 2)) == 1
            return (503, {"error": "later"}) if first else {"jobs": {}}

        fake, _ = self.work(1, f"echo $$ > {self.folder}/pid; {self.write}; {self.wait}; "
                               f"echo '{{\"checkpoint\":2}}' >&3; touch {self.folder}/written; exit 1",
                            answer, end="fail")
        self.assertEqual(self.reported("checkpoint"), [("job_1", 1), ("job_1", 2), ("job_1", 2)])
        self.assertEqual(overtaken, [False])
        self.assertEqual(fake.requests[-1].path, "/api/v1/fail/job_1")
        self.assertEqual(len(fake.asked("POST /fail/job_1")), 1)

    def pid(self):
        return (self.folder / "pid").read_text().strip()

    def test_a_failure_is_reported_even_if_the_checkpoint_is_refused(self):
        self.says(1, checkpoint=1)
        fake, errors = self.work(1, f"{self.write}; exit 1", lambda _: (400, {"error": "no, thanks"}),
                                 end="fail")
        self.assertEqual(len(fake.asked("POST /fail/job_1")), 1)
        self.assertIn("no, thanks", errors)
