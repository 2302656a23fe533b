"""Producer endpoints (contract 7, 2): valid input, what is stored, and the responses."""
import json
import unittest
import urllib.parse
from datetime import datetime, timedelta, timezone

from harness import ApiTest, in_threads, unique

FAR_AHEAD = "2099-01-01T00:00:00Z"


class Enqueue(ApiTest):
    def test_answers_with_an_id_and_pending(self):
        """24.1 enqueue {"queue","payload"} → 201, id of 30 bytes, pending, not existing."""
        answer = self.api.post("/api/v1/enqueue", {"queue": self.queue, "payload": {"a": 1}})
        self.assertEqual(answer.status, 201)
        self.assertEqual(set(answer.json), {"job_id", "status", "unique_existing", "job"})
        self.assert_id(answer.json["job_id"], "job_")
        self.assertEqual(len(answer.json["job_id"]), 30)
        self.assertEqual(answer.json["status"], "pending")
        self.assertIs(answer.json["unique_existing"], False)

    def test_needs_a_queue(self):
        """24.2 enqueue without queue → 400; body keys error, code."""
        for body in ({}, {"payload": {}}, {"queue": ""}, {"queue": None}):
            with self.subTest(body):
                self.refused(self.api.post("/api/v1/enqueue", body), 400, "VALIDATION_ERROR",
                             "queue is required")

    def test_ids_are_distinct_and_sort_by_creation(self):
        """24.3 1000 enqueues give distinct ids; ids of sequential enqueues are non-decreasing."""
        ids = []
        for _ in range(10):
            ids += [self.api.enqueue(self.queue) for _ in range(30)]
            ids += self.api.enqueue_batch([{"queue": self.queue}] * 70)["job_ids"]
        self.assertEqual(len(set(ids)), 1000)
        self.assertEqual(ids, sorted(ids))

    def test_a_minimal_job_has_the_defaults(self):
        """4.1: the fields that are always present, and no others."""
        before = datetime.now(timezone.utc) - timedelta(seconds=2)
        job_id = self.api.enqueue(self.queue)
        job = self.api.job(job_id)
        created_at = job.pop("created_at")
        self.assertEqual(job, {
            "id": job_id, "queue": self.queue, "state": "pending", "payload": {}, "priority": 2,
            "attempt": 0, "max_retries": 3, "retry_backoff": "exponential",
            "retry_base_delay_ms": 5000, "retry_max_delay_ms": 600000})
        self.assert_time(created_at)
        created = datetime.fromisoformat(created_at[:19] + "+00:00")
        self.assertTrue(before <= created <= datetime.now(timezone.utc), created_at)

    def test_every_field_is_kept(self):
        parent = self.api.enqueue(self.queue)
        job_id = self.api.enqueue(
            self.queue, {"to": "u"}, priority="critical", unique_key="k1", unique_period=60,
            max_retries=7, retry_backoff="linear", retry_base_delay="1s", retry_max_delay="1m",
            scheduled_at="2099-05-06T07:08:09.5+02:00", expire_after="900000h",
            tags={"tenant": "acme"}, checkpoint={"offset": 3}, parent_id=parent,
            chain_id="chain-x", chain_step=4, chain_config={"steps": []},
            agent={"max_iterations": 5, "max_cost_usd": 1.5, "iteration_timeout": "10m"})
        job = self.api.job(job_id)
        self.assert_time(job.pop("created_at"))
        self.assert_time(job.pop("expire_at"))
        self.assertEqual(job, {
            "id": job_id, "queue": self.queue, "state": "scheduled", "payload": {"to": "u"},
            "priority": 0, "attempt": 0, "max_retries": 7, "retry_backoff": "linear",
            "retry_base_delay_ms": 1000, "retry_max_delay_ms": 60000, "unique_key": "k1",
            "unique_period": 60, "scheduled_at": "2099-05-06T05:08:09.5Z",
            "tags": {"tenant": "acme"}, "checkpoint": {"offset": 3}, "parent_id": parent,
            "chain_id": "chain-x", "chain_step": 4, "chain_config": {"steps": []},
            "agent": {"max_iterations": 5, "max_cost_usd": 1.5, "iteration_timeout": "10m",
                      "iteration": 1}})

    def test_null_is_the_same_as_absent(self):
        """1.5: null = absent for scalars and optional objects; the default applies."""
        fields = ["priority", "unique_key", "unique_period", "max_retries", "retry_backoff",
                  "retry_base_delay", "retry_max_delay", "scheduled_at", "expire_after", "tags",
                  "checkpoint", "agent", "parent_id", "chain_id", "chain_step", "chain_config",
                  "depends_on", "chain", "batch_id"]
        plain = self.api.job(self.api.enqueue(self.queue))
        with_nulls = self.api.job(self.api.enqueue(self.queue, **dict.fromkeys(fields)))
        for job in (plain, with_nulls):
            del job["id"], job["created_at"]
        self.assertEqual(with_nulls, plain)

    def test_unknown_fields_are_ignored_and_the_last_of_two_wins(self):
        """1.5: first JSON value used, unknown fields ignored, duplicate keys: last wins."""
        body = (b'{"queue":"wrong","new_thing":{"x":[1]},"max_retries":1,"queue":"%s",'
                b'"max_retries":9} {"queue":"another"} trailing' % self.queue.encode())
        job_id = self.api.must(self.api.post("/api/v1/enqueue", body), 201)["job_id"]
        job = self.api.job(job_id)
        self.assertEqual((job["queue"], job["max_retries"]), (self.queue, 9))

    def test_scheduled_at(self):
        """24.5 one hour ahead → scheduled; one second in the past → scheduled, then promoted."""
        answer = self.api.post("/api/v1/enqueue", {"queue": self.queue, "scheduled_at": FAR_AHEAD})
        self.assertEqual((answer.status, answer.json["status"]), (201, "scheduled"))
        job = self.api.job(answer.json["job_id"])
        self.assertEqual((job["state"], job["scheduled_at"]), ("scheduled", FAR_AHEAD))
        self.not_claimable()

        past = (datetime.now(timezone.utc) - timedelta(seconds=1)).isoformat()
        queue = unique("past")
        answer = self.api.post("/api/v1/enqueue", {"queue": queue, "scheduled_at": past})
        self.assertEqual((answer.status, answer.json["status"]), (201, "scheduled"))
        self.assertEqual(self.api.fetch(queue)["job_id"], answer.json["job_id"])
        self.assertNotIn("scheduled_at", self.api.job(answer.json["job_id"]))

    def test_a_job_due_soon_wakes_a_waiting_worker(self):
        due = datetime.now(timezone.utc) + timedelta(milliseconds=300)
        job_id = self.api.enqueue(self.queue, scheduled_at=due.isoformat())
        self.assertEqual(self.api.fetch(self.queue)["job_id"], job_id)
        started = self.api.job(job_id)["started_at"]
        self.assertGreaterEqual(started[:23], due.isoformat()[:23])

    def test_forms_of_time(self):
        """2.2: zone optional (UTC), date alone, fraction; anything else is refused."""
        forms = {
            "2099-02-11T10:00:00Z": "2099-02-11T10:00:00Z",
            "2099-02-11T10:00:00.123456789Z": "2099-02-11T10:00:00.123456789Z",
            "2099-02-11T10:00:00.120000Z": "2099-02-11T10:00:00.12Z",
            "2099-02-11T10:00:00+05:30": "2099-02-11T04:30:00Z",
            "2099-02-11T10:00:00-03:00": "2099-02-11T13:00:00Z",
            "2099-02-11T10:00": "2099-02-11T10:00:00Z",
            "2099-02-11T10:00:07.5": "2099-02-11T10:00:07.5Z",
            "2099-02-11": "2099-02-11T00:00:00Z",
        }
        for sent, shown in forms.items():
            with self.subTest(sent):
                job_id = self.api.enqueue(self.queue, scheduled_at=sent)
                self.assertEqual(self.api.job(job_id)["scheduled_at"], shown)
        for wrong in ("tomorrow", "2099-13-01", "2099-02-30T00:00:00Z", "1771581605", "",
                      "2099-02-11T25:00:00Z", "2099-02-11 10:00:00Z junk"):
            with self.subTest(wrong):
                answer = self.api.post("/api/v1/enqueue",
                                       {"queue": self.queue, "scheduled_at": wrong})
                if wrong == "":
                    self.assertIn(answer.status, (201, 400))  # the contract leaves it open
                else:
                    self.refused(answer, 400, "VALIDATION_ERROR", "scheduled_at")

    def test_durations(self):
        """2.3: all units, sums, fractions, empty = not set; wrong and negative are refused."""
        forms = {"5s": 5000, "1h30m": 5400000, "1.5h": 5400000, "1h0m0s": 3600000, "250ms": 250,
                 "0": 0, "0s": 0, "1d": 86400000, "2w": 1209600000, "1999us": 1, "1999µs": 1,
                 "1500000ns": 1, "+3s": 3000, "": 5000}
        for sent, ms in forms.items():
            with self.subTest(sent):
                job_id = self.api.enqueue(self.queue, retry_base_delay=sent)
                self.assertEqual(self.api.job(job_id)["retry_base_delay_ms"], ms)
        for field in ("retry_base_delay", "retry_max_delay", "expire_after"):
            for wrong in ("5", "s", "5x", "-5s", "1h-3m", "5 s", "1.2.3s"):
                with self.subTest(field=field, wrong=wrong):
                    answer = self.api.post("/api/v1/enqueue", {"queue": self.queue, field: wrong})
                    self.refused(answer, 400, "VALIDATION_ERROR", field)

    def test_no_cap_on_the_retry_delay(self):
        """7.1: retry_max_delay 0s = no cap."""
        job_id = self.api.enqueue(self.queue, retry_max_delay="0s")
        self.assertEqual(self.api.job(job_id)["retry_max_delay_ms"], 0)

    def test_priorities(self):
        """2.4: words; absent and empty are normal; numbers 0 to 2 accepted."""
        for sent, stored in {"critical": 0, "high": 1, "normal": 2, "": 2}.items():
            with self.subTest(sent):
                job_id = self.api.enqueue(self.queue, priority=sent)
                self.assertEqual(self.api.job(job_id)["priority"], stored)
        for number in (0, 1, 2):
            job_id = self.api.enqueue(self.queue, priority=number)
            self.assertEqual(self.api.job(job_id)["priority"], number)

    def test_explicit_max_retries_of_zero(self):
        """7.1: explicit 0 honoured; negative refused."""
        self.assertEqual(self.api.job(self.api.enqueue(self.queue, max_retries=0))["max_retries"],
                         0)
        self.refused(self.api.post("/api/v1/enqueue", {"queue": self.queue, "max_retries": -1}),
                     400, "VALIDATION_ERROR", "max_retries")

    def test_back_off_words(self):
        """7.1: none, fixed, linear, exponential; unknown refused."""
        for word in ("none", "fixed", "linear", "exponential"):
            job_id = self.api.enqueue(self.queue, retry_backoff=word)
            self.assertEqual(self.api.job(job_id)["retry_backoff"], word)
        self.refused(self.api.post("/api/v1/enqueue",
                                   {"queue": self.queue, "retry_backoff": "quadratic"}),
                     400, "VALIDATION_ERROR", "retry_backoff")

    def test_queue_names_of_any_kind(self):
        """2.5: any UTF-8 name, 1 to 255 bytes, no control characters; '/' encoded in paths."""
        for name in ("emails.send", "a b", "müller.größe", "a/b", "100%", "q?x=1#y", "名前",
                     "x" * 255):
            with self.subTest(name):
                job_id = self.api.enqueue(name)
                self.assertEqual(self.api.job(job_id)["queue"], name)
                self.assertEqual(self.api.queue(name)["pending"], 1)
                path = "/api/v1/queues/" + urllib.parse.quote(name, safe="")
                self.assertEqual(self.api.must(self.api.post(path + "/pause")),
                                 {"status": "paused"})
                self.assertIs(self.api.queues()[name]["paused"], True)
                self.api.must(self.api.delete(path))
                self.assertNotIn(name, self.api.queues())

    def test_batch_id_of_an_open_batch(self):
        """7.4: join an open batch; one that does not exist is refused."""
        for wrong in ("batch_00000000000000000000000000", "batch_01m7eja8sk000000000w000000", "x"):
            answer = self.api.post("/api/v1/enqueue", {"queue": self.queue, "batch_id": wrong})
            self.refused(answer, 400, "VALIDATION_ERROR", "batch")


class Passthrough(ApiTest):
    """1.5: JSON values are returned exactly as they were sent."""

    TEXTS = [
        '{"z":1,"a":2,"m":{"b":[],"a":{}}}',
        '{"n":123456789012345678901234567890,"m":-9223372036854775809}',
        '{"f":1.10,"e":1E400,"g":0.1000000000000000055511151231257827,"h":-0}',
        '"text"', '42', 'true', 'false', '[]', '[1,[2,[3,{"k":null}]]]', '{}', '""',
        '{"s":"\\u00e4\\ud83d\\ude00\\n\\"\\\\\\/","u":"äöü😀"}',
        '{"a":1,"a":2}',
        '{"":{"":""}}',
    ]

    def test_payloads_survive_byte_for_byte(self):
        """24.7 (payload byte-equivalent): big integers, key order and escapes survive."""
        for text in self.TEXTS:
            with self.subTest(text):
                body = f'{{"queue":{json.dumps(self.queue)},"payload":{text}}}'.encode()
                job_id = self.api.must(self.api.post("/api/v1/enqueue", body), 201)["job_id"]
                self.assertEqual(self.api.get(f"/api/v1/jobs/{job_id}").raw("payload"), text)
                fetched = self.api.post("/api/v1/fetch", {"queues": [self.queue]})
                self.assertEqual(fetched.raw("payload"), text)

    def test_results_checkpoints_progress_and_tags_survive_byte_for_byte(self):
        for text in self.TEXTS:
            with self.subTest(text):
                job_id = self.active()
                beat = f'{{"progress":{text},"checkpoint":{text}}}'
                self.api.must(self.api.post("/api/v1/heartbeat",
                                            f'{{"jobs":{{"{job_id}":{beat}}}}}'.encode()))
                self.api.must(self.api.post(f"/api/v1/ack/{job_id}",
                                            f'{{"result":{text}}}'.encode()))
                job = self.api.get(f"/api/v1/jobs/{job_id}")
                for field in ("progress", "checkpoint", "result"):
                    self.assertEqual(job.raw(field), text, field)
        tags = '{"z":"1","a":"2"}'
        body = f'{{"queue":{json.dumps(self.queue)},"tags":{tags},"checkpoint":{{"n":1e2}}}}'
        job_id = self.api.must(self.api.post("/api/v1/enqueue", body.encode()), 201)["job_id"]
        job = self.api.get(f"/api/v1/jobs/{job_id}")
        self.assertEqual(job.raw("tags"), tags)
        self.assertEqual(job.raw("checkpoint"), '{"n":1e2}')

    def test_white_space_may_go_and_nothing_else(self):
        payload = '{ "a" : [ 1 ,\n\t2 ] , "b" : " kept  " }'
        body = f'{{"queue":{json.dumps(self.queue)},"payload":{payload}}}'.encode()
        job_id = self.api.must(self.api.post("/api/v1/enqueue", body), 201)["job_id"]
        raw = self.api.get(f"/api/v1/jobs/{job_id}").raw("payload")
        self.assertIn(raw, (payload, '{"a":[1,2],"b":" kept  "}'))

    def test_null_payload_and_result_stay_null(self):
        """1.5: payload and result null are stored as null; tags and checkpoint null = absent."""
        body = f'{{"queue":"{self.queue}","payload":null,"tags":null,"checkpoint":null}}'.encode()
        job_id = self.api.must(self.api.post("/api/v1/enqueue", body), 201)["job_id"]
        job = self.api.job(job_id)
        self.assertIsNone(job["payload"])
        self.assertNotIn("tags", job)
        self.assertNotIn("checkpoint", job)
        self.assertIn(b'"payload":null', self.api.post("/api/v1/fetch",
                                                       {"queues": [self.queue]}).body)
        self.api.ack(job_id, result=None)
        self.assertIn(b'"result":null', self.api.get(f"/api/v1/jobs/{job_id}").body)


class Idempotency(ApiTest):
    """A repeated request with the same Idempotency-Key gets the first response."""

    def test_one_job(self):
        key = {"Idempotency-Key": self.queue}
        answers = [self.api.post("/api/v1/enqueue", {"queue": self.queue, "payload": 0}, key)
                   for _ in range(3)]
        self.assertEqual({(a.status, a.body) for a in answers}, {(201, answers[0].body)})
        self.assertEqual(self.api.queue(self.queue)["enqueued"], 1)
        self.assertEqual(self.api.job(answers[0].json["job_id"])["payload"], 0)
        self.api.must(self.api.post("/api/v1/enqueue", {"queue": self.queue},
                                    {"Idempotency-Key": self.queue + "2"}), 201)
        self.assertEqual(self.api.queue(self.queue)["enqueued"], 2)

    def test_a_batch(self):
        key = {"Idempotency-Key": self.queue}
        body = {"jobs": [{"queue": self.queue}] * 3, "batch": {"callback_queue": "c"}}
        answers = [self.api.post("/api/v1/enqueue/batch", body, key) for _ in range(2)]
        self.assertEqual(answers[0].body, answers[1].body)
        self.assertEqual(self.api.queue(self.queue)["enqueued"], 3)

    def test_another_kind_of_answer_is_another_request(self):
        """A key that was used for another kind of request does not prevent this one."""
        key = {"Idempotency-Key": self.queue}
        one = self.api.must(self.api.post("/api/v1/enqueue", {"queue": self.queue}, key), 201)
        many = [self.api.must(self.api.post("/api/v1/enqueue/batch", {"jobs": [{"queue": self.queue}] * 2}, key), 201)
                for _ in range(2)]
        self.assertEqual(len({one["job_id"], *many[0]["job_ids"]}), 3)
        self.assertEqual(many[0], many[1])
        self.assertEqual(self.api.queue(self.queue)["enqueued"], 3)

    def test_the_longest(self):
        for length, status in ((255, 201), (256, 400)):
            answer = self.api.post("/api/v1/enqueue", {"queue": self.queue}, {"Idempotency-Key": "k" * length})
            self.assertEqual(answer.status, status)
        self.refused(answer, 400, "VALIDATION_ERROR", "Idempotency-Key")

    def test_a_refusal_is_not_remembered(self):
        key = {"Idempotency-Key": self.queue}
        self.refused(self.api.post("/api/v1/enqueue", {"queue": ""}, key), 400, "VALIDATION_ERROR")
        self.api.must(self.api.post("/api/v1/enqueue", {"queue": self.queue}, key), 201)

    def test_a_race(self):
        key = {"Idempotency-Key": self.queue}
        answers = in_threads(8, lambda i: self.api.post("/api/v1/enqueue", {"queue": self.queue},
                                                        key))
        self.assertEqual(len({a.json["job_id"] for a in answers}), 1)
        self.assertEqual(self.api.queue(self.queue)["enqueued"], 1)


class EnqueueBatch(ApiTest):
    def test_ids_come_in_the_order_of_the_request(self):
        """7.2: ids in request order; batch_id absent or "" without batch."""
        jobs = [{"queue": self.queue, "payload": {"n": n}} for n in range(50)]
        answer = self.api.enqueue_batch(jobs)
        self.assertEqual(len(answer["job_ids"]), 50)
        self.assertEqual(answer.get("batch_id", ""), "")
        for n, job_id in enumerate(answer["job_ids"]):
            self.assertEqual(self.api.job(job_id)["payload"], {"n": n})

    def test_every_field_is_honoured_per_member(self):
        """7.2: every enqueue field, also scheduled_at, expire_after, unique_key and chain."""
        ids = self.api.enqueue_batch([
            {"queue": self.queue, "scheduled_at": FAR_AHEAD, "priority": "high"},
            {"queue": self.queue, "expire_after": "1h", "tags": {"a": "b"}, "max_retries": 0},
            {"queue": self.queue, "unique_key": "u", "agent": {}},
            {"queue": self.queue, "checkpoint": [1], "parent_id": "p",
             "chain": {"steps": [{"queue": self.queue}, {"queue": "next"}]}},
        ])["job_ids"]
        jobs = [self.api.job(job_id) for job_id in ids]
        self.assertEqual([j["state"] for j in jobs], ["scheduled", "pending", "pending", "pending"])
        self.assertEqual(jobs[0]["priority"], 1)
        self.assertEqual((jobs[1]["tags"], jobs[1]["max_retries"]), ({"a": "b"}, 0))
        self.assert_time(jobs[1]["expire_at"])
        self.assertEqual((jobs[2]["unique_key"], jobs[2]["agent"]), ("u", {"iteration": 1}))
        self.assertEqual((jobs[3]["checkpoint"], jobs[3]["parent_id"], jobs[3]["chain_step"]),
                         ([1], "p", 0))

    def test_all_or_nothing(self):
        """7.2: one invalid member rejects the request; nothing is stored."""
        good = {"queue": self.queue}
        for bad, code, message in (
                ({}, "VALIDATION_ERROR", "queue is required for each job"),
                ({"queue": self.queue, "max_retries": -1}, "VALIDATION_ERROR", "max_retries"),
                ({"queue": self.queue, "tags": []}, "VALIDATION_ERROR", "tags"),
                ({"queue": self.queue, "payload": 1, "priority": []}, "PARSE_ERROR", None),
                ({"queue": self.queue, "depends_on": ["job_00000000000000000000000000"]},
                 "VALIDATION_ERROR", "depends_on")):
            with self.subTest(bad):
                answer = self.api.post("/api/v1/enqueue/batch", {"jobs": [good, bad, good]})
                self.refused(answer, 400, code, message)
        self.assertNotIn(self.queue, self.api.queues())

    def test_needs_jobs(self):
        """7.2: jobs array is required."""
        for body in ({}, {"jobs": []}, {"jobs": None}):
            with self.subTest(body):
                self.refused(self.api.post("/api/v1/enqueue/batch", body), 400,
                             "VALIDATION_ERROR", "jobs array is required")

    def test_at_most_ten_thousand_jobs(self):
        """1.5: cap 10000 → 400."""
        body = {"jobs": [{"queue": self.queue}] * 10001}
        self.refused(self.api.post("/api/v1/enqueue/batch", body), 400, "VALIDATION_ERROR", "jobs")
        answer = self.api.enqueue_batch([{"queue": self.queue}] * 10000)
        self.assertEqual(len(set(answer["job_ids"])), 10000)
        self.assertEqual(self.api.queue(self.queue)["pending"], 10000)

    def test_a_member_too_large_is_named(self):
        """7.2: job <i> payload too large."""
        jobs = [{"queue": self.queue}, {"queue": self.queue, "payload": "x" * 262143}]
        self.refused(self.api.post("/api/v1/enqueue/batch", {"jobs": jobs}), 413,
                     "PAYLOAD_TOO_LARGE", "job 1 payload too large: 262145 bytes (max 262144)")
        self.refused(self.api.post("/api/v1/enqueue/batch", {"jobs": jobs[1:]}), 413,
                     "PAYLOAD_TOO_LARGE", "job 0 payload too large: 262145 bytes (max 262144)")
        self.assertNotIn(self.queue, self.api.queues())


class PayloadLimit(ApiTest):
    settings = ("--rate-limit-enabled=false", "--max-payload-size", "1000", "--max-body-size",
                "100000")

    def test_one_byte_more_is_too_large(self):
        """24.22 payload of limit+1 bytes → 413 PAYLOAD_TOO_LARGE."""
        self.api.enqueue(self.queue, "x" * 998)
        answer = self.api.post("/api/v1/enqueue", {"queue": self.queue, "payload": "x" * 999})
        self.refused(answer, 413, "PAYLOAD_TOO_LARGE", "payload too large: 1001 bytes (max 1000)")
        self.assertEqual(self.api.queue(self.queue)["enqueued"], 1)

    def test_the_limit_holds_for_ingested_bodies(self):
        """7.3: size rule as 7.1."""
        self.api.must(self.api.post(f"/api/v1/webhooks/{self.queue}", b'"' + b"x" * 998 + b'"'),
                      201)
        self.refused(self.api.post(f"/api/v1/webhooks/{self.queue}", b'"' + b"x" * 999 + b'"'),
                     413, "PAYLOAD_TOO_LARGE")

    def test_a_body_over_the_limit_is_refused_whole(self):
        """1.5: over --max-body-size → 413, nothing truncated."""
        body = json.dumps({"jobs": [{"queue": self.queue, "payload": "x" * 900}] * 120}).encode()
        self.assertGreater(len(body), 100000)
        answer = self.api.post("/api/v1/enqueue/batch", body)
        self.refused(answer, 413, "PAYLOAD_TOO_LARGE", "100000")
        self.assertNotIn(self.queue, self.api.queues())


class NoPayloadLimit(ApiTest):
    settings = ("--max-payload-size", "0")

    def test_zero_switches_the_limit_off(self):
        """1.5: --max-payload-size 0 = off."""
        job_id = self.api.enqueue(self.queue, "x" * 3_000_000)
        self.assertEqual(len(self.api.job(job_id)["payload"]), 3_000_000)


class Ingest(ApiTest):
    def ingest(self, query="", body=b""):
        return self.api.post(f"/api/v1/webhooks/{self.queue}{query}", body,
                             {"Content-Type": "text/plain"})

    def test_any_body_becomes_the_payload(self):
        """24.23 JSON body, text body (becomes a string), empty body (becomes {})."""
        for body, payload in ((b'{"b":1,"a":[2]}', {"b": 1, "a": [2]}), (b"[1,2]", [1, 2]),
                              (b"17", 17), (b"null", None), (b" {\"a\": 1}\n", {"a": 1}),
                              (b"", {}), (b" \r\n", " \r\n"), (b"hello world", "hello world"),
                              (b'{"cut', '{"cut'), ("größe\n".encode(), "größe\n"),
                              (b"a=1&b=2", "a=1&b=2"), (b'{"a":1} {"b":2}', '{"a":1} {"b":2}')):
            with self.subTest(body):
                answer = self.ingest(body=body)
                self.assertEqual((answer.status, answer.json["status"]), (201, "pending"))
                self.assertEqual(self.api.job(answer.json["job_id"])["payload"], payload)

    def test_bytes_that_are_no_text_are_stored_as_valid_json(self):
        answer = self.ingest(body=b"\xff\xfe\x00 raw")
        self.assertEqual(answer.status, 201)
        payload = self.api.job(answer.json["job_id"])["payload"]
        self.assertTrue(payload.endswith(" raw"), payload)

    def test_options_in_the_query(self):
        """24.23 tags=a:b stored; 7.3: priority, unique_key, max_retries, scheduled_at."""
        answer = self.ingest("?priority=high&unique_key=k%201&max_retries=5"
                             "&scheduled_at=2099-01-01T00%3A00%3A00Z&tags=a:b,%20c%20:%20d%20,,")
        self.assertEqual((answer.status, answer.json["status"]), (201, "scheduled"))
        job = self.api.job(answer.json["job_id"])
        self.assertEqual((job["priority"], job["unique_key"], job["max_retries"], job["tags"]),
                         (1, "k 1", 5, {"a": "b", "c": "d"}))
        again = self.ingest("?unique_key=k%201")
        self.assertEqual((again.status, again.json["status"], again.json["job_id"]),
                         (200, "duplicate", answer.json["job_id"]))

    def test_empty_options_are_none(self):
        """7.3: forms send empty fields as empty texts."""
        answer = self.ingest("?priority=&unique_key=&max_retries=&scheduled_at=&tags=")
        self.assertEqual((answer.status, answer.json["status"]), (201, "pending"))
        job = self.api.job(answer.json["job_id"])
        self.assertEqual((job["priority"], job["max_retries"]), (2, 3))
        self.assertFalse({"unique_key", "scheduled_at", "tags"} & set(job))

    def test_wrong_options_are_refused(self):
        """24.23 bad tag → 400; bad max_retries and scheduled_at too."""
        for query in ("?tags=nocolon", "?tags=a:b,nocolon", "?tags=:v", "?max_retries=many",
                      "?max_retries=-1", "?scheduled_at=tomorrow"):
            with self.subTest(query):
                self.refused(self.ingest(query), 400, "VALIDATION_ERROR")

    def test_the_queue_of_the_path_is_decoded(self):
        """2.5: path parameters are percent-decoded once."""
        answer = self.api.post("/api/v1/webhooks/a%2Fb%2520c", b"{}")
        self.assertEqual(self.api.job(answer.json["job_id"])["queue"], "a/b%20c")

    def test_a_queue_name_that_is_no_text_is_refused(self):
        for path in ("%FF", "%01", "a%0Ab", "%C3", "x" * 256):
            with self.subTest(path):
                self.refused(self.api.post(f"/api/v1/webhooks/{path}", b"{}"), 400,
                             "VALIDATION_ERROR")


if __name__ == "__main__":
    unittest.main()
