"""Dependencies (contract 6.9): jobs that wait for other jobs."""
import unittest

from harness import ApiTest, unique, wait_until

MISSING = "job_00000000000000000000000000"


class Dependencies(ApiTest):
    def child(self, *parents, **fields):
        return self.api.enqueue(self.queue, depends_on=list(parents), **fields)

    def parent(self, queue=None, **fields):
        return self.active(queue or unique("parent"), **fields)

    def test_a_child_waits_for_its_parent(self):
        """24.21 depends_on child is not fetchable until the parent completed, then is."""
        parent = self.parent()
        child = self.child(parent)
        job = self.api.job(child)
        self.assertEqual((job["state"], job["chain_config"]), ("pending", {"depends_on": [parent]}))
        self.not_claimable()
        self.api.ack(parent)
        self.assertEqual(self.api.fetch(self.queue)["job_id"], child)

    def test_a_waiting_worker_hears_of_it(self):
        parent = self.parent()
        child = self.child(parent)
        poll = self.api.poll(self.queue)
        wait_until(lambda: self.api.fetches_waiting() == 1, "the poll being parked")
        self.api.must(self.api.post("/api/v1/ack/batch", {"acks": [{"job_id": parent}]}))
        self.assertEqual(self.api.must(poll.result())["job_id"], child)

    def test_all_of_several(self):
        parents = [self.parent() for _ in range(3)]
        child = self.child(*parents)
        for parent in parents:
            self.not_claimable()
            self.api.ack(parent)
        self.assertEqual(self.api.fetch(self.queue)["job_id"], child)

    def test_others_are_not_kept_waiting(self):
        """6.4: jobs with unmet dependencies are skipped, not blocking those behind them."""
        child = self.child(self.parent(), priority="critical")
        free = self.api.enqueue(self.queue)
        self.assertEqual(self.api.fetch(self.queue)["job_id"], free)
        self.assertEqual(self.api.state(child), "pending")

    def test_blanks_and_repeats(self):
        """6.9: trimmed, blanks and duplicates removed; null and [] are none."""
        parent = self.parent()
        child = self.child(f" {parent} ", "", parent, "  ")
        self.assertEqual(self.api.job(child)["chain_config"], {"depends_on": [parent]})
        self.api.ack(parent)
        self.assertEqual(self.api.fetch(self.queue)["job_id"], child)
        for none in (None, [], ["", " "]):
            job_id = self.api.enqueue(self.queue, depends_on=none)
            self.assertNotIn("chain_config", self.api.job(job_id))
            self.assertEqual(self.api.fetch(self.queue)["job_id"], job_id)

    def test_a_parent_that_is_not_known(self):
        """6.9: a dependency id unknown at enqueue time → 400 VALIDATION_ERROR."""
        deleted = self.api.enqueue(unique("gone"))
        self.api.must(self.api.delete(f"/api/v1/jobs/{deleted}"))
        for parent in (MISSING, "nonsense", deleted):
            answer = self.api.post("/api/v1/enqueue",
                                   {"queue": self.queue, "depends_on": [parent]})
            self.refused(answer, 400, "VALIDATION_ERROR", "depends_on")
        self.assertNotIn(self.queue, self.api.queues())

    def test_a_parent_that_has_completed(self):
        parent = self.parent()
        self.api.ack(parent)
        child = self.child(parent)
        self.assertEqual(self.api.fetch(self.queue)["job_id"], child)

    def test_a_parent_that_died_or_was_cancelled_blocks(self):
        """6.9: a dependency that is dead or cancelled blocks; a retry may still satisfy it."""
        queue = unique("parent")
        parent = self.parent(queue, max_retries=1)
        child = self.child(parent)
        self.api.fail(parent)
        self.not_claimable()
        self.api.act(parent, "retry")
        self.api.fetch(queue)
        self.api.ack(parent)
        self.assertEqual(self.api.fetch(self.queue)["job_id"], child)
        parent = self.parent()
        child = self.child(parent)
        self.api.act(parent, "cancel")
        self.not_claimable()

    def test_a_completed_parent_may_go(self):
        """6.9: satisfaction is recorded; later delete of a completed one does not re-block."""
        one, two = self.parent(), self.parent()
        child = self.child(one, two)
        self.api.ack(one)
        self.api.must(self.api.delete(f"/api/v1/jobs/{one}"))
        self.not_claimable()
        self.api.ack(two)
        self.assertEqual(self.api.fetch(self.queue)["job_id"], child)

    def test_a_parent_that_is_deleted_before_it_completed_blocks(self):
        """6.9: a dependency that is missing blocks."""
        parent = self.parent()
        self.child(parent)
        self.api.must(self.api.delete(f"/api/v1/jobs/{parent}"))
        self.not_claimable()

    def test_scheduled_and_retried_children_still_wait(self):
        parent = self.parent()
        child = self.child(parent, scheduled_at="2020-01-01T00:00:00Z")
        self.api.wait_for_state(child, "pending")
        self.not_claimable()
        self.api.act(child, "hold")
        self.api.act(child, "approve")
        self.not_claimable()
        self.api.ack(parent)
        self.assertEqual(self.api.fetch(self.queue)["job_id"], child)

    def test_together_with_a_chain(self):
        """6.9: combining chain with depends_on keeps both."""
        parent, following = self.parent(), unique("following")
        child = self.child(parent, chain={"steps": [{"queue": self.queue}, {"queue": following}]})
        config = self.api.job(child)["chain_config"]
        self.assertEqual(config, {"steps": [{"queue": self.queue}, {"queue": following}],
                                  "depends_on": [parent]})
        self.not_claimable()
        self.api.ack(parent)
        self.api.fetch(self.queue)
        self.api.ack(child)
        self.assertEqual(self.api.fetch(following)["payload"], {"previous_job_id": child})

    def test_together_with_raw_chain_fields(self):
        parent = self.parent()
        child = self.child(parent, chain_id="c", chain_step=3, chain_config={"mine": [1]})
        self.assertEqual(self.api.job(child)["chain_config"],
                         {"mine": [1], "depends_on": [parent]})

    def test_the_raw_member_is_a_second_way_to_name_them(self):
        """chain_config.depends_on shows exactly the jobs that this one waits for."""
        one, two = self.parent(), self.parent()
        for waits, fields in (([], {"chain_config": {"depends_on": []}}),
                              ([one], {"chain_config": {"depends_on": [one, f" {one} ", ""]}}),
                              ([one, two], {"depends_on": [one], "chain_config": {"depends_on": [two, one]}})):
            job_id = self.api.enqueue(self.queue, **fields)
            self.assertEqual(self.api.job(job_id)["chain_config"], {"depends_on": waits})
            for parent in (one, two):
                found = self.api.must(self.api.post("/api/v1/jobs/search", {"depends_on": parent}))["jobs"]
                self.assertEqual(job_id in [j["id"] for j in found], parent in waits)
            if not waits:
                self.api.ack(self.api.fetch(self.queue)["job_id"])
            self.not_claimable()
        self.api.ack(one)
        self.api.ack(self.api.fetch(self.queue)["job_id"])
        self.not_claimable()
        self.api.ack(two)
        self.api.fetch(self.queue)
        for wrong, code in (("x", "PARSE_ERROR"), ([7], "PARSE_ERROR"), (["nobody"], "VALIDATION_ERROR")):
            answer = self.api.post("/api/v1/enqueue", {"queue": self.queue, "chain_config": {"depends_on": wrong}})
            self.refused(answer, 400, code, "chain_config.depends_on")

    def test_a_long_line(self):
        """Each job waits for the one before it, so they become claimable one after another."""
        ids = [self.api.enqueue(self.queue)]
        for _ in range(9):
            ids.append(self.child(ids[-1]))
        for job_id in ids:
            jobs = self.api.fetch_batch(self.queue, count=10)
            self.assertEqual([j["job_id"] for j in jobs], [job_id])
            self.api.ack(job_id)

    def test_limits(self):
        """1.5: depends_on ≤ 1000."""
        parents = self.api.enqueue_batch([{"queue": unique("parents")}] * 1001)["job_ids"]
        answer = self.api.post("/api/v1/enqueue", {"queue": self.queue, "depends_on": parents})
        self.refused(answer, 400, "VALIDATION_ERROR", "depends_on")
        self.child(*parents[:1000])
        for wrong in ("x", [1], {"a": 1}):
            answer = self.api.post("/api/v1/enqueue", {"queue": self.queue, "depends_on": wrong})
            self.refused(answer, 400, "PARSE_ERROR")


if __name__ == "__main__":
    unittest.main()
