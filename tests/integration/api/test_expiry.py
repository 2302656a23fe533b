"""Expiry and retention (contract 6.10, 6.2): jobs that are not begun in time, and finished ones."""
import unittest

from harness import ApiTest, unique, wait_until


class Expiry(ApiTest):
    def expiring(self, after="10ms", **fields):
        return self.api.enqueue(self.queue, expire_after=after, **fields)

    def test_a_job_not_begun_in_time_dies(self):
        """6.10; 5.3 expire: error entry with text job expired, failed_at."""
        job_id = self.expiring()
        self.api.wait_for_state(job_id, "dead")
        job = self.api.job(job_id)
        self.assert_time(job["failed_at"])
        self.assert_time(job["expire_at"])
        self.assertEqual([e["error"] for e in job["errors"]], ["job expired"])
        self.not_claimable()

    def test_waiting_states_expire(self):
        """5.2 expire: scheduled, pending, retrying and held → dead."""
        self.api.must(self.api.post(f"/api/v1/queues/{self.queue}/pause"))
        scheduled = self.expiring("3s", scheduled_at="2099-01-01T00:00:00Z")
        pending = self.expiring("3s")
        held = self.expiring("3s")
        self.api.act(held, "hold")
        retrying = self.active(unique("retrying"), expire_after="3s", retry_base_delay="1h")
        self.api.fail(retrying)
        for job_id in (scheduled, pending, held, retrying):
            self.api.wait_for_state(job_id, "dead")
            self.assertEqual(self.api.job(job_id)["errors"][-1]["error"], "job expired")

    def test_an_active_job_goes_on(self):
        """6.10: only non-active jobs expire; one that fails past expire_at goes to dead."""
        witness = unique("witness")
        done, failed = (self.active(expire_after="3s", retry_backoff="none") for _ in range(2))
        last = self.api.enqueue(witness, expire_after="3s")
        self.api.wait_for_state(last, "dead")
        self.assertEqual([self.api.state(done), self.api.state(failed)], ["active", "active"])
        self.assertEqual(self.api.fail(failed)["status"], "dead")
        self.api.ack(done)
        self.assertEqual(self.api.state(done), "completed")

    def test_finished_jobs_do_not_expire(self):
        """5.2 expire: — for completed, dead and cancelled."""
        done = self.active(expire_after="3s")
        self.api.ack(done)
        cancelled = self.expiring("3s")
        self.api.act(cancelled, "cancel")
        witness = self.api.enqueue(unique("witness"), expire_after="3s")
        self.api.wait_for_state(witness, "dead")
        self.assertEqual([self.api.state(done), self.api.state(cancelled)],
                         ["completed", "cancelled"])

    def test_an_expired_job_is_never_claimed(self):
        """6.10: an expired pending job is never claimed (expired at claim time)."""
        ids = [self.expiring("1ms") for _ in range(20)]
        good = self.api.enqueue(self.queue)
        jobs = self.api.fetch_batch(self.queue, count=100)
        self.assertIn(good, [j["job_id"] for j in jobs])
        for job in jobs:
            document = self.api.job(job["job_id"])
            if job["job_id"] in ids:
                self.assertLessEqual(document["started_at"], document["expire_at"])
        for job_id in set(ids) - {j["job_id"] for j in jobs}:
            self.api.wait_for_state(job_id, "dead")

    def test_no_expiry_by_default(self):
        job_id = self.api.enqueue(self.queue, expire_after="")
        self.assertNotIn("expire_at", self.api.job(job_id))


class Retention(ApiTest):
    settings = ("--rate-limit-enabled=false", "--retention", "1s", "--retention-interval", "1s")

    def test_finished_jobs_are_removed(self):
        """5.2 purge: completed, dead and cancelled are removed after retention, others stay."""
        finished = {"completed": self.active(), "dead": self.active(max_retries=1),
                    "cancelled": self.active()}
        self.api.ack(finished["completed"])
        self.api.fail(finished["dead"])
        self.api.act(finished["cancelled"], "cancel")
        kept = {"retrying": self.active(retry_base_delay="1h"), "held": self.active()}
        self.api.fail(kept["retrying"])
        self.api.act(kept["held"], "hold")
        kept["active"] = self.active()
        kept["scheduled"] = self.api.enqueue(self.queue, scheduled_at="2099-01-01T00:00:00Z")
        kept["pending"] = self.api.enqueue(self.queue)
        for job_id in finished.values():
            wait_until(lambda i=job_id: self.api.get(f"/api/v1/jobs/{i}").status == 404,
                       "the purge")
        self.assertEqual({s: self.api.state(i) for s, i in kept.items()}, {s: s for s in kept})
        entry = self.api.queue(self.queue)
        self.assertEqual((entry["enqueued"], entry["completed"], entry["dead"]), (5, 0, 0))


if __name__ == "__main__":
    unittest.main()
