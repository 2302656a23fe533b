"""Following events, and using them to wait for a job."""
import threading

from cli_harness import PATIENCE_S, FakeTest, LiveTest, Step, frame, json, signal


def event(number, kind="enqueued", **more):
    return {"seq": number, "type": kind, "at_ns": 1, "job_id": f"job_{number}", "queue": "q",
            "created_at": "2026-02-20T10:00:00Z", **more}


def stream(*numbers, then=None):
    """Return a response: events with these numbers, then the end of the stream, if given after `then` is set."""
    def answer(_):
        def events():
            yield b":hello\n\n"
            for number in numbers:
                yield frame(event(number), "enqueued", number)
            if then is not None:
                then.wait(PATIENCE_S)
        return 200, events()
    return answer


class Events(FakeTest):
    def test_one_line_per_event(self):
        def answer(_):
            def events():
                yield frame(event(1), "enqueued", 1)
                yield frame(event(2, "failed", data={"error": "x"}), "failed", 2)
                yield frame({"seq": 3, "type": "queue.paused", "queue": "q"}, "queue.paused", 3)
            return 200, events()

        fake, corvo = self.serve({"GET /events": answer})
        self.ok(corvo.run("events", "--count", "3"),
                "1 2026-02-20T10:00:00Z enqueued job_1 q\n"
                '2 2026-02-20T10:00:00Z failed job_2 q {"error": "x"}\n'
                "3  queue.paused - q\n")
        self.assertEqual(fake.requests[0].query, {"tail": "10"})

    def test_filters_and_position_are_sent(self):
        fake, corvo = self.serve({"GET /events": stream(8)})
        self.ok(corvo.run("tail", "--queues", "a,b c", "--job-ids", "job_1", "--types", "dead",
                          "--types", "failed", "--after", "7", "--count", "1"))
        self.assertEqual(fake.requests[0].query,
                         {"queues": "a,b c", "job_ids": "job_1", "types": "dead,failed",
                          "last_event_id": "7"})

    def test_json_is_one_object_per_line(self):
        _, corvo = self.serve({"GET /events": stream(1, 2)})
        lines = self.ok(corvo.run("events", "--count", "2", "--output", "json")).splitlines()
        self.assertEqual([json.loads(line)["seq"] for line in lines], [1, 2])

    def test_a_broken_stream_is_taken_up_after_the_last_event(self):
        fake, corvo = self.serve({"GET /events": [Step(stream(1, 2)), Step(stream(3))]})
        done = corvo.run("events", "--count", "3")
        self.assertEqual(done.returncode, 0)
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines()], ["1", "2", "3"])
        self.assertIn("reconnecting", done.stderr)
        self.assertEqual(fake.requests[1].query, {"last_event_id": "2"})

    def test_a_stream_that_breaks_before_its_first_event_is_taken_up_where_it_began(self):
        fake, corvo = self.serve({"GET /events": [Step(lambda _: (200, iter([b"id: 7\n\n"]))), Step(stream(8))]})
        self.assertEqual(corvo.run("events", "--count", "1", "--tail", "0").returncode, 0)
        self.assertEqual([r.query for r in fake.requests], [{"tail": "0"}, {"last_event_id": "7"}])

    def test_a_server_that_fails_is_asked_again(self):
        fake, corvo = self.serve({"GET /events": [Step((503, {"error": "no leader"})),
                                                  Step(stream(1))]})
        done = corvo.run("events", "--count", "1", "--tail", "5")
        self.assertEqual((done.returncode, done.stdout.split()[0]), (0, "1"))
        self.assertIn("Disconnected: the server returned status 503: no leader; reconnecting", done.stderr)
        self.assertEqual(fake.requests[1].query, {"tail": "5"})

    def test_a_refusal_is_the_end(self):
        _, corvo = self.serve({"GET /events": (401, {"error": "missing API key"})})
        self.failed(corvo.run("events"), "Error: missing API key")

    def test_lines_are_there_at_once_and_ctrl_c_ends_it(self):
        release = threading.Event()
        _, corvo = self.serve({"GET /events": stream(1, then=release)})
        with corvo.start("events") as running:
            self.assertEqual(running.line().split()[0], "1")
            running.signal(signal.SIGINT)
            self.assertEqual(running.wait(), 130)
        release.set()


class WaitByEvents(FakeTest):
    def test_the_job_is_looked_at_when_an_event_comes_and_not_before(self):
        looked, release = threading.Event(), threading.Event()
        states = ["active", "completed"]

        def look(_):
            looked.set()  # from now on the event may overtake this response
            return {"id": "job_1", "state": states.pop(0)}

        def events(_):
            def pieces():
                yield b":hello\n\n"
                looked.wait(PATIENCE_S)
                yield frame(event(1, "completed"), "completed", 1)
                release.wait(PATIENCE_S)
            return 200, pieces()

        fake, corvo = self.serve({"GET /jobs/job_1": look, "GET /events": events})
        self.ok(corvo.run("wait", "job_1"), "Job job_1: completed\n")
        release.set()
        self.assertEqual(len(fake.asked("GET /jobs/job_1")), 2)
        self.assertEqual(fake.requests[0].query, {"job_ids": "job_1", "tail": "0"})

    def test_without_events_it_is_asked_again_and_again(self):
        fake, corvo = self.serve({"GET /jobs/job_1": [Step({"state": "pending"}),
                                                      Step({"state": "active"}),
                                                      Step({"state": "completed"})]})
        self.ok(corvo.run("wait", "job_1"), "Job job_1: completed\n")
        self.assertEqual(len(fake.asked("GET /jobs/job_1")), 3)

    def test_a_stream_may_stay_silent(self):
        release = threading.Event()
        _, corvo = self.serve({"GET /jobs/job_1": [Step({"state": "active"}), Step({"state": "completed"})],
                               "GET /events": stream(then=release)})
        self.ok(corvo.run("wait", "job_1"), "Job job_1: completed\n")
        release.set()

    def test_a_server_that_was_there_is_expected_back(self):
        def hang_up(_):
            raise ConnectionError

        _, corvo = self.serve({"GET /jobs/job_1": [Step({"state": "active"}), Step(hang_up),
                                                   Step((503, {"error": "no leader"})), Step({"state": "completed"})]})
        done = corvo.run("wait", "job_1")
        self.assertEqual((done.returncode, done.stdout), (0, "Job job_1: completed\n"))
        self.assertEqual(done.stderr.count("Waiting for the server"), 1)

    def test_a_server_that_is_gone_ends_the_wait_in_time(self):
        _, corvo = self.serve({"GET /jobs/job_1": [Step({"state": "active"}), Step((503, {"error": "no leader"}))]})
        done = corvo.run("wait", "job_1", "--wait-timeout", "500ms")
        self.assertEqual(done.returncode, 1)
        self.assertIn("Error: job job_1 was active; since then the server has not answered", done.stderr)
        for answer in ((503, {"error": "no leader"}), {"id": "job_1"}):
            _, corvo = self.serve({"GET /jobs/job_1": answer})
            self.failed(corvo.run("wait", "job_1"), "Error: ")


class Wait(LiveTest):
    def test_it_ends_well_when_the_state_is_reached(self):
        job_id = self.enqueue()
        with self.corvo.start("wait", job_id) as waiting:
            self.api.fetch(self.queue)
            self.api.ack(job_id, result={"ok": True})
            self.assertEqual(waiting.wait(), 0)
            self.assertEqual(waiting.line(), f"Job {job_id}: completed\n")
        out = self.ok(self.corvo.run("wait", job_id, "--output", "json"))
        self.assertEqual(json.loads(out)["result"], {"ok": True})

    def test_it_waits_for_any_of_several_states(self):
        job_id = self.enqueue()
        self.ok(self.corvo.run("wait", job_id, "--state", "held,pending"), f"Job {job_id}: pending\n")

    def test_another_end_is_a_failure(self):
        job_id = self.enqueue()
        self.api.act(job_id, "cancel")
        done = self.corvo.run("wait", job_id)
        self.assertEqual((done.returncode, done.stdout), (1, f"Job {job_id}: cancelled\n"))

    def test_it_gives_up_after_a_while(self):
        job_id = self.enqueue()
        self.failed(self.corvo.run("wait", job_id, "--wait-timeout", "20ms"),
                    f"Error: job {job_id} is still pending")

    def test_a_state_that_does_not_exist_is_refused(self):
        self.failed(self.corvo.run("wait", "job_1", "--state", "done"), "unknown state 'done'")

    def test_it_can_be_interrupted(self):
        job_id = self.enqueue()
        with self.corvo.start("wait", job_id) as waiting:
            waiting.signal(signal.SIGTERM)
            self.assertIn(waiting.wait(), (143, -signal.SIGTERM))
