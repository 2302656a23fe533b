"""Usage and billing summaries (contract 17.1, 17.2)."""
import datetime
import unittest
import urllib.parse

from harness import ApiTest, Server, unique, wait_until

SUMS = ("input_tokens", "output_tokens", "cache_creation_tokens", "cache_read_tokens", "cost_usd",
        "count")


def parse_time(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class Summary(ApiTest):
    def setUp(self):
        super().setUp()
        self.ns = unique("usage").replace(".", "-")
        self.api = type(self).server.client().with_headers(X_Corvo_Namespace=self.ns)

    def report(self, queue=None, tags=None, **usage):
        job = self.active(queue, tags=tags) if tags else self.active(queue)
        self.api.ack(job, usage=usage)
        return job

    def summary(self, query=""):
        return self.api.must(self.api.get("/api/v1/usage/summary" + query))

    def test_nothing_reported(self):
        """All sums are present; groups are not."""
        found = self.summary()
        self.assertEqual(found["totals"], dict.fromkeys(SUMS, 0))
        self.assertEqual(found["period"], "24h")
        self.assert_time(found["from"])
        self.assert_time(found["to"])
        self.assertNotIn("groups", found)
        self.assertNotIn("groups", self.summary("?group_by=queue"))

    def test_totals(self):
        self.report(input_tokens=10, output_tokens=5, cost_usd=0.25)
        self.report(input_tokens=1, cache_creation_tokens=2, cache_read_tokens=3, cost_usd=0.5)
        self.assertEqual(self.summary()["totals"],
                         {"input_tokens": 11, "output_tokens": 5, "cache_creation_tokens": 2,
                          "cache_read_tokens": 3, "cost_usd": 0.75, "count": 2})

    def test_heartbeats_count(self):
        job = self.active()
        self.api.heartbeat({job: {"usage": {"input_tokens": 4}}})
        self.api.heartbeat({job: {"usage": {"input_tokens": 5}}})
        self.assertEqual(self.summary()["totals"]["input_tokens"], 9)
        self.assertEqual(self.summary()["totals"]["count"], 2)

    def test_groups(self):
        """Ordered by cost, highest first. Keys are visible names, empty if unknown."""
        a, b = self.queue, self.queue + ".b"
        self.report(a, tags={"team": "red"}, model="small", provider="p", cost_usd=0.1)
        self.report(b, tags={"team": "blue"}, model="large", provider="p", cost_usd=0.5)
        self.report(b, input_tokens=1)
        for group, wanted in (("queue", [b, a]), ("model", ["large", "small", ""]),
                              ("provider", ["p", ""]), ("tag:team", ["blue", "red", ""])):
            groups = self.summary(f"?group_by={group}")["groups"]
            self.assertEqual([g["key"] for g in groups], wanted, group)
            self.assertEqual(sum(g["count"] for g in groups), 3)
            self.assertEqual(set(groups[0]), {"key", *SUMS})
        for query in ("?group_by=", "?group_by=none"):
            self.assertNotIn("groups", self.summary(query))

    def test_periods(self):
        self.report(input_tokens=1)
        for period in ("7d", "30d", "1h30m", "24h", "100000h"):
            found = self.summary(f"?period={period}")
            self.assertEqual((found["period"], found["totals"]["count"]), (period, 1))
        self.assertEqual(self.summary("?period=")["period"], "24h")
        for period in ("x", "0", "-1h", "5", "0s"):
            self.refused(self.api.get(f"/api/v1/usage/summary?period={period}"), 400,
                         "USAGE_SUMMARY_ERROR", f'invalid period: "{period}"')

    def test_unknown_groups(self):
        for group in ("worker", "tag:", "queue,model", "tag"):
            self.refused(self.api.get(f"/api/v1/usage/summary?group_by={group}"), 400,
                         "USAGE_SUMMARY_ERROR", f'unsupported group_by: "{group}"')

    def test_namespaces_see_their_own(self):
        self.report(input_tokens=7)
        other = type(self).server.client().with_headers(X_Corvo_Namespace=self.ns + "x")
        self.assertEqual(other.must(other.get("/api/v1/usage/summary"))["totals"]["count"], 0)
        everybody = type(self).server.client()
        found = everybody.must(everybody.get("/api/v1/usage/summary?group_by=queue"))
        self.assertIn(f"{self.ns}::{self.queue}", [g["key"] for g in found["groups"]])

    def test_usage_stays_where_it_was_reported(self):
        """Deleting, moving or clearing jobs does not change reported usage."""
        a, b = self.queue, self.queue + ".b"
        gone = self.report(a, tags={"team": "red"}, model="m", cost_usd=0.5)
        moved = self.active(a)
        self.api.heartbeat({moved: {"usage": {"input_tokens": 4}}})
        self.api.must(self.api.post(f"/api/v1/fail/{moved}", {"error": "boom"}))
        self.api.must(self.api.post(f"/api/v1/jobs/{moved}/move", {"queue": b}))
        self.report(b, input_tokens=1)
        before = [self.summary(f"?group_by={group}") for group in ("queue", "model", "tag:team")]
        self.assertEqual([(g["key"], g["count"]) for g in before[0]["groups"]], [(a, 2), (b, 1)])
        self.api.must(self.api.delete(f"/api/v1/jobs/{gone}"))
        self.api.must(self.api.post(f"/api/v1/queues/{b}/clear"))
        self.api.must(self.api.delete(f"/api/v1/queues/{a}"))
        after = [self.summary(f"?group_by={group}") for group in ("queue", "model", "tag:team")]
        for x, y in zip(before, after):
            self.assertEqual((x["totals"], x["groups"]), (y["totals"], y["groups"]))

    def test_the_period_begins_at_the_beginning_of_a_cell(self):
        """Cells have five minutes for the last day, and hours before. 92 days are kept."""
        for period, seconds, step in (("1m", 60, 300), ("90m", 5400, 300), ("24h", 86400, 300),
                                      ("7d", 7 * 86400, 3600), ("1000d", 92 * 86400, 3600)):
            found = self.summary(f"?period={period}")
            since, until = parse_time(found["from"]), parse_time(found["to"])
            self.assertEqual(since % step, 0, period)
            self.assertTrue(seconds <= until - since < seconds + step, period)

    def test_keys_with_anything_in_them(self):
        """Models and tags can be any text."""
        odd = 'a\u0000"\\\u00e9 ::'
        self.report(tags={odd: odd, "n": 7, "long": "x" * 1024}, model=odd, provider=odd, cost_usd=1)
        for group in ("model", "provider"):
            self.assertEqual(self.summary(f"?group_by={group}")["groups"][0]["key"], odd)
        for tag, value in ((odd, odd), ("n", "7"), ("long", "x" * 1024), ("none", "")):
            found = self.summary("?group_by=" + urllib.parse.quote(f"tag:{tag}"))
            self.assertEqual([g["key"] for g in found["groups"]], [value])


    def test_more_names_than_are_kept_apart(self):
        """Above the hourly limit, reports count under an empty name. Another namespace still has room."""
        count = 2500  # even if a new hour begins meanwhile, one of the two gets more names than its limit
        self.api.must(self.api.post("/api/v1/enqueue/batch", {"jobs": [{"queue": self.queue}] * count}), 201)
        for begin in range(0, count, 500):
            jobs = self.api.fetch_batch(self.queue, count=500)
            acks = [{"job_id": j["job_id"], "usage": {"model": f"model-{begin + n}", "input_tokens": 1}}
                    for n, j in enumerate(jobs)]
            self.assertEqual(self.api.must(self.api.post("/api/v1/ack/batch", {"acks": acks}))["acked"], 500)
        models = {g["key"]: g["count"] for g in self.summary("?group_by=model")["groups"]}
        self.assertEqual(sum(models.values()), count)
        self.assertGreater(models[""], 1)
        self.assertGreater(len(models), 900)
        everybody = type(self).server.client()
        for api in (self.api, everybody):
            queues = api.must(api.get("/api/v1/usage/summary?group_by=queue"))["groups"]
            self.assertIn(models[""], [g["count"] for g in queues if g["key"] == ""])
        self.api = everybody.with_headers(X_Corvo_Namespace=self.ns + "x")
        self.report(model="own", input_tokens=1)
        self.assertEqual([g["key"] for g in self.summary("?group_by=model")["groups"]], ["own"])


class Kept(unittest.TestCase):
    def seen(self, api):
        groups = ("none", "queue", "model", "provider", "tag:team")
        found = [api.must(api.get(f"/api/v1/usage/summary?group_by={g}")) for g in groups]
        billing = api.must(api.get("/api/v1/billing/summary"))
        return [(f["totals"], f.get("groups")) for f in found] + [billing["summary"]]

    def test_usage_outlives_jobs_and_processes(self):
        """Retention removes the jobs. Restarts and a rebuilt view change nothing."""
        with Server("--rate-limit-enabled=false", "--retention", "1s", "--retention-interval",
                    "1s") as server:
            api = server.client()
            jobs = []
            for ns, queue, usage in (("", "a", {"model": "m", "cost_usd": 0.5}),
                                     ("space", "b", {"provider": "p", "input_tokens": 3})):
                own = api.with_headers(X_Corvo_Namespace=ns) if ns else api
                job = own.enqueue(queue, tags={"team": "red"})
                own.fetch(queue)
                own.ack(job, usage=usage)
                jobs.append(job)
            before = self.seen(api)
            self.assertEqual(before[0][0]["count"], 2)
            self.assertEqual([b["namespace"] for b in before[-1]], ["default", "space"])
            for job in jobs:
                wait_until(lambda j=job: api.get(f"/api/v1/jobs/{j}").status == 404, "the purge")
            self.assertEqual(self.seen(api), before)
            api.must(api.post("/api/v1/admin/rebuild-sqlite"))
            self.assertEqual(self.seen(api), before)
            server.kill()
            server.start()
            self.assertEqual(self.seen(api), before)


class Billing(ApiTest):
    def test_by_namespace(self):
        """17.2: one entry per namespace, sorted; other namespaces than the default see only their own."""
        clients = {"default": self.api}
        for ns in ("billing-b", "billing-a"):
            clients[ns] = self.api.with_headers(X_Corvo_Namespace=ns)
        self.assertEqual(self.api.must(self.api.get("/api/v1/billing/summary")),
                         {"period": "24h", "summary": []})
        for ns, api in clients.items():
            for cost in (0.25, 0.5):
                job_id = api.enqueue(self.queue)
                api.fetch(self.queue)
                api.ack(job_id, usage={"input_tokens": 10, "output_tokens": 5, "cost_usd": cost,
                                       "cache_creation_tokens": 2, "cache_read_tokens": 1})
        entry = {"rows": 2, "input_tokens": 20, "output_tokens": 10, "cache_creation_tokens": 4,
                 "cache_read_tokens": 2, "cost_usd": 0.75}
        found = self.api.must(self.api.get("/api/v1/billing/summary?period=7d"))
        self.assertEqual(found, {"period": "7d", "summary": [
            {"namespace": ns, **entry} for ns in ("billing-a", "billing-b", "default")]})
        own = clients["billing-b"]
        self.assertEqual(own.must(own.get("/api/v1/billing/summary"))["summary"],
                         [{"namespace": "billing-b", **entry}])

    def test_bad_periods(self):
        for period in ("abc", "0s", "-1h", "5"):
            self.refused(self.api.get(f"/api/v1/billing/summary?period={period}"), 400,
                         "VALIDATION_ERROR", "invalid period")


if __name__ == "__main__":
    unittest.main()
