"""Damaged requests: each gets a well-formed response or a closed connection.

Valid requests of every kind are truncated, duplicated, spliced and changed at random bytes. Each is sent on a
separate connection, and the response is read to its end. The server must stay up, respond to a valid request in
between, and end without a leak (a sanitizer build reports leaks with its exit status). CORVO_MUTATIONS sets the
number of requests. A failure reports the seed.
"""
import gzip
import json
import os
import random
import re
import socket
import struct
import unittest

import http2_client as h2
from harness import PATIENCE_S, Server, in_threads, unique

MUTATIONS = int(os.environ.get("CORVO_MUTATIONS", "4000"))
SENDERS = 4
STATUS_LINE = re.compile(rb"\AHTTP/1\.1 ([1-5]\d\d) [A-Za-z ]+\Z")
BYTES = [b"\0", b"\r", b"\n", b"\r\n\r\n", b" ", b":", b"{", b"}", b"[", b'"', b"\\", b"\xff",
         b"%00", b"%2f", b"..", b"-1", b"99999999999999999999", b"1e999", b"\\ud800", b"\xc3\x28",
         b"chunked", b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n"]


def request(method, path, body=None, headers=b""):
    raw = b"" if body is None else json.dumps(body).encode()
    return (b"%s %s HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n"
            % (method.encode(), path.encode(), headers, len(raw))) + raw


def chunked(path, body):
    raw = json.dumps(body).encode()
    half = len(raw) // 2
    pieces = b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in (raw[:half], raw[half:]))
    return (b"POST %s HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" % path.encode()
            + pieces + b"0\r\n\r\n")


def examples(queue, job):
    """Return valid requests of every kind: method, path and body."""
    job_body = {"queue": queue, "payload": {"n": [1, 2.5, None, "\u00e9"]}, "priority": "high",
                "tags": {"a": "b"}, "unique_key": "k", "unique_period": 60, "max_retries": 3,
                "retry_base_delay": "5s", "expire_after": "1h", "scheduled_at":
                "2099-01-01T00:00:00Z", "chain": {"steps": [{"queue": queue, "payload": {}}] * 2},
                "agent": {"max_iterations": 3, "max_cost_usd": 0.5, "iteration_timeout": "1m"}}
    return [
        ("POST", "/api/v1/enqueue", job_body),
        ("POST", "/api/v1/enqueue/batch", {"jobs": [job_body, {"queue": queue}],
                                           "batch": {"callback_queue": queue}}),
        ("POST", "/api/v1/fetch", {"queues": [queue], "worker_id": "w", "timeout": 0}),
        ("POST", "/api/v1/fetch/batch", {"queues": [queue], "count": 3, "timeout": 0}),
        ("POST", f"/api/v1/ack/{job}", {"result": {"a": 1}, "lease_token": 5}),
        ("POST", "/api/v1/ack/batch", {"acks": [{"job_id": job, "result": 1}]}),
        ("POST", f"/api/v1/fail/{job}", {"error": "e", "backtrace": "b"}),
        ("POST", "/api/v1/heartbeat", {"jobs": {job: {"progress": {"p": 1}}}}),
        ("GET", f"/api/v1/jobs/{job}", None),
        ("POST", f"/api/v1/jobs/{job}/move", {"queue": queue}),
        ("POST", "/api/v1/jobs/bulk-get", {"job_ids": [job]}),
        ("GET", "/api/v1/queues?x=%20y&z", None),
        ("POST", f"/api/v1/queues/{queue}/throttle", {"rate": 5, "window_ms": 100}),
        ("POST", "/api/v1/schedules", {"name": "s", "queue": queue, "cron": "*/5 * * * *",
                                       "timezone": "Europe/Berlin"}),
        ("POST", "/api/v1/jobs/search", {"queue": queue, "state": ["dead"], "payload_jq":
                                         '.a.b == "c"', "tags": {"a": "b"}, "limit": 5}),
        ("POST", "/api/v1/enqueue", {"queue": queue, "payload": {"a": 1}, "push": {
            "url": "http://127.0.0.1:1/x", "method": "PUT", "headers": {"X-A": "b"}, "timeout": "1s",
            "auth": {"type": "bearer", "token": "t"}, "success_below": 300}}),
        ("POST", "/api/v1/jobs/bulk", {"action": "retry", "filter": {"queue": queue, "state": ["dead"]}}),
        ("POST", "/api/v1/batch", {"callback_queue": queue, "callback_payload": {"a": [1]}}),
        ("POST", "/api/v1/webhooks", {"id": queue, "url": "http://127.0.0.1:1/", "events": ["failed"]}),
        ("POST", "/api/v1/approval-policies", {"name": "p", "queue": queue, "tags": {"a": "b"}}),
        ("POST", "/api/v1/budgets", {"scope": "queue", "target": queue, "daily_usd": 1.5}),
        ("POST", "/api/v1/namespaces", {"name": "tenant"}),
        ("PUT", "/api/v1/namespaces/tenant/rate-limit", {"read_rps": 5, "write_rps": 2.5}),
        ("POST", "/api/v1/auth/roles", {"name": "r", "permissions": [{"resource": "jobs", "actions": ["read"]}]}),
        ("POST", "/api/v1/auth/session", {"password": "guess", "api_key": "guess"}),
        ("GET", f"/api/v1/history?queue={queue}&from=1h&step=1m&series=enqueued,wait&format=csv", None),
        ("GET", f"/api/v1/history/queues?queues={queue}&from=1h&step=1m&series=oldest", None),
        ("GET", "/api/v1/cluster/history?from=1h&step=1m&format=csv", None),
        ("POST", "/api/v1/markers", {"text": "deployed 1.4.2", "queue": queue, "at": "2026-02-11T10:00:00Z"}),
        ("GET", "/api/v1/errors?since=1h&limit=5", None),
        ("GET", "/api/v1/audit-logs?limit=5&since=2026-01-01T00:00:00Z", None),
        ("GET", "/api/v1/admin/backup?include_secrets=true", None),
        ("PUT", "/api/v1/org", {"name": "o"}),
        ("POST", "/api/v1/cluster/join", {"node_id": "n", "addr": "127.0.0.1:1"}),
        ("POST", "/api/v1/cluster/transfer", {"node_id": "n"}),
        ("POST", "/jobs", {"id": "one", "type": "unico", "timestamp": "2099-01-01T00:00:00Z",
                           "webhook_url": "http://127.0.0.1:1/", "payload": {"a": 1}}),
        ("POST", "/jobs", {"type": "recurrente", "cron_expression": "*/5 * * * *",
                           "last_date": "2099-01-01T00:00:00Z", "webhook_url": "http://127.0.0.1:1/"}),
        ("GET", "/jobs?status=pending&limit=5", None),
        ("POST", "/join", {"node_id": "n", "address": "127.0.0.1:1"}),
        ("GET", "/debug/cluster", None),
    ]


def originals(queue, job):
    kinds = examples(queue, job)
    return [request(*kind) for kind in kinds] + [
        request("GET", "/metrics", headers=b"Accept: */*\r\nX-Request-Id: abc\r\n"),
        chunked("/api/v1/enqueue", kinds[0][2]),
        http2_original(queue, job),
        http2_original(queue, job),
        *rpc_originals(queue, job),
    ]


def text_field(number, text):
    return bytes((number << 3 | 2, len(text))) + text.encode()


def rpc_originals(queue, job):
    """Return calls of the RPC service in each protocol, and a connection with streams."""
    def call(method, kind, body, headers=b""):
        return (b"POST /corvo.v1.WorkerService/%s HTTP/1.1\r\nHost: x\r\nContent-Type: application/%s\r\n%s"
                b"Content-Length: %d\r\n\r\n" % (method, kind, headers, len(body))) + body

    def envelope(message, flags=0):
        return struct.pack(">BI", flags, len(message)) + message

    def headers(stream, method, kind):
        block = h2.encode([(":method", "POST"), (":scheme", "http"), (":path", method), (":authority", "x"),
                           ("content-type", kind), ("grpc-encoding", "gzip")])
        return h2.frame(h2.HEADERS, h2.END_HEADERS, stream, block)

    one = text_field(1, queue) + text_field(2, "{}")
    beat = text_field(1, job) + text_field(2, text_field(1, '{"p":1}').decode())
    frame = (b"\x08\x01" + text_field(2, queue) + b"\x30\x05" + text_field(7, text_field(1, job).decode())
             + text_field(8, one.decode()))
    worker = "/corvo.v1.WorkerService/"
    stream = (h2.PREFACE + h2.frame(h2.SETTINGS, 0, 0)
              + headers(1, worker + "StreamLifecycle", "application/grpc")
              + h2.frame(h2.DATA, 0, 1, envelope(frame) + envelope(gzip.compress(frame), 1)[:20])
              + headers(3, worker + "Subscribe", "application/connect+proto")
              + h2.frame(h2.DATA, h2.END_STREAM, 3, envelope(text_field(1, queue)))
              + headers(5, "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", "application/grpc")
              + h2.frame(h2.DATA, h2.END_STREAM, 5, envelope(text_field(4, "corvo.v1.WorkerService")) * 2)
              + headers(7, "/grpc.health.v1.Health/Watch", "application/grpc-web")
              + h2.frame(h2.DATA, h2.END_STREAM, 7, envelope(b""))
              + h2.frame(h2.DATA, h2.END_STREAM, 1, envelope(gzip.compress(frame), 1)[20:])
              + h2.frame(h2.GOAWAY, 0, 0, bytes(8)))
    return [call(b"Enqueue", b"proto", one), call(b"Heartbeat", b"proto", text_field(1, beat.decode())),
            call(b"StreamLifecycle", b"proto", frame),
            call(b"AckBatch", b"json", json.dumps({"items": [{"jobId": job, "usage": {"costUsd": 0.5}}]}).encode()),
            call(b"Enqueue", b"grpc-web", envelope(gzip.compress(one), 1), b"Grpc-Encoding: gzip\r\n"),
            call(b"Fail", b"proto", gzip.compress(text_field(1, job)), b"Content-Encoding: gzip\r\n"),
            stream, stream]


def http2_original(queue, job):
    """Return a connection with some requests, from the preface to GOAWAY."""
    def headers(stream, method, path, flags):
        block = h2.encode([(":method", method), (":scheme", "http"), (":path", path),
                           (":authority", "x"), ("x-request-id", "abc")])
        return h2.frame(h2.HEADERS, h2.END_HEADERS | flags, stream, block)

    body = json.dumps({"queue": queue, "payload": [1, 2]}).encode()
    return (h2.PREFACE + h2.frame(h2.SETTINGS, 0, 0, b"\0\3\0\0\0\x64")
            + headers(1, "POST", "/api/v1/enqueue", 0) + h2.frame(h2.DATA, 0, 1, body[:9])
            + h2.frame(h2.PING, 0, 0, b"12345678") + h2.frame(h2.DATA, h2.END_STREAM, 1, body[9:])
            + headers(3, "GET", f"/api/v1/jobs/{job}", h2.END_STREAM)
            + h2.frame(h2.WINDOW_UPDATE, 0, 0, b"\0\1\0\0")
            + headers(5, "POST", "/api/v1/fetch", 0) + h2.frame(h2.RESET, 0, 5, b"\0\0\0\x08")
            + h2.frame(h2.GOAWAY, 0, 0, bytes(8)))


def mutate(rng, pool):
    data = bytearray(rng.choice(pool))
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(7)
        if kind == 0 and data:
            data[min(at, len(data) - 1)] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at:at] = rng.choice(BYTES)
        elif kind == 2:
            del data[at:at + rng.randrange(1, 20)]
        elif kind == 3:
            data[at:at] = data[at:at + rng.randrange(1, 200)]
        elif kind == 4:
            del data[at:]
        elif kind == 5:
            other = rng.choice(pool)
            data[at:] = other[rng.randrange(len(other) + 1):]
        else:
            data[at:at] = rng.choice(BYTES) * rng.choice((2, 50, 3000))
    return bytes(data)


def check_status(status, body):
    """Check that a healthy server could send this response."""
    slow = b"search took too long" in body  # on a busy machine
    alone = b"Failed to join cluster" in body  # specified for a server without peers
    if not 200 <= status < 600 or (status >= 500 and status not in (501, 503, 505, 507) and not slow and not alone):
        raise AssertionError(f"status {status}: {body[:300]!r}")


def check_answers(data):
    """Check that the data is a sequence of complete responses or complete frames."""
    if data and not data.startswith(b"HTTP/"):
        while data:
            length = int.from_bytes(data[:3], "big") + 9
            if len(data) < length or data[3] > 9:
                raise AssertionError(f"no whole frame: {data[:100]!r}")
            data = data[length:]
    while data:
        head, found, rest = data.partition(b"\r\n\r\n")
        if not found:
            raise AssertionError(f"no whole head: {data[:300]!r}")
        first, *lines = head.split(b"\r\n")
        if not (match := STATUS_LINE.match(first)):
            raise AssertionError(f"a strange status line: {first[:300]!r}")
        headers = dict(line.lower().split(b": ", 1) for line in lines)
        if match[1] == b"100":
            data = rest
            continue
        if b"content-length" not in headers:
            return  # chunked or until the end: other responses check those
        length = int(headers[b"content-length"])
        body, data = rest[:length], rest[length:]
        if len(body) < length:
            raise AssertionError("an answer was cut short")
        if headers.get(b"content-type") == b"application/json":
            json.loads(body)
        check_status(int(match[1]), body)


def send_damaged(port, data):
    """Send data on a separate connection. The server must send complete responses or nothing."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE_S + 30) as s:
        try:
            s.sendall(data)
            s.shutdown(socket.SHUT_WR)
            got = b""
            while piece := s.recv(65536):
                got += piece
        except (ConnectionResetError, BrokenPipeError):
            return  # closed
    check_answers(got)


class Mutations(unittest.TestCase):
    takes_long = True

    def sender(self, server, seed):
        rng = random.Random(seed)
        api = server.client()
        queue = unique("mutated")
        pool = originals(queue, api.enqueue(queue))
        for n in range(MUTATIONS // SENDERS):
            data = mutate(rng, pool)
            try:
                send_damaged(server.port, data)
            except (AssertionError, OSError, ValueError) as e:
                server.check_alive()
                raise AssertionError(f"seed {seed}, number {n}: {e}; sent {data[:2000]!r}") from e
            if n % 500 == 0:
                api.enqueue(unique("good"))

    def test_damaged_requests(self):
        first = random.randrange(1 << 32)
        with Server("--rate-limit-enabled=false", "--no-compression=false") as server:
            in_threads(SENDERS, lambda i: self.sender(server, first + i))
