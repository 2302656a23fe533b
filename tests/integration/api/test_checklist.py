"""Lines of the conformance checklist (contract 24), tested from a client's point of view.

Each test is one line of the list that spans several resources, or whose parts are spread over several of the
other files. The other files mark the rest of the list.
"""
import unittest

from harness import ApiTest, Server, wait_until

SEARCH = "/api/v1/jobs/search"
BULK = "/api/v1/jobs/bulk"


class Checklist(ApiTest):
    def search(self, **fields):
        return self.api.must(self.api.post(SEARCH, {"queue": self.queue, **fields}))

    def bulk(self, action, status=200, **fields):
        return self.api.must(self.api.post(BULK, {"action": action, **fields}), status)

    def test_34_usage_of_an_ack_is_in_the_summary(self):
        self.api.ack(self.active(), usage={"input_tokens": 70, "cost_usd": 0.125})
        found = self.api.must(self.api.get("/api/v1/usage/summary?period=7d&group_by=queue"))
        own = [g for g in found["groups"] if g["key"] == self.queue]
        self.assertEqual([(g["input_tokens"], g["cost_usd"], g["count"]) for g in own],
                         [(70, 0.125, 1)])
        self.assertGreaterEqual(found["totals"]["input_tokens"], 70)
        for query in ("period=abc", "group_by=bad"):
            self.refused(self.api.get("/api/v1/usage/summary?" + query), 400,
                         "USAGE_SUMMARY_ERROR")

    def test_39_search_by_each_kind_of_filter(self):
        vip = self.api.enqueue(self.queue, {"email": "x", "amount": 150, "tags": ["vip"]},
                               tags={"tenant": "acme"})
        other = self.api.enqueue(self.queue, {"email": "y", "amount": 50, "tags": []})
        self.api.act(other, "hold")
        self.assertEqual(self.search()["total"], 2)
        for wanted, fields in ((other, {"state": ["held"]}), (vip, {"tags": {"tenant": "acme"}}),
                               (other, {"payload_contains": '"y"'}),
                               (vip, {"payload_jq": '.email == "x"'}),
                               (vip, {"payload_jq": ".amount > 100"}),
                               (vip, {"payload_jq": '.tags | contains("vip")'})):
            with self.subTest(fields):
                found = self.search(**fields)
                self.assertEqual((found["total"], [j["id"] for j in found["jobs"]]), (1, [wanted]))
        self.refused(self.api.post(SEARCH, {"payload_jq": "amount"}), 400, "VALIDATION_ERROR")

    def test_40_pages(self):
        ids = {self.api.enqueue(self.queue) for _ in range(5)}
        seen, sizes, more, cursor = set(), [], [], None
        while True:
            page = self.search(limit=2, **({"cursor": cursor} if cursor else {}))
            sizes.append(len(page["jobs"]))
            more.append(page["has_more"])
            seen |= {job["id"] for job in page["jobs"]}
            self.assertEqual("cursor" in page, page["has_more"])
            if not page["has_more"]:
                break
            cursor = page["cursor"]
        self.assertEqual((sizes, more, seen), ([2, 2, 1], [True, True, False], ids))
        self.assertEqual(self.search(limit=2, cursor="garbage")["jobs"],
                         self.search(limit=2)["jobs"])
        self.assertEqual(self.search(state=["dead"])["jobs"], [])

    def test_41_bulk(self):
        ids = [self.api.enqueue(self.queue) for _ in range(3)]
        self.assertEqual(self.bulk("cancel", job_ids=ids)["affected"], 3)
        many = self.api.enqueue_batch([{"queue": self.queue, "max_retries": 1}] * 60)["job_ids"]
        for job in self.api.fetch_batch(self.queue, count=60):
            self.api.fail(job["job_id"])
        found = self.bulk("retry", filter={"queue": self.queue, "state": ["dead"]})
        self.assertEqual(found["affected"], 60)
        self.assertEqual({self.api.state(i) for i in many}, {"pending"})
        self.refused(self.api.post(BULK, {"action": "explode", "job_ids": ids}), 400, "BULK_ERROR")
        self.bulk("cancel", 400, job_ids=[])  # 26 has priority: neither ids nor a filter

    def test_42_bulk_in_the_background(self):
        ids = [self.api.enqueue(self.queue) for _ in range(3)]
        target = self.queue + ".target"
        self.bulk("move", job_ids=ids, move_to_queue=target)
        self.bulk("change_priority", job_ids=ids, priority="critical")
        self.assertEqual([(j["queue"], j["priority"]) for j in map(self.api.job, ids)],
                         [(target, 0)] * 3)
        task = self.bulk("cancel", 202, job_ids=ids, **{"async": True})["bulk_operation_id"]
        path = f"/api/v1/bulk/{task}"
        wait_until(lambda: self.api.get(path).json["status"] == "completed", "the end of the task")
        self.assertEqual(self.api.get(path).json["affected"], 3)
        stream = self.api.get(path + "/progress")  # the response is complete only when the operation ends
        self.assertIn(b"event: bulk.async.completed\n", stream.body)

    def test_60_the_interface(self):
        page = self.api.get("/ui/")
        self.assertEqual((page.status, page.headers["content-type"]),
                         (200, "text/html; charset=utf-8"))
        self.assertEqual(self.api.get("/ui/jobs/x").body, page.body)
        answer = self.api.get("/ui")
        self.assertEqual((answer.status, answer.headers["location"]), (301, "/ui/"))


class BackupAndBilling(unittest.TestCase):
    def test_49_backup_restore_and_billing(self):
        with Server("--rate-limit-enabled=false") as server:
            api = server.client()
            self.assertEqual(api.must(api.get("/api/v1/admin/backup"))["namespace"], "default")
            body = {"namespace": "default",
                    "jobs": [{"queue": "restored", "payload": {"a": 1}, "priority": 2}]}
            self.assertEqual(api.must(api.post("/api/v1/admin/restore", body)),
                             {"status": "ok", "restored_jobs": 1, "namespace": "default"})
            self.assertEqual(api.fetch("restored")["payload"], {"a": 1})
            self.assertEqual(api.must(api.get("/api/v1/billing/summary"))["summary"], [])


if __name__ == "__main__":
    unittest.main()
