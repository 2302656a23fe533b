"""GET /history: what happened, in time steps."""
import collections
import csv
import io
import random
import unittest
import urllib.parse

from harness import ApiTest, Server, unique, wait_until
from test_cluster import SHORT_LOG, Cluster


class History(ApiTest):
    def ask(self, api=None, **query):
        return (api or self.api).get("/api/v1/history?" + urllib.parse.urlencode(query))

    def history(self, **query):
        return self.api.must(self.ask(**query))

    def work(self, queue):
        """Enqueue three jobs: one completes, one fails for good, one waits."""
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
        # With hours, not minutes, because they include the current minute.
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

    def test_the_oldest_pending_job_goes_on_ageing(self):
        queue = unique("history")
        self.assertEqual(self.history(queue=queue, series="oldest")["totals"], {"oldest_ms": 0})
        job = self.api.enqueue(queue)
        first = self.history(queue=queue, series="oldest")["points"][-1]["oldest_ms"]
        wait_until(lambda: self.history(queue=queue, series="oldest")["totals"]["oldest_ms"] > first)
        self.assertGreaterEqual(self.history(series="oldest")["totals"]["oldest_ms"], first)
        self.assertEqual(self.api.fetch(queue)["job_id"], job)
        rows = list(csv.DictReader(io.StringIO(self.ask(queue=queue, format="csv", series="oldest").body.decode())))
        self.assertGreater(max(int(row["oldest_ms"]) for row in rows), 0)

    def test_several_queues_are_asked_for_at_once(self):
        names = [unique("history") for _ in range(3)]
        for name in names[:2]:
            self.work(name)
        found = self.api.must(self.api.get(f"/api/v1/history/queues?queues={','.join(names)}&from=1h&step=1m"))
        self.assertEqual([row["queue"] for row in found["queues"]], names)
        self.assertEqual([sum(row["values"]) for row in found["queues"]], [1, 1, 0])
        self.assertIn(len(found["queues"][0]["values"]), (60, 61))
        depth = self.api.must(self.api.get(f"/api/v1/history/queues?queues={names[0]}&series=depth"))
        self.assertEqual(depth["queues"][0]["values"][-1], 3)
        self.refused(self.api.get("/api/v1/history/queues"), 400, "VALIDATION_ERROR", "queues is required")
        self.refused(self.api.get("/api/v1/history/queues?queues=a&series=sales"), 400, "VALIDATION_ERROR",
                     'series: unknown series "sales"')

    def test_a_namespace_has_its_own(self):
        ns = unique("history").replace(".", "-")
        other = type(self).server.client().with_headers(X_Corvo_Namespace=ns)
        other.enqueue("one")
        other.enqueue("two")
        self.assertEqual(self.ask(other).json["totals"]["enqueued"], 2)
        self.assertEqual(self.ask(other, queue="one").json["totals"]["enqueued"], 1)


class NodeHistory(ApiTest):
    """GET /cluster/history: the history of the node that responds."""

    def ask(self, api=None, **query):
        return (api or self.api).get("/api/v1/cluster/history?" + urllib.parse.urlencode(query))

    def writes(self, api):
        return sum(point["writes"] for point in self.api.must(self.ask(api))["points"])

    def test_it_has_writes_and_flushes(self):
        self.api.enqueue(unique("node"))
        wait_until(lambda: self.writes(self.api) > 0)
        found = self.api.must(self.ask())
        self.assertEqual(found["step_seconds"], 60)
        self.assertIn(len(found["points"]), (60, 61))
        busy = [point for point in found["points"] if point["writes"] > 0]
        self.assertTrue(all(0 < point["write_p50_us"] <= point["write_p99_us"] for point in busy))
        self.assertTrue(all(point["flush_mean_us"] <= point["flush_max_us"] for point in busy))
        self.assertEqual({point["lag_ms"] for point in found["points"]}, {0})
        rows = list(csv.DictReader(io.StringIO(self.ask(format="csv").body.decode())))
        self.assertGreater(sum(int(row["writes"]) for row in rows), 0)
        self.assertEqual(len(self.api.must(self.ask(**{"from": "90d"}))["points"]), 91)

    def test_it_is_there_after_a_restart(self):
        server = Server()
        self.addCleanup(server.discard)
        for _ in range(20):
            server.client().enqueue("q")
        wait_until(lambda: self.writes(server.client()) >= 20)
        server.terminate()
        server.start()
        self.assertGreaterEqual(self.writes(server.client()), 20)

    def test_what_is_not_right_is_refused(self):
        self.refused(self.ask(step="30s"), 400, "VALIDATION_ERROR", "step: must be whole minutes")
        self.refused(self.ask(format="xml"), 400, "VALIDATION_ERROR", "format: must be json or csv")


class Recount(unittest.TestCase):
    """The history matches a count of the event log, on every node."""
    takes_long = True

    # The counters, and the event type that each of them counts.
    COUNTERS = {"enqueued": "enqueued", "started": "started", "completed": "completed", "failed": "failed",
                "retried": "retrying", "dead": "dead", "cancelled": "cancelled", "expired": "expired"}

    def work(self, rng, api, queues):
        """Do a random selection of everything that is counted."""
        queue = rng.choice(queues)
        jobs = [{"queue": queue, "max_retries": rng.randint(1, 2), "retry_backoff": "none"}
                for _ in range(rng.randint(1, 12))]
        ids = api.enqueue_batch(jobs)["job_ids"]
        for job in api.fetch_batch(*queues, count=rng.randint(1, 10)):
            rng.choice((lambda j: api.ack(j), lambda j: api.fail(j), lambda j: api.act(j, "cancel"),
                        lambda j: None))(job["job_id"])
        if rng.random() < 0.3:
            api.post(f"/api/v1/jobs/{rng.choice(ids)}/cancel")  # refused if it has ended already
        if rng.random() < 0.1:
            api.must(api.delete(f"/api/v1/queues/{queue}"))

    def recount(self, api):
        counts, after = collections.defaultdict(collections.Counter), 0
        while True:
            events = api.must(api.get(f"/api/v1/cluster/events?after_seq={after}&limit=1000"))["events"]
            if not events:
                return counts
            self.assertEqual(events[0]["seq"], after + 1, "the log is complete")
            for event in events:
                counts[event["queue"]][event["type"]] += 1
                counts[""][event["type"]] += 1
            after = events[-1]["seq"]

    def histories(self, api, queues):
        """Return, per queue and in total, the totals and the sum of the points."""
        found = {}
        for queue in queues:
            query = urllib.parse.urlencode({"from": "6h", "step": "1m", **({"queue": queue} if queue else {})})
            answer = api.must(api.get("/api/v1/history?" + query))
            summed = {name: sum(point[name] for point in answer["points"]) for name in self.COUNTERS}
            self.assertEqual(summed, {name: answer["totals"][name] for name in self.COUNTERS})
            found[queue] = {**summed, "wait": answer["totals"]["wait"], "run": answer["totals"]["run"]}
        return found

    def check(self, node, queues):
        counts = self.recount(node.api)
        found = self.histories(node.api, ["", *queues])
        for queue, history in found.items():
            self.assertEqual({name: history[name] for name in self.COUNTERS},
                             {name: counts[queue][event] for name, event in self.COUNTERS.items()}, queue)
            self.assertEqual(history["wait"]["count"], counts[queue]["started"])
        self.assertGreater(counts[""]["completed"], 0)
        return found

    def test_after_random_work_and_restarts(self):
        seed = random.randrange(1 << 32)
        rng = random.Random(seed)
        queues = [unique("recount") for _ in range(5)]
        with self.subTest(seed=seed), Cluster(3, *SHORT_LOG) as cluster:
            for turn in range(8):
                for _ in range(rng.randint(3, 12)):
                    self.work(rng, cluster.leader().api, queues)
                node = cluster.leader() if turn % 2 else rng.choice(cluster.running())
                node.kill() if rng.random() < 0.5 else node.terminate()
                for _ in range(rng.randint(0, 5)):
                    self.work(rng, cluster.leader().api, queues)
                node.start()
                cluster.leader()
            cluster.wait_same()
            found = [self.check(node, queues) for node in cluster.nodes]
            self.assertEqual(found[0], found[1])
            self.assertEqual(found[0], found[2])
