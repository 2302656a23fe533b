"""Many clients at once: thousands of open connections, most of them waiting for a job."""
import resource
import selectors
import socket
import unittest

from harness import PATIENCE_S, Server, allow_files, unique, wait_until

CONNECTIONS, FETCHES_EACH = 5000, 2
MEMORY_MAX = 300 << 20


def resident_bytes(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * resource.getpagesize()


def is_sanitized(pid):
    """True if the process runs with a sanitizer, whose memory use distorts that of the server."""
    with open(f"/proc/{pid}/maps", encoding="ascii") as f:
        return any("libasan" in line or "libtsan" in line for line in f)


class Crowd(unittest.TestCase):
    takes_long = True

    def setUp(self):
        allow_files(CONNECTIONS + 1000)
        self.sockets = []

    def tearDown(self):
        for s in self.sockets:
            s.close()

    def park(self, port, queue):
        body = b'{"queues":["%s"],"timeout":%d}' % (queue.encode(), PATIENCE_S + 30)
        request = (b"POST /api/v1/fetch HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                   b"Content-Length: %d\r\n\r\n" % len(body)) + body
        for _ in range(CONNECTIONS):
            s = socket.create_connection(("127.0.0.1", port))
            s.sendall(request * FETCHES_EACH)
            s.setblocking(False)
            self.sockets.append(s)

    def collect(self):
        """Read the responses to all fetches. Return the number of each status, and the ids."""
        statuses, ids = {}, []
        waiting = selectors.DefaultSelector()
        for s in self.sockets:
            waiting.register(s, selectors.EVENT_READ, bytearray())
        left = len(self.sockets) * FETCHES_EACH
        while left > 0:
            ready = waiting.select(PATIENCE_S)
            self.assertTrue(ready, f"{left} fetches were not answered")
            for key, _ in ready:
                got = key.fileobj.recv(65536)
                self.assertTrue(got, "a connection was closed")
                key.data.extend(got)
                left -= self.take_answers(key.data, statuses, ids)
        waiting.close()
        return statuses, ids

    def take_answers(self, data, statuses, ids):
        count = 0
        while (end := data.find(b"\r\n\r\n")) >= 0:
            head = bytes(data[:end])
            length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            if len(data) < end + 4 + length:
                break
            status = int(head.split(b" ")[1])
            statuses[status] = statuses.get(status, 0) + 1
            body = bytes(data[end + 4:end + 4 + length])
            if status == 200:
                ids.append(body.split(b'"job_id":"')[1].split(b'"')[0].decode())
            del data[:end + 4 + length]
            count += 1
        return count

    def test_ten_thousand_parked_fetches_and_a_job_for_each(self):
        queue, fetches = unique("crowd"), CONNECTIONS * FETCHES_EACH
        with Server("--rate-limit-enabled=false") as server:
            api = server.client()
            self.park(server.port, queue)
            wait_until(lambda: api.fetches_waiting() == fetches, "all fetches parked", 120)
            memory = resident_bytes(server.process.pid)
            if not is_sanitized(server.process.pid):
                self.assertLessEqual(memory, MEMORY_MAX)
            made = []
            for _ in range(fetches // 1000):
                made += api.enqueue_batch([{"queue": queue}] * 1000)["job_ids"]
            statuses, ids = self.collect()
            self.assertEqual(statuses, {200: fetches})
            self.assertEqual(sorted(ids), sorted(made), "one job for each, none twice")
