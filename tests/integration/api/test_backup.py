"""Backup and restore (contract 20.4): a restore recreates everything in the backup."""
import contextlib
import http.client
import json
import select
import unittest

import http2_client
from harness import LEAN, PATIENCE_S, ApiTest, Server, unique, wait_until

PATH = "/api/v1/admin/backup"
RESTORE = "/api/v1/admin/restore"


def comparable(backup):
    """Return the backup without what differs on a restored server: the time and the row numbers."""
    backup = {k: v for k, v in backup.items() if k not in ("created_at", "meta")}
    for job in backup["jobs"]:
        for rows in ("errors", "iterations", "usage"):
            for row in job.get(rows, ()):
                row.pop("id", None)
    return backup


def checksum_free(backup):
    """Return the backup without its checksum, like one that was written by hand."""
    return {**backup, "meta": {"format": backup["meta"]["format"]}}


class BackupTest(ApiTest):
    def backup(self, client=None, query=""):
        client = client or self.api
        return client.must(client.get(PATH + query))

    def restore(self, backup, client=None, query=""):
        client = client or self.api
        return client.must(client.post(RESTORE + query, backup))

    def fill(self, api):
        """Create one of everything that a server can store. Return the ids by name."""
        ids = {}
        ids["pending"] = api.enqueue("b.line", {"n": 12345678901234567890}, tags={"a": "b"})
        ids["second"] = api.enqueue("b.line", None, unique_key="k", unique_period=7200)
        ids["urgent"] = api.enqueue("b.line", [1, 2], priority="critical")
        ids["scheduled"] = api.enqueue("b.later", scheduled_at="2099-01-02T03:04:05.678901234Z")
        ids["expiring"] = api.enqueue("b.later", expire_after="5000h")
        ids["held"] = api.enqueue("b.held")
        api.act(ids["held"], "hold", reason="ask")
        ids["active"] = api.enqueue("b.active", checkpoint={"at": 1})
        api.fetch("b.active", lease_duration=3000, hostname="h")
        api.heartbeat({ids["active"]: {"progress": {"current": 1}}})
        ids["retrying"] = api.enqueue("b.fail", retry_base_delay="9h", max_retries=4)
        api.fetch("b.fail")
        api.fail(ids["retrying"], error="first", backtrace="at 1")
        ids["dead"] = api.enqueue("b.fail", max_retries=0)
        api.fetch("b.fail")
        api.fail(ids["dead"], error="the end")
        ids["done"] = api.enqueue("b.done")
        api.fetch("b.done")
        api.ack(ids["done"], result=None, usage={"input_tokens": 5, "cost_usd": 0.123456789,
                                                 "model": "m"})
        ids["cancelled"] = api.enqueue("b.done")
        api.act(ids["cancelled"], "cancel")
        ids["child"] = api.enqueue("b.child", depends_on=[ids["pending"], ids["done"]])
        ids["agent"] = api.enqueue("b.agent", {"task": 1}, agent={
            "max_iterations": 5, "max_cost_usd": 1.1, "iteration_timeout": "1h"})
        api.fetch("b.agent")
        api.ack(ids["agent"], agent_status="continue", checkpoint={"s": 1},
                usage={"output_tokens": 7, "cost_usd": 0.1})
        ids["chain"] = api.enqueue("b.chain", chain={
            "steps": [{"queue": "b.chain"}, {"queue": "b.chain2", "payload": {"x": 1}}],
            "on_failure": {"queue": "b.oops"}})
        batch = api.enqueue_batch([{"queue": "b.batch", "payload": {"i": i}} for i in range(3)],
                                  batch={"callback_queue": "b.back", "callback_payload": {"p": 1}})
        ids["batch"], ids["members"] = batch["batch_id"], batch["job_ids"]
        api.ack(api.fetch("b.batch")["job_id"])
        api.must(api.post("/api/v1/queues/b.held/pause"))
        api.must(api.post("/api/v1/queues/b.line/concurrency", {"max": 7}))
        api.must(api.post("/api/v1/queues/b.done/throttle", {"rate": 9, "window_ms": 60000}))
        api.must(api.post("/api/v1/schedules", {
            "name": "nightly", "queue": "b.cron", "cron": "0 3 * * *", "timezone": "Europe/Madrid",
            "payload": {"k": 1}, "tags": {"t": "v"}, "max_retries": 2}), 200, 201)
        api.must(api.post("/api/v1/webhooks", {
            "id": "hook", "url": "http://127.0.0.1:9/x", "events": ["completed", "job.dead"],
            "secret": "s3cret", "enabled": False, "retry_limit": 2}), 200, 201)
        for budget in ({"scope": "queue", "target": "b.agent", "daily_usd": 25.5, "on_exceed": "reject"},
                       {"scope": "tag", "target": "team:red", "per_job_usd": 0.123456789},
                       {"scope": "queue", "target": "b.never", "daily_usd": 0},
                       {"scope": "global", "target": "*", "daily_usd": 100, "per_job_usd": 0,
                        "on_exceed": "alert_only"}):
            api.must(api.post("/api/v1/budgets", budget))
        return ids


class RoundTrip(BackupTest):
    def test_an_empty_server_becomes_the_same_and_goes_on(self):
        with Server(*self.settings) as first, Server(*self.settings) as second:
            api, copy = first.client(), second.client()
            ids = self.fill(api)
            backup = self.backup(api)
            self.assertEqual(backup["namespace"], "default")
            self.assert_time(backup["created_at"])
            self.assertEqual(backup["meta"]["format"], 2)
            self.assertEqual(backup["meta"]["jobs"], len(backup["jobs"]))
            for key in ("jobs", "queues", "schedules", "batches", "budgets", "webhooks",
                        "approval_policies", "usage_sums"):
                self.assertIsInstance(backup[key], list)

            answer = self.restore(json.loads(json.dumps(checksum_free(backup))), copy)
            self.assertEqual(answer, {"status": "ok", "restored_jobs": len(backup["jobs"]),
                                      "namespace": "default"})
            self.assertEqual(comparable(self.backup(copy)), comparable(backup))
            budgets = copy.must(copy.get("/api/v1/budgets"))
            self.assertEqual(budgets, api.must(api.get("/api/v1/budgets")))
            self.assertCountEqual(budgets, backup["budgets"])
            self.assertEqual(len(budgets), 4)
            for name, job_id in ids.items():
                if isinstance(job_id, str) and job_id.startswith("job_"):
                    with self.subTest(job=name):
                        one, other = api.job(job_id), copy.job(job_id)
                        for job in (one, other):
                            for error in job.get("errors", ()):
                                error.pop("id")
                        self.assertEqual(one, other)
            drop = lambda queues: [{k: v for k, v in q.items() if k != "oldest_pending_at"}
                                   for q in queues]
            self.assertEqual(drop(api.must(api.get("/api/v1/queues"))),
                             drop(copy.must(copy.get("/api/v1/queues"))))
            for one in (api, copy):
                hooks = one.must(one.get("/api/v1/webhooks"))
                self.assertEqual([(h["id"], h["retry_limit"], h["enabled"]) for h in hooks],
                                 [("hook", 2, False)])
            iterations = f"/api/v1/jobs/{ids['agent']}/iterations"
            strip = lambda answer: [{**i, "id": 0} for i in answer["iterations"]]
            self.assertEqual(strip(api.must(api.get(iterations))),
                             strip(copy.must(copy.get(iterations))))
            self.go_on(copy, ids)
            second.kill()
            second.start()
            self.assertEqual(second.client().state(ids["child"]), "active")

    def test_usage_of_jobs_that_are_gone_is_in_it(self):
        with Server(*self.settings) as first, Server(*self.settings) as second:
            api, copy = first.client(), second.client()
            summaries = lambda one: [
                {k: v for k, v in one.must(one.get(f"/api/v1/usage/summary?period=7d&group_by={group}")).items()
                 if k in ("totals", "groups")} for group in ("queue", "model", "tag:team")]
            jobs = []
            for n in range(3):
                jobs.append(api.enqueue("u.q", tags={"team": "red"}))
                api.fetch("u.q")
                api.ack(jobs[-1], usage={"model": f"m{n}", "input_tokens": 10 + n, "cost_usd": 0.25})
            api.must(api.delete(f"/api/v1/jobs/{jobs[0]}"))
            # Many names, so that the list takes more than one step.
            api.must(api.post("/api/v1/enqueue/batch", {"jobs": [{"queue": "u.many"}] * 500}), 201)
            acks = [{"job_id": j["job_id"], "usage": {"model": f"model-{n}", "input_tokens": 1}}
                    for n, j in enumerate(api.fetch_batch("u.many", count=500))]
            api.must(api.post("/api/v1/ack/batch", {"acks": acks}))
            before = summaries(api)
            self.assertEqual(before[0]["totals"]["count"], 503)
            backup = self.backup(api)
            self.assertEqual({s["series"] for s in backup["usage_sums"]},
                             {"parts", "hours", "tag_parts", "tag_hours"})
            self.restore(backup, copy)
            self.assertEqual(summaries(copy), before)
            self.restore(backup, copy)
            self.assertEqual(summaries(copy), before)
            copy.must(copy.delete(f"/api/v1/jobs/{jobs[1]}"))
            self.assertEqual(summaries(copy), before)
            self.assertEqual(self.backup(copy)["usage_sums"], backup["usage_sums"])

    def test_a_backup_without_sums_counts_the_reports_of_its_jobs(self):
        with Server(*self.settings) as first, Server(*self.settings) as second:
            api, copy = first.client(), second.client()
            job = api.enqueue("u.q")
            api.fetch("u.q")
            api.ack(job, usage={"model": "m", "input_tokens": 10})
            backup = checksum_free(self.backup(api))
            del backup["usage_sums"]
            for job in backup["jobs"]:
                for row in job["usage"]:
                    self.assertTrue(row.pop("in_sums"))
            self.restore(backup, copy)
            totals = copy.must(copy.get("/api/v1/usage/summary"))["totals"]
            self.assertEqual((totals["count"], totals["input_tokens"]), (1, 10))

    def go_on(self, copy, ids):
        """Check that the copy works: lines, leases, keys, dependencies, batches and chains."""
        self.assertEqual([copy.fetch("b.line")["job_id"] for _ in range(3)],
                         [ids["urgent"], ids["pending"], ids["second"]])
        duplicate = copy.must(copy.post("/api/v1/enqueue", {"queue": "b.line", "unique_key": "k"}))
        self.assertEqual(duplicate["job_id"], ids["second"])
        copy.ack(ids["active"])
        self.assertFalse(copy.is_claimable("b.child"))
        copy.ack(ids["pending"])
        self.assertEqual(copy.fetch("b.child")["job_id"], ids["child"])
        self.assertEqual(copy.state(ids["child"]), "active")
        for _ in range(2):
            copy.ack(copy.fetch("b.batch")["job_id"])
        self.assertEqual(copy.fetch("b.back")["payload"]["batch"],
                         {"batch_id": ids["batch"], "total": 3, "succeeded": 3, "failed": 0})
        copy.ack(copy.fetch("b.chain")["job_id"])
        self.assertEqual(copy.fetch("b.chain2")["payload"]["x"], 1)
        agent = copy.fetch("b.agent")
        self.assertEqual((agent["job_id"], agent["agent"]["iteration"]), (ids["agent"], 2))

    def test_the_very_bytes_are_accepted_and_a_second_time_nothing_is_new(self):
        with Server(*self.settings) as server:
            api = server.client()
            for i in range(5):
                api.enqueue("q", i)
            raw = api.get(PATH).body
            for i in range(5):
                api.ack(api.fetch("q")["job_id"])
            self.assertEqual(api.must(api.post(RESTORE, raw)),
                             {"status": "ok", "restored_jobs": 0, "namespace": "default",
                              "skipped_jobs": 5})
            self.assertEqual(api.queue("q")["completed"], 5)
            for job in json.loads(raw)["jobs"][:2]:
                api.must(api.delete("/api/v1/jobs/" + job["id"]))
            answer = api.must(api.post(RESTORE, raw))
            self.assertEqual((answer["restored_jobs"], answer["skipped_jobs"]), (2, 3))
            self.assertEqual(api.fetch("q")["payload"], 0)

    def test_values_may_be_as_deep_as_a_client_may_send_them(self):
        """The server puts them into chain_config and into the payloads of later steps."""
        deep = []
        for _ in range(511):
            deep = [deep]
        with Server(*self.settings) as first, Server(*self.settings) as second:
            api, copy = first.client(), second.client()
            step = {"queue": "s", "payload": {"a": deep[0]}}
            ids = [api.enqueue("q", deep, checkpoint=deep),
                   api.enqueue("s", chain={"steps": [step, step], "on_failure": step})]
            api.fetch("s")
            api.ack(ids[1], result=deep)
            ids.append(api.must(api.post("/api/v1/jobs/search", {"queue": "s", "state": ["pending"]}))["jobs"][0]["id"])
            self.assertEqual(api.job(ids[2])["payload"]["previous_result"], deep)
            backup = self.backup(api)
            self.assertEqual(self.restore(backup, copy)["restored_jobs"], 3)
            self.assertEqual(comparable(self.backup(copy)), comparable(backup))

    def test_many_jobs_keep_their_order(self):
        with Server(*self.settings) as first, Server(*self.settings) as second:
            api, copy = first.client(), second.client()
            ids = []
            for i in range(4):
                ids += api.enqueue_batch([{"queue": "q", "payload": {"text": "x" * 200}}] * 3000)[
                    "job_ids"]
            # Retried jobs are behind the others, although their ids are lower.
            api.must(api.post("/api/v1/jobs/bulk", {"action": "cancel", "job_ids": ids[:600]}))
            api.must(api.post("/api/v1/jobs/bulk", {"action": "retry", "job_ids": ids[:600]}))
            raw = api.get(PATH).body
            self.assertEqual(copy.must(copy.post(RESTORE, raw))["restored_jobs"], 12000)
            self.assertEqual(comparable(json.loads(copy.get(PATH).body)),
                             comparable(json.loads(raw)))
            found = copy.must(copy.post("/api/v1/jobs/search", {"queue": "q", "limit": 1}))
            self.assertEqual(found["total"], 12000)
            order = ids[600:] + ids[:600]
            fetched = []
            while len(fetched) < 12000:
                fetched += [j["job_id"] for j in copy.fetch_batch("q", count=512)]
            self.assertEqual(fetched, order)

    def test_a_backup_is_one_moment(self):
        with Server(*self.settings) as server:
            api = server.client()
            ids = []
            for _ in range(4):
                ids += api.enqueue_batch([{"queue": "q", "payload": {"t": "y" * 500}}] * 5000)[
                    "job_ids"]
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
            connection.request("GET", PATH)
            response = connection.getresponse()
            head = response.read(100)
            # Change everything before the client continues to read.
            api.must(api.post("/api/v1/queues/q/clear"))
            after = api.enqueue("q")
            backup = json.loads(head + response.read())
            connection.close()
            self.assertEqual([j["id"] for j in backup["jobs"]], ids)
            self.assertNotIn(after, [j["id"] for j in backup["jobs"]])
            self.assertEqual(backup["meta"]["jobs"], 20000)

    def test_a_reader_that_goes_is_forgotten(self):
        with Server(*self.settings) as server:
            api = server.client()
            for _ in range(4):
                api.enqueue_batch([{"queue": "q", "payload": {"t": "y" * 2000}}] * 2000)
            for _ in range(3):
                connection = http.client.HTTPConnection("127.0.0.1", server.port)
                connection.request("GET", PATH)
                connection.getresponse().read(10)
                connection.close()
            self.assertEqual(len(self.backup(api)["jobs"]), 8000)


class Namespaces(BackupTest):
    def test_each_has_its_own(self):
        with Server(*self.settings) as server:
            api = server.client()
            acme = api.with_headers(X_Corvo_Namespace="acme")
            mine, theirs = api.enqueue("q"), acme.enqueue("q", chain={
                "steps": [{"queue": "q"}, {"queue": "r"}]})
            self.assertEqual([j["id"] for j in self.backup(api)["jobs"]], [mine])
            backup = self.backup(acme)
            self.assertEqual(backup["namespace"], "acme")
            self.assertEqual([(j["id"], j["queue"]) for j in backup["jobs"]], [(theirs, "q")])
            self.assertEqual([q["name"] for q in backup["queues"]], ["q"])
            self.assertEqual(self.backup(api, "?namespace=acme")["jobs"], backup["jobs"])
            self.assertEqual(self.backup(acme, "?namespace=acme")["jobs"], backup["jobs"])
            self.refused(acme.get(PATH + "?namespace=default"), 403, "FORBIDDEN")
            self.refused(acme.get(PATH + "?namespace=other"), 403, "FORBIDDEN")
            self.refused(api.get(PATH + "?namespace=Acme"), 400, "VALIDATION_ERROR", "namespace")
            other = api.with_headers(X_Corvo_Namespace="other")
            self.refused(other.post(RESTORE, checksum_free(backup)), 403, "FORBIDDEN")
            acme.must(acme.delete(f"/api/v1/jobs/{theirs}"))
            # An admin of the default namespace may restore it.
            self.assertEqual(self.restore(checksum_free(backup), api)["namespace"], "acme")
            self.assertEqual(acme.job(theirs)["chain_config"]["steps"][1]["queue"], "r")
            self.assertEqual(api.job(theirs)["queue"], "acme::q")
            acme.ack(acme.fetch("q")["job_id"])
            self.assertEqual(acme.fetch("r")["queue"], "r")

    def test_queues_whose_prefix_is_no_namespace(self):
        """2.5, 20.4: every queue is in one backup, and every backup can be restored."""
        homes = {"UP::q": "default", "::q": "default", "default::q": "default", "acme::": "default",
                 "acme::q": "acme", "acme::b::c": "acme"}
        old = [{"queue": name, "payload": name, "priority": 2} for name in homes]
        with Server(*self.settings) as first, Server(*self.settings) as second:
            api, copy = first.client(), second.client()
            self.restore({"jobs": old}, api)
            for name in homes:
                api.must(api.post("/api/v1/queues/" + name.replace(":", "%3A") + "/concurrency", {"max": 5}))
            for ns in ("default", "acme"):
                backup = self.backup(api, f"?namespace={ns}")
                names = [name for name in homes if homes[name] == ns]
                self.assertEqual(sorted(j["payload"] for j in backup["jobs"]), sorted(names))
                self.assertEqual(sorted(q["name"] for q in backup["queues"]),
                                 sorted(n.removeprefix("acme::") if ns == "acme" else n for n in names))
                self.restore(backup, copy)
                self.restore({**checksum_free(backup), "namespace": "beta"}, copy, "?mode=enqueue")
            for name in homes:
                self.assertEqual(copy.fetch(name)["payload"], name)
                inside = "beta::" + (name.removeprefix("acme::") if homes[name] == "acme" else name)
                self.assertEqual(copy.fetch(inside)["payload"], name)

    def test_schedules_and_batches_are_where_their_queues_are(self):
        """20.4: each is in one backup, also if another namespace made it or has the jobs of the batch."""
        def batch(client, queue, callback):
            return client.enqueue_batch([{"queue": queue}], batch={"callback_queue": callback})["batch_id"]

        with Server(*self.settings) as first, Server(*self.settings) as second:
            api, copy = first.client(), second.client()
            acme = api.with_headers(X_Corvo_Namespace="acme")
            schedules, batches = {}, {}
            for client, queue, home in ((api, "q", "default"), (acme, "q", "acme"), (api, "acme::q", "acme")):
                made = client.must(client.post("/api/v1/schedules", {
                    "name": f"of {queue} in {home}", "queue": queue, "cron": "@daily"}), 201)
                schedules[made["id"]] = home
            batches[batch(api, "q", "back")] = "default"
            batches[batch(api, "acme::q", "back")] = "default"
            batches[batch(api, "q", "acme::back")] = "acme"
            batches[batch(acme, "q", "back")] = "acme"
            for _ in range(5):  # more than what is written in one turn
                batches[acme.must(acme.post("/api/v1/batch", {
                    "callback_queue": "back", "callback_payload": "x" * 60000}), 201)["batch_id"]] = "acme"
            for home in ("default", "acme"):
                backup = self.backup(api, f"?namespace={home}")
                self.assertEqual(sorted(s["id"] for s in backup["schedules"]),
                                 sorted(i for i, ns in schedules.items() if ns == home))
                self.assertEqual([b["id"] for b in backup["batches"]],
                                 sorted(i for i, ns in batches.items() if ns == home))
                self.restore(backup, copy, "?verify=true")
            # The end of a job is counted in the batch that the other backup contained.
            copy.ack(copy.fetch("q")["job_id"])
            copy.ack(copy.fetch("q")["job_id"])
            self.assertEqual(copy.fetch("back")["payload"]["batch"]["succeeded"], 1)
            self.assertEqual(copy.fetch("acme::back")["payload"]["batch"]["succeeded"], 1)

    def test_a_batch_without_a_callback_belongs_to_its_maker(self):
        """3.4, 7.4: even if a job of another namespace has joined it."""
        with Server(*self.settings) as first, Server(*self.settings) as second:
            api, copy = first.client(), second.client()
            acme, restored = (c.with_headers(X_Corvo_Namespace="acme") for c in (api, copy))
            mine = acme.enqueue_batch([{"queue": "q"}], batch={"callback_payload": 1})["batch_id"]
            foreign = api.must(api.post("/api/v1/batch", {"callback_payload": 2}), 201)["batch_id"]
            api.enqueue("acme::q", batch_id=foreign)
            backup = self.backup(acme)
            self.assertEqual([b["id"] for b in backup["batches"]], [mine])
            self.restore(checksum_free(backup), restored)
            self.assertEqual(restored.must(restored.get(f"/api/v1/batch/{mine}"))["pending"], 1)
            other = copy.with_headers(X_Corvo_Namespace="other")
            self.refused(other.get(f"/api/v1/batch/{mine}"), 404, "NOT_FOUND")

    def test_steps_of_a_chain_in_another_namespace_are_told(self):
        """20.4: a restore puts jobs into its own namespace only."""
        with Server(*self.settings) as first, Server(*self.settings) as second:
            api, copy = first.client(), second.client()

            def chain(*queues, **handlers):
                return api.enqueue(queues[0], chain={"steps": [{"queue": q} for q in queues], **handlers})
            leaves = chain("acme::s", "out")
            fails = chain("acme::s", "acme::t", on_failure={"queue": "other::x"})
            stays = chain("acme::s", "acme::t", on_failure="continue", on_exit={"queue": "acme::x"})
            reaches = chain("s", "acme::t")  # in the default namespace, names are whole
            backup = self.backup(api, "?namespace=acme")
            self.assertEqual({j["id"]: j["restore"].get("chain_leaves") for j in backup["jobs"]},
                             {leaves: True, fails: True, stays: None})
            answer = self.restore(backup, copy, "?verify=true")
            self.assertEqual(answer["warnings"], ["jobs whose chains had steps in another namespace; "
                                                  "these steps now use queues of this one: 2"])
            self.assertEqual(copy.job(leaves)["chain_config"]["steps"][1]["queue"], "acme::out")
            self.assertNotIn("warnings", self.restore(self.backup(api), copy, "?verify=true"))
            self.assertEqual(copy.job(reaches)["chain_config"], api.job(reaches)["chain_config"])

    def test_a_batch_that_has_ended_keeps_its_callback_job(self):
        """26.1: a repeated seal names it as long as the batch and the job are kept."""
        with Server(*self.settings) as first, Server(*self.settings) as second:
            api, copy = first.client(), second.client()
            ended = api.must(api.post("/api/v1/batch", {"callback_queue": "back"}), 201)["batch_id"]
            opened = api.must(api.post("/api/v1/batch", {"callback_queue": "back"}), 201)["batch_id"]
            made = api.must(api.post(f"/api/v1/batch/{ended}/seal"))["callback_job"]
            backup = self.backup(api)
            self.assertEqual([b.get("callback_job") for b in backup["batches"]], [made["id"], None])
            self.restore(backup, copy, "?verify=true")
            self.assertEqual(copy.must(copy.post(f"/api/v1/batch/{ended}/seal")),
                             {"status": "sealed", "callback_job": made})
            self.assertEqual(self.backup(copy)["batches"], backup["batches"])
            copy.must(copy.delete(f"/api/v1/jobs/{made['id']}"))
            self.assertEqual(copy.must(copy.post(f"/api/v1/batch/{ended}/seal")), {"status": "sealed"})
            other = copy.must(copy.post(f"/api/v1/batch/{opened}/seal"))["callback_job"]["id"]
            self.assertNotEqual(other, made["id"])

            backup["batches"][0]["callback_job"] = "job_1"
            self.refused(api.post(RESTORE, checksum_free(backup)), 400, "VALIDATION_ERROR", "callback_job")


class Schedules(BackupTest):
    def test_a_time_that_is_wrong_is_named_once(self):
        good = {"id": "sched_" + "0" * 25 + "1", "name": "n", "queue": self.queue, "cron": "@daily"}
        for wrong, message in (({"cron": "* *"}, "schedules[0]: cron: expected 5 or 6 fields"),
                               ({"cron": "@never"}, "schedules[0]: cron: '@never' is not known; expected @hourly,"),
                               ({"timezone": "Mars"}, "schedules[0]: timezone: 'Mars' is not a known time zone")):
            self.refused(self.api.post(RESTORE, {"jobs": [], "schedules": [{**good, **wrong}], "meta": {"format": 2}}),
                         400, "VALIDATION_ERROR", message)


class AsNewJobs(BackupTest):
    def test_an_unknown_mode_is_refused(self):
        """26: unknown words are refused with a list of the words. An empty one means the default."""
        jobs = {"jobs": [{"queue": self.queue, "payload": 1, "priority": 2}]}
        self.refused(self.api.post(RESTORE + "?mode=enqeue", jobs), 400, "VALIDATION_ERROR",
                     "invalid mode: expected keep or enqueue, got 'enqeue'")
        self.assertNotIn(self.queue, self.api.queues())
        for mode in ("", "keep", "enqueue"):
            self.assertEqual(self.restore(jobs, query=f"?mode={mode}")["restored_jobs"], 1)

    def test_the_first_format_and_the_mode_enqueue_anew(self):
        jobs = [{"queue": self.queue, "payload": {"i": i}, "priority": i % 3, "id": "old",
                 "state": "dead", "tags": {"a": "b"}, "checkpoint": {"c": i}} for i in range(3)]
        for body, query in (({"jobs": jobs}, ""), ({"jobs": jobs, "meta": {"format": 1}}, ""),
                            ({"jobs": jobs, "meta": {"format": 2}}, "?mode=enqueue")):
            with self.subTest(query=query):
                answer = self.restore(body, query=query)
                self.assertEqual(answer, {"status": "ok", "restored_jobs": 3,
                                          "namespace": "default"})
                fetched = [self.api.fetch(self.queue) for _ in range(3)]
                self.assertEqual([j["payload"]["i"] for j in fetched], [0, 1, 2])
                self.assertEqual(fetched[1]["checkpoint"], {"c": 1})
                self.assertEqual(fetched[2]["tags"], {"a": "b"})
                for job in fetched:
                    self.assert_id(job["job_id"], "job_")
                    self.api.ack(job["job_id"])

    def test_more_than_one_piece(self):
        jobs = [{"queue": self.queue, "payload": i, "priority": 2} for i in range(1203)]
        self.assertEqual(self.restore({"jobs": jobs})["restored_jobs"], 1203)
        self.assertEqual(self.api.queue(self.queue)["pending"], 1203)


class Raw(BackupTest):
    def test_a_chain_config_that_an_older_server_stored_is_kept(self):
        with Server(*self.settings) as server:
            api = server.client()
            for n, config in enumerate(({"steps": "x"}, {"steps": [{"queue": 7}], "on_failure": 5, "mine": [1]},
                                        {"depends_on": ["x", 7]}, {"steps": [], "depends_on": []})):
                job_id = "job_" + "0" * 24 + f"{n + 1}1"
                self.restore({"meta": {"format": 2}, "jobs": [{
                    "id": job_id, "queue": "q", "payload": {}, "priority": 2, "state": "pending",
                    "created_at": "2026-01-01T00:00:00Z", "chain_id": "c", "chain_step": 0, "chain_config": config}]},
                    api)
                self.assertEqual(api.job(job_id)["chain_config"], config)


class Hostile(BackupTest):
    def job(self, **fields):
        return {"id": "job_" + "0" * 24 + "11", "queue": self.queue, "payload": {}, "priority": 2,
                "state": "pending", "created_at": "2026-01-01T00:00:00Z", **fields}

    def test_what_cannot_be_restored_changes_nothing(self):
        good = self.job()
        rows = [
            (b"", "PARSE_ERROR", None), (b"{", "PARSE_ERROR", None), (b"[]", "VALIDATION_ERROR", None),
            (b"\xff\xfe", "PARSE_ERROR", None), (b'{"jobs":[{}', "PARSE_ERROR", None),
            ({}, "VALIDATION_ERROR", "jobs is required"),
            ({"jobs": {}}, "VALIDATION_ERROR", "jobs"),
            ({"jobs": [], "queues": 1}, "VALIDATION_ERROR", "queues"),
            ({"jobs": [good, 7], "meta": {"format": 2}}, "PARSE_ERROR", "jobs[1]"),
            ({"jobs": [good], "meta": {"format": 3}}, "VALIDATION_ERROR", "meta.format"),
            ({"jobs": [good], "meta": {"format": "x"}}, "VALIDATION_ERROR", "meta.format"),
            ({"jobs": [good], "meta": 1}, "VALIDATION_ERROR", "meta"),
            ({"jobs": [good], "namespace": "No Name"}, "VALIDATION_ERROR", "namespace"),
            ({"jobs": [good], "namespace": "a::b"}, "VALIDATION_ERROR", "namespace"),
            ({"jobs": [good], "namespace": 5}, "VALIDATION_ERROR", "namespace"),
            ({"jobs": [good], "namespace": ["team"]}, "VALIDATION_ERROR", "namespace"),
        ]
        bad_jobs = [
            {"queue": ""}, {"queue": "a\nb"}, {"queue": "x" * 300}, {"queue": 7}, {"priority": 9},
            {"priority": "high"}, {"id": "job_short"}, {"id": ""}, {"state": "flying"},
            {"state": ""}, {"state": "scheduled"}, {"state": "retrying"}, {"state": "active"},
            {"created_at": "yesterday"}, {"created_at": None}, {"attempt": -1},
            {"max_retries": -1}, {"max_retries": 2**40}, {"retry_base_delay_ms": -5},
            {"tags": [1]}, {"tags": {"a": "v" * 1025}}, {"unique_key": "k" * 600}, {"batch_id": "batch_1"},
            {"schedule_id": "x"}, {"progress": "p" * 40000}, {"chain_config": 7},
            {"errors": [{"error": "x"}] * 101}, {"errors": [7]}, {"errors": {}},
            {"iterations": [{"input_tokens": -1}]}, {"usage": [{"cost_usd": -1}]},
            {"restore": {"lease_token": -1}}, {"restore": {"lease_token": 2**63 - 1}},
            {"restore": {"waits_for": ["nobody"]}},
            {"restore": {"waits_for": ["job_" + "0" * 26] * 1001}}, {"restore": 1},
            {"hold_reason": "r" * 5000}, {"worker_id": "w" * 300}, {"chain_step": 2**40},
        ]
        rows += [({"jobs": [good, {**good, **bad}], "meta": {"format": 2}}, None, None)
                 for bad in bad_jobs]
        rows += [({"jobs": [good], "queues": [q], "meta": {"format": 2}}, None, None)
                 for q in ({}, {"name": ""}, {"name": "q", "rate_limit": 5},
                           {"name": "q", "rate_window_ms": 5}, {"name": "q", "rate_limit": -1},
                           {"name": "q", "paused": "yes"}, {"name": "q", "rate_limit": 10**9,
                                                            "rate_window_ms": 1})]
        rows += [({"jobs": [good], "schedules": [s], "meta": {"format": 2}}, None, None)
                 for s in ({}, {"id": "sched_1"}, {"id": "sched_" + "0" * 25 + "1"})]
        schedule = {"id": "sched_" + "0" * 25 + "1", "name": "n", "queue": "q", "cron": "@daily", "payload": {}}
        rows += [({"jobs": [good], "schedules": [{**schedule, field: value}], "meta": {"format": 2}},
                  "VALIDATION_ERROR", field)
                 for field, value in (("cron", "nonsense"), ("cron", ""), ("timezone", "Moon/Base"))]
        rows += [({"jobs": [good], "webhooks": [h], "meta": {"format": 2}}, None, None)
                 for h in ({}, {"id": "h"}, {"id": "h", "url": "ftp://x", "retry_limit": 1},
                           {"url": "http://x", "retry_limit": 1},
                           {"id": "h", "url": "http://x", "retry_limit": 0},
                           {"id": "a\nb", "url": "http://x", "retry_limit": 1},
                           {"id": "h", "url": "http://x", "retry_limit": 1, "events": ["a\nb"]})]
        budget = {"id": "budget_1", "scope": "global", "target": "*", "daily_usd": 1}
        rows += [({"jobs": [good], "budgets": [{**budget, **b}], "meta": {"format": 2}}, None, None)
                 for b in ({"scope": "planet"}, {"target": "x"}, {"scope": "tag", "target": "x"},
                           {"scope": "tag", "target": "=x"}, {"scope": "queue", "target": "a\nb"},
                           {"daily_usd": None}, {"daily_usd": -1}, {"daily_usd": 1e12}, {"id": ""},
                           {"on_exceed": "panic"}, {"created_at": "soon"}, {"target": ""})]
        rows += [({"jobs": [good], "batches": [b], "meta": {"format": 2}}, None, None)
                 for b in ({}, {"id": "batch_" + "0" * 25 + "1", "total": -1},
                           {"id": "batch_" + "0" * 25 + "1", "succeeded": 2**63 - 1})]
        for body, code, part in rows:
            with self.subTest(body=body):
                answer = self.api.post(RESTORE, body)
                self.assertIn(answer.status, (400, 413), answer)
                if code is not None:
                    self.refused(answer, 400, code, part)
                self.assertEqual(self.api.get("/api/v1/jobs/" + good["id"]).status, 404)
        self.assertEqual(self.restore({"jobs": [good], "meta": {"format": 2}})["restored_jobs"], 1)
        self.api.must(self.api.delete("/api/v1/jobs/" + good["id"]))

    def test_a_damaged_file_is_told_from_a_whole_one(self):
        job_id = self.api.enqueue(self.queue, {"text": "abcdef"})
        raw = self.api.get(PATH).body
        self.api.must(self.api.delete(f"/api/v1/jobs/{job_id}"))
        damaged = raw.replace(b"abcdef", b"abcdeg")
        self.assertNotEqual(raw, damaged)
        for query in ("", "?verify=true", "?verify=false"):
            self.refused(self.api.post(RESTORE + query, raw[:-2]), 400, "PARSE_ERROR")
        self.refused(self.api.post(RESTORE + "?verify=true", damaged), 400, "VALIDATION_ERROR",
                     "checksum")
        self.assertEqual(self.api.get(f"/api/v1/jobs/{job_id}").status, 404)
        self.assertNotIn("warnings", self.restore(raw, query="?verify=true"))
        self.assertEqual(self.api.job(job_id)["payload"], {"text": "abcdef"})

    def test_a_backup_that_was_decoded_and_encoded_again_is_restored(self):
        job_id = self.api.enqueue(self.queue, {"text": "abcdef"})
        backup = json.dumps(self.backup(), indent=1, sort_keys=True).encode()
        for query in ("", "?verify=false", "?mode=enqueue"):
            with self.subTest(query=query):
                self.api.must(self.api.delete(f"/api/v1/jobs/{job_id}"))
                answer = self.restore(backup, query=query)
                [warning] = answer["warnings"]
                self.assertIn("meta.checksum does not match", warning)
                if query == "?mode=enqueue":
                    break
                self.assertEqual(self.api.job(job_id)["payload"], {"text": "abcdef"})

    def test_jobs_with_odd_times_are_kept(self):
        """No job is lost because the clock was wrong where it was created, or is behind here."""
        future, past = "job_" + "7" + "z" * 25, "job_" + "0" * 25 + "1"
        odd = [self.job(id=future, state="dead", errors=[{
                            "error": "x", "created_at": "2200-01-01T00:00:00Z"}],
                        created_at="2200-01-01T00:00:00Z", failed_at="2201-01-01T00:00:00Z"),
               self.job(id=past, state="completed", created_at="1970-01-01T00:00:00.001Z",
                        completed_at="2250-01-01T00:00:00Z", started_at="2100-01-01T00:00:00Z")]
        answer = self.restore({"jobs": odd, "meta": {"format": 2}})
        self.assertEqual(answer, {"status": "ok", "restored_jobs": 2, "namespace": "default"})
        self.assertEqual(self.api.job(future)["errors"][0]["error"], "x")
        self.assertEqual(self.api.job(future)["created_at"], "2200-01-01T00:00:00Z")
        self.assertEqual(self.api.job(past)["completed_at"], "2250-01-01T00:00:00Z")
        again = self.restore({"jobs": odd, "meta": {"format": 2}})
        self.assertEqual((again["restored_jobs"], again["skipped_jobs"]), (0, 2))
        backup = self.backup()
        self.assertLessEqual({future, past}, {j["id"] for j in backup["jobs"]})
        for job_id in (future, past):
            self.api.must(self.api.delete("/api/v1/jobs/" + job_id))

    def test_members_of_a_batch_that_counts_wrong_end_without_harm(self):
        batch = "batch_" + "0" * 24 + "15"
        members = ["job_" + "0" * 24 + "1" + c for c in "abc"]
        body = {"jobs": [self.job(id=i, batch_id=batch) for i in members],
                "batches": [{"id": batch, "total": 1, "pending": 1, "sealed": True,
                             "created_at": "2026-01-01T00:00:00Z"}], "meta": {"format": 2}}
        self.assertEqual(self.restore(body)["restored_jobs"], 3)
        for _ in members:
            self.api.ack(self.api.fetch(self.queue)["job_id"])
        self.server.check_alive()

    def test_jobs_do_not_join_batches_and_jobs_of_another_namespace(self):
        """3.4: a backup with ids of another namespace changes nothing there and tells nothing about it."""
        acme, other = (self.api.with_headers(X_Corvo_Namespace=ns) for ns in ("acme", "other"))
        theirs = acme.enqueue(self.queue)
        batches = [acme.must(acme.post("/api/v1/batch", body), 201)["batch_id"] for body in ({"callback_queue": "done"}, {})]
        own = other.must(other.post("/api/v1/batch", {"callback_queue": "done"}), 201)["batch_id"]
        before = [acme.must(acme.get(f"/api/v1/batch/{batch}")) for batch in batches]
        members = {"job_" + "0" * 24 + f"5{n}": batch for n, batch in enumerate((*batches, own))}
        waiting, free = "job_" + "0" * 24 + "61", "job_" + "0" * 24 + "62"
        answer = self.restore({"jobs": [
            *(self.job(id=i, batch_id=batch) for i, batch in members.items()),
            self.job(id=waiting, restore={"waits_for": [theirs, free]}), self.job(id=free, state="held")],
            "meta": {"format": 2}}, other)
        self.assertEqual((answer["restored_jobs"], answer["warnings"]), (5, [
            "jobs restored without their batch or dependencies because these belong to another namespace: 3"]))
        self.assertEqual([other.job(i).get("batch_id") for i in members], [None, None, own])
        for _ in members:
            other.ack(other.fetch(self.queue)["job_id"])
        self.assertEqual([acme.must(acme.get(f"/api/v1/batch/{batch}")) for batch in batches], before)
        self.assertEqual(other.must(other.get(f"/api/v1/batch/{own}"))["succeeded"], 1)
        self.assertEqual(other.post("/api/v1/fetch", {"queues": [self.queue], "timeout": -1}).status, 204)  # still waits for a job of its namespace
        other.act(free, "approve")
        other.ack(other.fetch(self.queue)["job_id"])
        self.assertEqual(other.fetch(self.queue)["job_id"], waiting)
        self.assertEqual(acme.state(theirs), "pending")

    def test_what_is_left_out_is_told(self):
        with Server("--rate-limit-enabled=false") as server:
            api = server.client()
            api.must(api.post("/api/v1/schedules", {"name": "mine", "queue": "q", "cron": "@daily", "payload": 1}), 201)
            schedule = {"id": "sched_" + "0" * 25 + "1", "name": "mine", "queue": "q", "cron": "@daily",
                        "timezone": "", "payload": {}, "enabled": True, "created_at": "2026-01-01T00:00:00Z"}
            hooks = [{"id": f"hook-{i}", "url": "http://localhost:1", "retry_limit": 1} for i in range(258)]
            body = {"jobs": [], "schedules": [schedule, {**schedule, "id": "sched_" + "0" * 25 + "2", "name": "other"}],
                    "webhooks": hooks, "meta": {"format": 2}}
            warnings = self.restore(body, api)["warnings"]
            self.assertEqual(warnings, [
                "schedules not restored because other schedules have their names: 1",
                "webhooks, approval policies and budgets not restored because the server has reached its limit for them: 2"])
            self.assertEqual(api.must(api.get("/api/v1/schedules/other"))["timezone"], "UTC")

    def test_a_job_that_would_be_too_large_is_backed_up_without_its_oldest_rows(self):
        """One element of a backup can have at most 128 MiB. A job may be larger, and its backup must still be
        usable."""
        with Server("--rate-limit-enabled=false") as server:
            api = server.client()
            large = "r" * 1_040_000
            job = self.job(id="job_" + "0" * 24 + "1b", agent={"iteration": 64}, iterations=[
                {"iteration": i + 1, "status": "continue", "checkpoint": large, "result": large,
                 "created_at": "2026-01-01T00:00:00Z"} for i in range(63)],
                errors=[{"error": "e", "attempt": 1, "worker_version": "1.4.2", "created_at": "2026-01-01T00:00:00Z"}])
            self.restore({"jobs": [job], "meta": {"format": 2}}, api)
            for _ in range(3):
                api.fetch(self.queue)
                api.ack(job["id"], agent_status="continue", checkpoint=large, result=large)
            backup = api.get(PATH).body
            whole = json.loads(backup)
            rows = whole["meta"]["rows_left_out"]
            self.assertIn(rows, (2, 3, 4))
            self.assertEqual(whole["jobs"][0]["restore"]["rows_left_out"], rows)
            self.assertEqual(whole["jobs"][0]["errors"][0]["worker_version"], "1.4.2")
            self.assertEqual([i["iteration"] for i in whole["jobs"][0]["iterations"]], list(range(rows + 1, 67)))
            api.must(api.delete("/api/v1/jobs/" + job["id"]))
            self.assertEqual(self.restore(backup, api)["restored_jobs"], 1)
            self.assertEqual(api.job(job["id"])["errors"][0]["worker_version"], "1.4.2")

    def test_counters_as_high_as_they_may_be_leave_room_to_count_on(self):
        """Lease tokens come from one counter for all namespaces, so a restore must not use it up."""
        with Server("--rate-limit-enabled=false") as server:
            api = server.client()
            team = api.with_headers(X_Corvo_Namespace="team")
            batch = "batch_" + "0" * 24 + "17"
            job = self.job(batch_id=batch, restore={"lease_token": 2**53})
            agent = self.job(id="job_" + "0" * 24 + "13", state="held", agent={"total_cost_usd": 9.3e9})
            self.restore({"jobs": [job, agent], "queues": [{"name": self.queue, "failed": 2**53}],
                          "batches": [{"id": batch, "total": 2**53, "pending": 5, "succeeded": 2**53,
                                       "created_at": "2026-01-01T00:00:00Z"}],
                          "meta": {"format": 2}}, team)
            api.enqueue("mine")
            lease = api.fetch("mine")
            self.assertLess(2**51, lease["lease_token"])
            self.assertLess(lease["lease_token"], 2**53)
            api.ack(lease["job_id"], lease_token=lease["lease_token"])
            team.ack(team.fetch(self.queue)["job_id"])
            for client in (api, team):
                self.restore(client.get(PATH).body, client)

    def test_a_job_with_very_many_rows_goes_in_several_pieces(self):
        iterations = [{"iteration": i + 1, "status": "continue", "checkpoint": "c" * 20000,
                       "created_at": "2026-01-01T00:00:00Z"} for i in range(700)]
        job = self.job(id="job_" + "0" * 24 + "19", agent={"iteration": 701},
                       iterations=iterations)
        self.assertEqual(self.restore({"jobs": [job], "meta": {"format": 2}})["restored_jobs"], 1)
        stored = self.api.must(self.api.get(f"/api/v1/jobs/{job['id']}/iterations"))["iterations"]
        self.assertEqual([i["iteration"] for i in stored], list(range(1, 701)))
        self.api.must(self.api.delete(f"/api/v1/jobs/{job['id']}"))

    def test_a_client_that_goes_half_way_harms_nobody(self):
        for length, sent in ((1000, 10), (10**9, 100000)):
            connection = http.client.HTTPConnection("127.0.0.1", self.server.port)
            connection.putrequest("POST", RESTORE)
            connection.putheader("Content-Length", str(length))
            connection.endheaders()
            connection.send(b'{"jobs":[' + b" " * (sent - 9))
            connection.close()
            # The interrupted restore makes room for the next one.
            wait_until(lambda: self.api.post(RESTORE, {}).status == 400, "the end of the restore")


class Streamed(BackupTest):
    """A backup of any size can be restored, is checked first, and only one restore runs at a time."""

    def begin(self, server, path=RESTORE):
        """Begin a restore. The body follows in chunks."""
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
        connection.putrequest("POST", path)
        connection.putheader("Transfer-Encoding", "chunked")
        connection.endheaders()
        return connection

    def send(self, connection, data):
        connection.send(b"%x\r\n%s\r\n" % (len(data), data))

    def finish(self, connection):
        connection.send(b"0\r\n\r\n")
        response = connection.getresponse()
        answer = json.loads(response.read())
        connection.close()
        return response.status, answer

    def peak_kib(self, server):
        with open(f"/proc/{server.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

    def test_a_large_backup_of_the_server_itself_goes_back_in_both_modes(self):
        count, payload = 260, "p" * 200_000
        with Server(*self.settings) as first, Server(*self.settings) as second:
            api, copy = first.client(), second.client()
            for _ in range(count // 20):
                api.enqueue_batch([{"queue": "q", "payload": payload}] * 20)
            raw = api.get(PATH).body
            self.assertGreater(len(raw), 50_000_000)
            for query, there in (("", count), ("?mode=enqueue", 2 * count), ("", 2 * count)):
                answer = copy.must(copy.post(RESTORE + query, raw))
                self.assertEqual(answer["restored_jobs"] + answer.get("skipped_jobs", 0), count)
                self.assertEqual(copy.queue("q")["pending"], there)

    def test_memory_does_not_grow_with_the_backup(self):
        job = json.dumps(self.job_of("b" * 100_000)).encode()
        with Server(*self.settings, env=LEAN) as server:
            api = server.client()
            self.assertEqual(self.restore({"jobs": [self.job_of("b" * 100_000)]}, api)["status"],
                             "ok")
            before = self.peak_kib(server)
            connection = self.begin(server)
            self.send(connection, b'{"jobs":[' + job)
            for _ in range(1000):
                self.send(connection, b"," + job)
            # The last job cannot be restored: the whole body is read and checked, and nothing changes.
            self.send(connection, b',{"queue":"","payload":1,"priority":1}]}')
            status, answer = self.finish(connection)
            self.assertEqual((status, answer["code"]), (400, "VALIDATION_ERROR"))
            self.assertIn("jobs[1001]", answer["error"])
            self.assertEqual(api.queue("m")["pending"], 1)
            self.assertLess(self.peak_kib(server) - before, 60_000)

    def job_of(self, payload):
        return {"queue": "m", "payload": payload, "priority": 1}

    def test_what_cannot_be_enqueued_anew_changes_nothing(self):
        jobs = [{"queue": self.queue, "payload": i, "priority": 2} for i in range(1200)]
        for bad in ({"priority": 3}, {"payload": "x" * 300_000}, {"tags": {"a": "v" * 2000}}):
            with self.subTest(bad=list(bad)):
                answer = self.api.post(RESTORE + "?mode=enqueue",
                                       {"jobs": [*jobs, {**jobs[0], **bad}], "meta": {"format": 2}})
                self.assertIn(answer.status, (400, 413), answer)
                self.assertIn("jobs[1200]", answer.json["error"])
        self.assertEqual(self.api.get(f"/api/v1/queues/{self.queue}").status, 404)

    def begin_alone(self, server, is_refused):
        """Begin a restore so that others are refused. is_refused() also occupies the place for a moment, so this
        restore may be refused. Then it begins again."""
        while True:
            connection = self.begin(server)
            self.send(connection, b'{"jobs":[')
            answered = select.poll()  # not select(), which supports no descriptor above 1023
            answered.register(connection.sock, select.POLLIN)
            while not answered.poll(0):
                if is_refused():
                    return connection
            connection.close()

    def test_one_at_a_time(self):
        with Server(*self.settings) as server:
            api = server.client()
            body = {"jobs": [{"queue": "q", "payload": 1, "priority": 2}]}
            connection = self.begin_alone(server, lambda: api.post(RESTORE, body).status == 409)
            self.refused(api.post(RESTORE, body), 409, "CONFLICT", "another restore is running")
            self.send(connection, json.dumps(body["jobs"][0]).encode() + b"]}")
            self.assertEqual(self.finish(connection)[0], 200)
            made = api.queue("q")["pending"]
            self.assertEqual(self.restore(body, api)["restored_jobs"], 1)
            # A restore whose client disconnects makes room, too.
            connection = self.begin(server)
            self.send(connection, b'{"jobs":[')
            connection.close()
            wait_until(lambda: api.post(RESTORE, body).status == 200)
            self.assertGreaterEqual(api.queue("q")["pending"], made + 2)

    def test_it_goes_on_when_its_client_has_gone(self):
        jobs = b",".join(b'{"queue":"q","payload":%d,"priority":2}' % i for i in range(20_000))
        with Server(*self.settings) as server:
            api = server.client()
            connection = self.begin(server)
            self.send(connection, b'{"jobs":[' + jobs + b"]}")
            connection.send(b"0\r\n\r\n")
            wait_until(lambda: any(q["pending"] for q in api.must(api.get("/api/v1/queues"))))
            connection.close()
            wait_until(lambda: server.events("restore finished"), "the end of the restore")
            self.assertEqual(api.queue("q")["pending"], 20_000)

    def test_the_first_ones_can_be_left_out(self):
        jobs = [{"queue": self.queue, "payload": i, "priority": 2} for i in range(700)]
        answer = self.restore({"jobs": jobs}, query="?mode=enqueue&skip=698")
        self.assertEqual(answer["restored_jobs"], 2)
        self.assertEqual([self.api.fetch(self.queue)["payload"] for _ in range(2)], [698, 699])
        self.assertEqual(self.restore({"jobs": jobs}, query="?skip=9999")["restored_jobs"], 0)
        self.refused(self.api.post(RESTORE + "?skip=-1", {"jobs": jobs}), 400, "VALIDATION_ERROR",
                     "skip")

    def test_http2_streams_as_well(self):
        with Server(*self.settings) as server:
            api = server.client()
            api.enqueue_batch([{"queue": "q", "payload": "z" * 20_000}] * 500)
            raw = api.get(PATH).body
            api.must(api.post("/api/v1/queues/q/clear"))
            with contextlib.closing(http2_client.Connection(server.port, PATIENCE_S)) as h2:
                status, body = h2.answer(h2.request("POST", RESTORE, raw))
            self.assertEqual(status, 200, body)
            self.assertEqual(json.loads(body)["restored_jobs"], 500)
            self.assertEqual(api.queue("q")["pending"], 500)


if __name__ == "__main__":
    unittest.main()
