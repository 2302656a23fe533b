"""The RPC service (rpc.md): Connect, gRPC and gRPC-Web by hand, byte by byte."""
import json
import struct
import unittest

from harness import ApiTest, Server, unique, wait_until
from http2_client import Connection

BASE = "/corvo.v1.WorkerService/"
PATIENCE_S = 30


def envelope(payload, flags=0):
    return struct.pack(">BI", flags, len(payload)) + payload


def envelopes(body):
    """The complete (flags, payload) pairs of a body."""
    found, at = [], 0
    while at + 5 <= len(body):
        flags, size = struct.unpack(">BI", body[at:at + 5])
        if at + 5 + size > len(body):
            break
        found.append((flags, body[at + 5:at + 5 + size]))
        at += 5 + size
    return found


class Unary(ApiTest):
    def call(self, method, message, **headers):
        answer = self.api.send("POST", BASE + method, json.dumps(message).encode(),
                               {"Content-Type": "application/json", **headers})
        return answer

    def ok(self, method, message):
        answer = self.call(method, message)
        self.assertEqual(answer.status, 200, answer)
        self.assertEqual(answer.headers["content-type"], "application/json")
        return json.loads(answer.body)

    def refused(self, status, code, method, message):
        answer = self.call(method, message)
        body = json.loads(answer.body)
        self.assertEqual((answer.status, body["code"]), (status, code), answer)
        return body.get("message")

    def test_a_job_from_its_producer_to_its_end(self):
        queue = unique("q")
        job = self.ok("Enqueue", {"queue": f" {queue} ", "payloadJson": '{"n":9007199254740993}'})
        self.assertEqual(job["status"], "pending")
        got = self.ok("Fetch", {"queues": [queue], "workerId": "w1", "leaseDuration": 30})
        self.assertEqual((got["jobId"], got["payloadJson"], got["attempt"], got["leaseDuration"]),
                         (job["jobId"], '{"n":9007199254740993}', 1, 30))
        beat = self.ok("Heartbeat", {"jobs": {job["jobId"]: {"progressJson": '{"at":1}'}, "job_none": {}}})
        self.assertEqual(beat["jobs"], {job["jobId"]: {"status": "ok"}, "job_none": {"status": "cancel"}})
        self.assertEqual(self.ok("Ack", {"jobId": job["jobId"], "resultJson": '{"done":true}',
                                         "leaseToken": got["leaseToken"]}), {})
        self.assertEqual(self.api.job(job["jobId"])["result"], {"done": True})

    def test_fail_says_what_comes_next(self):
        queue = unique("q")
        job = self.ok("Enqueue", {"queue": queue})["jobId"]
        self.ok("FetchBatch", {"queues": [queue], "count": 5})
        failed = self.ok("Fail", {"jobId": job, "error": "broken"})
        self.assertEqual((failed["status"], failed["attemptsRemaining"]), ("retrying", 2))
        self.assertRegex(failed["nextAttemptAt"], r"^\d{4}-.*Z$")

    def test_batches(self):
        queue = unique("q")
        ids = [self.ok("Enqueue", {"queue": queue})["jobId"] for _ in range(3)]
        got = self.ok("FetchBatch", {"queues": [queue], "count": 2})["jobs"]
        self.assertEqual([job["jobId"] for job in got], ids[:2])
        items = [{"jobId": job["jobId"]} for job in got] + [{"jobId": "job_none"}]
        self.assertEqual(self.ok("AckBatch", {"items": items}), {"acked": 2})

    def test_refusals_name_the_field(self):
        self.assertEqual(self.refused(400, "invalid_argument", "Enqueue", {}), "queue is required")
        self.assertEqual(self.refused(400, "invalid_argument", "Fetch", {}), "at least one queue is required")
        self.assertEqual(self.refused(400, "invalid_argument", "AckBatch", {}), "items is required")
        self.assertEqual(self.refused(400, "invalid_argument", "Ack", {"jobId": " "}), "job_id is required")
        self.assertIn("queue: expected a string", self.refused(400, "invalid_argument", "Enqueue", {"queue": 5}))
        self.assertIn("not found", self.refused(404, "not_found", "Ack", {"jobId": "job_" + "0" * 26}))
        self.assertIn("payload", self.refused(400, "invalid_argument", "Enqueue", {"queue": "q", "payloadJson": "{"}))
        self.assertIn("progress_json", self.refused(400, "invalid_argument", "Heartbeat",
                                                    {"jobs": {"job_1": {"progressJson": "{"}}}))

    def test_protobuf_and_its_errors(self):
        answer = self.api.send("POST", BASE + "Enqueue", bytes.fromhex("0a06656d61696c7312027b7d"),
                               {"Content-Type": "application/proto"})
        self.assertEqual((answer.status, answer.headers["content-type"]), (200, "application/proto"))
        self.assertIn(b"pending", answer.body)
        answer = self.api.send("POST", BASE + "Enqueue", b"\x0a\x7f", {"Content-Type": "application/proto"})
        self.assertEqual((answer.status, answer.headers["content-type"]), (400, "application/json"))
        answer = self.api.send("POST", BASE + "GetServerInfo", b"", {"Content-Type": "application/proto"})
        self.assertEqual(answer.status, 200)

    def test_what_is_no_call(self):
        self.assertEqual(self.api.send("POST", BASE + "Nothing", b"{}").status, 404)
        answer = self.api.send("GET", BASE + "Enqueue")
        self.assertEqual((answer.status, answer.headers["allow"], answer.body), (405, "POST", b""))
        answer = self.api.send("POST", BASE + "Enqueue", b"x", {"Content-Type": "text/plain"})
        self.assertEqual(answer.status, 415)
        self.assertIn("application/grpc-web+proto", answer.headers["accept-post"])
        answer = self.api.send("POST", BASE + "StreamLifecycle", b"",
                               {"Content-Type": "application/connect+proto"})
        self.assertEqual(answer.status, 505)

    def test_headers_that_cannot_be_followed(self):
        for header, value, status in (("Connect-Protocol-Version", "2", 400), ("Content-Encoding", "gzip", 501),
                                      ("Connect-Timeout-Ms", "soon", 400)):
            with self.subTest(header):
                self.assertEqual(self.call("Enqueue", {"queue": "q"}, **{header: value}).status, status)

    def test_a_deadline_ends_an_empty_fetch(self):
        answer = self.call("Fetch", {"queues": [unique("q")]}, **{"Connect-Timeout-Ms": "50"})
        self.assertEqual((answer.status, answer.body), (200, b"{}"))

    def test_grpc_web(self):
        answer = self.api.send("POST", BASE + "Enqueue", envelope(bytes.fromhex("0a01711202") + b"{}"),
                               {"Content-Type": "application/grpc-web+proto"})
        (flags, message), (last, trailers) = envelopes(answer.body)
        self.assertEqual((flags, last, trailers), (0, 0x80, b"grpc-status: 0\r\n"))
        self.assertIn(b"pending", message)
        answer = self.api.send("POST", BASE + "Enqueue", envelope(b""),
                               {"Content-Type": "application/grpc-web"})
        self.assertEqual(envelopes(answer.body),
                         [(0x80, b"grpc-status: 3\r\ngrpc-message: queue is required\r\n")])
        for body, status in ((b"\0\0\0\0\5a", 3), (b"", 12), (envelope(b"") * 2, 12), (b"\4\0\0\0\0", 13),
                             (b"\1\0\0\0\0", 13), (b"\0\xff\xff\xff\xff", 8)):
            with self.subTest(body):
                answer = self.api.send("POST", BASE + "Enqueue", body, {"Content-Type": "application/grpc-web"})
                self.assertIn(b"grpc-status: %d\r\n" % status, answer.body)

    def test_namespaces_are_apart(self):
        queue = unique("q")
        job = json.loads(self.call("Enqueue", {"queue": queue}, **{"X-Corvo-Namespace": "acme"}).body)["jobId"]
        self.assertEqual(self.call("Fetch", {"queues": [queue]}, **{"Connect-Timeout-Ms": "1"}).body, b"{}")
        got = self.call("Fetch", {"queues": [queue]}, **{"X-Corvo-Namespace": "acme"})
        self.assertEqual((json.loads(got.body)["jobId"], json.loads(got.body)["queue"]), (job, queue))

    def test_one_frame_as_a_call(self):
        queue = unique("q")
        made = self.ok("StreamLifecycle", {"requestId": 7, "enqueues": [{"queue": queue}, {"queue": ""}]})
        self.assertEqual((made["requestId"], len(made["enqueuedJobIds"]), made["error"]),
                         ("7", 1, "enqueue: queue is required"))
        got = self.ok("StreamLifecycle", {"requestId": "8", "queues": [queue], "fetchCount": 4})
        self.assertEqual([job["jobId"] for job in got["jobs"]], made["enqueuedJobIds"])
        self.assertEqual(self.ok("StreamLifecycle", {}), {})


class Credentials(unittest.TestCase):
    def test_errors_speak_the_protocol_of_the_caller(self):
        with Server("--admin-password", "secret") as server:
            api = server.client()
            answer = api.send("POST", BASE + "Enqueue", b"{}", {"Content-Type": "application/json"})
            self.assertEqual((answer.status, json.loads(answer.body)["code"]), (401, "unauthenticated"))
            answer = api.send("POST", BASE + "Enqueue", envelope(b""), {"Content-Type": "application/grpc-web"})
            self.assertIn(b"grpc-status: 16\r\n", answer.body)
            answer = api.send("POST", BASE + "GetServerInfo", b"{}", {"Content-Type": "application/json"})
            self.assertEqual(answer.status, 200)
            answer = api.send("POST", BASE + "Enqueue", b'{"queue":"q"}',
                              {"Content-Type": "application/json", "X-API-Key": "secret"})
            self.assertEqual(answer.status, 200)


class Stream:
    """A lifecycle stream of Connect with JSON messages."""

    def __init__(self, server):
        self.connection = Connection(server.port, PATIENCE_S)
        self.stream = self.connection.open(BASE + "StreamLifecycle",
                                           [("content-type", "application/connect+json")])
        self.taken = 0

    def send(self, raw, last=False):
        self.connection.data(self.stream, raw, last)

    def frame(self, **message):
        self.send(envelope(json.dumps(message).encode()))
        return self.next()

    def next(self):
        """The next envelope's content; the end of the stream is (its JSON,)."""
        while True:
            found = envelopes(self.connection.body.get(self.stream, b""))
            if len(found) > self.taken:
                flags, payload = found[self.taken]
                self.taken += 1
                return (json.loads(payload),) if flags & 2 else json.loads(payload)
            self.connection.read()

    def close(self):
        self.connection.close()


class Lifecycle(ApiTest):
    def open(self):
        stream = Stream(self.server)
        self.addCleanup(stream.close)
        return stream

    def test_headers_come_before_the_first_frame(self):
        stream = self.open()
        while stream.stream not in stream.connection.status:
            stream.connection.read()
        self.assertEqual(stream.connection.status[stream.stream], 200)

    def test_a_thousand_jobs(self):
        queue, stream = unique("q"), self.open()
        made = stream.frame(requestId=1, enqueues=[{"queue": queue}] * 1000)
        self.assertEqual(len(made["enqueuedJobIds"]), 1000)
        done, acks, number = 0, [], 2
        while done < 1000:
            answer = stream.frame(requestId=number, queues=[queue], workerId="w", fetchCount=100, acks=acks)
            self.assertEqual((answer["requestId"], answer.get("error")), (str(number), None))
            done, number = done + answer.get("acked", 0), number + 1
            acks = [{"jobId": job["jobId"]} for job in answer.get("jobs", [])]
        self.assertEqual(self.api.queue(queue)["completed"], 1000)

    def test_the_acks_of_a_frame_free_places_for_its_fetch(self):
        queue, stream = unique("q"), self.open()
        self.api.enqueue_batch([{"queue": queue}] * 2)
        self.api.must(self.api.post(f"/api/v1/queues/{queue}/concurrency", {"max": 1}))
        first = stream.frame(queues=[queue], fetchCount=2)["jobs"]
        self.assertEqual(len(first), 1)
        second = stream.frame(queues=[queue], fetchCount=2, acks=[{"jobId": first[0]["jobId"]}])
        self.assertEqual((second["acked"], len(second["jobs"])), (1, 1))

    def test_an_idle_fetch_is_woken_by_the_job(self):
        with Server("--idle-fetch-sleep", "60s", "--rate-limit-enabled=false") as server:
            stream, api = Stream(server), server.client()
            self.addCleanup(stream.close)
            stream.send(envelope(b'{"requestId":"1","queues":["q"],"fetchCount":1}'))
            wait_until(lambda: api.fetches_waiting() == 1, "the fetch to wait")
            job = api.enqueue("q")
            self.assertEqual(stream.next()["jobs"][0]["jobId"], job)

    def test_parts_fail_apart(self):
        queue, stream = unique("q"), self.open()
        self.api.enqueue(queue)
        answer = stream.frame(queues=[queue], fetchCount=1, acks=[{"jobId": ""}])
        self.assertEqual((answer["error"], len(answer["jobs"])), ("ack: job_id is required", 1))
        self.assertEqual(stream.frame(fetchCount=1)["error"], "fetch: at least one queue is required")

    def test_envelopes_in_any_pieces(self):
        stream = self.open()
        body = envelope(b'{"requestId":"1"}') + envelope(b"") + envelope(b'{"requestId":"3"}')
        for byte in body[:30]:
            stream.send(bytes((byte,)))
        stream.send(body[30:], last=True)
        self.assertEqual([stream.next() for _ in range(4)], [{"requestId": "1"}, {}, {"requestId": "3"}, ({},)])

    def test_a_large_answer_is_whole_although_the_client_sends_no_more(self):
        queue, stream = unique("q"), self.open()
        self.api.enqueue_batch([{"queue": queue, "payload": "p" * 200_000}] * 19)  # its last piece fills the connection
        stream.send(envelope(json.dumps({"queues": [queue], "fetchCount": 19}).encode()), last=True)
        self.assertEqual([len(job["payloadJson"]) for job in stream.next()["jobs"]], [200_002] * 19)
        self.assertEqual(stream.next(), ({},))

    def test_ten_errors_end_the_stream(self):
        stream = self.open()
        for _ in range(10):
            self.assertIn("error", stream.frame(fetchCount=1))
        self.assertEqual(stream.next()[0]["error"]["code"], "aborted")

    def test_bad_bytes_end_it_with_a_reason(self):
        for raw, code in ((envelope(b"{"), "invalid_argument"), (b"\4\0\0\0\0", "internal"),
                          (b"\0\xff\xff\xff\xff", "resource_exhausted"), (envelope(b"x", 1), "internal")):
            with self.subTest(raw):
                stream = self.open()
                stream.send(raw)
                self.assertEqual(stream.next()[0]["error"]["code"], code)
        stream = self.open()
        stream.send(b"\0\0\0", last=True)
        self.assertEqual(stream.next()[0]["error"]["code"], "invalid_argument")

    def test_too_many_streams(self):
        with Server("--stream-max-open", "1") as server:
            first = Stream(server)
            self.addCleanup(first.close)
            self.assertEqual(first.frame(requestId=1), {"requestId": "1"})
            second = Stream(server)
            self.addCleanup(second.close)
            self.assertEqual(second.next()[0]["error"],
                             {"code": "resource_exhausted", "message": "too many open lifecycle streams"})

    def test_a_client_that_goes_leaves_nothing_behind(self):
        queue, stream = unique("q"), Stream(self.server)
        stream.send(envelope(json.dumps({"queues": [queue], "fetchCount": 1}).encode()))
        stream.close()
        job = self.api.enqueue(queue)
        self.assertEqual(self.api.fetch(queue)["job_id"], job)

    def test_grpc_over_http2(self):
        connection = Connection(self.server.port, PATIENCE_S)
        self.addCleanup(connection.close)
        stream = connection.open(BASE + "Enqueue", [("content-type", "application/grpc"), ("te", "trailers")])
        connection.data(stream, envelope(b"\x0a\x01q\x12\x02{}"), last=True)
        status, body = connection.answer(stream)
        self.assertEqual((status, len(envelopes(body)), envelopes(body)[0][0]), (200, 1, 0))
