"""history, errors, and the output formats of every list."""
import csv
import io

from cli_harness import FakeTest, LiveTest, json

QUEUES = [{"name": "emails", "pending": 3, "active": 1, "held": 0, "completed": 5, "dead": 2, "scheduled": 7,
           "retrying": 4, "paused": False},
          {"name": "=cmd,\"x\"", "pending": 0, "active": 0, "held": 0, "completed": 0, "dead": 0, "scheduled": 0,
           "retrying": 0, "paused": True}]


class Forms(FakeTest):
    def test_a_list_is_printed_in_every_form(self):
        _, corvo = self.serve({"GET /queues": QUEUES})
        self.assertNotIn("RETRYING", self.ok(corvo.run("queues")))
        self.assertIn("RETRYING", self.ok(corvo.run("queues", "-o", "wide")).splitlines()[0])
        self.assertEqual(json.loads(self.ok(corvo.run("queues", "-o", "json"))), QUEUES)
        lines = self.ok(corvo.run("queues", "-o", "jsonl")).splitlines()
        self.assertEqual([json.loads(line) for line in lines], QUEUES)
        self.assertEqual(self.ok(corvo.run("queues", "-o", "id")), 'emails\n=cmd,"x"\n')
        rows = list(csv.DictReader(io.StringIO(self.ok(corvo.run("queues", "-o", "csv")))))
        self.assertEqual((rows[0]["name"], rows[0]["pending"]), ("emails", "3"))
        self.assertEqual(rows[1]["name"], "'=cmd,\"x\"")

    def test_a_form_that_a_command_does_not_have_is_refused(self):
        fake, corvo = self.serve({})
        self.failed(corvo.run("pause", "q", "-o", "csv"), "corvo pause prints text or json, not csv")
        self.failed(corvo.run("queues", "-o", "xml"), "--output: expected text, table, wide, json, jsonl, csv or id")
        self.assertEqual(fake.requests, [])

    def test_times_may_be_relative(self):
        fake, corvo = self.serve({"POST /jobs/search": {"jobs": [], "total": 0}, "POST /enqueue": {"job_id": "job_1",
                                                                                                "status": "scheduled"}})
        self.ok(corvo.run("search", "--since", "1h"))
        self.ok(corvo.run("enqueue", "q", "{}", "--delay", "5m"))
        self.ok(corvo.run("enqueue", "q", "{}", "--at", "tomorrow 9:00"))
        since, delay, at = (next(iter(r.json[k] for k in ("created_after", "scheduled_at") if k in r.json))
                            for r in fake.requests)
        self.assertLess(since, delay)
        self.assertLess(delay, at)
        self.failed(corvo.run("search", "--since", "soon"), "--since: expected a time such as")

    def test_a_deployment_is_marked(self):
        marker = {"id": "d1", "kind": "deploy", "at": "2026-02-11T10:00:00Z", "text": "deployed 1.4.2", "by": "ada"}
        fake, corvo = self.serve({"POST /markers": marker, "GET /markers": [marker], "DELETE /markers/d1": {}})
        self.assertEqual(self.ok(corvo.run("mark", "deployed 1.4.2", "--queue", "emails")),
                         "Marked deployed 1.4.2 at 2026-02-11T10:00:00Z\n")
        self.assertEqual(fake.requests[0].json, {"text": "deployed 1.4.2", "queue": "emails"})
        self.assertIn("deployed 1.4.2", self.ok(corvo.run("marks")))
        self.assertEqual(self.ok(corvo.run("unmark", "d1")), "Marker d1 deleted\n")

    def test_completion_asks_the_server(self):
        _, corvo = self.serve({"GET /queues": QUEUES, "POST /jobs/search": {"jobs": [{"id": "job_7"}]}})
        self.assertEqual(self.ok(corvo.run("__complete", "pause", "em")), "emails\tqueue\n")
        self.assertEqual(self.ok(corvo.run("__complete", "search", "--queue", "em")), "emails\tqueue\n")
        self.assertEqual(self.ok(corvo.run("__complete", "inspect", "")), "job_7\t\n")
        self.assertIn("change_priority", self.ok(corvo.run("__complete", "bulk", "ch")))


class Happened(LiveTest):
    def test_history_and_errors(self):
        for n in range(2):
            job = self.api.enqueue(self.queue, max_retries=1)
            self.api.fetch(self.queue)
            self.api.fail(job, error=f"no mailbox {n}")
        rows = list(csv.DictReader(io.StringIO(
            self.ok(self.corvo.run("history", "--queue", self.queue, "-o", "csv")))))
        self.assertEqual(sum(int(row["dead"]) for row in rows), 2)
        mark, = self.ok(self.corvo.run("errors", "--queue", self.queue, "-o", "id")).split()
        self.assertIn("no mailbox #", self.ok(self.corvo.run("errors", "--queue", self.queue)))
        done = self.corvo.pipe(("search", "--error-fingerprint", mark, "--queue", self.queue, "--state", "dead"),
                               ("bulk", "retry"))
        self.assertRegex(self.ok(done), "Affected: 2 jobs")
