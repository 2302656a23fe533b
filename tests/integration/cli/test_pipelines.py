"""Search and bulk, and pipes between them, with a server whose responses are known."""
import threading

from cli_harness import PATIENCE_S, FakeTest, Step, Terminal, frame, json

JOBS = [{"id": f"job_{n}", "queue": "emails", "state": "dead", "payload": {"n": n, "t": "x" * 80},
         "priority": 2, "attempt": 3, "max_retries": 3, "created_at": "2026-02-20T10:00:00Z"}
        for n in range(3)]
FOUND = {"jobs": JOBS, "total": 142, "cursor": "abc", "has_more": True, "duration_ms": 3}
WHOLE = {"jobs": JOBS, "total": 3, "has_more": False, "duration_ms": 3}
IDS = ["job_0", "job_1", "job_2"]
DONE = {"affected": 3, "errors": 0, "duration_ms": 7}


class Search(FakeTest):
    def test_every_flag_becomes_its_field(self):
        fake, corvo = self.serve({"POST /jobs/search": WHOLE})
        self.ok(corvo.run(
            "search", "--queue", "q", "--state", "dead,held", "--priority", "high",
            "--payload-contains", "a b", "--payload-jq", ".n > 1", "--error-contains", "SMTP",
            "--tag", "a=b", "--tag", "c=d", "--created-after", "2026-02-10",
            "--created-before", "2026-02-11T00:00:00Z", "--scheduled-after", "2026-01-01",
            "--started-before", "2026-01-02", "--completed-after", "2026-01-03",
            "--expire-before", "2026-01-04", "--worker-id", "w", "--batch-id", "b",
            "--unique-key", "u", "--job-id-prefix", "job_", "--parent-id", "p", "--chain-id", "c",
            "--has-errors", "--attempt-min", "1", "--attempt-max", "5", "--limit", "7",
            "--sort", "priority", "--order", "asc", "--cursor", "zzz"))
        self.assertEqual(fake.requests[0].json, {
            "queue": "q", "state": ["dead", "held"], "priority": "high", "payload_contains": "a b",
            "payload_jq": ".n > 1", "error_contains": "SMTP", "tags": {"a": "b", "c": "d"},
            "created_after": "2026-02-10", "created_before": "2026-02-11T00:00:00Z",
            "scheduled_after": "2026-01-01", "started_before": "2026-01-02",
            "completed_after": "2026-01-03", "expire_before": "2026-01-04", "worker_id": "w",
            "batch_id": "b", "unique_key": "u", "job_id_prefix": "job_", "parent_id": "p",
            "chain_id": "c", "has_errors": True, "attempt_min": 1, "attempt_max": 5, "limit": 7,
            "sort": "priority", "order": "asc", "cursor": "zzz"})

    def test_without_flags_the_defaults_are_sent(self):
        fake, corvo = self.serve({"POST /jobs/search": WHOLE})
        self.ok(corvo.run("search", "--output", "table"))
        self.assertEqual(fake.requests[0].json,
                         {"limit": 50, "sort": "created_at", "order": "desc"})

    def test_each_output_form(self):
        _, corvo = self.serve({"POST /jobs/search": WHOLE})
        self.assertEqual(json.loads(self.ok(corvo.run("search"))), WHOLE)
        self.assertEqual(json.loads(self.ok(corvo.run("search", "--output", "json"))), JOBS)
        self.assertEqual([json.loads(line) for line in
                          self.ok(corvo.run("search", "-o", "jsonl")).splitlines()], JOBS)
        for args in (("--output", "ids"), ("--output-json",), ("-o", "id")):
            self.ok(corvo.run("search", *args), "job_0\njob_1\njob_2\n")
        _, corvo = self.serve({"POST /jobs/search": FOUND})
        lines = self.ok(corvo.run("search", "--output", "table", "--limit", "3")).splitlines()
        self.assertRegex(lines[0], r"\AID +QUEUE +STATE +PRIORITY +ATTEMPT +CREATED +PAYLOAD\Z")
        self.assertEqual(len(lines[1].split(None, 6)[6]), 60)
        self.assertEqual(lines[4], "3 of 142 results (3ms); --all prints every one")

    def test_json_is_indented_as_one_document(self):
        def indented(value):
            return json.dumps(value, indent=2, ensure_ascii=False) + "\n"

        empty = {"jobs": [], "total": 0, "has_more": False, "duration_ms": 0}
        for answer in (WHOLE, empty):
            _, corvo = self.serve({"POST /jobs/search": answer})
            self.ok(corvo.run("search"), indented(answer))
            self.ok(corvo.run("search", "--output", "json"), indented(answer["jobs"]))

    def test_an_empty_result_is_a_success(self):
        _, corvo = self.serve({"POST /jobs/search":
                               {"jobs": [], "total": 0, "has_more": False, "duration_ms": 0}})
        self.assertEqual(json.loads(self.ok(corvo.run("search")))["jobs"], [])
        self.ok(corvo.run("search", "--output", "ids"), "")
        self.ok(corvo.run("search", "--output", "table"),
                "ID  QUEUE  STATE  PRIORITY  ATTEMPT  CREATED  PAYLOAD\n0 results (0ms)\n")
        self.ok(corvo.run("held"), "No held jobs\n")

    def test_all_follows_the_cursors(self):
        def page(request):
            at = int(request.json.get("cursor", "0"))
            more = at < 2
            return {"jobs": [JOBS[at]], "total": 3, "has_more": more, "duration_ms": 1,
                    **({"cursor": str(at + 1)} if more else {})}

        fake, corvo = self.serve({"POST /jobs/search": page})
        found = json.loads(self.ok(corvo.run("search", "--all")))
        self.assertEqual([j["id"] for j in found["jobs"]], IDS)
        self.assertNotIn("cursor", found)
        self.assertEqual([r.json["limit"] for r in fake.requests], [1000] * 3)
        self.ok(corvo.run("search", "--all", "--limit", "1", "--output", "ids"),
                "job_0\njob_1\njob_2\n")

    def test_a_pipe_gets_every_page_and_a_limit_is_reported(self):
        def page(request):
            at = int(request.json.get("cursor", "0"))
            jobs = [{"id": f"job_{n}"} for n in range(at, min(at + request.json["limit"], 2500))]
            more = at + len(jobs) < 2500
            return {"jobs": jobs, "total": 2500, "has_more": more, "duration_ms": 1,
                    **({"cursor": str(at + len(jobs))} if more else {})}

        for form in ((), ("-o", "json"), ("-o", "jsonl"), ("-o", "id")):
            with self.subTest(form):
                fake, corvo = self.serve({"POST /jobs/search": page, "POST /jobs/bulk": DONE})
                self.ok(corvo.pipe(("search", *form), ("bulk", "retry")))
                self.assertEqual(len(fake.asked("POST /jobs/bulk")[0].json["job_ids"]), 2500)
                self.assertEqual([r.json["limit"] for r in fake.asked("POST /jobs/search")], [1000] * 3)
        fake, corvo = self.serve({"POST /jobs/search": page})
        done = corvo.run("search", "--limit", "1200", "-o", "id")
        self.assertEqual((done.returncode, len(done.stdout.split())), (0, 1200), done.stderr)
        self.assertEqual(done.stderr, "Printed 1200 of 2500 matching jobs: --limit 1200. "
                                      "Leave --limit out to print all.\n")
        self.assertEqual([r.json["limit"] for r in fake.requests], [1000, 200])
        rest = self.ok(corvo.run("search", "--cursor", "1000", "-o", "ids"))  # complete list: no note
        self.assertEqual(len(rest.split()), 1500)

    def test_a_list_that_is_not_complete_is_an_error(self):
        _, corvo = self.serve({"POST /jobs/search": FOUND})
        done = corvo.run("search")
        self.assertEqual(done.returncode, 1)
        self.assertIn("the server returned the same page twice", done.stderr)
        self.assertRaises(ValueError, json.loads, done.stdout)

    def test_held_asks_for_held_jobs(self):
        fake, corvo = self.serve({"POST /jobs/search": FOUND})
        self.ok(corvo.run("held"), "".join(f"job_{n}  emails  dead\n" for n in range(3)))
        self.assertEqual(fake.requests[0].json, {"state": ["held"], "limit": 100,
                                                 "sort": "created_at", "order": "desc"})

    def test_held_is_printed_in_every_form(self):
        _, corvo = self.serve({"POST /jobs/search": WHOLE})
        self.ok(corvo.run("held", "-o", "id"), "job_0\njob_1\njob_2\n")
        self.ok(corvo.run("held", "-o", "table"), "ID     QUEUE   CREATED               REASON\n" + "".join(
            f"job_{n}  emails  2026-02-20T10:00:00Z  -\n" for n in range(3)))
        self.assertEqual([json.loads(line) for line in self.ok(corvo.run("held", "-o", "jsonl")).splitlines()], JOBS)
        _, corvo = self.serve({"POST /jobs/search": FOUND})
        done = corvo.run("held", "-o", "id")  # a program gets ids only, and a note about the rest
        self.assertEqual(done.stdout, "job_0\njob_1\njob_2\n")
        self.assertEqual(done.stderr, "3 of 142 held jobs; corvo search --state held --all lists every one\n")
        _, corvo = self.serve({"POST /jobs/search": {"jobs": [], "total": 0}})
        self.ok(corvo.run("held", "-o", "id"), "")
        self.ok(corvo.run("held", "-o", "table"), "No held jobs\n")


class Pipes(FakeTest):
    """search … | bulk …, with every output format of search."""

    def test_every_form_of_search_feeds_bulk(self):
        for form in ((), ("--output", "json"), ("--output", "ids"), ("--output-json",)):
            with self.subTest(form):
                fake, corvo = self.serve({"POST /jobs/search": WHOLE, "POST /jobs/bulk": DONE})
                done = corvo.pipe(("search", "--state", "dead", *form), ("bulk", "retry"))
                self.ok(done, "Affected: 3 jobs (7ms)\n")
                self.assertEqual(fake.asked("POST /jobs/bulk")[0].json,
                                 {"action": "retry", "job_ids": IDS})

    def test_targets(self):
        for args, body in ((("move", "q2"), {"action": "move", "move_to_queue": "q2"}),
                           (("move", "--to", "q2"), {"action": "move", "move_to_queue": "q2"}),
                           (("change_priority", "high"),
                            {"action": "change_priority", "priority": "high"}),
                           (("change-priority", "--priority", "high"),
                            {"action": "change_priority", "priority": "high"})):
            with self.subTest(args):
                fake, corvo = self.serve({"POST /jobs/bulk": DONE})
                self.ok(corvo.run("bulk", *args, stdin="job_0\n"))
                self.assertEqual(fake.requests[0].json, {**body, "job_ids": ["job_0"]})

    def test_every_action_is_sent_as_it_is(self):
        for action in ("retry", "delete", "cancel", "requeue", "hold", "approve", "reject"):
            fake, corvo = self.serve({"POST /jobs/bulk": DONE})
            self.ok(corvo.run("bulk", action, stdin='["job_0"]'))
            self.assertEqual(fake.requests[0].json, {"action": action, "job_ids": ["job_0"]})

    def test_what_is_not_right_asks_nothing(self):
        fake, corvo = self.serve({"POST /jobs/bulk": DONE})
        for args, stdin, message in (
                (("bulk", "retry"), "", "no job IDs provided (pipe from search or use --filter)"),
                (("bulk", "retry"), '{"jobs":[]}', "no job IDs provided"),
                (("bulk", "retry"), '{"error":"missing API key"}', "without an id"),
                (("bulk", "retry"), '["job_0"', "invalid JSON at byte"),
                (("bulk", "explode"), "job_0", "unknown bulk action 'explode'"),
                (("bulk", "move"), "job_0", "bulk move requires a target: corvo bulk move <queue>, or --to"),
                (("bulk", "retry", "q"), "job_0", "bulk retry accepts no target"),
                (("bulk", "retry", "--filter", "{"), "", "invalid filter JSON: "),
                (("bulk", "retry", "--filter", "[]"), "", "invalid filter JSON: not an object"),
                (("bulk", "delete", "--filter", "{ }"), "", "The filter matches every job in every queue"),
                (("bulk", "retry", "--filter", "{}"), "", "The filter matches every job"),
                (("bulk", "hold", "--filter", '{"state":[],"queue":null,"tags":{}}'), "", "every job"),
                (("bulk", "cancel", "--filter", '{"sort":"created_at","limit":5}'), "", "every job")):
            with self.subTest((args, stdin)):
                self.failed(corvo.run(*args, stdin=stdin), message)
        self.assertEqual(fake.requests, [])

    def test_a_filter_is_sent_and_standard_input_is_not_read(self):
        fake, corvo = self.serve({"POST /jobs/search": WHOLE, "POST /jobs/bulk": {**DONE, "errors": 2}})
        text = '{"queue":"emails","state":["dead"]}'
        self.ok(corvo.run("bulk", "retry", "--filter", text, stdin="job_9"),
                "Affected: 3 jobs (7ms), 2 errors\n")
        self.assertEqual(fake.requests[0].json, {"action": "retry", "filter": json.loads(text)})
        self.ok(corvo.run("bulk", "delete", "--filter", text))
        self.ok(corvo.run("bulk", "delete", "--filter", "{}", "--yes"))

    def test_jobs_retry_takes_a_state_or_an_id(self):
        fake, corvo = self.serve({"POST /jobs/bulk": DONE, "POST /jobs/search": FOUND,
                                  "POST /jobs/job_1/retry": {"status": "retried"}})
        self.ok(corvo.run("jobs", "retry", "--state", "dead", "--queue", "emails"),
                "Affected: 3 jobs (7ms)\n")
        self.ok(corvo.run("jobs", "retry", "--state", "dead,cancelled"))
        self.assertEqual([r.json for r in fake.asked("POST /jobs/bulk")],
                         [{"action": "retry", "filter": {"state": ["dead"], "queue": "emails"}},
                          {"action": "retry", "filter": {"state": ["dead", "cancelled"]}}])
        self.ok(corvo.run("jobs", "retry", "--state", "dead", "--dry-run"),
                "Would retry up to 142 jobs; nothing was changed\n")
        self.ok(corvo.run("jobs", "retry", "job_1"), "Job retried\n")
        self.failed(corvo.run("jobs", "retry", "job_1", "--state", "dead"), "either a job id or --state")
        self.failed(corvo.run("jobs", "retry", "--queue", "emails"), "requires a job id or --state")

    def test_ending_every_job_by_a_filter_is_confirmed(self):
        def count(request):
            return {**WHOLE, "total": 5 if request.json == {"limit": 1} else matching}

        fake, corvo = self.serve({"POST /jobs/search": count, "POST /jobs/bulk": DONE})
        every = '{"created_after":"1970-01-01T00:00:00Z"}'
        matching = 5
        for action in ("delete", "cancel", "reject"):
            for text in (every, '{"queue":"","payload_contains":"{"}'):
                with self.subTest((action, text)):
                    self.failed(corvo.run("bulk", action, "--filter", text), "matches every job in every queue")
        self.assertEqual(fake.asked("POST /jobs/bulk"), [])
        self.ok(corvo.run("bulk", "delete", "--filter", every, "--yes"))
        self.ok(corvo.run("bulk", "cancel", "--filter", '{"queue":"emails"}'))
        self.ok(corvo.run("bulk", "retry", "--filter", every))
        matching = 4
        self.ok(corvo.run("bulk", "delete", "--filter", every))

    def test_json_output_is_the_answer(self):
        _, corvo = self.serve({"POST /jobs/bulk": DONE})
        out = self.ok(corvo.run("bulk", "retry", "--output", "json", stdin="job_0"))
        self.assertEqual(json.loads(out), DONE)

    def test_dry_run_changes_nothing(self):
        fake, corvo = self.serve({"POST /jobs/search": FOUND,
                                  "POST /jobs/bulk-get": lambda r: {"jobs": JOBS[:2]}})
        self.ok(corvo.run("bulk", "delete", "--filter", "{}", "--dry-run"),
                "Would delete up to 142 jobs; nothing was changed\n")
        self.ok(corvo.run("bulk", "delete", "--dry-run", stdin="\n".join(IDS)),
                "Would delete up to 2 jobs; nothing was changed\n")
        self.assertEqual(fake.asked("POST /jobs/bulk"), [])
        many = "\n".join(f"job_{n}" for n in range(1500))
        self.ok(corvo.run("bulk", "delete", "--dry-run", stdin=many))
        self.assertEqual([len(r.json["job_ids"]) for r in fake.asked("POST /jobs/bulk-get")],
                         [3, 1000, 500])

    def test_on_a_terminal_bulk_does_not_wait_for_ids(self):
        _, corvo = self.serve({})
        with Terminal(corvo, "bulk", "retry") as terminal:
            text, code = terminal.finish()
        self.assertEqual(code, 1)
        self.assertIn("Error: no job IDs provided", text)


ACCEPTED = (202, {"bulk_operation_id": "bulk_1", "status": "queued", "estimated_total": 1200,
                  "progress_url": "/api/v1/bulk/bulk_1/progress"})


def task(status, processed, **more):
    return {"id": "bulk_1", "status": status, "action": "retry", "total": 1200,
            "processed": processed, "affected": processed, "errors": 0,
            "created_at": "2026-02-20T10:00:00Z", "updated_at": "2026-02-20T10:00:01Z", **more}


FINISHED = task("completed", 1200, finished_at="2026-02-20T10:00:02.5Z")


def progress(_):
    def events():
        for n in (500, 1000):
            yield frame({"type": "bulk.async.progress", "task_id": "bulk_1", "status": "running",
                         "total": 1200, "processed": n}, "bulk.async.progress")
        yield b":keepalive\n\n"
        yield frame({"type": "bulk.async.completed", "task_id": "bulk_1", "status": "completed",
                     "total": 1200, "processed": 1200}, "bulk.async.completed")
    return 200, events()


class Background(FakeTest):
    def test_the_operation_is_followed_to_its_end(self):
        fake, corvo = self.serve({"POST /jobs/bulk": ACCEPTED, "GET /bulk/bulk_1": FINISHED,
                                  "GET /bulk/bulk_1/progress": progress})
        done = corvo.run("bulk", "retry", "--async", stdin="job_0")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "Bulk operation bulk_1 started (1200 jobs)\n"
                                      "Affected: 1200 jobs (2500ms)\n")
        self.assertEqual(done.stderr.splitlines(),
                         ["Processed 500 of 1200 jobs (41%)", "Processed 1000 of 1200 jobs (83%)",
                          "Processed 1200 of 1200 jobs (100%)"])
        self.assertTrue(fake.asked("POST /jobs/bulk")[0].json["async"])

    def test_json_is_the_finished_task_alone(self):
        _, corvo = self.serve({"POST /jobs/bulk": ACCEPTED, "GET /bulk/bulk_1": FINISHED,
                               "GET /bulk/bulk_1/progress": progress})
        done = corvo.run("bulk", "retry", "--output", "json", stdin="job_0")
        self.assertEqual(json.loads(done.stdout), FINISHED)

    def test_without_waiting_the_id_is_all(self):
        fake, corvo = self.serve({"POST /jobs/bulk": ACCEPTED})
        self.ok(corvo.run("bulk", "retry", "--wait=false", stdin="job_0"),
                "Bulk operation bulk_1 started (1200 jobs)\n")
        out = self.ok(corvo.run("bulk", "retry", "--wait=false", "--output", "json",
                                stdin="job_0"))
        self.assertEqual(json.loads(out), ACCEPTED[1])
        self.assertEqual(fake.asked("GET /bulk/bulk_1"), [])

    def test_without_a_stream_the_operation_is_asked(self):
        fake, corvo = self.serve({
            "POST /jobs/bulk": ACCEPTED,
            "GET /bulk/bulk_1": [Step(task("running", 500)), Step(FINISHED)]})
        done = corvo.run("bulk", "retry", stdin="job_0")
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]),
                         (0, "Affected: 1200 jobs (2500ms)"))
        self.assertEqual(len(fake.asked("GET /bulk/bulk_1")), 2)

    def test_an_operation_that_failed_is_a_failure(self):
        _, corvo = self.serve({"POST /jobs/bulk": ACCEPTED,
                               "GET /bulk/bulk_1": task("failed", 500, error="leader changed")})
        done = corvo.run("bulk", "retry", stdin="job_0")
        self.assertEqual(done.returncode, 1)
        self.assertIn("Error: the bulk operation is failed: leader changed", done.stderr)

    def test_a_terminal_sees_a_bar(self):
        _, corvo = self.serve({"POST /jobs/bulk": ACCEPTED, "GET /bulk/bulk_1": FINISHED,
                               "POST /jobs/search": lambda r: {"total": 1200 if "queue" in r.json else 5000},
                               "GET /bulk/bulk_1/progress": progress})
        with Terminal(corvo, "bulk", "retry", "--filter", '{"queue":"q"}') as terminal:
            text, code = terminal.finish()
        self.assertEqual(code, 0)
        self.assertIn("[############------------------]  41% 500/1200 jobs", text)
        self.assertTrue(text.endswith("\r\x1b[KAffected: 1200 jobs (2500ms)\n"), text)

    def test_interrupted_it_leaves_the_operation_alone(self):
        release = threading.Event()

        def stuck(_):
            def events():
                yield frame({"processed": 1, "total": 1200}, "bulk.async.progress")
                release.wait(PATIENCE_S)
            return 200, events()

        _, corvo = self.serve({"POST /jobs/bulk": ACCEPTED, "GET /bulk/bulk_1/progress": stuck})
        with corvo.start("bulk", "retry", "--filter", "{}", "--yes") as running:
            self.assertEqual(running.error_line(), "Processed 1 of 1200 jobs (0%)\n")
            running.signal(2)
            self.assertEqual(running.wait(), 130)
        release.set()
