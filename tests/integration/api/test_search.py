"""Search (contract 10): every filter, sorts, cursors, payload_jq, dead jobs, full text; and the view."""
import base64
import contextlib
import json
import os
import pathlib
import unittest
import urllib.parse

from harness import ApiTest, RawConnection, Server, in_threads, unique, wait_until

FAR_AHEAD = "2099-01-01T00:00:00Z"
SUMMARY = {"id", "queue", "state", "payload", "priority", "attempt", "max_retries", "created_at"}


def children_of(server):
    """Return the processes that the server has started: they run programs of payload_jq."""
    found = []
    for thread in pathlib.Path(f"/proc/{server.process.pid}/task").iterdir():
        found += (thread / "children").read_text().split()
    return found


class SearchTest(ApiTest):
    def search(self, **filters):
        """Search, by default in the test's own queue. Return the response."""
        answer = self.api.post("/api/v1/jobs/search", {"queue": self.queue, **filters})
        self.api.must(answer)
        self.assertEqual(answer.headers["x-corvo-view-lag"], "0")
        return answer.json

    def ids(self, **filters):
        found = self.search(**filters)
        ids = [job["id"] for job in found["jobs"]]
        self.assertEqual(found["total"], len(ids))
        self.assertFalse(found["has_more"])
        self.assertNotIn("cursor", found)
        return ids

    def found(self, wanted, **filters):
        """Check that exactly these jobs are found, in any order."""
        self.assertEqual(sorted(self.ids(**filters)), sorted(wanted), filters)

    def bad(self, message=None, code="VALIDATION_ERROR", **filters):
        self.refused(self.api.post("/api/v1/jobs/search", filters), 400, code, message)


class Answers(SearchTest):
    def test_an_empty_body_finds_everything(self):
        """1.5: an empty body is {}."""
        job = self.api.enqueue(self.queue)
        for body in (b"", b"{}", None):
            answer = self.api.must(self.api.post("/api/v1/jobs/search", body))
            self.assertIn(job, [j["id"] for j in answer["jobs"]])

    def test_unknown_members_are_refused_by_name(self):
        """26: a misspelled condition would find every job."""
        self.api.enqueue(self.queue)
        for name in ("stat", "queues", "Limit", "filter", "x" * 100):
            with self.subTest(name=name):
                self.bad(f'unknown member "{name[:60]}', queue=self.queue, **{name: "dead"})

    def test_nothing_found_is_an_empty_array(self):
        """10.2: jobs is always an array."""
        found = self.search()
        self.assertEqual((found["jobs"], found["total"], found["has_more"]), ([], 0, False))
        self.assertIsInstance(found["duration_ms"], int)
        self.assertEqual(set(found), {"jobs", "total", "has_more", "duration_ms"})

    def test_summary_of_a_plain_job(self):
        """4.2: the fields that are always present, and no others."""
        job = self.api.enqueue(self.queue, {"a": [1, 12345678901234567890]})
        summary, = self.search()["jobs"]
        self.assertEqual(set(summary), SUMMARY)
        self.assertEqual((summary["id"], summary["queue"], summary["state"]),
                         (job, self.queue, "pending"))
        self.assertEqual(summary["payload"], {"a": [1, 12345678901234567890]})
        self.assert_time(summary["created_at"])

    def test_summary_of_a_job_with_everything(self):
        """4.2: fields when set; last_error is the newest."""
        job = self.active(tags={"k": "v"}, unique_key="u", parent_id="p", chain_id="c",
                          chain_step=1, expire_after="1h", max_retries=2, retry_base_delay="0s",
                          agent={"max_iterations": 3})
        self.api.heartbeat({job: {"progress": {"current": 1}}})
        self.api.fail(job, "first")
        self.assertEqual(self.api.fetch(self.queue)["job_id"], job)
        self.api.fail(job, "second")
        summary, = self.search()["jobs"]
        wanted = {"state": "dead", "tags": {"k": "v"}, "unique_key": "u", "parent_id": "p",
                  "chain_id": "c", "chain_step": 1, "attempt": 2, "max_retries": 2,
                  "last_error": "second", "progress": {"current": 1}}
        self.assertEqual({k: summary[k] for k in wanted}, wanted)
        self.assertEqual(summary["agent"]["max_iterations"], 3)
        for name in ("expire_at", "started_at", "failed_at"):
            self.assert_time(summary[name])
        for name in ("errors", "checkpoint", "result", "retry_backoff", "hostname"):
            self.assertNotIn(name, summary)

    def test_hold_reason_is_shown(self):
        job = self.api.enqueue(self.queue)
        self.api.act(job, "hold", reason="look at it")
        self.assertEqual(self.search()["jobs"][0]["hold_reason"], "look at it")

    def test_shows_what_was_answered_before(self):
        """1.9: a read after a write on the same node sees the write."""
        for i in range(30):
            self.api.enqueue(self.queue)
            self.assertEqual(self.search(limit=1)["total"], i + 1)

    def test_many_at_once(self):
        for _ in range(20):
            self.api.enqueue(self.queue)
        totals = in_threads(16, lambda i: self.search(limit=1 + i)["total"])
        self.assertEqual(totals, [20] * 16)


class Filters(SearchTest):
    def test_queue(self):
        job = self.api.enqueue(self.queue)
        self.api.enqueue(self.queue + ".below")
        self.found([job])
        self.found([], queue=self.queue.upper())

    def test_state_in_all_its_forms(self):
        """10.1: an array, a text, a text with commas."""
        pending = self.api.enqueue(self.queue, scheduled_at=FAR_AHEAD)
        held = self.api.enqueue(self.queue)
        self.api.act(held, "hold")
        cancelled = self.api.enqueue(self.queue)
        self.api.act(cancelled, "cancel")
        self.found([held], state=["held"])
        self.found([held], state="held")
        self.found([held, pending], state=["held", "scheduled"])
        self.found([held, pending], state="held, scheduled")
        self.found([held, pending, cancelled], state=[])
        self.found([held, pending, cancelled], state="")
        self.found([held, pending, cancelled], state=None)
        self.bad("state: expected", state=["nosuch"])
        self.bad("state: expected", state=["nosuch", "held"])
        self.bad(code="PARSE_ERROR", state=[1])
        self.bad(code="PARSE_ERROR", state=7)

    def test_every_state_is_found(self):
        jobs = {"pending": self.api.enqueue(self.queue)}
        other = self.queue + ".x"
        jobs["scheduled"] = self.api.enqueue(self.queue, scheduled_at=FAR_AHEAD)
        for state in ("active", "completed", "retrying", "dead"):
            job = self.active(other, max_retries=1 if state == "dead" else 3,
                              retry_base_delay="1h")
            if state == "completed":
                self.api.ack(job)
            elif state != "active":
                self.api.fail(job)
            jobs[state] = job
        for state, action in (("held", "hold"), ("cancelled", "cancel")):
            jobs[state] = self.api.enqueue(self.queue)
            self.api.act(jobs[state], action)
        for state, job in jobs.items():
            queue = self.api.job(job)["queue"]
            self.found([job], queue=queue, state=[state])

    def test_priority(self):
        jobs = {p: self.api.enqueue(self.queue, priority=p)
                for p in ("critical", "high", "normal")}
        for word, job in jobs.items():
            self.found([job], priority=word)
        self.bad("priority: expected", priority="low")
        self.found([jobs["high"]], priority=1)
        self.found(list(jobs.values()), priority="")

    def test_tags(self):
        """10.1: every pair must match; keys are used literally."""
        a = self.api.enqueue(self.queue, tags={"env": "prod", "team": "red"})
        b = self.api.enqueue(self.queue, tags={"env": "prod", 'odd"key': "x", "a.b": "y", "": "z"})
        self.api.enqueue(self.queue)
        self.found([a, b], tags={"env": "prod"})
        self.found([a], tags={"env": "prod", "team": "red"})
        self.found([b], tags={'odd"key': "x"})
        self.found([b], tags={"a.b": "y"})
        self.found([b], tags={"": "z"})
        self.found([], tags={"env": "Prod"})
        self.found([], tags={"$": "x"})
        self.found([], tags={"env') OR 1=1 --": "x"})
        self.bad("tags", tags={f"k{i}": "v" for i in range(65)})
        self.bad(code="PARSE_ERROR", tags=["x"])

    def test_tags_that_are_no_texts(self):
        """10.1: they are compared by their JSON text."""
        tags = {"n": 7, "big": 12345678901234567890, "yes": True, "none": None, "list": [1, 2]}
        job_id = self.api.enqueue(self.queue, tags=tags)
        self.assertEqual(self.api.job(job_id)["tags"], tags)
        self.assertEqual(self.api.fetch(self.queue)["tags"], tags)
        for key, text in (("n", "7"), ("big", "12345678901234567890"), ("yes", "true"),
                          ("none", "null"), ("list", "[1,2]")):
            self.found([job_id], tags={key: text})
        self.found([], tags={"n": "7.0"})

    def test_payload_contains(self):
        """10.1: ASCII letters without case, everything else literally."""
        a = self.api.enqueue(self.queue, {"text": "Hello 100%_sure", "é": "É"})
        b = self.api.enqueue(self.queue, {"text": "hello"})
        self.found([a, b], payload_contains="hELLO")
        self.found([a], payload_contains="%")
        self.found([a], payload_contains="0%_S")
        self.found([], payload_contains="h_llo")
        self.found([], payload_contains="' OR '1'='1")
        self.found([a, b], payload_contains='{"text":"')

    def test_times(self):
        """10.1: strictly before or after; unset times never match."""
        done = self.active(expire_after="1h")
        self.api.ack(done)
        later = self.api.enqueue(self.queue, scheduled_at=FAR_AHEAD)
        doc = self.api.job(done)
        for field, prefix in (("created_at", "created"), ("started_at", "started"),
                              ("completed_at", "completed"), ("expire_at", "expire")):
            at = doc[field]
            around = {f"{prefix}_after": "2020-01-01", f"{prefix}_before": "2100-01-01"}
            self.found([done, later] if prefix == "created" else [done], **around)
            self.found([later] if prefix == "created" else [], **{f"{prefix}_after": at})
            self.found([], **{f"{prefix}_before": at})
        self.found([later], scheduled_after="2098-12-31T23:59:59.999999999Z")
        self.found([], scheduled_after=FAR_AHEAD)
        self.found([later], scheduled_before="2099-01-01T00:00:00.000000001Z")
        self.found([], scheduled_before=FAR_AHEAD)
        self.found([done, later], created_after="", created_before=None)
        self.bad("created_after", created_after="yesterday")

    def test_attempts(self):
        none = self.api.enqueue(self.queue, scheduled_at=FAR_AHEAD)
        one = self.active()
        self.found([none, one], attempt_min=0)
        self.found([one], attempt_min=1)
        self.found([none], attempt_max=0)
        self.found([one], attempt_min=1, attempt_max=1)
        self.found([], attempt_min=2)

    def test_exact_texts(self):
        job = self.api.enqueue(self.queue, unique_key="u'1", parent_id="p", chain_id="c",
                               chain_step=2)
        self.api.enqueue(self.queue)
        self.found([job], unique_key="u'1")
        self.found([], unique_key="U'1")
        self.found([job], parent_id="p")
        self.found([job], chain_id="c")
        self.found([job], chain_step=2)
        self.found([], chain_step=0)
        self.found([job], unique_key="u'1", parent_id="p", chain_id="c")

    def test_dependents(self):
        first, second = self.api.enqueue(unique("first")), self.api.enqueue(unique("second"))
        both = self.api.enqueue(self.queue, depends_on=[first, second])
        one = self.api.enqueue(self.queue, depends_on=[second])
        self.api.enqueue(self.queue)
        self.found([both], depends_on=first)
        self.found([both, one], depends_on=second)
        self.found([one], depends_on=second, job_id_prefix=one)
        self.found([], depends_on=one)
        self.found([], depends_on="nonsense")
        # Also after it has completed, until the dependent is deleted.
        self.api.must(self.api.delete(f"/api/v1/jobs/{first}"))
        self.found([both], depends_on=first)
        self.api.must(self.api.delete(f"/api/v1/jobs/{both}"))
        self.found([one], depends_on=second)

    def test_worker(self):
        job = self.api.enqueue(self.queue)
        self.api.fetch(self.queue, worker_id="worker-7")
        self.found([job], worker_id="worker-7")
        self.found([], worker_id="worker-8")

    def test_batch(self):
        batch = self.api.enqueue_batch([{"queue": self.queue}, {"queue": self.queue}],
                                       batch={"callback_queue": self.queue + ".done"})
        self.api.enqueue(self.queue)
        self.found(batch["job_ids"], batch_id=batch["batch_id"])
        self.found([], batch_id="batch_nosuch")
        self.found([], batch_id=batch["job_ids"][0])

    def test_errors(self):
        clean = self.api.enqueue(self.queue, scheduled_at=FAR_AHEAD)
        failed = self.active(retry_base_delay="1h")
        self.api.fail(failed, "Connection REFUSED by 10%")
        self.found([failed], has_errors=True)
        self.found([clean], has_errors=False)
        self.found([clean, failed], has_errors=None)
        self.found([failed], error_contains="refused BY 10%")
        self.found([], error_contains="refused%")
        self.found([], error_contains="time-out")

    def test_id_prefix(self):
        job = self.api.enqueue(self.queue)
        other = self.api.enqueue(self.queue)
        for length in range(4):
            self.found([job, other], job_id_prefix=job[:length])
        self.found([job], job_id_prefix=job)
        self.found([], job_id_prefix=job + "0")
        self.found([], job_id_prefix=job.upper())
        self.found([], job_id_prefix="job_%")
        self.found([], job_id_prefix="job_~")
        self.found([], job_id_prefix="batch_")

    def test_all_together(self):
        job = self.active(tags={"a": "b"}, unique_key="k", priority="high", payload={"n": 3})
        self.api.fail(job, "oops")
        self.api.enqueue(self.queue, {"n": 3}, tags={"a": "b"})
        self.found([job], state=["retrying"], tags={"a": "b"}, unique_key="k", priority="high",
                   payload_jq=".n == 3", payload_contains="n", error_contains="oops",
                   has_errors=True, attempt_min=1, job_id_prefix=job[:10])


class PayloadJq(SearchTest):
    def test_every_form(self):
        """10.4: one row per form of the table. Unit tests of the parser cover the rest."""
        a = self.api.enqueue(self.queue, {"n": 5, "s": "abc", "b": True, "l": ["x", "y"],
                                          "u": {"name": "Ann"}})
        b = self.api.enqueue(self.queue, {"n": "5", "s": "Abc", "b": 1, "l": [], "z": None})
        for expression, wanted in (
                (".n == 5", [a]), (".n != 5", [b]), (".n >= 5", [a]), (".n < 5", []),
                ('.s == "abc"', [a]), ('.s < "a"', [b]), (".b == true", [a]), (".b != false", [a]),
                (".z == null", [a, b]), (".u != null", [a]), ('.u.name == "Ann"', [a]),
                ('.s | startswith("ab")', [a]), ('.s | startswith("%")', []),
                ('.l | contains("x")', [a]), ('.s | contains("bc")', [a, b]),
                (".l | length == 0", [b]), (".u.name|length>=3", [a]), ("  .n  ==  5  ", [a])):
            self.found(wanted, payload_jq=expression)

    def test_what_is_neither_form_nor_program_is_refused(self):
        for expression in ("n == 5", ".n > null", ".b < true", ".n == '5'", "' OR 1=1 --", "nonsense",
                           ".n == 5); DROP TABLE jobs; --", "." * 4000, "." + "a." * 2000 + " == 1",
                           "$nothing", "import \"/etc/passwd\" as p; .", "include \"a\"; .",
                           "{" * 2000, "[" * 4000, ".a." * 1000, "\x00", " "):
            self.bad("unsupported payload_jq expression", payload_jq=expression)
        self.bad(payload_jq="." + "a" * 5000 + " == 1")

    def test_deep_payloads(self):
        deep = {"a": json.loads("[" * 200 + "]" * 200)}
        job = self.api.enqueue(self.queue, deep)
        self.found([job], payload_jq=".a | length == 1")
        path = ".".join(["a"] * 300)
        self.found([job], payload_jq=f".{path} == null")


class Programs(SearchTest):
    """Everything that is not one of the forms of 10.4 is run as a jq program."""

    def setUp(self):
        super().setUp()
        self.a = self.api.enqueue(self.queue, {"n": 5, "s": "abc", "l": [{"k": 1}, {"k": 2}]})
        self.b = self.api.enqueue(self.queue, {"n": 7, "s": "Abc", "l": [{"k": 3}]})
        self.c = self.api.enqueue(self.queue, [1, 2])

    def test_connectives_indexes_and_pipes(self):
        a, b, c = self.a, self.b, self.c
        for expression, wanted in (
                ('.n == 5 and .s == "abc"', [a]), (".n == 5 or .n == 7", [a, b]),
                (".l[1].k == 2", [a]), (".[1] == 2", [c]), (".n", []), ("select(.n > 6)", []),
                (".n = 5", []), ("select(.n > 6) | true", [b]),
                ('.s | ascii_downcase == "abc"', [a, b]), ("any(.l[]; .k > 2)", [b]),
                ('.s | test("^a")', [a]), ("[.l[].k] | add == 3", [a, b]), ("empty", []),
                ("true", [a, b, c]), ("false", []), ("error", []), ("type == \"array\"", [c]),
                ("true, null", [a, b, c]), ("null, true", []), (".n == 5 or error", [a])):
            with self.subTest(expression):
                self.found(wanted, payload_jq=expression)

    def test_a_mistake_in_a_queue_without_jobs(self):
        for queue in (unique("none"), self.queue):
            body = {"queue": queue, "payload_jq": "foo bar"}
            self.refused(self.api.post("/api/v1/jobs/search", body), 400, "VALIDATION_ERROR",
                         message="unsupported payload_jq expression")
            self.refused(self.api.post("/api/v1/jobs/bulk", {"action": "hold", "filter": body}),
                         400, "BULK_ERROR", message="unsupported payload_jq expression")

    def test_with_other_filters_sorts_and_pages(self):
        jobs = [self.api.enqueue(self.queue, {"i": i, "even": i % 2 == 0},
                                 priority="high" if i % 3 == 0 else "normal") for i in range(20)]
        even = [jobs[i] for i in range(0, 20, 2)]
        filters = {"payload_jq": ".even and .i >= 4", "order": "asc"}
        seen, cursor = [], None
        for _ in range(10):
            page = self.search(limit=3, cursor=cursor, **filters)
            self.assertEqual(page["total"], 8)
            seen += [j["id"] for j in page["jobs"]]
            cursor = page.get("cursor")
            if not page["has_more"]:
                break
        self.assertEqual(seen, even[2:])
        self.found([jobs[i] for i in (6, 12, 18)], priority="high", **filters)
        self.found([jobs[4]], payload_contains='"i":4', **filters)
        by_priority = self.search(sort="priority", limit=3, **filters)
        self.assertEqual([j["id"] for j in by_priority["jobs"]], [jobs[i] for i in (6, 12, 18)])

    def test_reach_nothing_outside(self):
        for expression in ("$ENV | length > 0", "env | length > 0", "env.PATH", "$ENV.HOME", "input",
                           "[inputs] | length > 0", "input_filename", "halt", "halt_error",
                           "input_line_number > 0", '"/etc/passwd" | modulemeta'):
            with self.subTest(expression):
                self.found([], payload_jq=expression)
        self.found([self.a], payload_jq="debug | .n == 5")
        self.found([self.a], payload_jq="stderr | .n == 5")

    def test_too_much_ends_the_search_and_not_the_server(self):
        for expression in ("def f: 1 + f; f", '"x" * 1e9 | length', "[limit(1e9; repeat(.))]",
                           "reduce range(1e6) as $i (0; [.])"):
            with self.subTest(expression):
                answer = self.api.post("/api/v1/jobs/search",
                                       {"queue": self.queue, "payload_jq": expression})
                self.assertIn((answer.status, answer.json["code"]),
                              ((400, "VALIDATION_ERROR"), (500, "SEARCH_ERROR")), answer)
        self.found([self.a], payload_jq=".n == 5 and true")

    def test_dead_jobs_too(self):
        answer = self.api.must(self.api.get("/api/v1/dead?payload_jq=" +
                                            urllib.parse.quote(".n == 5 and true")))
        self.assertEqual(answer["jobs"], [])
        self.refused(self.api.get("/api/v1/dead?payload_jq=.n+%3D%3D"), 400, "VALIDATION_ERROR",
                     "payload_jq")


class ProgramsThatDoNotEnd(SearchTest):
    settings = ("--rate-limit-enabled=false", "--view-timeout", "1s")

    def test_are_killed_and_leave_nothing(self):
        job = self.api.enqueue(self.queue, {"n": 5})
        for expression in ("def f: f; f", "until(false; .)", "[range(1e12)]", "last(repeat(.))"):
            with self.subTest(expression):
                answer = self.api.post("/api/v1/jobs/search",
                                       {"queue": self.queue, "payload_jq": expression})
                self.assertIn((answer.status, answer.json["code"]),
                              ((500, "SEARCH_ERROR"), (400, "VALIDATION_ERROR")), answer)
                self.assertEqual(children_of(self.server), [])
        # On a busy machine a second may not be enough even for this, so retry.
        good = {"queue": self.queue, "payload_jq": ".n == 5 and true"}
        wait_until(lambda: self.api.post("/api/v1/jobs/search", good).status == 200, "an answer")
        self.assertEqual(len(children_of(self.server)), 1)  # kept running for the next page
        answer = self.api.post("/api/v1/jobs/bulk", {
            "action": "delete", "filter": {"queue": self.queue, "payload_jq": "def f: f; f"}})
        self.assertEqual(answer.status, 500, answer)
        self.found([job])


class Pages(SearchTest):
    def setUp(self):
        super().setUp()
        self.jobs = [self.api.enqueue(self.queue, priority=p)
                     for p in ("normal", "critical", "high", "normal", "high")]

    def cursor(self, offset):
        return base64.b64encode(json.dumps({"offset": offset}).encode()).decode()

    def test_newest_first_unless_said(self):
        self.assertEqual(self.ids(), self.jobs[::-1])
        self.assertEqual(self.ids(order="asc"), self.jobs)
        self.assertEqual(self.ids(order="sideways", sort=""), self.jobs[::-1])

    def test_sorts(self):
        """10.1: ties by id in the same direction; unset first ascending, last descending."""
        n1, critical, h1, n2, h2 = self.jobs
        self.assertEqual(self.ids(sort="priority", order="asc"), [critical, h1, h2, n1, n2])
        self.assertEqual(self.ids(sort="priority"), [n2, n1, h2, h1, critical])
        self.assertEqual(self.api.fetch(self.queue)["job_id"], critical)
        self.assertEqual(self.api.fetch(self.queue)["job_id"], h1)
        self.api.ack(critical)
        self.api.fail(h1, retry_base_delay="1h")
        for sort in ("started_at", "attempt"):
            self.assertEqual(self.ids(sort=sort)[:2], [h1, critical], sort)
            self.assertEqual(self.ids(sort=sort, order="asc")[-2:], [critical, h1], sort)
        self.assertEqual(self.ids(sort="completed_at"), [critical, h2, n2, h1, n1])
        self.assertEqual(self.ids(sort="failed_at", order="asc"), [n1, critical, n2, h2, h1])
        self.assertEqual(self.ids(sort="scheduled_at")[0], h1)

    def test_cursors_lead_through_all(self):
        """10.3: base64 of {"offset":N}; cursor only while there is more."""
        seen, cursor = [], None
        for _ in range(3):
            page = self.search(limit=2, cursor=cursor)
            self.assertEqual(page["total"], 5)
            seen += [j["id"] for j in page["jobs"]]
            self.assertEqual(page["has_more"], len(seen) < 5)
            self.assertEqual("cursor" in page, page["has_more"])
            cursor = page.get("cursor")
            if cursor:
                self.assertEqual(json.loads(base64.b64decode(cursor)), {"offset": len(seen), "after": seen[-1]})
        self.assertEqual(seen, self.jobs[::-1])

    def test_the_total_of_every_page_is_of_what_is_there(self):
        """10.2: total counts the current matches regardless of paging."""
        queue = unique("going")
        jobs = [self.api.enqueue(queue, {"n": 1}) for _ in range(6)][::-1]
        for filters in ({}, {"payload_jq": ".n == 1"}):
            with self.subTest(filters):
                first = self.search(queue=queue, limit=2, **filters)
                self.assertEqual((len(first["jobs"]), first["total"]), (2, len(jobs)))
                self.api.must(self.api.delete(f"/api/v1/jobs/{jobs.pop(0)}"))
                second = self.search(queue=queue, limit=2, cursor=first["cursor"], **filters)
                self.assertEqual(second["total"], len(jobs))
                self.assertEqual([j["id"] for j in second["jobs"]], jobs[1:3])
                self.assertEqual(second["has_more"], len(jobs) > 3)

    def test_cursors_of_others(self):
        """10.3: an invalid cursor means offset 0."""
        self.assertEqual(len(self.search(cursor=self.cursor(3))["jobs"]), 2)
        for cursor in ("", "!!!", "e30=", "eyJvZmZzZXQiOi0xfQ==", "=", "A" * 1000, "eyJvZmZz",
                       self.cursor("x"), self.cursor(-5), self.cursor(10**30)):
            self.assertEqual(len(self.search(cursor=cursor)["jobs"]), 5, cursor)
        beyond = self.search(cursor=self.cursor(100))
        self.assertEqual((beyond["jobs"], beyond["total"], beyond["has_more"]), ([], 5, False))
        self.assertEqual(self.search(cursor=self.cursor(2**62))["jobs"], [])

    def test_limits(self):
        """10.1: default 50, at most 1000."""
        many = self.queue + ".many"
        self.api.enqueue_batch([{"queue": many}] * 1100)
        for limit, wanted in ((None, 50), (0, 50), (-1, 50), (1, 1), (1000, 1000), (5000, 1000)):
            found = self.search(queue=many, limit=limit)
            self.assertEqual((len(found["jobs"]), found["total"]), (wanted, 1100), limit)
        self.bad(code="PARSE_ERROR", limit="ten")


class Hostile(SearchTest):
    def test_texts_are_only_texts(self):
        """Input is never part of an SQL statement."""
        job = self.api.enqueue(self.queue)
        for text in ("'", '"', "' OR 1=1 --", "\"; DROP TABLE jobs; --", "?1", ":x", "@x", "\\",
                     "%", "_", "*", "\u0000", "\u2028", "x" * 4096):
            for field in ("unique_key", "batch_id", "worker_id", "parent_id", "chain_id",
                          "payload_contains", "error_contains", "job_id_prefix"):
                found = self.search(**{field: text})
                self.assertEqual(found["total"], 1 if field == "payload_contains" and
                                 text in "{}" else 0, (field, text))
            self.search(order=text, cursor=text)
            self.bad("sort: expected", sort=text)
            self.search(queue=text[:200])
            self.search(tags={text: text})
        self.found([job])

    def test_too_long_texts_are_refused(self):
        for field in ("payload_contains", "error_contains", "unique_key", "payload_jq"):
            self.bad(field, **{field: "x" * 5000})

    def test_wrong_types(self):
        for field, value in (("queue", 1), ("payload_contains", []), ("has_errors", "yes"),
                             ("attempt_min", "1"), ("created_after", 5), ("tags", "x"),
                             ("priority", {}), ("chain_step", 1.5)):
            answer = self.api.post("/api/v1/jobs/search", {field: value})
            self.assertEqual(answer.status, 400, (field, answer))

    def test_not_json(self):
        self.refused(self.api.post("/api/v1/jobs/search", b"{"), 400, "PARSE_ERROR")
        self.refused(self.api.post("/api/v1/jobs/search", b"[]"), 400, "PARSE_ERROR")


class Namespaces(SearchTest):
    def test_see_only_their_own(self):
        """3.4: with a queue and without."""
        mine, theirs = (self.api.with_headers(X_Corvo_Namespace=unique("ns").replace(".", "-"))
                        for _ in range(2))
        job = mine.enqueue(self.queue, {"word": "treasure"})
        theirs.enqueue(self.queue, {"word": "treasure"})
        for body in ({}, {"queue": self.queue}, {"payload_contains": "treasure"},
                     {"state": ["pending"]}, {"job_id_prefix": "job_"}, {"sort": "attempt"}):
            found = mine.must(mine.post("/api/v1/jobs/search", body))
            self.assertEqual([(j["id"], j["queue"]) for j in found["jobs"]], [(job, self.queue)])
            self.assertEqual(found["total"], 1)
        words = mine.must(mine.get("/api/v1/search/fulltext?q=treasure"))
        self.assertEqual([(j["id"], j["queue"]) for j in words["results"]], [(job, self.queue)])
        self.refused(mine.post("/api/v1/jobs/search", {"queue": "other::q"}), 400,
                     "VALIDATION_ERROR")


class Dead(SearchTest):
    def dead(self, **params):
        query = urllib.parse.urlencode({"queue": self.queue, **params}, doseq=True)
        return self.api.must(self.api.get(f"/api/v1/dead?{query}"))

    def kill(self, error="broken", **fields):
        job = self.active(max_retries=1, **fields)
        self.api.fail(job, error)
        return job

    def test_last_failure_first(self):
        """10.5: like a search with state dead, sorted by failed_at."""
        first = self.api.enqueue(self.queue, max_retries=1)
        second = self.kill(priority="critical")
        self.assertEqual(self.api.fetch(self.queue)["job_id"], first)
        self.api.fail(first)
        self.api.enqueue(self.queue)
        found = self.dead()
        self.assertEqual([j["id"] for j in found["jobs"]], [first, second])
        self.assertEqual((found["total"], found["has_more"]), (2, False))
        self.assertEqual([j["id"] for j in self.dead(order="asc")["jobs"]], [second, first])
        self.assertEqual([j["id"] for j in self.dead(sort="created_at")["jobs"]], [second, first])
        page = self.dead(limit=1)
        self.assertTrue(page["has_more"])
        self.assertEqual([j["id"] for j in self.dead(limit=1, cursor=page["cursor"])["jobs"]],
                         [second])

    def test_filters(self):
        a = self.kill("Refused", payload={"n": 1}, tags={"env": "prod", "t": "a:b"})
        b = self.kill("time-out", payload={"n": 2}, tags={"env": "prod"})
        for params, wanted in (({"error_contains": "refused"}, [a]), ({"payload_jq": ".n > 1"}, [b]),
                               ({"payload_contains": '"n":1'}, [a]), ({"tag": "env:prod"}, [b, a]),
                               ({"tag": ["env:prod", "t:a:b"]}, [a]), ({"tag": "env:x"}, []),
                               ({"created_after": self.api.job(a)["created_at"]}, [b]),
                               ({"created_before": self.api.job(b)["created_at"]}, [a])):
            self.assertEqual([j["id"] for j in self.dead(**params)["jobs"]], wanted, params)

    def test_bad_parameters(self):
        for query in ("payload_jq=x", "created_after=x", "tag=x", "limit=x"):
            self.refused(self.api.get("/api/v1/dead?" + query), 400, "VALIDATION_ERROR")


class Words(SearchTest):
    def words(self, q, **params):
        query = urllib.parse.urlencode({"q": q, **params})
        answer = self.api.must(self.api.get(f"/api/v1/search/fulltext?{query}"))
        self.assertEqual(answer["q"], q)
        return answer["results"]

    def test_by_payload_and_by_tag(self):
        """24.45"""
        word = unique("word").replace(".", "")
        a = self.api.enqueue(self.queue, {"text": f"say {word} twice"})
        b = self.api.enqueue(self.queue, {}, tags={"k": word})
        self.assertEqual({j["id"] for j in self.words(word)}, {a, b})
        self.assertEqual({j["id"] for j in self.words(word.upper())}, {a, b})
        self.assertEqual({j["id"] for j in self.words(f"say {word}")}, {a})

    def test_results_have_texts(self):
        """10.6: payload and tags are JSON in strings."""
        word = unique("form").replace(".", "")
        job = self.api.enqueue(self.queue, {"w": word})
        found, = self.words(word)
        self.assert_time(found.pop("created_at"))
        self.assertEqual(found, {"id": job, "queue": self.queue, "state": "pending",
                                 "payload": json.dumps({"w": word}, separators=(",", ":")),
                                 "tags": ""})

    def test_by_queue_and_state(self):
        word = unique("queueword").replace(".", "")
        job = self.api.enqueue(f"{word}.sub", {"a": word})
        self.assertEqual([j["id"] for j in self.words(word)], [job])
        self.assertEqual([j["id"] for j in self.words(f"{word} pending")], [job])
        self.assertEqual(self.words(f"{word} dead"), [])
        self.api.act(job, "hold")
        self.assertEqual([j["id"] for j in self.words(f"{word} held")], [job])

    def test_falls_back_to_parts(self):
        word = unique("part").replace(".", "")
        job = self.api.enqueue(self.queue, {"mail": f"x{word}@example.org"})
        for q in (f"{word}@EXAMPLE", f'{word}@example.org"}}', f"x{word}@"):
            self.assertEqual([j["id"] for j in self.words(q)], [job], q)

    def test_queries_that_are_no_queries(self):
        self.api.enqueue(self.queue)
        for q in ('"', "*", "AND", "NOT", "a AND", "(", "x:y", "' OR 1=1 --", "^", "-", "{a b}:c",
                  "NEAR(", "\u0000", "x" * 4096):
            self.words(q)
        self.refused(self.api.get("/api/v1/search/fulltext?q=" + "x" * 5000), 400,
                     "VALIDATION_ERROR")
        self.refused(self.api.get("/api/v1/search/fulltext?q=%ff"), 400, "VALIDATION_ERROR")

    def test_q_is_required(self):
        for query in ("", "?q=", "?q=+%20"):
            self.refused(self.api.get("/api/v1/search/fulltext" + query), 400, "VALIDATION_ERROR",
                         "q is required")

    def test_limits(self):
        """1.5: 1 to 500, otherwise 50."""
        word = unique("limit").replace(".", "")
        self.api.enqueue_batch([{"queue": self.queue, "payload": {"w": word}}] * 60)
        for limit, wanted in (("1", 1), ("60", 60), ("0", 50), ("501", 50), ("x", 50), ("-1", 50)):
            self.assertEqual(len(self.words(word, limit=limit)), wanted, limit)


class View(unittest.TestCase):
    """The copy used for searches: rebuilt, damaged, continued."""

    def setUp(self):
        self.server = Server("--rate-limit-enabled=false")
        self.api = self.server.client()

    def tearDown(self):
        self.server.stop()

    def total(self, **filters):
        return self.api.must(self.api.post("/api/v1/jobs/search", filters))["total"]

    def status(self):
        return self.api.must(self.api.get("/api/v1/cluster/status"))

    def restart(self, between=lambda: None):
        self.server.terminate()
        between()
        self.server.start()

    def test_rebuild_on_request(self):
        """20.3, 24.55: the response follows the end of the rebuild, and the status shows it."""
        self.api.enqueue_batch([{"queue": "q"}] * 500)
        answer = self.api.must(self.api.post("/api/v1/admin/rebuild-sqlite"))
        self.assertEqual((answer["status"], answer["rebuilt"]), ("ok", True))
        self.assertIsInstance(answer["duration_ms"], int)
        self.assertEqual(self.total(), 500)
        status = self.status()
        rebuild = status["sqlite_rebuild"]
        self.assertTrue(rebuild["ran"] and rebuild["last_success"])
        self.assertIsInstance(rebuild["last_duration_ms"], int)
        self.assertNotIn("last_error", rebuild)
        self.assertTrue(status["sqlite_mirror_async"])
        self.assertEqual(status["sqlite_mirror"]["dropped"], 0)
        wait_until(lambda: self.status()["sqlite_mirror"]["lag"] == 0, "the view catching up")

    def test_continues_after_a_restart(self):
        self.api.enqueue_batch([{"queue": "q"}] * 500)
        self.restart()
        self.assertEqual(self.total(), 500)
        self.assertEqual(self.server.events("search index rebuild started")[1:], [])

    def test_survives_a_kill(self):
        for _ in range(3):
            self.api.enqueue_batch([{"queue": "q", "payload": {"w": "fox"}}] * 200)
            job = self.api.fetch("q")["job_id"]
            self.api.ack(job)
            self.server.kill()
            self.server.start()
            self.api.close()
        self.assertEqual(self.total(), 600)
        self.assertEqual(self.total(state=["completed"]), 3)

    def test_a_damaged_file_is_made_anew(self):
        self.api.enqueue_batch([{"queue": "q"}] * 300)
        path = os.path.join(self.server.folder, "view.db")

        def damage():
            with open(path, "r+b") as file:
                file.write(b"\xa5" * 8192)
        for spoil in (damage, lambda: os.remove(path), lambda: open(path, "wb").close()):
            self.restart(spoil)
            self.assertEqual(self.total(), 300)
            self.assertEqual(self.api.must(self.api.get("/api/v1/search/fulltext?q=q"))["q"], "q")

    def test_metrics(self):
        self.api.enqueue("q")
        self.assertEqual(self.total(), 1)
        text = self.api.get("/api/v1/metrics").body.decode()
        self.assertIn("\ncorvo_sqlite_mirror_dropped_total 0\n", text)
        self.assertIn("\ncorvo_sqlite_mirror_lag_updates 0\n", text)
        self.assertIn("\ncorvo_sqlite_mirror_written_total ", text)


class Patience(unittest.TestCase):
    def test_a_search_that_takes_too_long_ends(self):
        with Server("--rate-limit-enabled=false", "--view-timeout", "1ms") as server:
            api = server.client()
            jobs = [{"queue": "q", "payload": {"t": "x" * 2000}}] * 2000
            for _ in range(5):
                api.enqueue_batch(jobs)
            answer = api.post("/api/v1/jobs/search", {"payload_contains": "nothing of that"})
            self.assertEqual((answer.status, answer.json.get("code"), answer.json.get("error")),
                             (500, "SEARCH_ERROR", "search took too long"))
            # The next search succeeds, as soon as the machine has time for it.
            wait_until(lambda: api.post("/api/v1/jobs/search", {"limit": 1}).json.get("total") == 10000,
                       "an answer")

    def test_endless_programs_leave_other_searches_alone(self):
        with Server("--rate-limit-enabled=false", "--view-timeout", "1h") as server:
            api = server.client()
            api.enqueue("q", {"a": 1})
            body = json.dumps({"payload_jq": "last(range(1e18)) == 0"}).encode()
            request = (b"POST /api/v1/jobs/search HTTP/1.1\r\nHost: x\r\n"
                       b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            with contextlib.ExitStack() as clients:
                for _ in range(20):
                    clients.enter_context(RawConnection(server)).send(request)
                wait_until(lambda: 'corvo_searches_waiting{kind="program"} 19\n'
                           in api.get("/metrics").body.decode(), "all of them")
                self.assertEqual(api.must(api.post("/api/v1/jobs/search", {}))["total"], 1)
                self.assertEqual(api.must(api.post("/api/v1/jobs/search", {"payload_contains": "a"}))["total"], 1)
                self.assertIn('\ncorvo_searches_running{kind="program"} 1\n', api.get("/metrics").body.decode())
            wait_until(lambda: not children_of(server), "the programs' end")

    def test_a_search_whose_client_has_gone_ends(self):
        """Otherwise the endless searches would occupy all threads of the view for an hour."""
        with Server("--rate-limit-enabled=false", "--view-timeout", "1h") as server:
            api = server.client()
            api.enqueue("q")
            body = json.dumps({"payload_jq": "last(range(1e18)) == 0"}).encode()
            request = (b"POST /api/v1/jobs/search HTTP/1.1\r\nHost: x\r\n"
                       b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            for _ in range(4):
                with contextlib.ExitStack() as clients:
                    for _ in range(4):
                        clients.enter_context(RawConnection(server)).send(request)
                    wait_until(lambda: children_of(server), "a program that runs")
                self.assertEqual(api.must(api.post("/api/v1/jobs/search", {}))["total"], 1)
            wait_until(lambda: not children_of(server), "the programs' end")


if __name__ == "__main__":
    unittest.main()
