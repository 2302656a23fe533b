"""Worker endpoints (contract 8, 6.1 to 6.4): fetch, ack, fail, heartbeat."""
import json
import socket
import struct
import time
import unittest
from datetime import datetime

from harness import (PATIENCE_S, ApiTest, Later, RawConnection, Server, in_threads, metric, unique,
                     wait_until)


def parse_time(text):
    """Return the seconds since the epoch of a time in a response."""
    whole, _, fraction = text[:-1].partition(".")
    return datetime.fromisoformat(whole + "+00:00").timestamp() + float("0." + (fraction or "0"))


class Fetch(ApiTest):
    def fetch(self, **fields):
        return self.api.post("/api/v1/fetch", {"queues": [self.queue], **fields})

    def test_claims_a_job_and_then_nothing(self):
        """24.7 attempt 1 and the payload; state active; second fetch → 204 within about 1 s."""
        job_id = self.api.enqueue(self.queue, {"n": [1, 2.50]}, tags={"k": "v"},
                                  checkpoint={"o": 1})
        answer = self.fetch(worker_id="worker-7", hostname="host-7", timeout=1)
        self.assertEqual(answer.status, 200)
        job = answer.json
        job.pop("lease_token", None)
        self.assertEqual(job, {"job_id": job_id, "queue": self.queue, "payload": {"n": [1, 2.50]},
                               "attempt": 1, "max_retries": 3, "lease_duration": 60,
                               "checkpoint": {"o": 1}, "tags": {"k": "v"}})
        stored = self.api.job(job_id)
        self.assertEqual((stored["state"], stored["attempt"], stored["worker_id"],
                          stored["hostname"]), ("active", 1, "worker-7", "host-7"))
        lease = parse_time(stored["lease_expires_at"]) - parse_time(stored["started_at"])
        self.assertAlmostEqual(lease, 60, delta=0.01)
        begun = time.monotonic()
        nothing = self.fetch(timeout=1)
        self.assertEqual((nothing.status, nothing.body), (204, b""))
        self.assertGreater(time.monotonic() - begun, 0.5)

    def test_a_short_poll_ends_in_time(self):
        """8.1: responds within the timeout. A busy machine may be late, but not every time."""
        def took_ms():
            return float(self.fetch(timeout=1).headers["server-timing"].split("=")[1])

        self.assertTrue(any(500 < took_ms() < 1000 for _ in range(10)))

    def test_optional_fields_are_left_out(self):
        """8.1: checkpoint, tags and agent only if set."""
        self.api.enqueue(self.queue)
        job = self.api.fetch(self.queue)
        self.assertEqual(set(job) - {"lease_token"}, {"job_id", "queue", "payload", "attempt",
                                                      "max_retries", "lease_duration"})

    def test_needs_queues(self):
        """8.1: queues is required."""
        for body in ({}, {"queues": []}, {"queues": None}):
            for path in ("/api/v1/fetch", "/api/v1/fetch/batch"):
                with self.subTest(body=body, path=path):
                    self.refused(self.api.post(path, body), 400, "VALIDATION_ERROR",
                                 "queues is required")

    def test_priority_goes_first(self):
        """24.8 priority critical enqueued after normal is fetched first; FIFO inside a class."""
        order = [("normal", "n1"), ("high", "h1"), ("normal", "n2"), ("critical", "c1"),
                 ("high", "h2"), ("critical", "c2")]
        for priority, name in order:
            self.api.enqueue(self.queue, name, priority=priority)
        got = [self.api.fetch(self.queue)["payload"] for _ in order]
        self.assertEqual(got, ["c1", "c2", "h1", "h2", "n1", "n2"])

    def test_queues_are_asked_in_the_order_given(self):
        """6.4: the order of the list decides, not priority across queues."""
        first, second = unique("first"), unique("second")
        for name in ("a", "b"):
            self.api.enqueue(first, name)
            self.api.enqueue(second, name.upper(), priority="critical")
        got = [self.api.fetch(first, second)["payload"] for _ in range(4)]
        self.assertEqual(got, ["a", "b", "A", "B"])

    def test_a_job_is_handed_to_exactly_one_worker(self):
        """6.4: exactly one worker gets a job."""
        ids = self.api.enqueue_batch([{"queue": self.queue}] * 200)["job_ids"]
        claimed = in_threads(8, lambda i: [self.api.fetch(self.queue)["job_id"] for _ in range(25)])
        self.assertEqual(sorted(sum(claimed, [])), sorted(ids))

    def test_a_parked_fetch_wakes_on_enqueue(self):
        """8.1: the request is parked and woken."""
        for path, jobs_of in (("/api/v1/fetch", lambda a: [a]),
                              ("/api/v1/fetch/batch", lambda a: a["jobs"])):
            with self.subTest(path):
                queue = unique("parked")
                poll = self.api.poll("other", queue, path=path)
                wait_until(lambda: self.api.fetches_waiting() == 1, "the poll being parked")
                job_id = self.api.enqueue(queue)
                answer = self.api.must(poll.result())
                self.assertEqual([j["job_id"] for j in jobs_of(answer)], [job_id])

    def test_a_job_and_the_fetch_that_waits_for_it_are_one_flush(self):
        """The claim is part of the entry of the enqueue. Otherwise there would be two entries."""
        with Server() as server:
            api, flushes = server.client(), 0
            for _ in range(10):
                waiting = api.poll("q")
                wait_until(lambda: api.fetches_waiting() == 1)
                before = metric(api, "corvo_raft_log_flushes_total")
                job_id = api.enqueue("q")
                self.assertEqual(waiting.result().json["job_id"], job_id)
                flushes += metric(api, "corvo_raft_log_flushes_total") - before
            self.assertLess(flushes, 15)  # the server adds a few entries itself

    def test_many_parked_fetches_get_one_job_each(self):
        ids = []

        def work(i):
            if i == 0:
                for _ in range(12):
                    ids.append(self.api.enqueue(self.queue))
                return None
            return self.api.fetch(self.queue)["job_id"]

        claimed = in_threads(13, work)[1:]
        self.assertEqual(sorted(claimed), sorted(ids))

    def test_a_client_that_goes_claims_nothing(self):
        """8.1: client gone → stop; never claim for a closed connection."""
        with RawConnection(self.server) as raw:
            body = b'{"queues":["%s"],"timeout":60}' % self.queue.encode()
            raw.send(b"POST /api/v1/fetch HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s"
                     % (len(body), body))
            wait_until(lambda: self.api.fetches_waiting() == 1, "the poll being parked")
        wait_until(lambda: self.api.fetches_waiting() == 0, "the poll being given up")
        job_id = self.api.enqueue(self.queue)
        self.assertEqual(self.api.state(job_id), "pending")
        self.assertEqual(self.api.fetch(self.queue)["job_id"], job_id)

    def test_a_client_that_was_reset_gives_its_job_back(self):
        """8.1: a job sent to a reset connection goes to the next worker, as if nobody had claimed it."""
        body = b'{"queues":["%s"],"timeout":60,"lease_duration":86400}' % self.queue.encode()
        request = (b"POST /api/v1/fetch HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s"
                   % (len(body), body))
        for way in ("reset", "closed") * 10:
            with RawConnection(self.server) as raw:
                raw.send(request)
                wait_until(lambda: self.api.fetches_waiting() == 1, "the poll being parked")
                if way == "reset":
                    raw.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                          struct.pack("ii", 1, 0))
            job_id = self.api.enqueue(self.queue)  # at once, because the server may not know yet
            job = self.api.fetch(self.queue)
            self.assertEqual((job["job_id"], job["attempt"]), (job_id, 1))
            self.api.ack(job_id)

    def test_lease_lengths(self):
        """8.1: lease_duration when given, else max(60, timeout)."""
        for fields, lease in (({}, 60), ({"timeout": 1}, 60), ({"timeout": 30}, 60),
                              ({"timeout": 999}, 60), ({"lease_duration": 1}, 1),
                              ({"lease_duration": 86400}, 86400),
                              ({"timeout": 5, "lease_duration": 90}, 90),
                              ({"lease_duration": None}, 60), ({"timeout": -5}, 60),
                              ({"timeout": 0}, 60)):
            with self.subTest(fields):
                job_id = self.api.enqueue(self.queue)
                job = self.fetch(**fields).json
                self.assertEqual((job["job_id"], job["lease_duration"]), (job_id, lease))
        for wrong in (-1, 86401):
            with self.subTest(wrong):
                self.refused(self.fetch(lease_duration=wrong), 400, "VALIDATION_ERROR",
                             "lease_duration")

    def test_a_lease_that_passes_gives_the_job_back(self):
        """24.18 lease 1 s, reclaim → pending; 5.3: attempt kept; 6.3: checkpoint intact."""
        job_id = self.api.enqueue(self.queue, checkpoint={"at": 9})
        first = self.api.fetch(self.queue, lease_duration=1)
        self.assertEqual(first["lease_duration"], 1)
        second = self.api.fetch(self.queue)
        self.assertEqual((second["job_id"], second["attempt"], second["checkpoint"]),
                         (job_id, 2, {"at": 9}))

    def test_late_answers_after_a_lease_has_passed(self):
        """6.3: late ack and fail get 400 while the job is pending."""
        job_id = self.api.enqueue(self.queue)
        self.api.fetch(self.queue, lease_duration=1)
        self.api.must(self.api.post(f"/api/v1/queues/{self.queue}/pause"))
        self.api.wait_for_state(job_id, "pending")
        job = self.api.job(job_id)
        self.assertEqual(job["attempt"], 1)
        for field in ("worker_id", "hostname", "lease_expires_at"):
            self.assertNotIn(field, job)
        self.refused(self.api.post(f"/api/v1/ack/{job_id}", {}), 400, "ACK_ERROR")
        self.refused(self.api.post(f"/api/v1/fail/{job_id}", {"error": "x"}), 400, "FAIL_ERROR")
        self.assertEqual(self.api.heartbeat({job_id: {}})["canceled"], [job_id])


class FetchBatch(ApiTest):
    def test_two_of_two_and_none_of_none(self):
        """24.9 count 2 of 2 → 2 jobs; on an empty queue → 200 {"jobs":[]}."""
        ids = self.api.enqueue_batch([{"queue": self.queue}] * 2)["job_ids"]
        jobs = self.api.fetch_batch(self.queue, count=2)
        self.assertEqual([j["job_id"] for j in jobs], ids)
        self.assertEqual([j["attempt"] for j in jobs], [1, 1])
        empty = self.api.post("/api/v1/fetch/batch",
                              {"queues": [self.queue], "count": 2, "timeout": 1})
        self.assertEqual((empty.status, empty.json), (200, {"jobs": []}))

    def test_does_not_wait_to_fill_the_count(self):
        """8.2: returns as soon as at least one job is claimable."""
        job_id = self.api.enqueue(self.queue)
        jobs = self.api.fetch_batch(self.queue, count=10)
        self.assertEqual([j["job_id"] for j in jobs], [job_id])

    def test_fills_from_one_queue_after_the_other(self):
        """6.4: fill from the first queue, then the next, until count."""
        a, b = unique("a"), unique("b")
        self.api.enqueue_batch([{"queue": a, "payload": n} for n in range(3)]
                               + [{"queue": b, "payload": n} for n in range(3)])
        jobs = self.api.fetch_batch(a, b, count=5)
        self.assertEqual([(j["queue"], j["payload"]) for j in jobs],
                         [(a, 0), (a, 1), (a, 2), (b, 0), (b, 1)])

    def test_count_is_clamped(self):
        """1.5: default 1, values above 512 clamp to 512, below 1 to 1."""
        self.api.enqueue_batch([{"queue": self.queue}] * 520)
        self.assertEqual(len(self.api.fetch_batch(self.queue, count=100000)), 512)
        self.assertEqual(len(self.api.fetch_batch(self.queue, count=0)), 1)
        self.assertEqual(len(self.api.fetch_batch(self.queue, count=-7)), 1)
        default = self.api.post("/api/v1/fetch/batch", {"queues": [self.queue]})
        self.assertEqual(len(default.json["jobs"]), 1)


class Ack(ApiTest):
    def test_completes_once(self):
        """24.10 ack {} → 200; completed; again → 400 ACK_ERROR; 5.3 field effects."""
        job_id = self.active()
        self.assertEqual(self.api.ack(job_id), {"status": "ok"})
        job = self.api.job(job_id)
        self.assertEqual(job["state"], "completed")
        self.assert_time(job["completed_at"])
        for field in ("worker_id", "hostname", "lease_expires_at", "result"):
            self.assertNotIn(field, job)
        self.refused(self.api.post(f"/api/v1/ack/{job_id}", {}), 400, "ACK_ERROR",
                     f"job {job_id} is not active")

    def test_an_empty_body_is_accepted(self):
        """24.10 ack with an empty body accepted."""
        for body in (None, b"", b"  \n"):
            with self.subTest(body):
                job_id = self.active()
                self.assertEqual(self.api.must(self.api.post(f"/api/v1/ack/{job_id}", body)),
                                 {"status": "ok"})

    def test_keeps_result_and_checkpoint(self):
        """8.3: result stored, checkpoint replaced; without them the previous stay (5.3)."""
        job_id = self.active(checkpoint={"old": True})
        self.api.ack(job_id, result={"pages": 3}, checkpoint={"new": 1})
        job = self.api.job(job_id)
        self.assertEqual((job["result"], job["checkpoint"]), ({"pages": 3}, {"new": 1}))
        self.api.act(job_id, "retry")
        self.api.fetch(self.queue)
        self.api.ack(job_id)
        job = self.api.job(job_id)
        self.assertEqual((job["result"], job["checkpoint"]), ({"pages": 3}, {"new": 1}))

    def test_ignores_what_it_does_not_know(self):
        """8.3: trace and others ignored; usage accepted on any job."""
        job_id = self.active()
        self.api.ack(job_id, trace={"span": 1}, anything=[], step_status="exit",
                     usage={"input_tokens": 5, "cost_usd": 0.1, "model": "m"})
        self.assertEqual(self.api.state(job_id), "completed")

    def test_refuses_wrong_words(self):
        """8.3: invalid status words → 400 ACK_ERROR; job unchanged."""
        job_id = self.active()
        for fields in ({"step_status": "jump"}, {"agent_status": "maybe"},
                       {"agent_status": "continue"}):
            with self.subTest(fields):
                self.refused(self.api.post(f"/api/v1/ack/{job_id}", fields), 400, "ACK_ERROR")
        self.refused(self.api.post(f"/api/v1/ack/{job_id}", b'{"result":'), 400, "PARSE_ERROR",
                     "invalid JSON")
        self.assertEqual(self.api.state(job_id), "active")

    def test_large_results(self):
        """1.5: result and checkpoint up to 1 MiB, more → 413; job stays active."""
        job_id = self.active()
        for field in ("result", "checkpoint"):
            with self.subTest(field):
                answer = self.api.post(f"/api/v1/ack/{job_id}", {field: "x" * (1 << 20)})
                self.refused(answer, 413, "PAYLOAD_TOO_LARGE")
        self.api.ack(job_id, result="x" * ((1 << 20) - 2))
        self.assertEqual(len(self.api.job(job_id)["result"]), (1 << 20) - 2)


class AckBatch(ApiTest):
    def ack_batch(self, *acks):
        return self.api.post("/api/v1/ack/batch", {"acks": list(acks)})

    def test_counts_what_it_completed(self):
        """24.11 two active → acked 2; a missing id → 200 acked 0."""
        ids = [self.active(), self.active()]
        answer = self.ack_batch({"job_id": ids[0], "result": {"r": 1}}, {"job_id": ids[1]})
        self.assertEqual((answer.status, answer.json), (200, {"acked": 2}))
        self.assertEqual(self.api.job(ids[0])["result"], {"r": 1})
        self.assertEqual(self.api.state(ids[1]), "completed")
        for missing in ("job_00000000000000000000000000", "nonsense"):
            answer = self.ack_batch({"job_id": missing})
            self.assertEqual((answer.status, answer.json), (200, {"acked": 0}))

    def test_passes_over_what_is_not_active(self):
        """8.4: missing and non-active jobs are skipped silently."""
        good, pending = self.active(), self.api.enqueue(unique("other"))
        answer = self.ack_batch({"job_id": pending}, {"job_id": good}, {"job_id": good},
                                {"job_id": "job_00000000000000000000000000"},
                                {"job_id": "x" * 1000})
        self.assertEqual(answer.json, {"acked": 1})
        self.assertEqual(self.api.state(pending), "pending")

    def test_limits(self):
        """24.11 513 items → 400; empty list and empty job_id → 400, nothing applied."""
        job_id = self.active()
        self.refused(self.ack_batch(*[{"job_id": job_id}] * 513), 400, "VALIDATION_ERROR",
                     "ack batch exceeds maximum of 512 items")
        for body in ({}, {"acks": []}, {"acks": None}):
            self.refused(self.api.post("/api/v1/ack/batch", body), 400, "VALIDATION_ERROR",
                         "acks array is required")
        for empty in ({"job_id": ""}, {}, {"job_id": None}):
            with self.subTest(empty):
                self.refused(self.ack_batch({"job_id": job_id}, empty), 400, "VALIDATION_ERROR",
                             "job_id")
        self.assertEqual(self.api.state(job_id), "active")
        self.assertEqual(self.ack_batch(*[{"job_id": job_id}] * 512).json, {"acked": 1})

    def test_items_are_full_acks(self):
        """8.4: each item has full single-ack semantics: agents and chains."""
        agent = self.active(agent={})
        step, following = unique("step"), unique("following")
        chain = self.active(step, chain={"steps": [{"queue": step}, {"queue": following}]})
        answer = self.ack_batch({"job_id": agent, "agent_status": "continue", "checkpoint": [1]},
                                {"job_id": chain, "result": 5})
        self.assertEqual(answer.status, 200)
        job = self.api.job(agent)
        self.assertEqual((job["state"], job["checkpoint"], job["agent"]["iteration"]),
                         ("pending", [1], 2))
        self.assertEqual(self.api.fetch(following)["payload"],
                         {"previous_job_id": chain, "previous_result": 5})


class AckNext(ApiTest):
    """8.7: an ack that fetches the next job in the same request."""

    def ack(self, job_id, next_, **fields):
        return self.api.post(f"/api/v1/ack/{job_id}", {"next": next_, **fields})

    def wanted(self, **fields):
        return {"queues": [self.queue], "worker_id": "next-1", "hostname": "here", **fields}

    def test_answers_with_the_next_job(self):
        first, second = self.active(), self.api.enqueue(self.queue, {"n": 2}, tags={"k": "v"})
        answer = self.api.must(self.ack(first, self.wanted(lease_duration=90), result=1))
        self.assertEqual(answer["status"], "ok")
        job = answer["next"]
        self.assertGreater(job.pop("lease_token"), 0)
        self.assertEqual(job, {"job_id": second, "queue": self.queue, "payload": {"n": 2},
                               "attempt": 1, "max_retries": 3, "lease_duration": 90,
                               "tags": {"k": "v"}})
        self.assertEqual((self.api.job(first)["state"], self.api.job(first)["result"]),
                         ("completed", 1))
        stored = self.api.job(second)
        self.assertEqual((stored["state"], stored["worker_id"], stored["hostname"]),
                         ("active", "next-1", "here"))
        self.assertEqual(self.api.must(self.ack(second, self.wanted())),
                         {"status": "ok", "next": None})
        self.assertEqual(self.api.state(second), "completed")

    def test_null_is_no_next(self):
        self.assertEqual(self.api.must(self.ack(self.active(), None)), {"status": "ok"})

    def test_both_are_one_entry(self):
        """One flush writes both."""
        with Server() as server:
            api = server.client()
            ids = [api.enqueue("q") for _ in range(11)]
            job = api.fetch("q")
            before = metric(api, "corvo_raft_log_flushes_total")
            for wanted in ids[1:]:
                job = api.must(api.post(f"/api/v1/ack/{job['job_id']}", {
                    "next": {"queues": ["q"]}, "lease_token": job["lease_token"]}))["next"]
                self.assertEqual(job["job_id"], wanted)
            # The server adds a few entries itself.
            self.assertLess(metric(api, "corvo_raft_log_flushes_total") - before, 15)

    def test_a_refused_ack_fetches_nothing(self):
        done, waiting = self.active(), self.api.enqueue(self.queue)
        self.api.ack(done)
        self.refused(self.ack(done, self.wanted()), 400, "ACK_ERROR", "is not active")
        self.refused(self.ack("job_00000000000000000000000000", self.wanted(timeout=30)), 404,
                     "NOT_FOUND")
        self.assertEqual(self.api.state(waiting), "pending")

    def test_a_bad_next_acknowledges_nothing(self):
        job_id = self.active()
        for bad, message in (({}, "next: queues is required"), ({"queues": []}, "next: queues"),
                             ({"queues": ["a\nb"]}, "queues"), ({"queues": "x"}, "next"),
                             ({"queues": ["q"], "lease_duration": 86401}, "lease_duration"),
                             ({"queues": ["q"], "worker_id": "w" * 300}, "worker_id")):
            for path, body in ((f"/api/v1/ack/{job_id}", {"next": bad}),
                               ("/api/v1/ack/batch", {"acks": [{"job_id": job_id}], "next": bad})):
                with self.subTest(bad=bad, path=path):
                    answer = self.api.post(path, body)
                    self.assertEqual(answer.status, 400, answer)
                    self.assertIn(message, answer.json["error"])
        self.refused(self.ack(job_id, 5), 400, "PARSE_ERROR", "next")
        self.assertEqual(self.api.state(job_id), "active")

    def test_waits_only_when_a_time_is_given(self):
        """The ack is durable before the wait begins."""
        job_id = self.active()
        waiting = self.api.fetches_waiting()
        later = Later(self.ack, job_id, self.wanted(timeout=30))
        wait_until(lambda: self.api.fetches_waiting() == waiting + 1)
        self.assertEqual(self.api.state(job_id), "completed")
        following = self.api.enqueue(self.queue)
        answer = self.api.must(later.result())
        self.assertEqual((answer["status"], answer["next"]["job_id"]), ("ok", following))
        self.assertEqual(self.api.must(self.ack(following, self.wanted(timeout=1))),
                         {"status": "ok", "next": None})

    def test_a_client_that_goes_while_it_waits_has_acknowledged(self):
        job_id = self.active()
        waiting = self.api.fetches_waiting()
        body = json.dumps({"next": self.wanted(timeout=30)}).encode()
        with RawConnection(self.server) as raw:
            raw.send(b"POST /api/v1/ack/%s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s"
                     % (job_id.encode(), len(body), body))
            wait_until(lambda: self.api.fetches_waiting() == waiting + 1)
        wait_until(lambda: self.api.fetches_waiting() == waiting)
        self.assertEqual(self.api.state(job_id), "completed")
        self.assertEqual(self.api.state(self.api.enqueue(self.queue)), "pending")

    def test_a_repeat_acknowledges_once_and_fetches_again(self):
        """The job of a lost response becomes available again when its lease expires."""
        job_id = self.api.enqueue(self.queue)
        token = self.api.fetch(self.queue)["lease_token"]
        lost, other = self.api.enqueue(self.queue), self.api.enqueue(self.queue)
        wanted = self.wanted(lease_duration=1)
        first = self.api.must(self.ack(job_id, wanted, lease_token=token))
        again = self.api.must(self.ack(job_id, wanted, lease_token=token))
        self.assertEqual((first["next"]["job_id"], again["next"]["job_id"]), (lost, other))
        self.api.ack(other, lease_token=again["next"]["lease_token"])
        back = self.api.fetch(self.queue)
        self.assertEqual((back["job_id"], back["attempt"]), (lost, 2))

    def test_an_agent_may_get_its_own_job_again(self):
        job_id = self.active(agent={})
        answer = self.api.must(self.ack(job_id, self.wanted(), agent_status="continue"))
        self.assertEqual((answer["next"]["job_id"], answer["next"]["agent"]["iteration"]),
                         (job_id, 2))

    def test_limits_of_the_queue_hold(self):
        """The next job uses the slot that the ack frees."""
        self.api.must(self.api.post(f"/api/v1/queues/{self.queue}/concurrency", {"max": 1}))
        first = self.active()
        second, third = self.api.enqueue(self.queue), self.api.enqueue(self.queue)
        answer = self.api.must(self.ack(first, self.wanted()))
        self.assertEqual(answer["next"]["job_id"], second)
        self.not_claimable()
        self.api.must(self.api.post(f"/api/v1/queues/{self.queue}/pause"))
        self.assertIsNone(self.api.must(self.ack(second, self.wanted()))["next"])
        self.assertEqual(self.api.state(third), "pending")

    def test_a_fetch_that_is_refused_does_not_undo_the_ack(self):
        """9: a budget refuses fetches of its queue, but not the ack."""
        job_id = self.active(unique("other"))
        spent = self.active(self.queue)
        self.api.must(self.api.post("/api/v1/budgets", {
            "scope": "queue", "target": self.queue, "daily_usd": 0.5, "on_exceed": "reject"}))
        self.api.ack(spent, usage={"cost_usd": 1})
        self.api.enqueue(self.queue)
        for path, body, acked in (
                (f"/api/v1/ack/{job_id}", {}, {"status": "ok", "next": None}),
                ("/api/v1/ack/batch", {"acks": [{"job_id": self.active(unique("other"))}]},
                 {"acked": 1, "next": {"jobs": []}})):
            answer = self.api.must(self.api.post(path, {**body, "next": self.wanted(timeout=30)}))
            error = answer.pop("next_error")
            self.assertEqual((answer, error["code"]), (acked, "BUDGET_EXCEEDED"))
        self.assertEqual(self.api.state(job_id), "completed")

    def test_a_batch_fetches_several(self):
        ids = [self.active(), self.active()]
        following = [self.api.enqueue(self.queue) for _ in range(3)]
        answer = self.api.must(self.api.post("/api/v1/ack/batch", {
            "acks": [{"job_id": j} for j in ids] + [{"job_id": following[2]}],
            "next": self.wanted(count=2)}))
        self.assertEqual((answer["acked"], [j["job_id"] for j in answer["next"]["jobs"]]),
                         (2, following[:2]))
        answer = self.api.must(self.api.post("/api/v1/ack/batch", {
            "acks": [{"job_id": "nonsense"}], "next": self.wanted(count=512)}))
        self.assertEqual((answer["acked"], [j["job_id"] for j in answer["next"]["jobs"]]),
                         (0, following[2:]))
        answer = self.api.must(self.api.post("/api/v1/ack/batch", {
            "acks": [{"job_id": j} for j in following], "next": self.wanted()}))
        self.assertEqual(answer, {"acked": 3, "next": {"jobs": []}})

    def test_a_batch_of_large_jobs(self):
        """What does not fit into one entry continues in the next."""
        payload = {"x": "x" * 250_000}
        first = [self.active(payload=payload) for _ in range(40)]
        second = [self.api.enqueue(self.queue, payload) for _ in range(3)]
        answer = self.api.must(self.api.post("/api/v1/ack/batch", {
            "acks": [{"job_id": j} for j in first], "next": self.wanted(count=3)}))
        got = [j["job_id"] for j in answer["next"]["jobs"]]
        self.assertEqual(answer["acked"], 40)
        self.assertEqual(got, second[:len(got)])
        self.assertTrue(got)


class Fail(ApiTest):
    def test_retries_until_the_attempts_are_used_up(self):
        """24.12 max_retries 2, backoff none: retrying with 1 left, attempt 2, dead with 0."""
        job_id = self.active(max_retries=2, retry_backoff="none")
        answer = self.api.fail(job_id, "first", backtrace="at f:1")
        self.assert_time(answer.pop("next_attempt_at"))
        self.assertEqual(answer, {"status": "retrying", "attempts_remaining": 1, "attempt": 1})
        self.assertEqual(self.api.fetch(self.queue)["attempt"], 2)
        self.assertEqual(self.api.fail(job_id, "second"),
                         {"status": "dead", "attempts_remaining": 0, "attempt": 2})
        job = self.api.job(job_id)
        self.assertEqual(job["state"], "dead")
        self.assert_time(job["failed_at"])
        for field in ("worker_id", "lease_expires_at", "scheduled_at"):
            self.assertNotIn(field, job)

    def test_a_text_that_was_cut_within_a_character_is_taken(self):
        """JSON.stringify writes half of a surrogate pair as an escape sequence."""
        job_id = self.active(max_retries=1)
        self.api.must(self.api.post(f"/api/v1/fail/{job_id}", b'{"error":"no \\ud83d"}'))
        self.assertEqual(self.api.job(job_id)["errors"][0]["error"], "no \ufffd")

    def test_writes_an_error_entry(self):
        """24.14 fail writes one error entry; GET /jobs/{id} shows it (4.3)."""
        job_id = self.active(max_retries=2, retry_backoff="none")
        self.api.fail(job_id, "SMTP timeout", backtrace="at send:42")
        self.api.fetch(self.queue)
        self.api.fail(job_id, "")
        first, second = self.api.job(job_id)["errors"]
        self.assert_time(first.pop("created_at"))
        self.assert_time(second.pop("created_at"))
        self.assertLess(first.pop("id"), second.pop("id"))
        self.assertEqual(first, {"job_id": job_id, "attempt": 1, "error": "SMTP timeout",
                                 "backtrace": "at send:42"})
        self.assertEqual(second, {"job_id": job_id, "attempt": 2, "error": ""})

    def test_one_attempt_dies_at_once(self):
        """24.13 max_retries 1 (and 0): first fail → dead."""
        for attempts in (0, 1):
            job_id = self.active(max_retries=attempts)
            self.assertEqual(self.api.fail(job_id)["status"], "dead")
            self.assertEqual(self.api.state(job_id), "dead")

    def test_a_default_job_comes_back_after_five_seconds(self):
        """24.13 default job: fail, 6 s later fetch returns it with attempt 2."""
        job_id = self.active()
        begun = time.monotonic()
        answer = self.api.fail(job_id)
        self.assertEqual((answer["status"], answer["attempts_remaining"]), ("retrying", 2))
        job = self.api.job(job_id)
        self.assertEqual(job["scheduled_at"], answer["next_attempt_at"])
        self.assertAlmostEqual(parse_time(job["scheduled_at"]) - parse_time(job["failed_at"]), 5,
                               delta=0.001)
        self.not_claimable()
        self.assertEqual(self.api.fetch(self.queue, timeout=20)["attempt"], 2)
        self.assertGreater(time.monotonic() - begun, 4.9)

    def test_delays(self):
        """6.1: none, fixed, linear and exponential delays, with their cap."""
        hour = 3600000
        rows = [("none", "5s", "10m", [0, 0]), ("fixed", "1h", "2h", [hour, hour]),
                ("linear", "1h", "0s", [hour, 2 * hour, 3 * hour]),
                ("linear", "1h", "90m", [hour, hour * 3 // 2]),
                ("exponential", "1h", "0s", [hour, 2 * hour, 4 * hour, 8 * hour]),
                ("exponential", "5s", "8s", [5000, 8000, 8000]),
                ("exponential", "200000h", "0s", [200000 * hour, 400000 * hour])]
        for backoff, base, most, delays in rows:
            with self.subTest(backoff=backoff, base=base, most=most):
                queue = unique("delay")
                job_id = self.api.enqueue(queue, max_retries=99, retry_backoff=backoff,
                                          retry_base_delay=base, retry_max_delay=most)
                for attempt, delay in enumerate(delays, 1):
                    if attempt > 1 and delays[0] > 0:
                        self.api.act(job_id, "hold")
                        self.api.act(job_id, "approve")
                    job = self.api.fetch(queue)
                    self.assertEqual(job["attempt"], attempt)
                    answer = self.api.fail(job_id)
                    failed_at = self.api.job(job_id)["failed_at"]
                    waited = parse_time(answer["next_attempt_at"]) - parse_time(failed_at)
                    self.assertAlmostEqual(waited * 1000, delay, delta=2)

    def test_long_texts_are_cut(self):
        """1.5: error truncated at 64 KiB and backtrace at 256 KiB, not rejected."""
        job_id = self.active(max_retries=1)
        self.api.fail(job_id, "ä" * 40000, backtrace="b" * 300000)
        entry = self.api.job(job_id)["errors"][0]
        self.assertLessEqual(len(entry["error"].encode()), 65536)
        self.assertGreater(len(entry["error"].encode()), 65530)
        self.assertEqual(set(entry["error"]), {"ä"})
        self.assertEqual(entry["backtrace"], "b" * 262144)

    def test_bodies(self):
        """8.5: empty and malformed body → 400 PARSE_ERROR; missing error = ""."""
        job_id = self.active(max_retries=1)
        for body in (None, b"", b"{", b"[]", b'"x"', b'{"error":5}'):
            with self.subTest(body):
                self.refused(self.api.post(f"/api/v1/fail/{job_id}", body), 400, "PARSE_ERROR")
        self.api.must(self.api.post(f"/api/v1/fail/{job_id}", {}))
        self.assertEqual(self.api.job(job_id)["errors"][0]["error"], "")
        self.refused(self.api.post(f"/api/v1/fail/{job_id}", {"error": "again"}), 400,
                     "FAIL_ERROR", f"job {job_id} is not active (state=dead)")


class Heartbeat(ApiTest):
    def test_renews_the_lease(self):
        """24.15 heartbeat on an active job → ok and later lease_expires_at; now + 60 s (6.3)."""
        job_id = self.api.enqueue(self.queue)
        self.api.fetch(self.queue, lease_duration=5)
        before = self.api.job(job_id)
        answer = self.api.heartbeat({job_id: {}})
        after = self.api.job(job_id)
        self.assertEqual(answer, {"jobs": {job_id: {"status": "ok", "lease_expires_at":
                                                    after["lease_expires_at"]}},
                                  "acked": [job_id], "unknown": [], "canceled": []})
        renewed = parse_time(after["lease_expires_at"]) - parse_time(before["started_at"])
        self.assertTrue(60 <= renewed < 60 + PATIENCE_S, renewed)
        self.assertNotIn("progress", after)

    def test_stores_progress(self):
        """24.15 with progress → job progress set; any JSON value; null = not supplied (8.6)."""
        job_id = self.active()
        for progress in ({"current": 3, "total": 9, "message": "Building"}, 42, "half", [1], True):
            self.api.heartbeat({job_id: {"progress": progress}})
            self.assertEqual(self.api.job(job_id)["progress"], progress)
        self.api.heartbeat({job_id: {"progress": None, "checkpoint": None, "usage": None}})
        self.api.heartbeat({job_id: {}})
        job = self.api.job(job_id)
        self.assertEqual(job["progress"], True)
        self.assertNotIn("checkpoint", job)

    def test_a_checkpoint_survives_a_failure(self):
        """24.16 heartbeat checkpoint survives fail + promote + refetch with equal values."""
        job_id = self.active(retry_backoff="none")
        checkpoint = {"offset": 450, "big": 12345678901234567890, "nested": {"z": [1, None]}}
        self.api.heartbeat({job_id: {"checkpoint": checkpoint}})
        self.api.fail(job_id)
        self.assertEqual(self.api.fetch(self.queue)["checkpoint"], checkpoint)

    def test_tells_of_a_cancelled_job(self):
        """24.17 cancel active → cancelling; next heartbeat → cancel; canceled has the id."""
        job_id = self.active()
        self.assertEqual(self.api.act(job_id, "cancel"), {"status": "cancelling"})
        self.assertEqual(self.api.state(job_id), "cancelled")
        answer = self.api.heartbeat({job_id: {"progress": 1}})
        self.assertEqual(answer, {"jobs": {job_id: {"status": "cancel"}}, "acked": [],
                                  "unknown": [], "canceled": [job_id]})
        self.refused(self.api.post(f"/api/v1/ack/{job_id}", {}), 400, "ACK_ERROR")
        self.refused(self.api.post(f"/api/v1/fail/{job_id}", {"error": ""}), 400, "FAIL_ERROR")
        self.assertNotIn("progress", self.api.job(job_id))

    def test_sorts_every_kind_of_job(self):
        """8.6: acked = ok; unknown = no such job; canceled = all with cancel, unknown included."""
        good = self.active()
        deleted = self.active()
        self.api.must(self.api.delete(f"/api/v1/jobs/{deleted}"))
        done = self.active()
        self.api.ack(done)
        missing = "job_00000000000000000000000000"
        answer = self.api.heartbeat({"nonsense": {}, good: {}, deleted: {}, done: {}, missing: {}})
        self.assertEqual(answer["acked"], [good])
        self.assertEqual(set(answer["unknown"]), {"nonsense", deleted, missing})
        self.assertEqual(set(answer["canceled"]), {"nonsense", deleted, done, missing})
        self.assertEqual({k: v["status"] for k, v in answer["jobs"].items()},
                         {"nonsense": "cancel", good: "ok", deleted: "cancel", done: "cancel",
                          missing: "cancel"})

    def test_an_id_given_twice_is_one_job(self):
        """1.5: duplicate keys: last wins; the response has each job once."""
        job_id = self.active()
        body = (f'{{"jobs":{{"{job_id}":{{"progress":1,"checkpoint":{{"from":"first"}}}},'
                f'"none":{{}},"{job_id}":{{"progress":2}},"none":{{}}}}}}').encode()
        answer = self.api.post("/api/v1/heartbeat", body)
        self.assertEqual(answer.body.count(job_id.encode()), 2)  # in jobs and in acked
        self.assertEqual(answer.json["acked"], [job_id])
        self.assertEqual(answer.json["unknown"], ["none"])
        self.assertEqual(answer.json["canceled"], ["none"])
        job = self.api.job(job_id)
        self.assertEqual(job["progress"], 2)
        self.assertNotIn("checkpoint", job)

    def test_without_jobs(self):
        """8.6: missing jobs = empty."""
        for body in ({}, {"jobs": {}}, {"jobs": None}, {"jobs": []}):
            self.assertEqual(self.api.must(self.api.post("/api/v1/heartbeat", body)),
                             {"jobs": {}, "acked": [], "unknown": [], "canceled": []})

    def test_limits(self):
        """1.5: progress ≤ 32 KiB and checkpoint ≤ 1 MiB → 413; more than 10000 jobs → 400."""
        job_id = self.active()
        for field, limit in (("progress", 32 * 1024), ("checkpoint", 1 << 20)):
            with self.subTest(field):
                self.api.heartbeat({job_id: {field: "x" * (limit - 2)}})
                answer = self.api.post("/api/v1/heartbeat",
                                       {"jobs": {job_id: {field: "y" * (limit - 1)}}})
                self.refused(answer, 413, "PAYLOAD_TOO_LARGE")
                self.assertEqual(self.api.job(job_id)[field], "x" * (limit - 2))
        many = {f"job_{n:026d}": {} for n in range(10001)}
        self.refused(self.api.post("/api/v1/heartbeat", {"jobs": many}), 400, "VALIDATION_ERROR")
        del many["job_" + "0" * 26]
        self.assertEqual(len(self.api.heartbeat(many)["unknown"]), 10000)

    def test_wrong_shapes(self):
        """1.6: the message of PARSE_ERROR begins with "invalid JSON" and names the member."""
        for body, named in ((b'{"jobs":5}', "jobs"), (b'{"jobs":"x"}', "jobs"),
                            (b'{"jobs":{"a":[]}}', "jobs.a"), (b"[]", ""), (b"", ""),
                            (b'{"jobs":{"a":{"usage":5}}}', "jobs.a: usage")):
            with self.subTest(body):
                answer = self.api.post("/api/v1/heartbeat", body)
                self.refused(answer, 400, "PARSE_ERROR", named)
                self.assertTrue(answer.json["error"].startswith("invalid JSON"), answer)

    def test_renews_the_lease_of_a_job_kept_alive(self):
        """A job with a short lease stays with its worker as long as heartbeats arrive."""
        job_id = self.api.enqueue(self.queue)
        self.api.fetch(self.queue, lease_duration=3)
        self.api.heartbeat({job_id: {}})
        probe = self.api.post("/api/v1/fetch", {"queues": [self.queue], "timeout": 4})
        self.assertEqual(probe.status, 204)
        self.assertEqual(self.api.job(job_id)["attempt"], 1)


class LeaseToken(ApiTest):
    """A report may contain a lease token. One from an earlier claim is refused."""

    def test_an_answer_for_an_older_claim_is_refused(self):
        job_id = self.api.enqueue(self.queue)
        old = self.api.fetch(self.queue, lease_duration=1)["lease_token"]
        new = self.api.fetch(self.queue)["lease_token"]
        self.assertNotEqual(old, new)
        self.refused(self.api.post(f"/api/v1/ack/{job_id}", {"lease_token": old}), 400,
                     "ACK_ERROR")
        self.refused(self.api.post(f"/api/v1/fail/{job_id}", {"lease_token": old}), 400,
                     "FAIL_ERROR")
        self.assertEqual(self.api.heartbeat({job_id: {"lease_token": old}})["canceled"], [job_id])
        self.assertEqual(self.api.heartbeat({job_id: {"lease_token": new}})["acked"], [job_id])
        self.assertEqual(self.api.state(job_id), "active")
        self.api.ack(job_id, lease_token=new)
        self.assertEqual(self.api.state(job_id), "completed")

    def test_a_report_whose_answer_was_lost_gets_it_again(self):
        """26: ack, fail and heartbeat repeated with the token that ended the job."""
        acked, failed, batched = (self.active(unique("lost")) for _ in range(3))
        tokens = {j: self.tokens[j] for j in (acked, failed, batched)}
        reports = (
            (f"/api/v1/ack/{acked}", {"lease_token": tokens[acked], "result": 1}),
            (f"/api/v1/fail/{failed}", {"lease_token": tokens[failed], "error": "no"}),
            ("/api/v1/ack/batch", {"acks": [{"job_id": batched, "lease_token": tokens[batched]}]}),
        )
        for path, body in reports:
            first = self.api.must(self.api.post(path, body))
            before = [self.api.job(j) for j in tokens]
            self.assertEqual(self.api.must(self.api.post(path, body)), first)
            self.assertEqual([self.api.job(j) for j in tokens], before)
        beats = self.api.heartbeat({j: {"lease_token": t} for j, t in tokens.items()})
        self.assertEqual((sorted(beats["acked"]), beats["canceled"]), (sorted(tokens), []))
        # Another worker's token, or no token, is not a repeat.
        self.refused(self.api.post(f"/api/v1/ack/{acked}", {}), 400, "ACK_ERROR")
        self.refused(self.api.post(f"/api/v1/fail/{failed}", {"lease_token": 1 << 40}), 400,
                     "FAIL_ERROR")

    tokens = {}

    def active(self, queue):
        job_id = self.api.enqueue(queue)
        self.tokens[job_id] = self.api.fetch(queue)["lease_token"]
        return job_id

    def test_a_stale_answer_without_a_name_is_accepted(self):
        """6.3 compat: ack carries no worker identity; a stale ack is accepted while active."""
        job_id = self.api.enqueue(self.queue)
        self.api.fetch(self.queue, lease_duration=1)
        self.api.fetch(self.queue)
        self.api.ack(job_id)
        self.assertEqual(self.api.state(job_id), "completed")


class Workers(ApiTest):
    def workers(self):
        return self.api.must(self.api.get("/api/v1/workers"))

    def test_are_registered_by_a_fetch(self):
        """14: fields; queues is a string that contains a JSON array; most recent first."""
        self.api.enqueue_batch([{"queue": self.queue}] * 2)
        self.api.fetch(self.queue, "b", worker_id="w-1", hostname="h-1")
        self.api.fetch(self.queue, worker_id="w-2")
        rows = self.workers()[:2]
        self.assertEqual([r["id"] for r in rows], ["w-2", "w-1"])
        first = rows[1]
        self.assertEqual(first["hostname"], "h-1")
        self.assertEqual(first["queues"], f'["{self.queue}","b"]')
        self.assertIn(rows[0]["hostname"], ("", None))
        for field in ("last_heartbeat", "started_at"):
            self.assert_time(first[field])

    def test_are_registered_although_there_is_no_job(self):
        """8.1: every fetch registers the worker, even if it claimed no job."""
        poll = Later(self.api.post, "/api/v1/fetch", {"queues": [self.queue], "worker_id": "idle",
                                                      "timeout": PATIENCE_S})
        wait_until(lambda: "idle" in [w["id"] for w in self.workers()], "the worker's row")
        self.api.enqueue(self.queue)
        poll.result()

    def test_are_heard_of_by_a_heartbeat(self):
        """8.6: the worker row of the first active job's worker gets last_heartbeat = now."""
        job_id = self.api.enqueue(self.queue)
        self.api.fetch(self.queue, worker_id="beating")

        def row():
            return next(w for w in self.workers() if w["id"] == "beating")

        before = row()
        wait_until(lambda: self.api.heartbeat({job_id: {}}) and
                   row()["last_heartbeat"] > before["last_heartbeat"], "a later heartbeat")
        self.assertEqual(row()["started_at"], before["started_at"])


if __name__ == "__main__":
    unittest.main()
