"""What clients released after v0.3 send and expect (contract 26.1)."""
from datetime import datetime

from harness import ApiTest, unique


def seconds(text):
    """Return the seconds since the epoch of a time in a response."""
    whole, _, fraction = text[:-1].partition(".")
    return datetime.fromisoformat(whole + "+00:00").timestamp() + float("0." + (fraction or "0"))


class Hold(ApiTest):
    def test_any_job_can_be_held_by_its_worker(self):
        for fields in ({}, {"agent": {}}):
            with self.subTest(fields):
                job_id = self.active(unique("hold"), **fields)
                self.api.ack(job_id, ack_status="Hold", hold_reason="look at it", checkpoint=[1])
                job = self.api.job(job_id)
                self.assertEqual((job["state"], job["hold_reason"], job["checkpoint"]),
                                 ("held", "look at it", [1]))
                self.assertNotIn("completed_at", job)
                self.api.act(job_id, "approve")
                self.assertEqual(self.api.fetch(job["queue"])["job_id"], job_id)
                self.api.ack(job_id, ack_status="done")
                self.assertEqual(self.api.state(job_id), "completed")

    def test_in_a_batch_of_acks(self):
        held, done = self.active(), self.active()
        answer = self.api.post("/api/v1/ack/batch", {"acks": [
            {"job_id": held, "ack_status": "hold", "hold_reason": "why"},
            {"job_id": done, "ack_status": ""}]})
        self.assertEqual((answer.status, answer.json), (200, {"acked": 2}))
        self.assertEqual(self.api.job(held)["hold_reason"], "why")
        self.assertEqual((self.api.state(held), self.api.state(done)), ("held", "completed"))

    def test_wrong_words_change_nothing(self):
        job_id = self.active()
        self.refused(self.api.post(f"/api/v1/ack/{job_id}", {"ack_status": "later"}), 400,
                     "ACK_ERROR", "ack_status: expected done or hold, got 'later'")
        self.refused(self.api.post(f"/api/v1/ack/{job_id}", {"ack_status": "hold",
                                                            "agent_status": "done"}), 400,
                     "ACK_ERROR", "ack_status and agent_status cannot both be set")
        self.assertEqual(self.api.state(job_id), "active")


class Milliseconds(ApiTest):
    def test_are_kept(self):
        job_id = self.api.enqueue(self.queue, expire_after_ms=90061001, retry_base_delay_ms=1501,
                                  retry_max_delay_ms=0)
        job = self.api.job(job_id)
        self.assertEqual((job["retry_base_delay_ms"], job["retry_max_delay_ms"]), (1501, 0))
        self.assertAlmostEqual(seconds(job["expire_at"]) - seconds(job["created_at"]), 90061.001,
                               places=3)

    def test_in_a_list_of_jobs(self):
        [job_id] = self.api.enqueue_batch([{"queue": self.queue,
                                            "retry_max_delay_ms": 7}])["job_ids"]
        self.assertEqual(self.api.job(job_id)["retry_max_delay_ms"], 7)

    def test_with_the_text_form_they_are_refused(self):
        for field in ("retry_base_delay", "retry_max_delay", "expire_after"):
            with self.subTest(field):
                body = {"queue": self.queue, field: "5s", field + "_ms": 5000}
                self.refused(self.api.post("/api/v1/enqueue", body), 400, "VALIDATION_ERROR",
                             f"{field} and {field}_ms cannot both be set")
                job_id = self.api.enqueue(self.queue, **{field: "", field + "_ms": None})
                job = self.api.job(job_id)
                self.assertEqual((job["retry_base_delay_ms"], job["retry_max_delay_ms"]),
                                 (5000, 600000))
                self.assertNotIn("expire_at", job)

    def test_wrong_numbers_are_refused(self):
        for field in ("retry_base_delay_ms", "retry_max_delay_ms", "expire_after_ms"):
            for wrong, code in ((-1, "VALIDATION_ERROR"), (9223372036855, "VALIDATION_ERROR"),
                                ("5s", "PARSE_ERROR"), (1.5, "PARSE_ERROR")):
                with self.subTest(field=field, wrong=wrong):
                    answer = self.api.post("/api/v1/enqueue", {"queue": self.queue, field: wrong})
                    self.refused(answer, 400, code, field)


class EnqueueAnswer(ApiTest):
    def test_has_the_job(self):
        answer = self.api.post("/api/v1/enqueue", {"queue": self.queue, "unique_key": "k"})
        job_id = answer.json["job_id"]
        self.assertEqual(answer.json, {
            "job_id": job_id, "status": "pending", "unique_existing": False,
            "job": {"id": job_id, "queue": self.queue, "status": "pending"}})
        again = self.api.post("/api/v1/enqueue", {"queue": self.queue, "unique_key": "k"})
        self.assertEqual((again.status, again.json), (200, {
            "job_id": job_id, "status": "duplicate", "unique_existing": True,
            "unique_job_id": job_id,
            "job": {"id": job_id, "queue": self.queue, "status": "duplicate"}}))

    def test_of_an_ingested_body_in_a_namespace(self):
        api = self.server.client(**{"X-Corvo-Namespace": "later"})
        for name in (self.queue, "later::" + self.queue):
            answer = api.post(f"/api/v1/webhooks/{name}", {"a": 1})
            self.assertEqual(answer.json["job"], {"id": answer.json["job_id"], "queue": self.queue,
                                                  "status": "pending"})


class Jobs(ApiTest):
    """POST /enqueue with jobs is enqueue/batch."""

    def test_are_made_in_their_order(self):
        answer = self.api.post("/api/v1/enqueue", {
            "jobs": [{"queue": self.queue, "payload": n, "max_retries": n} for n in range(3)],
            "batch": {"callback_queue": self.queue + "-done"}})
        self.assertEqual(answer.status, 201)
        self.assertEqual(set(answer.json), {"job_ids", "batch_id"})
        jobs = [self.api.job(job_id) for job_id in answer.json["job_ids"]]
        self.assertEqual([job["payload"] for job in jobs], [0, 1, 2])
        self.assertEqual([job["max_retries"] for job in jobs], [0, 1, 2])
        self.assertEqual({job["batch_id"] for job in jobs}, {answer.json["batch_id"]})

    def test_all_or_none(self):
        answer = self.api.post("/api/v1/enqueue", {"jobs": [{"queue": self.queue}, {}]})
        self.refused(answer, 400, "VALIDATION_ERROR", "queue is required for each job")
        self.not_claimable()

    def test_beside_a_job_are_refused(self):
        answer = self.api.post("/api/v1/enqueue", {"queue": self.queue,
                                                   "jobs": [{"queue": self.queue}]})
        self.refused(answer, 400, "VALIDATION_ERROR", "queue and jobs cannot both be set")

    def test_none_are_no_list(self):
        self.refused(self.api.post("/api/v1/enqueue", {"jobs": []}), 400, "VALIDATION_ERROR",
                     "jobs array is required")
        self.assertEqual(self.api.post("/api/v1/enqueue", {"queue": self.queue, "jobs": []}).status,
                         201)


class HeartbeatList(ApiTest):
    def test_with_json_in_strings(self):
        first, second = self.active(), self.active()
        answer = self.api.post("/api/v1/heartbeat", {"jobs": [
            {"job_id": first, "progress": "{\"done\": 1}", "checkpoint": "[1,2]"},
            {"job_id": second, "progress": {"done": 2}, "checkpoint": "half way"},
            {"job_id": "nobody", "progress": ""}]})
        self.assertEqual(answer.status, 200)
        self.assertEqual({job_id: beat["status"] for job_id, beat in answer.json["jobs"].items()},
                         {first: "ok", second: "ok", "nobody": "cancel"})
        self.assertEqual(answer.json["unknown"], ["nobody"])
        job = self.api.job(first)
        self.assertEqual((job["progress"], job["checkpoint"]), ({"done": 1}, [1, 2]))
        job = self.api.job(second)
        self.assertEqual((job["progress"], job["checkpoint"]), ({"done": 2}, "half way"))

    def test_strings_of_the_old_shape_are_strings(self):
        job_id = self.active()
        self.api.heartbeat({job_id: {"progress": "{\"done\": 1}"}})
        self.assertEqual(self.api.job(job_id)["progress"], "{\"done\": 1}")

    def test_wrong_elements_are_refused_by_their_place(self):
        job_id = self.active()
        for wrong, code, message in (({}, "VALIDATION_ERROR", "jobs[1]: job_id is required"),
                                     (1, "PARSE_ERROR", "jobs[1]"),
                                     ({"job_id": job_id, "lease_token": "x"}, "PARSE_ERROR",
                                      "jobs[1]")):
            with self.subTest(wrong):
                answer = self.api.post("/api/v1/heartbeat", {"jobs": [
                    {"job_id": job_id, "progress": 1}, wrong]})
                self.refused(answer, 400, code, message)
        self.assertNotIn("progress", self.api.job(job_id))

    def test_too_many_are_refused(self):
        answer = self.api.post("/api/v1/heartbeat", {"jobs": [{"job_id": "x"}] * 10001})
        self.refused(answer, 400, "VALIDATION_ERROR", "jobs has more than 10000 items")


class HeartbeatLease(ApiTest):
    def test_an_id_that_is_too_long_is_one_of_no_job(self):
        """The answer is the same for both forms of the request, and has every id as it was sent."""
        job_id = self.active()
        first, second = "x" * 300, "x" * 300 + "y"
        for jobs in ({job_id: {}, first: {}, second: {}}, [{"job_id": i} for i in (job_id, first, second)]):
            beat = self.api.must(self.api.post("/api/v1/heartbeat", {"jobs": jobs}))
            self.assertEqual({i: one["status"] for i, one in beat["jobs"].items()},
                             {job_id: "ok", first: "cancel", second: "cancel"})
            self.assertEqual(sorted(beat["unknown"]), [first, second])

    def test_is_told(self):
        job_id = self.active()
        beat = self.api.post("/api/v1/heartbeat", {"jobs": {job_id: {}, "nobody": {}}}).json["jobs"]
        self.assertEqual(set(beat[job_id]), {"status", "lease_expires_at"})
        self.assertEqual(set(beat["nobody"]), {"status"})
        self.assertEqual(beat[job_id]["lease_expires_at"],
                         self.api.job(job_id)["lease_expires_at"])


class Seal(ApiTest):
    def test_tells_of_the_callback_when_it_is_the_end(self):
        callback = self.queue + "-done"
        batch_id = self.api.post("/api/v1/batch", {"callback_queue": callback}).json["batch_id"]
        job_id = self.active(batch_id=batch_id)
        self.api.ack(job_id)
        sealed = self.api.must(self.api.post(f"/api/v1/batch/{batch_id}/seal"))
        made = sealed["callback_job"]["id"]

        def again():
            return self.api.must(self.api.post(f"/api/v1/batch/{batch_id}/seal"))

        def told(queue, status):
            return {"status": "sealed", "callback_job": {"id": made, "queue": queue, "status": status}}

        self.assertEqual((sealed, again()), (told(callback, "pending"),) * 2)
        self.api.act(made, "move", queue=callback + ".moved")
        self.assertEqual(again(), told(callback + ".moved", "pending"))
        self.assertEqual(self.api.fetch(callback + ".moved")["job_id"], made)
        self.assertEqual(again(), told(callback + ".moved", "active"))
        self.api.ack(made)
        self.assertEqual(again(), told(callback + ".moved", "completed"))
        self.api.must(self.api.delete(f"/api/v1/jobs/{made}"))
        self.assertEqual(again(), {"status": "sealed"})

    def test_has_none_before_the_end(self):
        batch_id = self.api.post("/api/v1/batch", {"callback_queue": "x"}).json["batch_id"]
        self.active(batch_id=batch_id)
        sealed = self.api.must(self.api.post(f"/api/v1/batch/{batch_id}/seal"))
        self.assertEqual(sealed, {"status": "sealed"})


class SecondGeneration(ApiTest):
    """X-Corvo-Api: 2."""

    def setUp(self):
        super().setUp()
        self.second = self.server.client(**{"X-Corvo-Api": "2"})

    def test_a_duplicate_is_a_conflict(self):
        body = {"queue": self.queue, "unique_key": "k"}
        job_id = self.second.must(self.second.post("/api/v1/enqueue", body), 201)["job_id"]
        answer = self.second.post("/api/v1/enqueue", body)
        self.assertEqual((answer.status, answer.json), (409, {
            "error": "a job with this unique_key already exists", "code": "CONFLICT",
            "unique_job_id": job_id}))
        ingested = self.second.post(f"/api/v1/webhooks/{self.queue}?unique_key=k", {})
        self.assertEqual((ingested.status, ingested.json["unique_job_id"]), (409, job_id))
        self.assertEqual(self.api.post("/api/v1/enqueue", body).status, 200)

    def test_priorities_are_0_to_100(self):
        for sent, stored in {0: 2, 2: 2, 50: 2, 74: 2, 75: 1, 89: 1, 90: 0, 100: 0,
                             "high": 1, "critical": 0, "": 2}.items():
            with self.subTest(sent):
                job_id = self.second.must(self.second.post("/api/v1/enqueue", {
                    "queue": self.queue, "priority": sent}), 201)["job_id"]
                self.assertEqual(self.api.job(job_id)["priority"], stored)
        [job_id] = self.second.must(self.second.post("/api/v1/enqueue/batch", {
            "jobs": [{"queue": self.queue, "priority": 75}]}), 201)["job_ids"]
        self.assertEqual(self.api.job(job_id)["priority"], 1)
        for wrong in (101, -1, 70000):
            with self.subTest(wrong):
                self.refused(self.second.post("/api/v1/enqueue", {
                    "queue": self.queue, "priority": wrong}), 400, "VALIDATION_ERROR", "priority")

    def test_priorities_are_read_as_they_are_sent(self):
        """Documents, search results and schedules. Ingest, bulk and the search filter accept the numbers, too."""
        ids = {}
        for number, stored, word in ((100, 0, "critical"), (75, 1, "high"), (50, 2, "normal")):
            job_id = self.second.must(self.second.post(f"/api/v1/webhooks/{self.queue}?priority={number}", {}), 201)["job_id"]
            ids[number] = job_id
            self.assertEqual((self.second.job(job_id)["priority"], self.api.job(job_id)["priority"]), (number, stored))
            found = self.second.must(self.second.post("/api/v1/jobs/search", {"queue": self.queue, "priority": number}))
            self.assertEqual([(j["id"], j["priority"]) for j in found["jobs"]], [(job_id, number)])
            found = self.api.must(self.api.post("/api/v1/jobs/search", {"queue": self.queue, "priority": word}))
            self.assertEqual([(j["id"], j["priority"]) for j in found["jobs"]], [(job_id, stored)])
            self.second.must(self.second.post("/api/v1/jobs/bulk", {
                "job_ids": [job_id], "action": "change_priority", "priority": 80}))
            self.assertEqual(self.second.job(job_id)["priority"], 75)
            self.api.must(self.api.post("/api/v1/jobs/bulk", {
                "job_ids": [job_id], "action": "change_priority", "priority": stored}))
            made = self.second.must(self.second.post("/api/v1/schedules", {
                "name": f"{self.queue}.{word}", "queue": self.queue, "cron": "0 3 * * *", "priority": number}), 201)
            self.assertEqual(made.get("priority", 50), number)
            made = self.api.must(self.api.get(f"/api/v1/schedules/{made['id']}"))
            self.assertEqual(made.get("priority", 2), stored)
        jobs = self.second.must(self.second.post("/api/v1/jobs/bulk-get", {"job_ids": list(ids.values())}))["jobs"]
        self.assertEqual([j["priority"] for j in jobs], list(ids))
        backup = self.second.must(self.second.get("/api/v1/admin/backup"))
        self.assertLessEqual({j["priority"] for j in backup["jobs"]}, {0, 1, 2})
        for client, number in ((self.second, 101), (self.second, -1), (self.api, 75)):
            for path, body in ((f"/api/v1/webhooks/{self.queue}?priority={number}", {}),
                               ("/api/v1/jobs/search", {"priority": number}),
                               ("/api/v1/jobs/bulk", {"job_ids": [ids[50]], "action": "change_priority",
                                                      "priority": number}),
                               ("/api/v1/schedules", {"name": "x", "queue": "x", "cron": "0 3 * * *",
                                                      "priority": number})):
                with self.subTest(path=path, number=number):
                    self.assertEqual(client.post(path, body).status, 400)


class Group(ApiTest):
    def test_is_refused_by_name(self):
        self.refused(self.api.post("/api/v1/enqueue", {"queue": self.queue, "group": "g"}), 400,
                     "VALIDATION_ERROR", "group:")
        self.refused(self.api.post("/api/v1/enqueue/batch", {
            "jobs": [{"queue": self.queue, "group": "g"}]}), 400, "VALIDATION_ERROR",
                     "jobs[0]: group:")
        self.not_claimable()
        self.api.enqueue(self.queue, group="")


class Words(ApiTest):
    """26: an unknown word is refused with a list of the known ones. An empty one means the default."""

    def test_of_a_priority(self):
        known = "priority: expected critical, high or normal, got "
        for wrong in ("low", "CRITICAL", "1"):
            with self.subTest(wrong):
                answer = self.api.post("/api/v1/enqueue", {"queue": self.queue, "priority": wrong})
                self.refused(answer, 400, "VALIDATION_ERROR", known + f"'{wrong}'")
                answer = self.api.post(f"/api/v1/webhooks/{self.queue}?priority={wrong}", {})
                self.refused(answer, 400, "VALIDATION_ERROR", known + f"'{wrong}'")
        for wrong in (3, -1):
            answer = self.api.post("/api/v1/enqueue", {"queue": self.queue, "priority": wrong})
            self.refused(answer, 400, "VALIDATION_ERROR", "priority: expected critical, high")
        self.not_claimable()
        for empty in ("", None):
            job_id = self.api.enqueue(self.queue, priority=empty)
            self.assertEqual(self.api.job(job_id)["priority"], 2)


    def test_of_a_search(self):
        states = ("state: expected scheduled, pending, active, retrying, held, completed, dead or "
                  "cancelled, got 'gone'")
        for body, message in (
                ({"state": "gone"}, states), ({"state": ["pending", "gone"]}, states),
                ({"state": "dead,gone"}, states),
                ({"priority": "low"}, "priority: expected critical, high or normal, got 'low'"),
                ({"priority": 3}, "priority: expected critical, high, normal or 0 to 2, got 3"),
                ({"sort": "colour"}, "sort: expected created_at, priority, started_at, completed_at,"
                                     " attempt, scheduled_at or failed_at, got 'colour'")):
            with self.subTest(body):
                self.refused(self.api.post("/api/v1/jobs/search", body), 400, "VALIDATION_ERROR",
                             message)
        self.api.must(self.api.post("/api/v1/jobs/search", {"state": "", "priority": "", "sort": ""}))

    def test_of_a_bulk_operation(self):
        job_id = self.api.enqueue(self.queue)
        for body, message in (
                ({"action": "explode"}, "action: expected retry, requeue, cancel, hold, approve, "
                                        "reject, move, change_priority or delete, got 'explode'"),
                ({"action": "change_priority", "priority": "low"},
                 "priority: expected critical, high or normal, got 'low'")):
            with self.subTest(body):
                self.refused(self.api.post("/api/v1/jobs/bulk", {"job_ids": [job_id], **body}), 400,
                             "BULK_ERROR", message)

    def test_of_a_schedule(self):
        answer = self.api.post("/api/v1/schedules", {"name": self.queue, "queue": self.queue,
                                                     "cron": "@hourly", "priority": "low"})
        self.refused(answer, 400, "VALIDATION_ERROR",
                     "priority: expected critical, high or normal, got 'low'")

    def test_of_an_event(self):
        answer = self.api.get("/api/v1/events?types=completed,exploded")
        self.refused(answer, 400, "VALIDATION_ERROR", "types: got 'exploded', expected enqueued,")


class KeyReuse(ApiTest):
    def test_with_another_body_is_refused(self):
        headers = {"Idempotency-Key": unique("key")}
        for path, body, other in (
                ("/api/v1/enqueue", {"queue": self.queue}, {"queue": self.queue, "payload": 1}),
                ("/api/v1/enqueue/batch", {"jobs": [{"queue": self.queue}]},
                 {"jobs": [{"queue": self.queue}] * 2})):
            with self.subTest(path):
                first = self.api.post(path, body, headers=headers)
                self.assertEqual(first.status, 201)
                self.refused(self.api.post(path, other, headers=headers), 422,
                             "IDEMPOTENCY_KEY_REUSED", "another body")
                again = self.api.post(path, body, headers=headers)
                self.assertEqual((again.status, again.json), (201, first.json))
        self.assertEqual(self.api.queue(self.queue)["pending"], 2)

    def test_on_every_route_that_creates_something(self):
        """26: the same request gets the first response. With another body, path or query it is refused."""
        headers = {"Idempotency-Key": unique("key")}
        source = self.api.enqueue(self.queue, agent={"max_iterations": 5})
        for _ in range(2):
            self.api.fetch(self.queue)
            self.api.ack(source, agent_status="continue", checkpoint={"s": 1})
        replay, ingest = f"/api/v1/jobs/{source}/replay", f"/api/v1/webhooks/{self.queue}.in"
        for (path, body), others in (
                ((ingest, {"a": 1}), ((ingest, {"a": 2}), (ingest + "x", {"a": 1}), (ingest + "?unique_key=x", {"a": 1}))),
                ((replay, {"from": 1}), ((replay, {"from": 2}), (replay + "?from=2", None))),
                (("/api/v1/batch", {"callback_queue": "c"}), (("/api/v1/batch", {"callback_queue": "d"}),
                                                              ("/api/v1/batch", None)))):
            with self.subTest(path):
                first = self.api.post(path, body, headers=headers)
                self.assertEqual(first.status, 201, first)
                for other in others:
                    self.refused(self.api.post(*other, headers=headers), 422, "IDEMPOTENCY_KEY_REUSED")
                again = self.api.post(path, body, headers=headers)
                self.assertEqual((again.status, again.json), (201, first.json))
                another = self.api.post(path, body, headers={"Idempotency-Key": unique("key")})
                self.assertEqual(another.status, 201)
                self.assertNotEqual(another.json, first.json)
        self.assertEqual(self.api.queue(self.queue + ".in")["pending"], 2)
        self.assertEqual(self.api.queue(self.queue)["enqueued"], 3)
