"""Memory (--memory-limit): how much requests and responses may hold together, and what happens at the limit."""
import json
import re
import socket
import unittest

from harness import LEAN, PATIENCE_S, Server, in_threads, metric, unique, wait_until

LIMIT = 32 << 20
PAYLOAD = "x" * 250_000
JOBS = 28  # 7 MB: a response may use a quarter of the limit
ASKING = 12


def resident(server):
    """Return the process's resident memory in bytes."""
    with open(f"/proc/{server.process.pid}/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * 4096


class Reader:
    """A client that sends a request and does not read yet. Its receive buffer is very small."""

    def __init__(self, port, method, path, body=b""):
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.settimeout(PATIENCE_S)
        self.socket.connect(("127.0.0.1", port))
        self.socket.sendall(b"%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                            b"Content-Length: %d\r\n\r\n" % (method, path, len(body)) + body)

    def answer(self):
        """Read a response that ends with the connection. Returns status, headers and body."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        data = b""
        while piece := self.socket.recv(1 << 20):
            data += piece
        self.socket.close()
        head, _, body = data.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines[1:])
        return int(lines[0].split()[1]), headers, body


def numbers(api):
    """Return the metrics of request memory, or None if there is not enough memory for a response."""
    # Not with api, which requires every header: without memory, a refusal lacks Server-Timing.
    status, _, body = Reader(api.server.port, b"GET", b"/metrics").answer()
    found = re.findall(r"^corvo_request_memory_(\w+) (\d+)$", body.decode(), re.M)
    return {name: int(value) for name, value in found} if status == 200 else None


class Answers(unittest.TestCase):
    def ask(self, server, path, body):
        """Request many large responses at once without reading, then read all of them."""
        api = server.client()

        def some_are_refused():
            """If no memory is left, this request may be refused, too."""
            now = numbers(api)
            return now is None or now["refused_total"] > refused

        refused = metric(api, "corvo_request_memory_refused_total")
        readers = [Reader(server.port, b"POST", path, body) for _ in range(ASKING)]
        wait_until(some_are_refused, "the first refusal")
        self.assertLessEqual((numbers(api) or {"bytes": LIMIT})["bytes"], LIMIT + (4 << 20))
        answers = []
        in_threads(ASKING, lambda i: answers.append(readers[i].answer()))
        statuses = {status for status, _, _ in answers}
        self.assertEqual(statuses, {200, 429}, statuses)
        for status, headers, text in answers:
            answer = json.loads(text)
            if status == 200:
                self.assertEqual(len(answer["jobs"]), JOBS)
            else:
                self.assertEqual(answer["code"], "OVERLOADED")
                self.assertEqual(headers["retry-after"], "1.000")
        wait_until(lambda: (numbers(api) or {"bytes": LIMIT})["bytes"] < LIMIT // 2,
                   "the memory coming back")

    def test_share_one_budget(self):
        with Server("--memory-limit", str(LIMIT), "--rate-limit-enabled=false", env=LEAN) as server:
            api, queue = server.client(), unique("large")
            ids = [api.enqueue(queue, payload=PAYLOAD) for _ in range(JOBS)]
            get = json.dumps({"job_ids": ids}).encode()
            search = json.dumps({"queue": queue, "limit": JOBS}).encode()
            before = resident(server)
            for path, body in ((b"/api/v1/jobs/bulk-get", get), (b"/api/v1/jobs/search", search)):
                with self.subTest(path):
                    self.ask(server, path, body)
                    # The memory for one of them is available again.
                    status, _, _ = Reader(server.port, b"POST", path, body).answer()
                    self.assertEqual(status, 200)
            # Limits the growth to twice the limit of request memory, plus a margin.
            self.assertLess(resident(server) - before, 2 * LIMIT + (64 << 20))
            status = api.get("/api/v1/cluster/status").json["admission_stats"]
            self.assertEqual(status["request_memory_limit_bytes"], LIMIT)
            self.assertGreater(status["request_memory_refused_total"], 0)

    def test_one_alone_is_told_that_it_is_too_large(self):
        with Server("--memory-limit", str(LIMIT), "--rate-limit-enabled=false") as server:
            api, queue = server.client(), unique("larger")
            ids = [api.enqueue(queue, payload=PAYLOAD) for _ in range(40)]
            answer = api.post("/api/v1/jobs/bulk-get", {"job_ids": ids})
            self.assertEqual((answer.status, answer.json["code"]), (413, "PAYLOAD_TOO_LARGE"))
            self.assertEqual(api.post("/api/v1/jobs/bulk-get", {"job_ids": ids[:20]}).status, 200)


class Streams(unittest.TestCase):
    def test_that_nobody_reads_cost_little(self):
        """Each stream holds its unsent data, and that is little."""
        streams, jobs = 60, 3000
        with Server("--rate-limit-enabled=false") as server:
            api, queue = server.client(), unique("unread")
            idle = metric(api, "corvo_request_memory_bytes")
            api.enqueue_batch([{"queue": queue}] * jobs)
            readers = [Reader(server.port, b"GET", b"/api/v1/events?last_event_id=0")
                       for _ in range(streams)]
            wait_until(lambda: metric(api, "corvo_event_streams_open") == streams, "the streams")
            api.enqueue_batch([{"queue": queue}] * jobs)
            used = wait_until(lambda: max(0, metric(api, "corvo_request_memory_bytes") - idle),
                              "something waiting")
            self.assertLess(used, streams * (256 << 10))
            for r in readers:
                r.socket.close()
            wait_until(lambda: metric(api, "corvo_event_streams_open") == 0, "their ends")


if __name__ == "__main__":
    unittest.main()
