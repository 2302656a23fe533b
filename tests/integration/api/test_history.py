"""GET /history: what happened, in steps of time."""
import csv
import io
import urllib.parse

from harness import ApiTest, Server, unique


class History(ApiTest):
    def ask(self, api=None, **query):
        return (api or self.api).get("/api/v1/history?" + urllib.parse.urlencode(query))

    def history(self, **query):
        return self.api.must(self.ask(**query))

    def work(self, queue):
        """Three enqueued; one completed, one failed for good, one waiting."""
        done, dead, _ = (self.api.enqueue(queue, max_retries=1) for _ in range(3))
        self.assertEqual(self.api.fetch(queue)["job_id"], done)
        self.api.ack(done)
        self.assertEqual(self.api.fetch(queue)["job_id"], dead)
        self.api.fail(dead)

    def test_a_queue_has_what_happened_in_it(self):
        queue = unique("history")
        self.work(queue)
        found = self.history(queue=queue)
        self.assertEqual((found["queue"], found["step_seconds"]), (queue, 60))
        self.assertIn(len(found["points"]), (60, 61))
        totals = found["totals"]
        self.assertEqual({name: totals[name] for name in
                          ("enqueued", "started", "completed", "failed", "dead", "retried", "cancelled")},
                         {"enqueued": 3, "started": 2, "completed": 1, "failed": 1, "dead": 1, "retried": 0,
                          "cancelled": 0})
        self.assertEqual((totals["wait"]["count"], totals["run"]["count"]), (2, 2))
        self.assertEqual((found["points"][-1]["depth"], totals["depth_max"]), (1, 3))
        for name in ("enqueued", "started", "completed", "failed", "dead"):
            self.assertEqual(sum(point[name] for point in found["points"]), totals[name], name)

    def test_all_queues_are_at_least_what_one_is(self):
        queue = unique("history")
        self.work(queue)
        every = self.history()
        self.assertNotIn("queue", every)
        self.assertGreaterEqual(every["totals"]["completed"], self.history(queue=queue)["totals"]["completed"])

    def test_steps_add_up(self):
        queue = unique("history")
        self.work(queue)
        for step, seconds in (("5m", 300), ("1h", 3600), ("1d", 86400)):
            found = self.history(queue=queue, step=step, **{"from": "20h"})
            self.assertEqual(found["step_seconds"], seconds)
            self.assertEqual(sum(point["enqueued"] for point in found["points"]), 3, step)
        # Hours, not minutes: they have the minute that is not over as well.
        found = self.history(queue=queue, step="1h", **{"from": "30d"})
        self.assertEqual(found["totals"]["enqueued"], 3)
        self.assertEqual(len(self.history(queue=queue, **{"from": "90d"})["points"]), 91)

    def test_a_range_has_the_step_in_which_it_ends(self):
        found = self.history(step="5m", **{"from": "2026-01-01T00:00:00Z", "to": "2026-01-01T00:05:00.5Z"})
        self.assertEqual((len(found["points"]), found["to"]), (2, "2026-01-01T00:10:00Z"))
        found = self.history(step="5m", **{"from": "2026-01-01T00:00:00Z", "to": "2026-01-01T00:05:00Z"})
        self.assertEqual((len(found["points"]), found["to"]), (1, "2026-01-01T00:05:00Z"))

    def test_series_are_chosen(self):
        found = self.history(series="dead, wait")
        self.assertEqual(set(found["points"][0]), {"at", "dead", "wait"})
        self.assertEqual(set(found["totals"]), {"dead", "wait"})

    def test_csv_has_a_line_per_step(self):
        queue = unique("history")
        self.work(queue)
        answer = self.ask(queue=queue, format="csv")
        self.assertEqual(answer.headers["content-type"], "text/csv; charset=utf-8")
        rows = list(csv.DictReader(io.StringIO(answer.body.decode())))
        self.assertIn(len(rows), (60, 61))
        self.assertEqual(sum(int(row["completed"]) for row in rows), 1)
        self.assertEqual(sum(int(row["wait_count"]) for row in rows), 2)

    def test_an_unknown_queue_has_nothing(self):
        found = self.history(queue=unique("nobody"))
        self.assertEqual(found["totals"]["enqueued"], 0)

    def test_what_is_not_right_is_refused(self):
        for query, message in ((dict(step="30s"), "step: must be whole minutes"),
                               (dict(step="1m", **{"from": "90d"}), "step: the range has 129600 steps"),
                               (dict(series="sales"), 'series: unknown series "sales"'),
                               (dict(format="xml"), "format: must be json or csv"),
                               (dict(**{"from": "yesterday"}), "from, to: must be a time"),
                               (dict(to="2h", **{"from": "1h"}), "from: must be before to"),
                               (dict(to="1900-01-01T00:00:00Z", **{"from": "1899-01-01T00:00:00Z"}), "from")):
            with self.subTest(query):
                self.refused(self.ask(**query), 400, "VALIDATION_ERROR", message)

    def test_it_is_the_same_after_a_restart(self):
        queue = unique("history")
        server = Server()
        self.addCleanup(server.discard)
        server.client().enqueue(queue)
        want = {"enqueued": 1}
        self.assertEqual(self.ask(server.client(), queue=queue, series="enqueued").json["totals"], want)
        server.terminate()
        server.start()
        self.assertEqual(self.ask(server.client(), queue=queue, series="enqueued").json["totals"], want)

    def test_a_namespace_has_its_own(self):
        ns = unique("history").replace(".", "-")
        other = type(self).server.client().with_headers(X_Corvo_Namespace=ns)
        other.enqueue("one")
        other.enqueue("two")
        self.assertEqual(self.ask(other).json["totals"]["enqueued"], 2)
        self.assertEqual(self.ask(other, queue="one").json["totals"]["enqueued"], 1)
