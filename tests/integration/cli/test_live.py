"""The pipelines of the contract, events and backups, end to end with a real server.

A test is skipped if the server does not have the route."""
import pathlib
import shutil
import tempfile

from cli_harness import Corvo, LiveTest, Server, json


class EndToEnd(LiveTest):
    def needs(self, method, path):
        answer = self.api.request(method, f"/api/v1{path}", {} if method == "POST" else None)
        unknown = answer.status == 404 and answer.json["error"] == "not found"
        if unknown or answer.status == 405:
            self.skipTest(f"the server has no {method} {path}")

    def dead(self, count, payload=None):
        ids = [self.api.enqueue(self.queue, payload or {"n": n}, max_retries=1)
               for n in range(count)]
        for _ in ids:
            self.api.fail(self.api.fetch(self.queue)["job_id"], "SMTP timeout")
        return sorted(ids)

    def states(self, ids):
        return {self.api.state(i) for i in ids}


class Pipelines(EndToEnd):
    def setUp(self):
        super().setUp()
        self.needs("POST", "/jobs/search")

    def bulk(self, search, *action):
        self.needs("POST", "/jobs/bulk")
        return self.ok(self.corvo.pipe(("search", "--queue", self.queue, *search),
                                       ("bulk", *action)))

    def test_search_pipe_bulk_retry(self):
        ids = self.dead(3)
        self.assertRegex(self.bulk(("--state", "dead"), "retry"), r"\AAffected: 3 jobs \(\d+ms\)\n")
        self.assertEqual(self.states(ids), {"pending"})

    def test_search_as_json_pipe_bulk_move(self):
        ids = self.dead(2)
        self.bulk(("--error-contains", "smtp", "--output", "json"), "move", self.queue + ".2")
        self.assertEqual({self.api.job(i)["queue"] for i in ids}, {self.queue + ".2"})

    def test_search_by_payload_pipe_bulk_delete(self):
        kept, gone = self.api.enqueue(self.queue, {"legacy": False}), self.api.enqueue(
            self.queue, {"legacy": True})
        self.bulk(("--payload-jq", ".legacy == true"), "delete")
        self.assertEqual(self.api.state(kept), "pending")
        self.assertEqual(self.api.get(f"/api/v1/jobs/{gone}").status, 404)

    def test_bulk_by_filter_takes_all_that_match(self):
        self.needs("POST", "/jobs/bulk")
        ids = self.dead(60)
        text = json.dumps({"queue": self.queue, "state": ["dead"]})
        self.ok(self.corvo.run("bulk", "retry", "--filter", text, "--dry-run"),
                "Would retry up to 60 jobs; nothing was changed\n")
        self.assertEqual(self.states(ids), {"dead"})
        self.assertIn("Affected: 60 jobs", self.ok(self.corvo.run("bulk", "retry", "--filter", text)))
        self.assertEqual(self.states(ids), {"pending"})

    def test_bulk_in_the_background_is_followed(self):
        self.needs("POST", "/jobs/bulk")
        ids = [self.api.enqueue(self.queue) for _ in range(5)]
        done = self.corvo.run("bulk", "cancel", "--async", stdin="\n".join(ids))
        self.assertEqual(done.returncode, 0, done)
        self.assertRegex(done.stdout, r"\ABulk operation bulk_\w+ started \(5 jobs\)\n"
                                      r"Affected: 5 jobs \(\d+ms\)\n\Z")
        self.assertIn("Processed 5 of 5 jobs (100%)", done.stderr)
        self.assertEqual(self.states(ids), {"cancelled"})

    def test_queues_called_like_folders_are_reached(self):
        for name in (".", "..", "a..b"):
            self.ok(self.corvo.run("enqueue", name, "{}"))
            self.ok(self.corvo.run("pause", name), f"Queue {name} paused\n")
            self.ok(self.corvo.run("destroy", name, "--confirm"), f"Queue {name} destroyed\n")

    def test_all_goes_through_every_page(self):
        ids = sorted(self.api.enqueue(self.queue) for _ in range(7))
        done = self.corvo.run("search", "--queue", self.queue, "--limit", "3", "--output", "ids")
        self.assertEqual((done.returncode, len(done.stdout.split())), (0, 3))
        self.assertIn("Printed 3 of 7 matching jobs", done.stderr)
        self.assertEqual(len(self.ok(self.corvo.run("search", "--queue", self.queue, "-o", "id")).split()), 7)
        out = self.ok(self.corvo.run("search", "--queue", self.queue, "--limit", "3", "--all",
                                     "--order", "asc", "--output", "ids"))
        self.assertEqual(out.split(), ids)

    def test_a_bad_expression_is_an_error(self):
        self.failed(self.corvo.run("search", "--payload-jq", "what?"), "Error: ")

    def test_held_jobs_are_listed(self):
        job_id = self.api.enqueue(self.queue)
        self.api.act(job_id, "hold")
        self.assertIn(f"{job_id}  {self.queue}  held\n", self.ok(self.corvo.run("held")))


class Following(EndToEnd):
    def test_events_come_as_they_happen(self):
        self.needs("GET", "/cluster/events")
        with self.corvo.start("events", "--queues", self.queue, "--count", "2",
                              "--output", "json") as following:
            first = self.enqueue()
            second = self.enqueue()
            events = [json.loads(following.line()) for _ in range(2)]
            self.assertEqual(following.wait(), 0)
        self.assertEqual([(e["type"], e["job_id"]) for e in events],
                         [("enqueued", first), ("enqueued", second)])


class Lists(EndToEnd):
    def test_a_list_in_pages_is_printed_whole(self):
        with Server(*self.settings) as server:
            api = server.client()
            names = sorted(f"many.{i}" for i in range(1100))
            api.enqueue_batch([{"queue": name} for name in names])
            corvo = Corvo(f"http://127.0.0.1:{server.port}")
            rows = json.loads(self.ok(corvo.run("queues", "--output", "json")))
            self.assertEqual([row["name"] for row in rows], names)


class Backups(EndToEnd):
    def test_a_backup_is_restored_on_another_server(self):
        self.needs("GET", "/admin/backup")
        folder = pathlib.Path(tempfile.mkdtemp(prefix="corvo-backup-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        file = str(folder / "b.json")
        ids = self.dead(3)
        self.assertIn("Backup written to", self.ok(self.corvo.run("backup", "create", file)))
        self.assertIn("format 2: 3 jobs", self.ok(self.corvo.run("backup", "verify", file)))
        with Server(*self.settings) as other:
            corvo = Corvo(f"http://127.0.0.1:{other.port}")
            self.ok(corvo.run("backup", "restore", file), "Restored 3 jobs into default\n")
            for job_id in ids:
                self.assertEqual(json.loads(self.ok(corvo.run("inspect", job_id)))["state"], "dead")
            done = corvo.run("backup", "restore", file)
            self.assertEqual(done.stdout, "Restored 0 jobs into default\n")
