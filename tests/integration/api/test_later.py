"""What clients released after v0.3 send and read (contract 26.1)."""
from datetime import datetime

from harness import ApiTest, unique


def seconds(text):
    """Seconds since the epoch of an answer's time."""
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
