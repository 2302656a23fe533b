"""Batches (contract 6.7, 7.4): counters and the one callback."""
import unittest

from harness import ApiTest, in_threads, unique


class BatchTest(ApiTest):
    def setUp(self):
        super().setUp()
        self.callback = unique("callback")

    def start(self, count, payload=None, **fields):
        """Enqueue a batch with a callback. Return its id and the ids of its jobs."""
        batch = {"callback_queue": self.callback}
        if payload is not None:
            batch["callback_payload"] = payload
        answer = self.api.enqueue_batch([{"queue": self.queue, **fields}] * count, batch=batch)
        self.assert_id(answer["batch_id"], "batch_")
        return answer["batch_id"], answer["job_ids"]

    def claim_all(self):
        return [j["job_id"] for j in self.api.fetch_batch(self.queue, count=512)]

    def batch(self, batch_id):
        return self.api.must(self.api.get(f"/api/v1/batch/{batch_id}"))

    def counters(self, batch_id):
        record = self.batch(batch_id)
        return tuple(record[k] for k in ("total", "pending", "succeeded", "failed"))

    def called_back(self):
        """Return the callback job. There must be exactly one."""
        job = self.api.fetch(self.callback)
        self.assertEqual(self.api.queue(self.callback)["enqueued"], 1)
        return job

    def not_called_back(self):
        self.assertNotIn(self.callback, self.api.queues())


class Callback(BatchTest):
    def test_comes_once_when_all_are_acked(self):
        """24.6 batch of 2 with callback → 201, 2 ids, batch_id; after both acked one callback."""
        batch_id, ids = self.start(2, {"album_id": "a42"})
        self.assertEqual(len(ids), 2)
        self.assertEqual([self.api.job(i)["batch_id"] for i in ids], [batch_id] * 2)
        self.claim_all()
        self.api.ack(ids[0])
        self.not_called_back()
        self.api.ack(ids[1])
        job = self.called_back()
        self.assertEqual(job["payload"], {"album_id": "a42", "batch": {
            "batch_id": batch_id, "total": 2, "succeeded": 2, "failed": 0}})
        document = self.api.job(job["job_id"])
        self.assertEqual((document["priority"], document["max_retries"], document["retry_backoff"],
                          document["retry_base_delay_ms"], document["retry_max_delay_ms"]),
                         (2, 3, "exponential", 5000, 600000))

    def test_payloads(self):
        """6.7: object payload gains batch unless it has one; absent, null and non-object ones."""
        for payload, wanted in (
                (None, {"batch": ...}), ({}, {"batch": ...}), ({"a": 1}, {"a": 1, "batch": ...}),
                ({"batch": "mine"}, {"batch": "mine"}),
                ([1], {"callback_payload": [1], "batch": ...}),
                ("t", {"callback_payload": "t", "batch": ...})):
            with self.subTest(payload):
                self.callback = unique("callback")
                batch_id, ids = self.start(1, payload)
                self.claim_all()
                self.api.ack(ids[0])
                results = {"batch_id": batch_id, "total": 1, "succeeded": 1, "failed": 0}
                self.assertEqual(self.called_back()["payload"],
                                 {k: results if v is ... else v for k, v in wanted.items()})

    def test_every_end_counts(self):
        """6.7: dead, rejected, expired, cancelled and deleted members are failed, each once."""
        batch_id, ids = self.start(5, max_retries=1)
        self.claim_all()
        self.api.fail(ids[0])
        self.api.act(ids[1], "cancel")
        self.api.act(ids[2], "hold")
        self.api.act(ids[2], "reject")
        self.api.must(self.api.delete(f"/api/v1/jobs/{ids[3]}"))
        self.assertEqual(self.counters(batch_id), (5, 1, 0, 4))
        self.not_called_back()
        self.api.ack(ids[4])
        self.assertEqual(self.called_back()["payload"]["batch"],
                         {"batch_id": batch_id, "total": 5, "succeeded": 1, "failed": 4})

    def test_expired_members_count(self):
        batch_id, _ = self.start(2, expire_after="10ms")
        self.assertEqual(self.api.fetch(self.callback)["payload"]["batch"],
                         {"batch_id": batch_id, "total": 2, "succeeded": 0, "failed": 2})

    def test_members_of_a_cleared_queue_count(self):
        """6.7: deleted members are failed; also by clearing and deleting their queue."""
        for path in ("clear", "delete"):
            with self.subTest(path):
                self.queue, self.callback = unique("q"), unique("callback")
                batch_id, _ = self.start(3)
                if path == "clear":
                    self.api.must(self.api.post(f"/api/v1/queues/{self.queue}/clear"))
                else:
                    self.api.must(self.api.delete(f"/api/v1/queues/{self.queue}"))
                self.assertEqual(self.called_back()["payload"]["batch"],
                                 {"batch_id": batch_id, "total": 3, "succeeded": 0, "failed": 3})

    def test_a_member_retried_is_not_counted_again(self):
        """6.7: callback fires once per batch."""
        batch_id, ids = self.start(1, max_retries=1)
        self.claim_all()
        self.api.fail(ids[0])
        self.called_back()
        self.api.act(ids[0], "retry")
        self.claim_all()
        self.api.ack(ids[0])
        self.assertEqual(self.api.queue(self.callback)["enqueued"], 1)
        self.assertEqual(self.counters(batch_id)[:2], (1, 0))

    def test_many_members_acked_in_one_request(self):
        """6.7: counters are exact."""
        batch_id, ids = self.start(300)
        self.claim_all()
        self.api.must(self.api.post("/api/v1/ack/batch", {"acks": [{"job_id": i} for i in ids]}))
        self.assertEqual(self.called_back()["payload"]["batch"],
                         {"batch_id": batch_id, "total": 300, "succeeded": 300, "failed": 0})

    def test_members_acked_by_many_clients_at_once(self):
        batch_id, ids = self.start(64)
        self.claim_all()
        in_threads(8, lambda n: [self.api.ack(i) for i in ids[n::8]])
        self.called_back()
        self.assertEqual(self.counters(batch_id), (64, 0, 64, 0))

    def test_without_a_callback(self):
        """6.7: a batch without callback_queue still groups jobs; batch: null = no batch."""
        answer = self.api.enqueue_batch([{"queue": self.queue}], batch={})
        self.assertEqual(self.api.job(answer["job_ids"][0])["batch_id"], answer["batch_id"])
        self.claim_all()
        self.api.ack(answer["job_ids"][0])
        self.assertEqual(self.counters(answer["batch_id"]), (1, 0, 1, 0))
        answer = self.api.enqueue_batch([{"queue": self.queue}], batch=None)
        self.assertEqual(answer.get("batch_id", ""), "")
        self.assertNotIn("batch_id", self.api.job(answer["job_ids"][0]))

    def test_duplicate_members(self):
        """6.6: a duplicate member returns the existing id and does not count in the total."""
        holder = self.api.enqueue(self.queue, unique_key="u")
        answer = self.api.enqueue_batch(
            [{"queue": self.queue, "unique_key": "u"}, {"queue": self.queue},
             {"queue": self.queue, "unique_key": "v"}, {"queue": self.queue, "unique_key": "v"}],
            batch={"callback_queue": self.callback})
        self.assertEqual(answer["job_ids"][0], holder)
        self.assertEqual(answer["job_ids"][2], answer["job_ids"][3])
        self.assertEqual(self.counters(answer["batch_id"]), (2, 2, 0, 0))
        self.assertNotIn("batch_id", self.api.job(holder))

    def test_a_record(self):
        """7.4: GET /batch/{id}."""
        batch_id, _ = self.start(2, {"x": 1})
        record = self.batch(batch_id)
        self.assert_time(record.pop("created_at"))
        self.assertEqual(record, {"id": batch_id, "total": 2, "pending": 2, "succeeded": 0,
                                  "failed": 0, "callback_queue": self.callback,
                                  "callback_payload": {"x": 1}, "sealed": True})


class OpenBatch(BatchTest):
    def open(self, **fields):
        return self.api.must(self.api.post("/api/v1/batch", fields or None), 201)["batch_id"]

    def seal(self, batch_id):
        return self.api.post(f"/api/v1/batch/{batch_id}/seal")

    def test_ends_only_when_it_is_sealed(self):
        """7.4: a batch completes only when sealed and pending = 0."""
        batch_id = self.open(callback_queue=self.callback, callback_payload={"p": 1})
        first = self.api.enqueue(self.queue, batch_id=batch_id)
        self.claim_all()
        self.api.ack(first)
        self.assertEqual(self.counters(batch_id), (1, 0, 1, 0))
        self.not_called_back()
        second = self.api.enqueue(self.queue, batch_id=batch_id)
        self.assertEqual(self.api.must(self.seal(batch_id)), {"status": "sealed"})
        self.not_called_back()
        self.claim_all()
        self.api.ack(second)
        self.assertEqual(self.called_back()["payload"], {"p": 1, "batch": {
            "batch_id": batch_id, "total": 2, "succeeded": 2, "failed": 0}})

    def test_many_jobs_join_in_one_request(self):
        batch_id = self.open(callback_queue=self.callback, callback_payload="x" * 250_000)
        ids = self.api.enqueue_batch([{"queue": self.queue, "batch_id": batch_id}]
                                     * 1000)["job_ids"]
        self.assertEqual(self.counters(batch_id), (1000, 1000, 0, 0))
        self.assertEqual(self.api.job(ids[-1])["batch_id"], batch_id)

    def test_sealing_a_finished_batch_ends_it(self):
        batch_id = self.open(callback_queue=self.callback)
        self.api.enqueue(self.queue, batch_id=batch_id)
        self.api.ack(self.claim_all()[0])
        self.api.must(self.seal(batch_id))
        self.called_back()
        self.api.must(self.seal(batch_id))
        self.assertEqual(self.api.queue(self.callback)["enqueued"], 1)

    def test_a_sealed_batch_takes_no_more(self):
        batch_id = self.open()
        self.api.must(self.seal(batch_id))
        self.refused(self.api.post("/api/v1/enqueue", {"queue": self.queue, "batch_id": batch_id}),
                     400, "VALIDATION_ERROR", "batch")

    def test_missing_ones(self):
        for batch_id in ("batch_00000000000000000000000000", "nonsense"):
            self.refused(self.seal(batch_id), 404, "NOT_FOUND")
            self.refused(self.api.get(f"/api/v1/batch/{batch_id}"), 404, "NOT_FOUND")


if __name__ == "__main__":
    unittest.main()
