"""Jobs that the server delivers (scheduler.md 4 to 8 and 21), to correct and to faulty targets."""
import base64
import datetime
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time

from harness import PATIENCE_S, ApiTest, Server, metric, unique, wait_until
from receiver import Receiver


class PushTest(ApiTest):
    def receiver(self, answer=lambda delivery: 200):
        receiver = Receiver(answer)
        self.addCleanup(receiver.close)
        return receiver

    def push(self, url, payload=None, api=None, retry_base_delay="10ms", push=None, **fields):
        """Create a job for delivery to the URL. Return its id."""
        api = api or self.api
        body = {"queue": fields.pop("queue", None) or unique("push"), "payload": payload or {"n": 1},
                "retry_base_delay": retry_base_delay, "push": {"url": url, **(push or {})}, **fields}
        return api.must(api.post("/api/v1/enqueue", body), 201)["job_id"]

    def job(self, job_id, api=None):
        api = api or self.api
        return api.must(api.get("/api/v1/jobs/" + job_id))

    def ended(self, job_id, state="completed", api=None, patience_s=PATIENCE_S):
        """Wait until the job is in this state, and return it."""
        return wait_until(lambda: next(iter([j for j in [self.job(job_id, api)] if j["state"] == state]), None),
                          f"state {state} of {job_id}: {self.job(job_id, api)}", patience_s)


class Deliveries(PushTest):
    def test_the_payload_is_posted(self):
        """6: method, headers and body; 5: one record per attempt."""
        target = self.receiver()
        job_id = self.push(target.url("/x"), {"big": 9007199254740993}, push={"headers": {"X-Mine": "yes", "X-Empty": ""}})
        job = self.ended(job_id)
        call = target.taken()[0]
        self.assertEqual(call.body, b'{"big":9007199254740993}')
        self.assertEqual(call.headers["content-type"], "application/json")
        self.assertEqual((call.headers["x-mine"], call.headers["x-empty"]), ("yes", ""))
        self.assertEqual(call.headers["x-correlation-id"], job_id)
        self.assertTrue(call.headers["idempotency-key"].startswith(job_id + ":"))
        self.assertEqual(call.headers["x-corvo-attempt"], "1")
        self.assertEqual(job["result"]["status"], 200)
        self.assertEqual(job["last_outcome"], "completed")
        tries = job["push_attempts"]
        self.assertEqual([(t["attempt"], t["outcome"], t["http_status"]) for t in tries], [(1, "completed", 200)])
        self.assertEqual(len(target.taken()), 1)

    def test_where_a_request_ends_is_not_the_targets_to_say(self):
        """Connections are reused: what follows would be read as the rest of this request."""
        target = self.receiver()
        self.ended(self.push(target.url("/x"), push={"body": "[1, 2, 3, 4]", "headers": {
            "content-length": "3", "Transfer-Encoding": "chunked", "Connection": "close", "X-Mine": "yes"}}))
        call, = target.wait_for(1)
        self.assertEqual((call.body, call.headers["content-length"], call.headers["x-mine"]),
                         (b"[1, 2, 3, 4]", "12", "yes"))
        for name in ("transfer-encoding", "connection"):
            self.assertNotIn(name, call.headers)

    def test_a_head_request_waits_for_no_body(self):
        self.ended(self.push(self.receiver().url("/x"), push={"method": "HEAD"}))

    def test_no_worker_gets_it(self):
        """21.1: fetch never returns it, whatever delays its delivery."""
        queue = unique("push")
        self.api.must(self.api.post(f"/api/v1/queues/{queue}/pause", {}))
        target = self.receiver()
        job_id = self.push(target.url(), queue=queue)
        plain = self.api.must(self.api.post("/api/v1/enqueue", {"queue": queue, "payload": {}}), 201)["job_id"]
        self.api.must(self.api.post(f"/api/v1/queues/{queue}/resume", {}))
        fetched = self.api.must(self.api.post("/api/v1/fetch/batch", {
            "queues": [queue], "worker_id": "w", "hostname": "h", "timeout": 1, "count": 10}))
        self.assertEqual([j["job_id"] for j in fetched["jobs"]], [plain])
        self.ended(job_id)

    def test_workers_cannot_end_it(self):
        hold = threading.Event()
        target = self.receiver(lambda d: hold.wait(20) and 200)
        self.addCleanup(hold.set)
        job_id = self.push(target.url())
        target.wait_for(1)
        for route, code in (("ack", "ACK_ERROR"), ("fail", "FAIL_ERROR")):
            self.refused(self.api.post(f"/api/v1/{route}/{job_id}", {"error": "x"}), 400, code, "delivered by the server")
        hold.set()
        self.ended(job_id)

    def test_secrets_are_never_shown(self):
        target = self.receiver()
        secret = "s3cr3t-token-value"
        job_id = self.push(target.url(), push={"auth": {"type": "bearer", "token": secret},
                                               "headers": {"X-Api-Key": secret}})
        job = self.ended(job_id)
        self.assertEqual(target.taken()[0].headers["authorization"], "Bearer " + secret)
        self.assertEqual(job["push"]["auth"], {"type": "bearer", "token": "[redacted]"})
        self.assertEqual(job["push"]["headers"], {"X-Api-Key": "[redacted]"})
        for path in ("/api/v1/jobs/" + job_id, "/api/v1/admin/backup", "/api/v1/search/jobs?q=" + job_id):
            self.assertNotIn(secret.encode(), self.api.get(path).body, path)
        self.assertNotIn(secret, "".join(self.server.lines))

    def test_basic_credentials(self):
        target = self.receiver()
        self.ended(self.push(target.url(), push={"auth": {"type": "basic", "username": "a", "password": "b:c"}}))
        self.assertEqual(target.taken()[0].headers["authorization"],
                         "Basic " + base64.b64encode(b"a:b:c").decode())

    def test_template(self):
        target = self.receiver()
        job_id = self.push(target.url(), {"a": 1}, push={"body": '{"id":"{{job_id}}","p":{{payload}},"x":"{{other}}"}'})
        self.ended(job_id)
        self.assertEqual(target.taken()[0].json, {"id": job_id, "p": {"a": 1}, "x": "{{other}}"})

    def test_an_at_sign_in_the_query(self):
        job_id = self.push("http://h?x=a@b", scheduled_at="2100-01-01T00:00:00Z")
        self.assertEqual(self.job(job_id)["push"]["url"], "http://h?x=a@b")

    def test_refused_targets(self):
        for push, word in (({}, "push.url"), ({"url": "ftp://x/"}, "push.url"),
                           ({"url": "http://u:p@h/"}, "credentials"),
                           ({"url": "http://h/", "auth": {"type": "magic"}}, "push.auth.type"),
                           ({"url": "http://h/", "headers": {"bad name": "x"}}, "push.headers"),
                           ({"url": "http://h/", "headers": {"X-A": "x", "X-B": "x\0y"}}, "push.headers.X-B"),
                           ({"url": "http://h/", "headers": {"X-A": "x\r\nX-B: y"}}, "push.headers.X-A"),
                           ({"url": "http://h/", "method": "GE T"}, "push.method"),
                           ({"url": "http://h/", "success_below": 100}, "success_below")):
            answer = self.api.post("/api/v1/enqueue", {"queue": "q", "push": push})
            self.assertEqual(answer.status, 400, push)
            self.assertIn(word, answer.json["error"])


def wait_seconds(since, until):
    """Return the seconds between two times of the API."""
    return (parse(until) - parse(since)).total_seconds()


def parse(text):
    return datetime.datetime.fromisoformat(text[:26].rstrip("Z"))


class Guests(PushTest):
    """22: only the default namespace may call private addresses, except those that --outgoing-allow permits."""

    def test_a_namespace_calls_no_private_address(self):
        target, tenant = self.receiver(), self.api.with_headers(X_Corvo_Namespace="acme")
        self.ended(self.push(target.url("/ours")))  # leaves an open connection
        job = self.ended(self.push(target.url("/theirs"), api=tenant, max_retries=1), "dead", tenant)
        self.assertIn("address 127.0.0.1 is not allowed for this namespace", job["push_attempts"][0]["error"])
        self.assertEqual([call.path for call in target.taken()], ["/ours"])

    def test_a_redirect_leads_nowhere_else(self):
        target = self.receiver()
        with Server("--outgoing-allow", "127.0.0.1", "--rate-limit-enabled=false") as server:
            tenant = server.client(**{"X-Corvo-Namespace": "acme"})
            self.ended(self.push(target.url("/x"), api=tenant), api=tenant)
            away = self.receiver(lambda call: (307, {"Location": f"http://127.0.0.2:{target.port}/x"}))
            job = self.ended(self.push(away.url("/"), api=tenant, max_retries=1), "dead", tenant)
            self.assertIn("address 127.0.0.2 is not allowed", job["push_attempts"][0]["error"])

    def test_the_token_of_the_server_stays_here(self):
        """WEBHOOK_BEARER_TOKEN is not sent to targets that another namespace chooses."""
        target = self.receiver()
        with Server("--outgoing-allow", "127.0.0.1", "--rate-limit-enabled=false", "--webhook-bearer-token", "t") as server:
            for namespace, token in (("default", "Bearer t"), ("acme", None)):
                api = server.client(**{"X-Corvo-Namespace": namespace})
                body = {"type": "unico", "timestamp": int(time.time()) + 3, "webhook_url": target.url("/" + namespace)}
                self.assertLess(api.post("/jobs", body).status, 300)
                self.assertEqual(target.wait_for(1, "/" + namespace)[0].headers.get("authorization"), token)


class RawTarget:
    """A TCP server that runs a given function for each connection."""

    def __init__(self, serve, context=None):
        self.serve, self.context, self.connections = serve, context, 0
        self.open = []
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            self.open.append(connection)
            try:
                if self.context is not None:
                    connection = self.context.wrap_socket(connection, server_side=True)
                self.serve(connection)
            except OSError:
                pass

    def url(self, scheme="http"):
        return f"{scheme}://127.0.0.1:{self.port}/"

    def close(self):
        self.listener.close()
        for connection in self.open:
            connection.close()
        self.thread.join(5)


def certificate(folder, *options):
    """Create a key and a self-signed certificate. Return a TLS context with them."""
    path = os.path.join(folder, "both.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
                    "-keyout", path, "-out", path + ".crt", *options], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path + ".crt", path)
    return context


class Answers:
    """For RawTarget: each request gets the next of these responses. A response with closed=True ends its connection,
    and so does a request without a response."""

    def __init__(self, *answers):
        self.answers, self.requests = list(answers), 0

    def __call__(self, connection):
        stream = connection.makefile("rb")
        while stream.readline():
            length = 0
            while (line := stream.readline()) not in (b"\r\n", b""):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            stream.read(length)
            self.requests += 1
            answer, closed = self.answers.pop(0) if self.answers else (b"", True)
            connection.sendall(answer)
            if closed:
                connection.shutdown(socket.SHUT_RDWR)
                return


class Once(PushTest):
    """A call is one attempt, and the head of a response counts as the response (scheduler.md 6 and 7)."""

    def target(self, *answers):
        target = RawTarget(Answers(*answers))
        self.addCleanup(target.close)
        return target

    def test_a_connection_that_breaks_off_is_not_tried_again_by_itself(self):
        target = self.target((b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", False))
        self.ended(self.push(target.url()))  # its connection stays open for the next call
        job = self.ended(self.push(target.url(), max_retries=1), "dead")
        self.assertEqual(target.serve.requests, 2)
        self.assertEqual([(t["attempt"], t["outcome"], t["error_type"]) for t in job["push_attempts"]],
                         [(1, "failed", "connection_error")])

    def test_an_answer_whose_body_is_cut_counts_by_its_head(self):
        for status, state in (("200 OK", "completed"), ("500 No", "dead")):
            for body in (b"Content-Length: 10\r\n\r\nabc", b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"):
                with self.subTest(status=status, body=body):
                    target = self.target((f"HTTP/1.1 {status}\r\n".encode() + body, True))
                    job = self.ended(self.push(target.url(), max_retries=1), state)
                    self.assertEqual([t["http_status"] for t in job["push_attempts"]], [int(status[:3])])
                    self.assertEqual(target.serve.requests, 1)

    def test_a_redirect_that_leads_nowhere_counts_by_its_head(self):
        target = self.target((b"HTTP/1.1 302 Found\r\nContent-Length: 10\r\n\r\nabc", True))
        job = self.ended(self.push(target.url(), max_retries=1))
        self.assertEqual([t["http_status"] for t in job["push_attempts"]], [302])

    def test_a_part_of_a_head_is_no_answer(self):
        """6: the timeout lasts up to the head of the response."""
        for closed, error_type in ((True, "connection_error"), (False, "timeout")):
            for head in (b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"):
                with self.subTest(head=head, closed=closed):
                    target = self.target((head, closed))
                    job = self.ended(self.push(target.url(), max_retries=1, push={"timeout": "500ms"}), "dead")
                    self.assertEqual([(t.get("http_status"), t["error_type"]) for t in job["push_attempts"]],
                                     [(None, error_type)])

    def test_an_answer_whose_body_dribbles_counts_by_its_head(self):
        """The head decides: the job does not wait for the body until its timeout."""
        done = threading.Event()
        self.addCleanup(done.set)

        def dribble(connection):
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            while not done.wait(0.5):
                connection.sendall(b"1\r\nx\r\n")
        target = RawTarget(dribble)
        self.addCleanup(target.close)
        job = self.ended(self.push(target.url(), push={"timeout": "10m", "keep_answer": True}))
        self.assertEqual([t["http_status"] for t in job["push_attempts"]], [200])
        self.assertEqual(set(job["result"]["body"]), {"x"})


class BadTargets(PushTest):
    """6: classes of errors, by cause."""

    def raw(self, serve, context=None):
        target = RawTarget(serve, context)
        self.addCleanup(target.close)
        return target

    def one_try(self, url, **push):
        job = self.ended(self.push(url, max_retries=1, push=push), "dead")
        tries = job["push_attempts"]
        self.assertEqual(len(tries), 1)
        return tries[0]

    def test_b68_refused(self):
        with socket.create_server(("127.0.0.1", 0)) as closed:
            port = closed.getsockname()[1]
        attempt = self.one_try(f"http://127.0.0.1:{port}/")
        self.assertEqual((attempt["outcome"], attempt["error_type"]), ("failed", "connection_error"))
        self.assertNotIn("http_status", attempt)

    def test_b68_hanging(self):
        target = self.raw(lambda c: None)
        attempt = self.one_try(target.url(), timeout="200ms")
        self.assertEqual((attempt["outcome"], attempt["error_type"]), ("failed", "timeout"))

    def test_b68_reset(self):
        def reset(connection):
            connection.recv(100)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            connection.close()
        self.assertEqual(self.one_try(self.raw(reset).url())["error_type"], "connection_error")

    def test_b68_closed_early(self):
        def close(connection):
            connection.recv(100)
            connection.close()
        self.assertEqual(self.one_try(self.raw(close).url())["error_type"], "connection_error")

    def test_b68_no_such_name(self):
        self.assertEqual(self.one_try("http://no-such-host.invalid/")["error_type"], "dns_error")

    def test_b68_status(self):
        attempt = self.one_try(self.receiver(lambda d: 404).url())
        self.assertEqual((attempt["error_type"], attempt["http_status"], attempt["error"]),
                         ("http_error", 404, "webhook returned status 404"))

    def test_b68_a_certificate_that_nobody_vouches_for(self):
        folder = tempfile.mkdtemp(prefix="corvo-tls-")
        self.addCleanup(shutil.rmtree, folder)
        target = self.raw(lambda c: c.recv(100), certificate(folder))
        self.assertEqual(self.one_try(target.url("https"))["error_type"], "connection_error")

    def test_b68_metadata_addresses_are_never_called(self):
        attempt = self.one_try("http://169.254.169.254/latest/meta-data")
        self.assertEqual(attempt["error_type"], "unknown")
        self.assertIn("not allowed", attempt["error"])

    def test_the_server_does_not_call_itself(self):
        attempt = self.one_try(f"http://127.0.0.1:{self.server.port}/api/v1/enqueue")
        self.assertIn("this server itself", attempt["error"])

    def test_huge_answers_end_early(self):
        def flood(connection):
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
            while True:
                connection.sendall(b"x" * 65536)
        job = self.ended(self.push(self.raw(flood).url(), push={"keep_answer": True}))
        self.assertEqual(len(job["result"]["body"]), 65536)

    def test_redirects(self):
        """6: 307 and 308 repeat the POST, the others become GET. Authorization is not sent to another host."""
        seen = []

        def serve(connection):
            seen.append(connection.recv(65536))
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            connection.close()
        last = self.raw(serve)
        for status, method in ((301, b"GET"), (302, b"GET"), (303, b"GET"), (307, b"POST"), (308, b"POST")):
            first = self.receiver(lambda d, status=status: (status, {"Location": last.url()}))
            seen.clear()
            job = self.ended(self.push(first.url(), push={"auth": {"type": "bearer", "token": "secret"}}))
            self.assertEqual(job["push_attempts"][0]["http_status"], 200)
            self.assertTrue(seen[0].startswith(method + b" "), (status, seen))
            self.assertNotIn(b"secret", seen[0])

    def test_redirects_into_refused_networks_are_not_followed(self):
        first = self.receiver(lambda d: (307, {"Location": "http://169.254.169.254/"}))
        self.assertIn("not allowed", self.one_try(first.url())["error"])

    def test_endless_redirects_end(self):
        target = self.receiver(lambda d: (307, {"Location": "/again"}))
        self.one_try(target.url())
        self.assertEqual(len(target.taken()), 11)


class Waiting(PushTest):
    def test_retry_after_is_honoured(self):
        """Up to the job's maximum delay, which is 10 minutes by default."""
        for asked, fields, waits in (("120", {}, 120), ("3600", {}, 600), ("3600", {"retry_max_delay": "2h"}, 3600)):
            with self.subTest(asked=asked, **fields):
                target = self.receiver(lambda d, asked=asked: (503, {"Retry-After": asked}))
                job_id = self.push(target.url(), **fields)
                job = self.ended(job_id, "retrying")
                self.assertGreater(job["scheduled_at"], job["failed_at"])
                self.assertEqual(self.job(job_id)["attempt"], 1)
                self.assertAlmostEqual(wait_seconds(job["failed_at"], job["scheduled_at"]), waits, delta=1)

    def test_cancellation_breaks_the_call_off(self):
        broken = threading.Event()

        def serve(connection):
            connection.recv(65536)
            if connection.recv(1) == b"":
                broken.set()
        target = RawTarget(serve)
        self.addCleanup(target.close)
        job_id = self.push(target.url())
        wait_until(lambda: target.connections == 1, "the call")
        self.api.must(self.api.post(f"/api/v1/jobs/{job_id}/cancel", {}))
        self.assertTrue(broken.wait(20))
        self.assertEqual([t["outcome"] for t in self.job(job_id)["push_attempts"]], ["cancelled"])

    def test_jobs_that_hang_hold_up_no_other_for_their_host(self):
        """The first calls hang, the breaker opens, and a probe hangs, too: other jobs for the same host continue."""
        hold = threading.Event()
        target = self.receiver(lambda d: d.path == "/good" and 200 or hold.wait(120) and 200)
        self.addCleanup(hold.set)
        for _ in range(12):
            self.push(target.url("/bad"), max_retries=1, push={"timeout": "200ms"})
        name = target.url().split("/")[2]
        wait_until(lambda: self.api.must(self.api.get(f"/api/v1/push/hosts?prefix={name}"))[0]["unanswered"] >= 10,
                   "the breaker opens")
        hanging = [self.push(target.url("/bad")) for _ in range(2)]
        target.wait_for(14, "/bad")
        good = [self.push(target.url("/good")) for _ in range(5)]
        for job_id in good:
            self.ended(job_id)
        for job_id in hanging:
            self.assertEqual(self.job(job_id)["state"], "active")
            self.api.must(self.api.post(f"/api/v1/jobs/{job_id}/cancel", {}))

    def test_many_jobs_that_hang_hold_up_no_other_for_a_new_host(self):
        hold = threading.Event()
        target = self.receiver(lambda d: d.path == "/good" and 200 or hold.wait(120) and 200)
        self.addCleanup(hold.set)
        queue = unique("push")
        hanging = [self.push(target.url("/bad"), queue=queue) for _ in range(40)]
        target.wait_for(32, "/bad")
        self.ended(self.push(target.url("/good"), queue=queue))
        for job_id in hanging:
            self.api.must(self.api.post(f"/api/v1/jobs/{job_id}/cancel", {}))

    def test_a_host_that_is_down_keeps_only_its_own_waiting(self):
        """After successive failures the host is called once per second. Its jobs wait in line without an attempt."""
        with socket.create_server(("127.0.0.1", 0)) as closed:
            port = closed.getsockname()[1]
        down = [self.push(f"http://127.0.0.1:{port}/", max_retries=1000) for _ in range(30)]
        good = self.receiver()
        for _ in range(20):
            self.ended(self.push(good.url()))
        tries = sum(len(self.job(j)["push_attempts"]) for j in down)
        self.assertLess(tries, 60)
        for job_id in down:
            self.api.must(self.api.post(f"/api/v1/jobs/{job_id}/cancel", {}))


class Numbers(PushTest):
    """Metrics of deliveries, for all hosts together."""

    def numbers(self, api, *names):
        return tuple(metric(api, f"corvo_push_{name}") for name in names)

    def test_they_follow_the_calls(self):
        go_on = threading.Event()
        self.addCleanup(go_on.set)
        target = self.receiver(lambda d: 500 if d.path == "/bad" else go_on.wait(60) and 200)
        with Server() as server:
            api = server.client()
            self.assertEqual(self.numbers(api, "calls_total", "succeeded_total", "failed_total"), (0, 0, 0))
            self.ended(self.push(target.url("/bad"), api=api, max_retries=1), "dead", api)
            jobs = [self.push(target.url("/good"), api=api) for _ in range(3)]
            target.wait_for(3, "/good")
            self.assertEqual(self.numbers(api, "calls_total", "in_flight", "failed_total"), (4, 3, 1))
            api.must(api.post(f"/api/v1/jobs/{jobs.pop()}/cancel"))
            wait_until(lambda: self.numbers(api, "aborted_total", "in_flight") == (1, 2), "the call is broken off")
            go_on.set()
            for job_id in jobs:
                self.ended(job_id, api=api)
            self.assertEqual(self.numbers(api, "succeeded_total", "hosts_breaker_open", "hosts_hanging"), (2, 0, 0))


class Hosts(PushTest):
    """GET /api/v1/push/hosts: the state of each host."""

    def host(self, name, api=None):
        """Return the row of the host, or None."""
        api = api or self.api
        rows = api.must(api.get(f"/api/v1/push/hosts?prefix={name}"))
        return next((row for row in rows if row["host"] == name), None)

    def of(self, url):
        return url.split("/")[2]

    def test_a_good_host(self):
        target = self.receiver(lambda d: 200 if d.path == "/good" else 500)
        name = self.of(target.url())
        self.assertIsNone(self.host(name))
        for _ in range(3):
            self.ended(self.push(target.url("/good")))
        row = self.host(name)
        self.assertEqual({k: row[k] for k in ("breaker", "in_flight", "waiting", "succeeded", "failed", "unanswered")},
                         {"breaker": "closed", "in_flight": 0, "waiting": 0, "succeeded": 3, "failed": 0,
                          "unanswered": 0})
        self.assertGreaterEqual(row["latency_ms"], 0)
        self.assertIn("last_call_at", row)
        self.assertNotIn("last_error", row)
        # An error status is a failure, but no reason to stop calling.
        self.ended(self.push(target.url("/bad"), max_retries=1), "dead")
        row = self.host(name)
        self.assertEqual((row["breaker"], row["succeeded"], row["failed"], row["unanswered"], row["last_error"]),
                         ("closed", 3, 1, 0, "webhook returned status 500"))

    def test_calls_under_way_are_counted(self):
        go_on = threading.Event()
        target = self.receiver(lambda d: go_on.wait(60) and 200)
        self.addCleanup(go_on.set)
        name = self.of(target.url())
        jobs = [self.push(target.url()) for _ in range(2)]
        target.wait_for(2)
        row = self.host(name)
        self.assertEqual((row["in_flight"], row["succeeded"], row["breaker"]), (2, 0, "closed"))
        self.assertNotIn("latency_ms", row)
        go_on.set()
        for job_id in jobs:
            self.ended(job_id)
        row = self.host(name)
        self.assertEqual((row["in_flight"], row["succeeded"]), (0, 2))

    def test_the_breaker_opens_and_closes(self):
        with socket.create_server(("127.0.0.1", 0)) as closed:
            name = f"127.0.0.1:{closed.getsockname()[1]}"
        jobs = [self.push(f"http://{name}/", max_retries=1000) for _ in range(20)]
        row = wait_until(lambda: next((r for r in [self.host(name)]
                                       if r and r["breaker"] == "open" and r["unanswered"] >= 13), None),
                         "the breaker opens, and probes fail")
        # However many probes failed, the next is a second after the last.
        self.assertAlmostEqual(wait_seconds(row["last_error_at"], row["next_probe_at"]), 1, delta=0.01)
        self.assertGreaterEqual(row["failed"], row["unanswered"])
        self.assertEqual(row["succeeded"], 0)
        self.assertGreater(row["next_probe_at"], row["last_error_at"])
        self.assertTrue(row["last_error"])
        wait_until(lambda: self.host(name)["waiting"] == len(jobs), "they all wait in line, or for their next try")
        # Now a server listens there, and responds slowly to the probe.
        asked, go_on = threading.Event(), threading.Event()
        self.addCleanup(go_on.set)

        def serve():
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(65536)
                    asked.set()
                    go_on.wait(60)
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        server = socket.create_server(("127.0.0.1", int(name.split(":")[1])))
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            self.assertTrue(asked.wait(60))
            row = self.host(name)
            self.assertEqual((row["breaker"], row["in_flight"]), ("half_open", 1))
            self.assertNotIn("next_probe_at", row)
            go_on.set()
            for job_id in jobs:
                self.ended(job_id)
            row = self.host(name)
            self.assertEqual((row["breaker"], row["unanswered"], row["succeeded"], row["waiting"]),
                             ("closed", 0, len(jobs), 0))
        finally:
            server.shutdown(socket.SHUT_RDWR)
            server.close()
            thread.join()

    def test_pages(self):
        targets = [self.receiver() for _ in range(3)]
        for target in targets:
            self.ended(self.push(target.url()))
        everything = [row["host"] for row in self.api.must(self.api.get("/api/v1/push/hosts?limit=1000"))]
        self.assertEqual(everything, sorted(everything))
        self.assertLessEqual({self.of(t.url()) for t in targets}, set(everything))
        found, cursor = [], ""
        while True:
            answer = self.api.get(f"/api/v1/push/hosts?limit=2&cursor={cursor}")
            found += [row["host"] for row in self.api.must(answer)]
            cursor = answer.headers.get("x-corvo-next-cursor")
            if not cursor:
                break
        self.assertEqual(found, everything)
        self.assertEqual(self.api.get("/api/v1/push/hosts?cursor=nonsense").status, 400)

    def test_a_namespace_does_not_see_where_others_call(self):
        with Server("--admin-password", "secret") as server:
            admin = server.client(**{"X-API-Key": "secret"})
            for namespace, status in (("team", 403), ("default", 200)):
                made = admin.must(admin.post("/api/v1/auth/keys",
                                             {"name": namespace, "role": "admin", "namespace": namespace}))
                key = server.client(**{"X-API-Key": made["api_key"]})
                self.assertEqual(key.get("/api/v1/push/hosts").status, status)


class Families(PushTest):
    """Batches, chains, dependencies and schedules."""

    def test_batch(self):
        target = self.receiver()
        queue, done = unique("push"), unique("done")
        self.api.must(self.api.post("/api/v1/enqueue/batch", {
            "jobs": [{"queue": queue, "payload": {"n": n}, "push": {"url": target.url()}} for n in range(5)],
            "batch": {"callback_queue": done}}), 201)
        fetched = self.api.must(self.api.post("/api/v1/fetch", {"queues": [done], "worker_id": "w", "timeout": 20}))
        self.assertTrue(fetched["job_id"])
        self.assertEqual(sorted(d.json["n"] for d in target.taken()), [0, 1, 2, 3, 4])

    def test_chain(self):
        target = self.receiver()
        queue = unique("push")
        push = {"url": target.url("/step"), "auth": {"type": "bearer", "token": "chain-secret"}}
        first = self.push(target.url("/first"), queue=queue, chain={
            "steps": [{"queue": queue}, {"queue": queue, "payload": {"two": 2}, "push": push}]})
        target.wait_for(1, "/step")
        second = target.taken("/step")[0]
        self.assertEqual(second.json["two"], 2)
        self.assertEqual(second.json["previous_job_id"], first)
        self.assertEqual(second.headers["authorization"], "Bearer chain-secret")
        self.assertNotIn(b"chain-secret", self.api.get("/api/v1/jobs/" + first).body)

    def test_the_first_step_of_a_chain_has_a_target_too(self):
        """It is used unless the job has its own target, like the payload (http-api.md 6.8)."""
        target = self.receiver()
        queue = unique("chain")
        first = {"queue": queue, "payload": {"n": 0}, "push": {"url": target.url("/first")}}
        chain = {"steps": [first, {"queue": queue, "push": {"url": target.url("/second")}}]}
        for fields, path in (({}, "/first"), ({"push": {"url": target.url("/own")}}, "/own")):
            before = len(target.taken())
            self.api.must(self.api.post("/api/v1/enqueue", {"queue": queue, "chain": chain, **fields}), 201)
            calls = target.wait_for(before + 2)[before:]
            self.assertEqual([c.path for c in calls], [path, "/second"])
            self.assertEqual(calls[0].json, {"n": 0})
        self.refused(self.api.post("/api/v1/enqueue", {"queue": queue, "chain": chain, "agent": {}}), 400,
                     "VALIDATION_ERROR", "push and agent cannot both be set")

    def test_dependency(self):
        target = self.receiver()
        queue = unique("plain")
        first = self.api.must(self.api.post("/api/v1/enqueue", {"queue": queue, "payload": {}}), 201)["job_id"]
        second = self.push(target.url(), depends_on=[first])
        self.assertEqual(target.taken(), [])
        got = self.api.must(self.api.post("/api/v1/fetch", {"queues": [queue], "worker_id": "w", "timeout": 5}))
        self.api.must(self.api.post("/api/v1/ack/" + got["job_id"], {}))
        self.ended(second)

    def throttled(self, rate, window_ms, push_jobs):
        """Return a receiver, a queue with a throttle, and the ids of jobs for the receiver that wait in the queue."""
        target, queue = self.receiver(), unique("push")
        self.api.must(self.api.post(f"/api/v1/queues/{queue}/throttle", {"rate": rate, "window_ms": window_ms}))
        made = self.api.enqueue_batch([{"queue": queue, "push": {"url": target.url()}} for _ in range(push_jobs)])
        return target, queue, made["job_ids"]

    def test_throttle(self):
        """http-api.md 6.5: waiting jobs are delivered whenever the window opens, without any other event."""
        target, _, jobs = self.throttled(2, 200, 9)
        target.wait_for(9)
        starts = sorted(self.ended(job_id)["started_at"] for job_id in jobs)  # the times at which they were claimed
        times = [datetime.datetime.fromisoformat(at[:23].rstrip("Z")) for at in starts]
        for first, third in zip(times, times[2:]):
            self.assertGreaterEqual((third - first).total_seconds(), 0.198)

    def test_throttle_that_workers_fill_as_well(self):
        """A delivery that does not fit into the window is made in a later one."""
        target, queue, _ = self.throttled(1, 20, 10)
        self.api.enqueue_batch([{"queue": queue} for _ in range(10)])
        for _ in range(10):
            self.api.fetch(queue)
        target.wait_for(10)

    def test_schedule(self):
        target = self.receiver()
        name = unique("sched")
        made = self.api.must(self.api.post("/api/v1/schedules", {
            "name": name, "queue": unique("push"), "cron": "0 0 1 1 *", "payload": {"s": 1},
            "push": {"url": target.url(), "headers": {"X-Key": "schedule-secret"}}}), 201)
        self.assertEqual(made["push"], {"url": target.url(), "headers": {"X-Key": "[redacted]"}})
        job = self.api.must(self.api.post(f"/api/v1/schedules/{name}/run"), 201)
        self.ended(job["job_id"])
        self.assertEqual((target.taken()[0].json, target.taken()[0].headers["x-key"]), ({"s": 1}, "schedule-secret"))
        self.assertNotIn(b"schedule-secret", self.api.get("/api/v1/schedules/" + name).body)
        self.api.must(self.api.delete("/api/v1/schedules/" + name))


class Backups(PushTest):
    def test_a_backup_has_credentials_only_when_asked(self):
        """21: jobs restored without credentials are held, and workers never get them."""
        target = self.receiver()
        queue = unique("push")
        self.api.must(self.api.post(f"/api/v1/queues/{queue}/pause", {}))
        job_id = self.push(target.url(), queue=queue, push={"auth": {"type": "bearer", "token": "kept-secret"}})
        bare = self.api.get("/api/v1/admin/backup").body
        whole = self.api.get("/api/v1/admin/backup?include_secrets=true").body
        self.assertNotIn(b"kept-secret", bare)
        self.assertIn(b"kept-secret", whole)
        for backup, state in ((bare, "held"), (whole, "completed")):
            with Server("--rate-limit-enabled=false") as server:
                api = server.client()
                api.must(api.post("/api/v1/admin/restore", backup))
                api.must(api.post(f"/api/v1/queues/{queue}/resume", {}))
                self.ended(job_id, state, api)
        self.assertEqual([d.headers["authorization"] for d in target.taken()], ["Bearer kept-secret"])

    def test_schedules_and_steps_of_chains_without_credentials_wait(self):
        target = self.receiver()
        queue, name = unique("push"), unique("sched")
        push = {"url": target.url(), "auth": {"type": "bearer", "token": "kept-secret"}}
        for ns in ("default", "team"):
            api = self.api.with_headers(X_Corvo_Namespace=ns)
            first = api.enqueue(queue, {}, chain={"steps": [{"queue": queue}, {"queue": queue, "push": push}]})
            api.must(api.post("/api/v1/schedules", {
                "name": name, "queue": queue, "cron": "@every 1s", "enabled": False, "payload": {}, "push": push}), 201)
            for query, state, count in (("", "held", 0), ("?include_secrets=true", "pending", 1)):
                backup = api.get("/api/v1/admin/backup" + query).json
                schedule, = (s for s in backup["schedules"] if s["name"] == name)
                job, = (j for j in backup["jobs"] if j["id"] == first)
                self.assertEqual("kept-secret" in str(backup), count == 1)
                body = {"jobs": [job], "schedules": [{**schedule, "enabled": True}], "namespace": ns,
                        "meta": {"format": 2}}
                with self.subTest(ns=ns, state=state), Server("--rate-limit-enabled=false",
                                                                       "--outgoing-allow=127.0.0.1") as server:
                    there = server.client().with_headers(X_Corvo_Namespace=ns)
                    answer = there.must(there.post("/api/v1/admin/restore", body))
                    self.assertEqual(there.job(first)["state"], state)
                    self.assertEqual(there.must(there.get("/api/v1/schedules/" + name))["enabled"], count == 1)
                    if count == 0:
                        self.assertIn("schedules disabled because the backup does not contain their credentials: 1",
                                      answer["warnings"])
                        self.assertIn("no credentials", there.job(first)["hold_reason"])
                    else:
                        before = len(target.taken())
                        there.ack(there.fetch(queue)["job_id"])
                        target.wait_for(before + 2)  # the calls of the chain and of the schedule
            self.assertEqual({d.headers["authorization"] for d in target.taken()}, {"Bearer kept-secret"})
            api.must(api.delete("/api/v1/schedules/" + name))


class Http2Target:
    """Supports only HTTP/2 over TLS. Responds once `wanted` requests are in flight on one connection."""

    def __init__(self, context):
        context.set_alpn_protocols(["h2"])
        self.context, self.wanted, self.connections, self.answered = context, 1, 0, 0
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"https://localhost:{self.socket.getsockname()[1]}/"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        def frame(kind, flags, stream, payload=b""):
            connection.sendall(len(payload).to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big") + payload)
        with self.context.wrap_socket(client, server_side=True) as connection, connection.makefile("rb") as text:
            if connection.selected_alpn_protocol() != "h2" or not text.read(24).startswith(b"PRI * HTTP/2.0"):
                return
            self.connections += 1
            frame(4, 0, 0)  # SETTINGS
            waiting = []
            while len(head := text.read(9)) == 9:
                payload = text.read(int.from_bytes(head[:3], "big"))
                kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big")
                if kind == 4 and not flags & 1:
                    frame(4, 1, 0)
                elif kind == 6 and not flags & 1:
                    frame(6, 1, 0, payload)
                elif kind in (0, 1) and flags & 1:  # DATA or HEADERS with the end of the request
                    waiting.append(stream)
                if len(waiting) >= self.wanted:
                    for number in waiting:
                        self.answered += 1
                        frame(1, 5, number, b"\x88")  # HEADERS: status 200, end of stream
                    waiting.clear()

    def close(self):
        self.socket.close()


class TrustingServer(Server):
    """A server that trusts only certificates signed by the test. It needs the permission to mount."""

    def __init__(self, authority, *args):
        self.authority = authority
        super().__init__(*args)

    def start(self):
        program = os.path.join(self.folder, "..", os.path.basename(self.folder) + ".sh")
        with open(program, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nexec unshare -m sh -c 'mount --bind \"$0\" /etc/ssl/certs/ca-certificates.crt && "
                       f"shift && exec \"$@\"' {self.authority} - {self.binary} \"$@\"\n")
        os.chmod(program, 0o700)
        given, self.binary = self.binary, program
        try:
            super().start()
        finally:
            self.binary = given
            os.unlink(program)


class Http2(PushTest):
    def test_requests_share_a_connection(self):
        """6: if the target supports it, calls use HTTP/2, many of them on one persistent connection."""
        if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no right to mount")
        folder = tempfile.mkdtemp(prefix="corvo-tls-")
        self.addCleanup(shutil.rmtree, folder)
        target = Http2Target(certificate(folder, "-addext", "subjectAltName=DNS:localhost"))
        self.addCleanup(target.close)
        with TrustingServer(os.path.join(folder, "both.pem.crt"), "--rate-limit-enabled=false") as server:
            api = server.client()
            self.ended(self.push(target.url, api=api), api=api)
            target.wanted = 20
            jobs = [self.push(target.url, api=api) for _ in range(20)]
            for job_id in jobs:
                attempts = self.ended(job_id, api=api)["push_attempts"]
                self.assertEqual([t["http_status"] for t in attempts], [200])
            self.assertEqual((target.connections, target.answered), (1, 21))


class Parted(PushTest):
    def test_a_connection_that_the_target_has_closed_is_not_used_again(self):
        """Targets close connections that are not in use, and with TLS they say so. No attempt is lost by it."""
        if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no right to mount")
        folder = tempfile.mkdtemp(prefix="corvo-tls-")
        self.addCleanup(shutil.rmtree, folder)
        parted = threading.Semaphore(0)

        def serve(connection):
            if connection.recv(65536):
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                connection.unwrap()  # says goodbye and waits for the same
                parted.release()
        target = RawTarget(serve, certificate(folder, "-addext", "subjectAltName=IP:127.0.0.1"))
        self.addCleanup(target.close)
        with TrustingServer(os.path.join(folder, "both.pem.crt"), "--rate-limit-enabled=false") as server:
            api = server.client()
            for _ in range(3):
                attempts = self.ended(self.push(target.url("https"), api=api), api=api)["push_attempts"]
                self.assertEqual([t.get("http_status") for t in attempts], [200])
                parted.acquire(timeout=PATIENCE_S)
        self.assertEqual(target.connections, 3)


class Killed(PushTest):
    takes_long = True

    def test_kill_with_calls_in_flight(self):
        """7: no job is lost, none runs again after its end, each abandoned attempt is recorded."""
        lock, ledger, hold = threading.Lock(), {}, threading.Event()

        def answer(delivery):
            with lock:
                ledger.setdefault(delivery.headers["idempotency-key"], []).append(delivery.headers["x-corvo-attempt"])
            if delivery.json["n"] % 2 and delivery.headers["x-corvo-attempt"] == "1":
                hold.wait(60)
            return 200

        target = self.receiver(answer)
        self.addCleanup(hold.set)
        with Server("--rate-limit-enabled=false", "--inprogress-timeout", "1s") as server:
            api = server.client()
            queue = unique("push")
            ids = api.must(api.post("/api/v1/enqueue/batch", {"jobs": [
                {"queue": queue, "payload": {"n": n}, "retry_base_delay": "10ms",
                 "push": {"url": target.url(), "timeout": "5s"}} for n in range(100)]}), 201)["job_ids"]
            wait_until(lambda: len(ledger) >= 30, "some calls")
            server.kill()
            with lock:
                before = {key: list(value) for key, value in ledger.items()}
            server.start()
            # Not those that a second attempt has completed by now.
            ended = [j for j in (self.job(i, api) for i in ids) if j["state"] == "completed" and j["attempt"] == 1]
            hold.set()
            for job_id in ids:  # a slow target opens its breaker, which allows one call per second
                self.ended(job_id, api=api, patience_s=120)
            for job in ended:  # committed before the kill: not called again
                key = next(k for k in ledger if k.startswith(job["id"] + ":"))
                self.assertEqual(ledger[key], before[key])
            for job_id in ids:
                job = self.job(job_id, api)
                keys = [k for k in ledger if k.startswith(job_id + ":")]
                self.assertEqual(len(keys), 1, "one run, one key")
                outcomes = [t["outcome"] for t in job["push_attempts"]]
                self.assertEqual(outcomes[-1], "completed")
                self.assertTrue(set(outcomes[:-1]) <= {"timeout", "failed"}, outcomes)
                self.assertEqual(len(outcomes), job["attempt"])
                self.assertLessEqual(len(ledger[keys[0]]), job["attempt"])

    def test_stop_lets_calls_end(self):
        hold = threading.Event()
        target = self.receiver(lambda d: hold.wait(20) and 200)
        with Server("--rate-limit-enabled=false") as server:
            api = server.client()
            job_id = self.push(target.url(), api=api)
            target.wait_for(1)
            threading.Timer(0.2, hold.set).start()
            server.terminate()
            server.start()
            self.assertEqual(self.job(job_id, api)["state"], "completed")
