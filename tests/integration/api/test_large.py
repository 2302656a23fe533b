"""Many large jobs at once: commands that need more than one log entry.

CORVO_LARGE_JOBS is the number of jobs. With 4320, each of the three commands here needs more than 1 GiB.
Early versions of the server stopped at that size, and again at every start.
"""
import os
import unittest

from harness import Server, in_threads, unique, wait_until

JOBS = int(os.environ.get("CORVO_LARGE_JOBS", "120"))
PAYLOAD = {"x": "x" * (255 * 1024 - 8)}
IN_ONE_REQUEST = 40  # a body has at most 16 MiB
CLAIMS, CLAIM_COUNT = 12, 512
LEASE_S = 3600  # longer than the test takes


class Large(unittest.TestCase):
    takes_long = True

    def setUp(self):
        server = Server("--rate-limit-enabled=false")
        self.addCleanup(server.stop)
        self.server = server.__enter__()
        self.api = server.client()

    def enqueue(self, queue, **fields):
        ids = []
        while len(ids) < JOBS:
            count = min(IN_ONE_REQUEST, JOBS - len(ids))
            job = {"queue": queue, "payload": PAYLOAD, **fields}
            answer = self.api.enqueue_batch([job] * count)
            ids += answer["job_ids"]
        return ids

    def restart(self):
        self.server.kill()
        self.server.start()

    def claim(self, api, queue, **fields):
        jobs = api.fetch_batch(queue, count=CLAIM_COUNT, lease_duration=LEASE_S, **fields)
        return [job["job_id"] for job in jobs]

    def claimable(self, queue):
        """Claim all jobs. A claim may return fewer than requested, but not none."""
        ids = []
        while len(ids) < JOBS:
            claimed = self.claim(self.api, queue)
            self.assertTrue(claimed, "a claim found nothing")
            ids += claimed
        return ids

    def test_dependents_of_one_job(self):
        """The ack responds at once, and all dependents become claimable soon, in order."""
        queue = unique("child")
        parent = self.api.enqueue(unique("parent"))
        ids = self.enqueue(queue, depends_on=[parent])
        self.api.fetch(self.api.job(parent)["queue"])
        self.api.ack(parent)
        self.restart()
        self.assertEqual(self.api.state(parent), "completed")
        self.assertEqual(self.claimable(queue), ids)

    def test_a_bulk_move(self):
        """The response has the counts of all jobs."""
        queue, to = unique("from"), unique("to")
        ids = self.enqueue(queue)
        answer = self.api.must(self.api.post("/api/v1/jobs/bulk", {
            "job_ids": ids + ["job_00000000000000000000000000"], "action": "move",
            "move_to_queue": to}))
        self.assertEqual((answer["affected"], answer["errors"]), (JOBS, 1))
        self.restart()
        self.assertEqual(self.api.queue(to)["pending"], JOBS)
        self.assertEqual(self.claimable(to), ids)

    def test_claims_at_the_same_time(self):
        """Each job goes to one claim, and no claim gets more than an entry can hold."""
        queue = unique("q")
        ids = self.enqueue(queue)

        answers = in_threads(
            CLAIMS, lambda _: self.claim(self.server.client(), queue, timeout=1))
        self.assertLess(max(len(answer) for answer in answers), 100)
        self.restart()
        claimed = [i for answer in answers for i in answer]
        self.assertEqual(self.api.queue(queue)["active"], len(claimed))
        while len(claimed) < JOBS:
            claimed += self.claim(self.api, queue)
        self.assertEqual(sorted(claimed), sorted(ids))
        answer = self.api.heartbeat({i: {} for i in ids})
        self.assertEqual({item["status"] for item in answer["jobs"].values()}, {"ok"})
        wait_until(lambda: self.api.queue(queue)["active"] == JOBS, "all of them being active")


if __name__ == "__main__":
    unittest.main()
