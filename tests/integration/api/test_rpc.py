"""The RPC service (rpc.md): Connect, gRPC and gRPC-Web, byte by byte."""
import gzip
import json
import re
import signal
import socket
import struct
import threading
import unittest
import urllib.parse

from harness import ApiTest, Server, in_threads, metric, unique, wait_until
from http2_client import Connection

BASE = "/corvo.v1.WorkerService/"
PATIENCE_S = 30


def envelope(payload, flags=0):
    return struct.pack(">BI", flags, len(payload)) + payload


def envelopes(body):
    """Return the complete (flags, payload) pairs of a body."""
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

    def test_null_supplies_nothing(self):
        queue = unique("q")
        job = self.ok("Enqueue", {"queue": queue})["jobId"]
        self.ok("Fetch", {"queues": [queue]})
        for progress in ('{"at":1}', None, "", " ", "null", " null "):
            self.ok("Heartbeat", {"jobs": {job: {"progressJson": progress, "checkpointJson": progress}}})
            stored = self.api.job(job)
            self.assertEqual((stored["progress"], stored["checkpoint"]), ({"at": 1}, {"at": 1}), progress)
        self.ok("Ack", {"jobId": job, "checkpointJson": "null", "resultJson": "null"})
        stored = self.api.job(job)
        self.assertEqual((stored["checkpoint"], stored["result"]), ({"at": 1}, None))

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
        self.assertIn("payload", self.refused(400, "invalid_argument", "Enqueue", {"queue": "q", "payloadJson": "{"}))
        self.assertIn("progress_json", self.refused(400, "invalid_argument", "Heartbeat",
                                                    {"jobs": {"job_1": {"progressJson": "{"}}}))

    def test_too_large_fields_are_invalid(self):
        """1.4, 9: a field above its limit is an invalid argument."""
        queue = unique("q")
        job = self.ok("Enqueue", {"queue": queue})["jobId"]
        self.ok("Fetch", {"queues": [queue]})
        text = lambda size: json.dumps("x" * (size - 2))
        for method, message, words in (
                ("Enqueue", {"queue": "q", "payloadJson": text(262145)}, "payload too large: 262145 bytes (max 262144)"),
                ("Enqueue", {"queue": "q" * 256}, "queue: expected 1 to 255 bytes, got 256"),
                ("Ack", {"jobId": job, "resultJson": text(1048577)}, "result_json too large: 1048577 bytes (max 1048576)"),
                ("Ack", {"jobId": job, "checkpointJson": text(1048577)},
                 "checkpoint_json too large: 1048577 bytes (max 1048576)"),
                ("AckBatch", {"items": [{"jobId": job, "resultJson": text(1048577)}]},
                 "items[0].result_json too large: 1048577 bytes (max 1048576)"),
                ("Heartbeat", {"jobs": {job: {"progressJson": text(32769)}}},
                 f"progress_json for {job} too large: 32769 bytes (max 32768)"),
                ("Heartbeat", {"jobs": {job: {"checkpointJson": text(1048577)}}},
                 f"checkpoint_json for {job} too large: 1048577 bytes (max 1048576)"),
                ("Fetch", {"queues": [queue], "workerId": "w" * 256}, "worker_id too large: 256 bytes (max 255)"),
                ("Fetch", {"queues": [queue], "hostname": "h" * 256}, "hostname too large: 256 bytes (max 255)")):
            with self.subTest(words):
                self.assertEqual(self.refused(400, "invalid_argument", method, message), words)

    def test_errors_have_the_names_of_the_schema(self):
        queue = unique("q")
        job = self.ok("Enqueue", {"queue": queue})["jobId"]
        self.ok("Fetch", {"queues": [queue]})
        bad, model, cost = {"jobId": job, "resultJson": "{"}, {"model": "m" * 256}, {"costUsd": 2e6}
        for method, message, start in (
                ("Enqueue", {"queue": "q", "payloadJson": "{"}, "payload_json: invalid JSON"),
                ("Ack", bad, "result_json: invalid JSON"),
                ("Ack", {"jobId": job, "checkpointJson": "{"}, "checkpoint_json: invalid JSON"),
                ("Ack", {"jobId": job, "usage": model}, "usage.model too large: 256 bytes (max 255)"),
                ("AckBatch", {"items": [{"jobId": job}, bad]}, "items[1].result_json: invalid JSON"),
                ("AckBatch", {"items": [{"jobId": "none"}, bad]}, "items[1].result_json: invalid JSON"),
                ("AckBatch", {"items": [{"jobId": job, "usage": cost}]}, "items[0]: usage.cost_usd: expected"),
                ("AckBatch", {"items": [{"jobId": job}] * 513}, "items has more than 512 items"),
                ("Heartbeat", {"jobs": {job: {"usage": model}}}, f"jobs.{job}: usage.model too large")):
            with self.subTest(start):
                refused = self.refused(400, "invalid_argument", method, message)
                self.assertEqual(refused[:len(start)], start)
        for message, start in (
                ({"acks": [bad]}, "ack: acks[0].result_json: invalid JSON"),
                ({"acks": [{"jobId": "none"}, bad]}, "ack: acks[1].result_json: invalid JSON"),
                ({"acks": [bad] * 513}, "ack: acks has more than 512 items"),
                ({"enqueues": [{"queue": "q"}, {"queue": "q", "payloadJson": "{"}]},
                 "enqueue: enqueues[1].payload_json: invalid JSON"),
                ({"enqueues": [{"queue": "q", "payloadJson": " " * 9 + json.dumps("x" * 262143)}]},
                 "enqueue: enqueues[0]: payload too large: 262145 bytes (max 262144)"),
                ({"enqueues": [{"queue": "q", "agent": {"maxCostUsd": 2e6}}]},
                 "enqueue: enqueues[0]: agent.max_cost_usd: expected")):
            with self.subTest(start):
                self.assertEqual(self.ok("StreamLifecycle", message)["error"][:len(start)], start)

    def test_values_of_another_type_are_named_by_their_place(self):
        for method, message, words in (
                ("Enqueue", {"queue": "q", "agent": {"maxIterations": "x"}},
                 "agent.max_iterations: expected a 32-bit integer"),
                ("Fetch", {"queues": ["q", 5]}, "queues[1]: expected a string"),
                ("AckBatch", {"items": [{"jobId": "a"}, {"jobId": "b", "usage": {"model": 1}}]},
                 "items[1].usage.model: expected a string"),
                ("Heartbeat", {"jobs": {"a": {}, "b": None}}, "jobs.b: expected an object"),
                ("StreamLifecycle", {"enqueues": [{"queue": "q"}, {"queue": []}]}, "enqueues[1].queue: expected a string")):
            with self.subTest(words):
                self.assertEqual(self.refused(400, "invalid_argument", method, message), words)

    def test_values_nested_too_deep_are_invalid(self):
        queue, deep = unique("q"), "[" * 513 + "]" * 513
        job = self.ok("Enqueue", {"queue": queue, "payloadJson": deep[1:-1]})["jobId"]
        self.ok("Fetch", {"queues": [queue]})
        for method, message, words in (
                ("Enqueue", {"queue": "q", "payloadJson": deep}, "payload_json"),
                ("Ack", {"jobId": job, "resultJson": deep}, "result_json"),
                ("AckBatch", {"items": [{"jobId": job, "resultJson": deep}]}, "items[0].result_json"),
                ("Heartbeat", {"jobs": {job: {"progressJson": deep}}}, f"invalid progress_json for {job}")):
            with self.subTest(words):
                self.assertEqual(self.refused(400, "invalid_argument", method, message),
                                 words + ": nested more than 512 deep")

    def test_what_is_said_of_a_job(self):
        """9, 10.4, 10.6, A.4."""
        queue, none = unique("q"), "job_" + "0" * 26
        job = self.ok("Enqueue", {"queue": queue})["jobId"]
        waiting = self.ok("Enqueue", {"queue": queue})["jobId"]
        token = int(self.ok("Fetch", {"queues": [queue]})["leaseToken"])
        for status, code, method, message, words in (
                (404, "not_found", "Ack", {"jobId": none}, f"job {none} not found"),
                (404, "not_found", "Fail", {"jobId": none}, f"job {none} not found"),
                (404, "not_found", "Ack", {"jobId": "x"}, "job x not found"),
                (404, "not_found", "Fail", {"jobId": "y"}, "job y not found"),
                (400, "invalid_argument", "Ack", {"jobId": waiting}, f"job {waiting} is not active"),
                (400, "invalid_argument", "Fail", {"jobId": waiting}, f"job {waiting} is not active (state=pending)"),
                (400, "invalid_argument", "Ack", {"jobId": job, "leaseToken": token + 1},
                 f"job {job} is not active: its lease was lost"),
                (400, "invalid_argument", "Fail", {"jobId": job, "leaseToken": token + 1},
                 f"job {job} is not active: its lease was lost"),
                (400, "invalid_argument", "Ack", {"jobId": job, "agentStatus": "later"},
                 'invalid agent_status "later": expected continue, done or hold'),
                (400, "invalid_argument", "Ack", {"jobId": job, "agentStatus": " Done "},
                 f"job {job} is not an agent job")):
            with self.subTest(method, words=words):
                self.assertEqual(self.refused(status, code, method, message), words)

    def test_answers_have_the_type_of_the_request(self):
        for kind, body in (("json", b"{}"), ("grpc-web+json", envelope(b"{}")), ("grpc+json", envelope(b"{}"))):
            for charset in ("", "; charset=utf-8"):
                with self.subTest(kind + charset):
                    type = f"application/{kind}{charset}"
                    answer = self.api.send("POST", BASE + "GetServerInfo", body, {"Content-Type": type})
                    self.assertEqual((answer.status, answer.headers["content-type"]), (200, type))
                    answer = self.api.send("POST", BASE + "Enqueue", body, {"Content-Type": type})
                    # An error of a plain call is JSON, whatever the format of the request.
                    self.assertEqual(answer.headers["content-type"], "application/json" if kind == "json" else type)

    def test_protobuf_and_its_errors(self):
        answer = self.api.send("POST", BASE + "Enqueue", bytes.fromhex("0a06656d61696c7312027b7d"),
                               {"Content-Type": "application/proto"})
        self.assertEqual((answer.status, answer.headers["content-type"]), (200, "application/proto"))
        self.assertIn(b"pending", answer.body)
        answer = self.api.send("POST", BASE + "Enqueue", b"\x0a\x7f", {"Content-Type": "application/proto"})
        self.assertEqual((answer.status, answer.headers["content-type"]), (400, "application/json"))
        answer = self.api.send("POST", BASE + "GetServerInfo", b"", {"Content-Type": "application/proto"})
        self.assertEqual(answer.status, 200)

    def test_errors_are_utf_8(self):
        """A message quotes what the client sent, and is cut where it gets too long."""
        for pad in ("", "x"):  # one of the two is cut inside a character
            queue = f"default::{pad}{'é' * 118}".encode()
            item = b"\x0a" + bytes((len(queue) & 127 | 128, len(queue) >> 7)) + queue
            frame = b"\x42" + bytes((len(item) & 127 | 128, len(item) >> 7)) + item
            answer = self.api.send("POST", BASE + "StreamLifecycle", frame, {"Content-Type": "application/proto"})
            self.assertEqual((answer.status, answer.body[0]), (200, 0x22))
            self.assertIn("enqueue: enqueues[0]", answer.body[3:].decode())
            answer = self.api.send("POST", BASE + "Enqueue", envelope(item), {"Content-Type": "application/grpc-web"})
            (_, trailers), = envelopes(answer.body)
            self.assertIn("queue 'default::", urllib.parse.unquote_to_bytes(trailers).decode())
        answer = self.api.send("POST", BASE + "Enqueue", envelope(b""),
                               {"Content-Type": "application/grpc-web", "Grpc-Timeout": "1\xff"})
        self.assertIn(b"got '1%EF%BF%BD'", answer.body)

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
            self.assertNotIn("retry-after", answer.headers)  # a retry would not help
            answer = api.send("POST", BASE + "Enqueue", envelope(b""), {"Content-Type": "application/grpc-web"})
            self.assertIn(b"grpc-status: 16\r\n", answer.body)
            # 8.6: the Content-Type decides, even if the method does not exist or does not accept it.
            for method in ("Enqueue", "Nothing"):
                answer = api.send("POST", BASE + method, b"{}", {"Content-Type": "application/json"})
                self.assertEqual((answer.status, answer.body),
                                 (401, b'{"code":"unauthenticated","message":"missing API key"}'))
                answer = api.send("POST", BASE + method, b"", {"Content-Type": "application/connect+json"})
                self.assertEqual((answer.status, [(flags, json.loads(end)) for flags, end in envelopes(answer.body)]),
                                 (200, [(2, {"error": {"code": "unauthenticated", "message": "missing API key"}})]))
                answer = api.send("POST", BASE + method, b"", {"Content-Type": "application/grpc"})
                self.assertEqual((answer.status, answer.headers["grpc-status"]), (200, "16"))
                answer = api.send("POST", BASE + method, b"{}", {"Content-Type": "text/plain"})
                self.assertEqual((answer.status, answer.headers["content-type"], answer.body),
                                 (401, "application/json", b'{"error":"missing API key","code":"UNAUTHORIZED"}\n'))
            answer = api.send("POST", BASE + "GetServerInfo", b"{}", {"Content-Type": "application/json"})
            self.assertEqual(answer.status, 200)
            answer = api.send("POST", BASE + "Enqueue", b'{"queue":"q"}',
                              {"Content-Type": "application/json", "X-API-Key": "secret"})
            self.assertEqual(answer.status, 200)


class Overload(unittest.TestCase):
    def test_it_tells_when_to_retry(self):
        """9: the error of a full pipeline has the hint and the header of the HTTP API, in each protocol."""
        kinds = {"application/json": b'{"queue":"q"}', "application/grpc-web": envelope(b"\x0a\x01q")}
        with Server("--raft-max-pending", "1", "--rate-limit-enabled=false") as server:
            api, refused = server.client(), {}

            def work(n):
                kind = sorted(kinds)[n % 2]
                for _ in range(40):
                    answer = api.send("POST", BASE + "Enqueue", kinds[kind], {"Content-Type": kind})
                    if b"overloaded" in answer.body:
                        refused[kind] = answer

            in_threads(16, work)
            self.assertEqual(set(refused), set(kinds))
            for answer in refused.values():
                hint = re.search(r"overloaded: .* \(retry_after_ms=(\d+)\)",
                                 answer.body.decode(errors="replace"))
                self.assertEqual(answer.headers["retry-after"], f"{int(hint[1]) / 1000:.3f}", answer)

    def test_a_limited_rate(self):
        with Server("--rate-limit-write-rps", "1", "--rate-limit-write-burst", "1", "--rate-limit-loopback") as server:
            api = server.client()
            send = lambda: api.send("POST", BASE + "Enqueue", b'{"queue":"q"}', {"Content-Type": "application/json"})
            answer = wait_until(lambda: (a := send()).status == 429 and a, "the limit")
            self.assertEqual((answer.headers["retry-after"], json.loads(answer.body)["message"]),
                             ("1", "rate limit exceeded"))


class Stopping(unittest.TestCase):
    def test_a_watch_that_comes_while_the_server_stops(self):
        """The head of the request arrives before the stop and its message afterwards: there is a response or the end
        of the stream, and the server stops cleanly."""
        for service in (b"nobody", b""):
            with self.subTest(service=service):
                server = Server("--shutdown-timeout", "2s")
                self.addCleanup(server.discard)
                question = envelope(b'{"service":"%s"}' % service)
                with socket.create_connection(("127.0.0.1", server.port), timeout=30) as watch:
                    watch.sendall(b"POST /grpc.health.v1.Health/Watch HTTP/1.1\r\nHost: x\r\n"
                                  b"Content-Type: application/connect+json\r\n"
                                  b"Content-Length: %d\r\n\r\n" % len(question))
                    self.assertEqual(server.client().get("/healthz").status, 200)  # the server has received the head
                    server.process.send_signal(signal.SIGTERM)
                    wait_until(lambda: server.events("stopping"))
                    watch.sendall(question)
                    while watch.recv(4096):
                        pass
                server.wait_stopped()


    def test_a_stream_in_the_middle_of_a_frame(self):
        """The frame cannot be completed, which is not the client's fault."""
        server = Server("--shutdown-timeout", "5s")
        self.addCleanup(server.discard)
        stream = Stream(server)
        self.addCleanup(stream.close)
        stream.send(envelope(b'{"requestId":1}') + envelope(b'{"requestId":2}')[:-1])
        self.assertEqual(stream.next(), {"requestId": "1"})
        server.process.send_signal(signal.SIGTERM)
        self.assertEqual(stream.next(), ({},))
        server.wait_stopped()


class Subscribe(ApiTest):
    """At byte level, over HTTP/1.1 and HTTP/2. test_grpc.py uses a real client."""

    def test_the_bytes_over_http1(self):
        job = self.api.enqueue(unique("q"))
        with socket.create_connection(("127.0.0.1", self.server.port), PATIENCE_S) as raw:
            body = envelope(json.dumps({"jobIds": [job]}).encode())
            raw.sendall(b"POST " + BASE.encode() + b"Subscribe HTTP/1.1\r\nHost: x\r\n"
                        b"Content-Type: application/connect+json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            seen = b""
            while job.encode() not in seen:
                seen += raw.recv(65536)
            self.assertIn(b"HTTP/1.1 200", seen)
            self.assertIn(b'"type":"enqueued"', seen)

    def test_an_end_of_stream_is_a_half_close(self):
        job = self.api.enqueue(unique("q"))
        question, end = envelope(json.dumps({"jobIds": [job]}).encode()), envelope(b"{}", 2)
        connection = Connection(self.server.port, PATIENCE_S)
        self.addCleanup(connection.close)

        def ask(body):
            stream = connection.open(BASE + "Subscribe", [("content-type", "application/connect+json")])
            connection.data(stream, body, True)
            while not envelopes(connection.body.get(stream, b"")):
                connection.read()
            flags, payload = envelopes(connection.body[stream])[0]
            return flags, json.loads(payload)

        flags, event = ask(question + end)
        self.assertEqual((flags, event.get("jobId")), (0, job), event)
        for body in (end, end + question, question + end + end, question + end[:-1], question + question):
            with self.subTest(body):
                flags, answer = ask(body)
                self.assertEqual((flags, answer["error"]["code"]), (2, "unimplemented"))

    def test_an_unknown_type_is_refused_with_all_types(self):
        """http-api.md 26: the error lists every type, and each of them is accepted."""
        question = lambda *types: (envelope(json.dumps({"types": types}).encode()),
                                   {"Content-Type": "application/grpc-web+json"})
        (_, refused), = envelopes(self.api.send("POST", BASE + "Subscribe", *question("nonsense")).body)
        start = b"grpc-status: 3\r\ngrpc-message: types: got 'nonsense', expected "
        self.assertTrue(refused.startswith(start), refused)
        words = refused[len(start):].decode().strip().replace(" or ", ", ").split(", ")
        self.assertEqual((len(words), words[0], words[-1]), (24, "enqueued", "budget.exceeded"))
        for path in ("events?types=nonsense", "webhooks"):
            body = {"url": "http://a.example/", "events": ["nonsense"]}
            answer = self.api.get("/api/v1/" + path) if "?" in path else self.api.post("/api/v1/" + path, body)
            self.assertIn("queue.deleted or budget.exceeded", answer.json["error"])
        answer = self.api.send("POST", BASE + "Subscribe", *question(*words, "nonsense"))
        self.assertIn(b"got 'nonsense'", answer.body)  # not one of the others

    def test_exactly_one_question(self):
        for body, status in ((b"", 12), (envelope(b"") * 2, 12), (b"\0\0\0", 3), (envelope(b"\xff"), 3)):
            with self.subTest(body):
                answer = self.api.send("POST", BASE + "Subscribe", body, {"Content-Type": "application/grpc-web"})
                self.assertIn(b"grpc-status: %d\r\n" % status, answer.body)
        answer = self.api.send("POST", BASE + "Subscribe", b"{}", {"Content-Type": "application/json"})
        self.assertEqual(answer.status, 415)
        self.assertNotIn("application/proto,", answer.headers["accept-post"])


class Stream:
    """A lifecycle stream over Connect with JSON messages."""

    def __init__(self, server, headers=()):
        self.connection = Connection(server.port, PATIENCE_S)
        self.stream = self.connection.open(BASE + "StreamLifecycle",
                                           [("content-type", "application/connect+json"), *headers])
        self.taken = 0

    def send(self, raw, last=False):
        self.connection.data(self.stream, raw, last)

    def frame(self, **message):
        self.send(envelope(json.dumps(message).encode()))
        return self.next()

    def next(self):
        """Return the content of the next envelope, or (its JSON,) for the end of the stream."""
        while True:
            found = envelopes(self.connection.body.get(self.stream, b""))
            if len(found) > self.taken:
                flags, payload = found[self.taken]
                self.taken += 1
                payload = gzip.decompress(payload) if flags & 1 else payload
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

    def test_a_deadline_ends_a_fetch_that_waits(self):
        with Server("--idle-fetch-sleep", "60s", "--rate-limit-enabled=false") as server:
            stream = Stream(server, [("connect-timeout-ms", "300")])
            self.addCleanup(stream.close)
            answer = stream.frame(requestId=1, queues=["q"], fetchCount=1)
            self.assertEqual(answer, {"requestId": "1"})
            self.assertEqual(stream.next()[0]["error"]["code"], "deadline_exceeded")
            self.assertTrue(server.client().enqueue("q"))

    def test_a_deadline_ends_an_exchange_that_waits(self):
        with Server("--idle-fetch-sleep", "60s") as server:
            connection = Connection(server.port, PATIENCE_S)
            self.addCleanup(connection.close)
            stream = connection.open(BASE + "StreamLifecycle", [("content-type", "application/json"),
                                                                ("connect-timeout-ms", "50")])
            connection.data(stream, b'{"requestId":"1","queues":["q"],"fetchCount":1}', last=True)
            self.assertEqual(connection.answer(stream), (200, b'{"requestId":"1"}'))

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
        self.api.enqueue_batch([{"queue": queue, "payload": "p" * 200_000}] * 19)  # the last part fills the connection
        stream.send(envelope(json.dumps({"queues": [queue], "fetchCount": 19}).encode()), last=True)
        self.assertEqual([len(job["payloadJson"]) for job in stream.next()["jobs"]], [200_002] * 19)
        self.assertEqual(stream.next(), ({},))

    def test_ten_errors_end_the_stream(self):
        stream = self.open()
        for _ in range(10):
            self.assertIn("error", stream.frame(fetchCount=1))
        self.assertEqual(stream.next()[0]["error"]["code"], "aborted")

    def test_the_limit_of_errors_is_a_setting(self):
        with Server("--stream-strike-limit", "2", "--stream-strike-delay", "0") as server:
            stream = Stream(server)
            self.addCleanup(stream.close)
            for _ in range(2):
                self.assertIn("error", stream.frame(fetchCount=1))
            self.assertEqual(stream.next()[0]["error"]["code"], "aborted")

    def test_frames_that_get_no_slot_in_time(self):
        """11.2, step 5: one frame at a time; the others wait for one millisecond."""
        flags = ("--stream-max-inflight", "1", "--stream-acquire-timeout", "1ms", "--stream-max-fps", "0",
                 "--http-threads", "1", "--rate-limit-enabled=false")
        saturated = "OVERLOADED: lifecycle stream saturated"
        with Server(*flags) as server:
            streams = [Stream(server) for _ in range(32)]
            for stream in streams:
                self.addCleanup(stream.close)
            done = refused = 0

            def crowd():
                nonlocal done, refused
                for stream in streams:
                    stream.send(envelope(json.dumps({"requestId": 7, "enqueues": [{"queue": "q"}] * 50}).encode()))
                for stream in streams:
                    answer = stream.next()
                    self.assertEqual(answer["requestId"], "7")
                    if "error" in answer:
                        self.assertEqual(answer, {"requestId": "7", "error": saturated})
                        refused += 1
                    else:
                        done += len(answer["enqueuedJobIds"])
                return refused > 0 and done > 0
            wait_until(crowd, "a frame that gets no slot")
            api = server.client()
            self.assertEqual((api.queue("q")["pending"], metric(api, "corvo_lifecycle_overload_total")), (done, refused))
            # A single exchange waits equally long.
            results = []

            def exchange():
                results.append(server.client().send("POST", BASE + "StreamLifecycle", json.dumps(
                    {"enqueues": [{"queue": "r"}] * 50}).encode(), {"Content-Type": "application/json"}).json)

            def exchanges():
                threads = [threading.Thread(target=exchange) for _ in range(16)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                return any(r.get("error") == saturated for r in results)
            wait_until(exchanges, "an exchange that gets no slot")

    def test_a_deadline_ends_an_exchange_that_waits_for_a_slot(self):
        """None of its work is done."""
        flags = ("--stream-max-inflight", "1", "--http-threads", "1", "--rate-limit-enabled=false")
        body = json.dumps({"enqueues": [{"queue": "q"}] * 50}).encode()
        with Server(*flags) as server:
            answers = []

            def exchange():
                answers.append(server.client().send("POST", BASE + "StreamLifecycle", body,
                                                    {"Content-Type": "application/json", "Connect-Timeout-Ms": "5"}))

            def late():
                threads = [threading.Thread(target=exchange) for _ in range(16)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                return [answer for answer in answers if answer.status == 504]
            for answer in wait_until(late, "an exchange that gets no slot in time"):
                self.assertEqual(answer.json, {"code": "deadline_exceeded", "message": "the deadline has passed"})
            done = sum(answer.status == 200 for answer in answers)
            self.assertEqual(server.client().queue("q")["pending"], 50 * done)

    def test_a_full_pipeline_is_not_a_lack_of_slots(self):
        with Server("--raft-max-pending", "1", "--rate-limit-enabled=false") as server:
            stream, api = Stream(server), server.client()
            self.addCleanup(stream.close)

            def overload():
                job = api.enqueue("q")
                answer = stream.frame(queues=["q"], fetchCount=1, acks=[{"jobId": job}])
                return re.fullmatch(r"OVERLOADED: fetch: .* \(retry_after_ms=[0-9]+\)", answer.get("error", ""))
            wait_until(overload, "a fetch that has no place beside the acks of its frame")
            self.assertEqual(metric(api, "corvo_lifecycle_overload_total"), 0)

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

    def test_an_end_of_stream_is_a_half_close(self):
        """4.2: anything after it is not read."""
        for rest in (b"", envelope(b"{}"), envelope(b"", 2), b"\0\0", b"\4\0\0\0\0"):
            with self.subTest(rest):
                stream = self.open()
                stream.send(envelope(b'{"requestId":1}') + envelope(b"{}", 2) + rest)
                self.assertEqual([stream.next(), stream.next()], [{"requestId": "1"}, ({},)])

    def test_too_many_streams(self):
        with Server("--stream-max-open", "1") as server:
            first = Stream(server)
            self.addCleanup(first.close)
            self.assertEqual(first.frame(requestId=1), {"requestId": "1"})
            second = Stream(server)
            self.addCleanup(second.close)
            self.assertEqual(second.next()[0]["error"],
                             {"code": "resource_exhausted", "message": "too many open lifecycle streams"})

    def test_streams_and_frames_are_counted(self):
        flags = "--stream-max-open", "7", "--stream-max-inflight", "3", "--idle-fetch-sleep", "60s"
        with Server(*flags, "--rate-limit-enabled=false") as server:
            api = server.client()

            def numbers(*names):
                return [metric(api, "corvo_lifecycle_" + name) for name in names]

            self.assertEqual(numbers("streams_max", "frames_max_inflight"), [7, 3])
            first, second = Stream(server), Stream(server)
            first.frame(requestId=1)  # an empty frame uses no slot
            job = first.frame(enqueues=[{"queue": "q"}])["enqueuedJobIds"][0]
            second.frame(queues=["q"], fetchCount=1)
            self.assertEqual(numbers("streams_open", "streams_total", "frames_total", "frames_inflight"), [2, 2, 2, 0])
            self.assertEqual(numbers("overload_total", "idle_fetch_total"), [0, 0])
            second.send(envelope(b'{"queues":["q"],"fetchCount":1}'))
            wait_until(lambda: api.fetches_waiting() == 1, "the fetch to wait")
            self.assertEqual(numbers("frames_total", "frames_inflight"), [3, 0])  # a waiting fetch uses no slot
            first.frame(acks=[{"jobId": job}], enqueues=[{"queue": "q"}])
            second.next()
            self.assertEqual(numbers("frames_total", "idle_fetch_total"), [4, 1])
            api.must(api.send("POST", BASE + "StreamLifecycle", b'{"enqueues":[{"queue":"q"}]}',
                              {"Content-Type": "application/json"}))  # a separate call
            self.assertEqual(numbers("frames_total", "streams_total"), [5, 2])
            first.close()
            second.close()
            wait_until(lambda: numbers("streams_open") == [0], "the streams to end")
            self.assertEqual(numbers("streams_total", "frames_inflight"), [2, 0])

    def test_idle_fetches_leave_the_slots_to_others(self):
        with Server("--stream-max-inflight", "1", "--idle-fetch-sleep", "60s", "--rate-limit-enabled=false") as server:
            api, streams = server.client(), [Stream(server) for _ in range(8)]
            for stream in streams:
                self.addCleanup(stream.close)
                stream.send(envelope(b'{"queues":["q"],"fetchCount":1}'))
            wait_until(lambda: api.fetches_waiting() == 8, "all of them to wait")
            other = Stream(server)
            self.addCleanup(other.close)
            made = other.frame(enqueues=[{"queue": "q"}] * 8)["enqueuedJobIds"]
            self.assertEqual(sorted(stream.next()["jobs"][0]["jobId"] for stream in streams), sorted(made))

    def test_frames_sent_ahead_wait_for_their_slot(self):
        flags = "--stream-max-inflight", "1", "--stream-max-fps", "0", "--rate-limit-enabled=false"
        with Server(*flags) as server:
            streams = [Stream(server) for _ in range(8)]
            for number in range(1, 41):
                body = envelope(json.dumps({"requestId": number, "enqueues": [{"queue": "q"}]}).encode())
                for stream in streams:
                    stream.send(body)
            for stream in streams:
                self.addCleanup(stream.close)
                self.assertEqual([stream.next()["requestId"] for _ in range(40)], [str(n) for n in range(1, 41)])
            self.assertEqual(metric(server.client(), "corvo_lifecycle_frames_total"), 320)
            self.assertEqual(server.client().queue("q")["pending"], 320)

    def test_a_client_that_goes_leaves_nothing_behind(self):
        queue, stream = unique("q"), Stream(self.server)
        stream.send(envelope(json.dumps({"queues": [queue], "fetchCount": 1}).encode()))
        stream.close()
        job = self.api.enqueue(queue)
        self.assertEqual(self.api.fetch(queue)["job_id"], job)

    def test_each_protocol_with_each_codec(self):
        """16.2, 1: all of them over HTTP/2; over HTTP/1.1 those that it supports."""
        connection = Connection(self.server.port, PATIENCE_S)
        self.addCleanup(connection.close)
        messages = {"proto": b"\x0a\x01q\x12\x02{}", "json": b'{"queue":"q","payloadJson":"{}"}'}
        for protocol in ("", "grpc+", "grpc-web+"):
            for codec, message in messages.items():
                kind = f"application/{protocol}{codec}"
                body = envelope(message) if protocol else message
                with self.subTest(kind, http=2):
                    stream = connection.open(BASE + "Enqueue", [("content-type", kind), ("te", "trailers")])
                    connection.data(stream, body, last=True)
                    status, answer = connection.answer(stream)
                    self.expect_job(protocol, codec, status, answer)
                if protocol != "grpc+":
                    with self.subTest(kind, http=1):
                        answer = self.api.send("POST", BASE + "Enqueue", body, {"Content-Type": kind})
                        self.assertEqual(answer.headers["content-type"], kind)
                        self.expect_job(protocol, codec, answer.status, answer.body)

    def expect_job(self, protocol, codec, status, body):
        """Check that the response to an enqueue is one message, followed by the trailer of its protocol."""
        self.assertEqual(status, 200)
        if protocol:
            (flags, message), *rest = envelopes(body)
            self.assertEqual(flags, 0)
            self.assertEqual(rest, [(0x80, b"grpc-status: 0\r\n")] if protocol == "grpc-web+" else [])
        else:
            message = body
        job = json.loads(message)["jobId"] if codec == "json" else message[2:32].decode()
        self.assertEqual(self.api.job(job)["queue"], "q")
