"""GET /errors: failures grouped by cause, and operations on a group."""
from harness import ApiTest, unique


class ErrorGroups(ApiTest):
    def fail(self, queue, error, **fields):
        job = self.active(queue, max_retries=1, **fields)
        self.api.fail(job, error=error)
        return job

    def groups(self, queue):
        return self.api.must(self.api.get(f"/api/v1/errors?queue={queue}"))["groups"]

    def test_errors_that_differ_in_numbers_are_one_group(self):
        queue = unique("errors")
        jobs = [self.fail(queue, f"user {n} not found in /data/{n}.db") for n in range(3)]
        self.fail(queue, "out of memory")
        first, second = self.groups(queue)
        self.assertEqual((first["message"], first["count"], first["jobs"], first["dead"]),
                         ("user # not found in <path>", 3, 3, 3))
        self.assertEqual(first["example"], {"job_id": jobs[-1], "error": "user 2 not found in /data/2.db"})
        self.assertEqual(first["queues"], [{"queue": queue, "count": 3}])
        self.assertEqual(sum(first["chart"]), 3)
        self.assertEqual((second["message"], second["count"]), ("out of memory", 1))
        self.assert_time(first["first_seen"])
        self.assertLessEqual(first["first_seen"], first["last_seen"])

    def test_a_job_is_counted_once_and_dead_while_it_is(self):
        queue = unique("errors")
        job = self.fail(queue, "refused by 1")
        self.fail(queue, "refused by 2")
        self.api.must(self.api.post(f"/api/v1/jobs/{job}/retry"))
        self.assertEqual([(g["count"], g["jobs"], g["dead"]) for g in self.groups(queue)], [(2, 2, 1)])
        self.assertEqual(self.api.fetch(queue)["job_id"], job)
        self.api.fail(job, error="refused by 3")
        self.assertEqual([(g["count"], g["jobs"], g["dead"]) for g in self.groups(queue)], [(3, 2, 2)])
        whole = self.api.must(self.api.get("/api/v1/errors"))
        self.assertEqual(whole["total"], sum(g["count"] for g in whole["groups"]))

    def test_a_group_is_found_and_retried(self):
        queue = unique("errors")
        jobs = [self.fail(queue, f"timeout after {n} ms") for n in (10, 200)]
        other = self.fail(queue, "refused")
        mark = self.groups(queue)[0]["fingerprint"]
        found = self.api.must(self.api.post("/api/v1/jobs/search", {"error_fingerprint": mark, "queue": queue}))
        self.assertEqual({job["id"] for job in found["jobs"]}, set(jobs))
        self.assertEqual(found["total"], 2)
        done = self.api.must(self.api.post("/api/v1/jobs/bulk", {
            "action": "retry", "filter": {"error_fingerprint": mark, "queue": queue, "state": ["dead"]}}))
        self.assertEqual(done["affected"], 2)
        self.assertEqual([self.api.state(job) for job in (*jobs, other)], ["pending", "pending", "dead"])

    def test_a_fingerprint_of_nothing_finds_nothing(self):
        for mark in ("0" * 16, "what"):
            found = self.api.must(self.api.post("/api/v1/jobs/search", {"error_fingerprint": mark}))
            self.assertEqual(found["total"], 0)

    def test_what_is_not_right_is_refused(self):
        self.refused(self.api.get("/api/v1/errors?from=soon"), 400, "VALIDATION_ERROR", "from, to: must be a time")
        self.refused(self.api.get("/api/v1/errors?from=1h&to=2h"), 400, "VALIDATION_ERROR", "from: must be before to")
        for limit in ("0", "201", "many"):
            self.refused(self.api.get(f"/api/v1/errors?limit={limit}"), 400, "VALIDATION_ERROR", "invalid limit")


class Cursors(ApiTest):
    def test_pages_do_not_shift_when_jobs_come_and_go(self):
        queue = unique("cursor")
        jobs = [self.api.enqueue(queue) for _ in range(7)]
        for order, wanted in (("desc", jobs[::-1]), ("asc", jobs)):
            seen, cursor = [], None
            gone = self.api.enqueue(queue) if order == "desc" else None
            while True:
                body = {"queue": queue, "limit": 2, "order": order, **({"cursor": cursor} if cursor else {})}
                page = self.api.must(self.api.post("/api/v1/jobs/search", body))
                seen += [job["id"] for job in page["jobs"]]
                if gone:  # of the page before; with offsets, its deletion would skip another job
                    self.api.must(self.api.delete(f"/api/v1/jobs/{gone}"))
                    gone = None
                if not page["has_more"]:
                    break
                cursor = page["cursor"]
            self.assertEqual([job for job in seen if job in wanted], wanted, order)
