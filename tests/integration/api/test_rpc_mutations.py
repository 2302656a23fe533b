"""Damaged RPC messages and binary frames: always a status, never a crash.

The HTTP around them is intact, so that the damage reaches the decoders: the protobuf and JSON of every method
in the framing of Connect, gRPC and gRPC-Web, frames of a lifecycle stream, and frames of the binary worker
protocol. Each connection carries several of them. CORVO_MUTATIONS sets the number of damaged ones. A failure
reports the seed.
"""
import errno
import json
import os
import random
import socket
import struct
import unittest

import test_binary as binary
from harness import PATIENCE_S, Server, in_threads, unique
from http2_client import Connection
from test_mutations import mutate
from test_rpc import BASE, envelope, envelopes

MUTATIONS = int(os.environ.get("CORVO_MUTATIONS", "4000"))
EACH = 40  # messages per connection


def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes((n & 127 | 128,)), n >> 7
    return out + bytes((n,))


def proto(*fields):
    """Encode fields by their numbers: texts and messages as bytes, numbers as varints."""
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            raw = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(raw)) + raw
    return out


def messages(queue, job):
    """Return a valid message of each method, as protobuf and as JSON."""
    ack = proto((1, job), (2, '{"done":true}'))
    return [
        ("Enqueue", proto((1, queue), (2, '{"n":[1,2,{"a":"b"}]}')), {"queue": queue, "payloadJson": "{}"}),
        ("Fetch", proto((1, queue), (2, "w1"), (3, "host"), (4, 1)), {"queues": [queue], "workerId": "w1"}),
        ("FetchBatch", proto((1, queue), (2, "w1"), (5, 3)), {"queues": [queue], "count": 3}),
        ("Ack", ack, {"jobId": job, "resultJson": "1"}),
        ("AckBatch", proto((1, ack), (1, ack)), {"items": [{"jobId": job}] * 3}),
        ("Fail", proto((1, job), (2, "broken"), (3, "at line 1")), {"jobId": job, "error": "e"}),
        ("Heartbeat", proto((1, proto((1, job), (2, proto((1, '{"p":1}')))))),
         {"jobs": {job: {"progressJson": "{}"}}}),
        ("GetServerInfo", b"", {}),
        ("StreamLifecycle",
         proto((1, 7), (2, queue), (3, "w1"), (4, "h"), (5, 30), (6, 2), (7, ack), (7, ack)),
         {"requestId": "1", "queues": [queue], "fetchCount": 2, "acks": [{"jobId": job}],
          "enqueues": [{"queue": queue, "payloadJson": "{}"}]}),
    ]


def damaged(rng, pool):
    """Return a method, whether the message is JSON, and a damaged message. Some are deeply nested."""
    method, raw, fields = rng.choice(pool)
    is_json = rng.random() < 0.4
    good = json.dumps(fields).encode() if is_json else raw
    others = [json.dumps(f).encode() if is_json else r for _, r, f in pool]
    nested = [proto((rng.randrange(1, 20), good)) * rng.randrange(1, 60)] if not is_json else [b"[" * 3000]
    return method, is_json, mutate(rng, [good] * 6 + others + nested)


def types(method, is_json, rng):
    """Return a content type, and whether its messages are in envelopes."""
    kind = "json" if is_json else "proto"
    streams = method == "StreamLifecycle"
    known = [(f"application/grpc+{kind}", True), (f"application/grpc-web+{kind}", True)]
    known += [(f"application/connect+{kind}", True)] if streams else [(f"application/{kind}", False)]
    return rng.choice(known)


class Mutations(unittest.TestCase):
    takes_long = True

    def over_http2(self, server, rng, pool):
        """Send each message on a stream of one connection, in an envelope that is usually correct. Returns the
        number of damaged messages."""
        connection, streams = Connection(server.port, PATIENCE_S), {}
        try:
            for _ in range(EACH):
                method, is_json, body = damaged(rng, pool)
                kind, framed = types(method, is_json, rng)
                if framed:
                    body = envelope(body, rng.choice((0, 0, 0, 0, 1, 2, 128)))
                    body = mutate(rng, [body]) if rng.random() < 0.2 else body
                patience = str(rng.choice((1, 1, 3, 20)))
                stream = connection.open(BASE + method, [
                    ("content-type", kind), ("te", "trailers"), ("connect-timeout-ms", patience),
                    ("grpc-timeout", patience + "m")])
                connection.send_body(stream, body or b"\0")
                if rng.random() < 0.1:
                    connection.reset(stream)
                else:
                    streams[stream] = (kind, framed)
            if rng.random() < 0.1:
                return EACH  # the connection is closed while they are in progress
            while not streams.keys() <= connection.ended:
                connection.read()
            for stream, (kind, framed) in streams.items():
                self.check(connection, stream, kind, framed)
            return EACH
        finally:
            connection.close()

    def check(self, connection, stream, kind, framed):
        status, body = connection.status[stream], connection.body.get(stream, b"")
        if kind.startswith("application/grpc") or (framed and status == 200):
            self.assertEqual(status, 200)
            if not kind.startswith("application/grpc+"):
                found = envelopes(body)
                self.assertEqual(sum(5 + len(payload) for _, payload in found), len(body))
                self.assertTrue(found and found[-1][0] & 0x82, body[:200])
        elif status != 200:
            self.assertIn("code", json.loads(body))

    def over_tcp(self, server, rng, pool):
        """Send frames of the binary protocol. The server must send complete frames. Returns the number of damaged
        frames."""
        client, damages = binary.Client(server), [rng.random() < 0.5 for _ in range(EACH)]
        try:
            client.socket.sendall(b"".join(mutate(rng, pool) if damage else rng.choice(pool) for damage in damages))
            client.socket.shutdown(socket.SHUT_WR)
            while (answer := client.next()) is not None:
                self.assertIn(answer[0], (0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x94, 8, 9, 0xff))
        except OSError as e:  # closed while data was in transit
            if e.errno not in (errno.ECONNRESET, errno.EPIPE, errno.ENOTCONN):
                raise
        finally:
            client.close()
        return sum(damages)

    def sender(self, server, seed):
        rng, api = random.Random(seed), server.client()
        queue = unique("mutated")
        job = api.enqueue(queue)
        pool = messages(queue, job)
        frames = [
            binary.frame(binary.PING, 1),
            binary.frame(binary.ENQUEUE, 2, binary.enqueue(binary.job(queue), binary.job(queue, "[1]"))),
            binary.frame(binary.SUBSCRIBE, 3, binary.subscribe(queue, 3)),
            binary.frame(binary.ACK, 4, binary.acks((job, 5), (job, 6))),
            binary.frame(binary.HEARTBEAT, 5, binary.text("w") + struct.pack("<H", 1) + binary.text(job)
                         + binary.text(queue) + b"\0"),
            binary.frame(binary.FAIL, 6, struct.pack("<H", 1) + binary.text(job) + binary.text(queue)
                         + binary.text("e") + binary.text("b") + b"\0"),
            binary.frame(binary.BULK, 7, b"\3" + binary.text(queue) + struct.pack("<H", 1) + binary.text(job)
                         + bytes(9))]
        sent = n = 0
        while sent < MUTATIONS // 2:
            try:
                sent += (self.over_tcp if n % 2 else self.over_http2)(server, rng, frames if n % 2 else pool)
            except (AssertionError, OSError, ValueError, KeyError) as e:
                server.check_alive()
                raise AssertionError(f"seed {seed}, connection {n}: {e!r}") from e
            n += 1
        api.enqueue(unique("good"))

    def test_damaged_messages(self):
        first = random.randrange(1 << 32)
        with Server("--rate-limit-enabled=false", "--rpc-bind", "127.0.0.1:0") as server:
            in_threads(2, lambda i: self.sender(server, first + i))
