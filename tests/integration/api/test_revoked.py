"""Open event streams, lifecycle streams and waiting fetches when their credential is revoked (contract 3.1)."""
import datetime
import json
import re
import unittest

import test_binary
import test_rpc
from harness import PATIENCE_S, Server, unique, wait_until
from http2_client import Connection
from sse import Stream

KEYS = "/api/v1/auth/keys"
PASSWORD = "the password"
INVALID = {"code": "unauthenticated", "message": "invalid API key"}


class RevokedTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--admin-password", PASSWORD, "--rate-limit-enabled=false", "--rpc-bind", "127.0.0.1:0")
        cls.addClassCleanup(cls.server.stop)
        cls.api = cls.server.client(**{"X-API-Key": PASSWORD})

    def setUp(self):
        self.queue = unique("q")

    def key(self, role="operator", **fields):
        """Create a key. Return its secret and its hash."""
        made = self.api.must(self.api.post(KEYS, {"name": unique("key"), "role": role, **fields}))
        return made["api_key"], made["key_hash"]

    def change(self, secret, **fields):
        self.api.must(self.api.post(KEYS, {"name": "n", "key": secret, "role": "operator", **fields}))

    def delete(self, key_hash):
        self.api.must(self.api.delete(KEYS, {"key_hash": key_hash}))


class Events(RevokedTest):
    def opened(self, **headers):
        """Open a stream and read its first event."""
        stream = Stream(self.server, f"?queues={self.queue}", {k.replace("_", "-"): v for k, v in headers.items()})
        self.addCleanup(stream.close)
        self.api.enqueue(self.queue)
        self.assertEqual(stream.next().event, "enqueued")
        return stream

    def expect_end(self, stream):
        self.api.enqueue(self.queue)
        self.assertEqual(stream.rest(), ([], True))

    def test_a_stream_ends_before_the_next_event(self):
        ends = (("deleted", lambda secret, key_hash: self.delete(key_hash)),
                ("disabled", lambda secret, _: self.change(secret, enabled=False)),
                ("another role", lambda secret, _: self.change(secret, role="worker")),
                ("another namespace", lambda secret, _: self.change(secret, namespace="acme")),
                ("other queues", lambda secret, _: self.change(secret, queue_scope="other.*")))
        for name, end in ends:
            with self.subTest(name):
                self.queue = unique("q")
                secret, key_hash = self.key()
                stream = self.opened(X_API_Key=secret)
                end(secret, key_hash)
                self.expect_end(stream)

    def test_an_expired_key_ends_it(self):
        soon = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=2)
        secret, _ = self.key(expires_at=soon.isoformat().replace("+00:00", "Z"))
        stream = self.opened(X_API_Key=secret)
        reader = self.server.client(**{"X-API-Key": secret})
        wait_until(lambda: reader.get("/api/v1/queues").status == 401, "the key to expire")
        self.expect_end(stream)

    def test_a_role_that_still_allows_it_does_not_end_it(self):
        secret, _ = self.key()
        stream = self.opened(X_API_Key=secret)
        self.change(secret, role="readonly")
        other, other_hash = self.key()
        self.delete(other_hash)
        self.api.enqueue(self.queue)
        self.assertEqual(stream.next().event, "enqueued")

    def test_a_custom_role_that_loses_its_permission_ends_it(self):
        role = unique("role")
        allow = {"name": role, "permissions": [{"resource": "events", "actions": ["read"]}]}
        self.api.must(self.api.post("/api/v1/auth/roles", allow))
        secret, _ = self.key(role=role)
        stream = self.opened(X_API_Key=secret)
        self.api.must(self.api.post("/api/v1/auth/roles", {**allow, "permissions": [
            {"resource": "queues", "actions": ["read"]}]}))
        self.expect_end(stream)

    def test_a_session_that_is_over_ends_it(self):
        secret, key_hash = self.key()
        session = self.api.post("/api/v1/auth/session", {"credential": secret})
        cookie = re.match("corvo_session=[^;]+", session.headers["set-cookie"])[0]
        stream = self.opened(Cookie=cookie)
        self.delete(key_hash)
        self.expect_end(stream)

    def test_subscribe_ends_with_unauthenticated(self):
        secret, key_hash = self.key()
        connection = Connection(self.server.port, PATIENCE_S)
        self.addCleanup(connection.close)
        stream = connection.open(test_rpc.BASE + "Subscribe", [("content-type", "application/connect+json"),
                                                               ("x-api-key", secret)])
        connection.data(stream, test_rpc.envelope(json.dumps({"queues": [self.queue]}).encode()), True)

        def read(count):
            while len(test_rpc.envelopes(connection.body.get(stream, b""))) < count:
                connection.read()
            return test_rpc.envelopes(connection.body[stream])[count - 1]

        self.api.enqueue(self.queue)
        self.assertEqual(json.loads(read(1)[1])["type"], "enqueued")
        self.delete(key_hash)
        self.api.enqueue(self.queue)
        flags, end = read(2)
        self.assertEqual((flags, json.loads(end)), (2, {"error": INVALID}))


class FirstKey(unittest.TestCase):
    def test_ends_the_streams_of_nobody(self):
        with Server() as server:
            api, queue = server.client(), unique("q")
            with Stream(server, f"?queues={queue}") as stream:
                api.enqueue(queue)
                self.assertEqual(stream.next().event, "enqueued")
                made = api.must(api.post(KEYS, {"name": "first", "role": "admin"}))
                server.client(**{"X-API-Key": made["api_key"]}).enqueue(queue)
                self.assertEqual(stream.rest(), ([], True))


class SignOn(unittest.TestCase):
    def test_the_streams_of_a_proxys_users_end_with_it(self):
        with Server("--admin-password", PASSWORD, "--trusted-proxies", "127.0.0.1/32") as server:
            api, queue = server.client(**{"X-API-Key": PASSWORD}), unique("q")
            sso = "/api/v1/settings/sso"
            api.must(api.post(sso, {"provider": "saml", "saml_enabled": True}))
            with Stream(server, f"?queues={queue}", {"X-Corvo-SAML-Subject": "alice"}) as stream:
                api.enqueue(queue)
                self.assertEqual(stream.next().event, "enqueued")
                api.must(api.post(sso, {"provider": "saml", "saml_enabled": False}))
                api.enqueue(queue)
                self.assertEqual(stream.rest(), ([], True))


class Work(RevokedTest):
    def test_a_lifecycle_stream_ends_with_the_next_frame(self):
        secret, key_hash = self.key("worker")
        stream = test_rpc.Stream(self.server, [("x-api-key", secret)])
        self.addCleanup(stream.close)
        made = stream.frame(requestId=1, enqueues=[{"queue": self.queue}])
        self.assertEqual(len(made["enqueuedJobIds"]), 1)
        self.delete(key_hash)
        self.assertEqual(stream.frame(requestId=2, queues=[self.queue], fetchCount=1), ({"error": INVALID},))
        self.assertEqual(self.api.queue(self.queue)["pending"], 1)

    def test_a_lifecycle_stream_of_another_role(self):
        secret, _ = self.key("worker")
        stream = test_rpc.Stream(self.server, [("x-api-key", secret)])
        self.addCleanup(stream.close)
        self.assertEqual(stream.frame(requestId=1), {"requestId": "1"})
        self.change(secret, role="readonly")
        self.assertEqual(stream.frame(requestId=2), (
            {"error": {"code": "permission_denied", "message": "insufficient role permissions"}},))

    def test_a_fetch_that_waits_gets_no_job(self):
        secret, key_hash = self.key("worker")
        waiting = self.api.fetches_waiting()
        poll = self.server.client(**{"X-API-Key": secret}).poll(self.queue)
        wait_until(lambda: self.api.fetches_waiting() == waiting + 1, "the fetch to wait")
        self.delete(key_hash)
        job = self.api.enqueue(self.queue)
        answer = poll.result()
        self.assertEqual((answer.status, answer.json), (401, {"error": "invalid API key", "code": "UNAUTHORIZED"}))
        again = self.api.fetch(self.queue)
        self.assertEqual((again["job_id"], again["attempt"]), (job, 1))

    def subscribed(self, secret):
        """Return a binary worker whose claim waits."""
        waiting, worker = self.api.fetches_waiting(), test_binary.Client(self.server)
        self.addCleanup(worker.close)
        self.assertEqual(worker.ask(test_binary.AUTH, test_binary.text(secret))[:1], b"\0")
        worker.send(test_binary.SUBSCRIBE, test_binary.subscribe(self.queue, 5))
        wait_until(lambda: self.api.fetches_waiting() == waiting + 1, "the claim to wait")
        return worker

    def test_a_binary_subscription_of_a_changed_key_gets_no_job(self):
        moved = "the namespace or the queues of the credential have changed: subscribe again"
        for change, why in (({"role": "readonly"}, "the role of this credential does not allow this operation"),
                            ({"namespace": "acme"}, moved), ({"queue_scope": "other.*"}, moved)):
            with self.subTest(change):
                self.queue = unique("q")
                secret, _ = self.key("worker")
                worker = self.subscribed(secret)
                self.change(secret, **{"role": "worker", **change})
                job = self.api.enqueue(self.queue)
                self.assertEqual(worker.next(), (test_binary.ERROR, 2, why.encode()))
                again = self.api.fetch(self.queue)
                self.assertEqual((again["job_id"], again["attempt"]), (job, 1))

    def test_another_credential_has_subscriptions_of_its_own(self):
        first, _ = self.key("worker")
        second, _ = self.key("worker", namespace="acme")
        worker = self.subscribed(first)
        self.assertEqual(worker.ask(test_binary.AUTH, test_binary.text(second))[:1], b"\0")
        worker.send(test_binary.SUBSCRIBE, test_binary.subscribe(self.queue, 1))
        self.assertEqual(worker.ask(test_binary.PING), b"")
        self.api.enqueue(self.queue)
        mine = self.server.client(**{"X-API-Key": second}).enqueue(self.queue)
        kind, number, payload = worker.next()
        self.assertEqual((kind, number), (test_binary.JOBS, 4))
        self.assertEqual([(one["id"], one["queue"]) for one in test_binary.jobs_of(payload)], [(mine, self.queue)])
        self.assertEqual(self.api.queue(self.queue)["pending"], 1)

    def test_a_binary_subscription_gets_no_job(self):
        secret, key_hash = self.key("worker")
        worker = self.subscribed(secret)
        self.delete(key_hash)
        job = self.api.enqueue(self.queue)
        self.assertIsNone(worker.next())
        self.assertEqual(self.api.fetch(self.queue)["job_id"], job)
