"""Namespaces (contract 2.5, 3.4): X-Corvo-Namespace, and what each caller can see."""
import unittest

from harness import ApiTest, unique


class NamespaceTest(ApiTest):
    def setUp(self):
        super().setUp()
        self.acme = self.api.with_headers(X_Corvo_Namespace="acme")
        self.other = self.api.with_headers(X_Corvo_Namespace="other-1")


class Queues(NamespaceTest):
    def test_names_are_shown_without_the_prefix(self):
        """2.5: internal name <ns>::<name>; callers see their own prefix stripped."""
        job_id = self.acme.enqueue(self.queue)
        self.assertEqual(self.acme.job(job_id)["queue"], self.queue)
        self.assertEqual(self.acme.queue(self.queue)["name"], self.queue)
        self.assertIn(self.queue, self.acme.queues())
        self.assertEqual(self.api.job(job_id)["queue"], f"acme::{self.queue}")
        self.assertIn(f"acme::{self.queue}", self.api.queues())
        self.assertNotIn(self.queue, self.api.queues())
        self.assertNotIn(self.queue, self.other.queues())
        self.refused(self.other.get(f"/api/v1/queues/{self.queue}"), 404, "NOT_FOUND")

    def test_the_default_namespace(self):
        """3.4: header absent, empty or default: the default namespace, which can see everything."""
        job_id = self.acme.enqueue(self.queue)
        for client in (self.api, self.api.with_headers(X_Corvo_Namespace="default"),
                       self.api.with_headers(X_Corvo_Namespace="")):
            self.assertEqual(client.job(job_id)["queue"], f"acme::{self.queue}")
        self.assertEqual(self.api.fetch(f"acme::{self.queue}")["job_id"], job_id)

    def test_the_same_name_is_another_queue(self):
        mine, theirs, ours = (c.enqueue(self.queue) for c in (self.acme, self.other, self.api))
        self.acme.must(self.acme.post(f"/api/v1/queues/{self.queue}/pause"))
        self.assertIs(self.acme.queue(self.queue)["paused"], True)
        self.assertIs(self.other.queue(self.queue)["paused"], False)
        job = self.other.fetch(self.queue)
        self.assertEqual((job["job_id"], job["queue"]), (theirs, self.queue))
        self.assertEqual(self.api.fetch(self.queue)["job_id"], ours)
        self.other.must(self.other.delete(f"/api/v1/queues/{self.queue}"))
        self.assertEqual(self.acme.state(mine), "pending")
        self.assertEqual(self.api.state(ours), "active")

    def test_similar_namespaces_do_not_meet(self):
        """3.4: visible iff the internal name starts with ns::."""
        job_id = self.api.with_headers(X_Corvo_Namespace="acme-2").enqueue(self.queue)
        self.refused(self.acme.get(f"/api/v1/jobs/{job_id}"), 404, "NOT_FOUND")
        self.assertNotIn(self.queue, self.acme.queues())

    def test_the_longest_name(self):
        """1.5: 1…255 bytes, not counting the namespace."""
        client = self.api.with_headers(X_Corvo_Namespace="n" * 63)
        longest = self.queue + "q" * (255 - len(self.queue))
        job_id = client.enqueue(longest)
        client.must(client.post(f"/api/v1/queues/{longest}/pause"))
        client.must(client.post(f"/api/v1/queues/{longest}/resume"))
        self.assertEqual(client.fetch(longest)["job_id"], job_id)
        self.assertEqual(client.queue(longest)["name"], longest)
        self.api.must(self.api.post(f"/api/v1/queues/{'n' * 63}::{longest}/pause"))
        self.assertIs(client.queue(longest)["paused"], True)
        for api in (client, self.api):
            self.refused(api.post(f"/api/v1/queues/{longest}q/pause"), 400, "VALIDATION_ERROR",
                         "queue: expected 1 to 255 bytes, got 256")
        schedule = {"name": longest, "queue": longest, "cron": "0 0 1 1 *"}
        made = client.must(client.post("/api/v1/schedules", schedule), 201)
        self.assertEqual(client.must(client.get(f"/api/v1/schedules/{longest}"))["id"], made["id"])

    def test_the_longest_name_with_its_namespace(self):
        """1.5: wherever a request names a queue, the limit is that of the name after the mark."""
        longest = unique("longest").ljust(255, "q")
        later = {"scheduled_at": "2099-01-01T00:00:00Z"}
        job_id = self.api.enqueue(self.queue, **later)
        doors = (("enqueue", lambda q: {"queue": q, **later}, "queue"),
                 ("enqueue/batch", lambda q: {"jobs": [{"queue": q, **later}]}, "queue"),
                 ("enqueue", lambda q: {"queue": q, **later, "chain": {"steps": [{"queue": q}, {"queue": q}]}}, "queue"),
                 ("batch", lambda q: {"callback_queue": q}, "callback_queue"),
                 (f"jobs/{job_id}/move", lambda q: {"queue": q}, "queue"),
                 ("jobs/bulk", lambda q: {"action": "move", "job_ids": [job_id], "move_to_queue": q}, "move_to_queue"),
                 ("jobs/bulk", lambda q: {"action": "hold", "filter": {"queue": q, "state": ["dead"]}}, "queue"),
                 ("jobs/search", lambda q: {"queue": q}, "queue"),
                 ("fetch", lambda q: {"queues": [q], "timeout": -1}, "queues"),
                 ("schedules", lambda q: {"name": unique("s"), "cron": "0 0 1 1 *", "queue": q}, "queue"),
                 ("approval-policies", lambda q: {"name": unique("p"), "queue": q, "all_namespaces": True}, "queue"),
                 ("budgets", lambda q: {"scope": "queue", "target": q, "daily_usd": 1}, "target"),
                 ("markers", lambda q: {"text": "m", "queue": q}, "queue"))
        for client, prefix, most in ((self.api, "acme::", 261), (self.api, "", 255), (self.acme, "acme::", 255),
                                     (self.acme, "", 255)):
            for path, body, field in doors:
                if client is self.acme and ("move" in str(body(longest)) or path.endswith("/move") or "all_n" in str(body(""))):
                    continue  # jobs and policies of another namespace
                with self.subTest(path=path, prefix=prefix, ns=client.headers):
                    answer = client.post("/api/v1/" + path, body(prefix + longest))
                    self.assertIn(answer.status, (200, 201, 204), answer)
                    answer = client.post("/api/v1/" + path, body(prefix + longest + "q"))
                    self.refused(answer, 400, answer.json["code"], field)
                    self.assertIn(f"expected 1 to {most} bytes, got {most + 1}", answer.json["error"])
            for path in ("history?queue=", "history/queues?queues=", "errors?queue=", "markers?queue="):
                with self.subTest(path=path, prefix=prefix, ns=client.headers):
                    series = "&series=depth" if "queues" in path else ""
                    client.must(client.get(f"/api/v1/{path}{prefix}{longest}{series}"))
                    self.refused(client.get(f"/api/v1/{path}{prefix}{longest}q{series}"), 400, "VALIDATION_ERROR")
        # What names such a queue can be restored.
        backup = self.api.must(self.api.get("/api/v1/admin/backup"))
        self.assertIn("acme::" + longest, [b["target"] for b in backup["budgets"]])
        self.assertIn("acme::" + longest, [p.get("queue") for p in backup["approval_policies"]])
        self.api.must(self.api.post("/api/v1/admin/restore", backup))

    def test_the_own_prefix_may_be_written(self):
        """2.5: only foreign prefixes are refused."""
        job_id = self.acme.enqueue("acme::" + self.queue)
        self.assertEqual(self.acme.job(job_id)["queue"], self.queue)
        self.assertEqual(self.acme.fetch("acme::" + self.queue)["job_id"], job_id)
        for name in ("acme::", "acme::acme::x", "acme::other::x"):
            self.refused(self.acme.post("/api/v1/enqueue", {"queue": name}), 400,
                         "VALIDATION_ERROR")

    def test_prefixes_of_nobody(self):
        """2.5: a queue name that no namespace can have is refused. Any other name belongs to the default namespace."""
        job_id = self.api.enqueue("UP::" + self.queue)
        self.assertEqual(self.api.fetch("UP::" + self.queue)["job_id"], job_id)
        waiting = self.api.enqueue(self.queue)
        schedule = {"name": self.queue, "cron": "0 0 1 1 *"}
        for name, why in (("default::x", "queues of the namespace default have no prefix"),
                          ("acme::", "a name must follow '::'")):
            own = {"queue": self.queue}
            for route, body, field in (
                    ("enqueue", {"queue": name}, "queue"),
                    ("enqueue/batch", {"jobs": [own, {"queue": name}]}, "queue"),
                    ("enqueue/batch", {"jobs": [own], "batch": {"callback_queue": name}}, "callback_queue"),
                    ("enqueue", {**own, "chain": {"steps": [own, {"queue": name}]}}, "queue"),
                    ("batch", {"callback_queue": name}, "callback_queue"),
                    (f"jobs/{waiting}/move", {"queue": name}, "queue"),
                    ("jobs/bulk", {"action": "move", "job_ids": [waiting], "move_to_queue": name}, "move_to_queue"),
                    ("schedules", {**schedule, "queue": name}, "queue")):
                with self.subTest(name=name, route=route):
                    self.refused(self.api.post("/api/v1/" + route, body), 400, "VALIDATION_ERROR",
                                 f"{field} '{name}': {why}")

    def test_foreign_names_are_refused(self):
        """2.5: a non-default caller using a name with a foreign prefix → 400."""
        name = f"other-1::{self.queue}"
        path = name.replace(":", "%3A")
        own = {"queue": self.queue}
        job_id = self.acme.enqueue(self.queue)
        two = [own, {"queue": "b"}]
        for method, route, body in (
                ("POST", "enqueue", {"queue": name}),
                ("POST", "enqueue/batch", {"jobs": [own, {"queue": name}]}),
                ("POST", "enqueue/batch", {"jobs": [own], "batch": {"callback_queue": name}}),
                ("POST", f"webhooks/{path}", {}),
                ("POST", "batch", {"callback_queue": name}),
                ("POST", "fetch", {"queues": ["x", name], "timeout": 1}),
                ("POST", "fetch/batch", {"queues": [name], "timeout": 1}),
                ("POST", f"jobs/{job_id}/move", {"queue": name}),
                ("POST", f"queues/{path}/pause", None), ("POST", f"queues/{path}/clear", None),
                ("POST", f"queues/{path}/concurrency", {"max": 1}),
                ("POST", f"queues/{path}/throttle", {"rate": 1, "window_ms": 1}),
                ("DELETE", f"queues/{path}", None), ("DELETE", f"queues/{path}/throttle", None),
                ("GET", f"queues/{path}", None),
                ("POST", "schedules", {"name": "n", "queue": name, "cron": "@daily"}),
                ("POST", "enqueue", {**own, "chain": {"steps": [own, {"queue": name}]}}),
                ("POST", "enqueue", {**own, "chain": {"steps": two, "on_exit": {"queue": name}}}),
                ("POST", "enqueue", {**own, "chain": {"steps": two,
                                                      "on_failure": {"queue": name}}}),
                ("POST", "enqueue", {**own, "chain": {"steps": two, "on_failure": name}})):
            with self.subTest(method=method, route=route, body=body):
                answer = self.acme.request(method, f"/api/v1/{route}", body)
                self.refused(answer, 400, "VALIDATION_ERROR")
        self.assertFalse([q for q in self.api.queues() if q.startswith("other-1::other-1")])
        self.assertEqual(self.acme.queue(self.queue)["enqueued"], 1)


class Jobs(NamespaceTest):
    def test_a_foreign_job_is_not_found(self):
        """3.4: job get and mutations → 404; the job is unchanged."""
        job_id = self.acme.enqueue(self.queue, agent={})
        self.acme.fetch(self.queue)
        before = self.acme.job(job_id)
        for method, route, body in (
                ("GET", f"jobs/{job_id}", None), ("GET", f"jobs/{job_id}/iterations", None),
                ("POST", f"ack/{job_id}", {}), ("POST", f"fail/{job_id}", {"error": "x"}),
                ("POST", f"jobs/{job_id}/retry", None), ("POST", f"jobs/{job_id}/cancel", None),
                ("POST", f"jobs/{job_id}/hold", None), ("POST", f"jobs/{job_id}/approve", None),
                ("POST", f"jobs/{job_id}/reject", None),
                ("POST", f"jobs/{job_id}/move", {"queue": "x"}),
                ("POST", f"jobs/{job_id}/replay", {"from": 1}), ("DELETE", f"jobs/{job_id}", None)):
            with self.subTest(method=method, route=route):
                self.refused(self.other.request(method, f"/api/v1/{route}", body), 404,
                             "NOT_FOUND", f'job "{job_id}" not found')
        self.assertEqual(self.acme.job(job_id), before)

    def test_lists_leave_foreign_jobs_out(self):
        """3.4: bulk-get skipped, ack/batch not counted, heartbeat cancel (8.6)."""
        job_id = self.acme.enqueue(self.queue)
        self.acme.fetch(self.queue)
        lease = self.acme.job(job_id)["lease_expires_at"]
        bulk = self.other.post("/api/v1/jobs/bulk-get", {"job_ids": [job_id]})
        self.assertEqual(bulk.json, {"jobs": []})
        batch = self.other.post("/api/v1/ack/batch", {"acks": [{"job_id": job_id}]})
        self.assertEqual((batch.status, batch.json), (200, {"acked": 0}))
        beat = self.other.heartbeat({job_id: {"progress": 1}})
        self.assertEqual((beat["jobs"], beat["canceled"]),
                         ({job_id: {"status": "cancel"}}, [job_id]))
        job = self.acme.job(job_id)
        self.assertEqual((job["state"], job["lease_expires_at"]), ("active", lease))
        self.assertNotIn("progress", job)

    def test_a_job_from_beginning_to_end(self):
        job_id = self.acme.enqueue(self.queue, {"a": 1}, retry_backoff="none")
        job = self.acme.fetch(self.queue)
        self.assertEqual((job["job_id"], job["queue"]), (job_id, self.queue))
        self.assertEqual(self.acme.heartbeat({job_id: {}})["acked"], [job_id])
        self.acme.fail(job_id)
        self.acme.fetch(self.queue)
        self.acme.ack(job_id)
        self.assertEqual(self.acme.state(job_id), "completed")
        target = unique("target")
        self.acme.act(job_id, "move", queue=target)
        self.assertEqual(self.acme.job(job_id)["queue"], target)
        self.assertEqual(self.api.job(job_id)["queue"], f"acme::{target}")

    def test_keys_of_namespaces_do_not_meet(self):
        """6.6: scope is the internal queue."""
        answers = [c.post("/api/v1/enqueue", {"queue": self.queue, "unique_key": "u"})
                   for c in (self.acme, self.other, self.api, self.acme)]
        self.assertEqual([a.status for a in answers], [201, 201, 201, 200])

    def test_idempotency_keys_of_namespaces_do_not_meet(self):
        answers = [c.must(c.post("/api/v1/enqueue", {"queue": self.queue}, {"Idempotency-Key": key}), 201)
                   for c, key in ((self.api, "acme::" + self.queue), (self.api, "acme " + self.queue),
                                  (self.acme, self.queue), (self.other, self.queue), (self.api, self.queue))]
        self.assertEqual(len({a["job_id"] for a in answers}), len(answers))

    def test_dependencies_stay_inside(self):
        parent = self.acme.enqueue(self.queue)
        answer = self.other.post("/api/v1/enqueue", {"queue": self.queue, "depends_on": [parent]})
        self.refused(answer, 400, "VALIDATION_ERROR", "depends_on")
        self.acme.enqueue(self.queue, depends_on=[parent])

    def test_ingested_jobs(self):
        answer = self.acme.post(f"/api/v1/webhooks/{self.queue}", b"{}")
        self.assertEqual(self.api.job(answer.json["job_id"])["queue"], f"acme::{self.queue}")


class Followers(NamespaceTest):
    """Jobs that the server creates stay in the namespace of their origin."""

    def test_chains(self):
        """6.8: steps and handlers are namespaced; chain_config is shown without the prefix."""
        second, leave, failure = unique("second"), unique("exit"), unique("failure")
        chain = {"steps": [{"queue": self.queue}, {"queue": second, "payload": {"k": 1}}],
                 "on_exit": {"queue": leave}, "on_failure": {"queue": failure}}
        job_id = self.acme.enqueue(self.queue, chain=chain)
        self.assertEqual(self.acme.job(job_id)["chain_config"], chain)
        self.acme.fetch(self.queue)
        self.acme.ack(job_id)
        job = self.acme.fetch(second)
        self.assertEqual(self.acme.job(job["job_id"])["chain_config"], chain)
        self.acme.ack(job["job_id"])
        self.assertEqual(self.acme.fetch(leave)["queue"], leave)
        failing = self.acme.enqueue(self.queue, chain={**chain, "on_failure": failure},
                                    max_retries=0)
        self.acme.fetch(self.queue)
        self.acme.fail(failing)
        self.assertEqual(self.acme.fetch(failure)["payload"]["failed_job_id"], failing)
        self.assertFalse({second, leave, failure} & set(self.api.queues()))

    def test_chains_by_hand(self):
        """7.1: raw chain fields; names in them are those of the caller, too."""
        second = unique("second")
        config = {"steps": [{"queue": self.queue}, {"queue": second}], "depends_on": []}
        job_id = self.acme.enqueue(self.queue, chain_id="c", chain_step=0, chain_config=config)
        self.assertEqual(self.acme.job(job_id)["chain_config"], config)
        self.acme.fetch(self.queue)
        self.acme.ack(job_id)
        self.assertEqual(self.acme.fetch(second)["payload"], {"previous_job_id": job_id})
        self.assertNotIn(second, self.api.queues())

    def test_callbacks(self):
        """7.2: callback queue is namespaced like any queue."""
        callback = unique("callback")
        answer = self.acme.enqueue_batch([{"queue": self.queue}],
                                         batch={"callback_queue": callback})
        self.acme.fetch(self.queue)
        self.acme.ack(answer["job_ids"][0])
        self.assertEqual(self.acme.fetch(callback)["queue"], callback)
        self.assertIn(f"acme::{callback}", self.api.queues())
        record = self.acme.get(f"/api/v1/batch/{answer['batch_id']}").json
        self.assertEqual(record["callback_queue"], callback)
        path = f"/api/v1/batch/{answer['batch_id']}"
        self.refused(self.other.get(path), 404, "NOT_FOUND")
        self.refused(self.other.post(path + "/seal"), 404, "NOT_FOUND")
        self.refused(self.other.post("/api/v1/enqueue", {"queue": self.queue,
                                                         "batch_id": answer["batch_id"]}),
                     400, "VALIDATION_ERROR", "batch")

    def test_batches_without_a_callback(self):
        """3.4, 7.4: no queue determines their namespace. Other namespaces cannot see, join or seal them."""
        opened = self.acme.must(self.acme.post("/api/v1/batch", {}), 201)["batch_id"]
        group = self.acme.enqueue_batch([{"queue": self.queue}], batch={})["batch_id"]
        default = self.api.must(self.api.post("/api/v1/batch", {}), 201)["batch_id"]
        for api, batch_id in ((self.other, opened), (self.other, group), (self.acme, default)):
            with self.subTest(batch_id):
                path = f"/api/v1/batch/{batch_id}"
                self.refused(api.get(path), 404, "NOT_FOUND", f'batch "{batch_id}" not found')
                self.refused(api.post(path + "/seal"), 404, "NOT_FOUND")
                self.refused(api.post("/api/v1/enqueue", {"queue": self.queue, "batch_id": batch_id}),
                             400, "VALIDATION_ERROR", "is not open")
        for api in (self.acme, self.api):
            self.assertEqual(api.must(api.get(f"/api/v1/batch/{group}"))["total"], 1)
        self.acme.enqueue(self.queue, batch_id=opened)
        self.acme.must(self.acme.post(f"/api/v1/batch/{opened}/seal"))
        self.assertEqual(self.acme.must(self.acme.get(f"/api/v1/batch/{opened}"))["pending"], 1)

    def test_schedules(self):
        """13.1: name unique per namespace; 3.4: schedules of others are not visible."""
        body = {"name": self.queue, "queue": self.queue, "cron": "@yearly", "payload": {"n": 1}}
        mine = self.acme.must(self.acme.post("/api/v1/schedules", body), 201)
        theirs = self.other.must(self.other.post("/api/v1/schedules", body), 201)
        self.assertEqual((mine["name"], mine["queue"]), (self.queue, self.queue))
        self.assertNotEqual(mine["id"], theirs["id"])
        self.refused(self.acme.post("/api/v1/schedules", body), 409, "CONFLICT")
        self.assertEqual([s["id"] for s in self.acme.get("/api/v1/schedules").json], [mine["id"]])
        for method in ("GET", "PUT", "DELETE"):
            answer = self.other.request(method, f"/api/v1/schedules/{mine['id']}",
                                        {} if method == "PUT" else None)
            self.refused(answer, 404, "NOT_FOUND")
        self.acme.must(self.acme.post(f"/api/v1/schedules/{self.queue}/run"), 201)
        self.assertEqual(self.acme.fetch(self.queue)["payload"], {"n": 1})
        self.assertNotIn(self.queue, self.other.queues())

    def test_a_schedule_that_the_default_namespace_changes_stays_in_its_own(self):
        """13.2: names in a change are names in the namespace of the schedule."""
        body = {"name": self.queue, "queue": self.queue, "cron": "@yearly"}
        record = self.acme.must(self.acme.post("/api/v1/schedules", body), 201)
        path = f"/api/v1/schedules/{record['id']}"
        self.addCleanup(self.acme.delete, path)
        shown = self.api.must(self.api.get(path))
        for names in ({"name": "b" + self.queue, "queue": self.queue + ".b"},
                      {"name": "acme::b" + self.queue, "queue": "acme::" + self.queue + ".b"}, shown):
            change = {field: names[field] for field in ("name", "queue")}
            answer = self.api.must(self.api.put(path, {**change, "cron": "@monthly"}))
            self.assertTrue(answer["name"].startswith("acme::") and answer["queue"].startswith("acme::"))
            seen = self.acme.must(self.acme.get(path))
            self.assertEqual((seen["name"], seen["queue"]),
                             tuple(name.removeprefix("acme::") for name in change.values()))
        for field in ("name", "queue"):
            self.refused(self.api.put(path, {field: "other::x"}), 400, "VALIDATION_ERROR",
                         f"{field} 'other::x' belongs to another namespace")
        # A schedule of the default namespace cannot move to another namespace either. Its jobs may be created there.
        mine = self.api.must(self.api.post("/api/v1/schedules", body), 201)
        path = f"/api/v1/schedules/{mine['id']}"
        self.addCleanup(self.api.delete, path)
        self.refused(self.api.put(path, {"name": "acme::x"}), 400, "VALIDATION_ERROR",
                     "name 'acme::x' belongs to another namespace")
        answer = self.api.must(self.api.put(path, {"name": self.queue, "queue": "acme::" + self.queue}))
        self.assertEqual((answer["name"], answer["queue"]), (self.queue, "acme::" + self.queue))

    def test_a_schedule_that_the_default_namespace_creates_is_in_the_namespace_of_its_name(self):
        """13.2: as for a change."""
        body = {"queue": self.queue, "cron": "@yearly"}
        for name, queue in ((".a", self.queue), (".b", "acme::" + self.queue)):
            name = self.queue + name
            made = self.api.must(self.api.post("/api/v1/schedules", {
                **body, "name": "acme::" + name, "queue": queue}), 201)
            self.addCleanup(self.api.delete, f"/api/v1/schedules/{made['id']}")
            self.assertEqual((made["name"], made["queue"]), ("acme::" + name, "acme::" + self.queue))
            seen = self.acme.must(self.acme.get(f"/api/v1/schedules/{name}"))
            self.assertEqual((seen["id"], seen["queue"]), (made["id"], self.queue))
        path = f"/api/v1/schedules/{made['id']}"
        for field, wrong in (("queue", "other::q"), ("name", "acme::b::c"), ("name", "acme::")):
            for answer in (self.api.post("/api/v1/schedules", {**body, "name": "acme::n", field: wrong}),
                           self.api.put(path, {field: wrong})):
                self.refused(answer, 400, "VALIDATION_ERROR", f"{field} '{wrong}'")
        self.refused(self.api.post("/api/v1/schedules", {**body, "name": "default::n"}), 400, "VALIDATION_ERROR",
                     "name 'default::n': schedules of the namespace default have no prefix")

    def test_a_schedule_whose_name_is_taken_is_refused_by_its_own_name(self):
        """2.5: responses show names without the caller's prefix; 13.2: 409 for a new schedule and a rename."""
        names = [self.queue + end for end in ("", ".b")]
        for name in names:
            body = {"name": name, "queue": self.queue, "cron": "@yearly"}
            self.acme.must(self.acme.post("/api/v1/schedules", body), 201)
            self.addCleanup(self.acme.delete, f"/api/v1/schedules/{name}")
        for answer in (self.acme.post("/api/v1/schedules", {**body, "name": names[0]}),
                       self.acme.post("/api/v1/schedules", {**body, "name": "acme::" + names[0]}),
                       self.acme.put(f"/api/v1/schedules/{names[1]}", {"name": names[0]})):
            self.refused(answer, 409, "CONFLICT", f"'{names[0]}'")

    def test_a_schedule_of_another_namespace_is_refused_by_its_field(self):
        """13.2: VALIDATION_ERROR names the field; 2.5: a foreign prefix is refused."""
        good = {"name": self.queue, "queue": self.queue, "cron": "@yearly"}
        self.acme.must(self.acme.post("/api/v1/schedules", good), 201)
        self.addCleanup(self.acme.delete, f"/api/v1/schedules/{self.queue}")
        for field in ("name", "queue"):
            wrong = {field: "foreign::x"}
            for answer in (self.acme.post("/api/v1/schedules", {**good, **wrong}),
                           self.acme.put(f"/api/v1/schedules/{self.queue}", wrong)):
                self.refused(answer, 400, "VALIDATION_ERROR", f"{field} 'foreign::x'")

    def test_what_names_another_namespace_is_refused_by_its_field(self):
        """2.5: a foreign prefix is refused; 1.6: the field is named."""
        job_id, name = self.acme.enqueue(self.queue), "foreign::x"
        for path, body, field in (
                ("enqueue", {"queue": name}, "queue"),
                ("enqueue/batch", {"jobs": [{"queue": self.queue}],
                                   "batch": {"callback_queue": name}}, "callback_queue"),
                ("fetch", {"queues": [name]}, "queues"),
                ("jobs/bulk", {"action": "move", "job_ids": [job_id], "move_to_queue": name},
                 "move_to_queue"),
                ("jobs/search", {"queue": name}, "queue"),
                ("approval-policies", {"name": "p", "queue": name}, "queue"),
                ("webhooks", {"id": name, "url": "http://127.0.0.1:9/", "events": ["job.*"]}, "id")):
            with self.subTest(path):
                answer = self.acme.post("/api/v1/" + path, body)
                self.assertEqual(answer.status, 400)
                self.assertEqual(answer.json["error"], f"{field} '{name}' belongs to another namespace")
        self.assertEqual(self.acme.job(job_id)["queue"], self.queue)

    def test_replays(self):
        job_id = self.acme.enqueue(self.queue, agent={})
        self.acme.fetch(self.queue)
        self.acme.ack(job_id, agent_status="done")
        replayed = self.acme.act(job_id, "replay", **{"from": 1})["job_id"]
        self.assertEqual(self.acme.job(replayed)["queue"], self.queue)

    def test_workers(self):
        """14: queue names are filtered and stripped for the caller's namespace."""
        self.acme.enqueue(self.queue)
        self.acme.fetch(self.queue, worker_id="acme-worker")
        rows = {r["id"]: r["queues"] for r in self.acme.get("/api/v1/workers").json}
        self.assertEqual(rows["acme-worker"], f'["{self.queue}"]')
        rows = {r["id"]: r["queues"] for r in self.api.get("/api/v1/workers").json}
        self.assertEqual(rows["acme-worker"], f'["acme::{self.queue}"]')
        self.assertNotIn("acme-worker", [r["id"] for r in self.other.get("/api/v1/workers").json])

    def test_workers_of_the_same_name(self):
        """26: one row per namespace and worker id; other queues are visible at once."""
        name = unique("same")
        for client, queue in ((self.acme, "one"), (self.other, "two"), (self.acme, "three")):
            client.enqueue(queue)
            client.fetch(queue, worker_id=name)
        for client, queues in ((self.acme, '["three"]'), (self.other, '["two"]')):
            self.assertEqual([r["queues"] for r in client.get("/api/v1/workers").json
                              if r["id"] == name], [queues])


if __name__ == "__main__":
    unittest.main()
