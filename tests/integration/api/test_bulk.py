"""Bulk operations (contract 11): by ids and by filter, synchronous and in the background."""
import http.client
import json
import unittest

from harness import PATIENCE_S, ApiTest, Server, in_threads, unique, wait_until

NOWHERE = "job_" + "0" * 25 + "1"


class Stream:
    """The progress of an operation: events as (type, data), comments as (None, text)."""

    def __init__(self, server, path, headers=None):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
        self.connection.request("GET", path, headers=headers or {})
        self.response = self.connection.getresponse()
        self.status = self.response.status

    def __iter__(self):
        event = None
        for line in self.response:
            line = line.decode().rstrip("\n")
            if line.startswith(":"):
                yield None, line
            elif line.startswith("event: "):
                event = line[7:]
            elif line.startswith("data: "):
                yield event, json.loads(line[6:])

    def close(self):
        self.response.close()
        self.connection.close()


class BulkTest(ApiTest):
    def bulk(self, action, client=None, **fields):
        client = client or self.api
        return client.must(client.post("/api/v1/jobs/bulk", {"action": action, **fields}), 200, 202)

    def enqueue_many(self, count, queue=None, **fields):
        ids = []
        while len(ids) < count:
            jobs = [{"queue": queue or self.queue, "payload": {}, **fields}] * min(5000, count - len(ids))
            ids += self.api.enqueue_batch(jobs)["job_ids"]
        return ids

    def task(self, answer):
        return self.api.must(self.api.get("/api/v1/bulk/" + answer["bulk_operation_id"]))

    def wait_over(self, answer):
        def over():
            task = self.task(answer)
            return task if task["status"] not in ("queued", "running") else None
        return wait_until(over, "the operation's end")


class ByIds(BulkTest):
    def test_cancels_those_that_can_be(self):
        ids = self.enqueue_many(3)
        held = self.api.enqueue(self.queue)
        self.api.act(held, "hold")
        answer = self.bulk("cancel", job_ids=[*ids, held, NOWHERE, "garbage", ids[0]])
        self.assertEqual(set(answer), {"affected", "errors", "duration_ms"})
        self.assertEqual((answer["affected"], answer["errors"]), (3, 2))
        self.assertEqual([self.api.state(i) for i in ids], ["cancelled"] * 3)
        self.assertEqual(self.api.state(held), "held")
        # All have the same timestamp.
        self.assertEqual(len({self.api.job(i)["cancelled_at"] for i in ids}), 1)

    def test_every_action(self):
        target = unique("target")
        rows = [
            ("retry", {}, "cancelled", {"state": "pending"}),
            ("cancel", {}, "pending", {"state": "cancelled"}),
            ("hold", {"reason": "why"}, "pending", {"state": "held", "hold_reason": "why"}),
            ("approve", {}, "held", {"state": "pending"}),
            ("reject", {}, "held", {"state": "dead"}),
            ("move", {"move_to_queue": target}, "pending", {"queue": target}),
            ("change_priority", {"priority": "critical"}, "pending", {"priority": 0}),
            ("change_priority", {"priority": 1}, "pending", {"priority": 1}),
            ("requeue", {}, "dead", {"state": "pending"}),
            ("delete", {}, "pending", None),
        ]
        prepare = {"pending": (), "cancelled": ("cancel",), "held": ("hold",),
                   "dead": ("hold", "reject")}
        for action, fields, state, wanted in rows:
            with self.subTest(action=action, **fields):
                job_id = self.api.enqueue(unique("before"))
                for step in prepare[state]:
                    self.api.act(job_id, step)
                self.assertEqual(self.bulk(action, job_ids=[job_id], **fields)["affected"], 1)
                answer = self.api.get(f"/api/v1/jobs/{job_id}")
                if wanted is None:
                    self.assertEqual(answer.status, 404)
                else:
                    for key, value in wanted.items():
                        self.assertEqual(answer.json[key], value)

    def test_an_id_that_is_too_long_is_one_of_no_job(self):
        job_id = self.api.enqueue(self.queue)
        answer = self.bulk("hold", job_ids=["x" * 300, job_id, job_id + "x" * 300])
        self.assertEqual((answer["affected"], answer["errors"]), (1, 2))
        self.assertEqual(self.api.state(job_id), "held")

    def test_change_priority_needs_a_priority(self):
        """An empty text is none: elsewhere it means the default, and here the default is a change."""
        job_id = self.api.enqueue(self.queue, priority="high")
        for fields in ({}, {"priority": None}, {"priority": ""}):
            answer = self.api.post("/api/v1/jobs/bulk", {"action": "change_priority", "job_ids": [job_id], **fields})
            self.refused(answer, 400, "BULK_ERROR", "priority is required for change_priority")
        self.assertEqual(self.api.job(job_id)["priority"], 1)

    def test_more_than_a_chunk_keeps_its_order(self):
        ids = self.enqueue_many(1203)
        self.assertEqual(self.bulk("cancel", job_ids=ids)["affected"], 1203)
        # Retried in reverse order, they are in line in reverse order.
        self.assertEqual(self.bulk("retry", job_ids=ids[::-1])["affected"], 1203)
        fetched = [j["job_id"] for _ in range(3)
                   for j in self.api.fetch_batch(self.queue, count=500)]
        self.assertEqual(fetched, ids[::-1])

    def test_all_jobs_of_a_request_see_one_moment(self):
        """11.1: all items of one request see one timestamp; so do their events."""
        ids = self.enqueue_many(1203)
        last = self.api.must(self.api.get("/api/v1/jobs/" + ids[-1]))
        self.assertEqual(self.bulk("hold", job_ids=ids)["affected"], 1203)
        self.assertEqual(self.bulk("reject", job_ids=ids)["affected"], 1203)
        ends = {self.api.job(i)["failed_at"] for i in (ids[0], ids[499], ids[500], ids[-1])}
        self.assertEqual(len(ends), 1, ends)
        self.assertNotIn("failed_at", last)
        after, moments = 0, set()
        while True:
            page = self.api.must(self.api.get(
                f"/api/v1/cluster/events?limit=1000&after_seq={after}"))["events"]
            if not page:
                break
            after = page[-1]["seq"]
            moments |= {e["created_at"] for e in page
                        if e["type"] == "rejected" and e["queue"] == self.queue}
        self.assertEqual(moments, ends)

    def test_neither_ids_nor_a_filter_is_refused(self):
        """26: an empty list counts as absent. With neither, 400."""
        for fields in ({}, {"job_ids": []}, {"job_ids": None}, {"job_ids": [], "filter": None},
                       {"dry_run": True}, {"async": True, "job_ids": []}):
            with self.subTest(fields=fields):
                answer = self.api.post("/api/v1/jobs/bulk", {"action": "delete", **fields})
                self.refused(answer, 400, "VALIDATION_ERROR", "job_ids or filter is required")

    def test_an_empty_list_beside_a_filter_is_absent(self):
        """26: the filter is used."""
        mine = self.enqueue_many(3)
        others = self.enqueue_many(2, unique("other"))
        answer = self.bulk("cancel", job_ids=[], filter={"queue": self.queue})
        self.assertEqual((answer["affected"], answer["errors"]), (3, 0))
        self.assertEqual({self.api.state(i) for i in mine}, {"cancelled"})
        self.assertEqual({self.api.state(i) for i in others}, {"pending"})

    def test_a_filter_with_an_unknown_member_is_refused_by_name(self):
        """26: a misspelled condition would match every job."""
        ids = self.enqueue_many(3)
        for extra in ({}, {"dry_run": True}, {"async": True}):
            for name in ("stat", "queues", "Queue", "tag", ""):
                with self.subTest(name=name, extra=extra):
                    answer = self.api.post("/api/v1/jobs/bulk", {
                        "action": "delete", "filter": {"queue": self.queue, name: ["dead"]},
                        **extra})
                    self.refused(answer, 400, "VALIDATION_ERROR",
                                 f'filter: unknown member "{name}"')
        self.assertEqual([self.api.state(i) for i in ids], ["pending"] * 3)
        # Outside of the filter unknown members are ignored.
        self.bulk("hold", job_ids=ids, no_such_member=1)

    def test_a_dry_run_counts_and_changes_nothing(self):
        ids = self.enqueue_many(4)
        self.api.act(ids[0], "cancel")
        answer = self.bulk("cancel", job_ids=[*ids, NOWHERE, "x"], dry_run=True)
        self.assertEqual(answer["affected"], 0)
        self.assertEqual((answer["matched"], answer["applicable"], answer["errors"]), (4, 3, 2))
        self.assertIs(answer["dry_run"], True)
        self.assertEqual([self.api.state(i) for i in ids[1:]], ["pending"] * 3)

    def test_bad_requests_name_the_member(self):
        job_id = self.api.enqueue(self.queue)
        rows = [
            (b"", "PARSE_ERROR", None), (b"[]", "PARSE_ERROR", None), (b"{", "PARSE_ERROR", None),
            ({}, "VALIDATION_ERROR", "action is required"),
            ({"job_ids": [job_id]}, "VALIDATION_ERROR", "action is required"),
            ({"action": "explode"}, "BULK_ERROR", "explode"),
            ({"action": "move", "job_ids": [job_id]}, "BULK_ERROR", "move_to_queue"),
            ({"action": "change_priority", "job_ids": []}, "BULK_ERROR", "priority"),
            ({"action": "change_priority", "priority": 7}, "BULK_ERROR",
             "priority: expected critical, high, normal or 0 to 2, got 7"),
            ({"action": "change_priority", "priority": -1}, "BULK_ERROR", "got -1"),
            ({"action": "change_priority", "priority": [1]}, "BULK_ERROR",
             "priority: expected a string or an integer"),
            ({"action": 7}, "PARSE_ERROR", "action"),
            ({"action": "retry", "job_ids": "x"}, "PARSE_ERROR", "job_ids"),
            ({"action": "retry", "job_ids": [7]}, "PARSE_ERROR", "job_ids"),
            ({"action": "retry", "filter": []}, "PARSE_ERROR", "filter"),
            ({"action": "retry", "async": "yes"}, "PARSE_ERROR", "async"),
            ({"action": "move", "move_to_queue": "a\nb", "job_ids": [job_id]},
             "VALIDATION_ERROR", "move_to_queue"),
            ({"action": "move", "move_to_queue": "x" * 300, "job_ids": [job_id]},
             "VALIDATION_ERROR", "move_to_queue"),
        ]
        for body, code, part in rows:
            with self.subTest(body=body):
                self.refused(self.api.post("/api/v1/jobs/bulk", body), 400, code, part)
        self.assertEqual(self.api.state(job_id), "pending")

    def test_other_namespaces_are_left_alone(self):
        acme = self.api.with_headers(X_Corvo_Namespace="acme")
        theirs, mine = acme.enqueue(self.queue), self.api.enqueue(self.queue)
        for fields in ({}, {"async": True}):
            answer = self.bulk("hold", acme, job_ids=[mine, theirs], **fields)
            if fields:
                path = "/api/v1/bulk/" + answer["bulk_operation_id"]
                wait_until(lambda: acme.must(acme.get(path))["status"] == "completed")
                answer = acme.must(acme.get(path))
                other = self.api.with_headers(X_Corvo_Namespace="other")
                self.refused(other.get(path), 404, "NOT_FOUND", "bulk operation not found")
                self.refused(other.delete(path), 404, "NOT_FOUND")
                self.refused(other.get(path + "/progress"), 404, "NOT_FOUND")
            self.assertEqual((answer["affected"], answer["errors"]), (1, 1))
            self.assertEqual(self.api.state(mine), "pending")
            self.api.act(theirs, "approve")


class ByFilter(BulkTest):
    def test_all_that_match_and_no_others(self):
        queue, other = self.queue, unique("other")
        ids = self.enqueue_many(1203)
        stays = self.enqueue_many(3, other)
        self.bulk("cancel", job_ids=ids[:60] + stays[:1])
        answer = self.bulk("retry", filter={"queue": queue, "state": ["cancelled"]})
        self.assertEqual((answer["affected"], answer["errors"]), (60, 0))
        self.assertEqual(self.api.queue(queue)["pending"], 1203)
        self.assertEqual(self.api.state(stays[0]), "cancelled")
        # Jobs match the filter, although the action does not apply to them.
        self.assertEqual(self.bulk("approve", filter={"queue": queue})["affected"], 0)
        self.assertEqual(self.bulk("delete", filter={"queue": queue})["affected"], 1203)
        self.assertEqual(self.api.queue(queue)["enqueued"], 0)
        self.assertEqual(self.api.queue(other)["enqueued"], 3)

    def test_by_tags_payload_and_priority(self):
        wanted = self.api.enqueue(self.queue, {"user": {"id": 7}}, tags={"team": "a"},
                                  priority="high")
        self.api.enqueue(self.queue, {"user": {"id": 8}}, tags={"team": "b"})
        for fields in ({"tags": {"team": "a"}}, {"payload_jq": ".user.id == 7"},
                       {"payload_contains": '"id":7'}, {"priority": "high"},
                       {"job_id_prefix": wanted}):
            with self.subTest(**fields):
                self.assertEqual(self.bulk("hold", filter={"queue": self.queue, **fields})[
                    "affected"], 1)
                self.assertEqual(self.api.state(wanted), "held")
                self.api.act(wanted, "approve")

    def test_a_dry_run_counts(self):
        ids = self.enqueue_many(20)
        self.bulk("cancel", job_ids=ids[:5])
        for action, states, counts in (("cancel", None, (20, 15)), ("retry", None, (20, 5)),
                                       ("delete", ["pending"], (15, 15)),
                                       ("retry", ["pending"], (15, 0))):
            with self.subTest(action=action, states=states):
                answer = self.bulk(action, dry_run=True,
                                   filter={"queue": self.queue, "state": states})
                self.assertEqual((answer["matched"], answer["applicable"]), counts)
                self.assertEqual(answer["affected"], 0)
        self.assertEqual(self.api.queue(self.queue)["pending"], 15)

    def test_many_go_on_in_the_background(self):
        self.enqueue_many(10600)
        answer = self.bulk("hold", filter={"queue": self.queue})
        self.assertEqual(answer["estimated_total"], 10600)
        later = self.api.enqueue(self.queue)  # created after the request, so not affected
        task = self.wait_over(answer)
        self.assertEqual((task["status"], task["affected"], task["processed"], task["total"]),
                         ("completed", 10600, 10600, 10600))
        self.assertEqual(self.api.queue(self.queue)["held"], 10600)
        self.assertEqual(self.api.state(later), "pending")

    def test_a_forced_one_that_changes_what_it_matches(self):
        """Every retried job stops matching, but none is skipped."""
        ids = self.enqueue_many(1700)
        self.bulk("cancel", job_ids=ids)
        answer = self.bulk("retry", filter={"queue": self.queue, "state": "cancelled"},
                           **{"async": True})
        self.assertEqual(answer["estimated_total"], 1700)
        self.assertEqual(self.wait_over(answer)["affected"], 1700)
        self.assertEqual(self.api.queue(self.queue)["pending"], 1700)

    def test_none_is_none(self):
        queue = unique("nobody")
        answer = self.bulk("delete", filter={"queue": queue})
        self.assertEqual((answer["affected"], answer["errors"]), (0, 0))
        task = self.wait_over(self.bulk("delete", filter={"queue": queue}, **{"async": True}))
        self.assertEqual((task["status"], task["total"]), ("completed", 0))

    def test_a_program_says_which_jobs(self):
        jobs = [self.api.enqueue(self.queue, {"n": n}) for n in range(30)]
        filter_ = {"queue": self.queue, "payload_jq": ".n % 3 == 0 and .n > 0"}
        dry = self.bulk("hold", filter=filter_, dry_run=True)
        self.assertEqual(dry["matched"], 9)
        self.assertEqual(self.bulk("hold", filter=filter_)["affected"], 9)
        for n, job in enumerate(jobs):
            self.assertEqual(self.api.state(job), "held" if n % 3 == 0 and n > 0 else "pending")
        task = self.wait_over(self.bulk("approve", filter=filter_, **{"async": True}))
        self.assertEqual((task["status"], task["affected"]), ("completed", 9))

    def test_bad_filters_name_the_member(self):
        for filter_, part in (({"payload_jq": "nonsense"}, "payload_jq"),
                              ({"created_after": "yesterday"}, "created_after"),
                              ({"queue": 7}, "queue"), ({"state": 7}, "state"),
                              ({"attempt_min": "x"}, "attempt_min"), ({"tags": []}, "tags"),
                              ({"sort": "bogus"}, "sort")):
            for fields in ({}, {"async": True}, {"dry_run": True}):
                with self.subTest(filter=filter_, **fields):
                    self.refused(self.api.post("/api/v1/jobs/bulk", {
                        "action": "retry", "filter": filter_, **fields}), 400, "BULK_ERROR", part)
        self.assertEqual(self.api.post("/api/v1/jobs/bulk", {
            "action": "retry", "filter": {"payload_contains": "x" * 70000}}).status, 413)

    def test_a_namespace_means_its_own_jobs(self):
        acme = self.api.with_headers(X_Corvo_Namespace="acme-" + unique("n").replace(".", "-"))
        theirs = [acme.enqueue(self.queue) for _ in range(3)]
        mine = self.api.enqueue(self.queue)
        self.assertEqual(self.bulk("hold", acme, filter={})["affected"], 3)
        self.assertEqual(self.bulk("approve", acme, filter={"queue": self.queue})["affected"], 3)
        self.assertEqual(self.api.state(mine), "pending")
        answer = self.bulk("hold", acme, filter={"queue": self.queue}, **{"async": True})
        path = "/api/v1/bulk/" + answer["bulk_operation_id"]
        wait_until(lambda: acme.must(acme.get(path))["status"] == "completed", "its end")
        self.assertEqual([acme.state(i) for i in theirs], ["held"] * 3)
        self.assertEqual(self.api.state(mine), "pending")
        self.refused(acme.post("/api/v1/jobs/bulk", {
            "action": "hold", "filter": {"queue": "other::q"}}), 400, "BULK_ERROR", "queue")


class Meanwhile(BulkTest):
    """A job that no longer matches the filter when it is processed is skipped."""

    DEAD = 4000

    def beside(self, work, **bulk):
        """Run a bulk operation and, at the same time, work(i) in three threads. Return the response or the finished
        task, and the results of work."""
        def run(i):
            if i > 0:
                return work(i - 1)
            answer = self.bulk(**bulk)
            return self.wait_over(answer) if "bulk_operation_id" in answer else answer
        answer, *results = in_threads(4, run)
        return answer, [one for result in results for one in result]

    def test_a_retried_job_is_not_deleted_with_the_dead_ones(self):
        for fields in ({}, {"async": True}):
            with self.subTest(**fields):
                queue = unique("dead")
                ids = self.enqueue_many(self.DEAD, queue)
                self.bulk("hold", job_ids=ids)
                self.bulk("reject", job_ids=ids)

                def retry(i):
                    return [job for job in ids[::-1][i:600:3]
                            if self.api.post(f"/api/v1/jobs/{job}/retry").status == 200]
                answer, retried = self.beside(retry, action="delete", **fields,
                                              filter={"queue": queue, "state": ["dead"]})
                self.assertEqual([self.api.state(job) for job in retried],
                                 ["pending"] * len(retried))
                self.assertEqual(answer["affected"], self.DEAD - len(retried))

    def test_a_job_that_a_worker_has_is_not_cancelled_with_those_that_wait(self):
        ids = self.enqueue_many(self.DEAD)

        def work(_):
            fetched = []
            while len(fetched) < 300:
                jobs = self.api.fetch_batch(self.queue, count=2, timeout=1)
                if not jobs:
                    break
                fetched += [job["job_id"] for job in jobs]
            return fetched
        answer, fetched = self.beside(work, action="cancel",
                                      filter={"queue": self.queue, "state": ["pending"]})
        self.assertEqual({self.api.state(job) for job in fetched}, {"active"} if fetched else set())
        self.assertEqual(answer["affected"], len(ids) - len(fetched))


class LateView(BulkTest):
    """Searches do not wait for the view here, so the view often lags."""

    settings = (*BulkTest.settings, "--view-wait", "0s")

    def test_none_is_left_out(self):
        in_the_background = 0
        for _ in range(4):
            queue = unique("late")
            self.enqueue_many(3000, queue)
            answer = self.bulk("hold", filter={"queue": queue})
            if "bulk_operation_id" in answer:
                in_the_background += 1
                answer = self.wait_over(answer)
                self.assertEqual(answer["total"], 3000)
            self.assertEqual((answer["affected"], answer["errors"]), (3000, 0), in_the_background)
            self.assertEqual(self.api.queue(queue)["held"], 3000)

    def test_a_dry_run_tells_the_truth_or_nothing(self):
        self.enqueue_many(3000)

        def counted():
            answer = self.api.post("/api/v1/jobs/bulk", {
                "action": "hold", "filter": {"queue": self.queue}, "dry_run": True})
            if answer.status == 200:
                return answer.json
            self.refused(answer, 503, "UNHEALTHY", "behind")
            return None
        self.assertEqual(wait_until(counted, "a view that is not behind")["matched"], 3000)


class EveryJob(BulkTest):
    def test_an_empty_filter_means_all(self):
        self.enqueue_many(700, unique("a"))
        self.enqueue_many(5, unique("b"))
        self.assertEqual(self.bulk("delete", filter={})["affected"], 705)
        self.assertEqual(sum(q["enqueued"] for q in self.api.queues().values()), 0)


class InTheBackground(BulkTest):
    def test_a_forced_one_is_done_and_remembered(self):
        ids = self.enqueue_many(3)
        answer = self.bulk("cancel", job_ids=[*ids, "junk"], **{"async": True})
        self.assertEqual(set(answer), {"bulk_operation_id", "status", "estimated_total",
                                       "progress_url"})
        self.assertEqual(answer["status"], "queued")
        self.assertEqual(answer["estimated_total"], 4)
        self.assert_id(answer["bulk_operation_id"], "bulk_")
        task = self.wait_over(answer)
        self.assertEqual(task["status"], "completed")
        self.assertEqual(task["action"], "cancel")
        self.assertEqual((task["total"], task["processed"], task["affected"], task["errors"]),
                         (4, 4, 3, 1))
        for key in ("created_at", "updated_at", "finished_at"):
            self.assert_time(task[key])
        self.assertNotIn("error", task)
        self.assertEqual([self.api.state(i) for i in ids], ["cancelled"] * 3)

    def test_more_than_ten_thousand_ids_go_there_by_themselves(self):
        ids = self.enqueue_many(10001)
        answer = self.bulk("delete", job_ids=ids)
        self.assertEqual(answer["estimated_total"], 10001)
        task = self.wait_over(answer)
        self.assertEqual((task["status"], task["affected"]), ("completed", 10001))
        self.assertEqual(self.api.queue(self.queue)["enqueued"], 0)

    def test_the_list_counts_as_it_was_sent(self):
        """11.1: a list of more than 10000 ids runs in the background, even if it contains duplicates or invalid ids."""
        ids = self.enqueue_many(3)
        for extra in (ids[:1] * 9998, ["garbage"] * 9998):
            with self.subTest(extra=extra[0]):
                answer = self.bulk("hold", job_ids=ids + extra)
                self.assertIn("bulk_operation_id", answer)
                self.assertEqual(self.wait_over(answer)["status"], "completed")
                self.refused(self.api.post("/api/v1/jobs/bulk", {
                    "action": "hold", "dry_run": True, "job_ids": ids + extra}), 400, "BULK_ERROR",
                    "at most 10000 job_ids")
        self.assertEqual([self.api.state(i) for i in ids], ["held"] * 3)

    def test_progress_of_a_finished_one_is_its_end(self):
        answer = self.bulk("cancel", job_ids=self.enqueue_many(2), **{"async": True})
        self.wait_over(answer)
        stream = Stream(self.server, answer["progress_url"])
        self.assertEqual(stream.status, 200)
        self.assertEqual(stream.response.headers["Content-Type"], "text/event-stream")
        events = list(stream)
        self.assertEqual([e for e, _ in events], ["bulk.async.completed"])
        data = events[0][1]
        self.assertEqual(data["type"], "bulk.async.completed")
        self.assertEqual(data["task_id"], answer["bulk_operation_id"])
        self.assertEqual((data["status"], data["affected"], data["total"], data["processed"],
                          data["percent"]), ("completed", 2, 2, 2, 100))
        self.assertNotIn("errors", data)
        self.assertGreater(data["created_at_ns"], 1_700_000_000 * 10**9)

    def test_several_watch_at_once_and_all_hear_the_end(self):
        ids = self.enqueue_many(12000)
        answer = self.bulk("hold", **{"async": True}, job_ids=ids)

        def watch(_):
            return [one for one in Stream(self.server, answer["progress_url"])
                    if one[0] is not None]  # skip keepalives, which are sent when it takes long
        for events in in_threads(4, watch):
            kinds = [e for e, _ in events]
            self.assertEqual(kinds[-1], "bulk.async.completed")
            self.assertLessEqual(set(kinds[:-1]), {"bulk.async.started", "bulk.async.progress"})
            done = [d.get("processed", 0) for _, d in events]
            self.assertEqual(done, sorted(done))
            self.assertEqual(events[-1][1]["affected"], 12000)

    def test_a_watcher_that_goes_leaves_the_others(self):
        ids = self.enqueue_many(12000)
        answer = self.bulk("hold", job_ids=ids)
        leaver = Stream(self.server, answer["progress_url"])
        next(iter(leaver))
        leaver.close()
        self.assertEqual(list(Stream(self.server, answer["progress_url"]))[-1][0],
                         "bulk.async.completed")

    def test_one_can_be_cancelled(self):
        ids = self.enqueue_many(30000)
        answer = self.bulk("hold", job_ids=ids)
        path = "/api/v1/bulk/" + answer["bulk_operation_id"]
        stream = iter(Stream(self.server, path + "/progress"))
        next(stream)
        self.assertEqual(self.api.must(self.api.delete(path)), {"status": "cancelled"})
        *_, (kind, last) = stream
        self.assertEqual((kind, last["status"]), ("bulk.async.failed", "cancelled"))
        task = self.task(answer)
        self.assertEqual(task["status"], "cancelled")
        self.assertLess(task["affected"], 30000)
        self.assertEqual(self.api.queue(self.queue)["held"], task["affected"])
        self.refused(self.api.delete(path), 409, "CONFLICT")

    def test_two_go_on_in_turn(self):
        first = self.bulk("hold", job_ids=self.enqueue_many(11000, unique("one")))
        second = self.bulk("hold", job_ids=self.enqueue_many(11000, unique("two")))
        for answer in (second, first):
            self.assertEqual(self.wait_over(answer)["affected"], 11000)

    def test_unknown_ones_are_not_found(self):
        for path in ("bulk_" + "0" * 26, "nonsense", "bulk_"):
            for method, tail in (("GET", ""), ("DELETE", ""), ("GET", "/progress")):
                self.refused(self.api.request(method, f"/api/v1/bulk/{path}{tail}"), 404,
                             "NOT_FOUND", "bulk operation not found")

    def test_other_work_goes_on_meanwhile(self):
        other = unique("other")
        turns = 0
        for _ in range(10):  # on a busy machine an operation may end before the first check
            answer = self.bulk("hold", job_ids=self.enqueue_many(20000, unique("many")))
            while self.task(answer)["status"] in ("queued", "running"):
                job_id = self.api.enqueue(other)
                self.assertEqual(self.api.fetch(other)["job_id"], job_id)
                self.api.ack(job_id)
                turns += 1
            self.assertEqual(self.task(answer)["affected"], 20000)
            if turns > 0:
                break
        self.assertGreater(turns, 0)


class Restarts(unittest.TestCase):
    """After a crash an operation continues where it was: nothing twice, nothing left out."""

    takes_long = True

    def test_killed_in_the_middle_it_ends_with_exact_counts(self):
        with Server("--rate-limit-enabled=false") as server:
            api = server.client()
            queue = unique("killed")
            ids = []
            for _ in range(6):
                ids += api.enqueue_batch([{"queue": queue, "payload": {}}] * 5000)["job_ids"]
            answer = api.must(api.post("/api/v1/jobs/bulk", {
                "action": "move", "move_to_queue": queue + ".moved", "job_ids": ids}), 202)
            path = "/api/v1/bulk/" + answer["bulk_operation_id"]
            kills = 0
            while api.must(api.get(path))["status"] != "completed":
                before = api.must(api.get(path))["processed"]
                wait_until(lambda: api.must(api.get(path))["processed"] > before
                           or api.must(api.get(path))["status"] == "completed", "a step")
                if kills < 4:
                    server.kill()
                    server.start()
                    kills += 1
                    self.assertGreaterEqual(api.must(api.get(path))["processed"], before)
            task = api.must(api.get(path))
            self.assertEqual((task["affected"], task["processed"], task["errors"], task["total"]),
                             (30000, 30000, 0, 30000))
            self.assertGreater(kills, 0)
            # Each job was moved once: one event per job.
            moved = api.queue(queue + ".moved")
            self.assertEqual(moved["pending"], 30000)
            self.assertEqual(api.queue(queue)["pending"], 0)
            fetched = [j["job_id"] for j in api.fetch_batch(queue + ".moved", count=512)]
            self.assertEqual(fetched, ids[:512])

    def test_killed_while_it_follows_a_filter(self):
        with Server("--rate-limit-enabled=false") as server:
            api = server.client()
            queue = unique("filtered")
            for _ in range(4):
                api.enqueue_batch([{"queue": queue, "payload": {}}] * 5000)
            answer = api.must(api.post("/api/v1/jobs/bulk", {
                "action": "hold", "filter": {"queue": queue, "state": ["pending"]}}), 202)
            path = "/api/v1/bulk/" + answer["bulk_operation_id"]
            for _ in range(2):
                before = api.must(api.get(path))["processed"]
                wait_until(lambda: api.must(api.get(path))["processed"] > before
                           or api.must(api.get(path))["status"] == "completed", "a step")
                server.kill()
                server.start()
            wait_until(lambda: api.must(api.get(path))["status"] == "completed", "its end")
            task = api.must(api.get(path))
            self.assertEqual((task["affected"], task["processed"], task["total"]),
                             (20000, 20000, 20000))
            self.assertEqual(api.queue(queue)["held"], 20000)

    def test_a_stopped_server_closes_streams_and_goes_on_later(self):
        with Server("--rate-limit-enabled=false") as server:
            api = server.client()
            queue = unique("stopped")
            ids = []
            for _ in range(6):
                ids += api.enqueue_batch([{"queue": queue, "payload": {}}] * 5000)["job_ids"]
            answer = api.must(api.post("/api/v1/jobs/bulk", {"action": "hold", "job_ids": ids}),
                              202)
            stream = iter(Stream(server, answer["progress_url"]))
            next(stream)
            server.terminate()
            for _ in stream:  # until the stream ends
                pass
            server.start()
            path = "/api/v1/bulk/" + answer["bulk_operation_id"]
            wait_until(lambda: api.must(api.get(path))["status"] == "completed", "its end")
            self.assertEqual(api.must(api.get(path))["affected"], 30000)
            self.assertEqual(api.queue(queue)["held"], 30000)


if __name__ == "__main__":
    unittest.main()
