"""The queue scope of a key (contract 3.5): what each route shows and refuses."""
import json
import unittest

from harness import unique, wait_until
from receiver import Receiver
from sse import Stream
from test_auth import KeyTest


class ScopeTest(KeyTest):
    """A key for the queues under one name, and a queue outside of its scope."""
    settings = (*KeyTest.settings, "--outgoing-allow", "127.0.0.0/8")

    def setUp(self):
        super().setUp()
        self.inside, self.outside = f"{self.queue}.in", f"{self.queue}.out"
        self.secret, self.hash = self.key("admin", queue_scope=self.inside)
        self.scoped = self.nobody.with_headers(X_API_Key=self.secret)

    def hides(self, answer):
        """The response succeeds, and contains the queue of the key but not the other one."""
        self.assertEqual(answer.status, 200, answer)
        text = answer.body.decode()
        self.assertIn(self.inside, text)
        self.assertNotIn(self.outside, text)


class Reading(ScopeTest):
    def setUp(self):
        super().setUp()
        self.jobs = {}
        for queue in (self.inside, self.outside):
            self.jobs[queue] = self.api.enqueue(queue, {"words": queue}, tags={"who": queue}, max_retries=1)
            self.api.must(self.api.post("/api/v1/schedules", {"name": f"s-{queue}", "queue": queue, "cron": "@hourly"}), 201)
            self.api.must(self.api.post("/api/v1/budgets", {"scope": "queue", "target": queue, "daily_usd": 5}))
            self.api.must(self.api.post("/api/v1/approval-policies", {"name": f"p-{queue}", "queue": queue}))

    def test_lists(self):
        """3.5: lists, search, events and usage are filtered."""
        for queue in (self.inside, self.outside):
            self.api.fetch(queue, worker_id=f"w-{queue}", hostname="here")
            self.api.must(self.api.post(f"/api/v1/ack/{self.jobs[queue]}", {
                "usage": {"input_tokens": 3, "model": "m", "provider": "p", "cost_usd": 0.5}}))
            dead = self.api.enqueue(queue, max_retries=1)
            self.api.fetch(queue, worker_id=f"w-{queue}")
            self.api.fail(dead, f"broken: {queue}")
        for path in ("queues", "schedules", "upcoming", "budgets", "approval-policies", "workers", "dead",
                     f"search/fulltext?q={self.queue}", "cluster/events?limit=1000", "usage/summary?group_by=queue",
                     "errors", "metrics", "admin/backup", "admin/backup?include_secrets=true"):
            with self.subTest(path):
                self.hides(self.scoped.get(f"/api/v1/{path}"))
        for path, body in (("jobs/search", {}), ("jobs/bulk-get", {"job_ids": list(self.jobs.values())})):
            with self.subTest(path):
                self.hides(self.scoped.post(f"/api/v1/{path}", body))
        self.assertEqual(self.scoped.must(self.scoped.get("/api/v1/errors"))["total"], 1)
        usage = self.scoped.must(self.scoped.get("/api/v1/usage/summary"))["totals"]
        self.assertEqual(usage["input_tokens"], 3)
        billing = self.scoped.must(self.scoped.get("/api/v1/billing/summary"))["summary"]
        self.assertEqual(sum(row["input_tokens"] for row in billing), 3)

    def test_a_search_of_many_queues(self):
        """More queues than a search names individually."""
        queues = [f"{self.inside}.{n}" for n in range(20)]
        secret, _ = self.key("admin", queue_scope=f"{self.inside}.*")
        scoped = self.nobody.with_headers(X_API_Key=secret)
        for queue in queues:
            self.api.enqueue(queue)
        found = scoped.must(scoped.post("/api/v1/jobs/search", {"limit": 50}))
        self.assertEqual((sorted(j["queue"] for j in found["jobs"]), found["total"]), (sorted(queues), 20))
        body = {"action": "cancel", "filter": {"state": ["pending"]}}
        self.assertEqual(scoped.must(scoped.post("/api/v1/jobs/bulk", {**body, "dry_run": True}))["matched"], 20)
        self.assertEqual(scoped.must(scoped.post("/api/v1/jobs/bulk", body))["affected"], 20)
        self.assertEqual(self.api.state(self.jobs[self.outside]), "pending")

    def test_a_list_of_workers(self):
        """Of a worker's queues, only those in the scope are shown."""
        self.api.must(self.api.post("/api/v1/fetch", {
            "queues": [self.inside, self.outside], "worker_id": f"w-{self.queue}", "timeout": 1}))
        rows = self.scoped.must(self.scoped.get("/api/v1/workers"))
        self.assertEqual([json.loads(row["queues"]) for row in rows], [[self.inside]])

    def test_a_stream_of_events(self):
        with Stream(self.server, headers={"X-API-Key": self.secret}) as stream:
            hidden, shown = self.api.enqueue(self.outside), self.api.enqueue(self.inside)
            frame = repr(stream.next())
            while shown not in frame:
                self.assertNotIn(self.outside, frame)
                frame = repr(stream.next())
            self.assertNotIn(hidden, frame)

    def test_what_names_a_queue_is_refused(self):
        """3.5: queue-addressed → 403."""
        other, job = self.outside, self.jobs[self.inside]
        mine = {"queue": self.inside}
        for method, path, body in (
                ("GET", f"queues/{other}", None), ("GET", f"queues/{other}/explain", None),
                ("GET", f"history?queue={other}", None), ("GET", "history", None),
                ("GET", f"history/queues?queues={self.inside},{other}", None), ("GET", "cluster/history", None),
                ("GET", f"markers?queue={other}", None), ("POST", "markers", {"text": "x"}),
                ("POST", "markers", {"text": "x", "queue": other}),
                ("GET", f"errors?queue={other}", None), ("GET", f"events?queues={other}", None),
                ("GET", f"dead?queue={other}", None),
                ("POST", f"queues/{other}/pause", None), ("POST", f"queues/{other}/resume", None),
                ("POST", f"queues/{other}/drain", None), ("POST", f"queues/{other}/clear", None),
                ("POST", f"queues/{other}/concurrency", {"max": 1}),
                ("POST", f"queues/{other}/throttle", {"rate": 1, "window_ms": 1}),
                ("DELETE", f"queues/{other}/throttle", None), ("DELETE", f"queues/{other}", None),
                ("POST", "enqueue", {"queue": other}), ("POST", f"webhooks/{other}", {}),
                ("POST", "enqueue/batch", {"jobs": [mine, {"queue": other}]}),
                ("POST", "enqueue/batch", {"jobs": [mine], "batch": {"callback_queue": other}}),
                ("POST", "enqueue", {**mine, "chain": {"steps": [mine, {"queue": other}]}}),
                ("POST", "enqueue", {**mine, "chain": {"steps": [mine, mine], "on_exit": {"queue": other}}}),
                ("POST", "enqueue", {**mine, "chain": {"steps": [mine, mine], "on_failure": {"queue": other}}}),
                *(("POST", "enqueue", {**mine, "chain_id": "c", "chain_step": 0, "chain_config": config})
                  for config in ({"steps": [mine, {"queue": other}]}, {"steps": [mine], "on_exit": {"queue": other}},
                                 {"steps": [mine], "on_failure": {"queue": other}})),
                ("POST", "batch", {"callback_queue": other}),
                ("POST", "fetch", {"queues": [self.inside, other], "timeout": 1}),
                ("POST", "fetch/batch", {"queues": [other], "timeout": 1}),
                ("POST", f"jobs/{job}/move", {"queue": other}), ("POST", "jobs/search", {"queue": other}),
                ("POST", "jobs/bulk", {"action": "move", "job_ids": [job], "move_to_queue": other}),
                ("POST", "jobs/bulk", {"action": "cancel", "filter": {"queue": other}}),
                ("POST", "schedules", {"name": unique("s"), "queue": other, "cron": "@daily"}),
                ("PUT", f"schedules/s-{self.inside}", {"queue": other}),
                ("POST", "budgets", {"scope": "queue", "target": other, "daily_usd": 1}),
                ("POST", "budgets", {"scope": "global", "daily_usd": 1}),
                ("POST", "budgets", {"scope": "tag", "target": "a=b", "daily_usd": 1}),
                ("DELETE", f"budgets/queue/{other}", None), ("DELETE", "budgets/global/*", None),
                ("POST", "approval-policies", {"name": "n", "queue": other}),
                ("POST", "approval-policies", {"name": "n", "tag_key": "k"}),
                ("POST", "approval-policies", {"name": "n", "queue": self.inside, "tag_key": "k"})):
            with self.subTest(method=method, path=path, body=body):
                self.refused(self.scoped.request(method, f"/api/v1/{path}", body), 403, "FORBIDDEN")
        self.assertEqual(self.api.queue(other)["enqueued"], 1)
        self.assertIs(self.api.queue(other)["paused"], False)
        self.scoped.must(self.scoped.get(f"/api/v1/history?queue={self.inside}"))
        self.scoped.must(self.scoped.post("/api/v1/approval-policies", {
            "name": "n", "mode": "all", "queue": self.inside, "tag_key": "k"}))

    def test_what_names_a_thing_of_another_queue_is_not_found(self):
        """3.5: job-addressed → 404; so are schedules, policies and bulk operations."""
        hidden = self.jobs[self.outside]
        policy = next(p["id"] for p in self.api.must(self.api.get("/api/v1/approval-policies"))
                      if p.get("queue") == self.outside)
        before = self.api.job(hidden)
        for method, path, body in (
                ("GET", f"jobs/{hidden}", None), ("GET", f"jobs/{hidden}/iterations", None),
                ("GET", f"jobs/{hidden}/explain", None), ("DELETE", f"jobs/{hidden}", None),
                ("POST", f"jobs/{hidden}/retry", None), ("POST", f"jobs/{hidden}/cancel", None),
                ("POST", f"jobs/{hidden}/hold", None), ("POST", f"jobs/{hidden}/approve", None),
                ("POST", f"jobs/{hidden}/reject", None), ("POST", f"jobs/{hidden}/replay", {"from": 1}),
                ("POST", f"jobs/{hidden}/move", {"queue": self.inside}),
                ("POST", f"ack/{hidden}", {}), ("POST", f"fail/{hidden}", {"error": "x"}),
                ("GET", f"schedules/s-{self.outside}", None), ("DELETE", f"schedules/s-{self.outside}", None),
                ("PUT", f"schedules/s-{self.outside}", {"enabled": False}),
                ("POST", f"schedules/s-{self.outside}/run", None),
                ("DELETE", f"approval-policies/{policy}", None)):
            with self.subTest(method=method, path=path):
                self.refused(self.scoped.request(method, f"/api/v1/{path}", body), 404, "NOT_FOUND")
        self.assertEqual(self.api.job(hidden), before)
        beat = self.scoped.must(self.scoped.post("/api/v1/heartbeat", {"jobs": {hidden: {}}}))
        self.assertEqual(beat["unknown"], [hidden])

    def test_a_schedule_goes_by_its_queue(self):
        """Not by its name: a schedule whose name is in the scope may belong to another queue."""
        named = f"{self.inside}.schedule"
        self.api.must(self.api.post("/api/v1/schedules", {
            "name": named, "queue": self.outside, "cron": "@daily"}), 201)
        self.refused(self.scoped.delete(f"/api/v1/schedules/{named}"), 404, "NOT_FOUND")
        own = self.scoped.must(self.scoped.post("/api/v1/schedules", {
            "name": unique("own"), "queue": self.inside, "cron": "@daily"}), 201)
        names = [s["name"] for s in self.scoped.must(self.scoped.get("/api/v1/schedules"))]
        self.assertEqual(sorted(names), sorted([own["name"], f"s-{self.inside}"]))
        self.assertEqual(self.scoped.must(self.scoped.get(f"/api/v1/schedules/{own['name']}")), own)
        self.scoped.must(self.scoped.delete(f"/api/v1/schedules/{own['id']}"))

    def test_the_whole_server_is_not_its_business(self):
        """That would circumvent the scope, or change objects of others."""
        _, other = self.key("admin")
        for method, path, body in (
                ("POST", "auth/keys", {"name": "n"}), ("POST", f"auth/keys/{other}/rotate", None),
                ("DELETE", "auth/keys", {"key_hash": other}),
                ("POST", f"auth/keys/{other}/roles", {"role": "r"}), ("DELETE", f"auth/keys/{other}/roles/r", None),
                ("POST", "org/api-keys", {"name": "n"}), ("POST", "settings/sso", {"provider": ""}),
                ("POST", "auth/roles", {"name": "n", "permissions": [{"resource": "*", "actions": ["*"]}]}),
                ("POST", "namespaces", {"name": "n"}), ("GET", "push/hosts", None),
                ("POST", "admin/restore", {"jobs": []}), ("GET", "admin/backup?namespace=other", None)):
            with self.subTest(path):
                self.refused(self.scoped.request(method, f"/api/v1/{path}", body), 403, "FORBIDDEN")
        self.scoped.must(self.scoped.post(f"/api/v1/auth/keys/{self.hash}/rotate"))


class Webhooks(ScopeTest):
    def put(self, api, **fields):
        answer = api.must(api.post("/api/v1/webhooks", fields))
        self.addCleanup(self.api.delete, "/api/v1/webhooks/" + answer["id"])
        return answer["id"]

    def test_it_gets_events_of_the_scope(self):
        with Receiver() as receiver:
            own = self.put(self.scoped, url=receiver.url(), events=["enqueued"])
            # after a change by a caller without a scope, it still gets no other events
            self.put(self.api, id=own, url=receiver.url(), events=["enqueued"])
            self.api.enqueue(self.outside)
            shown = self.api.enqueue(self.inside)
            receiver.wait_for(1)
            self.assertEqual([d.event["job_id"] for d in receiver.taken()], [shown])

    def test_it_is_seen_by_who_has_the_scope(self):
        own = self.put(self.scoped, url="http://127.0.0.1:1/", enabled=False)
        theirs = self.put(self.api, id=f"{self.inside}.hook", url="http://127.0.0.1:1/", enabled=False)
        rows = self.scoped.must(self.scoped.get("/api/v1/webhooks"))
        self.assertEqual([(h["id"], h["queue_scope"]) for h in rows], [(own, self.inside)])
        self.assertNotIn(theirs, self.scoped.get("/api/v1/admin/backup").body.decode())
        self.refused(self.scoped.delete(f"/api/v1/webhooks/{theirs}"), 404, "NOT_FOUND")
        self.refused(self.scoped.post("/api/v1/webhooks", {"id": theirs, "url": "http://127.0.0.1:1/"}), 403,
                     "FORBIDDEN")
        ids = [h["id"] for h in self.api.must(self.api.get("/api/v1/webhooks"))]
        self.assertLess({own, theirs}, {*ids, ""})
        self.scoped.must(self.scoped.delete(f"/api/v1/webhooks/{own}"))


class Batches(ScopeTest):
    def test_one_without_a_callback_belongs_to_the_scope_of_its_maker(self):
        """3.5, 7.4: no queue determines the owner, so the scope of the key does, as for webhooks."""
        secret, _ = self.key("admin", queue_scope=self.inside)
        twin = self.nobody.with_headers(X_API_Key=secret)
        secret, _ = self.key("admin", queue_scope=self.outside)
        stranger = self.nobody.with_headers(X_API_Key=secret)
        mine = self.scoped.must(self.scoped.post("/api/v1/batch", {}), 201)["batch_id"]
        group = self.scoped.enqueue_batch([{"queue": self.inside}], batch={})["batch_id"]
        open_to_all = self.api.must(self.api.post("/api/v1/batch", {}), 201)["batch_id"]
        for api, batch_id in ((stranger, mine), (stranger, group), (self.scoped, open_to_all)):
            path = f"/api/v1/batch/{batch_id}"
            self.refused(api.get(path), 404, "NOT_FOUND")
            self.refused(api.post(path + "/seal"), 404, "NOT_FOUND")
        self.refused(stranger.post("/api/v1/enqueue", {"queue": self.outside, "batch_id": mine}),
                     400, "VALIDATION_ERROR", "is not open")
        for api in (self.scoped, twin, self.api):
            self.assertEqual(api.must(api.get(f"/api/v1/batch/{group}"))["total"], 1)
        twin.enqueue(self.inside, batch_id=mine)
        twin.must(twin.post(f"/api/v1/batch/{mine}/seal"))


class Bulk(ScopeTest):
    def begin(self, api, **fields):
        answer = api.must(api.post("/api/v1/jobs/bulk", {"action": "cancel", "async": True, **fields}), 202)
        path = f"/api/v1/bulk/{answer['bulk_operation_id']}"
        wait_until(lambda: self.api.must(self.api.get(path))["status"] == "completed", "the bulk operation")
        return path

    def test_a_filter_means_queues_of_the_scope(self):
        shown, hidden = self.api.enqueue(self.inside), self.api.enqueue(self.outside)
        path = self.begin(self.scoped, filter={"state": ["pending"]})
        self.assertEqual(self.scoped.must(self.scoped.get(path))["affected"], 1)
        self.assertEqual((self.api.state(shown), self.api.state(hidden)), ("cancelled", "pending"))

    def test_who_sees_it(self):
        shown, hidden = self.api.enqueue(self.inside), self.api.enqueue(self.outside)
        rows = [(self.begin(self.scoped, job_ids=[shown, hidden]), 200),
                (self.begin(self.api, filter={"queue": self.inside}), 200),
                (self.begin(self.api, filter={"queue": self.outside}), 404),
                (self.begin(self.api, job_ids=[hidden]), 404)]
        for queue, status in ((self.inside, 200), (self.outside, 404)):
            answer = self.api.must(self.api.post(f"/api/v1/queues/{queue}/clear?async=true"), 202)
            rows.append((f"/api/v1/bulk/{answer['bulk_operation_id']}", status))
        for path, status in rows:
            with self.subTest(path=path, status=status):
                self.assertEqual(self.scoped.get(path).status, status)
                if status == 404:
                    self.refused(self.scoped.delete(path), 404, "NOT_FOUND")
                    self.refused(self.scoped.get(path + "/progress"), 404, "NOT_FOUND")


if __name__ == "__main__":
    unittest.main()
