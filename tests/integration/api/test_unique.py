"""Unique keys (contract 6.6): one job per key, and when the key is free again."""
import unittest
from datetime import datetime, timedelta

from harness import ApiTest, in_threads, unique


class UniqueTest(ApiTest):
    def put(self, key="k", queue=None, **fields):
        body = {"queue": queue or self.queue, "unique_key": key, **fields}
        return self.api.post("/api/v1/enqueue", body)

    def made(self, **fields):
        answer = self.put(**fields)
        self.assertEqual(answer.status, 201, answer)
        return answer.json["job_id"]

    def assert_held_by(self, job_id, **fields):
        answer = self.put(**fields)
        self.assertEqual((answer.status, answer.json["job_id"], answer.json["status"],
                          answer.json["unique_existing"], answer.json["unique_job_id"]),
                         (200, job_id, "duplicate", True, job_id))


class Keys(UniqueTest):
    def test_a_second_job_is_a_duplicate(self):
        """24.4 same unique_key twice → 201, 200, same id; after fetch + ack the key is free."""
        job_id = self.made()
        self.assert_held_by(job_id, payload={"other": 1}, priority="critical")
        self.assertEqual(self.api.queue(self.queue)["enqueued"], 1)
        self.api.fetch(self.queue)
        self.assert_held_by(job_id)
        self.api.ack(job_id)
        self.assertNotEqual(self.made(), job_id)

    def test_a_key_belongs_to_its_queue(self):
        """6.6: scope (queue, unique_key)."""
        self.assertNotEqual(self.made(), self.made(queue=unique("other")))
        self.assertNotEqual(self.made(key="a"), self.made(key="A"))

    def test_an_empty_key_is_none(self):
        self.assertNotEqual(self.made(key=""), self.made(key=""))

    def test_a_race_creates_one(self):
        """6.6: two concurrent enqueues with the same key → exactly one creates."""
        for n in range(5):
            answers = in_threads(8, lambda i, n=n: self.put(key=f"race {n}"))
            self.assertEqual(sorted(a.status for a in answers), [200] * 7 + [201])
            self.assertEqual(len({a.json["job_id"] for a in answers}), 1)

    def test_ends_that_free_the_key(self):
        """6.6: released on completion, cancel, delete, clear and delete queue."""
        path = f"/api/v1/queues/{self.queue}"
        ends = {
            "ack": lambda i: (self.api.fetch(self.queue), self.api.ack(i)),
            "ack batch": lambda i: (self.api.fetch(self.queue), self.api.must(
                self.api.post("/api/v1/ack/batch", {"acks": [{"job_id": i}]}))),
            "cancel": lambda i: self.api.act(i, "cancel"),
            "cancel active": lambda i: (self.api.fetch(self.queue), self.api.act(i, "cancel")),
            "delete": lambda i: self.api.must(self.api.delete(f"/api/v1/jobs/{i}")),
            "clear": lambda i: self.api.must(self.api.post(path + "/clear")),
            "delete queue": lambda i: self.api.must(self.api.delete(path)),
        }
        for name, end in ends.items():
            with self.subTest(name):
                end(self.made())
                self.api.must(self.api.delete(f"/api/v1/jobs/{self.made()}"))

    def test_states_that_keep_the_key(self):
        """6.6: it stays on dead jobs, and while held, retrying or scheduled."""
        job_id = self.made(max_retries=2, retry_base_delay="1h")
        self.api.fetch(self.queue)
        self.api.fail(job_id)
        self.assert_held_by(job_id)
        self.api.act(job_id, "hold")
        self.assert_held_by(job_id)
        self.api.act(job_id, "approve")
        self.api.fetch(self.queue)
        self.api.fail(job_id)
        self.assertEqual(self.api.state(job_id), "dead")
        self.assert_held_by(job_id)
        scheduled = self.made(key="s", scheduled_at="2099-01-01T00:00:00Z")
        self.assert_held_by(scheduled, key="s")

    def test_the_period_passes(self):
        """6.6: released by expiry after unique_period seconds."""
        job_id = self.made(unique_period=3)
        self.assert_held_by(job_id)
        wakes = unique("later")
        self.api.enqueue(wakes, scheduled_at=self.after(job_id, 3.05))
        self.api.fetch(wakes)
        self.assertNotEqual(self.made(), job_id)
        self.assertEqual(self.api.state(job_id), "pending")

    def after(self, job_id, seconds):
        """Return the job's creation time plus these seconds, in the contract's format."""
        created = self.api.job(job_id)["created_at"]
        moment = datetime.fromisoformat(created[:19] + "+00:00") + timedelta(
            seconds=float("0." + (created[20:-1] or "0")) + seconds)
        return moment.isoformat()

    def test_a_moved_job_takes_its_key_along(self):
        """6.6: re-keyed on move."""
        target = unique("target")
        job_id = self.made()
        self.api.act(job_id, "move", queue=target)
        self.assert_held_by(job_id, queue=target)
        self.assertNotEqual(self.made(), job_id)

    def test_members_of_a_batch(self):
        """6.6: honoured for members of enqueue/batch, also inside one request."""
        answer = self.api.enqueue_batch([{"queue": self.queue, "unique_key": k}
                                         for k in ("a", "b", "a")])
        ids = answer["job_ids"]
        self.assertEqual((ids[0], len(set(ids))), (ids[2], 2))
        self.assert_held_by(ids[1], key="b")

    def test_a_completed_job_that_is_retried(self):
        """A retried job does not get its key back: the key belongs to the current holder."""
        first = self.made()
        self.api.fetch(self.queue)
        self.api.ack(first)
        second = self.made()
        self.api.act(first, "retry")
        self.assert_held_by(second)
        self.api.fetch_batch(self.queue, count=2)
        self.api.ack(first)
        self.assert_held_by(second)

    def test_long_keys(self):
        """1.5: unique_key ≤ 512 bytes."""
        self.made(key="x" * 512)
        self.refused(self.put(key="x" * 513), 400, "VALIDATION_ERROR", "unique_key")


if __name__ == "__main__":
    unittest.main()
