"""Many RPC streams at once, and clients that do not read: the resources that the server uses for them."""
import json
import os
import unittest

from harness import PATIENCE_S, Server, unique, wait_until
from http2_client import Connection
from test_crowd import is_sanitized, resident_bytes
from test_rpc import BASE, envelope, envelopes

STREAMS, STREAMS_EACH = 4000, 200
IDLE_BYTES_MAX = 20 << 10


def cpu_ticks(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        user, system = file.read().rsplit(")", 1)[1].split()[11:13]
    return int(user) + int(system)


class Crowd(unittest.TestCase):
    takes_long = True

    def test_thousands_of_idle_streams(self):
        with Server("--rate-limit-enabled=false") as server:
            before = resident_bytes(server.process.pid)
            connections = [Connection(server.port, PATIENCE_S) for _ in range(STREAMS // STREAMS_EACH)]
            for connection in connections:
                self.addCleanup(connection.close)
                for _ in range(STREAMS_EACH):
                    stream = connection.open(BASE + "StreamLifecycle", [("content-type", "application/connect+json")])
                    connection.data(stream, envelope(b'{"requestId":"7"}'))
            for connection in connections:  # wait until each stream has responded
                while len(connection.body) < STREAMS_EACH:
                    connection.read()
            if not is_sanitized(server.process.pid):
                self.assertLess((resident_bytes(server.process.pid) - before) / STREAMS, IDLE_BYTES_MAX)
            # Idle streams use no CPU: wait one second, the timeout of a fetch.
            ticks = cpu_ticks(server.process.pid)
            answer = server.client().send("POST", BASE + "Fetch", json.dumps({"queues": [unique("q")]}).encode(),
                                          {"Content-Type": "application/json", "Connect-Timeout-Ms": "1000"})
            self.assertEqual(answer.body, b"{}")
            self.assertLess(cpu_ticks(server.process.pid) - ticks, os.sysconf("SC_CLK_TCK") / 4)
            # Each stream still works.
            for connection in connections:
                for stream in list(connection.body):
                    connection.data(stream, envelope(b'{"requestId":"8"}'), last=True)
                while len(connection.ended) < STREAMS_EACH:
                    connection.read()
                for body in connection.body.values():
                    self.assertEqual([payload for _, payload in envelopes(body)],
                                     [b'{"requestId":"7"}', b'{"requestId":"8"}', b"{}"])


class SentAhead(unittest.TestCase):
    STREAMS, LIMIT = 100, 32 << 20

    def test_more_than_there_is_memory_for(self):
        """While their frames wait for a job, streams without memory end, and the server continues."""
        with Server("--memory-limit", str(self.LIMIT), "--rate-limit-enabled=false") as server:
            connection = Connection(server.port, PATIENCE_S)
            self.addCleanup(connection.close)
            frame = envelope(json.dumps({"queues": [unique("q")], "fetchCount": 1}).encode())
            streams = [connection.open(BASE + "StreamLifecycle", [("content-type", "application/connect+json")])
                       for _ in range(self.STREAMS)]
            for stream in streams:
                connection.data(stream, frame)
            # The beginning of a message of 4,000,000 bytes, as far as the flow control windows allow.
            ahead = b"\0" + (4000000).to_bytes(4, "big") + b"x" * 1000000
            for stream in streams:
                end = min(connection.room[stream] - len(frame), len(ahead))
                for at in range(0, end, 16000):
                    while connection.room[0] < 16000 and not connection.ended:
                        connection.read()
                    if connection.ended:
                        break
                    connection.data(stream, ahead[at:min(at + 16000, end)])
                    connection.room[0] -= 16000
            while not connection.ended:
                connection.read()
            for stream in connection.ended:
                last = [payload for _, payload in envelopes(connection.body[stream])][-1]
                self.assertIn(b"resource_exhausted", last)
            connection.close()
            wait_until(lambda: server.client().get("/api/v1/queues").status == 200)


class SlowReader(unittest.TestCase):
    def test_what_is_not_read_is_not_held(self):
        with Server("--rate-limit-enabled=false") as server:
            api, queue = server.client(), unique("q")
            before = resident_bytes(server.process.pid)
            connections = []
            for _ in range(20):  # each requests a megabyte and reads nothing
                connection = Connection(server.port, PATIENCE_S)
                self.addCleanup(connection.close)
                stream = connection.open(BASE + "Subscribe", [("content-type", "application/grpc")])
                connection.data(stream, envelope(b""), last=True)
                connections.append(connection)
            for _ in range(10):
                api.enqueue_batch([{"queue": queue}] * 1000)
            job = api.enqueue(queue)  # it must not wait for these clients
            if not is_sanitized(server.process.pid):
                self.assertLess(resident_bytes(server.process.pid) - before, 200 << 20)  # mostly the jobs
            # A client that reads again receives everything.
            while job.encode() not in connections[0].body.get(1, b"")[-200:]:
                connections[0].read()
            while len(envelopes(connections[0].body[1])) < 10_001:
                connections[0].read()
