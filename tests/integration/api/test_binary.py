"""The binary worker protocol (rpc.md, appendix A), byte by byte."""
import json
import random
import socket
import struct
import time
import unittest

from harness import PATIENCE_S, Server, metric, own_address, unique, wait_until
from test_cluster import Cluster

ENQUEUE, SUBSCRIBE, ACK, PING, AUTH, HEARTBEAT, FAIL, CANCELLED, BULK = 1, 2, 3, 4, 5, 6, 7, 8, 0x14
NOT_LEADER, JOBS, ERROR = 9, 0x82, 0xff


def text(value):
    data = value.encode()
    return bytes((len(data),)) + data


def frame(kind, number, payload=b""):
    return struct.pack("<BII", kind, number, len(payload)) + payload


def job(queue, payload="{}", job_id="", backoff=3):
    flags, rest = 0x01, struct.pack("<H", len(payload)) + payload.encode()
    return (text(queue) + text(job_id) + struct.pack("<BHBIIIQIHH", 50, 3, backoff, 5000, 600_000, 0, 0, 0, 0, flags)
            + rest)


def enqueue(*jobs):
    return struct.pack("<H", len(jobs)) + b"".join(jobs)


def subscribe(queue, credits, worker="w1", lease_ms=30_000):
    return struct.pack("<HI", credits, lease_ms) + text(worker) + b"\1" + text(queue)


def acks(*items):
    return struct.pack("<H", len(items)) + b"".join(
        text(job_id) + text("") + b"\0\x08" + struct.pack("<Q", token) for job_id, token in items)


def fails(*items):
    return struct.pack("<H", len(items)) + b"".join(
        text(job_id) + text("") + text("broken") + text("") + b"\1" + struct.pack("<Q", token) for job_id, token in items)


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, form):
        value, = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return value

    def bytes(self, count):
        self.at += count
        return self.data[self.at - count:self.at]

    def text(self):
        return self.bytes(self.number("B")).decode()


def jobs_of(payload):
    reader, jobs = Reader(payload), []
    for _ in range(reader.number("H")):
        one = {"id": reader.text(), "queue": reader.text(), "attempt": reader.number("H"),
               "max_retries": reader.number("H"), "checkpoint": reader.text(), "tags": reader.text()}
        one["payload"] = reader.bytes(reader.number("I")).decode()
        one["token"] = reader.number("Q")
        jobs.append(one)
    assert reader.at == len(payload)
    return jobs


class Client:
    def __init__(self, server, address="127.0.0.1"):
        port = next(json.loads(line)["port"] for line in server.lines if "binary worker protocol" in line)
        self.socket = socket.create_connection((address, port), PATIENCE_S)
        self.input, self.number = self.socket.makefile("rb"), 0

    def send(self, kind, payload=b""):
        self.number += 1
        self.socket.sendall(frame(kind, self.number, payload))
        return self.number

    def next(self):
        """Return (type, number, payload), or None at the end."""
        head = self.input.read(9)
        if len(head) < 9:
            return None
        kind, number, size = struct.unpack("<BII", head)
        return kind, number, self.input.read(size)

    def ask(self, kind, payload=b""):
        number = self.send(kind, payload)
        answer = self.next()
        assert answer[:2] == (kind | 0x80, number), answer
        return answer[2]

    def affected(self, kind, payload):
        return struct.unpack("<HB", self.ask(kind, payload))

    def close(self):
        self.input.close()
        self.socket.close()


class BinaryTest(unittest.TestCase):
    settings = ()

    @classmethod
    def setUpClass(cls):
        cls.server = Server("--rpc-bind", "127.0.0.1:0", "--rate-limit-enabled=false", *cls.settings)
        cls.addClassCleanup(cls.server.stop)
        cls.api = cls.server.client()

    def connect(self):
        client = Client(self.server)
        self.addCleanup(client.close)
        return client


class Work(BinaryTest):
    def test_ping(self):
        self.assertEqual(self.connect().ask(PING), b"")

    def test_jobs_are_pushed_as_credits_allow(self):
        queue, producer, worker = unique("q"), self.connect(), self.connect()
        first = worker.send(SUBSCRIBE, subscribe(queue, 2))
        self.assertEqual(producer.affected(ENQUEUE, enqueue(*[job(queue, f'{{"n":{n}}}') for n in range(5)])), (5, 0))
        got = []
        while len(got) < 2:
            kind, number, payload = worker.next()
            self.assertEqual((kind, number), (JOBS, first))
            got += jobs_of(payload)
        self.assertEqual([json.loads(one["payload"])["n"] for one in got], [0, 1])
        self.assertEqual((got[0]["queue"], got[0]["attempt"], got[0]["max_retries"]), (queue, 1, 3))
        self.assertEqual(self.api.queue(queue)["active"], 2)  # not more than there are credits
        self.assertEqual(worker.affected(ACK, acks(*[(one["id"], one["token"]) for one in got])), (2, 0))
        second = worker.send(SUBSCRIBE, subscribe(queue, 10))
        rest = []
        while len(rest) < 3:
            kind, number, payload = worker.next()
            self.assertEqual((kind, number), (JOBS, second))
            rest += jobs_of(payload)
        self.assertEqual(worker.affected(ACK, acks(*[(one["id"], one["token"]) for one in rest])), (3, 0))
        self.assertEqual(self.api.queue(queue)["completed"], 5)
        self.assertEqual(producer.affected(ENQUEUE, enqueue(job(queue))), (1, 0))  # and the credits are still available
        self.assertEqual(worker.next()[:2], (JOBS, second))

    def test_the_server_chooses_ids_whatever_the_frame_has(self):
        queue, worker = unique("q"), self.connect()
        self.assertEqual(worker.affected(ENQUEUE, enqueue(job(queue, job_id="mine"), job(queue, job_id="x" * 255))), (2, 0))
        worker.send(SUBSCRIBE, subscribe(queue, 2))
        got = []
        while len(got) < 2:
            got += jobs_of(worker.next()[2])
        for one in got:
            self.assertRegex(one["id"], r"^job_[0-9a-z]{26}$")
        self.assertEqual(worker.affected(ACK, acks(*[(one["id"], one["token"]) for one in got])), (2, 0))

    def test_a_thousand_jobs(self):
        queue, worker = unique("q"), self.connect()
        self.assertEqual(worker.affected(ENQUEUE, enqueue(*[job(queue)] * 1000)), (1000, 0))
        worker.send(SUBSCRIBE, subscribe(queue, 1000))
        done = acked = 0
        while acked < 1000:
            kind, _, payload = worker.next()
            if kind == JOBS:
                jobs = jobs_of(payload)
                done += len(jobs)
                worker.send(ACK, acks(*[(one["id"], one["token"]) for one in jobs]))
            else:
                count, code = struct.unpack("<HB", payload)
                self.assertEqual((kind, code), (ACK | 0x80, 0))
                acked += count
        self.assertEqual((done, self.api.queue(queue)["completed"]), (1000, 1000))

    def test_fail_and_heartbeat(self):
        queue, worker = unique("q"), self.connect()
        ids = [self.api.enqueue(queue) for _ in range(2)]
        worker.send(SUBSCRIBE, subscribe(queue, 2))
        got = []
        while len(got) < 2:
            got += jobs_of(worker.next()[2])
        beat = text("w1") + struct.pack("<H", 1) + text(ids[0]) + text(queue) + b"\1" + text('{"p":1}')
        self.assertEqual(worker.affected(HEARTBEAT, beat), (1, 0))
        self.assertEqual(self.api.job(ids[0])["progress"], {"p": 1})
        null = text("w1") + struct.pack("<H", 1) + text(ids[0]) + text(queue) + b"\3" + text("null") + text("null")
        self.assertEqual(worker.affected(HEARTBEAT, null), (1, 0))  # supplies nothing
        self.assertEqual(self.api.job(ids[0])["progress"], {"p": 1})
        self.assertNotIn("checkpoint", self.api.job(ids[0]))
        self.assertEqual(worker.affected(FAIL, fails(*((id_, 0) for id_ in ids))), (2, 0))
        self.assertEqual(self.api.job(ids[1])["state"], "retrying")
        # The worker does not hold these jobs any more, so a heartbeat reports it.
        self.assertEqual(worker.affected(HEARTBEAT, beat), (0, 0))
        kind, _, payload = worker.next()
        self.assertEqual((kind, payload), (CANCELLED, struct.pack("<H", 1) + text(ids[0])))

    def test_a_cancellation_is_pushed(self):
        queue, worker, other = unique("q"), self.connect(), self.connect()
        id_ = self.api.enqueue(queue)
        worker.send(SUBSCRIBE, subscribe(queue, 1))
        self.assertEqual(jobs_of(worker.next()[2])[0]["id"], id_)
        bulk = b"\3" + text(queue) + struct.pack("<H", 1) + text(id_) + b"\0" + bytes(8)
        self.assertEqual(other.ask(BULK, bulk), struct.pack("<H", 1))
        self.assertEqual(worker.next(), (CANCELLED, 0, struct.pack("<H", 1) + text(id_)))

    def test_a_lease_that_ends_is_told(self):
        queue, worker = unique("q"), self.connect()
        id_ = self.api.enqueue(queue)
        worker.send(SUBSCRIBE, subscribe(queue, 1, lease_ms=1000))
        first = jobs_of(worker.next()[2])[0]
        self.assertEqual(worker.next(), (CANCELLED, 0, struct.pack("<H", 1) + text(id_)))
        worker.send(SUBSCRIBE, subscribe(queue, 1))  # with a lease that lasts longer than the test
        again = jobs_of(worker.next()[2])[0]
        self.assertEqual((again["id"], again["attempt"]), (id_, 2))
        self.assertEqual(worker.affected(ACK, acks((id_, first["token"]))), (0, 0))
        self.assertEqual(worker.affected(ACK, acks((id_, again["token"]))), (1, 0))

    def test_what_is_moved_stays_its_workers(self):
        queue, other, worker = unique("q"), unique("q"), self.connect()
        id_ = self.api.enqueue(queue)
        worker.send(SUBSCRIBE, subscribe(queue, 1))
        one = jobs_of(worker.next()[2])[0]
        self.api.must(self.api.post("/api/v1/jobs/bulk", {"action": "move", "job_ids": [id_], "move_to_queue": other}))
        self.assertEqual(self.api.job(id_)["queue"], other)
        self.assertEqual(worker.ask(PING), b"")  # with no frame before the response
        self.assertEqual(worker.affected(ACK, acks((id_, one["token"]))), (1, 0))

    def test_the_same_again_adds_credits_and_other_queues_take_its_place(self):
        first, second, worker = unique("q"), unique("q"), self.connect()
        waiting = self.api.fetches_waiting()
        for _ in range(3):
            worker.send(SUBSCRIBE, subscribe(first, 1))
        worker.ask(PING)
        wait_until(lambda: self.api.fetches_waiting() == waiting + 1, "the claim to wait")
        self.api.enqueue_batch([{"queue": first}] * 5)
        got = []
        while len(got) < 3:
            got += jobs_of(worker.next()[2])
        worker.ask(PING)
        self.assertEqual(self.api.queue(first)["active"], 3)  # as many as the worker has credits for
        worker.send(SUBSCRIBE, subscribe(second, 0))
        number = worker.send(SUBSCRIBE, subscribe(second, 2))
        id_ = self.api.enqueue(second)
        kind, of, payload = worker.next()
        self.assertEqual((kind, of, [one["id"] for one in jobs_of(payload)]), (JOBS, number, [id_]))
        self.assertEqual(self.api.queue(first)["pending"], 2)

    def test_more_than_a_connection_takes_at_once(self):
        """Thirty megabytes: claims pause while the client does not read, and continue when it does."""
        queue, worker, payload = unique("q"), self.connect(), json.dumps("x" * 60_000)
        for _ in range(10):
            self.api.enqueue_batch([{"queue": queue, "payload": json.loads(payload)}] * 50)
        worker.send(SUBSCRIBE, subscribe(queue, 500, lease_ms=3600_000))
        wait_until(lambda: self.api.queue(queue)["active"] > 0, "jobs to be claimed")
        got = []
        while len(got) < 500:
            kind, _, jobs = worker.next()
            self.assertEqual(kind, JOBS)
            got += jobs_of(jobs)
        self.assertEqual(len({one["id"] for one in got}), 500)
        self.assertTrue(all(one["payload"] == payload for one in got))

    def test_who_does_not_read_gets_no_more(self):
        """Its unsent responses count as request memory, and it gets no more jobs."""
        queue, worker, other = unique("q"), self.connect(), self.connect()
        for _ in range(5):
            self.api.enqueue_batch([{"queue": queue, "payload": "x" * 250_000}] * 60)
        worker.send(SUBSCRIBE, subscribe(queue, 500, lease_ms=3600_000))
        wait_until(lambda: self.api.queue(queue)["active"] > 0, "jobs to be claimed")
        claimed = self.api.queue(queue)["active"]
        self.assertLess(claimed, 100)
        self.assertGreater(metric(self.api, "corvo_request_memory_bytes"), 2 << 20)
        for _ in range(20):
            worker.send(SUBSCRIBE, subscribe(queue, 500, lease_ms=3600_000))
            self.assertEqual(other.ask(PING), b"")
            self.api.enqueue(queue)
        self.assertEqual(self.api.queue(queue)["active"], claimed)
        got = []
        while len(got) < 320:
            got += jobs_of(worker.next()[2])
        self.assertEqual(len({one["id"] for one in got}), 320)
        wait_until(lambda: metric(self.api, "corvo_request_memory_bytes") < 10 << 20, "the memory to come back")

    def test_who_sends_no_more_gets_its_answers_and_no_job(self):
        queue, worker = unique("q"), self.connect()
        worker.send(SUBSCRIBE, subscribe(queue, 5))
        numbers = {worker.send(ENQUEUE, enqueue(job(unique("other")))) for _ in range(100)}
        worker.socket.sendall(frame(PING, 0)[:-1])
        worker.socket.shutdown(socket.SHUT_WR)
        answers = []
        while (answer := worker.next()) is not None:
            answers.append(answer)
        self.assertEqual({number for kind, number, payload in answers if payload == b"\1\0\0"}, numbers)
        job_id = self.api.enqueue(queue)
        self.assertEqual(self.api.fetch(queue)["job_id"], job_id)

    def test_a_host_that_vanishes_is_noticed(self):
        """The system checks its connections (keepalive)."""
        worker = self.connect()
        worker.ask(PING)
        ours, theirs = (f":{sock[1]:04X}" for sock in (worker.socket.getpeername(), worker.socket.getsockname()))

        def timer():
            with open("/proc/self/net/tcp", encoding="ascii") as table:
                return next(line.split()[5][:2] for line in table
                            if line.split()[1].endswith(ours) and line.split()[2].endswith(theirs))
        wait_until(lambda: timer() == "02", "the timer that asks the peer")

    def test_what_was_claimed_for_nobody_goes_back(self):
        queue, worker = unique("q"), self.connect()
        worker.send(SUBSCRIBE, subscribe(queue, 5))
        worker.ask(PING)
        worker.close()
        job_id = self.api.enqueue(queue)
        self.assertEqual(self.api.fetch(queue)["job_id"], job_id)

    def test_an_old_token_is_refused(self):
        queue, worker = unique("q"), self.connect()
        self.api.enqueue(queue)
        worker.send(SUBSCRIBE, subscribe(queue, 1))
        one = jobs_of(worker.next()[2])[0]
        self.assertEqual(worker.affected(ACK, acks((one["id"], one["token"] - 1))), (0, 0))
        self.assertEqual(worker.affected(ACK, acks((one["id"], one["token"]))), (1, 0))

    def test_a_refused_ack_leaves_the_job_with_its_worker(self):
        """So the worker is notified when the lease ends. The same for a refused fail."""
        queue, worker = unique("q"), self.connect()
        id_ = self.api.enqueue(queue)
        worker.send(SUBSCRIBE, subscribe(queue, 1, lease_ms=2000))
        one = jobs_of(worker.next()[2])[0]
        self.assertEqual(worker.affected(ACK, acks((id_, one["token"] - 1))), (0, 0))
        number = worker.send(FAIL, fails((id_, one["token"] - 1)))
        self.assertEqual(worker.next()[:2], (ERROR, number))
        self.assertEqual(worker.next(), (FAIL | 0x80, number, struct.pack("<HB", 0, 1)))
        self.assertEqual(worker.next(), (CANCELLED, 0, struct.pack("<H", 1) + text(id_)))


class WithoutEvents(BinaryTest):
    settings = ("--lifecycle-events=false",)
    test_a_cancellation_is_pushed = Work.test_a_cancellation_is_pushed


class BadInput(BinaryTest):
    def refused(self, kind, payload):
        client = self.connect()
        number = client.send(kind, payload)
        answer = client.next()
        self.assertEqual(answer[:2], (ERROR, number))
        return answer[2].decode()

    def test_mistakes_are_named(self):
        self.assertIn("unknown frame type", self.refused(0x33, b""))
        self.assertIn("payload does not match its type", self.refused(ENQUEUE, b"\1"))
        self.assertIn("payload does not match its type", self.refused(ENQUEUE, struct.pack("<H", 60000)))
        self.assertIn("backoff: expected 0 to 3", self.refused(ENQUEUE, enqueue(job("q", backoff=9))))
        self.assertIn("payload", self.refused(ENQUEUE, enqueue(job("q", payload="{"))))
        self.assertIn("payload: nested more than 512 deep",
                      self.refused(ENQUEUE, enqueue(job("q", payload="[" * 513 + "]" * 513))))
        self.assertIn("at least one queue", self.refused(SUBSCRIBE, struct.pack("<HI", 1, 1) + text("w") + b"\0"))
        self.assertIn("action: expected 3", self.refused(BULK, b"\1" + text("") + bytes(11)))

    def test_messages_are_utf_8(self):
        for pad in ("", "x"):  # one of the two is cut inside a character
            self.assertIn("queue 'default::", self.refused(ENQUEUE, enqueue(job(f"default::{pad}{'é' * 118}"))))

    def test_a_frame_that_is_too_large_ends_it(self):
        client = self.connect()
        client.socket.sendall(struct.pack("<BII", ENQUEUE, 7, 1 << 31))
        self.assertEqual(client.next(), (ERROR, 7, b"the frame is too large"))
        self.assertIsNone(client.next())

    def test_damaged_frames(self):
        rng, queue = random.Random(21), unique("q")
        good = (frame(PING, 1) + frame(ENQUEUE, 2, enqueue(job(queue), job(queue, '{"a":[1,2]}')))
                + frame(SUBSCRIBE, 3, subscribe(queue, 3)) + frame(ACK, 4, acks(("job_x", 5)))
                + frame(HEARTBEAT, 5, text("w") + struct.pack("<H", 1) + text("job_x") + text("") + b"\0")
                + frame(FAIL, 6, struct.pack("<H", 1) + text("job_x") + text("") + text("e") + text("b") + b"\0")
                + frame(BULK, 7, b"\3" + text("") + struct.pack("<H", 1) + text("job_x") + bytes(9)))
        for _ in range(300):
            data = bytearray(good)
            for _ in range(rng.choice((1, 1, 3, 8))):
                at = rng.randrange(len(data))
                if rng.random() < 0.6:
                    data[at] ^= 1 << rng.randrange(8)
                else:
                    del data[at:at + rng.randrange(1, 30)]
            client = Client(self.server)
            try:
                client.socket.sendall(bytes(data))
                client.socket.shutdown(socket.SHUT_WR)
                while client.next() is not None:
                    pass
            except ConnectionResetError:
                pass
            client.close()
        self.assertEqual(self.connect().ask(PING), b"")


class Credentials(BinaryTest):
    settings = ("--admin-password", "secret")

    def test_a_key_may_what_its_role_may_and_no_longer_than_it_lives(self):
        api = self.server.client(**{"X-API-Key": "secret"})
        key = api.must(api.post("/api/v1/auth/keys", {"name": "w", "role": "worker", "namespace": "acme"}))["api_key"]
        client, queue = self.connect(), unique("q")
        self.assertEqual(client.ask(AUTH, text(key)), b"\0\4")
        self.assertEqual(client.affected(ENQUEUE, enqueue(job(queue))), (1, 0))
        client.send(BULK, b"\3" + text("") + struct.pack("<H", 0) + bytes(9))
        self.assertEqual(client.next()[0], ERROR)
        client.send(SUBSCRIBE, subscribe(queue, 1))  # a queue of its own namespace, with the name that the worker uses
        self.assertEqual(jobs_of(client.next()[2])[0]["queue"], queue)
        other = self.connect()
        self.assertEqual(other.ask(AUTH, text("secret"))[:1], b"\0")
        other.send(SUBSCRIBE, subscribe(queue, 1))
        self.assertEqual(other.ask(PING), b"")

    def test_the_first_frame_is_the_credential(self):
        client = self.connect()
        client.send(PING)
        self.assertEqual(client.next()[0], ERROR)
        self.assertIsNone(client.next())
        client = self.connect()
        self.assertEqual(client.ask(AUTH, text("wrong")), b"\1\0")
        self.assertIsNone(client.next())
        client = self.connect()
        self.assertEqual(client.ask(AUTH, text("secret")), b"\0\1")
        self.assertEqual(client.ask(PING), b"")

    def test_who_is_refused_is_in_the_audit_log(self):
        api = self.server.client(**{"X-API-Key": "secret"})
        name = unique("w")
        made = api.must(api.post("/api/v1/auth/keys", {"name": name, "role": "worker"}))
        self.connect().ask(AUTH, text("wrong"))
        client = self.connect()
        client.send(PING)
        client.next()
        client = self.connect()
        client.ask(AUTH, text(made["api_key"]))
        client.send(BULK, b"\3" + text("") + struct.pack("<H", 0) + bytes(9))
        client.next()
        entries = api.must(api.get("/api/v1/audit-logs?method=binary"))["audit_logs"]
        seen = [(e["path"], e["status_code"], e["principal"], e["role"]) for e in entries]
        self.assertIn(("/binary/Auth", 401, None, None), seen)
        self.assertIn(("/binary/Ping", 401, None, None), seen)
        self.assertIn(("/binary/Bulk", 403, name, "worker"), seen)

        def was_used():
            keys = api.must(api.get("/api/v1/auth/keys"))
            return next(k for k in keys if k["name"] == name).get("last_used_at")
        wait_until(was_used, "the key's use")


class Strangers(BinaryTest):
    """A client that has not shown a credential costs very little, and only for a short time."""
    settings = ("--admin-password", "secret", "--memory-limit", str(32 << 20))
    AUTH_S, FRAME_S = 10, 30

    def known(self):
        client = self.connect()
        self.assertEqual(client.ask(AUTH, text("secret")), b"\0\1")
        return client

    def test_a_large_frame_is_not_collected(self):
        api = self.server.client(**{"X-API-Key": "secret"})
        for kind, words in ((ENQUEUE, b"the first frame must be auth"), (AUTH, b"too large")):
            clients = [self.connect() for _ in range(4)]
            for client in clients:
                client.socket.sendall(struct.pack("<BII", kind, 1, 16 << 20))
                answer = client.next()
                self.assertEqual(answer[:2], (ERROR, 1))
                self.assertIn(words, answer[2])
                self.assertIsNone(client.next())
            self.assertLess(api.get("/api/v1/cluster/status").json["admission_stats"]["request_memory_bytes"], 1 << 20)

    def test_frames_behind_the_credential_are_taken(self):
        client, queue = self.connect(), unique("q")
        jobs = enqueue(*[job(queue)] * 50)
        client.socket.sendall(frame(AUTH, 1, text("secret")) + frame(ENQUEUE, 2, jobs) + frame(PING, 3))
        answers = sorted(client.next() for _ in range(3))
        self.assertEqual([one[:2] for one in answers], [(ENQUEUE | 0x80, 2), (PING | 0x80, 3), (AUTH | 0x80, 1)])

    def test_time_is_limited(self):
        """The credential has a time limit, and so has a frame from its first to its last byte. An idle connection
        has none."""
        begin = time.monotonic()
        silent, half, late, idle = self.connect(), self.connect(), self.known(), self.known()
        half.socket.sendall(frame(AUTH, 1, text("secret"))[:-1])
        late.socket.sendall(frame(PING, 2)[:-1])
        for client, limit in ((silent, self.AUTH_S), (half, self.AUTH_S), (late, self.FRAME_S)):
            client.socket.settimeout(limit + PATIENCE_S)
            self.assertIsNone(client.next())
            self.assertGreater(time.monotonic() - begin, limit - 1)
        self.assertEqual(idle.ask(PING), b"")

    def test_who_gets_no_memory_is_told_once(self):
        clients = [self.known() for _ in range(3)]
        piece, told = bytes(1 << 20), []
        for client in clients:
            client.socket.sendall(struct.pack("<BII", ENQUEUE, 9, 16 << 20))
            try:
                for _ in range(15):
                    client.socket.sendall(piece)
            except ConnectionError:
                pass
        for client in clients:
            client.socket.settimeout(2)
            try:
                while True:
                    answer = client.next()
                    if answer is None:
                        break
                    told.append(answer[:2])
            except (TimeoutError, ConnectionError):
                pass
        self.assertIn((ERROR, 0), told)
        self.assertLessEqual(len(told), len(clients))


class Guesses(BinaryTest):
    settings = ("--admin-password", "secret")

    def test_are_limited_and_share_their_limit_with_http(self):
        """A client at the same address whose key was already accepted continues."""
        api = self.server.client(**{"X-API-Key": "secret"})
        key = api.must(api.post("/api/v1/auth/keys", {"name": "w", "role": "worker"}))["api_key"]
        self.assertEqual(self.connect().ask(AUTH, text(key)), b"\0\4")

        def is_limited():
            self.assertEqual(self.connect().ask(AUTH, text("a guess")), b"\1\0")
            return self.server.client(**{"X-API-Key": "another"}).get("/api/v1/queues").status == 429
        wait_until(is_limited, "the limit")
        self.assertEqual(self.connect().ask(AUTH, text(key)), b"\0\4")
        self.assertEqual(self.connect().ask(AUTH, text("secret")), b"\0\1")


class Nodes(unittest.TestCase):
    def test_who_asks_another_than_the_leader_is_told(self):
        """0x09 with the address of the leader. The request itself ends with code 3."""
        with Cluster(2, "--rpc-bind", "127.0.0.1:0") as cluster:
            leader, follower = cluster.leader(), cluster.followers()[0]
            url = f"http://127.0.0.1:{leader.port}".encode()
            client, queue = Client(follower), unique("q")
            self.addCleanup(client.close)
            self.assertEqual(client.ask(PING), b"")

            def is_told():
                number = client.send(SUBSCRIBE, subscribe(queue, 1))
                answer = client.next()
                self.assertEqual(answer[:2], (NOT_LEADER, number))
                return answer[2] == url
            wait_until(is_told, "the address of the leader")
            number = client.send(SUBSCRIBE, subscribe(queue, 1))
            self.assertEqual(client.next(), (NOT_LEADER, number, url))
            number = client.send(ENQUEUE, enqueue(job(queue)))
            self.assertEqual([client.next()[:2] for _ in range(2)], [(ERROR, number), (ENQUEUE | 0x80, number)])
            other = Client(follower)
            self.addCleanup(other.close)
            number = other.send(ENQUEUE, enqueue(job(queue)))
            self.assertEqual(other.next(), (NOT_LEADER, number, url))
            self.assertEqual(other.next()[:2], (ERROR, number))
            self.assertEqual(other.next(), (ENQUEUE | 0x80, number, struct.pack("<HB", 0, 3)))

    def test_a_subscription_hears_when_leadership_goes(self):
        with Cluster(3, "--rpc-bind", "127.0.0.1:0") as cluster:
            leader, queue = cluster.leader(), unique("q")
            worker = Client(leader)
            self.addCleanup(worker.close)
            number = worker.send(SUBSCRIBE, subscribe(queue, 1))
            wait_until(lambda: leader.api.fetches_waiting() == 1, "the subscription to wait")
            leader.api.must(leader.api.post("/api/v1/cluster/transfer", {"node_id": cluster.followers()[0].name}))
            self.assertEqual(worker.next()[:2], (NOT_LEADER, number))


class Open(unittest.TestCase):
    def test_whoever_came_while_it_was_open_is_not_let_in_for_ever(self):
        """As over HTTP: the first key closes the server, also for clients that have sent a credential before."""
        with Server("--rpc-bind", "127.0.0.1:0") as server:
            client, api = Client(server), server.client()
            self.assertEqual(client.ask(AUTH, text("anything")), b"\0\1")
            self.assertEqual(client.ask(PING), b"")
            api.must(api.post("/api/v1/auth/keys", {"name": "first", "role": "admin"}))
            client.send(PING)
            self.assertEqual(client.next()[0], ERROR)
            self.assertIsNone(client.next())
            client.close()

    def test_only_this_machine_is_served(self):
        """Without a password and without keys, as over HTTP."""
        address = own_address()
        if address is None:
            self.skipTest("this machine has no other address")
        for settings, kind in (((), ERROR), (("--open-access",), PING | 0x80)):
            with Server("--rpc-bind", "0.0.0.0:0", *settings) as server:
                remote, local = Client(server, address), Client(server)
                remote.send(PING)
                answer = remote.next()
                self.assertEqual(answer[0], kind, answer)
                self.assertEqual(local.ask(PING), b"")
                if kind == ERROR:
                    self.assertIn(b"--open-access", answer[2])
                    self.assertIsNone(remote.next())
                remote.close()
                local.close()
