"""Events (contract 15, 5.4): the stream with its filters, positions and formats, and the log."""
import contextlib
import json
import unittest
import urllib.parse

import http2_client
from harness import PATIENCE_S, ApiTest, Server, allow_files, metric, unique, wait_until
from sse import Frame, Stream
from test_rpc import BASE, envelope, envelopes


class EventTest(ApiTest):
    def stream(self, headers=None, **query):
        stream = Stream(self.server, "?" + urllib.parse.urlencode(query), headers)
        self.addCleanup(stream.close)
        return stream

    def mine(self, headers=None, **query):
        """Open a stream of this test's queue only."""
        return self.stream(headers, queues=self.queue, **query)

    def last(self):
        """Return the position at the end of the log."""
        return metric(self.api, "corvo_events_last_seq")


class Frames(EventTest):
    def test_an_event_logged_before_is_received(self):
        """24.57 an enqueued event logged before subscribing is received with id, event, data."""
        job_id = self.api.enqueue(self.queue)
        stream = self.mine()
        self.assertEqual((stream.status, stream.headers["content-type"],
                          stream.headers["cache-control"], stream.headers["connection"]),
                         (200, "text/event-stream", "no-cache", "keep-alive"))
        frame = stream.next()
        self.assertEqual((frame.event, frame.data["type"], frame.data["job_id"],
                          frame.data["queue"]), ("enqueued", "enqueued", job_id, self.queue))
        self.assertEqual((frame.data["seq"], frame.data["id"]), (frame.id, frame.id))
        self.assertIsInstance(frame.data["at_ns"], int)
        self.assert_time(frame.data["created_at"])
        self.assertEqual(list(frame.data), ["seq", "type", "job_id", "queue", "at_ns", "id",
                                            "created_at"])

    def test_what_each_step_of_a_job_tells(self):
        """5.4, 15.1: the events of a job's life, with their data."""
        stream = self.mine(tail=0)
        job_id = self.active(max_retries=2, retry_base_delay="1ms")
        self.api.heartbeat({job_id: {"progress": {"message": "half", "n": 12345678901234567890}}})
        self.api.heartbeat({job_id: {}})
        self.api.fail(job_id, "broken")
        self.api.fetch(self.queue)
        self.api.ack(job_id)
        frames = stream.take(8)
        self.assertEqual([f.event for f in frames],
                         ["enqueued", "started", "progress", "failed", "retrying", "promoted",
                          "started", "completed"])
        data = [f.data.get("data") for f in frames]
        self.assertEqual(data[1], {"worker_id": "w", "attempt": 1})
        self.assertEqual(data[2], {"message": "half", "n": 12345678901234567890})
        self.assert_time(data[3].pop("next_attempt_at"))
        self.assertEqual(data[3], {"attempt": 1, "error": "broken", "attempts_remaining": 1})
        self.assertEqual([data[i] for i in (0, 4, 5, 7)], [None] * 4)

    def test_what_actions_tell(self):
        other = unique("other")
        stream = self.stream(queues=f"{self.queue},{other}", tail=0)
        job_id = self.api.enqueue(self.queue)
        self.api.act(job_id, "hold", reason="look at it")
        self.api.act(job_id, "approve")
        self.api.act(job_id, "move", queue=other)
        self.api.act(job_id, "cancel")
        self.api.act(job_id, "retry")
        self.api.must(self.api.post(f"/api/v1/queues/{other}/pause"))
        self.api.must(self.api.delete(f"/api/v1/jobs/{job_id}"))
        frames = stream.take(8)
        self.assertEqual([(f.event, f.data["queue"]) for f in frames],
                         [("enqueued", self.queue), ("held", self.queue),
                          ("approved", self.queue), ("moved", other), ("cancelled", other),
                          ("retried", other), ("queue.paused", other), ("deleted", other)])
        self.assertEqual(frames[1].data["data"], {"reason": "look at it"})
        self.assertEqual(frames[3].data["data"], {"from": self.queue, "to": other})
        self.assertNotIn("job_id", frames[6].data)

    def test_progress_over_several_lines_stays_one_line(self):
        job_id = self.active()
        stream = self.mine(tail=0)
        body = '{"jobs":{"%s":{"progress":{\n "a":\r\n [1, "x\\n y"]}}}}' % job_id
        self.api.must(self.api.post("/api/v1/heartbeat", body.encode()))
        frame = stream.next()
        self.assertIn('"data":{"a":[1,"x\\n y"]}', frame.text)

    def test_over_http2(self):
        """Several streams on one connection. Each frame is a separate DATA frame."""
        with contextlib.closing(http2_client.Connection(self.server.port, PATIENCE_S)) as h2:
            streams = [h2.request("GET", f"/api/v1/events?queues={self.queue}&tail=0{extra}")
                       for extra in ("", "&format=message")]
            while len(h2.status) < 2:
                h2.read()
            self.assertEqual(set(h2.status.values()), {200})
            job_ids = self.api.enqueue_batch([{"queue": self.queue}] * 3)["job_ids"]
            for stream, event in zip(streams, ("enqueued", None)):
                while h2.body.get(stream, b"").count(b"\n\n") < 4:  # the first frame is the stream's position
                    h2.read()
                texts = h2.body[stream].decode().split("\n\n")[1:4]
                frames = [Frame(text + "\n\n") for text in texts]
                self.assertEqual([f.data["job_id"] for f in frames], job_ids)
                self.assertEqual({f.event for f in frames}, {event})

    def test_head(self):
        head = self.api.request("HEAD", "/api/v1/events")
        self.assertEqual((head.status, head.body), (200, b""))


class Filters(EventTest):
    def test_dimensions_are_anded_and_values_ored(self):
        """24.57 types/queues/job_ids filters combine with AND."""
        other = unique("other")
        stream = self.stream(queues=f" {self.queue} , {other},", types="completed,started", tail=0)
        first, second = self.api.enqueue(self.queue), self.api.enqueue(other)
        third = self.api.enqueue(unique("third"))
        for queue, job_id in ((self.queue, first), (other, second)):
            self.api.fetch(queue)
            self.api.ack(job_id)
        self.assertEqual([(f.event, f.data["job_id"]) for f in stream.take(4)],
                         [("started", first), ("completed", first),
                          ("started", second), ("completed", second)])
        narrow = self.stream(job_ids=f"{second},{third},nonsense", types="enqueued")
        self.assertEqual([f.data["job_id"] for f in narrow.take(2)], [second, third])

    def test_type_names(self):
        """15.2 completed and job.completed alike; * for all."""
        for types in ("completed", "job.completed", "JOB.COMPLETED", "compl*", "job.c?mpleted",
                      "dead,job.completed"):
            with self.subTest(types=types):
                queue = unique("types")
                stream = self.stream(queues=queue, types=types, tail=0)
                self.api.ack(self.active(queue))
                self.assertEqual(stream.next().event, "completed")
        for types in ("*", ",,,", " , ", ""):
            with self.subTest(types=types):
                queue = unique("types")
                stream = self.stream(queues=queue, types=types, tail=0)
                self.api.enqueue(queue)
                self.assertEqual(stream.next().event, "enqueued")

    def test_what_is_not_asked_for_is_passed_over(self):
        job_id = self.api.enqueue(self.queue)
        by_type = self.mine(types="queue.*", tail=0)
        by_job = self.stream(job_ids=f"nonsense,{job_id}", tail=0)
        self.api.enqueue(self.queue)
        self.api.must(self.api.post(f"/api/v1/queues/{self.queue}/pause"))
        self.api.act(job_id, "cancel")
        self.assertEqual(by_type.next().event, "queue.paused")
        self.assertEqual(by_job.next().event, "cancelled")

    def test_namespaces(self):
        """3.4 events of other namespaces are not visible; names are those of the caller."""
        tenant = self.api.with_headers(X_Corvo_Namespace="acme")
        theirs = self.stream({"X-Corvo-Namespace": "acme"}, tail=0, format="both")
        ours = self.stream(tail=0, types="enqueued,moved",
                           queues=f"{self.queue},acme::{self.queue},acme::{self.queue}2")
        self.api.enqueue(self.queue)
        job_id = tenant.enqueue(self.queue)
        tenant.act(job_id, "move", queue=self.queue + "2")
        frames = theirs.take(4)
        self.assertEqual([(f.event, f.data["queue"]) for f in frames],
                         [("enqueued", self.queue), (None, self.queue),
                          ("moved", self.queue + "2"), (None, self.queue + "2")])
        self.assertEqual(frames[2].data["data"], {"from": self.queue, "to": self.queue + "2"})
        self.assertEqual([f.data["queue"] for f in ours.take(3)],
                         [self.queue, f"acme::{self.queue}", f"acme::{self.queue}2"])
        listed = tenant.must(tenant.get("/api/v1/cluster/events?limit=1000"))["events"]
        self.assertEqual([e["queue"] for e in listed], [self.queue, self.queue + "2"])
        self.refused(tenant.get("/api/v1/events?queues=other::x"), 400, "VALIDATION_ERROR")

    def test_bad_queries(self):
        for query, message in (("tail=x", "tail"), ("tail=-1", "tail"), ("format=xml", "format")):
            with self.subTest(query=query):
                self.refused(self.api.get("/api/v1/events?" + query), 400, "VALIDATION_ERROR",
                             message)


class Positions(EventTest):
    def test_resume_by_query_and_by_header(self):
        """24.57 resume by last_event_id and by header skips older ones."""
        for _ in range(6):
            self.api.enqueue(self.queue)
        ids = [f.id for f in self.mine().take(6)]
        self.assertEqual(ids, sorted(set(ids)))
        for query, header, first in (
                ({"last_event_id": ids[2]}, {}, 3), ({}, {"Last-Event-ID": ids[3]}, 4),
                ({"last_event_id": ids[0]}, {"Last-Event-ID": ids[3]}, 4),
                ({"last_event_id": ids[4]}, {"Last-Event-ID": ids[1]}, 5),
                ({"last_event_id": "nonsense"}, {}, 0), ({"last_event_id": "-3"}, {}, 0),
                ({"last_event_id": ids[1], "tail": 1}, {}, 2), ({"last_event_id": 0}, {}, 0)):
            with self.subTest(query=query, header=header):
                stream = self.mine(header, **query)
                self.assertEqual([f.id for f in stream.take(6 - first)], ids[first:])

    def test_resume_neither_repeats_nor_loses(self):
        """24.57 no event is sent twice: a client that reconnects again and again receives every event once."""
        seen, position = [], self.last()
        for round_number in range(10):
            self.api.enqueue_batch([{"queue": self.queue}] * 20)
            stream = self.mine(last_event_id=position)
            frames = stream.take(17 if round_number < 9 else 200 - len(seen))
            stream.close()
            seen += [f.id for f in frames]
            position = seen[-1]
        self.assertEqual(len(seen), 200)
        self.assertEqual(seen, list(range(seen[0], seen[0] + 200)))

    def test_tail(self):
        for _ in range(5):
            self.api.enqueue(self.queue)
        ids = [f.id for f in self.mine().take(5)]
        self.assertEqual(self.mine(tail=self.last() - ids[0] + 1).next().id, ids[0])
        self.assertEqual(self.mine(tail=self.last() - ids[2] + 1).next().id, ids[2])
        self.assertEqual(self.mine(tail=10 ** 9).next().id, ids[0])
        stream = self.mine(tail=0)
        self.api.enqueue(self.queue)
        self.assertGreater(stream.next().id, ids[-1])

    def test_a_tail_says_where_it_begins(self):
        """A client that is disconnected before its first event continues there. Without a tail no position is sent."""
        self.api.enqueue(self.queue)
        for headers, query in (({}, {"tail": 0}), ({"Accept": "text/event-stream"}, {})):
            last = self.last()
            stream = self.mine(headers, **query)
            self.assertEqual(stream.chunk(), f"id: {last}\n\n")
            stream.close()
            job_id = self.api.enqueue(self.queue)
            self.assertEqual(self.mine(last_event_id=last).next().data["job_id"], job_id)
        self.assertIn("data: ", self.mine().chunk())
        self.assertIn("data: ", self.mine({"Accept": "text/event-stream"}, last_event_id=0).chunk())

    def test_a_position_ahead_of_the_log_waits_for_it(self):
        stream = self.mine(last_event_id=self.last() + 2)
        first = [self.api.enqueue(self.queue) for _ in range(3)]
        self.assertEqual(stream.next().data["job_id"], first[2])

    def test_many_events_between_two_looks(self):
        """Events of one entry and of many, across the borders of blocks and pages."""
        stream = self.mine(tail=0)
        sizes = [1, 127, 128, 129, 1000, 3]
        for size in sizes:
            self.api.enqueue_batch([{"queue": self.queue}] * size)
        ids = [f.id for f in stream.take(sum(sizes))]
        self.assertEqual(ids, list(range(ids[0], ids[0] + sum(sizes))))
        again = [f.id for f in self.mine(last_event_id=ids[130]).take(len(ids) - 131)]
        self.assertEqual(again, ids[131:])


class Dialects(EventTest):
    def test_message(self):
        stream = self.mine(format="message", tail=0)
        self.api.enqueue(self.queue)
        self.api.must(self.api.post(f"/api/v1/queues/{self.queue}/pause"))
        frames = stream.take(2)
        self.assertEqual([(f.event, f.data["type"]) for f in frames],
                         [(None, "job.enqueued"), (None, "queue.paused")])

    def test_both(self):
        stream = self.mine(format="both", tail=0)
        self.api.enqueue(self.queue)
        named, message = stream.take(2)
        self.assertEqual((named.id, named.event, message.event), (message.id, "enqueued", None))
        self.assertEqual((named.data.pop("type"), message.data.pop("type")),
                         ("enqueued", "job.enqueued"))
        self.assertEqual(named.data, message.data)

    def test_a_browser(self):
        """15.2 EventSource: both frames, and only new events."""
        self.api.enqueue(self.queue)
        for accept in ("text/event-stream", "text/html, Text/Event-Stream;q=0.9"):
            stream = self.mine({"Accept": accept})
            job_id = self.api.enqueue(self.queue)
            frames = stream.take(2)
            self.assertEqual([f.event for f in frames], ["enqueued", None])
            self.assertEqual(frames[0].data["job_id"], job_id)
        first = self.mine({"Accept": "*/*"}).next()
        self.assertEqual(first.event, "enqueued")
        named = self.mine({"Accept": "text/event-stream"}, format="named", last_event_id=0)
        self.assertEqual([f.event for f in named.take(3)], ["enqueued"] * 3)


class Log(EventTest):
    def test_pages(self):
        """15.3 after_seq, limit."""
        for _ in range(5):
            self.api.enqueue(self.queue)
        ids = [f.id for f in self.mine().take(5)]
        answer = self.api.must(self.api.get(f"/api/v1/cluster/events?after_seq={ids[0]}&limit=3"))
        self.assertEqual([e["seq"] for e in answer["events"]], list(range(ids[0] + 1, ids[0] + 4)))
        empty = self.api.must(self.api.get(f"/api/v1/cluster/events?after_seq={self.last()}"))
        self.assertEqual(empty, {"events": []})

    def test_of_jobs(self):
        after, (one, _, other) = self.last(), [self.api.enqueue(self.queue) for _ in range(3)]
        self.api.act(one, "cancel")
        for ids, seen in ((one, [(one, "enqueued"), (one, "cancelled")]),
                          (f"{one},{other}", [(one, "enqueued"), (other, "enqueued"), (one, "cancelled")]),
                          ("job_none", [])):
            with self.subTest(ids):
                events = self.api.must(self.api.get(f"/api/v1/cluster/events?after_seq={after}&job_ids={ids}"))["events"]
                self.assertEqual([(e["job_id"], e["type"]) for e in events], seen)

    def test_limits(self):
        self.api.enqueue_batch([{"queue": self.queue}] * 1200)
        for query, count in (("", 100), ("?limit=7", 7), ("?limit=5000", 1000)):
            answer = self.api.must(self.api.get("/api/v1/cluster/events" + query))
            self.assertEqual(len(answer["events"]), count)
        for query, message in (("after_seq=x", "invalid after_seq"), ("after_seq=-1", "after_seq"),
                               ("limit=0", "invalid limit"), ("limit=-5", "invalid limit"),
                               ("limit=abc", "invalid limit")):
            with self.subTest(query=query):
                self.refused(self.api.get("/api/v1/cluster/events?" + query), 400,
                             "VALIDATION_ERROR", message)


class ListFarApart(unittest.TestCase):
    def test_events_of_a_namespace_are_found_however_many_others_lie_between(self):
        with Server("--rate-limit-enabled=false") as server:
            api = server.client()
            tenant = api.with_headers(X_Corvo_Namespace="tenant")
            first = tenant.enqueue("a")
            for _ in range(3):
                api.enqueue_batch([{"queue": "a", "payload": "x" * 10}] * 5000)
            last = tenant.enqueue("a")
            listed = tenant.must(tenant.get("/api/v1/cluster/events"))["events"]
            self.assertEqual([(e["type"], e["job_id"]) for e in listed],
                             [("enqueued", first), ("enqueued", last)])
            listed = tenant.must(tenant.get("/api/v1/cluster/events?limit=1"))["events"]
            self.assertEqual([e["job_id"] for e in listed], [first])
            after = listed[0]["seq"]
            listed = tenant.must(tenant.get(f"/api/v1/cluster/events?after_seq={after}"))["events"]
            self.assertEqual([e["job_id"] for e in listed], [last])
            others = api.must(api.get("/api/v1/cluster/events?limit=1000"))["events"]
            self.assertEqual(len(others), 1000)


class Restart(unittest.TestCase):
    def test_a_stop_ends_streams_and_positions_survive_a_kill(self):
        with Server("--rate-limit-enabled=false") as server:
            api = server.client()
            api.enqueue_batch([{"queue": "a"}] * 50)
            stream = Stream(server)
            ids = [f.id for f in stream.take(30)]
            server.kill()
            server.start()
            again = Stream(server, f"?last_event_id={ids[-1]}")
            api.enqueue("a")
            ids += [f.id for f in again.take(21)]
            self.assertEqual(ids, list(range(1, 52)))
            server.terminate()
            self.assertEqual(again.rest(), ([], True))
            server.start()
            api.enqueue("a")
            self.assertEqual(Stream(server, "?last_event_id=51").next().id, 52)

    def test_off(self):
        """--lifecycle-events=false: nothing is logged, and nothing breaks."""
        with Server("--lifecycle-events=false") as server:
            api = server.client()
            api.enqueue("a")
            stream = Stream(server)
            self.assertEqual(stream.status, 200)
            self.assertEqual(api.must(api.get("/api/v1/cluster/events")), {"events": []})
            stream.close()


class SlowReaders(unittest.TestCase):
    takes_long = True

    def test_one_that_takes_nothing_is_cut_and_the_others_lose_nothing(self):
        batches, size = 24, 5000
        with Server("--rate-limit-enabled=false") as server:
            api = server.client()
            stalled = Stream(server, receive_buffer=4096)
            quick = [Stream(server), Stream(server, "?format=message")]
            for number in range(batches):
                api.enqueue_batch([{"queue": f"q{number}"}] * size)
                for stream in quick:
                    first = number * size + 1
                    self.assertEqual(stream.ids(size), list(range(first, first + size)))
            # Cut because too many events have passed it or, on a slow machine, because it did not read.
            wait_until(lambda: metric(api, "corvo_event_streams_open") == 2,
                       "the stalled stream being cut")
            self.assertEqual(metric(api, "corvo_event_streams_cut_total") +
                             metric(api, "corvo_http_connections_cut_total"), 1)
            ids, in_order = stalled.rest()
            self.assertFalse(in_order, "a stream that was cut does not end like a whole one")
            self.assertEqual(ids, list(range(1, len(ids) + 1)))
            self.assertLess(len(ids), batches * size)
            # It reconnects with its position. Events that are no longer kept are skipped, the rest arrives.
            oldest = api.must(api.get("/api/v1/cluster/events?limit=1"))["events"][0]["seq"]
            back = Stream(server, f"?last_event_id={ids[-1]}")
            self.assertEqual(back.next().id, max(oldest, ids[-1] + 1))
            self.assertGreater(oldest, 2)
            for position, first in ((0, oldest), (1, oldest), (oldest - 1, oldest), (oldest, oldest + 1)):
                with self.subTest(position):
                    self.assertEqual(self.subscribed(server, position), first)
            for stream in quick + [stalled, back]:
                stream.close()
            wait_until(lambda: metric(api, "corvo_event_streams_open") == 0, "streams closing")


    def subscribed(self, server, position):
        """Return the sequence number of the first event of Subscribe (rpc.md 12)."""
        connection = http2_client.Connection(server.port, PATIENCE_S)
        with contextlib.closing(connection):
            stream = connection.open(BASE + "Subscribe", [("content-type", "application/connect+json")])
            connection.data(stream, envelope(b'{"lastEventId":%d}' % position), last=True)
            while not envelopes(connection.body.get(stream, b"")):
                connection.read()
            return int(json.loads(envelopes(connection.body[stream])[0][1])["seq"])


class ManyStreams(unittest.TestCase):
    STREAMS_MAX = 1024  # per network thread

    def test_too_many_streams_are_refused_and_a_place_becomes_free(self):
        allow_files(2 * self.STREAMS_MAX)
        with Server("--http-threads", "1", "--rate-limit-enabled=false") as server, \
                contextlib.ExitStack() as open_streams:
            streams = []
            for _ in range(self.STREAMS_MAX):
                streams.append(Stream(server, "?tail=0"))
                open_streams.callback(streams[-1].close)
            refused = Stream(server, "?tail=0")
            self.assertEqual(refused.status, 429)
            self.assertIn("retry-after", refused.headers)
            refused.close()
            streams[0].close()

            def admitted():
                stream = Stream(server, "?tail=0")
                open_streams.callback(stream.close)
                return stream.status == 200

            wait_until(admitted, "a free place")


if __name__ == "__main__":
    unittest.main()
